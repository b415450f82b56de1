// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/post_training/rollout.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace headroom {

RolloutTimes simulate_rollout(const RolloutShare& share, const RolloutClock& clock) {
  RolloutTimes times;
  const std::size_t count = share.lengths.size();
  if (count == 0) {
    return times;
  }
  using Answer = std::pair<double, double>;  // where it ends and where it began, in the engine's count of tokens
  std::priority_queue<Answer, std::vector<Answer>, std::greater<>> active;
  double tokens = 0.0, started = 0.0;  // iterations' tokens so far; sum over active answers of where they began
  double now = 0.0, slot_time = 0.0;
  std::size_t next = 0, done = 0;
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, share.slots));
  const auto group = static_cast<std::size_t>(std::max<std::int64_t>(1, share.group));
  const auto passed = [&](double part) { return static_cast<double>(done) >= part * static_cast<double>(count); };
  const auto admit = [&] {
    if (share.whole_batches && !active.empty()) {
      return;
    }
    for (; next < count && active.size() < most; ++next) {
      const double prompt = share.shares_prefix && next % group != 0 ? 0.0 : clock.prompt.raw();
      now += prompt;
      times.prompts += Seconds{prompt};
      active.emplace(tokens + share.lengths[next], tokens);
      started += tokens;
      times.tokens += share.lengths[next];
    }
  };
  admit();
  const double filled = static_cast<double>(active.size());
  while (!active.empty()) {
    const auto [end, begin] = active.top();
    const double step = end - tokens;
    const double batch = static_cast<double>(active.size());
    const double keys = batch * (share.prompt + tokens + 0.5 * step) - started;
    if (step > 0.0) {
      const double took = step / share.step_tokens * clock.decode(batch, std::max(batch, keys)).raw();
      now += took;
      slot_time += batch * took;
    }
    tokens = end;
    active.pop();
    started -= begin;
    ++done;
    if (times.full.raw() <= 0.0 && next >= count) {
      times.full = Seconds{now};
    }
    if (times.half.raw() <= 0.0 && passed(0.5)) {
      times.half = Seconds{now};
    }
    if (times.most.raw() <= 0.0 && passed(0.9)) {
      times.most = Seconds{now};
    }
    admit();
  }
  const double decoding = now - times.prompts.raw();
  times.mean_batch = decoding > 0.0 ? slot_time / decoding : 0.0;
  times.empty = decoding > 0.0 ? 1.0 - times.mean_batch / filled : 0.0;
  // Turns of environments lie in series with an answer's tokens; the longest answer has them all behind it.
  const double turns = share.turn.raw() * std::ceil(static_cast<double>(count) / static_cast<double>(most));
  times.whole = Seconds{now + turns};
  times.half += Seconds{0.5 * turns};
  times.most += Seconds{0.9 * turns};
  return times;
}

}  // namespace headroom
