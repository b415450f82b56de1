// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/checkpoint.hpp>
#include <headroom/scenarios/search/ranks/split_job.hpp>

#include <algorithm>

namespace headroom {

SplitJob::SplitJob(const SearchSetting& setting,
                   std::uint64_t turn,
                   Incumbents start,
                   JobProgress earlier,
                   std::size_t parts,
                   std::string file)
    : setting_{setting},
      turn_{turn},
      job_{job_of_turn(turn, job_count(*setting.question))},
      found_{std::move(start)},
      earlier_{std::move(earlier)},
      parts_{parts},
      file_{std::move(file)},
      bounds_(parts) {}

std::size_t SplitJob::parts_here() const noexcept {
  if (!rounds_) {
    return dropped_ ? 0 : parts_;
  }
  return std::min(parts_, rounds_->round().size());
}

SearchUnit SplitJob::next_part() {
  SearchUnit unit;
  unit.turn = turn_;
  unit.part = given_++;
  unit.parts = parts_here();
  if (!rounds_) {
    unit.kind = SearchUnit::Kind::bounds;
    return unit;
  }
  unit.kind = SearchUnit::Kind::layouts;
  const std::span<const std::uint32_t> round = rounds_->round();
  for (std::size_t i = unit.part; i < round.size(); i += unit.parts) {
    unit.layouts.push_back({round[i], rounds_->bound(round[i])});
  }
  return unit;
}

bool SplitJob::take(const SearchUnit& unit, UnitResult result) {
  ++taken_;
  if (unit.kind == SearchUnit::Kind::bounds) {
    bounds_[unit.part] = std::move(result.bounds);
    if (!result.progress.findings.dropped.empty()) {
      dropped_ = true;  // the other parts will say the same
      sum_.dropped = std::move(result.progress.findings.dropped);
    } else if (taken_ == parts_) {
      begin_rounds();
    }
    return dropped_ || rounds_;
  }
  add(round_, result.progress.findings);
  if (taken_ < parts_here()) {
    return false;
  }
  end_round();
  return true;
}

void SplitJob::begin_rounds() {
  std::size_t layouts = 0;
  for (const std::vector<LayoutBound>& part : bounds_) {
    layouts += part.size();
  }
  std::vector<LayoutBound> bounds(layouts);
  for (std::size_t i = 0; i < layouts; ++i) {
    bounds[i] = bounds_[i % parts_][i / parts_];
  }
  rounds_.emplace(std::move(bounds), setting_.bounded);
  const bool other =
      earlier_.layouts > 0 && (earlier_.numbers != rounds_->numbers() || !rounds_->skip_to(earlier_.layouts));
  if (other) {
    throw ConfigError{other_numbers(file_)};
  }
  merge_into(found_, earlier_.findings);
  sum_.counts = earlier_.findings.counts;
  sum_.broken = earlier_.findings.broken;
  begin_round();
}

void SplitJob::begin_round() {
  given_ = taken_ = 0;
  round_ = {};
  start_text_ = start_text(found_);
}

void SplitJob::end_round() {
  merge_into(found_, round_);
  sum_.counts += round_.counts;
  keep_plainer(sum_.broken, round_.broken);
  rounds_->next();
  begin_round();
}

JobProgress SplitJob::progress() const {
  JobProgress progress;
  progress.findings = findings_of(found_, job_);
  progress.findings.counts = sum_.counts;
  progress.findings.broken = sum_.broken;
  progress.findings.dropped = sum_.dropped;
  if (rounds_) {
    progress.layouts = rounds_->passed();
    progress.numbers = rounds_->numbers();
  }
  return progress;
}

}  // namespace headroom
