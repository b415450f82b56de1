// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/model/kernels/attention_training.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace headroom {
namespace {

constexpr Range<double> factor{0.0, 100.0};
constexpr Range<double> share{0.0, 1.0};
constexpr Range<double> bytes_a_number{0.0, 1000.0};
constexpr Range<double> launches{0.0, 1000.0};

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
    StackField{"attention", &StepStack::attention, {0.01, 3.0}},
    StackField{"link", &StepStack::link, {0.01, 2.0}},
    StackField{"nic", &StepStack::nic, {0.01, 2.0}},
    StackField{"gradient_bytes", &StepStack::gradient_bytes, {0.5, 8.0}},
    StackField{"selective_recompute", &StepStack::selective_recompute, share},
    StackField{"router_launches", &StepStack::router_launches, launches},
    StackField{"rotary_launches", &StepStack::rotary_launches, launches},
    StackField{"moe_gemm", &StepStack::moe_gemm, factor},
    StackField{"expert_traffic", &StepStack::expert_traffic, factor},
    StackField{"ep_overlap", &StepStack::ep_overlap, share},
};

struct StackTime {
  std::string_view key;
  Seconds StepStack::*member;
};
constexpr std::array stack_times{StackTime{"host", &StepStack::host}, StackTime{"stage", &StepStack::stage},
                                 StackTime{"optimizer_step", &StepStack::optimizer_step},
                                 StackTime{"moe_launch", &StepStack::moe_launch},
                                 StackTime{"expert_launch", &StepStack::expert_launch}};

/// Reads the keys that a fit may change; each must be in `known`.
std::vector<std::string> read_fitted(ConfigTable& table, const std::vector<std::string_view>& known) {
  std::vector<std::string> keys = table.texts("fitted");
  for (const std::string& key : keys) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      table.problem("fitted", quoted(key) + " is no number of this table" + suggestion(key, known));
    }
  }
  return keys;
}

/// Replaces the values in `stack` that the table states.
void read_fields(ConfigTable& table, StepStack& stack) {
  for (const StackField& field : stack_fields) {
    stack.*field.member = table.maybe_number(field.key, field.range).value_or(stack.*field.member);
  }
  for (const StackTime& field : stack_times) {
    stack.*field.member = table.maybe_quantity<Seconds>(field.key, true).value_or(stack.*field.member);
  }
  stack.broadcast_weights = table.maybe_boolean("broadcast_weights").value_or(stack.broadcast_weights);
  stack.full_tensor_sends = table.maybe_boolean("full_tensor_sends").value_or(stack.full_tensor_sends);
  if (const std::optional<std::string> kernel = table.maybe_text("attention_kernel")) {
    if (find_attention_implementation(*kernel) == nullptr) {
      table.problem("attention_kernel", quoted(*kernel) + " is no implementation of attention that was measured");
    }
    stack.attention_kernel = *kernel;
  }
  static_cast<void>(read_fitted(table, step_stack_keys()));
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
    PhysicsField{"unaligned_rows", &StepPhysics::unaligned_rows, {1.0, 20.0}},
    PhysicsField{"early_cudnn", &StepPhysics::early_cudnn, {0.1, 2.0}},
    PhysicsField{"fast_attention", &StepPhysics::fast_attention, share},
    PhysicsField{"ultra_attention", &StepPhysics::ultra_attention, {0.5, 3.0}},
    PhysicsField{"fp8_attention", &StepPhysics::fp8_attention, {0.2, 2.0}},
    PhysicsField{"logit_bytes", &StepPhysics::logit_bytes, bytes_a_number},
    PhysicsField{"overlap_slowdown", &StepPhysics::overlap_slowdown, share},
    PhysicsField{"expert_overlap", &StepPhysics::expert_overlap, share},
    PhysicsField{"straggler", &StepPhysics::straggler, share},
    PhysicsField{"board_spread", &StepPhysics::board_spread, {0.0, 0.2}},
    PhysicsField{"cast", &StepPhysics::cast, factor},
    PhysicsField{"fp8_host", &StepPhysics::fp8_host, factor},
    PhysicsField{"fp4_time", &StepPhysics::fp4_time, {0.05, 2.0}},
    PhysicsField{"tensor_casts", &StepPhysics::tensor_casts, {0.0, 20.0}},
    PhysicsField{"block_casts", &StepPhysics::block_casts, {0.0, 20.0}},
    PhysicsField{"fp4_casts", &StepPhysics::fp4_casts, {0.0, 20.0}},
    PhysicsField{"row_scales", &StepPhysics::row_scales, {0.5, 3.0}},
    PhysicsField{"row_casts", &StepPhysics::row_casts, {0.5, 4.0}},
    PhysicsField{"nic", &StepPhysics::nic, {0.01, 1.5}},
    PhysicsField{"unfused_host", &StepPhysics::unfused_host, factor},
    PhysicsField{"tp_host", &StepPhysics::tp_host, factor},
    PhysicsField{"cp_overlap", &StepPhysics::cp_overlap, share},
    PhysicsField{"graph_nodes", &StepPhysics::graph_nodes, {1.0, 10000.0}},
    PhysicsField{"moe_graph_nodes", &StepPhysics::moe_graph_nodes, {1.0, 10000.0}},
    PhysicsField{"latent_launches", &StepPhysics::latent_launches, launches},
    PhysicsField{"collective_launches", &StepPhysics::collective_launches, launches},
    PhysicsField{"count_launches", &StepPhysics::count_launches, launches},
    PhysicsField{"offload_overlap", &StepPhysics::offload_overlap, share},
    PhysicsField{"optimizer_bytes", &StepPhysics::optimizer_bytes, bytes_a_number},
    PhysicsField{"compiled", &StepPhysics::compiled, {0.1, 2.0}},
    PhysicsField{"async_tp", &StepPhysics::async_tp, share},
    PhysicsField{"host_update_bytes", &StepPhysics::host_update_bytes, bytes_a_number},
    PhysicsField{"host_bandwidth", &StepPhysics::host_bandwidth, {0.01, 1.0}},
    PhysicsField{"adapter_passes", &StepPhysics::adapter_passes, factor},
    PhysicsField{"power_clock", &StepPhysics::power_clock, {0.0, 1.0}},
};

