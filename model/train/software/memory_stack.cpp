// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/software/memory_stack.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr Range<double> stored_bytes{0.0, 64.0};
constexpr Range<double> ratio{0.0, 4.0};

bool lists(const std::vector<std::string>& names, std::string_view name) noexcept {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

void read_states(ConfigTable& root, MemoryStack& stack) {
  for (ConfigTable& table : root.tables("states")) {
    StateRow row;
    row.precisions = table.texts("precisions");
    row.generations = table.texts("generations");
    row.bytes.weights = table.number("weights", stored_bytes);
    row.bytes.gradients = table.number("gradients", stored_bytes);
    row.bytes.optimizer = table.number("optimizer", stored_bytes);
    row.bytes.buckets = table.maybe_number("buckets", stored_bytes).value_or(0.0);
    table.finish();
    stack.states.push_back(std::move(row));
  }
  if (stack.states.empty()) {
    root.problem("states", "missing [[states]]: weights, gradients and optimizer in bytes per parameter");
  }
}

void read_loss(ConfigTable& root, MemoryStack& stack) {
  ConfigTable loss = root.table("loss");
  stack.logit_bytes = loss.number("logit_bytes", stored_bytes);
  stack.logit_bytes_compiled = loss.maybe_number("logit_bytes_compiled", stored_bytes).value_or(stack.logit_bytes);
  stack.logit_bytes_fused = loss.maybe_number("logit_bytes_fused", stored_bytes).value_or(2.0);
  stack.logit_bytes_fused_compiled =
      loss.maybe_number("logit_bytes_fused_compiled", stored_bytes).value_or(stack.logit_bytes_fused);
  stack.logit_bytes_tp = loss.maybe_number("logit_bytes_tp", stored_bytes).value_or(0.0);
  stack.loss_tokens = loss.maybe_number("part_tokens", {0.0, 1e9}).value_or(0.0);
  loss.finish();
}

void read_adapters(ConfigTable& root, MemoryStack& stack) {
  std::optional<ConfigTable> table = root.maybe_table("adapters");
  if (!table) {
    return;
  }
  StackAdapters& a = stack.adapters.emplace();
  a.weights = table->number("weights", stored_bytes);
  a.gradients = table->number("gradients", stored_bytes);
  a.moments = table->number("moments", stored_bytes);
  a.master = table->number("master", stored_bytes);
  a.fused_loss = table->maybe_boolean("fused_loss").value_or(stack.defaults.fused_loss);
  a.stages = table->maybe_boolean("stages").value_or(true);
  a.double_quant = table->maybe_boolean("double_quant").value_or(false);
  a.copies_inputs = table->maybe_boolean("copies_inputs").value_or(false);
  a.drops_inputs = table->maybe_boolean("drops_inputs").value_or(false);
  a.narrow_attention = table->texts("narrow_attention");
  a.narrow_split_attention = table->texts("narrow_split_attention");
  a.targets = static_cast<AdapterTargets>(table->maybe_choice("targets", adapter_targets_names).value_or(0));
  a.source = table->text("source");
  table->finish();
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

/// Reads an array of ZeRO stages; a missing key leaves it unchanged.
void read_zero_stages(ConfigTable& root, std::string_view key, std::vector<std::int64_t>& stages) {
  if (!root.has(key)) {
    return;
  }
  stages = root.integers(key);
  if (std::any_of(stages.begin(), stages.end(), [](std::int64_t stage) { return stage < 0 || stage > 3; })) {
    root.problem(key, "'" + std::string{key} + "' holds ZeRO stages, 0 to 3");
  }
}

/// Reads a list of known words; a missing key leaves it unchanged.
template <class Word, std::size_t N>
void read_known(ConfigTable& root,
                std::string_view key,
                const std::array<std::string_view, N>& names,
                std::vector<Word>& known) {
  if (!root.has(key)) {
    return;
  }
  known.clear();
  for (const std::string& name : root.texts(key)) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      root.problem(key, quoted(key) + " holds " + quoted(name) + ", which is none" + suggestion(name, names));
    } else {
      known.push_back(static_cast<Word>(found - names.begin()));
    }
  }
}

