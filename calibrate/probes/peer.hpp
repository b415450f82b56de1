// SPDX-License-Identifier: Apache-2.0
// Other devices of this process whose memory a device can address.
#pragma once

namespace headroom::probes {

/// Index of the first such device, or -1.
[[nodiscard]] int first_peer(int device);
/// Number of such devices.
[[nodiscard]] int peers_of(int device);

}  // namespace headroom::probes
