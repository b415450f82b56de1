// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/engine/iteration_stack.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace headroom {
namespace {

template <typename Owner>
struct Number {
  std::string_view key;
  double Owner::*share = nullptr;
  Seconds Owner::*time = nullptr;
  double most = 100.0;  ///< of a share
};

using StackNumber = Number<IterationStack>;
using PhysicsNumber = Number<IterationPhysics>;

// clang-format off
constexpr std::array stack_numbers{
    StackNumber{"step",         nullptr, &IterationStack::step},
    StackNumber{"sequence",     nullptr, &IterationStack::sequence},
    StackNumber{"layer",        nullptr, &IterationStack::layer},
    StackNumber{"prompt_launch", nullptr, &IterationStack::prompt_launch},
    StackNumber{"delta_layer",  nullptr, &IterationStack::delta_layer},
    StackNumber{"expert_layer", nullptr, &IterationStack::expert_layer},
    StackNumber{"request",      nullptr, &IterationStack::request},
    StackNumber{"tokenise",     nullptr, &IterationStack::tokenise},
    StackNumber{"intake",       nullptr, &IterationStack::intake},
    StackNumber{"handover",     nullptr, &IterationStack::handover},
    StackNumber{"mxfp4_unpacked", nullptr, &IterationStack::mxfp4_unpacked},
    StackNumber{"mxfp4_native", nullptr, &IterationStack::mxfp4_native},
    StackNumber{"mxfp4_call",   nullptr, &IterationStack::mxfp4_call},
    StackNumber{"draft_step",   nullptr, &IterationStack::draft_step},
    StackNumber{"draft_sequence", nullptr, &IterationStack::draft_sequence},
    StackNumber{"piece",        nullptr, &IterationStack::piece},
    StackNumber{"products",     &IterationStack::products},
    StackNumber{"nvfp4",        &IterationStack::nvfp4},
    StackNumber{"experts",      &IterationStack::experts},
    StackNumber{"block_experts", &IterationStack::block_experts},
    StackNumber{"filter",       &IterationStack::filter, nullptr, 1e4},  // bytes
    StackNumber{"vector",       &IterationStack::vector},
    StackNumber{"steps",        &IterationStack::steps},
    StackNumber{"burst",        &IterationStack::burst},
    StackNumber{"interference", &IterationStack::interference},
};
constexpr std::array physics_numbers{
    PhysicsNumber{"decode_attention",  &IterationPhysics::decode_attention},
    PhysicsNumber{"prefill_attention", &IterationPhysics::prefill_attention},
    PhysicsNumber{"all_reduce",        &IterationPhysics::all_reduce},
    PhysicsNumber{"exchange",          &IterationPhysics::exchange},
    PhysicsNumber{"all_to_all",        &IterationPhysics::all_to_all},
    PhysicsNumber{"passes",            &IterationPhysics::passes},
    PhysicsNumber{"weight_only",       &IterationPhysics::weight_only},
    PhysicsNumber{"written_out",       &IterationPhysics::written_out},
    PhysicsNumber{"indexer",           nullptr, &IterationPhysics::indexer},
    PhysicsNumber{"bubble",            &IterationPhysics::bubble},
    PhysicsNumber{"routing",           &IterationPhysics::routing},
    PhysicsNumber{"overlap",           &IterationPhysics::overlap},
};
// clang-format on

template <typename Rows>
const auto& row(const Rows& rows, std::string_view key) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.key == key; });
  if (found == rows.end()) {
    throw ConfigError{quoted(key) + " is no number of an iteration"};
  }
  return *found;
}

template <typename Rows, typename Owner>
double get(const Rows& rows, const Owner& owner, std::string_view key) {
  const auto& r = row(rows, key);
  return r.time != nullptr ? (owner.*r.time).raw() : owner.*r.share;
}

template <typename Rows, typename Owner>
void set(const Rows& rows, Owner& owner, std::string_view key, double value) {
  const auto& r = row(rows, key);
  if (r.time != nullptr) {
    owner.*r.time = Seconds{value};
  } else {
    owner.*r.share = value;
  }
}

template <typename Rows>
std::vector<std::string_view> keys(const Rows& rows) {
  std::vector<std::string_view> names;
  for (const auto& r : rows) {
    names.push_back(r.key);
  }
  return names;
}

/// Reads the numbers of a table and its list `fitted`, the keys that a fit may change.
template <typename Rows, typename Owner>
void read_numbers(ConfigTable& table, const Rows& rows, Owner& owner) {
  for (const auto& r : rows) {
    if (r.time != nullptr) {
      owner.*r.time = table.maybe_quantity<Seconds>(r.key, true).value_or(owner.*r.time);
    } else {
      owner.*r.share = table.maybe_number(r.key, {0.0, r.most}).value_or(owner.*r.share);
    }
  }
  const std::vector<std::string> fitted = table.texts("fitted");
  const std::vector<std::string_view> known = keys(rows);
  for (const std::string& key : fitted) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      table.problem("fitted", quoted(key) + " is no number of this table" + suggestion(key, known));
    }
  }
  owner.fitted = fitted;
  owner.source = table.text("source");
}

}  // namespace

double iteration_number(const IterationStack& stack, std::string_view key) {
  return get(stack_numbers, stack, key);
}
double iteration_number(const IterationPhysics& physics, std::string_view key) {
  return get(physics_numbers, physics, key);
}
void set_iteration_number(IterationStack& stack, std::string_view key, double value) {
  set(stack_numbers, stack, key, value);
}
void set_iteration_number(IterationPhysics& physics, std::string_view key, double value) {
  set(physics_numbers, physics, key, value);
}
std::vector<std::string_view> iteration_stack_keys() {
  return keys(stack_numbers);
}
std::vector<std::string_view> iteration_physics_keys() {
  return keys(physics_numbers);
}

bool is_iteration_time(std::string_view key) noexcept {
  const auto timed = [&](const auto& n) { return n.key == key && n.time != nullptr; };
  return std::any_of(stack_numbers.begin(), stack_numbers.end(), timed) ||
         std::any_of(physics_numbers.begin(), physics_numbers.end(), timed);
}

void read_iteration_stack(ConfigTable& root, IterationStack& stack) {
  std::optional<ConfigTable> table = root.maybe_table("time");
  if (!table) {
    return;
  }
  stack.curves = table->maybe_text("curves").value_or(stack.curves);
  stack.windows = table->maybe_boolean("windows").value_or(stack.windows);
  stack.holds_first = table->maybe_boolean("holds_first").value_or(stack.holds_first);
  stack.texts_in_turn = table->maybe_boolean("texts_in_turn").value_or(stack.texts_in_turn);
  stack.late_results = table->maybe_boolean("late_results").value_or(stack.late_results);
  stack.formed_ahead = table->maybe_boolean("formed_ahead").value_or(stack.formed_ahead);
  stack.holds_first_apart = table->maybe_boolean("holds_first_apart").value_or(stack.holds_first_apart);
  stack.sequence_near = table->maybe_text("sequence_near").value_or("");
  read_numbers(*table, stack_numbers, stack);
  table->finish();
}

IterationPhysics read_iteration_physics(const ConfigValue& document,
                                        const std::string& file,
                                        Diagnostics& diagnostics) {
  static_cast<void>(file);
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  IterationPhysics physics;
  read_numbers(root, physics_numbers, physics);
  root.finish();
  return physics;
}

const IterationPhysics& iteration_physics(const ModelData& data) {
  return step_numbers(data, "serve", read_iteration_physics);
}

}  // namespace headroom
