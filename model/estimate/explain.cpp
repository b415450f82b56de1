// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/estimate/explain.hpp>

#include <cmath>

namespace headroom {

std::string shown_text(double value, Shown as) {
  switch (as) {
    case Shown::count: return value == std::round(value) ? format_count(value) : format_number(value, 4);
    case Shown::fraction: return format_number(100.0 * value) + " %";
    case Shown::seconds:
    case Shown::run_seconds: return format(Seconds{value});
    case Shown::bytes: return format(Bytes{value});
    case Shown::flops: return format(Flops{value});
    case Shown::bytes_per_second: return format(BytesPerSecond{value});
    case Shown::flops_per_second: return format(FlopsPerSecond{value});
  }
  return format_number(value);
}

void ExplainRecorder::line(std::string_view name,
                           std::string_view formula,
                           std::string_view reference,
                           double value,
                           Shown as,
                           std::initializer_list<ExplainInput> inputs) {
  ExplainEntry entry{std::string{name}, std::string{formula}, std::string{reference}, value, as, {}};
  for (const ExplainInput& input : inputs) {
    entry.inputs.push_back({std::string{input.symbol}, input.value, input.as, std::string{input.source}});
  }
  entries_.push_back(std::move(entry));
}

}  // namespace headroom
