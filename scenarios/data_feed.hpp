// SPDX-License-Identifier: Apache-2.0
// Table [data] of a scenario, what a sample asks of the hosts that load it, and what a plan tells of that.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/train/input_pipeline.hpp>

#include <optional>
#include <string>

namespace headroom {

/// nullopt without the table: data is then taken not to bind.
[[nodiscard]] std::optional<DataFeed> read_data_feed(ConfigTable& root);

/// Whether data keeps up, what binds, and what of a host would: one sentence. `feed` as the scenario states it.
[[nodiscard]] std::string data_text(const std::optional<DataFeed>& feed, const FedStep& fed);

}  // namespace headroom
