// SPDX-License-Identifier: Apache-2.0
// Start and end of a process. `headroom` runs alone; `headroom-mpi` is a rank of an MPI job. Each executable defines
// join_ranks and leave.
#pragma once

#include <headroom/answers/door/answer.hpp>

namespace headroom::cli {

/// Must be called first. In `headroom-mpi` it joins the ranks of the job: rank 0 continues, the others serve it and
/// never return.
void join_ranks(int& argc, char**& argv);
/// Ends the process after writing all output, and the ranks that serve it.
[[noreturn]] void leave(int code);

/// Function that searches: run_search in this process, unless the executable sets another.
[[nodiscard]] SearchFunction& search_function();

}  // namespace headroom::cli
