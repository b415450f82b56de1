// SPDX-License-Identifier: Apache-2.0
// Keys of the questions beside a training plan.
#pragma once

#include <headroom/scenarios/advice/questions.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/training_keys.hpp>

namespace headroom {

using TrainingKeys = KeyedTable<keys::training, Kinds::train>;

/// `base_batch` and what belongs to it; nothing where the table does not state it. Problems go to the table.
[[nodiscard]] std::optional<BatchChange> read_batch_change(TrainingKeys& training);

/// `elastic`, as stated.
[[nodiscard]] std::vector<std::int64_t> read_elastic(TrainingKeys& training);

/// The table [sweep]; `tokens`: of the whole run, which a sweep is priced by.
[[nodiscard]] std::optional<SweepQuestion> read_sweep(ConfigTable& root, double tokens);

}  // namespace headroom
