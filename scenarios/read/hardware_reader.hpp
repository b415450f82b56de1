// SPDX-License-Identifier: Apache-2.0
// Table [hardware] of a scenario: the SKU, how many, and the hosts that hold them.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/read/money_reader.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct Sources;

struct HardwareChoice {
  Device device;  ///< its id is empty when the SKU is unknown
  std::int64_t gpus = 1;
  std::int64_t domain = 1;  ///< GPUs of one scale-up domain
  std::optional<BytesPerSecond> scale_out;
  std::string node;
  std::optional<Node> host;
  std::optional<Cluster> cluster;
  std::int64_t gpus_per_node = 1;
  std::optional<Bytes> host_memory;
  std::optional<Watts> power_cap;  ///< of one GPU
  double clock = 1.0;              ///< as stated, over the SKU's own
  /// What the prices and the power of this hardware are of.
  [[nodiscard]] PricedHardware priced(const PowerForm& form, bool serves) const;
};

/// Problems go to the diagnostics of `root`; what is taken for a blank key to `assumptions`.
/// `gpus_open`: their number may be left out, and is then 0.
[[nodiscard]] HardwareChoice read_hardware(ConfigTable& root,
                                           const Sources& sources,
                                           std::vector<std::string>& assumptions,
                                           bool gpus_open = false);

}  // namespace headroom