struct PhysicsTime {
  std::string_view key;
  Seconds StepPhysics::*member;
};
constexpr std::array physics_times{
    PhysicsTime{"exchange", &StepPhysics::exchange},
    PhysicsTime{"graph_node", &StepPhysics::graph_node},
    PhysicsTime{"sync", &StepPhysics::sync},
    PhysicsTime{"host_update", &StepPhysics::host_update},
};

struct LevelField {
  std::string_view key;
  std::optional<double> StatedLevel::*member;
};
constexpr std::array level_fields{LevelField{"products_16_bit", &StatedLevel::wide},
                                  LevelField{"products_8_bit", &StatedLevel::narrow},
                                  LevelField{"attention", &StatedLevel::attention}};

template <class Fields>
const auto* find_field(const Fields& fields, std::string_view key) noexcept {
  const auto* const found = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.key == key; });
  return found == fields.end() ? nullptr : found;
}

template <class Fields>
void append_keys(std::vector<std::string_view>& keys, const Fields& fields) {
  std::transform(fields.begin(), fields.end(), std::back_inserter(keys), [](const auto& f) { return f.key; });
}

[[noreturn]] void no_such_number(std::string_view key) {
  throw ConfigError{quoted(key) + " is no number of a step's parameters"};
}

}  // namespace

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
  for (const PhysicsTime& field : physics_times) {
    physics.*field.member = root.quantity<Seconds>(field.key, true);
  }
  physics.fitted = read_fitted(root, step_physics_keys());
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
    StatedLevel level;
    for (const LevelField& field : level_fields) {
      level.*field.member = table->maybe_number(field.key, {0.1, 10.0});
      if (key == "any" && !(level.*field.member)) {
        table->problem(field.key, "missing: every SKU must find this number");
      }
    }
    if (std::optional<ConfigTable> board = table->maybe_table("board")) {
      level.board = LevelBoard{board->quantity<Watts>("power"), board->number("units", {1.0, 1e6}),
                               board->number("flop_per_clock_and_unit", {1.0, 1e9})};
      board->finish();
    }
    level.fitted = read_fitted(*table, step_level_keys());
    level.source = table->text("source");
    table->finish();
    levels.stated_[std::string{key}] = level;
  }
  if (!levels.stated_.contains("any")) {
    root.problem("levels", "missing table [levels.any]");
  }
  root.finish();
  return levels;
}

