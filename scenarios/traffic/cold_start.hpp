// SPDX-License-Identifier: Apache-2.0
// The time from the decision for a replica until it serves, as a whole or by its parts.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// In the order in which they come, one after another.
enum class StartPart : std::uint8_t {
  node,     ///< a machine is provisioned and has joined
  image,    ///< the container image is pulled and starts
  weights,  ///< weights are read into the GPUs
  compile,  ///< the engine compiles
  graphs,   ///< the engine profiles, warms up and captures its graphs
  count
};
inline constexpr std::size_t start_part_count = static_cast<std::size_t>(StartPart::count);
inline constexpr std::array<std::string_view, start_part_count> start_part_names{"node", "image", "weights", "compile",
                                                                                 "graphs"};

/// Its parts as stated.
struct StartParts {
  std::array<Seconds, start_part_count> each{};
  std::optional<BytesPerSecond> storage;  ///< at which a host reads weights, from which their time follows
};

struct ColdStart {
  Seconds whole{};
  std::optional<std::array<Seconds, start_part_count>> parts;  ///< absent: stated as a whole
  std::optional<BytesPerSecond> storage;                       ///< from which the time of the weights is
  Bytes read{};                                                ///< weights that a host reads
};

/// The parts with the time of `weights` bytes that a host reads.
[[nodiscard]] ColdStart cold_start_of(const StartParts& parts, Bytes weights);

/// "a cold start takes 131 s: node 45 s (34.4 %), image ..., weights 48 s (36.6 %; 70.6 GB at 1.47 GB/s), ...";
/// empty where it is stated as a whole.
[[nodiscard]] std::string parts_text(const ColdStart& start);

}  // namespace headroom
