// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/ledger.hpp>

#include <algorithm>

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) {
  return Seconds{std::chrono::duration<double>(Clock::now() - start).count()};
}

/// Jobs that all fail of the same are no answer: the scenario is broken whatever its axes say.
void refuse_if_all_broken(const SearchQuestion& question, const std::vector<DroppedJob>& dropped, std::uint64_t jobs) {
  const bool alike = !dropped.empty() && dropped.size() == jobs &&
                     std::all_of(dropped.begin(), dropped.end(),
                                 [&](const DroppedJob& other) { return other.why == dropped.front().why; });
  if (alike) {
    (void)scenario_of(question, 0);
  }
}

}  // namespace

SearchLedger::SearchLedger(const SearchSetting& setting, std::string file)
    : setting_{setting},
      file_{std::move(file)},
      jobs_{job_count(*setting.question)},
      merged_{no_incumbents(setting)},
      start_{merged_} {
  if (file_.empty()) {
    return;
  }
  lock_.emplace(file_);
  question_ = fingerprint(*setting.question);
  std::optional<SearchState> state = read_checkpoint(file_, *setting.question);
  if (!state) {
    write();
    return;
  }
  resumed_ = true;
  state_ = std::move(*state);
  merge_into(merged_, state_.merged);
  state_.merged.candidates.clear();
  state_.merged.closest = {};
  start_ = merged_;
  start_knows_ = state_.merged_jobs;
  jobs_done_ = state_.merged_jobs + state_.done.size();
  first_open_ = next_open(state_.merged_jobs);
  counts_ = state_.merged.counts;
  for (const auto& [turn, findings] : state_.done) {
    counts_ += findings.counts;
  }
  write();
}

std::uint64_t SearchLedger::next_open(std::uint64_t turn) const noexcept {
  while (turn < jobs_ && done(turn)) {
    ++turn;
  }
  return turn;
}

bool SearchLedger::ready(std::uint64_t turn) const noexcept {
  return known_jobs(turn) <= first_open_;
}

Incumbents SearchLedger::start_of(std::uint64_t turn) {
  for (; start_knows_ < known_jobs(turn); ++start_knows_) {
    merge_into(start_, state_.done.at(start_knows_));
  }
  fold();
  return start_;
}

JobProgress SearchLedger::earlier(std::uint64_t turn) const {
  const auto found = state_.begun.find(turn);
  return found == state_.begun.end() ? JobProgress{} : found->second;
}

void SearchLedger::take(std::uint64_t turn, Findings findings) {
  state_.begun.erase(turn);
  counts_ += findings.counts;
  ++jobs_done_;
  state_.done.insert_or_assign(turn, std::move(findings));
  first_open_ = next_open(first_open_);
  fold();
}

/// Merges the jobs that no job still to start, here or after a resumption, does without.
void SearchLedger::fold() {
  const std::uint64_t until = std::min(known_jobs(first_open_), start_knows_);
  for (; state_.merged_jobs < until; ++state_.merged_jobs) {
    const auto job = state_.done.find(state_.merged_jobs);
    merge_into(merged_, job->second);
    Findings rest = std::move(job->second);
    rest.candidates.clear();
    rest.closest = {};
    add(state_.merged, rest);
    state_.done.erase(job);
  }
}

bool SearchLedger::due() const noexcept {
  constexpr double rest = 0.05;
  return !file_.empty() && since(saved_).raw() >= std::max(rest, 20.0 * writing_.raw());
}

void SearchLedger::save() {
  if (file_.empty()) {
    return;
  }
  try {
    write();
    unsaved_.clear();
  } catch (const ConfigError& error) {
    unsaved_ = error.diagnostics().front().message;
    saved_ = Clock::now();  // again when it is due, not at once
  }
}

void SearchLedger::write() {
  const Clock::time_point began = Clock::now();
  Findings found = findings_of(merged_, std::nullopt);
  state_.merged.candidates = std::move(found.candidates);
  state_.merged.closest = found.closest;
  const std::string text = checkpoint_text(question_, state_);
  state_.merged.candidates.clear();
  state_.merged.closest = {};
  write_checkpoint(file_, text);
  saved_ = Clock::now();
  writing_ = since(began);
}

SearchCounts SearchLedger::counts() const {
  SearchCounts all = counts_;
  for (const auto& [turn, progress] : state_.begun) {
    all += progress.findings.counts;
  }
  return all;
}

SearchResult SearchLedger::result(bool complete) const {
  SearchResult result;
  Findings rest = state_.merged;
  result.found = merged_;
  for (const auto& [turn, findings] : state_.done) {
    merge_into(result.found, findings);
    add(rest, findings);
  }
  for (const auto& [turn, progress] : state_.begun) {
    merge_into(result.found, progress.findings);
    add(rest, progress.findings);
  }
  result.counts = rest.counts;
  result.broken = rest.broken;
  result.dropped = std::move(rest.dropped);
  std::sort(result.dropped.begin(), result.dropped.end(),
            [](const DroppedJob& a, const DroppedJob& b) { return a.job < b.job; });
  result.jobs = jobs_;
  result.jobs_done = jobs_done_;
  result.complete = complete;
  result.resumed = resumed_;
  result.front = setting_.front;
  result.by = setting_.by;
  if (complete) {
    refuse_if_all_broken(*setting_.question, result.dropped, jobs_);
  }
  return result;
}

}  // namespace headroom
