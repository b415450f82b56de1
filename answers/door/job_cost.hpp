// SPDX-License-Identifier: Apache-2.0
// Questions of any kind as jobs of a cluster: what each takes of a pool.
#pragma once

#include <headroom/scenarios/pools/cluster_question.hpp>

namespace headroom {

struct QuestionLibrary;

/// Reads scenarios as jobs, which are answered when they are priced. `library` must outlive them.
[[nodiscard]] QuestionReader job_reader(const QuestionLibrary& library);

}  // namespace headroom
