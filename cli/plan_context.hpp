// SPDX-License-Identifier: Apache-2.0
// What is printed beside a plan and changes nothing of it.
#pragma once

#include <headroom/scenarios/plan.hpp>

#include <span>
#include <string>

namespace headroom::cli {

/// Measured runs like a priced step: published ones and those of the user.
void add_nearest(Plan& plan, std::span<const RunFile> own, const Sources& sources);

/// What more of each part of the hardware would buy.
void add_sensitivities(Plan& plan);

/// Nothing half-written: the trace is whole before the file is opened, and a file that cannot be written is an error.
void write_trace(const std::string& file, const std::string& trace);

}  // namespace headroom::cli