double StepLevels::board_factor(const Device& device, double power_clock) const {
  const auto found = stated_.find(device.generation);
  const auto& units = device.compute.units;
  const auto& rate = device.compute.dense_flop_per_clock_per_unit;
  if (found == stated_.end() || !found->second.board || device.curves == device.card() || !device.power.tdp ||
      device.power.of_superchip || !units || !rate) {
    return 1.0;
  }
  const LevelBoard& board = *found->second.board;
  if (static_cast<double>(rate->value) != board.flop_per_clock_and_unit) {
    return 1.0;
  }
  const double reference = board.power.raw() / board.units;
  // The clock of a slice is its card's; what it gains beyond is slice_clock().
  const bool cut = device.slice && device.slice->card_tdp;
  const double own = cut ? device.slice->card_tdp->raw() / static_cast<double>(device.slice->card_units)
                         : device.power.tdp->value.raw() / static_cast<double>(units->value);
  return std::pow(reference / own, power_clock);
}

StepLevel StepLevels::of(const Device& device, double power_clock) const {
  StepLevel level;
  const auto fill = [&](std::string_view id) {
    const auto found = stated_.find(id);
    if (found == stated_.end()) {
      return;
    }
    const StatedLevel& stated = found->second;
    level.wide = stated.wide.value_or(level.wide);
    level.narrow = stated.narrow.value_or(level.narrow);
    level.attention = stated.attention.value_or(level.attention);
    level.source = stated.source;
  };
  fill("any");
  fill(device.generation);
  fill(device.card());
  const double slower = board_factor(device, power_clock);
  level.wide *= slower;
  level.narrow *= slower;
  return level;
}

void StepLevels::set(std::string_view id, std::string_view key, double value) {
  const auto found = stated_.find(id);
  const LevelField* const field = find_field(level_fields, key);
  if (found == stated_.end() || field == nullptr) {
    no_such_number(key);
  }
  found->second.*field->member = value;
}

const StepParameters& step_parameters(const ModelData& data) {
  return data.once("step", [&] {
    return StepParameters{read_document(step_document(data, "physics"), read_step_physics),
                          read_document(step_document(data, "levels"), StepLevels::read)};
  });
}

double step_number(const StepStack& stack, std::string_view key) {
  if (const StackField* const field = find_field(stack_fields, key)) {
    return stack.*field->member;
  }
  if (const StackTime* const field = find_field(stack_times, key)) {
    return (stack.*field->member).raw();
  }
  no_such_number(key);
}

double step_number(const StepPhysics& physics, std::string_view key) {
  if (const PhysicsField* const field = find_field(physics_fields, key)) {
    return physics.*field->member;
  }
  if (const PhysicsTime* const field = find_field(physics_times, key)) {
    return (physics.*field->member).raw();
  }
  no_such_number(key);
}

std::optional<double> step_number(const StatedLevel& level, std::string_view key) {
  const LevelField* const field = find_field(level_fields, key);
  if (field == nullptr) {
    no_such_number(key);
  }
  return level.*field->member;
}

void set_step_number(StepStack& stack, std::string_view key, double value) {
  if (const StackField* const field = find_field(stack_fields, key)) {
    stack.*field->member = value;
  } else if (const StackTime* const time = find_field(stack_times, key)) {
    stack.*time->member = Seconds{value};
  } else {
    no_such_number(key);
  }
}

void set_step_number(StepPhysics& physics, std::string_view key, double value) {
  if (const PhysicsField* const field = find_field(physics_fields, key)) {
    physics.*field->member = value;
  } else if (const PhysicsTime* const time = find_field(physics_times, key)) {
    physics.*time->member = Seconds{value};
  } else {
    no_such_number(key);
  }
}

std::vector<std::string_view> step_stack_keys() {
  std::vector<std::string_view> keys;
  append_keys(keys, stack_fields);
  append_keys(keys, stack_times);
  return keys;
}

std::vector<std::string_view> step_physics_keys() {
  std::vector<std::string_view> keys;
  append_keys(keys, physics_fields);
  append_keys(keys, physics_times);
  return keys;
}

std::vector<std::string_view> step_level_keys() {
  std::vector<std::string_view> keys;
  append_keys(keys, level_fields);
  return keys;
}

bool is_step_time(std::string_view key) noexcept {
  return find_field(stack_times, key) != nullptr || find_field(physics_times, key) != nullptr;
}

}  // namespace headroom
