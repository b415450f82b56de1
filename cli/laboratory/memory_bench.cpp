// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/bench_limits.hpp>
#include <headroom/cli/laboratory/memory_bench.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/workload/model_data.hpp>

namespace headroom::cli {

ServedBy served_by(const LabBench& bench) {
  const Device* const device = bench.device;
  if (device == nullptr || device->vendor == "nvidia") {
    ServedBy nvidia{{},
                    {},
                    "shared memory and L1",
                    "L1",
                    "L2",
                    "CUDA C++ Best Practices Guide, coalesced access and shared memory: warps of 32, sectors of 32 B, "
                    "lines of 128 B, 32 banks of 4 B"};
    if (device != nullptr && device->memory.shared_per_unit) {
      nvidia.first_cache = device->memory.shared_per_unit->value;
    }
    return nvidia;
  }
  if (device->vendor == "amd" && device->kind == DeviceKind::gpu) {
    return {{64, 64, 128, 32, 4},
            {},
            "local data share",
            "LDS",
            "last cache",
            "AMD CDNA 3 architecture whitepaper: wavefronts of 64, lines of 128 B in halves of 64 B, 32 banks of 4 B"};
  }
  throw ConfigError{"--gpu " + quoted(bench.device->id) +
                    " has no warps whose accesses are known: the counts are of GPUs of NVIDIA and AMD"};
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

L2Rate l2_rate(const LabBench& bench) {
  const L2Rate assumed{l2_over_memory, "L2 is taken for " + format_number(l2_over_memory) +
                                           " times the memory's bandwidth, above every published ratio: a lower bound "
                                           "on times."};
  if (bench.device->curves.empty()) {
    return assumed;
  }
  const bool bf16 = bench.device->peak[static_cast<std::size_t>(Rate::bf16)].has_value();
  try {
    const GemmFormat* format = find_gemm_format(bf16 ? "bf16" : "fp16");
    const auto chosen = choose_gemm(find_curve_set(bench.data, *bench.device), *bench.device, *format);
    const double rate = chosen.curve->values[static_cast<std::size_t>(GemmParameter::l2_rate)];
    return {rate, "L2 carries " + format_number(rate) +
                      " times the memory's bandwidth, as fitted to measured products: " + chosen.why + "."};
  } catch (const ConfigError&) {
    return assumed;
  }
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
