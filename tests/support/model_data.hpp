// SPDX-License-Identifier: Apache-2.0
// The model's data that ship, read once for all tests of an executable.
#pragma once

#include <headroom/model/workload/model_data.hpp>

namespace headroom::test {

[[nodiscard]] inline const ModelData& model_data() {
  static const ModelData shipped = ModelData::standard();
  return shipped;
}

}  // namespace headroom::test
