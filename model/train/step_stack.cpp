// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/model/train/step_stack.hpp>

#include <array>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_models() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace {

constexpr Range<double> factor{0.0, 100.0};
constexpr Range<double> share{0.0, 1.0};
constexpr Range<double> bytes_a_number{0.0, 1000.0};

struct StackField {
  std::string_view key;
  double StepStack::*member;
  Range<double> range;
};
constexpr std::array stack_fields{
    StackField{"elementwise", &StepStack::elementwise, factor},
    StackField{"gemm", &StepStack::gemm, factor},
    StackField{"accumulation_bytes", &StepStack::accumulation_bytes, bytes_a_number},
    StackField{"dp_overlap", &StepStack::dp_overlap, share},
    StackField{"tp_overlap", &StepStack::tp_overlap, share},
    StackField{"p2p_exposed", &StepStack::p2p_exposed, share},
    StackField{"attention", &StepStack::attention, {0.01, 1.0}},
    StackField{"link", &StepStack::link, {0.01, 2.0}},
    StackField{"nic", &StepStack::nic, {0.01, 2.0}},
    StackField{"gradient_bytes", &StepStack::gradient_bytes, {0.5, 8.0}},
    StackField{"selective_recompute", &StepStack::selective_recompute, share},
    StackField{"moe_host", &StepStack::moe_host, factor},
    StackField{"moe_gemm", &StepStack::moe_gemm, factor},
    StackField{"expert_traffic", &StepStack::expert_traffic, factor},
};

/// What the table states replaces what `stack` holds.
void read_fields(ConfigTable& table, StepStack& stack) {
  for (const StackField& field : stack_fields) {
    stack.*field.member = table.maybe_number(field.key, field.range).value_or(stack.*field.member);
  }
  stack.host = table.maybe_quantity<Seconds>("host", true).value_or(stack.host);
  stack.stage = table.maybe_quantity<Seconds>("stage", true).value_or(stack.stage);
  stack.full_tensor_sends = table.maybe_boolean("full_tensor_sends").value_or(stack.full_tensor_sends);
  stack.source = table.text("source");
}

struct PhysicsField {
  std::string_view key;
  double StepPhysics::*member;
  Range<double> range;
};
constexpr std::array physics_fields{
    PhysicsField{"bandwidth", &StepPhysics::bandwidth, {0.05, 1.0}},
    PhysicsField{"unfused_rate", &StepPhysics::unfused_rate, {0.01, 1.0}},
    PhysicsField{"score_bytes", &StepPhysics::score_bytes, bytes_a_number},
    PhysicsField{"unaligned", &StepPhysics::unaligned, {1.0, 1000.0}},
    PhysicsField{"flash_backward", &StepPhysics::flash_backward, {0.05, 2.0}},
    PhysicsField{"logit_bytes", &StepPhysics::logit_bytes, bytes_a_number},
    PhysicsField{"overlap_slowdown", &StepPhysics::overlap_slowdown, share},
    PhysicsField{"sharded_gradient_bytes", &StepPhysics::sharded_gradient_bytes, {0.5, 8.0}},
    PhysicsField{"straggler", &StepPhysics::straggler, share},
    PhysicsField{"cast", &StepPhysics::cast, factor},
    PhysicsField{"fp8_host", &StepPhysics::fp8_host, factor},
    PhysicsField{"fp4_time", &StepPhysics::fp4_time, {0.05, 2.0}},
    PhysicsField{"nic", &StepPhysics::nic, {0.01, 1.5}},
    PhysicsField{"tp_host", &StepPhysics::tp_host, factor},
    PhysicsField{"cp_overlap", &StepPhysics::cp_overlap, share},
    PhysicsField{"optimizer_bytes", &StepPhysics::optimizer_bytes, bytes_a_number},
    PhysicsField{"lora_wgrad", &StepPhysics::lora_wgrad, share},
};

template <class Read>
auto read_embedded(std::string_view id, Read read) {
  const StepDocument document = step_document(id);
  Diagnostics diagnostics;
  auto result = read(document.tree, document.file, diagnostics);
  diagnostics.throw_if_any();
  return result;
}

}  // namespace

StepDocument step_document(std::string_view id) {
  const DataStore store{embedded::embedded_models(), DataStore::user_folders()};
  const std::optional<DataStore::Entry> entry = store.find("stacks/step", id);
  if (!entry) {
    throw ConfigError{"there is no " + std::string{id} + ".toml among the parameters of the step"};
  }
  return {store.tree("stacks/step", *entry), entry->file};
}

void read_step_stack(ConfigTable& root, StepStacks& stacks) {
  std::optional<ConfigTable> table = root.maybe_table("time");
  if (!table) {
    if (!root.has("time")) {
      root.problem("time", "missing table [time]: host, elementwise, ... and their source");
    }
    return;
  }
  read_fields(*table, stacks.plain);
  stacks.moe = stacks.plain;
  if (std::optional<ConfigTable> moe = table->maybe_table("moe")) {
    read_fields(*moe, stacks.moe);
    moe->finish();
  }
  table->finish();
}

StepPhysics read_step_physics(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  static_cast<void>(file);
  require_schema(root);
  static_cast<void>(root.text("id"));
  StepPhysics physics;
  for (const PhysicsField& field : physics_fields) {
    physics.*field.member = root.number(field.key, field.range);
  }
  physics.exchange = root.quantity<Seconds>("exchange", true);
  physics.optimizer_step = root.quantity<Seconds>("optimizer_step", true);
  physics.source = root.text("source");
  root.finish();
  return physics;
}

StepLevels StepLevels::read(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  static_cast<void>(file);
  require_schema(root);
  static_cast<void>(root.text("id"));
  StepLevels levels;
  ConfigTable all = root.table("levels");
  for (const std::string_view key : all.keys()) {
    std::optional<ConfigTable> table = all.maybe_table(key);
    if (!table) {
      continue;
    }
    StepLevel level;
    level.wide = table->number("products_16_bit", {0.1, 10.0});
    level.narrow = table->number("products_8_bit", {0.1, 10.0});
    level.attention = table->number("attention", {0.1, 10.0});
    level.source = table->text("source");
    table->finish();
    (key == "any" ? levels.any_ : levels.levels_[std::string{key}]) = level;
  }
  root.finish();
  return levels;
}

const StepLevel& StepLevels::of(const Device& device) const noexcept {
  auto found = levels_.find(device.id);
  if (found == levels_.end()) {
    found = levels_.find(device.generation);
  }
  return found == levels_.end() ? any_ : found->second;
}

const StepPhysics& step_physics() {
  static const StepPhysics physics = read_embedded("physics", read_step_physics);
  return physics;
}

const StepLevels& step_levels() {
  static const StepLevels levels = read_embedded("levels", StepLevels::read);
  return levels;
}

}  // namespace headroom
