// SPDX-License-Identifier: Apache-2.0
// Stand-ins for a library built without nccl.h.
#include <headroom/calibrate/probes/session.hpp>

namespace headroom::probes {

Result measure_collective(Session& /*session*/, const Request& /*request*/) {
  throw Refused{"this build has no NCCL: install its headers (libnccl-dev) and build again"};
}

std::string nccl_version() {
  return {};
}

}  // namespace headroom::probes
