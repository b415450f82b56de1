// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/release.hpp>
#include <headroom/model/infer/network_engine.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>

namespace headroom {
namespace {

NetworkEngine read_engine(const ConfigValue& root, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable table{root, "", diagnostics};
  NetworkEngine e;
  e.file = file;
  require_schema(table);
  e.base = table.maybe_text("base").value_or("");
  e.id = table.text("id");
  e.name = table.text("name");
  e.source = table.text("source");
  e.names = table.texts("names");
  e.from = table.maybe_text("from").value_or("");
  e.before = table.maybe_text("before").value_or("");
  e.component = table.maybe_text("component").value_or("");
  e.mark = table.maybe_text("mark").value_or("");
  e.fusion = static_cast<Fusion>(table.choice("fusion", fusion_names));
  e.fused_attention = table.maybe_boolean("fused_attention").value_or(false);
  ConfigTable host = table.table("host");
  e.launch = host.quantity<Seconds>("launch");
  e.call = host.quantity<Seconds>("call");
  e.overlap = host.number("overlap", {0.5, 100.0});
  e.autocast = host.maybe_number("autocast", {0.1, 10.0}).value_or(1.0);
  host.finish();
  e.elementwise = table.maybe_number("elementwise", {0.01, 100.0}).value_or(1.0);
  e.trains = table.has("elementwise_training");
  e.elementwise_training = table.maybe_number("elementwise_training", {0.01, 100.0}).value_or(e.elementwise);
  if (auto training = table.maybe_table("training")) {
    e.exchange_hidden = training->maybe_number("exchange_hidden", {0.0, 1.0}).value_or(0.0);
    e.sharded_update = training->maybe_boolean("sharded_update").value_or(false);
    e.buckets = training->maybe_boolean("buckets").value_or(false);
    training->finish();
  }
  if (auto early = table.maybe_table("early_products")) {
    for (const std::string_view capability : early->keys()) {
      e.early_products.insert_or_assign(std::string{capability}, early->number(capability, {0.01, 1.0}));
    }
    early->finish();
  }
  if (auto interval = table.maybe_table("interval")) {
    e.width = interval->maybe_number("value", {0.0, 10.0});
    e.loop_width = interval->maybe_number("closed_loop", {0.0, 10.0});
    e.width_source = interval->text("source");
    interval->finish();
  }
  if (auto server = table.maybe_table("server")) {
    e.input = server->maybe_quantity<BytesPerSecond>("input");
    e.served = server->number("closed_loop", {0.01, 100.0});
    server->finish();
  }
  table.finish();
  return e;
}

}  // namespace

double early_rate(const NetworkEngine& engine, std::string_view capability) noexcept {
  const auto found = engine.early_products.find(capability);
  return found == engine.early_products.end() ? 1.0 : found->second;
}

FusedOp fused(Fusion fusion, CallOpKind kind) noexcept {
  constexpr FusedOp nothing{0.0, 0.0};
  switch (kind) {
    case CallOpKind::batch_norm:
      switch (fusion) {
        case Fusion::framework:
        case Fusion::graph: return {1.0, 1.0};
        case Fusion::compiled: return {0.5, 0.5};
        default: return nothing;  // folded into the convolution before, or one kernel with it
      }
    case CallOpKind::activation:
      return fusion == Fusion::framework ? FusedOp{} : fusion == Fusion::graph ? FusedOp{0.4, 0.4} : nothing;
    case CallOpKind::add:
      switch (fusion) {
        case Fusion::framework: return {};
        case Fusion::graph: return {0.7, 0.7};
        case Fusion::inference: return nothing;
        default: return {0.5, 0.5};
      }
    case CallOpKind::bias: return fusion == Fusion::graph ? FusedOp{} : nothing;
    case CallOpKind::pointwise:
      switch (fusion) {
        case Fusion::graph: return {0.0, 0.0, 1.0, 0.8};
        case Fusion::inference: return {0.3, 0.3};
        default: return {};
      }
    case CallOpKind::softmax: return fusion == Fusion::graph ? FusedOp{2.0, 1.3} : FusedOp{};
    case CallOpKind::layer_norm:
      switch (fusion) {
        case Fusion::graph: return {0.0, 0.0, 1.0, 0.4};
        case Fusion::compiled: return {2.0, 1.5};
        default: return {};
      }
    case CallOpKind::move:
      switch (fusion) {
        case Fusion::graph: return {0.0, 1.0, 1.0, 0.0};
        case Fusion::inference: return {0.7, 0.7};
        default: return {};
      }
    default: return {};
  }
}

const std::vector<NetworkEngine>& network_engines(const ModelData& data) {
  return data.once("stacks/infer", [&] {
    const DataStore& store = data.files();
    std::vector<NetworkEngine> engines;
    store.each("stacks/infer", [&](const std::string& id) {
      engines.push_back(read_document(stack_document(data, "stacks/infer", id), read_engine));
    });
    return engines;
  });
}

const NetworkEngine& find_network_engine(const ModelData& data, std::string_view id) {
  std::string known;
  for (const NetworkEngine& each : network_engines(data)) {
    if (each.id == id) {
      return each;
    }
    known += (known.empty() ? "" : ", ") + each.id;
  }
  throw ConfigError{"unknown engine " + quoted(id) + "; there are: " + known};
}

const NetworkEngine* network_engine_of(const ModelData& data,
                                       std::string_view name,
                                       std::string_view release,
                                       std::string_view options) {
  const NetworkEngine* open = nullptr;
  std::size_t most = 0;
  for (const NetworkEngine& each : network_engines(data)) {
    if (std::find(each.names.begin(), each.names.end(), name) == each.names.end() ||
        (!each.mark.empty() && options.find(each.mark) == std::string_view::npos)) {
      continue;
    }
    const Release asked = release_of(number_after(each.component, release));
    const bool bounded = !each.from.empty() || !each.before.empty();
    const bool within = asked.known && (each.from.empty() || !(asked < release_of(each.from))) &&
                        (each.before.empty() || asked < release_of(each.before));
    if (bounded && !within) {
      continue;
    }
    // A mark or bounds that a row meets say more than a name alone, and a longer mark more than its beginning.
    const std::size_t said = 3 * each.mark.size() + (each.from.empty() ? 0 : 1) + (each.before.empty() ? 0 : 1);
    if (open == nullptr || said > most) {
      open = &each;
      most = said;
    }
  }
  return open;
}

}  // namespace headroom
