// SPDX-License-Identifier: Apache-2.0
// What a plan tells of the hosts that load its data.
#pragma once

#include <headroom/model/train/step/input_pipeline.hpp>

#include <optional>
#include <string>

namespace headroom {

/// Whether data keeps up, what binds, and what of a host would: one sentence. `feed` as the scenario states it.
[[nodiscard]] std::string data_text(const std::optional<DataFeed>& feed, const FedStep& fed);

}  // namespace headroom
