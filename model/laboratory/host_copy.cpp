// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/model/laboratory/host_copy.hpp>
#include <headroom/model/pipeline/host_path.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

HostCopyNumbers read_host_copies(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  // Of each number where it comes from, for those who read the file.
  const auto part = [&](std::string_view key, auto read) {
    ConfigTable table = root.table(key);
    static_cast<void>(table.text("source"));
    read(table);
    table.finish();
  };
  HostCopyNumbers n;
  const auto share = [&](std::string_view key, double& value) {
    part(key, [&](ConfigTable& table) { value = table.number("value", {0.01, 1.0}); });
  };
  const auto rate = [&](std::string_view key, BytesPerSecond& value) {
    part(key, [&](ConfigTable& table) { value = table.quantity<BytesPerSecond>("value"); });
  };
  share("pinned", n.pinned);
  share("both", n.both);
  share("guest", n.guest);
  share("remote", n.remote);
  share("write_combined", n.write_combined);
  rate("staging", n.staging);
  rate("first_touch", n.first_touch);
  rate("kernel_reads", n.kernel_reads);
  part("reach", [&](ConfigTable& table) { n.reach = table.quantity<Bytes>("value"); });
  rate("missing", n.missing);
  part("hip_start", [&](ConfigTable& table) { n.hip_start = table.quantity<Seconds>("value"); });
  part("interval", [&](ConfigTable& table) { n.width = table.number("value", {0.0, 10.0}); });
  root.finish();
  return n;
}

}  // namespace

const HostCopyNumbers& host_copy_numbers(const ModelData& data) {
  return step_numbers(data, "host-copies", read_host_copies);
}

BytesPerSecond pcie_rate(int generation) noexcept {
  return BytesPerSecond{std::ldexp(8e9 * 16.0 / 8.0 * 128.0 / 130.0, generation - 3)};
}

BytesPerSecond host_copy_rate(const HostCopy& copy,
                              const HostCopyMachine& machine,
                              const HostCopyNumbers& numbers) noexcept {
  BytesPerSecond rate = machine.link ? *machine.link : numbers.pinned * pcie_rate(machine.pcie);
  if (copy.kernel && copy.to_device) {
    rate = std::min(rate, numbers.kernel_reads);
    if (copy.bytes > numbers.reach && rate > numbers.missing) {
      const double held = numbers.reach / copy.bytes;
      rate = BytesPerSecond{1.0 / (held / rate.raw() + (1.0 - held) / numbers.missing.raw())};
    }
  }
  rate *= (copy.both ? numbers.both : 1.0) * (machine.guest ? numbers.guest : 1.0) *
          (copy.remote ? numbers.remote : 1.0) * (copy.write_combined && machine.link ? numbers.write_combined : 1.0);
  const Seconds start = machine.hip ? numbers.hip_start : Seconds{};
  Seconds time = copy_time(copy.bytes, 1.0, start, rate);
  if (!copy.pinned && !machine.link) {
    time += copy.bytes / numbers.staging;
  }
  if (copy.allocates) {
    time += copy.bytes / numbers.first_touch;
  }
  return copy.bytes / time;
}

}  // namespace headroom
