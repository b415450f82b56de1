// SPDX-License-Identifier: Apache-2.0
// Measured collectives in an overlay: NCCL's curves of the node, what the base would have said, how the collectives
// that have no curve of their own stand to those that price them.
#pragma once

#include <headroom/calibrate/overlay/overlay.hpp>

#include <string>

namespace headroom {

/// Fits a group of collectives and adds it to the overlay's curves; a collective without a curve of its own, one that
/// the base's links do not know, and a base without measured channels become a remark. ConfigError: too few samples,
/// naming the probes to run.
void fit_collective(const SampleSet& set, KernelGroup group, const Device& base, const Node* node, Overlay& overlay);

/// The base's own curve beside a fitted one: measured over predicted. Nothing where the base has none.
void beside_base_collective(OverlayCurve& curve, const Device& base);

/// Bus bandwidth of each collective at the largest buffer by group, beside what the base's curves give; and broadcast,
/// reduce and send_recv over the price that the fitted curves of others give them.
void collective_facts(const SampleSet& set, const Device& base, const Node* node, Overlay& overlay);

/// collectives/ID.toml: the fitted curves over those of the base; alone its base, where the overlay's id would hide
/// the base's set. Empty: neither.
[[nodiscard]] std::string collectives_text(const SampleSet& set, const Device& base, const Overlay& overlay);

}  // namespace headroom
