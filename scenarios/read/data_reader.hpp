// SPDX-License-Identifier: Apache-2.0
// Table [data] of a scenario: what a sample asks of the hosts that load it.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/train/step/input_pipeline.hpp>
#include <headroom/scenarios/inference/pipeline_question.hpp>

#include <optional>

namespace headroom {

/// nullopt without the table: data is then taken not to bind.
[[nodiscard]] std::optional<DataFeed> read_data_feed(ConfigTable& root);

/// The same of a question of kind batch, whose table also says more of the way and lists stages.
[[nodiscard]] std::optional<DataFeed> read_pipeline(ConfigTable& root, PipelineQuestion& pipeline);

}  // namespace headroom
