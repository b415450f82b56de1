// SPDX-License-Identifier: Apache-2.0
// The answer to a batch question as text and as a document.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/inference/batch_plan.hpp>

#include <string>

namespace headroom {

[[nodiscard]] std::string batch_text(const BatchPlan& plan, bool explained);
[[nodiscard]] Value batch_document(const BatchPlan& plan);

}  // namespace headroom
