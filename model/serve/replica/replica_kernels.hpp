// SPDX-License-Identifier: Apache-2.0
// Which measured kernels stand for an engine's products and experts.
#pragma once

#include <headroom/core/diagnostic.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/kernels/grouped_gemm.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// Curves of the engine where it was measured, else of any.
template <typename Choose>
auto of_engine(const std::string& engine, const Choose& choose) {
  try {
    return choose(std::string_view{engine});
  } catch (const ConfigError&) {
    return choose(std::string_view{});
  }
}

/// The curve of a format's products, with the launch that an engine's graph holds. `borrowed`: whether kernels of
/// another format stand for it; `wide`: the 16-bit format.
[[nodiscard]] GemmModel product_model(const CurveSet& set,
                                      const Device& device,
                                      const std::string& engine,
                                      const GemmFormat& format,
                                      const GemmFormat& wide,
                                      std::vector<std::string>& sources,
                                      bool& borrowed);

/// A family of kernels of experts.
struct ExpertKernels {
  MoeModel model;
  double launch = 0.0;  ///< seconds of a layer's launches, which the model's time holds
};

/// Every family of kernels that the engine was measured with in these formats, with loads like the routing's where
/// there are such; of any engine where it was not measured. Weights that nobody measured narrow run the wide kernels.
[[nodiscard]] std::vector<ExpertKernels> expert_models(const CurveSet& set,
                                                       const Device& device,
                                                       const EngineKernels& kernels,
                                                       const std::vector<const GemmFormat*>& formats,
                                                       const GemmFormat& half,
                                                       std::vector<std::string>& sources,
                                                       bool& borrowed);

/// How much slower a SKU multiplies than its datasheet says, where it borrows kernels of another board of the same chip
/// with more power: as in training (StepLevels::board_factor). At least 1.
[[nodiscard]] double board_factor(const ModelData& data, const Device& sku);
/// The SKU with all peaks lower.
[[nodiscard]] Device with_lower_peaks(const Device& sku, double slower);

}  // namespace headroom
