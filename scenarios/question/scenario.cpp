// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/question/scenario.hpp>

namespace headroom {

Sources Sources::standard() {
  return {Catalog::standard(), ModelLibrary::standard()};
}

}  // namespace headroom
