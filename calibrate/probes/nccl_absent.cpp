// SPDX-License-Identifier: Apache-2.0
// Where nccl.h was not there when this library was built.
#include <headroom/calibrate/probes/session.hpp>

namespace headroom::probes {

Result measure_collective(Session& /*session*/, const Request& /*request*/) {
  throw Refused{"this build has no NCCL: install its headers (libnccl-dev) and build again"};
}

std::string nccl_version() {
  return {};
}

}  // namespace headroom::probes
