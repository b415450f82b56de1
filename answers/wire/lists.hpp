// SPDX-License-Identifier: Apache-2.0
// Requests for what can be asked about and how: the catalog, the keys of a scenario, schemas, an imported model.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/answers/wire/request.hpp>
#include <headroom/core/config_value.hpp>

#include <array>
#include <string>
#include <string_view>

namespace headroom {

/// What the catalog lists: `kind` of a request.
inline constexpr std::array<std::string_view, 11> wire_catalog_kinds{
    "gpus",    "nodes",         "clusters",   "prices",  "models",  "networks",
    "formats", "architectures", "partitions", "engines", "software"};

/// A tree as a document.
[[nodiscard]] Value wire_value(const ConfigValue& tree);

/// Schema "headroom.keys/1": the table of keys.
[[nodiscard]] std::string keys_document();

// Each throws ConfigError for members that it does not know.

/// Schema "headroom.catalog/1": the lists of `kind`, of all kinds without it.
[[nodiscard]] WireReply wire_catalog(const QuestionLibrary& library, const ConfigValue& tree);
/// keys_document().
[[nodiscard]] WireReply wire_keys(const ConfigValue& tree);
/// The JSON Schema of `name`, "scenario" or an answer; without it schema "headroom.schemas/1", the list of them.
[[nodiscard]] WireReply wire_schema(const ConfigValue& tree);
/// Schema "headroom.health/1".
[[nodiscard]] WireReply wire_health(const ConfigValue& tree);
/// Schema "headroom.import/1": the model of a `config`.
[[nodiscard]] WireReply wire_import(const ConfigValue& tree);

}  // namespace headroom
