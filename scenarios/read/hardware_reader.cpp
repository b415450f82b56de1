// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/scenarios/keys/hardware_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/hardware_reader.hpp>
#include <headroom/scenarios/read/look_up.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// "power cap 500 W of 700 W: products at 0.83 of their rate, passes over memory at theirs"
std::string cap_text(const Device& device, Watts cap, const PowerForm& form) {
  const double clock = matrix_clock(device, cap, form);
  return "hardware.power_cap = " + format(cap) + " of " + format(device.power.tdp->value) + ": products at " +
         format_number(clock) + " of their uncapped rate, passes over memory and links at theirs (docs/money.md)";
}

/// "14 of the 108 SMs of a100-sxm-80gb, 1/8 ..., 7 slices of a card at work": what a slice is, and what is taken of its
/// neighbours.
std::string slice_text(const Device& device, std::int64_t gpus, const PowerForm& form) {
  const Device::Slice& slice = *device.slice;
  const double clock = matrix_clock(device, std::nullopt, form);
  std::string text = "hardware.gpu = " + device.id + ": " + std::to_string(device.compute.units->value) + " of the " +
                     std::to_string(slice.card_units) + (slice.mig ? " SMs" : " compute units") + " of " + slice.card +
                     " and " + percent(slice.memory, 3) + " of its memory, bandwidth and L2, a card has " +
                     std::to_string(slice.per_card) + ", all of which are taken to be at work";
  text += clock == 1.0 ? std::string{} : ": products at " + format_number(clock) + " of the card's clock at its limit";
  if (gpus > 0) {
    const std::int64_t cards = slice.cards(gpus);
    text += "; " + counted(gpus, "slice") + " on " + counted(cards, "card");
  }
  return text + " (docs/sharing.md)";
}

/// A clock that is held below the SKU's own.
template <class HardwareKeys>
void read_clock(HardwareKeys& table, Hertz clock, HardwareChoice& result, std::vector<std::string>& assumptions) {
  const auto& own = result.device.compute.clock;
  if (!own) {
    table.problem("clock", "'clock' is stated, and the clock of " + result.device.id +
                               " is not known: state compute.clock in its catalog file, or leave 'clock' out");
  } else if (clock > own->value) {
    table.problem("clock", "'clock' is " + format(clock) + "; " + result.device.id + " runs at " + format(own->value) +
                               " at most (" + own->source + ")");
  } else {
    result.clock = clock / own->value;
    assumptions.push_back("hardware.clock = " + format(clock) + " of " + format(own->value) +
                          ": products and attention take " + percent(1.0 / result.clock - 1.0, 3) +
                          " longer, passes over memory and links as long; power is told as at the full clock");
  }
}

}  // namespace

PricedHardware HardwareChoice::priced(const PowerForm& form, bool serves) const {
  PricedHardware hardware;
  hardware.gpu = device.id;
  hardware.serves = serves;
  if (!device.id.empty()) {
    hardware.power = gpu_power(device, host ? &*host : nullptr, power_cap, form);
  }
  return hardware;
}

HardwareChoice read_hardware(ConfigTable& root,
                             const Sources& sources,
                             std::vector<std::string>& assumptions,
                             bool gpus_open) {
  const Catalog& catalog = sources.catalog;
  const PowerForm& form = power_form(sources.data);
  HardwareChoice result;
  auto table = KeyedTable<keys::hardware, Kinds::all>::of(root);
  const bool pools = table.value("pool") != nullptr;
  if (pools) {
    table.problem_at_key("pool",
                         "pools of unlike SKUs are answered by 'headroom plan' alone; state 'gpu' and 'gpus' of one of "
                         "them");
  }
  const std::string gpu = pools && !table.has("gpu") ? std::string{} : table.get<"gpu">();
  result.gpus = (gpus_open || pools) && !table.has("gpus") ? 0 : table.get<"gpus">();
  if (!gpu.empty()) {
    if (auto device = look_up(table, "gpu", gpu, [&](const std::string& s) -> Device { return catalog.device(s); })) {
      result.device = *device;
    }
  }
  std::optional<Node> node;
  std::optional<std::string> id = table.stated<"node">();
  if (const std::optional<std::string> name = table.stated<"cluster">()) {
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
    const std::string& card = result.device.slice ? result.device.slice->card : result.device.id;
    if (node && !card.empty() && node->gpu != card &&
        std::find(node->also.begin(), node->also.end(), card) == node->also.end()) {
      table.problem("node", "node '" + node->id + "' holds " + node->gpu + ", not " + card);
    } else if (node && result.device.slice) {
      node = catalog.node_of_slices(*node, result.device);
    }
  } else if (!result.device.id.empty()) {
    if (const Node* reference = catalog.reference_node(result.device)) {
      node = *reference;
      assumptions.push_back("hardware.node = " + node->id + " (the reference node of " + result.device.id + ")");
    }
  }
  result.host_memory = table.stated<"host_memory">();
  if (const auto link = table.stated<"host_link">()) {
    if (node) {
      node->host_link = link;
    } else if (!result.device.id.empty()) {
      table.problem("host_link",
                    "'host_link' needs 'node': no node of the catalog is the reference of " + result.device.id);
    }
  }
  if (const auto cap = table.stated<"power_cap">(); cap && !result.device.id.empty()) {
    if (const std::string why = why_no_cap(result.device, *cap, form); !why.empty()) {
      table.problem("power_cap", "'power_cap': " + why);
    } else {
      result.power_cap = cap;
      assumptions.push_back(cap_text(result.device, *cap, form));
    }
  }
  if (const auto clock = table.stated<"clock">(); clock && !result.device.id.empty()) {
    read_clock(table, *clock, result, assumptions);
  }
  table.finish();
  if (result.device.slice) {
    assumptions.push_back(slice_text(result.device, result.gpus, form));
  }
  result.domain = std::max<std::int64_t>(1, result.device.scale_up.domain);
  if (node) {
    result.gpus_per_node = node->gpus;
    if (!result.host_memory && node->host_memory) {
      result.host_memory = node->host_memory->value;
    }
    result.node = node->id;
    result.scale_out = node->scale_out_per_gpu();
    result.domain = result.device.slice ? 1 : std::max(result.domain, node->gpus);
    result.host = node;
  }
  return result;
}

}  // namespace headroom
