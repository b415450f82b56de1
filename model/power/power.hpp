// SPDX-License-Identifier: Apache-2.0
// The power of a GPU by what it spends its time on, under its own limit or a cap, and of the host that feeds it.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/estimate/estimate.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// Kinds of time that draw alike. Waiting: clocks up and nothing running; communication: a kernel that waits for a
/// link.
enum class Draw : std::uint8_t { matrix, memory, communication, waiting };
inline constexpr std::array<std::string_view, 4> draw_names{"matrix", "memory", "communication", "waiting"};
inline constexpr std::size_t draw_count = draw_names.size();

/// A number with the range that its sources leave open.
struct RangedNumber {
  double value = 0.0, low = 0.0, high = 0.0;
  std::string source;
};

/// Parameters of the form (model/stacks/step/power.toml).
struct PowerForm {
  std::array<RangedNumber, draw_count> activity;  ///< share of limit - idle, by kind of time
  RangedNumber idle;                              ///< share of the TDP, where a SKU states no idle power
  RangedNumber voltage;                           ///< V at no clock over V at the full one
  RangedNumber host_of_rating;                    ///< share of what a node's rating leaves beside its GPUs
  RangedNumber host_of_tdp;                       ///< share of the GPUs' TDP, for nodes without a rating
  double width = 0.0;  ///< 80 % of powers lie within 1 / (1 + width) .. 1 + width of the predicted
  std::string source, width_source;
};
[[nodiscard]] PowerForm read_power_form(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);
/// The embedded form, user folders first; parsed once. ConfigError when it is broken.
[[nodiscard]] const PowerForm& power_form();

/// What a term of a step spends its time on. Recomputation is mostly products; a pipeline bubble, a straggler and
/// waiting data leave the GPU waiting. measured_level is no kind of its own: it stretches all of them.
[[nodiscard]] constexpr Draw draw_of(Term term) noexcept {
  switch (term) {
    case Term::gemm:
    case Term::attention:
    case Term::recompute:
    case Term::head: return Draw::matrix;
    case Term::elementwise:
    case Term::optimizer: return Draw::memory;
    case Term::tp_comm:
    case Term::cp_comm:
    case Term::ep_comm:
    case Term::pp_comm:
    case Term::dp_comm:
    case Term::offload: return Draw::communication;
    case Term::host:
    case Term::bubble:
    case Term::straggler:
    case Term::data:
    case Term::measured_level:
    case Term::count: break;
  }
  return Draw::waiting;
}

/// Watts of one GPU of a SKU on its host.
struct GpuPower {
  Watts idle{}, tdp{};
  std::optional<Watts> cap;
  std::array<Watts, draw_count> draw{};  ///< by kind of time, under the cap
  Watts host{};                          ///< of the node beside its GPUs, a GPU's share
  std::string idle_source, host_source;
  [[nodiscard]] constexpr Watts of(Draw kind) const noexcept { return draw[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] constexpr Watts least() const noexcept {
    Watts least = draw[0];
    for (const Watts watts : draw) {
      least = watts < least ? watts : least;
    }
    return least;
  }
  /// What the GPU and its share of the node draw at the GPU's limit: what power and cooling must be bought for.
  [[nodiscard]] constexpr Watts busy() const noexcept { return of(Draw::matrix) + host; }
};

/// P = idle + activity (limit - idle), never above the cap. nullopt: the catalog has no TDP of the SKU. `node`: nullptr
/// for none.
[[nodiscard]] std::optional<GpuPower> gpu_power(const Device& device,
                                                const Node* node,
                                                std::optional<Watts> cap,
                                                const PowerForm& form = power_form());

/// Why a cap cannot be: no TDP, at or below idle, above 1.5 x TDP; empty when it can.
[[nodiscard]] std::string why_no_cap(const Device& device, Watts cap, const PowerForm& form = power_form());

/// The clock, of the uncapped one, at which dynamic power is `share` of the uncapped: f V(f)^2 = share,
/// V(f) = voltage + (1 - voltage) f (dynamic power C V^2 f: Weiser et al. 1994, section 2). 1 from a share of 1 on;
/// share above 0.
[[nodiscard]] double capped_clock(double share, double voltage) noexcept;

/// What a cap leaves of the rate of products. Passes over memory keep theirs: bandwidth hangs on the memory's own
/// clock.
[[nodiscard]] double matrix_clock(const Device& device, std::optional<Watts> cap, const PowerForm& form = power_form());

/// Of one GPU in a step without its host: sum over the terms of exposed time x power; `measured_level` stretches all.
[[nodiscard]] Joules gpu_energy(const Breakdown& time, const GpuPower& power) noexcept;

}  // namespace headroom
