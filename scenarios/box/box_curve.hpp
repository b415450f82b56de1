// SPDX-License-Identifier: Apache-2.0
// Throughput against latency of a stated number of GPUs: each layout at each load, the Pareto front of tokens/s per GPU
// against tokens/s per user, and the most requests that keep what is promised.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/box/box_question.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// One layout under one load.
struct BoxPoint {
  Changes changes;  ///< that make it of the question, its load the last
  std::string device;
  ServingLayout layout;
  std::int64_t gpus = 1, replicas = 1;
  std::int64_t in_flight = 1;              ///< that are asked for
  double running = 0.0;                    ///< of them, those that the KV caches hold at once
  Interval<double> tokens_per_s;           ///< output tokens of all GPUs
  Interval<double> tokens_per_s_per_gpu;   ///< the same of one
  Interval<double> tokens_per_s_per_user;  ///< 1 / TPOT
  Interval<double> requests_per_s;
  Interval<Seconds> ttft, tpot, e2e;    ///< means
  Dollars per_million_output_tokens{};  ///< 0 without a price
  double chance = 1.0;                  ///< to keep the promise that is least sure; 1 without promises
  bool keeps = true;                    ///< with the probability that is asked for
  bool front = false;                   ///< of tokens/s per GPU and tokens/s per user no other has more of both
};

/// A layout that has no times, and why.
struct BoxDropped {
  Changes changes;
  std::string why;
};

struct BoxCurve {
  std::shared_ptr<const Scenario> question;  ///< of the first combination that can be read
  MeanPromises promised;
  std::uint64_t combinations = 0;
  bool complete = true;            ///< false: it was stopped before every load was priced
  bool time_over = false;          ///< it is not complete because its time ran out
  std::vector<BoxPoint> points;    ///< by combination, each by its load
  std::vector<std::size_t> front;  ///< positions, from the most tokens/s per user on
  /// Of those that keep what is promised the one with the most requests/s; nullopt: none does.
  std::optional<std::size_t> taken;
  std::optional<std::size_t> at_middle;  ///< the same if times were as the model says, where that is another
  std::optional<Plan> plan;              ///< of what is taken
  std::vector<BoxDropped> dropped;
  /// Where nothing can be answered and the whole curve was looked at: the smallest changes of what is stated that hold
  /// the model, and the same with narrower weights; empty where none were found.
  Changes way_out, way_out_of_weights;
  std::optional<std::size_t> nearest;  ///< where nothing keeps what is promised: the likeliest to keep it
  std::vector<std::string> notes;      ///< what was assumed of the curve as a whole
  [[nodiscard]] bool feasible() const noexcept { return taken.has_value(); }
};

/// How far a curve is, for whoever looks at it from another thread.
struct BoxProgress {
  std::atomic<std::uint64_t> loads = 0, priced = 0;  ///< of all combinations; those that are left out count as priced
};

struct BoxOptions {
  unsigned threads = 0;  ///< 0: as many as the machine has; the answer is the same
  /// Once it is set no more loads are priced than one that has times, which an answer needs.
  const std::atomic<bool>* stop = nullptr;
  BoxProgress* progress = nullptr;
};

/// ConfigError where no combination can be read, with the problems of the first.
[[nodiscard]] BoxCurve box_curve(const BoxQuestion& question, const BoxOptions& options = {});

}  // namespace headroom
