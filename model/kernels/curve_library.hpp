// SPDX-License-Identifier: Apache-2.0
// Fitted kernel curves: one TOML per measured SKU, borrowed by its generation with the borrower's own datasheet.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/kernels/attention_training.hpp>
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/kernels/grouped_gemm.hpp>
#include <headroom/model/kernels/memory_ops.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Where a curve's numbers come from and how far they held on kernels that the fit did not see.
struct CurveProvenance {
  std::string sku;  ///< whose kernels: the id of the file that the curve stands in
  std::string engine, version;
  std::string format;      ///< as the model names it: "bf16"; of attention "bf16/fp8"
  std::string kernel;      ///< of MoE the family of kernels, of a memory-bound pass its name; else empty
  std::string routing;     ///< of MoE "balanced" or "power-law"
  std::int64_t hosts = 1;  ///< of a collective the most that its kernels were measured across
  std::string source;
  std::string date;
  std::int64_t rows = 0;
  std::int64_t folds = 0;  ///< of the cross-validation by shape behind the errors
  double mape = 0.0;
  double median = 0.0;
  double p90 = 0.0;
  double bias = 0.0;
};

template <std::size_t N>
struct FittedCurve {
  CurveProvenance provenance;
  std::array<double, N> values{};
};

using FittedGemm = FittedCurve<gemm_parameter_count>;
using FittedPrefill = FittedCurve<prefill_parameter_count>;
using FittedDecode = FittedCurve<decode_parameter_count>;
using FittedTrainingAttention = FittedCurve<training_attention_parameter_count>;
using FittedMoe = FittedCurve<moe_parameter_count>;
using FittedMemory = FittedCurve<memory_parameter_count>;

/// All curves of one measured SKU.
struct CurveSet {
  std::string id;  ///< of the SKU
  std::string file;
  std::string base;              ///< another set whose curves serve where this one has none; empty: none
  std::vector<FittedGemm> gemm;  ///< in order of preference
  std::vector<FittedPrefill> prefill;
  std::vector<FittedDecode> decode;
  std::vector<FittedTrainingAttention> training_attention;  ///< the engine is the implementation: "flash2"
  std::vector<FittedMoe> moe;
  std::vector<FittedMemory> memory;
};

/// A curve chosen for a question, and in words what it stands on. It lives as long as the set it was chosen from.
template <std::size_t N>
struct ChosenCurve {
  const FittedCurve<N>* curve = nullptr;
  std::string why;  ///< "h100-sxm-80gb, trtllm 1.3.0rc20 bf16; cross-validated 5.4 %"
};

/// Weight matrices that an engine's benchmark rotates through; 1 when it is not known.
[[nodiscard]] double benchmark_copies(std::string_view engine) noexcept;

/// Whether the kernels that an engine's benchmark times in 8 and 4 bit hold the cast of their activations too; a
/// probe's products do not, so that their curves leave the cast at its prior.
[[nodiscard]] bool benchmark_quantises(std::string_view engine) noexcept;

/// Reads one set; every problem goes to `diagnostics`.
[[nodiscard]] CurveSet read_curve_set(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);
/// The set that a SKU names (`curves = "ID"`), followed by the curves of the sets that its file names as `base`.
/// ConfigError when it names none, an unknown one, or bases that lead back to themselves.
[[nodiscard]] CurveSet find_curve_set(const Device& device);
/// The same read once and kept, for those who ask for the same SKUs again and again. Safe to call from several threads.
[[nodiscard]] const CurveSet& kept_curve_set(const Device& device);

/// The curve of a format. An empty engine takes the set's first; a format nobody measured takes that of the same
/// width, and says so. ConfigError naming what there is when nothing serves.
[[nodiscard]] ChosenCurve<gemm_parameter_count> choose_gemm(const CurveSet& set,
                                                            const Device& device,
                                                            const GemmFormat& format,
                                                            std::string_view engine = {});

/// The same for attention. A cache of a type that nobody measured is priced with the curve of 16 bits and its own
/// bytes, and fp8 queries with that of bf16 queries at their own rate.
[[nodiscard]] ChosenCurve<prefill_parameter_count> choose_prefill(const CurveSet& set,
                                                                  const Device& device,
                                                                  const AttentionFormat& format,
                                                                  std::string_view engine = {});
[[nodiscard]] ChosenCurve<decode_parameter_count> choose_decode(const CurveSet& set,
                                                                const Device& device,
                                                                const AttentionFormat& format,
                                                                std::string_view engine = {});
/// The set whose attention of training serves a device: its own, else that of the SKU on which it was published.
[[nodiscard]] CurveSet training_attention_set(const CurveSet& set, const Device& device);
/// The newest fused implementation that a set has. ConfigError when it has none.
[[nodiscard]] const AttentionImplementation& newest_training_attention(const CurveSet& set);
/// The curve of one implementation of attention in training. ConfigError naming those measured when it is not there.
[[nodiscard]] ChosenCurve<training_attention_parameter_count> choose_training_attention(
    const CurveSet& set, const Device& device, const AttentionImplementation& implementation);

/// The curve of a mixture-of-experts layer. An empty engine or kernel takes the set's first; a format that nobody
/// measured takes that of the same width, routing that nobody measured the other one, and says so. ConfigError naming
/// what there is when nothing serves.
[[nodiscard]] ChosenCurve<moe_parameter_count> choose_moe(const CurveSet& set,
                                                          const Device& device,
                                                          const GemmFormat& format,
                                                          Routing routing = Routing::balanced,
                                                          std::string_view engine = {},
                                                          std::string_view kernel = {});

/// The curve of a memory-bound pass: that of `kernel`, else the set's first "scale_matrix", the plainest measured pass
/// (reads and writes every element once); where no pass was measured, launch and bandwidth of the set's first GEMM with
/// priors for the rest; of one engine where it is named. `why` says which. ConfigError when there is neither.
struct ChosenMemory {
  MemoryCurve values{};
  std::string engine;
  double p90 = 0.0;  ///< of the curve it was taken from
  std::string why;
};
[[nodiscard]] ChosenMemory choose_memory(const CurveSet& set,
                                         const Device& device,
                                         std::string_view kernel = "scale_matrix",
                                         std::string_view engine = {});

// A chosen curve points into its set: one that is about to vanish serves nobody.
ChosenCurve<gemm_parameter_count> choose_gemm(CurveSet&&,
                                              const Device&,
                                              const GemmFormat&,
                                              std::string_view = {}) = delete;
ChosenCurve<prefill_parameter_count> choose_prefill(CurveSet&&,
                                                    const Device&,
                                                    const AttentionFormat&,
                                                    std::string_view = {}) = delete;
ChosenCurve<decode_parameter_count> choose_decode(CurveSet&&,
                                                  const Device&,
                                                  const AttentionFormat&,
                                                  std::string_view = {}) = delete;
ChosenCurve<training_attention_parameter_count> choose_training_attention(CurveSet&&,
                                                                          const Device&,
                                                                          const AttentionImplementation&) = delete;
ChosenCurve<moe_parameter_count> choose_moe(CurveSet&&,
                                            const Device&,
                                            const GemmFormat&,
                                            Routing = Routing::balanced,
                                            std::string_view = {},
                                            std::string_view = {}) = delete;

/// Peak, bandwidth, SMs and L2 for a rate. ConfigError naming every number that the catalog lacks.
[[nodiscard]] KernelDevice kernel_device(const Device& device, Rate rate);

}  // namespace headroom
