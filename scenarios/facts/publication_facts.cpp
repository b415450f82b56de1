// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/scenarios/facts/publication_facts.hpp>

#include <algorithm>
#include <utility>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_accuracy() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace {

std::vector<PublicationFact> read_embedded_facts() {
  for (const EmbeddedFile& file : embedded::embedded_accuracy().files) {
    if (file.id == "facts") {
      return read_publication_facts(parse_toml(file.text, std::string{file.name}));
    }
  }
  return {};
}

bool holds_for(const PublicationFact& fact, const PublishedRow& row) {
  const auto holds = [](const std::vector<std::string>& values, std::string_view value) {
    return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
  };
  const bool named = fact.rows.empty() || std::any_of(fact.rows.begin(), fact.rows.end(),
                                                      [&](const std::string& name) { return names_row(name, row.id); });
  return named && fact.publication == row.publication && (fact.gpu.empty() || fact.gpu == row.gpu) &&
         holds(fact.precisions, row.precision) && holds(fact.models, row.model);
}

}  // namespace

bool names_row(std::string_view name, std::string_view id) noexcept {
  return name.ends_with('*') ? id.starts_with(name.substr(0, name.size() - 1)) : name == id.substr(0, id.rfind('.'));
}

std::vector<PublicationFact> read_publication_facts(const ConfigValue& document) {
  Diagnostics diagnostics;
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  std::vector<PublicationFact> facts;
  for (ConfigTable& entry : root.tables("fact")) {
    PublicationFact fact;
    fact.publication = entry.text("publication");
    fact.gpu = entry.maybe_text("gpu").value_or("");
    fact.precisions = entry.texts("precisions");
    fact.models = entry.texts("models");
    fact.rows = entry.texts("rows");
    for (const std::string& option : entry.texts("options")) {
      const std::size_t equals = option.find('=');
      if (equals == 0 || equals == std::string::npos) {
        entry.problem("options", quoted(option) + " is no option; one is written as \"own_products=1.2\"");
        continue;
      }
      fact.options.emplace(option.substr(0, equals), option.substr(equals + 1));
    }
    if (fact.options.empty()) {
      entry.problem("options", "what is stated? options of rows, e.g. options = [\"own_products=1.2\"]");
    }
    fact.why = entry.text("why");
    fact.source = entry.text("source");
    entry.finish();
    facts.push_back(std::move(fact));
  }
  root.finish();
  diagnostics.throw_if_any();
  return facts;
}

const std::vector<PublicationFact>& publication_facts() {
  static const std::vector<PublicationFact> facts = read_embedded_facts();
  return facts;
}

void add_facts(const std::vector<PublicationFact>& facts,
               const PublishedRow& row,
               std::map<std::string, std::string, std::less<>>& options) {
  for (const PublicationFact& fact : facts) {
    if (holds_for(fact, row)) {
      options.insert(fact.options.begin(), fact.options.end());
    }
  }
}

}  // namespace headroom
