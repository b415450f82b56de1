// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/fingerprint.hpp>
#include <headroom/core/on_threads.hpp>
#include <headroom/scenarios/search/checkpoint.hpp>
#include <headroom/scenarios/search/job_search.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace headroom {
namespace {

std::size_t round_size(std::size_t round, bool bounded) noexcept {
  constexpr std::size_t first = 4;
  constexpr std::size_t largest = 64;
  constexpr std::size_t unbounded = 256;
  return bounded ? std::min(largest, first << std::min<std::size_t>(round, 4)) : unbounded;
}

}  // namespace

SearchSetting setting_of(const SearchQuestion& question, bool bounded, unsigned threads) {
  return {&question, front_goals(question), searches_rentals(question) ? ListedBy::rental : ListedBy::layout, bounded,
          thread_count(threads)};
}

std::uint64_t job_of_turn(std::uint64_t turn, std::uint64_t jobs) noexcept {
  constexpr double golden = 0.61803398874989485;
  auto stride = static_cast<std::uint64_t>(golden * static_cast<double>(jobs)) + 1;
  while (std::gcd(stride, jobs) != 1) {
    ++stride;
  }
  return turn * stride % jobs;
}

Incumbents no_incumbents(const SearchSetting& setting) {
  const Objective& objective = setting.question->objective;
  return Incumbents{objective.plans, setting.front.size(), objective.simplicity, setting.by, objective.limited()};
}

LayoutRounds::LayoutRounds(std::vector<LayoutBound> bounds, bool bounded)
    : bounds_{std::move(bounds)}, order_(bounds_.size()), bounded_{bounded} {
  std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return bounds_[a].goal != bounds_[b].goal ? bounds_[a].goal < bounds_[b].goal : bounds_[a].step < bounds_[b].step;
  });
}

std::span<const std::uint32_t> LayoutRounds::round() const noexcept {
  return std::span{order_}.subspan(passed_, std::min(round_size(round_, bounded_), order_.size() - passed_));
}

void LayoutRounds::next() noexcept {
  passed_ += round().size();
  ++round_;
}

bool LayoutRounds::skip_to(std::uint64_t layouts) noexcept {
  while (passed_ < layouts && !done()) {
    next();
  }
  return passed_ == layouts;
}

std::uint64_t LayoutRounds::numbers() const noexcept {
  return bounds_.empty() ? empty_fingerprint
                         : fingerprint(empty_fingerprint, bounds_.data(), bounds_.size() * sizeof bounds_.front());
}

JobSearch::JobSearch(const SearchSetting& setting, std::uint64_t job) : setting_{&setting} {
  MadeJob made = make_job(*setting.question, job);
  job_ = std::move(made.job);
  dropped_ = std::move(made.dropped);
  context_ = {job_.get(), &setting.question->objective, setting.front, setting.bounded};
}

std::vector<LayoutBound> JobSearch::bounds(std::size_t part, std::size_t parts, const std::atomic<bool>* stop) const {
  const std::vector<LayerRanks>& layouts = job_->space->layouts();
  std::vector<LayoutBound> bounds(layouts.size() > part ? (layouts.size() - part - 1) / parts + 1 : 0);
  if (setting_->bounded) {
    on_threads(setting_->threads, bounds.size(), [&](std::size_t i) {
      if (stop == nullptr || !stop->load()) {
        bounds[i] = bound_layout(context_, layouts[part + i * parts]);
      }
    });
  }
  return bounds;
}

