// SPDX-License-Identifier: Apache-2.0
// Shapes and sizes of the probes of probe_kinds.hpp: a small set that fits, and a full one.
#pragma once

#include <headroom/calibrate/probe/probe_kinds.hpp>
#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

enum class ProbeExtent : std::uint8_t { quick, standard, full };

/// Forward and backward, causal and not, heads of 64, 128 and 256, grouped and not, over several lengths: a fit holds
/// out whole lengths.
[[nodiscard]] std::vector<AttentionProbe> attention_probes(ProbeExtent extent, Bytes l2);
/// From one sequence that needs splits to many that fill the device.
[[nodiscard]] std::vector<DecodeProbe> decode_probes(ProbeExtent extent, Bytes l2);
/// 4 KiB to 1 GiB, in full to 8 GiB.
[[nodiscard]] std::vector<PassProbe> pass_probes(ProbeExtent extent, Bytes l2);
/// `peers`: other devices that this one can address; without one there are no peer copies.
[[nodiscard]] std::vector<TransferProbe> transfer_probes(ProbeExtent extent, std::int64_t peers);

}  // namespace headroom
