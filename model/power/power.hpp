// SPDX-License-Identifier: Apache-2.0
// The power of a GPU by its activity, under its own limit or a cap, and of its share of the host.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/estimate/estimate.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// Kinds of activity with similar power. communication: a kernel that waits for a link; waiting: clocks up, nothing
/// runs.
enum class Draw : std::uint8_t { matrix, memory, communication, waiting };
inline constexpr std::array<std::string_view, 4> draw_names{"matrix", "memory", "communication", "waiting"};
inline constexpr std::size_t draw_count = draw_names.size();

/// A number with the range that its sources leave open.
struct RangedNumber {
  double value = 0.0, low = 0.0, high = 0.0;
  std::string source;
};

/// What one unit of a kind of silicon draws while it multiplies at its boost clock, its share of cache and memory with
/// it, over the card's idle power.
struct UnitDraw {
  std::string capability;  ///< CUDA compute capability
  RangedNumber watts;      ///< W of an SM
};

/// Parameters of the power model (model/stacks/step/power.toml).
struct PowerForm {
  std::array<RangedNumber, draw_count> activity;  ///< share of (limit - idle) drawn, by kind of activity
  RangedNumber idle;                              ///< share of the TDP drawn at rest, if the SKU states no idle power
  RangedNumber voltage;                           ///< voltage at zero clock over voltage at full clock
  std::vector<UnitDraw> units;                    ///< of silicon whose draw was measured
  RangedNumber host_of_rating;                    ///< share drawn of what a node's rating leaves for its host
  RangedNumber host_of_tdp;  ///< share of the GPUs' TDP drawn by the host, for nodes without a rating
  /// 80 % of measured powers lie within a factor of 1 / (1 + width) .. 1 + width of the prediction
  double width = 0.0;
  /// What a GPU draws over its idle power while an engine serves (serving_power()).
  RangedNumber serving_active;      ///< share of (limit - idle), whatever runs: clocks, schedulers, kernels that wait
  RangedNumber serving_reading;     ///< pJ for a byte that is read from memory
  RangedNumber serving_arithmetic;  ///< pJ for a FLOP of 16 bit on the matrix units
  RangedNumber serving_experts;     ///< share of (limit - idle) that experts with block scales add while they run
  double serving_width = 0.0;       ///< as `width`, of GPUs that serve
  std::string source, width_source;
};
[[nodiscard]] PowerForm read_power_form(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);
/// Of `data`. ConfigError if the file is invalid.
[[nodiscard]] const PowerForm& power_form(const ModelData& data);

/// The activity of a term of a step. Recomputation is mostly matrix products; during a pipeline bubble, a straggler's
/// delay or data loading the GPU waits. measured_level scales all kinds instead of being one.
[[nodiscard]] constexpr Draw draw_of(Term term) noexcept {
  switch (term) {
    case Term::gemm:
    case Term::attention:
    case Term::recompute:
    case Term::head: return Draw::matrix;
    case Term::scan:
    case Term::elementwise:
    case Term::optimizer: return Draw::memory;
    case Term::tp_comm:
    case Term::cp_comm:
    case Term::ep_comm:
    case Term::pp_comm:
    case Term::dp_comm:
    case Term::offload: return Draw::communication;
    case Term::host:
    case Term::host_sync:
    case Term::bubble:
    case Term::straggler:
    case Term::data:
    case Term::measured_level:
    case Term::count: break;
  }
  return Draw::waiting;
}

/// Power of one GPU of a SKU in its host, in watts.
struct GpuPower {
  Watts idle{}, tdp{};
  std::optional<Watts> cap;
  std::array<Watts, draw_count> draw{};  ///< power by kind of activity, under the cap
  Watts host{};                          ///< a GPU's share of the power of the node without its GPUs
  double width = 0.0;                    ///< relative half-width of the form, which 80 % of measurements keep
  std::string idle_source, host_source;
  [[nodiscard]] constexpr Watts of(Draw kind) const noexcept { return draw[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] constexpr Watts least() const noexcept {
    Watts least = draw[0];
    for (const Watts watts : draw) {
      least = watts < least ? watts : least;
    }
    return least;
  }
  /// The power for which supply and cooling must be sized: GPU at its limit or cap plus its share of the node.
  [[nodiscard]] constexpr Watts busy() const noexcept { return of(Draw::matrix) + host; }
};

/// P = idle + activity (limit - idle), at most the cap. nullopt if the SKU has no TDP. `node` may be nullptr.
[[nodiscard]] std::optional<GpuPower> gpu_power(const Device& device,
                                                const Node* node,
                                                std::optional<Watts> cap,
                                                const PowerForm& form);

/// What a GPU does while an engine serves.
struct ServingUse {
  BytesPerSecond read{};        ///< weights and cache
  FlopsPerSecond multiplied{};  ///< as of 16 bit: one of 8 bit counts as half of one where it is twice as fast
  double scaled_experts = 0.0;  ///< share of the time in experts whose weights have scales by blocks
};
/// P = idle + (limit - idle) (active + experts e) + reading r + arithmetic m, at most the limit or the cap: dynamic
/// power is the energy of what is done (Horowitz 2014, section 1.1), beside what a GPU at work draws whatever it does.
[[nodiscard]] Watts serving_power(const GpuPower& power, const ServingUse& use, const PowerForm& form) noexcept;

/// Why a cap is not possible: no TDP, at or below idle, above 1.5 x TDP. Empty if it is possible.
[[nodiscard]] std::string why_no_cap(const Device& device, Watts cap, const PowerForm& form);

/// The clock relative to the uncapped one at which dynamic power is `share` (above 0) of the uncapped: f V(f)^2 = share
/// with V(f) = voltage + (1 - voltage) f (dynamic power C V^2 f: Weiser et al. 1994, section 2). 1 for share >= 1.
[[nodiscard]] double capped_clock(double share, double voltage) noexcept;

/// The clock of a slice's products over the clock that the whole card keeps at its limit, at which kernels were
/// measured: f(busy) / f(all), where n SMs that multiply draw n w beside the idle power and the clock f of boost falls
/// until f V(f)^2 = min(1, (limit - idle) / (n w)). A lone slice escapes the limit, and slices that leave SMs idle
/// share what those would draw. `busy`: SMs of the card at work, the slice's own among them. 1 for a whole card, and
/// where nobody measured w of the silicon or the card's limit is not known.
[[nodiscard]] double slice_clock(const Device& device, double busy, const PowerForm& form);

/// The factor of a cap on the rate of matrix products. Memory-bound passes keep theirs: memory has its own clock. Of a
/// slice times slice_clock(); `busy` as there, blank: all slices of its profile that the card has.
[[nodiscard]] double matrix_clock(const Device& device,
                                  std::optional<Watts> cap,
                                  const PowerForm& form,
                                  std::optional<double> busy = std::nullopt);

/// Energy of one GPU per step, without host: sum over the terms of exposed time x power, scaled by `measured_level`.
[[nodiscard]] Joules gpu_energy(const Breakdown& time, const GpuPower& power) noexcept;

}  // namespace headroom
