// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/model/train/memory_stack.hpp>

#include <algorithm>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_models() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace {

constexpr Range<double> bytes_a_number{0.0, 64.0};
constexpr Range<double> ratio{0.0, 4.0};

bool lists(const std::vector<std::string>& names, std::string_view name) noexcept {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

void read_states(ConfigTable& root, MemoryStack& stack) {
  for (ConfigTable& table : root.tables("states")) {
    StateRow row;
    row.precisions = table.texts("precisions");
    row.generations = table.texts("generations");
    row.bytes.weights = table.number("weights", bytes_a_number);
    row.bytes.gradients = table.number("gradients", bytes_a_number);
    row.bytes.optimizer = table.number("optimizer", bytes_a_number);
    table.finish();
    stack.states.push_back(std::move(row));
  }
  if (stack.states.empty()) {
    root.problem("states", "missing [[states]]: weights, gradients and optimizer in bytes per parameter");
  }
}

void read_loss(ConfigTable& root, MemoryStack& stack) {
  ConfigTable loss = root.table("loss");
  stack.logit_bytes = loss.number("logit_bytes", bytes_a_number);
  stack.logit_bytes_compiled = loss.maybe_number("logit_bytes_compiled", bytes_a_number).value_or(stack.logit_bytes);
  stack.logit_bytes_fused = loss.maybe_number("logit_bytes_fused", bytes_a_number).value_or(2.0);
  loss.finish();
}

void read_reserve(ConfigTable& root, MemoryStack& stack) {
  ConfigTable reserve = root.table("reserve");
  if (const auto whole = reserve.maybe_number("ratio", {1.0, 4.0})) {
    stack.reserve_ratio = *whole;
    stack.reserve_ratio_tp = reserve.maybe_number("ratio_tp", {1.0, 4.0}).value_or(*whole);
  } else {
    stack.reserve_activations = reserve.number("activations", ratio);
    stack.reserve_workspace = reserve.number("workspace", ratio);
  }
  reserve.finish();
}

bool flag(ConfigTable& root, std::string_view key, bool otherwise) {
  return root.maybe_boolean(key).value_or(otherwise);
}

/// An array of ZeRO stages; missing: empty.
void read_zero_stages(ConfigTable& root, std::string_view key, std::vector<std::int64_t>& stages) {
  if (!root.has(key)) {
    return;
  }
  stages = root.integers(key);
  if (std::any_of(stages.begin(), stages.end(), [](std::int64_t stage) { return stage < 0 || stage > 3; })) {
    root.problem(key, "'" + std::string{key} + "' holds ZeRO stages, 0 to 3");
  }
}

void read_habits(ConfigTable& root, MemoryStack& stack) {
  stack.dummy_gradients = flag(root, "dummy_gradients", false);
  stack.fp8_saved_inputs = flag(root, "fp8_saved_inputs", false);
  stack.fp8_gathers = flag(root, "fp8_gathers", false);
  stack.gradients_are_late = flag(root, "gradients_are_late", false);
  stack.copies_attention_output = flag(root, "copies_attention_output", false);
  stack.dropout = flag(root, "dropout", false);
  stack.pipeline_keeps_gradients = flag(root, "pipeline_keeps_gradients", false);
  stack.gathers = flag(root, "gathers", true);
  stack.micro_batches_follow_stages = flag(root, "micro_batches_follow_stages", false);
  stack.offloads_optimizer = flag(root, "offloads_optimizer", false);
  read_zero_stages(root, "zero", stack.zero_stages);
  read_zero_stages(root, "zero_with_pp", stack.zero_stages_with_pp);
  stack.selective = static_cast<SelectiveRecompute>(root.maybe_choice("selective", selective_names).value_or(0));
  stack.uneven = static_cast<UnevenSplit>(root.maybe_choice("uneven_split", uneven_split_names).value_or(0));
  stack.measured = static_cast<MemoryKind>(root.maybe_choice("measured", memory_kind_names).value_or(1));
  stack.expert_imbalance = root.maybe_number("expert_imbalance", {1.0, 16.0}).value_or(1.0);
  stack.fixed = root.maybe_quantity<Bytes>("fixed", true).value_or(Bytes{});
  stack.outside = root.maybe_quantity<Bytes>("outside", true).value_or(Bytes{});
  stack.buffers = root.maybe_quantity<Bytes>("buffers", true).value_or(Bytes{});
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool starts_like(std::string_view text, std::string_view start) noexcept {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

bool MemoryStack::shards(int zero, bool pipeline) const noexcept {
  const std::vector<std::int64_t>& stages =
      pipeline && !zero_stages_with_pp.empty() ? zero_stages_with_pp : zero_stages;
  return stages.empty() || std::find(stages.begin(), stages.end(), zero) != stages.end();
}

StateBytes MemoryStack::states_of(Precision precision, std::string_view generation) const noexcept {
  for (const StateRow& row : states) {
    if (lists(row.precisions, name_of(precision)) && lists(row.generations, generation)) {
      return row.bytes;
    }
  }
  return {};
}

MemoryStack read_memory_stack(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  MemoryStack stack;
  stack.file = file;
  require_schema(root);
  static_cast<void>(root.value("base"));
  stack.id = root.text("id");
  stack.name = root.text("name");
  stack.source = root.text("source");
  stack.frameworks = root.texts("frameworks");
  read_states(root, stack);
  read_loss(root, stack);
  read_habits(root, stack);
  read_reserve(root, stack);
  ConfigTable interval = root.table("interval");
  stack.interval = interval.number("value", {0.001, 10.0});
  stack.interval_source = interval.text("source");
  interval.finish();
  root.finish();
  return stack;
}

MemoryStacks MemoryStacks::standard() {
  const DataStore store{embedded::embedded_models(), DataStore::user_folders()};
  const BaseResolver resolve = [&](std::string_view base, const std::string& from) -> std::optional<ConfigSource> {
    const std::optional<DataStore::Entry> below = store.find_below("stacks/train", base, from);
    return below ? std::optional{ConfigSource{below->file, below->text}} : std::nullopt;
  };
  std::vector<MemoryStack> stacks;
  for (const std::string& id : store.ids("stacks/train")) {
    const std::optional<DataStore::Entry> entry = store.find("stacks/train", id);
    Diagnostics diagnostics;
    stacks.push_back(read_memory_stack(load_with_bases({entry->file, entry->text}, resolve), entry->file, diagnostics));
    diagnostics.throw_if_any();
  }
  return MemoryStacks{std::move(stacks)};
}

const MemoryStack& MemoryStacks::find(std::string_view id) const {
  std::vector<std::string_view> known;
  known.reserve(stacks_.size());
  for (const MemoryStack& stack : stacks_) {
    if (stack.id == id) {
      return stack;
    }
    known.push_back(stack.id);
  }
  std::string listed;
  for (const std::string_view name : known) {
    listed += (listed.empty() ? "" : ", ") + std::string{name};
  }
  throw ConfigError{"unknown software stack " + quoted(id) + suggestion(id, known) + "; there are: " + listed};
}

const MemoryStack* MemoryStacks::of_framework(std::string_view framework) const noexcept {
  const MemoryStack* best = nullptr;
  std::size_t longest = 0;
  for (const MemoryStack& stack : stacks_) {
    for (const std::string& name : stack.frameworks) {
      if (name.size() > longest && starts_like(framework, name)) {
        best = &stack;
        longest = name.size();
      }
    }
  }
  return best;
}

}  // namespace headroom
