// SPDX-License-Identifier: Apache-2.0
// `headroom`: runs as a single process.
#include <headroom/cli/frame/process.hpp>

#include <cstdio>
#include <cstdlib>

namespace headroom::cli {

void join_ranks(int& /*argc*/, char**& /*argv*/) {}

void leave(int code) {
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace headroom::cli
