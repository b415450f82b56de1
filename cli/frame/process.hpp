// SPDX-License-Identifier: Apache-2.0
// How a process of the command line begins and ends. `headroom` is alone; `headroom-mpi` is one of the ranks of an MPI
// job. Each of the two executables has its own definition of join_ranks and leave.
#pragma once

#include <headroom/answers/door/answer.hpp>

namespace headroom::cli {

/// Before anything else. In `headroom-mpi` joins the ranks that were started together: rank 0 goes on, the others serve
/// it and never return.
void join_ranks(int& argc, char**& argv);
/// Ends the process, all output written, and the ranks that serve it.
[[noreturn]] void leave(int code);

/// Who searches: run_search in this process alone, unless the executable says otherwise.
[[nodiscard]] SearchFunction& search_function();

}  // namespace headroom::cli
