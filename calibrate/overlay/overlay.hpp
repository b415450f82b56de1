// SPDX-License-Identifier: Apache-2.0
// Samples of a device as an overlay of the catalog: a SKU based on another, with curves fitted to the samples.
#pragma once

#include <headroom/calibrate/kernels/curve_text.hpp>
#include <headroom/calibrate/kernels/sample_set.hpp>
#include <headroom/calibrate/samples/sample_folder.hpp>
#include <headroom/hardware/catalog/catalog.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

class ModelData;

/// A fitted curve, compared with the base's.
struct OverlayCurve {
  FittedGroup fitted;
  std::vector<std::string> samples;   ///< names of the kernels, in the problem's order
  double within80 = 0.0;              ///< 80 % of held-out errors are below this share
  std::vector<std::string> outliers;  ///< kernels whose errors stand out
  std::string base;                   ///< curve of the base that it is compared with; empty: none
  std::optional<double> slower;       ///< median over the kernels of measured / the base's prediction - 1
};

/// A measured number, and the base's.
struct OverlayFact {
  std::string what;
  std::string measured;
  std::string base;                  ///< empty: the base does not have it
  std::optional<double> difference;  ///< measured / base - 1
};

struct Overlay {
  Overlay() = default;
  Overlay(const Overlay&) = delete;  // not copyable, because problems of its curves refer to their groups
  Overlay& operator=(const Overlay&) = delete;
  Overlay(Overlay&&) = default;
  Overlay& operator=(Overlay&&) = default;
  ~Overlay() = default;

  std::string id, base;
  std::string source;  ///< source of every number: device, date, software, conditions
  std::vector<OverlayCurve> curves;
  std::vector<OverlayFact> facts;
  std::vector<std::string> remarks;  ///< what was left out, with the reason
  std::string gpu_toml;              ///< text of gpus/ID.toml
  std::string curves_toml;           ///< text of curves/ID.toml; empty: nothing was fitted
  std::string collectives_toml;      ///< text of collectives/ID.toml; empty: none was fitted, and the base's stay valid
};

/// Fits every group of kernels and collectives and the copies, with five folds by shape. `id` may be the base's own,
/// which the overlay then extends. The set must outlive the overlay. Throws ConfigError for too few samples (naming the
/// probes to run), no samples, samples faster than the base's datasheet, or a device with another compute capability
/// than the base.
[[nodiscard]] Overlay make_overlay(
    const ModelData& data, const SampleSet& set, const Device& base, const Node* node, const std::string& id);

/// The overlay as a data folder: gpus/ID.toml, curves/ID.toml, collectives/ID.toml.
[[nodiscard]] std::vector<FolderFile> overlay_files(const Overlay& overlay);

}  // namespace headroom
