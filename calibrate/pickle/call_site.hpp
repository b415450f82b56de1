// SPDX-License-Identifier: Apache-2.0
// The line of a program behind a stack of frames, as PyTorch records them.
#pragma once

#include <headroom/calibrate/pickle/plain_data.hpp>

#include <string>

namespace headroom {

/// "train.py:40 step" of a list of frames with filename, line and name, the innermost first: the innermost of the
/// program's own Python, else of a framework's; empty: there is none.
[[nodiscard]] std::string call_site(const PlainData& data, PlainData::Id frames);

}  // namespace headroom
