// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/samples/collective_probes.hpp>
#include <headroom/calibrate/samples/csv_lines.hpp>
#include <headroom/core/csv.hpp>

#include <array>
#include <cstdio>
#include <variant>

namespace headroom {
namespace {

constexpr std::int64_t smallest = 512;
constexpr std::int64_t largest = std::int64_t{1} << 32;
constexpr std::string_view element = "half";  // name of 16-bit floats, which switches can add, in nccl-tests
constexpr std::int64_t element_bytes = 2;
constexpr std::int64_t chunk_elements = 16;

/// Whether each rank's part is 1/ranks of the buffer.
bool is_cut(Collective c) noexcept {
  return c == Collective::all_gather || c == Collective::reduce_scatter || c == Collective::all_to_all;
}

std::int64_t rounded(Collective collective, std::int64_t ranks, std::int64_t bytes) noexcept {
  const std::int64_t unit = is_cut(collective) ? ranks * chunk_elements * element_bytes : element_bytes;
  return bytes - bytes % unit;
}

}  // namespace

std::string_view nccl_op(Collective collective) noexcept {
  switch (collective) {
    case Collective::all_to_all: return "alltoall";
    case Collective::send_recv: return "sendrecv";
    default: return name_of(collective);
  }
}

std::string name_of(const CollectiveProbe& probe) {
  return std::string{name_of(probe.collective)} + " x" + std::to_string(probe.ranks) + " " +
         std::to_string(probe.bytes) + " B";
}

Bytes memory_of(const CollectiveProbe& probe) noexcept {
  const bool one_is_whole =
      probe.collective == Collective::all_gather || probe.collective == Collective::reduce_scatter;
  const auto whole = static_cast<double>(probe.bytes);
  return Bytes{one_is_whole ? whole + whole / static_cast<double>(probe.ranks) : 2.0 * whole};
}

std::vector<std::int64_t> group_sizes(std::int64_t gpus) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 2; size < gpus; size *= 2) {
    sizes.push_back(size);
  }
  if (gpus > 1) {
    sizes.push_back(gpus);
  }
  return sizes;
}

std::vector<CollectiveProbe> plan_collectives(std::int64_t gpus, bool quick) {
  std::vector<std::int64_t> groups = group_sizes(gpus);
  if (quick && groups.size() > 2) {
    groups = {groups.front(), groups.back()};
  }
  std::vector<CollectiveProbe> probes;
  for (const std::int64_t ranks : groups) {
    for (const Collective collective : probed_collectives) {
      for (std::int64_t bytes = smallest; bytes <= largest; bytes *= quick ? 4 : 2) {
        if (const std::int64_t whole = rounded(collective, ranks, bytes); whole > 0) {
          probes.push_back({collective, ranks, whole});
        }
      }
    }
  }
  return probes;
}

std::optional<Seconds> least_time_of(const CollectiveProbe& probe, const Device& datasheet) noexcept {
  const auto& link = datasheet.scale_up.per_gpu;
  if (!link || probe.ranks > datasheet.scale_up.domain) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(probe.ranks);
  // In split collectives all but a rank's own part crosses its link; in the others the whole buffer does, also with
  // reduction in the switch (Klenk et al. 2020).
  const double share = is_cut(probe.collective) ? (n - 1.0) / n : 1.0;
  return Bytes{share * static_cast<double>(probe.bytes)} / link->value;
}

BytesPerSecond bus_bandwidth(const CollectiveProbe& probe, Seconds latency) noexcept {
  return Bytes{traffic_factor(probe.collective, probe.ranks) * static_cast<double>(probe.bytes)} / latency;
}

std::vector<FolderFile> collective_files(std::span<const Sample> samples, const std::string& nccl_version) {
  constexpr double micro = 1e-6;
  constexpr double giga = 1e9;
  std::string rows = "nccl_version,op,gpus,dtype,bytes,latency_us\n";
  std::string bus = "op,gpus,dtype,bytes,latency_us,algbw_gb_s,busbw_gb_s,nccl_predicted_us,algorithm,protocol\n";
  bool any = false;
  for (const Sample& sample : samples) {
    const auto* probe = std::get_if<CollectiveProbe>(&sample.probe);
    if (probe == nullptr) {
      continue;
    }
    any = true;
    const std::string cells = std::string{nccl_op(probe->collective)} + "," + std::to_string(probe->ranks) + "," +
                              std::string{element} + "," + std::to_string(probe->bytes) + "," +
                              five_digits(sample.latency.raw() / micro);
    rows += csv_field(nccl_version.empty() ? "unknown" : nccl_version) + "," + cells + "\n";
    bus += cells + "," + five_digits((Bytes{static_cast<double>(probe->bytes)} / sample.latency).raw() / giga) + "," +
           five_digits(bus_bandwidth(*probe, sample.latency).raw() / giga) + "," +
           (sample.predicted > Seconds{} ? five_digits(sample.predicted.raw() / micro) : "") + ",,\n";
  }
  if (!any) {
    return {};
  }
  return {{"nccl.csv", std::move(rows)}, {std::string{collective_bus_file}, std::move(bus)}};
}

}  // namespace headroom
