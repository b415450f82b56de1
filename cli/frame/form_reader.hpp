// SPDX-License-Identifier: Apache-2.0
// Options of a question about one thing of a kind, such as an op; all missing, wrong and inapplicable ones are reported
// together.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/gemm.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

class FormReader {
 public:
  /// `verb`, `kind` and `meaning` ("C[m,n] = A[m,k] B[k,n]") appear in messages.
  FormReader(const Arguments& arguments, std::string_view verb, std::string_view kind, std::string_view meaning)
      : arguments_{&arguments}, verb_{verb}, kind_{kind}, meaning_{meaning} {}

  /// Requires an option; false when it is missing.
  bool need(std::string_view option);
  /// A required positive integer; 1 when it is missing.
  double size(std::string_view option);
  double size_or(std::string_view option, double otherwise);
  /// An optional integer >= 0.
  double count_or(std::string_view option, double otherwise);
  bool flag(std::string_view option);
  /// Whether it was given, which is no problem either way.
  [[nodiscard]] bool given(std::string_view option);
  /// The word behind the kind's name, a file; empty: there is none.
  [[nodiscard]] std::string file() const;
  /// Every value of an option that repeats.
  std::vector<std::string> texts(std::string_view option);
  /// A required positive quantity ("48 KiB", "5us"); of one when it is missing or wrong.
  template <class Q>
  Q quantity(std::string_view option) {
    return need(option) ? Q{measure(option, dimension_of<Q>, 0.0, false)} : Q{1.0};
  }
  template <class Q>
  std::optional<Q> quantity_if(std::string_view option) {
    return given(option) ? std::optional{Q{measure(option, dimension_of<Q>, 0.0, false)}} : std::nullopt;
  }
  /// The same, nought allowed.
  template <class Q>
  Q quantity_or(std::string_view option, Q otherwise) {
    return given(option) ? Q{measure(option, dimension_of<Q>, 1.0, true)} : otherwise;
  }
  /// A required real number between both bounds: "0.95", "2e9", "70B", "15T"; shares also as "95 %".
  double number(std::string_view option, double least, double most);
  double number_or(std::string_view option, double least, double most, double otherwise);
  std::string text(std::string_view option, std::string_view otherwise = "");
  /// Index of the value in `names`.
  std::size_t choice(std::string_view option, std::span<const std::string_view> names, std::string_view otherwise);
  /// Format in --dtype or in another option.
  const GemmFormat& format(std::string_view otherwise = "bf16", std::string_view option = "--dtype");
  /// Sizes from "224", "224x224" or "8x224x224", each at least `least`. With `dimensions` > 0 there are that many, and
  /// a single size stands for all.
  std::vector<double> extents(std::string_view option, std::size_t dimensions, double least, double otherwise);

  /// A problem of a file that an option or word names.
  void add(const Diagnostic& problem) { diagnostics_.add(problem); }
  void problem(std::string message) { diagnostics_.add("", {}, std::move(message)); }
  /// Whether there is no problem so far; values that depend on several options are checked after it.
  [[nodiscard]] bool good() const noexcept { return diagnostics_.empty() && missing_.empty(); }
  /// Throws ConfigError with every problem, including options of `known` that were given but do not apply.
  void finish(std::span<const Option> known);
  /// Every problem and what is missing, for a verb whose table says which options apply.
  [[nodiscard]] Diagnostics problems();

 private:
  /// A number in a unit, or one without where the dimension has none; `otherwise` when it is wrong.
  double measure(std::string_view option, Dimension dimension, double otherwise, bool nought);
  double real(std::string_view option, double least, double most);
  double integer(std::string_view option, double least);

  const Arguments* arguments_;
  std::string_view verb_;
  std::string_view kind_;
  std::string_view meaning_;
  std::vector<std::string_view> asked_;
  std::vector<std::string_view> required_;
  std::vector<std::string_view> missing_;
  Diagnostics diagnostics_;
};

}  // namespace headroom::cli
