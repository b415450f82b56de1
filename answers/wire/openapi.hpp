// SPDX-License-Identifier: Apache-2.0
// The interface of requests as OpenAPI 3.1 (OpenAPI Initiative 2021): its paths from the table of verbs, its requests
// from the tables of members and of keys, its answers from the tables of their members.
#pragma once

#include <string>

namespace headroom {

/// As JSON. Every answer's schema stands in it, and the scenario's as `headroom schema` writes it.
[[nodiscard]] std::string openapi_document();

}  // namespace headroom
