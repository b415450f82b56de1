// SPDX-License-Identifier: Apache-2.0
// Answers of kind batch as text and, with schema "headroom.batch/1", as documents.
#pragma once

#include <headroom/answers/document/value.hpp>

#include <string>

namespace headroom {
struct BatchPlan;
struct TokenJobPlan;

/// Calls of a network, and what they do for requests, clients and jobs. `explained`: the parts of a call.
[[nodiscard]] std::string batch_text(const BatchPlan& plan, bool explained);
[[nodiscard]] Value batch_document(const BatchPlan& plan);

/// A job of a language model. `explained`: the terms of an iteration.
[[nodiscard]] std::string token_job_text(const TokenJobPlan& plan, bool explained);
[[nodiscard]] Value token_job_document(const TokenJobPlan& plan);

}  // namespace headroom
