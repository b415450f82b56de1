// SPDX-License-Identifier: Apache-2.0
// Parts of `headroom kernel precision`: what is asked, a model's map of formats, and training with fake quantisers.
#pragma once

#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/laboratory/precision_map.hpp>

#include <optional>
#include <string>

namespace headroom::cli {

struct PrecisionAsked {
  Precision to = Precision::fp8, from = Precision::bf16;
  std::optional<double> kept;        ///< share of the FLOP that stays
  std::optional<double> moved;       ///< share of the time that moves
  std::optional<double> gain;        ///< of what moves
  std::optional<double> parameters;  ///< of a model that the library does not have
  std::optional<double> group;       ///< weights that share a scale
  bool zero_points = false;
  std::string model;
  KeptParts keep;
  bool qat = false;
  std::optional<double> batch;  ///< tokens or samples of a training step

  /// Bytes of a weight that moves, with its part of the scales: 16 bits a group (Frantar et al. 2023), and a zero point
  /// as wide as a weight where that is asked; without a group what the format's own scales take.
  [[nodiscard]] double moved_bytes() const;
  [[nodiscard]] double kept_bytes() const { return stored_bytes(from); }
};

/// How many times as fast products of the new format are: what was told, else the ratio of the catalog's peaks; nullopt
/// where neither is known. ConfigError for a SKU that lacks a format.
[[nodiscard]] std::optional<double> products_ratio(const PrecisionAsked& asked, const LabBench& bench);

/// The map of a language model's parts, its bytes, and what it gains. ConfigError for an unknown model, and for layers
/// that it does not have.
void add_model_map(const PrecisionAsked& asked, const LabBench& bench, LabAnswer& answer);
/// A training step with fake quantisers over one without, of a model or a network of ops.
void add_quantised_training(const PrecisionAsked& asked, const LabBench& bench, LabAnswer& answer);

}  // namespace headroom::cli
