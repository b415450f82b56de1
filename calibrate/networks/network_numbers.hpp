// SPDX-License-Identifier: Apache-2.0
// The numbers behind a network's call that a fit moves: of kernels' shapes, of silicon, of hosts and of engines.
#pragma once

#include <headroom/model/infer/call_rates.hpp>
#include <headroom/model/infer/network_engine.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// All of them at one point of a fit.
struct NetworkNumbers {
  CallRates rates;
  std::map<std::string, NetworkEngine, std::less<>> engines;
};
[[nodiscard]] NetworkNumbers network_numbers(const ModelData& data);

enum class NetworkOwner : std::uint8_t { physics, silicon, host, engine };
inline constexpr std::array<std::string_view, 4> network_owner_names{"physics", "silicon", "host", "engine"};

/// A free number, in the units of the files; times in seconds, rates in bytes a second.
struct NetworkKnob {
  NetworkOwner owner = NetworkOwner::physics;
  std::string id;   ///< name of the silicon, a host's processor, id of an engine; empty of physics
  std::string key;  ///< "launch", "product.16-bit"
  double value = 0.0, low = 0.0, high = 0.0;
  double centre = 0.0, width = 1.0;  ///< of the prior, width in the logarithm
  std::vector<std::string> engines;  ///< that have the number: the engine's own and those that inherit it
  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool is_time() const noexcept;
  [[nodiscard]] bool is_rate() const noexcept { return key == "input"; }
  /// Moved by steps of training alone, which move no other.
  [[nodiscard]] bool of_training() const noexcept;
};

/// Free numbers of the embedded and user files with their priors (model/stacks/step/network-priors.toml). Shares that
/// no row measured (`assumed`) are held; an engine that has its base's number moves with it.
[[nodiscard]] std::vector<NetworkKnob> network_knobs(const ModelData& data);

void set_network_number(NetworkNumbers& numbers, const NetworkKnob& knob, double value);

/// As in the files, with three digits: "49 us", "6.3 ns", "1.9 GB/s", 0.71.
[[nodiscard]] std::string network_value_text(const NetworkKnob& knob, double value);

}  // namespace headroom
