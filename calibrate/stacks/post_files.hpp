// SPDX-License-Identifier: Apache-2.0
// Writes fitted numbers of post-training back into their files.
#pragma once

#include <headroom/calibrate/stacks/fit_post.hpp>

#include <string>
#include <vector>

namespace headroom {

/// As in the files, with three digits: "8.7 s", 1.31.
[[nodiscard]] std::string post_value_text(const PostTrainKnob& knob, double value);

/// Replaces in FOLDER/stacks/post/any.toml the population's numbers, those of ways of sending and the widths of
/// intervals, and in each fitted software's file its numbers, with what they rest on; everything else stays byte for
/// byte. All files are read back before any is written. Returns the written files. ConfigError when a file or a number
/// is missing.
[[nodiscard]] std::vector<std::string> write_post_files(const PostTrainFit& fit, const std::string& folder);

}  // namespace headroom
