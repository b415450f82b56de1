// SPDX-License-Identifier: Apache-2.0
// Several processes on one card: what each keeps of its speed in time slices, under MPS and in slices of MIG.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/power/power.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// How processes share a card. none: each has a card of its own.
enum class CardSharing : std::uint8_t { none, time_slice, mps, mig };
inline constexpr std::array<std::string_view, 4> card_sharing_names{"none", "time-slice", "mps", "mig"};
[[nodiscard]] constexpr std::string_view name_of(CardSharing sharing) noexcept {
  return card_sharing_names[static_cast<std::size_t>(sharing)];
}

/// What a tenant is kept apart from: nothing, another's memory, another's faults too.
enum class Isolation : std::uint8_t { none, memory, fault };
inline constexpr std::array<std::string_view, 3> isolation_names{"none", "memory", "fault"};
[[nodiscard]] constexpr std::string_view name_of(Isolation isolation) noexcept {
  return isolation_names[static_cast<std::size_t>(isolation)];
}
/// What a way to share gives. MPS clients have address spaces and memory limits of their own, but a fatal fault of one
/// ends all (NVIDIA, Multi-Process Service, memory protection and error containment); time slices limit no memory and
/// contain no fault (NVIDIA k8s-device-plugin, shared access to GPUs); a slice of MIG is apart in both.
[[nodiscard]] constexpr Isolation isolation_of(CardSharing sharing) noexcept {
  switch (sharing) {
    case CardSharing::time_slice: return Isolation::none;
    case CardSharing::mps: return Isolation::memory;
    case CardSharing::none:
    case CardSharing::mig: break;
  }
  return Isolation::fault;
}

/// Parameters and measured errors (model/stacks/step/sharing.toml).
struct SharingForm {
  struct Errors {
    double width = 0.0;  ///< 80 % of rows lie within 1 / (1 + width) .. 1 + width of the prediction
    double mean_error = 0.0;
    std::int64_t rows = 0;
    std::string source;
  };
  Bytes process{};  ///< of a process's context
  std::string process_source;
  Errors mps, time_slice, mig;
  double most_in_turn = 1.0;  ///< work of processes in turn over that of one alone, the most that was measured
  Watts unit{};               ///< dynamic power of one multiprocessor at the highest clock
  std::vector<std::string> capabilities;  ///< that it was fitted on
};
/// Of `data`. ConfigError if the file is invalid.
[[nodiscard]] const SharingForm& sharing_form(const ModelData& data);

/// Speed of each of n processes that all have work under way on one card under MPS, over its speed alone. `busy` is the
/// share of its time in which a process's kernels run on the card alone, 0 to 1; the rest is its host's. Kernels share
/// the card, hosts are apart: a closed network of one station with processor sharing and of delays, whose product form
/// does not depend on how long kernels and gaps last (Baskett, Chandy, Muntz and Palacios 1975, types 2 and 3). With
/// c_k the coefficients of prod_j (1 - b_j + b_j x) and c_k(i) those without process i:
///   v_i = sum_k k! c_k(i) / sum_k k! c_k
/// Two of equal b do 2 / (1 + b^2) of one. Bounds: sum_i b_i v_i <= 1 and v_i <= 1, which for n alike are min(n, 1 / b)
/// (Denning and Buzen 1978, asymptotic bounds). Precondition: `busy` within 0 and 1, 20 processes at most.
[[nodiscard]] std::vector<double> mps_speeds(std::span<const double> busy);

/// The most that processes alike do together over one of them: min(n, 1 / busy). Precondition: busy above 0.
[[nodiscard]] double sharing_bound(double busy, double processes) noexcept;

/// The same in time slices: one process at a time holds the card, gaps of its host included, and passes it on in turn
/// (Kleinrock 1967, processor sharing as the limit of round robin): v_i = 1 / n. Switches cost no more than is
/// measured, 3 % at most of the card.
[[nodiscard]] std::vector<double> time_slice_speeds(std::span<const double> busy);

/// Speeds under a way to share; 1 each where each has its own card or slice.
[[nodiscard]] std::vector<double> shared_speeds(CardSharing sharing, std::span<const double> busy);

/// Time of a call on a slice that has `share` of the card's units or bandwidth, the smaller, over its time on the whole
/// card: (1 - b) + b / share (Amdahl 1967 with the card's part of the call slowed). Upper bound, for kernels that fill
/// the card while they run. Precondition: share above 0.
[[nodiscard]] double slice_stretch(double busy, double share) noexcept;

/// Clock of products on `units` busy multiprocessors in slices of a card over that of a lone slice: the dynamic power
/// of all, n unit, against what the limit leaves above idle (power.hpp, capped_clock()). Nothing where the form was not
/// fitted on cards of this compute capability or the card's power is not known.
[[nodiscard]] std::optional<double> clock_of_all_slices(
    const Device& card, double units, std::optional<Watts> cap, const SharingForm& form, const PowerForm& power);

}  // namespace headroom
