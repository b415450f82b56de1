// SPDX-License-Identifier: Apache-2.0
// The ops of a layer against the roofs of a GPU: table, CSV, drawing.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

struct RooflineRow {
  std::string phase;  ///< "forward", "decode"
  std::string op;
  std::int64_t layers = 1;  ///< of this kind; times and work are of one
  Flops work{};
  Bytes moved{};
  Seconds time{};
  FlopsPerSecond peak{};  ///< of the format it computes in
  std::string bound;

  [[nodiscard]] FlopsPerByte intensity() const { return work / moved; }
  [[nodiscard]] FlopsPerSecond rate() const { return work / time; }
};

struct RooflineReport {
  std::string title;  ///< "Llama 3.1 70B on h100-sxm-80gb, tp 8, bf16"
  std::string gpu;
  FlopsPerSecond peak{};
  BytesPerSecond bandwidth{};
  BytesPerSecond l2{};
  std::vector<RooflineRow> rows;
  std::vector<std::string> notes;
};

[[nodiscard]] std::string roofline_text(const RooflineReport& report);
/// Schema "headroom.roofline/1": raw SI, the unit in the key.
[[nodiscard]] Value roofline_document(const RooflineReport& report);
[[nodiscard]] std::string roofline_csv(const RooflineReport& report);
/// One self-contained drawing, log against log: slopes of memory and L2, the flat roof, one point an op with its name.
[[nodiscard]] std::string roofline_svg(const RooflineReport& report);

}  // namespace headroom
