// SPDX-License-Identifier: Apache-2.0
// Samples of a device as an overlay of the catalog: a SKU over its base, with the curves fitted to it.
#pragma once

#include <headroom/calibrate/kernels/curve_text.hpp>
#include <headroom/calibrate/kernels/sample_set.hpp>
#include <headroom/calibrate/samples/sample_folder.hpp>
#include <headroom/hardware/catalog/catalog.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A fitted curve beside what the base would have said.
struct OverlayCurve {
  FittedGroup fitted;
  std::vector<std::string> samples;   ///< the kernels by name, in the problem's order
  double within80 = 0.0;              ///< 80 % of held-out errors are smaller, as a share
  std::vector<std::string> outliers;  ///< kernels that the curve is far off from, farther than the others
  std::string base;                   ///< which curve of the base it stands beside; empty: it has none
  std::optional<double> slower;       ///< median over the kernels of measured / the base's prediction - 1
};

/// A number that was measured, and what the base says it is.
struct OverlayFact {
  std::string what;
  std::string measured;
  std::string base;                  ///< empty: the base does not say
  std::optional<double> difference;  ///< measured / base - 1
};

struct Overlay {
  Overlay() = default;
  Overlay(const Overlay&) = delete;  // the problems of its curves refer to their groups
  Overlay& operator=(const Overlay&) = delete;
  Overlay(Overlay&&) = default;
  Overlay& operator=(Overlay&&) = default;
  ~Overlay() = default;

  std::string id, base;
  std::string source;  ///< of every number: device, date, software, conditions
  std::vector<OverlayCurve> curves;
  std::vector<OverlayFact> facts;
  std::vector<std::string> remarks;  ///< what was left out, and why
  std::string gpu_toml;              ///< for gpus/ID.toml
  std::string curves_toml;           ///< for curves/ID.toml; empty: nothing was fitted
  std::string collectives_toml;      ///< for collectives/ID.toml; empty: none was fitted, and the base's stay in sight
};

/// Fits every group of kernels and collectives and the copies, five folds by shape. `id` may be the base's own, which
/// the overlay then extends. The set must outlive the overlay. ConfigError: too few samples for a curve, naming the
/// probes to run, none at all, samples that the base's datasheet does not allow, or a device that is plainly not the
/// base (its compute capability).
[[nodiscard]] Overlay make_overlay(const SampleSet& set, const Device& base, const Node* node, const std::string& id);

/// The overlay laid out as a data folder: gpus/ID.toml, curves/ID.toml, collectives/ID.toml.
[[nodiscard]] std::vector<FolderFile> overlay_files(const Overlay& overlay);

}  // namespace headroom
