// SPDX-License-Identifier: Apache-2.0
// From a measured serving row's configuration to what its GPUs draw, and to the energy of an output token.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>

#include <optional>
#include <string_view>

namespace headroom {

/// Metrics of power: power_w_per_gpu (W), j_per_output_token (J of all GPUs, hosts left out).
[[nodiscard]] bool asks_for_power(std::string_view metric) noexcept;

/// Power of one GPU, and the output tokens per second of all of them, both predicted.
struct ServingWatts {
  double watts = 0.0;            ///< of one GPU
  double limit = 0.0;            ///< its TDP, W
  double gpus = 1.0;             ///< of the run
  double output_rate = 0.0;      ///< tokens/s
  double sheet_rate = 0.0;       ///< the same from the datasheet alone, tokens/s
  GpuPower power;                ///< of the SKU under the run's cap
  ServingUse use;                ///< what a GPU does while it serves
  ServingTimeQuestion question;  ///< of the rate
};
/// nullopt, with the reason in `refusal`, when the row's rate or its SKU's power is not known.
[[nodiscard]] std::optional<ServingWatts> serving_watts(const ServingConfiguration& run,
                                                        ServingTimeModel& times,
                                                        const Catalog& catalog,
                                                        RowPrediction& refusal);

}  // namespace headroom
