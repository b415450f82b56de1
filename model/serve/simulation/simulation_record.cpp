// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/simulation_record.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headroom {
namespace {

/// Spans reserved per request: four of an ordinary one, and on average four preemptions with their returns.
constexpr std::size_t spans_of_a_request = 12;
/// Waiting counts reserved per slice. One per arrival and admission: fewer than iterations unless an engine is far
/// behind.
constexpr std::size_t counts_of_a_slice = 4;
constexpr std::size_t shared_queues = 2;

std::size_t at_least_none(std::int64_t value) noexcept {
  return static_cast<std::size_t>(std::max<std::int64_t>(value, 0));
}

}  // namespace

SimulationRecord::SimulationRecord(const RecordLimits& limits) : limits_{limits} {}

void SimulationRecord::begin(std::vector<Engine> engines, std::size_t requests) {
  *this = SimulationRecord{limits_};
  engines_ = std::move(engines);
  const std::size_t first = std::min(at_least_none(limits_.first_request), requests);
  open_.assign(std::min(at_least_none(limits_.requests), requests - first), {});
  newest_.assign(engines_.size() + shared_queues, 0);
  most_slices_ = at_least_none(limits_.slices);
  most_spans_ = open_.size() * spans_of_a_request;
  most_waiting_ = most_slices_ * counts_of_a_slice;
  slices_.reserve(most_slices_);
  spans_.reserve(most_spans_);
  waiting_.reserve(most_waiting_);
}

SimulationRecord::Open* SimulationRecord::open_of(std::uint32_t id) noexcept {
  const std::size_t first = at_least_none(limits_.first_request);
  return id >= first && id - first < open_.size() ? &open_[id - first] : nullptr;
}

void SimulationRecord::close(std::uint32_t id, Open& open, Picoseconds time, bool still_open) noexcept {
  if (open.begin == never || open.begin == time) {
    return;
  }
  if (spans_.size() == most_spans_) {
    ++spans_left_out_;
    return;
  }
  spans_.push_back({open.begin, time, id, open.engine, open.phase, still_open});
}

void SimulationRecord::arrived(std::uint32_t id, Picoseconds time) noexcept {
  started_ = started_ || id >= at_least_none(limits_.first_request);
  if (Open* const open = open_of(id)) {
    *open = {time, nowhere, RequestPhase::queue};
    ++recorded_;
  }
}

void SimulationRecord::placed(std::uint32_t id, std::int32_t engine) noexcept {
  if (Open* const open = open_of(id)) {
    open->engine = engine;
  }
}

void SimulationRecord::enters(std::uint32_t id, std::int32_t engine, RequestPhase phase, Picoseconds time) noexcept {
  if (Open* const open = open_of(id)) {
    close(id, *open, time, false);
    *open = {time, engine, phase};
  }
}

void SimulationRecord::finished(std::uint32_t id, Picoseconds time) noexcept {
  if (Open* const open = open_of(id)) {
    close(id, *open, time, false);
    open->begin = never;
  }
}

void SimulationRecord::ran(const Slice& slice) noexcept {
  if (!started_ || slices_.size() == most_slices_) {
    iterations_left_out_ += slice.iterations;
    return;
  }
  iterations_ += slice.iterations;
  slices_.push_back(slice);
}

void SimulationRecord::waits(std::int32_t engine, std::int64_t count, Picoseconds time) noexcept {
  if (!started_ || slices_.size() == most_slices_) {
    return;  // counters end with the iterations that they accompany
  }
  std::size_t& newest = newest_[static_cast<std::size_t>(engine + static_cast<std::int32_t>(shared_queues))];
  if (newest > 0 && waiting_[newest - 1].time == time) {
    waiting_[newest - 1].count = count;
  } else if (waiting_.size() == most_waiting_) {
    ++waiting_left_out_;
  } else {
    waiting_.push_back({time, count, engine});
    newest = waiting_.size();
  }
}

void SimulationRecord::end(Picoseconds time) noexcept {
  const std::size_t first = at_least_none(limits_.first_request);
  for (std::size_t i = 0; i < open_.size(); ++i) {
    close(static_cast<std::uint32_t>(first + i), open_[i], time, true);
  }
}

}  // namespace headroom
