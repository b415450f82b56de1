// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/model/laboratory/launch.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

constexpr Range<double> widths{0.0, 10.0};

LaunchNumbers read_launches(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  LaunchNumbers read;
  for (ConfigTable& table : root.tables("host")) {
    LaunchHost& host = read.hosts.emplace_back();
    host.id = table.text("id");
    host.name = table.text("name");
    host.source = table.text("source");
    host.dispatch = table.quantity<Seconds>("dispatch");
    host.argument = table.quantity<Seconds>("argument", true);
    host.submit = table.maybe_quantity<Seconds>("submit").value_or(Seconds{});
    host.graph = table.quantity<Seconds>("graph");
    host.graph_node = table.quantity<Seconds>("graph_node", true);
    host.pickup = table.quantity<Seconds>("pickup", true);
    host.synchronise = table.quantity<Seconds>("synchronise", true);
    host.width = table.number("width", widths);
    table.finish();
  }
  for (ConfigTable& table : root.tables("layer")) {
    LaunchLayer& layer = read.layers.emplace_back();
    layer.id = table.text("id");
    layer.name = table.text("name");
    layer.source = table.text("source");
    layer.each = table.quantity<Seconds>("each", true);
    layer.argument = table.quantity<Seconds>("argument", true);
    layer.call = table.quantity<Seconds>("call", true);
    layer.width = table.number("width", widths);
    table.finish();
  }
  for (ConfigTable& table : root.tables("device")) {
    LaunchDevice& device = read.devices.emplace_back();
    device.generation = table.text("generation");
    device.source = table.text("source");
    device.gap = table.quantity<Seconds>("gap", true);
    device.node = table.quantity<Seconds>("node", true);
    device.start = table.quantity<Seconds>("start", true);
    device.cache = table.maybe_quantity<BytesPerSecond>("cache").value_or(BytesPerSecond{});
    device.barrier = table.quantity<Seconds>("barrier", true);
    device.barrier_block = table.quantity<Seconds>("barrier_block", true);
    device.width = table.number("width", widths);
    table.finish();
  }
  root.finish();
  return read;
}

/// ConfigError with the ids of `all` where none is `id`.
template <class All>
const auto& launch_entry(const All& all, std::string_view id, std::string_view what) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.id == id; });
  if (found == all.end()) {
    std::string known;
    for (const auto& each : all) {
      known += (known.empty() ? "" : ", ") + each.id;
    }
    throw ConfigError{"unknown " + std::string{what} + " " + quoted(id) + "; there are: " + known};
  }
  return *found;
}

/// Sum over the chain's groups of kernels up to a wait, of `time(kernels of a group)`.
template <class Time>
Seconds over_groups(const KernelChain& chain, Time time) noexcept {
  const double each = chain.sync_every > 0.0 ? std::min(chain.sync_every, chain.kernels) : chain.kernels;
  const double full = std::floor(chain.kernels / each);
  const double rest = chain.kernels - full * each;
  return full * time(each) + (rest > 0.0 ? time(rest) : Seconds{});
}

}  // namespace

const LaunchNumbers& launch_numbers(const ModelData& data) {
  return step_numbers(data, "launches", read_launches);
}

const LaunchHost& find_launch_host(const ModelData& data, std::string_view id) {
  return launch_entry(launch_numbers(data).hosts, id, "host of launches");
}

const LaunchLayer& find_launch_layer(const ModelData& data, std::string_view id) {
  return launch_entry(launch_numbers(data).layers, id, "software of launches");
}

LaunchDevice find_launch_device(const ModelData& data, std::string_view generation) {
  const std::vector<LaunchDevice>& all = launch_numbers(data).devices;
  const auto of = [&](std::string_view name) {
    return std::find_if(all.begin(), all.end(), [&](const LaunchDevice& each) { return each.generation == name; });
  };
  if (const auto found = of(generation); found != all.end()) {
    return *found;
  }
  const auto any = of("any");
  if (any == all.end()) {
    throw ConfigError{"launches.toml has no device of generation \"any\""};
  }
  LaunchDevice device = *any;
  device.generation = generation;
  device.assumed = true;
  return device;
}

Seconds launch_time(const LaunchHost& host, const LaunchLayer& layer, double arguments) noexcept {
  return host.dispatch + layer.each + arguments * (host.argument + layer.argument);
}

Seconds launched_time(const KernelChain& chain,
                      const LaunchHost& host,
                      const LaunchLayer& layer,
                      const LaunchDevice& device) noexcept {
  const Seconds each = launch_time(host, layer, chain.arguments);
  return over_groups(chain, [&](double m) {
    const Seconds gpu = each + host.pickup + m * chain.kernel + (m - 1.0) * device.gap;
    return std::max({m * each, m * host.submit, gpu}) + host.synchronise;
  });
}

Seconds graph_time(const KernelChain& chain, const LaunchHost& host, const LaunchDevice& device) noexcept {
  return over_groups(chain, [&](double m) {
    return host.graph + m * host.graph_node + host.pickup + m * (chain.kernel + device.node) + host.synchronise;
  });
}

Seconds grid_barrier_time(const LaunchDevice& device, double blocks) noexcept {
  return device.barrier + blocks * device.barrier_block;
}

Seconds persistent_time(const KernelChain& chain,
                        double blocks,
                        const LaunchHost& host,
                        const LaunchDevice& device) noexcept {
  return host.dispatch + chain.arguments * host.argument + host.pickup +
         chain.kernels * (chain.kernel + grid_barrier_time(device, blocks)) + host.synchronise;
}

double graph_pays_from(const KernelChain& chain,
                       const LaunchHost& host,
                       const LaunchLayer& layer,
                       const LaunchDevice& device) noexcept {
  const auto saves = [&](double kernels) {
    KernelChain one = chain;
    one.kernels = kernels;
    one.sync_every = 0.0;
    return graph_time(one, host, device) < launched_time(one, host, layer, device);
  };
  constexpr double most = 1048576.0;  // far beyond what one graph holds
  if (saves(1.0)) {
    return 0.0;
  }
  double below = 1.0, above = 2.0;
  while (above <= most && !saves(above)) {
    below = above;
    above *= 2.0;
  }
  if (above > most) {
    return std::numeric_limits<double>::infinity();
  }
  while (above - below > 1.0) {
    const double middle = std::floor((below + above) / 2.0);
    (saves(middle) ? above : below) = middle;
  }
  return above;
}

}  // namespace headroom
