// SPDX-License-Identifier: Apache-2.0
// Requests that a server calls a network with together: when a batch leaves the queue, and what that does to rates and
// latencies, in closed form.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

/// Time of one call by its number of samples, 1 to the largest batch. Convex or not: kernels fill in steps.
class CallCurve {
 public:
  /// `times[b - 1]` is the time of b samples. Precondition: not empty, all above zero.
  explicit CallCurve(std::vector<Seconds> times) : times_{std::move(times)} {}
  [[nodiscard]] std::int64_t largest() const noexcept { return static_cast<std::int64_t>(times_.size()); }
  /// Of b samples, 1 <= b <= largest(); between whole numbers along a line.
  [[nodiscard]] Seconds at(double batch) const noexcept;
  [[nodiscard]] Seconds of(std::int64_t batch) const noexcept { return times_[static_cast<std::size_t>(batch - 1)]; }
  /// Least squares line through 1 to `most` samples: S(b) = fixed + each b.
  struct Line {
    Seconds fixed{}, each{};
  };
  [[nodiscard]] Line line(std::int64_t most) const noexcept;
  /// The smallest batch, 1 to `most`, that has 98 % of the samples per second of the fastest: beyond it a batch costs
  /// latency and memory alone.
  [[nodiscard]] std::int64_t best(std::int64_t most) const noexcept;

 private:
  std::vector<Seconds> times_;
};

/// When a batch leaves the queue: as soon as an instance is free and `max_batch` wait, or as many as the largest of
/// `preferred` that can be filled, or the oldest has waited for `window` (Triton Inference Server, dynamic batcher:
/// max_queue_delay_microseconds, preferred_batch_size).
struct BatchingRule {
  std::int64_t max_batch = 1;
  std::vector<std::int64_t> preferred;  ///< ascending; empty: any
  Seconds window{};                     ///< 0: whatever waits is called at once
  std::int64_t instances = 1;           ///< calls at a time
  bool shared = false;                  ///< instances share a GPU: each takes as many times as long as are busy on it
  std::int64_t gpus = 1;                ///< that take from one queue, instances / gpus on each
};

/// An open loop of Poisson arrivals at a rule with one instance.
struct WindowLoad {
  double rate = 0.0;      ///< requests a second
  double capacity = 0.0;  ///< requests a second of full batches
  double load = 0.0;      ///< rate / capacity
  double mean_batch = 1.0;
  Seconds call{};         ///< of a mean batch
  Seconds wait{};         ///< mean, before the call begins
  Seconds mean{}, p95{};  ///< wait and call
  [[nodiscard]] bool stable() const noexcept { return load < 1.0; }
};

/// Closed forms of one instance, with S(b) = s0 + s1 b through the curve, window w and rate l:
///   bw = 1 + l w;  bq = l s0 / (1 - l s1);  b = min(M, (bw^3 + bq^3)^(1/3));  S = S(b);  rho = S l / b
///   wait = max(min(w, (b - 1) / l) (1 + 1 / b) / 2, rho S / 2), S / 2 at least where bq >= bw
///   mean = wait + S + t, t = load^8 / (2 (1 - load)) S(M);  p95 = 0.97 max(w, 0.95 S where bq >= bw) + S + 3 t
/// bw is the batch that a window gathers, bq the one that gathers during a call (both: renewal arguments; the norm
/// joins them). Against the event simulation below 80 % load: mean batch 2.6 %, mean latency 3.4 %, p95 15 %
/// (docs/networks.md). Above it simulate. Precondition: rate > 0.
[[nodiscard]] WindowLoad window_load(const CallCurve& curve, const BatchingRule& rule, double rate) noexcept;

/// A closed loop: `clients` that each ask again once answered, `samples` a request.
struct ClosedLoop {
  double batch = 1.0;  ///< samples of a call
  double rate = 0.0;   ///< samples a second
  Seconds mean{}, p95{}, p99{};
};
/// b = min(max(N r / 2, r), M): half of the requests wait while the others are called; X = served b / L(b) and, by
/// Little's law, R = N r / X. A request of more than M samples takes several calls. `served` is the engine's, from its
/// measured closed loops; tails 1.15 and 1.2 of the mean. With `away` from an answer to the client's next request N X
/// of them are under way and the others at the server: R = N r / X - away (Denning and Buzen 1978, interactive response
/// time formula).
[[nodiscard]] ClosedLoop closed_loop(const CallCurve& curve,
                                     std::int64_t clients,
                                     std::int64_t samples,
                                     std::int64_t max_batch,
                                     double served,
                                     Seconds away = {}) noexcept;

}  // namespace headroom