LayoutFindings JobSearch::search(std::span<const BoundedLayout> asked, const Incumbents& start) const {
  const std::vector<LayerRanks>& layouts = job_->space->layouts();
  // By the ranks they leave to stages and replicas, which make for many strategies: threads that begin with the large
  // ones end together.
  std::vector<std::size_t> turns(asked.size());
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  const auto ranks = [&](std::size_t turn) {
    const LayerRanks& l = layouts[asked[turn].layout];
    return int{l.tp} * l.cp;
  };
  std::stable_sort(turns.begin(), turns.end(), [&](std::size_t a, std::size_t b) { return ranks(a) < ranks(b); });

  std::vector<std::optional<LayoutFindings>> results(asked.size());
  on_threads(setting_->threads, asked.size(), [&](std::size_t i) {
    const std::size_t turn = turns[i];
    // On this thread's own stack: counters of neighbours would share a line.
    LayoutFindings r{start.without_news(), {}, {}};
    search_layout(context_, layouts[asked[turn].layout], asked[turn].bound, r.found, r.counts, r.broken);
    results[turn] = std::move(r);
  });
  LayoutFindings all{start.without_news(), {}, {}};
  for (const std::optional<LayoutFindings>& r : results) {
    all.found.merge(r->found);
    all.counts += r->counts;
    keep_plainer(all.broken, r->broken);
  }
  return all;
}

LayoutFindings JobSearch::plain_plans(const Incumbents& start) const {
  constexpr std::size_t most_layouts = 64;
  std::vector<LayerRanks> layouts = job_->space->layouts();
  std::stable_sort(layouts.begin(), layouts.end(), [](const LayerRanks& a, const LayerRanks& b) {
    return a.cp != b.cp ? a.cp < b.cp : a.order < b.order;
  });
  const LayerRanks plainest = layouts.empty() ? LayerRanks{} : layouts.front();
  std::erase_if(layouts, [&](const LayerRanks& l) { return l.cp != plainest.cp || l.order != plainest.order; });
  LayoutFindings plain{start.without_news(), {}, {}};
  const std::size_t tried = std::min(most_layouts, layouts.size());
  for (std::size_t i = 0; i < tried; ++i) {
    price_plain(context_, layouts[i * layouts.size() / tried], plain.found, plain.counts, plain.broken);
  }
  return plain;
}

SearchedJob search_job(const SearchSetting& setting,
                       std::uint64_t job,
                       const Incumbents& start,
                       const JobProgress& earlier,
                       const JobWatch& watch) {
  SearchedJob searched;
  JobProgress& progress = searched.progress;
  const JobSearch search{setting, job};
  if (!search.can_be()) {
    progress.findings.dropped.push_back(search.dropped());
    return searched;
  }
  const auto stopped = [&] { return watch.stop != nullptr && watch.stop->load(); };
  const auto add_instead = [&](const Incumbents& found) {
    if (!found.found()) {
      const LayoutFindings plain = search.plain_plans(found);
      searched.instead = findings_of(plain.found, job);
      searched.instead.counts = plain.counts;
    }
  };
  std::vector<LayoutBound> bounds = search.bounds(0, 1, watch.stop);
  if (stopped()) {  // the bounds are none that a later run could go on with
    Incumbents found = start;
    merge_into(found, earlier.findings);
    add_instead(found);
    searched.done = false;
    progress = earlier;
    return searched;
  }
  LayoutRounds rounds{std::move(bounds), setting.bounded};
  if (earlier.layouts > 0 && (earlier.numbers != rounds.numbers() || !rounds.skip_to(earlier.layouts))) {
    throw ConfigError{other_numbers(watch.earlier_from)};
  }
  if (watch.prepared) {
    watch.prepared(search);
  }
  Incumbents found = start;
  merge_into(found, earlier.findings);
  SearchCounts counts = earlier.findings.counts;
  BrokenExample broken = earlier.findings.broken;
  const auto now = [&] {
    JobProgress so_far{rounds.passed(), rounds.numbers(), findings_of(found, job)};
    so_far.findings.counts = counts;
    so_far.findings.broken = broken;
    return so_far;
  };
  while (!rounds.done()) {
    if (stopped()) {
      add_instead(found);
      searched.done = false;
      break;
    }
    std::vector<BoundedLayout> round;
    for (const std::uint32_t layout : rounds.round()) {
      round.push_back({layout, rounds.bound(layout)});
    }
    LayoutFindings r = search.search(round, found);
    found = std::move(r.found);
    counts += r.counts;
    keep_plainer(broken, r.broken);
    rounds.next();
    if (watch.round) {
      watch.round(now);
    }
  }
  progress = now();
  return searched;
}

}  // namespace headroom