/// Reads groups of axes, as "dp tp", whose ranks form a communicator each.
void read_groups(ConfigTable& root, MemoryStack& stack) {
  if (!root.has("groups")) {
    return;
  }
  constexpr std::array<std::string_view, 4> axes{"tp", "cp", "dp", "pp"};
  for (const std::string& text : root.texts("groups")) {
    CommunicatorGroup group;
    const std::array<bool*, 4> parts{&group.tp, &group.cp, &group.dp, &group.pp};
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t to = std::min(text.find(' ', from), text.size());
      const std::string word = text.substr(from, to - from);
      const auto found = std::find(axes.begin(), axes.end(), word);
      if (found == axes.end()) {
        root.problem("groups", "'groups' holds " + quoted(text) + ", of which " + quoted(word) + " is no axis" +
                                   suggestion(word, axes));
      } else {
        *parts[static_cast<std::size_t>(found - axes.begin())] = true;
      }
      from = to + 1;
    }
    stack.groups.push_back(group);
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
  stack.keeps_ends_gathered = flag(root, "keeps_ends_gathered", false);
  stack.micro_batches_follow_stages = flag(root, "micro_batches_follow_stages", false);
  stack.keeps_gathered_inputs = flag(root, "keeps_gathered_inputs", false);
  stack.stage_buffers = static_cast<StageBuffers>(root.maybe_choice("stage_buffers", stage_buffers_names).value_or(0));
  stack.offloads_optimizer = flag(root, "offloads_optimizer", false);
  stack.offloads_parameters = flag(root, "offloads_parameters", false);
  read_known(root, "schedules", schedule_names, stack.schedules);
  read_known(root, "orders", rank_order_names, stack.orders);
  stack.overlap_needs_chunks = flag(root, "overlap_needs_chunks", false);
  stack.overlap_keeps_inputs = flag(root, "overlap_keeps_inputs", false);
  stack.overlap_alone = flag(root, "overlap_alone", false);
  read_known(root, "dispatchers", expert_dispatcher_names, stack.dispatchers);
  read_known(root, "recompute_parts", recompute_part_names, stack.recompute_parts);
  read_known(root, "recompute_modes", recompute_names, stack.recompute_modes);
  read_zero_stages(root, "zero", stack.zero_stages);
  read_zero_stages(root, "zero_with_pp", stack.zero_stages_with_pp);
  stack.selective = static_cast<SelectiveRecompute>(root.maybe_choice("selective", selective_names).value_or(0));
  stack.recompute_end = static_cast<RecomputeEnd>(root.maybe_choice("recompute_end", recompute_end_names).value_or(0));
  stack.uneven = static_cast<UnevenSplit>(root.maybe_choice("uneven_split", uneven_split_names).value_or(0));
  stack.measured = static_cast<MemoryKind>(root.maybe_choice("measured", memory_kind_names).value_or(1));
  stack.reduce_bytes = root.maybe_number("reduce_bytes", stored_bytes).value_or(4.0);
  stack.expert_imbalance = root.maybe_number("expert_imbalance", {1.0, 16.0}).value_or(1.0);
  stack.fixed = root.maybe_quantity<Bytes>("fixed", true).value_or(Bytes{});
  stack.outside = root.maybe_quantity<Bytes>("outside", true).value_or(Bytes{});
  stack.communicators = root.maybe_quantity<Bytes>("communicators", true).value_or(Bytes{});
  if (stack.communicators > stack.outside) {
    root.problem("communicators", "'communicators' are part of 'outside' and cannot be more");
  }
  read_groups(root, stack);
}

void read_buffers(ConfigTable& root, MemoryStack& stack) {
  std::optional<ConfigTable> table = root.maybe_table("buffers");
  if (!table) {
    return;
  }
  constexpr Range<double> elements{0.0, 1e12};
  constexpr Range<double> few{0.0, 8.0};
  stack.buffers.live_parameters = table->number("live_parameters", elements);
  stack.buffers.reduce_bucket = table->number("reduce_bucket", elements);
  stack.buffers.zero1_buckets = table->maybe_number("zero1_buckets", few).value_or(0.0);
  stack.buffers.zero2_buckets = table->number("zero2_buckets", few);
  stack.buffers.zero3_buckets = table->number("zero3_buckets", few);
  table->finish();
}

void read_update(ConfigTable& root, MemoryStack& stack) {
  if (std::optional<ConfigTable> table = root.maybe_table("update")) {
    stack.update.bytes = table->number("bytes", stored_bytes);
    stack.update.flat = table->maybe_number("flat", stored_bytes).value_or(0.0);
    static_cast<void>(table->text("source"));
    table->finish();
  }
}

