// SPDX-License-Identifier: Apache-2.0
// The recorder behind `explain`: the same evaluation code, run with a recorder instead of a second implementation.
#pragma once

#include <headroom/core/quantity_text.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// How a recorded number is printed. `run_seconds` are of the whole run and no share of its step.
enum class Shown : std::uint8_t {
  count,
  fraction,
  seconds,
  bytes,
  flops,
  bytes_per_second,
  flops_per_second,
  run_seconds
};
[[nodiscard]] std::string shown_text(double value, Shown as);

/// One symbol of a formula with its value and the source of the value.
struct ExplainInput {
  std::string_view symbol;
  double value = 0.0;
  Shown as = Shown::count;
  std::string_view source;
};

/// One priced line: name, formula in the symbols of its source, reference, value, inputs.
struct ExplainEntry {
  std::string name;
  std::string formula;
  std::string reference;
  double value = 0.0;
  Shown as = Shown::seconds;
  struct Input {
    std::string symbol;
    double value = 0.0;
    Shown as = Shown::count;
    std::string source;
  };
  std::vector<Input> inputs;
};

/// Records every call. The evaluation is a template over its recorder type.
class ExplainRecorder {
 public:
  static constexpr bool records = true;
  void line(std::string_view name,
            std::string_view formula,
            std::string_view reference,
            double value,
            Shown as,
            std::initializer_list<ExplainInput> inputs);
  [[nodiscard]] const std::vector<ExplainEntry>& entries() const noexcept { return entries_; }

 private:
  std::vector<ExplainEntry> entries_;
};

/// The recorder of the hot path: calls are guarded by `if constexpr (Recorder::records)` and compile to nothing.
struct NoRecorder {
  static constexpr bool records = false;
};

}  // namespace headroom
