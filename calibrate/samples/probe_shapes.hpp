// SPDX-License-Identifier: Apache-2.0
// Shapes and sizes for the probes of probe_kinds.hpp: a quick, a standard and a full set.
#pragma once

#include <headroom/calibrate/probe/probe_kinds.hpp>
#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

enum class ProbeExtent : std::uint8_t { quick, standard, full };

/// Forward and backward, causal and not, heads of 64, 128 and 256, grouped and not, over several lengths, because a fit
/// holds out whole lengths.
[[nodiscard]] std::vector<AttentionProbe> attention_probes(ProbeExtent extent, Bytes l2);
/// From one sequence, which needs splits, to enough sequences to fill the device.
[[nodiscard]] std::vector<DecodeProbe> decode_probes(ProbeExtent extent, Bytes l2);
/// Arrays from 4 KiB to 1 GiB, with `full` to 8 GiB.
[[nodiscard]] std::vector<PassProbe> pass_probes(ProbeExtent extent, Bytes l2);
/// Four passes of a layer and four decode iterations.
[[nodiscard]] std::vector<LayerProbe> layer_probes();
/// The habits of an SM, each over widths from where it costs nothing to where it costs most.
[[nodiscard]] std::vector<UnitProbe> unit_probes(ProbeExtent extent, Bytes l2);
/// `peers`: number of devices whose memory this one can address; 0 gives no peer copies.
[[nodiscard]] std::vector<TransferProbe> transfer_probes(ProbeExtent extent, std::int64_t peers);

}  // namespace headroom