void read_defaults(ConfigTable& root, MemoryStack& stack) {
  std::optional<ConfigTable> table = root.maybe_table("defaults");
  if (!table) {
    return;
  }
  StackDefaults& d = stack.defaults;
  d.zero = static_cast<int>(table->maybe_integer("zero", {0, 3}).value_or(d.zero));
  d.sequence_parallel = flag(*table, "sequence_parallel", d.sequence_parallel);
  d.flash_attention = flag(*table, "flash_attention", d.flash_attention);
  d.fused_loss = flag(*table, "fused_loss", d.fused_loss);
  d.zero_group = static_cast<std::uint16_t>(table->maybe_integer("zero_group", {0, 4096}).value_or(d.zero_group));
  d.interleaves = flag(*table, "interleaves", d.interleaves);
  d.balances_stages = flag(*table, "balances_stages", d.balances_stages);
  d.stages_recompute = flag(*table, "stages_recompute", d.stages_recompute);
  d.offload_checkpoints = flag(*table, "offload_checkpoints", d.offload_checkpoints);
  d.expert_tensor = static_cast<ExpertTensor>(
      table->maybe_choice("expert_tensor_parallel", expert_tensor_names).value_or(std::size_t{0}));
  if (const auto form = table->maybe_choice("context_parallel", cp_form_names)) {
    d.cp_form = static_cast<CpForm>(*form);
  }
  d.vocabulary = table->maybe_integer("vocabulary", {1, std::int64_t{1} << 40}).value_or(d.vocabulary);
  d.vocab_multiple = table->maybe_integer("vocab_multiple", {1, 65'536}).value_or(d.vocab_multiple);
  d.tuning_documents = table->maybe_number("tuning_documents", {1.0, 1e9}).value_or(d.tuning_documents);
  d.reduce_bucket = table->maybe_text("reduce_bucket").value_or(d.reduce_bucket);
  if (const auto precision = table->maybe_choice("precision", precision_names)) {
    d.precision = static_cast<Precision>(*precision);
  }
  d.source = table->text("source");
  table->finish();
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool starts_like(std::string_view text, std::string_view start) noexcept {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

std::vector<MemoryStack> read_stacks(const DataStore& store) {
  std::vector<MemoryStack> stacks;
  store.each("stacks/train", [&](const std::string& id) {
    if (const std::optional<DataStore::Entry> entry = store.find("stacks/train", id)) {
      Diagnostics diagnostics;
      MemoryStack stack = read_memory_stack(store.tree("stacks/train", *entry), entry->file, diagnostics);
      diagnostics.throw_if_any();
      stacks.push_back(std::move(stack));
    }
  });
  return stacks;
}

}  // namespace

std::uint16_t StackDefaults::expert_tensor_ranks(std::uint16_t tp, std::uint16_t ep) const noexcept {
  const bool whole = expert_tensor == ExpertTensor::one || (expert_tensor == ExpertTensor::as_tp_without_ep && ep > 1);
  return whole ? std::uint16_t{1} : tp;
}

bool MemoryStack::shards(int zero, bool pipeline) const noexcept {
  const std::vector<std::int64_t>& stages =
      pipeline && !zero_stages_with_pp.empty() ? zero_stages_with_pp : zero_stages;
  return stages.empty() || std::find(stages.begin(), stages.end(), zero) != stages.end();
}

bool MemoryStack::narrows_attention(std::string_view generation, bool split) const noexcept {
  if (!adapters) {
    return false;
  }
  const std::vector<std::string>& on = split ? adapters->narrow_split_attention : adapters->narrow_attention;
  return std::find(on.begin(), on.end(), generation) != on.end();
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
  stack.base = root.maybe_text("base").value_or("");
  static_cast<void>(root.maybe_boolean("release"));  // read by the fit: a release of its base's software
  stack.id = root.text("id");
  stack.name = root.text("name");
  stack.source = root.text("source");
  stack.frameworks = root.texts("frameworks");
  stack.generations = root.texts("generations");
  stack.successor = stack.generations.empty() ? "" : root.text("successor");
  read_states(root, stack);
  read_loss(root, stack);
  read_habits(root, stack);
  read_buffers(root, stack);
  read_update(root, stack);
  read_defaults(root, stack);
  read_adapters(root, stack);
  read_reserve(root, stack);
  stack.experts = read_expert_rules(root);
  read_step_stack(root, stack.time);
  ConfigTable interval = root.table("interval");
  stack.interval = interval.number("value", {0.001, 10.0});
  stack.interval_source = interval.text("source");
  interval.finish();
  root.finish();
  return stack;
}

const MemoryStacks& memory_stacks(const ModelData& data) {
  return data.once("stacks/train", [&] { return MemoryStacks{read_stacks(data.files())}; });
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

std::vector<std::string> lineage_of(const MemoryStacks& stacks, const MemoryStack& stack) {
  std::vector<std::string> ids{stack.id};
  std::string base = stack.base;
  while (!base.empty() && std::find(ids.begin(), ids.end(), base) == ids.end()) {
    ids.push_back(base);
    const auto found = std::find_if(stacks.all().begin(), stacks.all().end(),
                                    [&](const MemoryStack& known) { return known.id == base; });
    base = found == stacks.all().end() ? std::string{} : found->base;
  }
  return ids;
}

void MemoryStacks::set_time(std::string_view id, const StepStacks& time) noexcept {
  for (MemoryStack& stack : stacks_) {
    if (stack.id == id) {
      stack.time = time;
    }
  }
}

const MemoryStack* MemoryStacks::of_framework(std::string_view framework, std::string_view generation) const {
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
  const bool ran = best == nullptr || best->generations.empty() || generation.empty() ||
                   std::find(best->generations.begin(), best->generations.end(), generation) != best->generations.end();
  return ran ? best : &find(best->successor);
}

}  // namespace headroom
