// SPDX-License-Identifier: Apache-2.0
// The data that ships, read once for all tests of an executable.
#pragma once

#include <headroom/scenarios/question/scenario.hpp>

namespace headroom::test {

[[nodiscard]] inline const Sources& sources() {
  static const Sources standard = Sources::standard();
  return standard;
}

}  // namespace headroom::test
