// SPDX-License-Identifier: Apache-2.0
// Calls of one network on one SKU by their batch: time, interval, memory, and what of them was measured.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/infer/call_time.hpp>
#include <headroom/model/queue/batching.hpp>
#include <headroom/scenarios/inference/batch_scenario.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// One batch of the curve.
struct CallPoint {
  std::int64_t batch = 1;
  Seconds time{};     ///< of a call
  double rate = 0.0;  ///< samples a second, one call after another
  Bytes memory{};     ///< of the GPU
  bool fits = true;
  bool measured = false;          ///< stated by the scenario
  std::optional<CallTime> parts;  ///< where the network is known
  std::optional<Seconds> roof;    ///< the same: no kernels reach less
};

/// What it costs that no sum is split over blocks which add in any order.
struct DeterministicCost {
  std::int64_t batch = 1;
  double share = 0.0;         ///< of a call's time, that it takes more
  std::int64_t products = 0;  ///< that would have split
  std::int64_t of_products = 0;
};

/// The curve that answers stand on. Between batches that were computed, times run along lines.
struct CallBook {
  std::vector<CallPoint> points;  ///< powers of two, measured batches, the largest that fits; ascending
  CallCurve curve;                ///< one call alone on its GPU, of 1 to the largest batch that fits
  double width = 0.0;             ///< 80 % of calls take between 1/(1 + width) and 1 + width of the curve
  std::string width_source;
  std::vector<std::string> notes;
  std::optional<DeterministicCost> deterministic;  ///< where it is asked for, at the batch where it costs most
  [[nodiscard]] const CallPoint* point(std::int64_t batch) const noexcept;
};

/// Where the scenario measured calls, the curve goes through them: with a network the modelled curve is moved by their
/// ratio, whose weight falls to 0.7 away from them, and without one it runs along lines between them and ends at the
/// largest. ConfigError where the SKU cannot run it at all; a network too large for one sample is told in
/// its points.
[[nodiscard]] CallBook make_call_book(const BatchScenario& scenario);

}  // namespace headroom
