// SPDX-License-Identifier: Apache-2.0
// The ops of a model's layers priced by a SKU's curves, beside the roofs above them.
#pragma once

#include <headroom/answers/views/render_roofline.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/layers/layer_kernels.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <span>

namespace headroom {

class ModelData;

/// A row for each op of each question; `format` is of weights and products, `cache_bytes` of an element of the KV
/// cache. ConfigError where no curve serves, and for heads that tp does not divide.
[[nodiscard]] RooflineReport layer_roofline(const ModelData& data,
                                            const Architecture& arch,
                                            const Device& device,
                                            const GemmFormat& format,
                                            double cache_bytes,
                                            std::span<const LayerQuestion> questions);

}  // namespace headroom
