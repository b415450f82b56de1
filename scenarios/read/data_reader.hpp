// SPDX-License-Identifier: Apache-2.0
// Table [data] of a scenario: what a sample asks of the hosts that load it.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/train/step/input_pipeline.hpp>

#include <optional>

namespace headroom {

/// nullopt without the table: data is then taken not to bind.
[[nodiscard]] std::optional<DataFeed> read_data_feed(ConfigTable& root);

}  // namespace headroom
