// SPDX-License-Identifier: Apache-2.0
// What the ranks' records of their collectives add to the reading of a run.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/calibrate/ranks/rank_record.hpp>

#include <span>

namespace headroom {

/// Adds causes (a mismatched collective, a rank that stopped or left no record, groups entered in opposite orders, a
/// rank that comes last), the tables "process_groups" and "rank_states", and notes. ConfigError as hang_of().
void add_hang_reading(std::span<const RankRecord> records, RunReading& reading);

}  // namespace headroom
