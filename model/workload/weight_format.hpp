// SPDX-License-Identifier: Apache-2.0
// How a quantised checkpoint stores its weights: bits a weight with the scales beside them.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/estimate/precision.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct WeightFormat {
  std::string method;  ///< as the checkpoint names it: fp8, mxfp4, gptq, awq, ...; empty: a preset that states `format`
  /// As which an engine serves it: gptq and awq of 4 bits are int4. nullopt: none of those known here.
  std::optional<Precision> format;
  std::string source;             ///< who says so; empty: the checkpoint's own config.json
  double bits = 0.0;              ///< a quantised weight with its share of scales and zero points; 0: not known
  bool experts_only = false;      ///< everything but the routed experts keeps 16 bits (gpt-oss)
  std::vector<std::string> kept;  ///< modules that keep 16 bits, as the checkpoint spells them
};

/// Reads `quantization_config` of a Hugging Face config.json. Bits by method:
///   fp8             8 + 32 / (block rows x block columns)
///   mxfp4           4 + 8 / 32 (OCP Microscaling Formats 1.0, table 1), nvfp4 4 + 8 / 16
///   gptq, awq       b + (16 + b) / g: a 16-bit scale and a zero point a group
///   bitsandbytes    8; 4 + 32 / 64, with double quantisation 4 + 8 / 64 + 32 / (64 x 256) (Dettmers et al. 2023,
///                   section 3)
///   compressed-tensors, modelopt   as the format inside says
/// Its format follows: weights of floats in 8 bits are fp8, of 4 bits nvfp4 in groups of 16 and mxfp4 in groups of 32;
/// integers are int8 and int4. Problems (wrong types, impossible widths) go to the table's diagnostics; an unknown
/// method keeps bits = 0 and no format.
[[nodiscard]] WeightFormat import_weight_format(ConfigTable table);

/// Reads the table [weights] of a preset; a format that is not stated follows from the method and its bits where those
/// say it.
[[nodiscard]] WeightFormat read_weight_format(ConfigTable& table);

}  // namespace headroom
