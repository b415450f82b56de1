// SPDX-License-Identifier: Apache-2.0
// Facts of measured training runs that their publication states beside its tables, as options that a row may state
// itself (scenarios/accuracy/facts.toml).
#pragma once

#include <headroom/core/config_reader.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Options that hold for some of a publication's runs, found apart from the runs' times.
struct PublicationFact {
  std::string publication;              ///< the rows' column `source`
  std::string gpu;                      ///< the rows' column `gpu`; empty: any
  std::vector<std::string> precisions;  ///< the rows' column `precision`; none: any
  std::vector<std::string> models;      ///< the rows' column `model`; none: any
  std::vector<std::string> rows;  ///< ids without their last part, the metric; one that ends in '*' is a start of ids
  std::map<std::string, std::string, std::less<>> options;
  std::string why, source;
};

/// Reads the file. ConfigError: a fact without a publication, options, a reason or its source.
[[nodiscard]] std::vector<PublicationFact> read_publication_facts(const ConfigValue& document);
/// The facts embedded in the binary.
[[nodiscard]] const std::vector<PublicationFact>& publication_facts();

/// Whether a name of rows is that of the row: its id without the last part, the metric, or, ending in '*', a start of
/// it.
[[nodiscard]] bool names_row(std::string_view name, std::string_view id) noexcept;

/// What a fact asks of a row: its columns `source`, `gpu`, `precision`, `id` and `model`.
struct PublishedRow {
  std::string_view publication, gpu, precision, id, model{};
};

/// Adds to a row's options what `facts` say of it, the first fact that knows an option. What the row states itself
/// stays.
void add_facts(const std::vector<PublicationFact>& facts,
               const PublishedRow& row,
               std::map<std::string, std::string, std::less<>>& options);

}  // namespace headroom
