// SPDX-License-Identifier: Apache-2.0
// What messages of logs add to the reading of a run.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/calibrate/messages/run_messages.hpp>

#include <span>

namespace headroom {

/// Adds causes (faults of the program, of devices and of the network, memory that was not there, ranks that did not
/// come, ways of collectives slower than the hardware has), the tables "faults" and "transports", and notes.
void add_message_reading(std::span<const RunMessages> logs, RunReading& reading);

}  // namespace headroom
