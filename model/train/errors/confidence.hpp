// SPDX-License-Identifier: Apache-2.0
// Past errors of the step's time as a guide to the next one: by class of question, with the range of the measurements
// behind them (model/stacks/step/confidence.toml).
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/model/train/memory/memory.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// Classes of questions with similar errors.
enum class RunClass : std::uint8_t {
  dense,
  experts,
  adapters,       ///< LoRA, QLoRA; among measured rows also fine-tuning on packed sequences
  other_kernels,  ///< a SKU whose kernels were never measured, with any workload
  wide_experts,   ///< experts whose ranks span several NVLink domains, so that tokens cross NICs
  count
};
inline constexpr std::size_t run_class_count = static_cast<std::size_t>(RunClass::count);
inline constexpr std::array<std::string_view, run_class_count> run_class_names{"dense", "experts", "adapters",
                                                                               "other-kernels", "wide-experts"};
inline constexpr std::array<std::string_view, run_class_count> run_class_texts{
    "dense network, measured kernels", "network with experts", "adapters or packed fine-tuning",
    "SKU whose kernels nobody measured", "experts that tokens meet over NICs, between NVLink domains"};

/// Errors of one class, as natural logarithms of predicted/measured or as widths derived from them.
struct ClassErrors {
  std::int64_t rows = 0, sources = 0;  ///< numbers of rows and sources behind the widths
  /// exp(q) - 1, with q the 50, 80 and 90 % quantile of |error|: the truth lies within mid / (1 + w) .. mid (1 + w).
  double width_50 = 0.0, width_80 = 0.0, width_90 = 0.0;
  double level = 0.0;  ///< standard deviation of the mean error of a source
  double shape = 0.0;  ///< standard deviation of a source's rows around their mean
  std::string source;
};

/// Inclusive bounds of the measured values.
struct MeasuredRange {
  std::int64_t low = 0, high = 0;
  [[nodiscard]] constexpr bool holds(std::int64_t value) const noexcept { return low <= value && value <= high; }
};

/// The range of the rows behind the widths.
struct MeasuredGround {
  std::vector<std::string> skus, software;
  std::vector<std::string> same_kernels;  ///< SKUs that run the kernels of a measured SKU at the same clock
  std::int64_t gpus = 0;                  ///< GPUs of the largest run
  MeasuredRange hidden, seq_len;
  std::map<std::string, std::vector<std::string>, std::less<>> precisions;  ///< measured precisions by generation
  std::string source;
};

struct Confidence {
  std::array<ClassErrors, run_class_count> classes;
  MeasuredGround measured;
  std::string source;
  [[nodiscard]] const ClassErrors& operator[](RunClass c) const noexcept {
    return classes[static_cast<std::size_t>(c)];
  }
};

/// Reads the table; problems are added to `diagnostics`: widths that do not grow, inverted bounds, unknown recipes.
[[nodiscard]] Confidence read_confidence(const ConfigValue& document,
                                         const std::string& file,
                                         Diagnostics& diagnostics);

/// Of `data`. ConfigError if the table is invalid.
[[nodiscard]] const Confidence& step_confidence(const ModelData& data);

/// The first class that applies: other kernels, adapters, experts, dense. Never wide_experts, which wide_errors() adds.
[[nodiscard]] RunClass class_of(const Device& device,
                                const Architecture& architecture,
                                bool adapters,
                                const MeasuredGround& measured) noexcept;

/// How steps of a class weigh the fitted numbers. Other kernels and wide experts count as networks with experts do:
/// their widths are those of their class.
[[nodiscard]] StepKind kind_of(RunClass run_class) noexcept;

/// Errors of a question: of the posterior of the fitted numbers, or where nobody measured the SKU's kernels of the
/// class. Rows and sources are the class's.
[[nodiscard]] ClassErrors errors_of(const Confidence& confidence,
                                    RunClass run_class,
                                    const StepPosterior& posterior,
                                    const StepUnknown& unknown);

/// Errors `own` of a question whose experts span several NVLink domains: the larger of them and of that class for each
/// quantile and deviation. Rows and sources are those of `own`.
[[nodiscard]] ClassErrors wide_errors(const Confidence& confidence, const ClassErrors& own);

/// Errors of a question that two classes describe by different halves of it, as kernels nobody measured under a
/// workload nobody measured: independent, so that squares of logarithms add up. Rows and sources are those of `own`.
[[nodiscard]] ClassErrors errors_beside(const ClassErrors& own, const ClassErrors& other) noexcept;

/// Errors as runs of the user's own narrow them. Of a fitted class, runs tell the level and what like jobs of a cluster
/// have in common. What single runs differ by stays, tails and all; where a run is `of_job`, the very job that is asked
/// of, it tells the tails too, and what most runs differ by stays.
[[nodiscard]] ClassErrors errors_beside_runs(const ClassErrors& own,
                                             RunClass run_class,
                                             const StepPosterior& posterior,
                                             bool of_job);

/// The class with the widest errors of those whose kernels were measured, for workloads that never were. Excludes other
/// kernels, which errors_beside() adds, and wide experts.
[[nodiscard]] RunClass widest_class(const Confidence& confidence) noexcept;

/// The level of the user's cluster from measured runs of theirs: a term of its own of the step, so that the parts sum
/// up. What the runs say of the numbers is in these.
struct MeasuredLevel {
  double factor = 1.0;      ///< of the step
  double runs = 0.0;        ///< number of runs behind it
  double mean_error = 0.0;  ///< mean of ln(predicted/measured) over the runs, before they moved anything
};

}  // namespace headroom
