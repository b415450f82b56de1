// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/front_queue.hpp>

#include <algorithm>

namespace headroom {

void FrontQueues::add(const ReplicaPool& pool) {
  for (std::int64_t i = 0; i < pool.replicas; ++i) {
    const std::size_t first = of_engine_.size();
    of_engine_.insert(of_engine_.end(), static_cast<std::size_t>(pool.lanes), processes_.size());
    processes_.push_back({pool.front, first, of_engine_.size(), {}});
  }
  heard_.resize(of_engine_.size());
  any_ = any_ || pool.front.any();
}

Picoseconds FrontQueues::hear(std::size_t engine, const SimulatedEngine::Progress& ended) noexcept {
  Process& process = processes_[of_engine_[engine]];
  Heard& heard = heard_[engine];
  const std::int64_t iterations = ended.iterations - heard.iterations;
  const std::int64_t tokens = ended.tokens - heard.tokens;
  heard = {ended.iterations, ended.tokens};
  if (iterations == 0) {
    return Picoseconds{0};
  }
  const Picoseconds each = tokens / iterations * process.work.piece;
  process.free = std::max(process.free + tokens * process.work.piece, ended.end + each);
  return each;
}

Picoseconds FrontQueues::takes(std::size_t engine,
                               std::span<const SimulatedEngine> engines,
                               std::int64_t prompt_tokens,
                               Picoseconds now) noexcept {
  Process& process = processes_[of_engine_[engine]];
  for (std::size_t one = process.first; one < process.last; ++one) {
    hear(one, engines[one].progress(now));
  }
  process.free = std::max(process.free, now) + prompt_tokens * process.work.text;
  return process.free;
}

void FrontQueues::pass(std::size_t engine,
                       const SimulatedEngine& of,
                       Picoseconds now,
                       std::span<RequestTimes> times) noexcept {
  const Picoseconds each = hear(engine, of.progress(now));
  const Process& process = processes_[of_engine_[engine]];
  auto behind = static_cast<std::int64_t>(of.begun().size());
  for (const std::uint32_t id : of.begun()) {
    times[id].first_token = process.free - --behind * process.work.piece;
  }
  std::int64_t place = 0;
  for (const std::uint32_t id : of.done()) {
    if (times[id].finished != never) {
      times[id].finished = std::max(process.free - each + ++place * process.work.piece, times[id].first_token);
    }
  }
}

}  // namespace headroom
