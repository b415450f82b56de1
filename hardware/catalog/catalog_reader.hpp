// SPDX-License-Identifier: Apache-2.0
// Readers of node types, clusters and price lists.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>

namespace headroom {

/// Each function reads one document whose bases are merged in. `file` is its name; problems are added to `diagnostics`.
[[nodiscard]] Node read_node(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);
[[nodiscard]] Cluster read_cluster(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);
[[nodiscard]] PriceList read_prices(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);

}  // namespace headroom
