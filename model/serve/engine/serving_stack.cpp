// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/release.hpp>
#include <headroom/model/collectives/moe_all_to_all.hpp>
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 3> exchange_spellings{"bfloat16", "fp8", "nvfp4"};

constexpr std::array<std::string_view, 4> tp_keys{"tp2", "tp4", "tp8", "tp16"};

void read_habits(ConfigTable table, EngineHabits& habits) {
  habits.length_option = table.text("length_option");
  habits.chunks_prompts = table.maybe_boolean("chunks_prompts").value_or(true);
  habits.narrows_cache = table.maybe_boolean("narrows_cache").value_or(false);
  habits.tokens_hold_sequences = table.maybe_boolean("tokens_hold_sequences").value_or(false);
  static_cast<void>(table.text("source"));
  table.finish();
}

void read_fraction(ConfigTable table, ServingStack& stack) {
  EngineMemory& m = stack.memory;
  m.fraction_of = static_cast<FractionOf>(table.choice("of", fraction_of_names));
  m.fraction[0] = table.number("value", {0.01, 1.0});
  for (std::size_t i = 0; i < tp_keys.size(); ++i) {
    m.fraction[i + 1] = table.maybe_number(tp_keys[i], {0.01, 1.0}).value_or(m.fraction[i]);
  }
  stack.fraction_source = table.text("source");
  table.finish();
}

