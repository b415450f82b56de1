// SPDX-License-Identifier: Apache-2.0
// The catalog that ships, read once for all tests of an executable.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>

namespace headroom::test {

[[nodiscard]] inline const Catalog& catalog() {
  static const Catalog standard = Catalog::standard();
  return standard;
}

}  // namespace headroom::test
