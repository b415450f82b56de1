// SPDX-License-Identifier: Apache-2.0
// From a measured row of a disaggregated deployment to its times and rates: both pools, each with its layout and number
// of workers, and the transfer between them.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/fixed_load/disaggregated.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/measured/serving_place.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

struct DisaggregatedQuestion {
  PlacedRow prefill, decode;
  SteadyLoad prefill_load, decode_load;  ///< of one worker each
  double clients = 1.0;
  double places = 0.0;  ///< sequences that a decoding worker runs at once, by its launch; 0: not published
  Seconds transfer{};   ///< of the cache of a prompt, by the links of the GPUs that computed it, and its handover
  ServingMetric metric = ServingMetric::tpot;
  double to_unit = 1.0;
  bool median = false;  ///< a median does not hold the first burst, in which a tenth of the requests waits
};

/// The row as if its columns described the prefilling workers.
[[nodiscard]] ServingConfiguration prefilling(const ServingConfiguration& run);

/// How fast a prompt's cache travels from the GPUs that computed it, of a deployment on so many: over NVLink where one
/// domain holds both pools, else by its NICs; nullopt where the catalog has none.
[[nodiscard]] std::optional<CacheTransfer> cache_transfer(const PlacedRow& prefill,
                                                          const Device& device,
                                                          const Catalog& catalog,
                                                          std::int64_t gpus);

/// Whether a row states the workers of both pools and one of the deployment's own metrics.
[[nodiscard]] bool asks_for_deployment(const ServingConfiguration& run, std::string_view metric);

/// The question of such a row; nullopt, with the reason in `refusal`, when there is none.
[[nodiscard]] std::optional<DisaggregatedQuestion> disaggregated_question(const ServingConfiguration& run,
                                                                          std::string_view metric,
                                                                          const Catalog& catalog,
                                                                          ServingPlaces& places,
                                                                          RowPrediction& refusal);

/// The answer in the row's unit; that of the datasheet alone; the bound that no deployment beats.
[[nodiscard]] double predict_deployment(const DisaggregatedQuestion& question, const IterationPhysics& physics);
[[nodiscard]] double sheet_deployment(const DisaggregatedQuestion& question);
[[nodiscard]] double fastest_deployment(const DisaggregatedQuestion& question);

}  // namespace headroom