void read_limits(ConfigTable table, ServingStack& stack) {
  stack.memory.block_tokens = table.integer("block_tokens", {1, 65'536});
  stack.max_num_seqs = table.integer("max_num_seqs");
  stack.max_num_tokens = table.integer("max_num_tokens");
  if (const auto seqs = table.maybe_integer("large_max_num_seqs")) {
    stack.large_max_num_seqs = *seqs;
    stack.large_max_num_tokens = table.integer("large_max_num_tokens");
    stack.large_from = table.quantity<Bytes>("large_from");
    stack.large_except = table.maybe_text("large_except").value_or("");
  }
  stack.scheduler = schedulers[table.choice("scheduler", scheduler_names)];
  stack.limits_source = table.text("source");
  table.finish();
}

void read_activation(ConfigTable table, ServingStack& stack) {
  stack.memory.wide_bytes = table.number("wide", {0.0, 1e3});
  stack.memory.quantised_bytes = table.number("quantised", {0.0, 1e3});
  stack.memory.logit_bytes = table.number("per_logit", {0.0, 1e3});
  stack.activation_source = table.text("source");
  table.finish();
}

void read_prompts(ConfigTable& root, ServingStack& stack) {
  std::optional<ConfigTable> prompts = root.maybe_table("prompts");
  if (!prompts) {
    return;
  }
  for (const std::string_view key : prompts->keys()) {
    if (key == "source") {
      static_cast<void>(prompts->text(key));
    } else {
      stack.prompts[std::string{key}] = prompts->number(key, {1.0, 1e7});
    }
  }
  prompts->finish();
}

void read_former_experts(ConfigTable& root, ServingStack& stack) {
  for (ConfigTable& table : root.tables("former_experts")) {
    FormerExperts former;
    former.before = table.text("before");
    former.format = table.text("format");
    former.generation = table.text("generation");
    former.kernel = table.text("kernel");
    former.source = table.text("source");
    if (find_gemm_format(former.format) == nullptr) {
      table.problem("format", quoted(former.format) + " is no format of measured kernels");
    }
    table.finish();
    stack.former_experts.push_back(std::move(former));
  }
}

void read_generation_kernels(ConfigTable& root, ServingStack& stack) {
  for (ConfigTable& table : root.tables("generation_kernels")) {
    stack.generation_kernels.push_back({table.text("generation"), table.text("curves"), table.text("source")});
    table.finish();
  }
}

void read_shared_experts(ConfigTable& root, ServingStack& stack) {
  if (std::optional<ConfigTable> table = root.maybe_table("shared_experts")) {
    stack.shared_experts.most_tokens =
        static_cast<double>(table->maybe_integer("most_tokens", {0, 1'000'000}).value_or(1'000'000));
    stack.shared_experts.from = table->maybe_text("from").value_or("");
    stack.shared_experts.source = table->text("source");
    table->finish();
  }
}

void read_joined_norms(ConfigTable& root, ServingStack& stack) {
  if (std::optional<ConfigTable> table = root.maybe_table("joined_norms")) {
    stack.joined_norms.joined = true;
    stack.joined_norms.from = table->maybe_text("from").value_or("");
    stack.joined_norms.source = table->text("source");
    table->finish();
  }
}

/// Kernels by the names of their measurements; "{}" in a name stands for the format of the activations.
std::vector<std::string> read_transports(ConfigTable& table, std::string_view key) {
  std::vector<std::string> names = table.texts(key);
  for (const std::string& name : names) {
    const std::size_t open = name.find("{}");
    const std::string_view stem = std::string_view{name}.substr(0, open);
    const bool known = std::any_of(moe_transports().begin(), moe_transports().end(), [&](const MoeTransport& t) {
      return open == std::string::npos ? t.name == name : t.name.starts_with(stem);
    });
    if (!known) {
      table.problem(key, quoted(name) + " is no measured dispatch or combine of experts");
    }
  }
  if (names.empty()) {
    table.problem(key, "'" + std::string{key} + "' names no kernel; list those that run, in their order");
  }
  return names;
}

void read_all_to_all(ConfigTable& root, ServingStack& stack) {
  for (ConfigTable& table : root.tables("all_to_all")) {
    AllToAllRule rule;
    rule.over = static_cast<ExchangeOver>(table.choice("over", exchange_over_names));
    rule.domain_above = table.maybe_integer("domain_above", {1, 65'536}).value_or(0);
    rule.beyond_top_k = table.maybe_boolean("beyond_top_k").value_or(false);
    rule.decodes = read_transports(table, "decodes");
    rule.prompts = read_transports(table, "prompts");
    rule.sms = static_cast<double>(table.maybe_integer("sms", {1, 1024}).value_or(0));
    if (table.has("activations")) {
      rule.activations = exchange_spellings[table.choice("activations", exchange_spellings)];
    }
    rule.from = table.maybe_text("from").value_or("");
    rule.backend = table.maybe_text("backend").value_or("");
    rule.prompts_backend = table.maybe_text("prompts_backend").value_or(rule.backend);
    rule.source = table.text("source");
    table.finish();
    stack.all_to_all.push_back(std::move(rule));
  }
}

/// Whether a release has what came with release `from`; the current one, which is unknown, has everything.
bool has(std::string_view version, const std::string& from) {
  const Release asked = release_of(version);
  return !asked.known || from.empty() || !(asked < release_of(from));
}

bool large(const ServingStack& stack, const Device& device) {
  return stack.large_max_num_seqs > 0 && device.visible_capacity().value >= stack.large_from &&
         device.generation != stack.large_except;
}

}  // namespace

double ServingStack::default_fraction(std::int64_t tp) const noexcept {
  std::size_t doublings = 0;
  while (doublings + 1 < memory.fraction.size() && (std::int64_t{2} << doublings) <= tp) {
    ++doublings;
  }
  return memory.fraction[doublings];
}

std::int64_t ServingStack::default_max_num_seqs(const Device& device) const {
  return large(*this, device) ? large_max_num_seqs : max_num_seqs;
}

std::int64_t ServingStack::default_max_num_tokens(const Device& device) const {
  return large(*this, device) ? large_max_num_tokens : max_num_tokens;
}

std::vector<ExpertFamily> ServingStack::expert_families(std::string_view version) const {
  std::vector<ExpertFamily> families;
  const Release asked = release_of(version);
  for (const FormerExperts& former : former_experts) {
    if (asked.known && asked < release_of(former.before)) {
      families.push_back(former);
    }
  }
  return families;
}

double ServingStack::shared_beside(std::string_view version) const {
  return has(version, shared_experts.from) ? shared_experts.most_tokens : 0.0;
}

bool ServingStack::joins_norms(std::string_view version) const {
  return joined_norms.joined && has(version, joined_norms.from);
}

std::vector<AllToAllRule> ServingStack::exchange_rules(std::string_view version) const {
  std::vector<AllToAllRule> rules = all_to_all;
  const Release asked = release_of(version);
  std::erase_if(rules, [&](const AllToAllRule& rule) {
    return asked.known && !rule.from.empty() && asked < release_of(rule.from);
  });
  return rules;
}

ServingStack read_serving_stack(const ConfigValue& root, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable table{root, "", diagnostics};
  ServingStack stack;
  stack.file = file;
  require_schema(table);
  stack.base = table.maybe_text("base").value_or("");
  stack.id = table.text("id");
  stack.name = table.text("name");
  stack.engine = static_cast<Engine>(table.choice("engine", engine_names));
  stack.names = table.texts("names");
  stack.from = table.maybe_text("from").value_or("");
  stack.before = table.maybe_text("before").value_or("");
  stack.component = table.maybe_text("component").value_or("");
  read_habits(table.table("habits"), stack.habits);
  read_iteration_stack(table, stack.time);
  read_prompts(table, stack);
  read_former_experts(table, stack);
  read_generation_kernels(table, stack);
  read_shared_experts(table, stack);
  read_joined_norms(table, stack);
  read_all_to_all(table, stack);
  read_fraction(table.table("memory_fraction"), stack);
  read_limits(table.table("limits"), stack);
  read_activation(table.table("activation"), stack);
  ConfigTable framework = table.table("framework");
  stack.memory.framework = framework.quantity<Bytes>("value", true);
  stack.memory.framework_per_doubling = framework.quantity<Bytes>("per_doubling", true);
  stack.framework_source = framework.text("source");
  framework.finish();
  ConfigTable graphs = table.table("graphs");
  stack.memory.graphs = graphs.quantity<Bytes>("value", true);
  stack.graphs_source = graphs.text("source");
  graphs.finish();
  ConfigTable uncertainty = table.table("uncertainty");
  stack.memory.uncertainty = uncertainty.quantity<Bytes>("value");
  stack.basis = static_cast<MemoryBasis>(uncertainty.choice("basis", memory_basis_names));
  stack.uncertainty_source = uncertainty.text("source");
  uncertainty.finish();
  table.finish();
  return stack;
}

const ServingStack& find_serving_stack(const ModelData& data, Engine engine) {
  const std::string id{engine_names[static_cast<std::size_t>(engine)]};
  return data.once(id, [&] { return read_document(stack_document(data, "stacks/serve", id), read_serving_stack); });
}

ServingStack find_serving_stack(const ModelData& data, Engine engine, std::string_view version) {
  if (!release_of(version).known) {
    throw ConfigError{quoted(version) + " is no release; state its numbers, as in \"0.11.0\""};
  }
  const std::vector<ServingStack>& stacks = serving_stacks(data);
  const ServingStack* found = stack_of_release(stacks, engine_titles[static_cast<std::size_t>(engine)], version);
  ServingStack stack = found == nullptr ? find_serving_stack(data, engine) : *found;
  stack.release = version;
  return stack;
}

const std::vector<ServingStack>& serving_stacks(const ModelData& data) {
  return data.once("stacks/serve", [&] {
    const DataStore& store = data.files();
    std::vector<ServingStack> stacks;
    store.each("stacks/serve", [&](const std::string& id) {
      if (const std::optional<DataStore::Entry> entry = store.find("stacks/serve", id)) {
        Diagnostics diagnostics;
        ServingStack stack = read_serving_stack(store.tree("stacks/serve", *entry), entry->file, diagnostics);
        diagnostics.throw_if_any();
        stacks.push_back(std::move(stack));
      }
    });
    return stacks;
  });
}

EngineKernels engine_kernels(const ServingStack& stack, const IterationPhysics& physics, std::string_view version) {
  return {stack.time.curves,
          {Routing::power_law, physics.routing},
          stack.expert_families(version),
          stack.exchange_rules(version),
          stack.generation_kernels,
          stack.shared_beside(version),
          stack.joins_norms(version)};
}

const ServingStack* stack_of_release(std::span<const ServingStack> stacks,
                                     std::string_view engine,
                                     std::string_view version) noexcept {
  const ServingStack* open = nullptr;
  for (const ServingStack& stack : stacks) {
    if (std::find(stack.names.begin(), stack.names.end(), engine) == stack.names.end()) {
      continue;
    }
    const bool bounded = !stack.from.empty() || !stack.before.empty();
    const Release asked = release_of(number_after(stack.component, version));
    if (!bounded) {
      open = &stack;
    } else if (asked.known && (stack.from.empty() || !(asked < release_of(stack.from))) &&
               (stack.before.empty() || asked < release_of(stack.before))) {
      return &stack;
    }
  }
  return open;
}

}  // namespace headroom
