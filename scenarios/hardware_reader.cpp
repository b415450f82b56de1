// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/hardware_reader.hpp>
#include <headroom/scenarios/look_up.hpp>

#include <algorithm>

namespace headroom {

HardwareChoice read_hardware(ConfigTable& root, const Catalog& catalog, std::vector<std::string>& assumptions) {
  HardwareChoice result;
  ConfigTable table = root.table("hardware");
  const std::string gpu = table.text("gpu");
  result.gpus = table.integer("gpus", {1, 10'000'000});
  if (!gpu.empty()) {
    if (auto device = look_up(table, "gpu", gpu, [&](const std::string& s) -> Device { return catalog.device(s); })) {
      result.device = *device;
    }
  }
  std::optional<Node> node;
  std::optional<std::string> id = table.maybe_text("node");
  if (const std::optional<std::string> name = table.maybe_text("cluster")) {
    result.cluster =
        look_up(table, "cluster", *name, [&](const std::string& s) -> Cluster { return catalog.cluster(s); });
    if (result.cluster && id && *id != result.cluster->node) {
      table.problem("node",
                    "cluster '" + result.cluster->id + "' is of " + result.cluster->node + ", not " + quoted(*id));
    }
    id = result.cluster ? result.cluster->node : id;
  }
  if (id) {
    node = look_up(table, "node", *id, [&](const std::string& s) -> Node { return catalog.node(s); });
    if (node && !result.device.id.empty() && node->gpu != result.device.id &&
        std::find(node->also.begin(), node->also.end(), result.device.id) == node->also.end()) {
      table.problem("node", "node '" + node->id + "' holds " + node->gpu + ", not " + result.device.id);
    }
  } else if (!result.device.id.empty()) {
    if (const Node* reference = catalog.reference_node(result.device)) {
      node = *reference;
      assumptions.push_back("hardware.node = " + node->id + " (the reference node of " + result.device.id + ")");
    }
  }
  result.host_memory = table.maybe_quantity<Bytes>("host_memory");
  table.finish();
  result.domain = std::max<std::int64_t>(1, result.device.scale_up.domain);
  if (node) {
    result.gpus_per_node = node->gpus;
    if (!result.host_memory && node->host_memory) {
      result.host_memory = node->host_memory->value;
    }
    result.node = node->id;
    result.scale_out = node->scale_out_per_gpu();
    result.domain = std::max(result.domain, node->gpus);
    result.host = node;
  }
  return result;
}

}  // namespace headroom
