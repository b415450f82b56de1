// SPDX-License-Identifier: Apache-2.0
// Which measured kernels stand for an engine's products and experts.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/kernels/attention.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/kernels/grouped_gemm.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
#include <headroom/model/workload/architecture.hpp>

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

/// FLOP/s of fp32 on the vector units; infinite where the datasheet has none.
[[nodiscard]] double vector_peak_of(const Device& device) noexcept;

/// SKUs of a generation on which an engine gives decodes that share an iteration with prompts to the prompts' call of
/// attention, whose kernel has a block of threads for each query head: the heads of a group read the cache of their KV
/// head one by one, where a call of decodes alone reads it once. Networks with sinks, and latents, have other kernels.
struct MixedAttention {
  std::string engine, generation;  ///< engine of the curves, generation of the device: "vllm", "ampere"
};
/// SKUs of a generation on which an engine runs prompts of networks with sinks by a kernel whose blocks of threads hold
/// so many rows of queries, with all heads of a group.
struct SinkAttention {
  std::string engine, generation;
  double rows = 0.0;
};
/// model/stacks/step/serve-attention.toml.
struct AttentionKernels {
  std::vector<MixedAttention> mixed;
  std::vector<SinkAttention> sinks;
};
[[nodiscard]] AttentionKernels read_attention_kernels(const ConfigValue& document,
                                                      const std::string& file,
                                                      Diagnostics& diagnostics);
/// Of `data`. ConfigError if the file is invalid.
[[nodiscard]] const AttentionKernels& attention_kernels(const ModelData& data);

/// Whether the engine's decodes run in the call of attention of prompts beside them.
[[nodiscard]] bool attention_is_mixed(const ModelData& data,
                                      const std::string& engine,
                                      const Device& device,
                                      const Architecture& arch,
                                      std::vector<std::string>& sources);

/// The curve of a network's prompts: of one with sinks in the blocks that the engine's kernel for them has.
[[nodiscard]] PrefillCurve prefill_of(PrefillCurve curve,
                                      const ModelData& data,
                                      const std::string& engine,
                                      const Device& device,
                                      const Architecture& arch,
                                      std::vector<std::string>& sources);

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
