// SPDX-License-Identifier: Apache-2.0
// What past errors of a step's time say about the next one: by class of question, with the ground they were measured
// on (model/stacks/step/confidence.toml).
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/train/memory/memory.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Questions whose errors are alike.
enum class RunClass : std::uint8_t {
  dense,
  experts,
  adapters,       ///< LoRA, QLoRA; of measured rows also fine-tuning on packed sequences
  other_kernels,  ///< a SKU whose kernels nobody measured, whatever runs on it
  wide_experts,   ///< experts whose ranks lie in several NVLink domains, so that tokens meet them over NICs
  count
};
inline constexpr std::size_t run_class_count = static_cast<std::size_t>(RunClass::count);
inline constexpr std::array<std::string_view, run_class_count> run_class_names{"dense", "experts", "adapters",
                                                                               "other-kernels", "wide-experts"};
inline constexpr std::array<std::string_view, run_class_count> run_class_texts{
    "dense network, measured kernels", "network with experts", "adapters or packed fine-tuning",
    "SKU whose kernels nobody measured", "experts that tokens meet over NICs, between NVLink domains"};

/// Errors of one class, as natural logarithms of predicted/measured or widths made of them.
struct ClassErrors {
  std::int64_t rows = 0, sources = 0;  ///< behind the widths
  /// exp(q) - 1, q the 50, 80 and 90 % quantile of |error|: the truth lies within mid / (1 + w) .. mid (1 + w).
  double width_50 = 0.0, width_80 = 0.0, width_90 = 0.0;
  double level = 0.0;  ///< standard deviation of the mean error of a source
  double shape = 0.0;  ///< of its rows around that mean
  std::string source;
};

/// Inclusive bounds of what was measured.
struct MeasuredRange {
  std::int64_t low = 0, high = 0;
  [[nodiscard]] constexpr bool holds(std::int64_t value) const noexcept { return low <= value && value <= high; }
};

/// Where the rows behind the widths lie.
struct MeasuredGround {
  std::vector<std::string> skus, software;
  std::vector<std::string> same_kernels;  ///< SKUs that run another's kernels at the same clock
  std::int64_t gpus = 0;                  ///< of the largest run
  MeasuredRange hidden, seq_len;
  std::map<std::string, std::vector<std::string>, std::less<>> precisions;  ///< by generation
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

/// Every problem goes to `diagnostics`: widths that do not grow, bounds the wrong way round, unknown recipes.
[[nodiscard]] Confidence read_confidence(const ConfigValue& document,
                                         const std::string& file,
                                         Diagnostics& diagnostics);

/// The embedded table, a user's own first; parsed once. ConfigError when it is broken.
[[nodiscard]] const Confidence& step_confidence();

/// The first that applies: kernels nobody measured, adapters, experts, dense. Where the ranks of experts lie is no part
/// of it (wide_errors()).
[[nodiscard]] RunClass class_of(const Device& device,
                                const Architecture& architecture,
                                bool adapters,
                                const MeasuredGround& measured) noexcept;

/// Errors of a question of class `own` whose experts' ranks lie in several NVLink domains: of both classes the larger
/// at each quantile and of each deviation, so that none hides what the other says. Rows and sources are `own`'s.
[[nodiscard]] ClassErrors wide_errors(const Confidence& confidence, RunClass own);

/// The class with the widest errors, for what nobody measured; wide experts apart, which exchange what others do not.
[[nodiscard]] RunClass widest_class(const Confidence& confidence) noexcept;

/// What measured runs of the user's own say of the step: a term of its own, so that the parts still add up to it.
struct MeasuredLevel {
  double factor = 1.0;      ///< time of a step over that of the form
  double runs = 0.0;        ///< behind it
  double mean_error = 0.0;  ///< of them, ln(predicted/measured)
  double weight = 0.0;      ///< share of that error that is taken for the level
};

}  // namespace headroom
