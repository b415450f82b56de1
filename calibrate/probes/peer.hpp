// SPDX-License-Identifier: Apache-2.0
// Other devices of this process whose memory a device can address.
#pragma once

namespace headroom::probes {

/// The first of them, or -1.
[[nodiscard]] int first_peer(int device);
/// How many there are.
[[nodiscard]] int peers_of(int device);

}  // namespace headroom::probes
