// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/scenarios/validation/accuracy_reference.hpp>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_accuracy() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace {

AccuracyReference read_embedded() {
  AccuracyReference reference;
  Diagnostics diagnostics;
  for (const EmbeddedFile& file : embedded::embedded_accuracy().files) {
    const std::string name{file.name};
    const ConfigValue document = parse_toml(file.text, name);
    if (file.id == "bars") {
      reference.bars = read_budget(document, name);
    } else {
      reference.rivals = read_rivals(document, diagnostics);
    }
  }
  diagnostics.throw_if_any();
  return reference;
}

}  // namespace

std::vector<RowGroup> AccuracyReference::groups() const {
  std::vector<RowGroup> groups;
  const auto add = [&](const RowGroup& group) {
    for (const RowGroup& known : groups) {
      if (known.name == group.name) {
        return;
      }
    }
    groups.push_back(group);
  };
  for (const BudgetBar& bar : bars) {
    if (bar.where) {
      add(*bar.where);
    }
  }
  for (const Rival& rival : rivals) {
    add(rival.where);
  }
  return groups;
}

const AccuracyReference& accuracy_reference() {
  static const AccuracyReference reference = read_embedded();
  return reference;
}

std::vector<Rival> read_rivals(const ConfigValue& root, Diagnostics& diagnostics) {
  ConfigTable table{root, "", diagnostics};
  require_schema(table);
  std::vector<Rival> rivals;
  for (ConfigTable& entry : table.tables("rival")) {
    Rival rival;
    rival.tool = entry.text("tool");
    rival.mape = entry.number("mape", {0.0, 1e3});
    rival.median = entry.maybe_number("median", {0.0, 1e3});
    rival.p90 = entry.maybe_number("p90", {0.0, 1e3});
    rival.rows = entry.integer("rows");
    rival.where = parse_group(entry.texts("where"));
    if (rival.where.where.empty()) {
      entry.problem("where", "which rows? e.g. where = [\"source=...\", \"gpus>=64\"]");
    }
    rival.metric = entry.text("metric");
    rival.source = entry.text("source");
    entry.finish();
    rivals.push_back(std::move(rival));
  }
  table.finish();
  return rivals;
}

}  // namespace headroom
