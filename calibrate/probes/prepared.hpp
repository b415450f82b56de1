// SPDX-License-Identifier: Apache-2.0
// A kernel with its data on the device, its algorithm chosen and its result compared with the host's.
#pragma once

#include <headroom/calibrate/probes/session.hpp>
#include <headroom/calibrate/probes/timing.hpp>

#include <cstdint>

namespace headroom::probes {

struct Prepared {
  Enqueue enqueue;  ///< keeps the data alive
  std::int64_t algorithms = 0;
  double seconds = 0.0;  ///< of one, as its trial found; zero: no trial
};

/// Each throws Refused when this device cannot do it, or does it wrong.
[[nodiscard]] Prepared prepared_gemm(const Session& session, const Request& request);
[[nodiscard]] Prepared prepared_attention(const Session& session, const Request& request);
[[nodiscard]] Prepared prepared_decode(const Session& session, const Request& request);

}  // namespace headroom::probes
