// SPDX-License-Identifier: Apache-2.0
// The options of one question of `headroom op`: every missing, bad and idle one is told at once.
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
  /// `kind` and `meaning` ("C[m,n] = A[m,k] B[k,n]") are for messages.
  OpReader(const Arguments& arguments, std::string_view kind, std::string_view meaning)
      : arguments_{&arguments}, kind_{kind}, meaning_{meaning} {}

  /// States that an option must be there; false when it is not.
  bool need(std::string_view option);
  /// A positive integer that must be there; 1 while it is not.
  double size(std::string_view option);
  double size_or(std::string_view option, double otherwise);
  /// The same, 0 allowed.
  double count_or(std::string_view option, double otherwise);
  bool flag(std::string_view option);
  std::string text(std::string_view option, std::string_view otherwise = "");
  /// One of `names`, by its index.
  std::size_t choice(std::string_view option, std::span<const std::string_view> names, std::string_view otherwise);
  /// The format of --dtype, or of another option.
  const GemmFormat& format(std::string_view otherwise = "bf16", std::string_view option = "--dtype");
  /// "224", "224x224" or "8x224x224", each at least `least`; as many sizes as `dimensions` where it is not 0: one size
  /// then stands for all.
  std::vector<double> extents(std::string_view option, std::size_t dimensions, double least, double otherwise);

  void problem(std::string message) { diagnostics_.add("", {}, std::move(message)); }
  /// Whether everything so far could be read: what follows from several values is checked after it.
  [[nodiscard]] bool good() const noexcept { return diagnostics_.empty() && missing_.empty(); }
  /// ConfigError with every problem; options of `known` that were given and have no part in the question are problems.
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
