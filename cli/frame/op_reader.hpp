// SPDX-License-Identifier: Apache-2.0
// Options of a question to `headroom op`; all missing, wrong and inapplicable ones are reported together.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/kernels/gemm.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

class OpReader {
 public:
  /// `kind` and `meaning` ("C[m,n] = A[m,k] B[k,n]") appear in messages.
  OpReader(const Arguments& arguments, std::string_view kind, std::string_view meaning)
      : arguments_{&arguments}, kind_{kind}, meaning_{meaning} {}

  /// Requires an option; false when it is missing.
  bool need(std::string_view option);
  /// A required positive integer; 1 when it is missing.
  double size(std::string_view option);
  double size_or(std::string_view option, double otherwise);
  /// An optional integer >= 0.
  double count_or(std::string_view option, double otherwise);
  bool flag(std::string_view option);
  std::string text(std::string_view option, std::string_view otherwise = "");
  /// Index of the value in `names`.
  std::size_t choice(std::string_view option, std::span<const std::string_view> names, std::string_view otherwise);
  /// Format in --dtype or in another option.
  const GemmFormat& format(std::string_view otherwise = "bf16", std::string_view option = "--dtype");
  /// Sizes from "224", "224x224" or "8x224x224", each at least `least`. With `dimensions` > 0 there are that many, and
  /// a single size stands for all.
  std::vector<double> extents(std::string_view option, std::size_t dimensions, double least, double otherwise);

  void problem(std::string message) { diagnostics_.add("", {}, std::move(message)); }
  /// Whether there is no problem so far; values that depend on several options are checked after it.
  [[nodiscard]] bool good() const noexcept { return diagnostics_.empty() && missing_.empty(); }
  /// Throws ConfigError with every problem, including options of `known` that were given but do not apply.
  void finish(std::span<const Option> known);

 private:
  [[nodiscard]] bool given(std::string_view option);
  double integer(std::string_view option, double least);

  const Arguments* arguments_;
  std::string_view kind_;
  std::string_view meaning_;
  std::vector<std::string_view> asked_;
  std::vector<std::string_view> required_;
  std::vector<std::string_view> missing_;
  Diagnostics diagnostics_;
};

}  // namespace headroom::cli
