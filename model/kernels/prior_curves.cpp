// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/curve_mean.hpp>
#include <headroom/model/kernels/prior_curves.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

/// 16-bit FLOP per clock of a multiprocessor of B200, the most of a measured unit.
constexpr std::int64_t most_flop_per_clock = 8192;

/// Under which the mean is kept, beside the sets that SKUs name: no file and no SKU is called so.
constexpr std::string_view prior_key = "mean of generations";

CurveSet read_set(const DataStore::Entry& entry) {
  Diagnostics diagnostics;
  CurveSet set = read_curve_set(parse_toml(entry.text, entry.file), entry.file, diagnostics);
  diagnostics.throw_if_any();
  return set;
}

}  // namespace

CurveSet prior_curve_set(const ModelData& data, std::span<const std::string> without) {
  CurveMean<gemm_parameter_count> gemm;
  CurveMean<prefill_parameter_count> prefill;
  CurveMean<decode_parameter_count> decode;
  CurveMean<moe_parameter_count> moe;
  CurveMean<memory_parameter_count> memory;
  const DataStore& store = data.files();
  store.each("curves", [&](const std::string& id) {
    const std::optional<DataStore::Entry> entry = store.find("curves", id);
    const CurveSet set = read_set(*entry);
    if (set.generation.empty() || std::find(without.begin(), without.end(), set.generation) != without.end()) {
      return;
    }
    const auto add = [&](auto& mean, const auto& curves) {
      for (const auto& curve : curves) {
        mean.add(set.generation, curve);
      }
    };
    add(gemm, set.gemm);
    add(prefill, set.prefill);
    add(decode, set.decode);
    add(moe, set.moe);
    add(memory, set.memory);
  });
  CurveSet prior;
  prior.id = "the measured generations";
  prior.gemm = gemm.means();
  prior.prefill = prefill.means();
  prior.decode = decode.means();
  prior.moe = moe.means();
  prior.memory = memory.means();
  return prior;
}

const CurveSet& curve_set_or_prior(const ModelData& data, const Device& device) {
  return device.curves.empty() ? data.once(prior_key, [&] { return prior_curve_set(data); })
                               : find_curve_set(data, device);
}

Device with_measured_units(Device device) {
  auto& units = device.compute.units;
  const auto& flop = device.compute.dense_flop_per_clock_per_unit;
  if (units && flop && flop->value > most_flop_per_clock) {
    units->value = units->value * flop->value / most_flop_per_clock;
  }
  return device;
}

}  // namespace headroom
