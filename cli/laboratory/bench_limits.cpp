// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/bench_limits.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <string_view>
#include <vector>

namespace headroom::cli {

KernelDevice limits_of(const Device& device, const GemmFormat& format) {
  if (!device.peak[static_cast<std::size_t>(format.rate)]) {
    std::vector<std::string_view> names;
    for (const GemmFormat& other : gemm_formats()) {
      if (device.peak[static_cast<std::size_t>(other.rate)]) {
        names.push_back(other.name);
      }
    }
    throw ConfigError{device.id + " does not multiply in " + std::string{format.name} +
                      (names.empty() ? "; the catalog has no rate of it" : "; there --dtype takes " + listed(names))};
  }
  return kernel_device(device, format.rate);
}

L2Rate l2_rate(const LabBench& bench, const GemmFormat& format) {
  const BytesPerSecond memory = bench.device->bandwidth();
  const BytesPerSecond most = l2_over_memory * memory;
  const std::string stands_for =
      format_number(l2_over_memory) + " times the memory's bandwidth, above every published ratio";
  if (bench.device->curves.empty()) {
    return {most, "no product was measured; " + stands_for};
  }
  try {
    const CurveSet& set = find_curve_set(bench.data, *bench.device);
    const auto chosen = choose_gemm(set, *bench.device, format);
    const BytesPerSecond fitted = chosen.curve->values[static_cast<std::size_t>(GemmParameter::l2_rate)] * memory;
    // Products that L2 does not hold back leave its rate open upwards.
    return fitted < most ? L2Rate{fitted, chosen.why}
                         : L2Rate{most, "measured products are not held back by it; " + stands_for};
  } catch (const ConfigError&) {
    return {most, "no product of this format was measured; " + stands_for};
  }
}

std::optional<Sustained> sustained_peak(const LabBench& bench, const GemmFormat& format) {
  constexpr double edge = 8192.0;
  if (bench.device->curves.empty()) {
    return std::nullopt;
  }
  const CurveSet& set = find_curve_set(bench.data, *bench.device);
  try {
    const auto chosen = choose_gemm(set, *bench.device, format);
    const KernelDevice limits = limits_of(*bench.device, format);
    const Seconds time = GemmModel{chosen.curve->values, limits, format}.time({edge, edge, edge});
    return Sustained{gemm_flops(edge, edge, edge) / time / limits.peak, chosen.why};
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

Rate sixteen_bit_rate(const Device& device) noexcept {
  return device.peak[static_cast<std::size_t>(Rate::bf16)] ? Rate::bf16 : Rate::fp16;
}

KernelDevice pass_limits(const Device& device) {
  return kernel_device(device, sixteen_bit_rate(device));
}

std::optional<PassCurve> pass_curve(const LabBench& bench) {
  if (bench.device->curves.empty()) {
    return std::nullopt;
  }
  const CurveSet& set = find_curve_set(bench.data, *bench.device);
  try {
    const ChosenMemory chosen = choose_memory(set, *bench.device);
    const KernelDevice limits = pass_limits(*bench.device);
    return PassCurve{MemoryModel{chosen.values, limits}, limits.bandwidth, chosen.why};
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

std::optional<Sustained> sustained_bandwidth(const LabBench& bench) {
  constexpr double elements = 1e9;
  const std::optional<PassCurve> curve = pass_curve(bench);
  if (!curve) {
    return std::nullopt;
  }
  const MemoryOp pass = elementwise(elements, 1.0, 2.0);
  return Sustained{pass.moved() / curve->model.time(pass) / curve->bandwidth, curve->why};
}

}  // namespace headroom::cli
