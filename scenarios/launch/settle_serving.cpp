// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/launch/settle.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

void take(const ConfigValue& table, const std::string& prefix, LaunchReading& reading) {
  for (const ConfigEntry& entry : table.entries) {
    if (entry.value.kind == Kind::table) {
      take(entry.value, prefix + entry.key + ".", reading);
    } else {
      reading.failed.erase(prefix + entry.key);
      reading.plan.set(prefix + entry.key, entry.value);
    }
  }
}

/// Preset with the repository's name. Instruction-tuned variants are the same network; Meta's repositories may start
/// with the maker's name.
std::optional<std::string> preset_of(const std::string& checkpoint, const Sources& sources) {
  const std::string name = checkpoint.substr(checkpoint.find_last_of('/') + 1);
  std::vector<std::string> spellings{name};
  for (const std::string_view tuned : {"-Instruct", "-Chat"}) {
    if (name.ends_with(tuned)) {
      spellings.push_back(name.substr(0, name.size() - tuned.size()));
    }
  }
  for (const std::string& spelling : spellings) {
    for (const std::string& tried : {spelling, "Meta-" + spelling}) {
      if (sources.models.knows(tried)) {
        return sources.models.entry(tried).id;
      }
    }
  }
  return std::nullopt;
}

void settle_model(LaunchReading& reading, const Sources& sources) {
  const ConfigValue* checkpoint = reading.plan.find("launch.checkpoint");
  const bool stated = std::any_of(reading.plan.entries().begin(), reading.plan.entries().end(),
                                  [](const ConfigEntry& e) { return e.key == "model" || e.key.starts_with("model."); });
  if (stated || checkpoint == nullptr) {
    return;
  }
  const ConfigValue at = *checkpoint;
  if (const std::optional<std::string> id = preset_of(at.text, sources)) {
    reading.remark(at, "the network is " + *id);
    ConfigValue value = word_value(*id);
    value.file = at.file;
    value.at = value.key_at = at.at;
    reading.plan.set("model", std::move(value));
  } else {
    reading.problem(
        at, "no preset is called " + quoted(at.text) + "; give --model, the id of one or the path of its config.json");
    reading.failed.emplace("model");
  }
}

/// Replaces a draft's repository by its preset; the scenario reader judges any other word.
void settle_draft(LaunchReading& reading, const Sources& sources) {
  const ConfigValue* draft = reading.plan.find("serving.speculative.draft_model");
  const std::optional<std::string> id = draft == nullptr ? std::nullopt : preset_of(draft->text, sources);
  if (id) {
    ConfigValue value = *draft;
    value.text = *id;
    reading.plan.set("serving.speculative.draft_model", std::move(value));
  }
}

bool has_experts(const LaunchReading& reading, const Sources& sources) {
  const std::string id = reading.plan.word("model");
  return sources.models.knows(id) && sources.models.find(id).moe.has_value();
}

void settle_ranks(LaunchReading& reading, const Sources& sources) {
  LaunchPlan& plan = reading.plan;
  const bool experts = has_experts(reading, sources);
  const std::int64_t tp = std::max<std::int64_t>(1, plan.count("strategy.tp", 1));
  if (!experts && plan.has("strategy.ep") && !plan.word("model").empty()) {
    reading.remark(*plan.find("strategy.ep"), "ignored: expert parallelism, for the network has no experts");
    plan.erase("strategy.ep");
  }
  const std::int64_t data = std::max<std::int64_t>(1, plan.count("launch.data_ranks", 1));
  if (experts && data > 1 && plan.flag("launch.shared_experts")) {
    reading.problem(Position{}, std::to_string(data) +
                                    " data ranks that share their experts as tensor ranks do: no layout here says "
                                    "that; add --enable-expert-parallel, or leave the data ranks out");
  }
  const std::int64_t ep = std::max<std::int64_t>(1, plan.count("strategy.ep", 1));
  const std::int64_t replicas = ep > tp ? 1 : data;
  if (!plan.has("hardware.gpus")) {
    const std::int64_t pp = std::max<std::int64_t>(1, plan.count("strategy.pp", 1));
    // The scenario reader reports counts beyond its bounds.
    const double gpus = static_cast<double>(std::max(tp, ep)) * static_cast<double>(pp) * static_cast<double>(replicas);
    plan.set("hardware.gpus", count_value(static_cast<std::int64_t>(std::min(gpus, 1e15))));
  }
}

}  // namespace

bool is_serving(const LaunchReading& reading) {
  return reading.plan.word("launch.kind") == "serve";
}

ConfigValue settle_serving(LaunchReading& reading, std::span<const std::string> assignments, const Sources& sources) {
  ConfigValue forced;
  for (const std::string& assignment : assignments) {
    apply_override(forced, assignment, reading.diagnostics);
  }
  take(forced, "", reading);
  settle_model(reading, sources);
  settle_draft(reading, sources);
  settle_ranks(reading, sources);
  return document_of(reading.plan, reading.file);
}

}  // namespace headroom::launch
