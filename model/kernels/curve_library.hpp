// SPDX-License-Identifier: Apache-2.0
// Fitted kernel curves: one TOML per measured SKU, applied to other SKUs of its generation with their own datasheets.
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

class ModelData;

/// The origin of a curve's numbers, and its errors on kernels that the fit did not see.
struct CurveProvenance {
  std::string sku;  ///< id of the SKU whose kernels were measured
  std::string engine, version;
  std::string format;      ///< the model's name of the format: "bf16"; for attention "bf16/fp8"
  std::string kernel;      ///< kernel family of MoE, or name of a memory-bound pass; else empty
  std::string routing;     ///< routing of MoE: "balanced" or "power-law"
  std::int64_t hosts = 1;  ///< most hosts across which a collective was measured
  std::string source;
  std::string date;
  std::int64_t rows = 0;
  std::int64_t folds = 0;  ///< folds of the cross-validation by shape that gave the errors
  /// Errors e = predicted/measured - 1: mean, median and 90 % quantile of |e|, and median of e.
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
  std::string id;  ///< id of the SKU
  std::string file;
  std::string base;        ///< set that provides curves that this one lacks; empty: none
  std::string generation;  ///< of the SKU, where the set stands for it among SKUs that nobody measured; else empty
  std::vector<FittedGemm> gemm;  ///< curves in order of preference
  std::vector<FittedPrefill> prefill;
  std::vector<FittedDecode> decode;
  std::vector<FittedTrainingAttention> training_attention;  ///< `engine` holds the implementation: "flash2"
  std::vector<FittedMoe> moe;
  std::vector<FittedMemory> memory;
};

/// A curve chosen for a question, and the reason in words. The curve belongs to the set it was chosen from.
template <std::size_t N>
struct ChosenCurve {
  const FittedCurve<N>* curve = nullptr;
  std::string why;  ///< "h100-sxm-80gb, trtllm 1.3.0rc20 bf16; cross-validated 5.4 %"
};

/// Number of weight matrices that an engine's benchmark rotates through.
[[nodiscard]] double benchmark_copies(std::string_view engine) noexcept;

/// Whether the kernels that an engine's benchmark times in 8 and 4 bit include the cast of their activations. A probe's
/// products do not, so that their curves keep the cast at its prior.
[[nodiscard]] bool benchmark_quantises(std::string_view engine) noexcept;

/// Reads one set; problems are added to `diagnostics`.
[[nodiscard]] CurveSet read_curve_set(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);
/// The set that a SKU names (`curves = "ID"`), extended by its chain of bases. ConfigError if the SKU names none or an
/// unknown one, or if the chain is cyclic.
[[nodiscard]] const CurveSet& find_curve_set(const ModelData& data, const Device& device);

/// The curve of a format. An empty engine means the set's first curve; a format that was never measured takes the curve
/// of the same width, and `why` says so. ConfigError naming what the set has if no curve applies.
[[nodiscard]] ChosenCurve<gemm_parameter_count> choose_gemm(const CurveSet& set,
                                                            const Device& device,
                                                            const GemmFormat& format,
                                                            std::string_view engine = {});

/// The attention curve of a format, chosen as by choose_gemm(). A cache type that was never measured takes the 16-bit
/// curve with its own bytes; fp8 queries take the curve of bf16 queries at their own rate.
[[nodiscard]] ChosenCurve<prefill_parameter_count> choose_prefill(const CurveSet& set,
                                                                  const Device& device,
                                                                  const AttentionFormat& format,
                                                                  std::string_view engine = {});
[[nodiscard]] ChosenCurve<decode_parameter_count> choose_decode(const CurveSet& set,
                                                                const Device& device,
                                                                const AttentionFormat& format,
                                                                std::string_view engine = {});
/// The set whose training attention applies to a device: its own, else that of the SKU with published measurements.
[[nodiscard]] const CurveSet& training_attention_set(const ModelData& data, const Device& device);
/// The newest fused implementation in a set. ConfigError if it has none.
[[nodiscard]] const AttentionImplementation& newest_training_attention(const CurveSet& set);
/// The training curve of one implementation. ConfigError naming those measured if it is missing.
[[nodiscard]] ChosenCurve<training_attention_parameter_count> choose_training_attention(
    const CurveSet& set, const Device& device, const AttentionImplementation& implementation);

/// The curve of a mixture-of-experts layer. An empty engine or kernel means the set's first; a format that was never
/// measured takes the curve of the same width, unmeasured routing the other routing, and `why` says so. ConfigError
/// naming what the set has if no curve applies.
[[nodiscard]] ChosenCurve<moe_parameter_count> choose_moe(const CurveSet& set,
                                                          const Device& device,
                                                          const GemmFormat& format,
                                                          Routing routing = Routing::balanced,
                                                          std::string_view engine = {},
                                                          std::string_view kernel = {});

/// The curve of a memory-bound pass: that of `kernel`, else the set's first "scale_matrix", the simplest measured pass
/// (reads and writes every element once). If no pass was measured: launch and bandwidth of the set's first GEMM (of
/// `engine`, if given) with priors for the rest. `why` says which. ConfigError if there is neither.
struct ChosenMemory {
  MemoryCurve values{};
  std::string engine;
  double p90 = 0.0;  ///< 90 % quantile of the error of the curve used
  std::string why;
};
[[nodiscard]] ChosenMemory choose_memory(const CurveSet& set,
                                         const Device& device,
                                         std::string_view kernel = "scale_matrix",
                                         std::string_view engine = {});

// A chosen curve points into its set, so temporaries are refused.
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

/// Peak, bandwidth, SMs and L2 of a device for one rate. ConfigError naming every number that the catalog lacks.
[[nodiscard]] KernelDevice kernel_device(const Device& device, Rate rate);

}  // namespace headroom
