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
    } else if (file.id == "published-bars") {
      reference.published_bars = read_budget(document, name);
    } else if (file.id == "serving-bars") {
      reference.serving_bars = read_budget(document, name);
    } else if (file.id == "serving-claims") {
      reference.claims = read_claims(document, diagnostics);
    } else if (file.id == "rivals") {
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
  for (const std::vector<BudgetBar>* list : {&bars, &serving_bars}) {
    for (const BudgetBar& bar : *list) {
      if (bar.where) {
        add(*bar.where);
      }
    }
  }
  for (const Rival& rival : rivals) {
    add(rival.where);
  }
  for (const Claim& claim : claims) {
    if (claim.where) {
      add(*claim.where);
    }
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

std::vector<Claim> read_claims(const ConfigValue& root, Diagnostics& diagnostics) {
  ConfigTable table{root, "", diagnostics};
  require_schema(table);
  std::vector<Claim> claims;
  for (ConfigTable& entry : table.tables("claim")) {
    Claim claim;
    claim.tool = entry.text("tool");
    claim.quantity = entry.text("quantity");
    claim.claim = entry.text("claim");
    claim.data = entry.text("data");
    claim.source = entry.text("source");
    claim.metric = entry.maybe_text("metric").value_or("");
    if (entry.has("where")) {
      claim.where = parse_group(entry.texts("where"));
    }
    if (claim.where.has_value() == claim.metric.empty()) {
      entry.problem("metric", "our like error is a metric of rows that where picks: state both, or neither");
    }
    entry.finish();
    claims.push_back(std::move(claim));
  }
  table.finish();
  return claims;
}

}  // namespace headroom
