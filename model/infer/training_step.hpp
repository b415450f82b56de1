// SPDX-License-Identifier: Apache-2.0
// One step of data-parallel training of a network: its calls forward and backward, the update, the gradients' exchange.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/infer/call_rates.hpp>
#include <headroom/model/infer/call_time.hpp>
#include <headroom/model/infer/network_engine.hpp>
#include <headroom/model/workload/op_list.hpp>

namespace headroom {

/// What a network trains. Rows of embedding bags are looked up sparsely: they are updated where they lie, and what is
/// exchanged of them are the vectors of each sample.
struct TrainedTensors {
  double parameters = 0.0;  ///< dense
  double tensors = 0.0;     ///< dense
  double sparse = 0.0;      ///< elements that bags hand over for one sample
};
[[nodiscard]] TrainedTensors trained_tensors(const Network& network);

/// A step beside its calls.
struct TrainingStep {
  TrainedTensors trained;
  double calls = 1.0;  ///< before an update: gradients accumulate
  double ranks = 1.0;  ///< of data parallelism
  double hosts = 1.0;
  Seconds exchange{};  ///< of the dense gradients as one message
  Seconds sparse{};    ///< of one call's looked-up vectors and their gradients
};

/// Seconds of a step of `calls` calls that each take `call`:
///   T = (calls (call + sparse) + update + X - min(h X, 2/3 call)) (1 + c log2 ranks)
///   update = 30 bytes a parameter / (share B) + 6 us a tensor
///   X      = the message + 19 us a tensor (1 + log2(hosts) / 2); 0 on one rank
/// h: the engine's share of the exchange that may run beside the last backward pass, two thirds of a call. An engine
/// that works in buckets pays by the bucket of 25 MB, not by the tensor; where the update is sharded, a rank updates
/// its share alone.
[[nodiscard]] Seconds training_step_time(const TrainingStep& step,
                                         Seconds call,
                                         const CallDevice& device,
                                         const CallPhysics& physics,
                                         const NetworkEngine& engine) noexcept;

}  // namespace headroom
