// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/bench_limits.hpp>
#include <headroom/cli/laboratory/memory_bench.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

namespace headroom::cli {

ServedBy served_by(const LabBench& bench) {
  // The counts of all NVIDIA's architectures agree; one of them answers where no SKU was named.
  constexpr std::string_view usual = "sm-80";
  const UnitLimits& unit =
      bench.device != nullptr ? bench.catalog.unit_limits(*bench.device) : bench.catalog.architecture(usual);
  const auto bytes = [](const Sourced<Bytes>& size) { return static_cast<std::int64_t>(size.value.raw()); };
  const bool amd = unit.vendor == "amd";
  ServedBy served{
      {unit.threads.warp.value, bytes(unit.cache.sector), bytes(unit.cache.line), unit.shared.banks.value,
       bytes(unit.shared.bank_width)},
      {},
      amd ? "local data share" : "shared memory and L1",
      amd ? "LDS" : "L1",
      amd ? "the last cache" : "L2",
      "warps, sectors, lines and banks: 'headroom catalog show " + unit.id + "', " + unit.cache.sector.source};
  const auto& cache = unit.shared.with_l1 ? unit.shared.with_l1 : unit.cache.l1;
  if (cache && bench.device != nullptr) {
    served.first_cache = cache->value;
  }
  return served;
}

UnitClock unit_clock(const Device& device) {
  Diagnostics problems;
  const auto lacks = [&](std::string_view key) {
    problems.add("", {},
                 "the catalog's " + device.id + " has no " + quoted(key) +
                     "; add it in an overlay ('headroom catalog show " + device.id + "' prints what is known)");
  };
  if (!device.compute.units) {
    lacks("compute.units");
  }
  if (!device.compute.clock) {
    lacks("compute.clock");
  }
  problems.throw_if_any();
  return {static_cast<double>(device.compute.units->value), device.compute.clock->value};
}

MemoryRates memory_rates(const LabBench& bench) {
  const BytesPerSecond datasheet = bench.device->bandwidth();
  if (const std::optional<Sustained> best = sustained_bandwidth(bench)) {
    return {best->share * datasheet, datasheet,
            "Measured passes sustain " + percent(best->share) + " of the memory's " + format(datasheet) + ": " +
                best->why + "."};
  }
  return {datasheet, datasheet,
          "No measured pass serves this SKU: the catalog's " + format(datasheet) + " is taken for reachable."};
}

std::optional<Bytes> needed_bytes(FormReader& in, double element) {
  const bool elements = in.given("--elements");
  const bool bytes = in.given("--bytes");
  if (elements && bytes) {
    in.problem("--elements and --bytes both say what the kernel needs; leave one out");
  }
  if ((elements || bytes) && !in.given("--gpu")) {
    in.problem(std::string{elements ? "--elements" : "--bytes"} + " asks for a time, which needs --gpu ID");
  }
  return elements ? std::optional{Bytes{in.number("--elements", 1.0, 1e15) * element}}
                  : in.quantity_if<Bytes>("--bytes");
}

}  // namespace headroom::cli
