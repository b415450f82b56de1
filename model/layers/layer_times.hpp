// SPDX-License-Identifier: Apache-2.0
// Times of a layer's kernels by the fitted curves of a SKU.
#pragma once

#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/layers/layer_kernels.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

struct LayerKernelTime {
  Seconds time{};
  std::string_view bound;
  FlopsPerSecond peak{};  ///< of the rate that the kernel computes at
};

/// Chooses the curves of a device once; then prices kernels. Weights and products are in `format`, attention in 16 bit
/// with a cache of `cache_bytes` an element. ConfigError when no curve serves.
class LayerTimer {
 public:
  LayerTimer(const ModelData& data, const Device& device, const GemmFormat& format, double cache_bytes);
  ~LayerTimer();
  LayerTimer(const LayerTimer&) = delete;
  LayerTimer& operator=(const LayerTimer&) = delete;
  LayerTimer(LayerTimer&&) noexcept;
  LayerTimer& operator=(LayerTimer&&) noexcept;

  /// Gradients of products are taken in 16 bit whatever the format of the weights.
  [[nodiscard]] LayerKernelTime time(const LayerKernel& kernel, LayerPhase phase) const;
  /// What each kind of kernel stands on: "gemm: trtllm 1.3.0rc20 bf16 kernels of h100-sxm-80gb, 5.4 % off when held
  /// out".
  [[nodiscard]] const std::vector<std::string>& sources() const noexcept;

 private:
  struct Models;
  std::unique_ptr<Models> models_;
};

}  // namespace headroom
