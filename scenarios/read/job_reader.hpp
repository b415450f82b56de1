// SPDX-License-Identifier: Apache-2.0
// [job] of a question of kind batch, and what of [money] and [energy] moves nothing of such an answer.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/inference/batch_scenario.hpp>
#include <headroom/scenarios/money/money.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Nothing where the table is missing. `gpus_stated`: hardware.gpus says how many work, so that no deadline is needed.
[[nodiscard]] std::optional<BatchJob> read_job(ConfigTable& root, bool gpus_stated);

/// A budget without a price.
void refuse_unpriced_budget(ConfigTable& root, const BatchJob& job, const Money& money);

/// Tells what a GPU costs, and the keys of [money] and [energy] that are read and move nothing.
void tell_job_money(ConfigTable& root, const Money& money, std::vector<std::string>& assumptions);

}  // namespace headroom
