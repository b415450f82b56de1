// SPDX-License-Identifier: Apache-2.0
// `headroom-mpi`: rank 0 runs the command line, the other ranks serve it.
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/process.hpp>
#include <headroom/cli/mpi/mpi_ranks.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/search/ranks/search_ranks.hpp>

#include <cstdio>
#include <cstdlib>

namespace headroom::cli {
namespace {

MpiRanks* joined = nullptr;

/// Warns unless Open MPI was started to survive a dead process; by default it ends the whole job.
void tell_if_not_recovering() {
  const char* by_mpirun = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char* recovers = std::getenv("OMPI_MCA_orte_enable_recovery");
  if (by_mpirun != nullptr && recovers == nullptr) {
    std::fputs(
        "headroom: a rank that dies will take all others with it; 'mpirun --enable-recovery' lets them go on, and "
        "--checkpoint keeps what was found\n",
        stderr);
  }
}

}  // namespace

void join_ranks(int& argc, char**& argv) {
  joined = new MpiRanks{argc, argv};  // lives until the process ends
  if (joined->own() == 0) {
    if (joined->count() > 1) {
      tell_if_not_recovering();
      search_function() = [](const SearchQuestion& question, const SearchOptions& options) {
        return search_on_ranks(question, options, *joined);
      };
    }
    return;
  }
  const Sources sources = own_sources();
  serve_ranks(*joined, sources);
  leave(0);
}

void leave(int code) {
  std::fflush(nullptr);
  if (joined != nullptr) {
    joined->finish();
  }
  std::_Exit(code);
}

}  // namespace headroom::cli
