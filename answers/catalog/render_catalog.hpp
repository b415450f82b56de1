// SPDX-License-Identifier: Apache-2.0
// Lists of the catalog as documents: what `catalog list` has in its tables, in raw SI.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/lint/lint.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/network_library.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// What `catalog list` lists.
inline constexpr std::array<std::string_view, 9> catalog_kinds{
    "gpus", "nodes", "clusters", "prices", "models", "networks", "formats", "architectures", "partitions"};

/// Schema "headroom.catalog/1": a list for each of the kinds, which are of catalog_kinds.
[[nodiscard]] Value catalog_document(std::span<const std::string_view> kinds,
                                     const Catalog& catalog,
                                     const ModelLibrary& models,
                                     const NetworkLibrary& networks);

/// Schema "headroom.lint/1".
[[nodiscard]] Value lint_document(std::span<const LintFinding> findings);

}  // namespace headroom
