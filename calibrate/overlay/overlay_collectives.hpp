// SPDX-License-Identifier: Apache-2.0
// Collectives in an overlay: NCCL's curves of the node compared with the base's, and collectives without a curve of
// their own compared with the curves that price them.
#pragma once

#include <headroom/calibrate/overlay/overlay.hpp>

#include <string>

namespace headroom {

class ModelData;

/// Fits a group of collectives and adds it to the overlay's curves. A collective without a curve of its own, one on
/// links that the base does not have, and a base without measured channels each become a remark. Throws ConfigError for
/// too few samples, naming the probes to run.
void fit_collective(const ModelData& data,
                    const SampleSet& set,
                    KernelGroup group,
                    const Device& base,
                    const Node* node,
                    Overlay& overlay);

/// Compares a fitted curve with the base's: measured over predicted. Does nothing when the base has none.
void beside_base_collective(const ModelData& data, OverlayCurve& curve, const Device& base);

/// Adds bus bandwidths at the largest buffer of each group next to the base's, and the measured times of broadcast,
/// reduce and send_recv over the prices from the fitted curves of other collectives.
void collective_facts(
    const ModelData& data, const SampleSet& set, const Device& base, const Node* node, Overlay& overlay);

/// Text of collectives/ID.toml: fitted curves over those of the base, or only a reference to the base when the
/// overlay's id would otherwise hide the base's set. Empty when neither is needed.
[[nodiscard]] std::string collectives_text(const ModelData& data,
                                           const SampleSet& set,
                                           const Device& base,
                                           const Overlay& overlay);

}  // namespace headroom
