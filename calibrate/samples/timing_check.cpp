// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probe/probed_layer.hpp>
#include <headroom/calibrate/samples/collective_probes.hpp>
#include <headroom/calibrate/samples/timing_check.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/roofline.hpp>

#include <map>

namespace headroom {
namespace {

constexpr std::string_view remedy = "the timer did not wait for the device, or the operands were in a cache";

struct Work {
  std::string family;  ///< empty: work that does not grow
  double amount = 0.0;
  double much = 0.0;  ///< factor over the least work that no device does within a few launches
};

// 16384 FLOP or 8 KiB moved, the smallest probes, vanish in a launch. This many times as much takes 20 us at 15
// PFLOP/s or 1 ms at 8 TB/s.
constexpr double much_arithmetic = 2e7;
constexpr double many_bytes = 1e6;

struct WorkOf {
  Work operator()(const GemmProbe& p) const {
    return {"gemm " + std::string{row_of(p.type).name} + (p.sustained > Seconds{} ? " sustained" : ""), p.flops().raw(),
            much_arithmetic};
  }
  Work operator()(const CopyProbe& p) const {
    return {std::string{copy_op_names[static_cast<std::size_t>(p.op)]}, p.moved().raw(), many_bytes};
  }
  Work operator()(const PassProbe& p) const {
    return {std::string{pass_op_names[static_cast<std::size_t>(p.op)]} + " by " + std::to_string(p.width),
            static_cast<double>(p.moved()), many_bytes};
  }
  Work operator()(const CollectiveProbe& p) const {
    return {std::string{name_of(p.collective)} + " x" + std::to_string(p.ranks), static_cast<double>(p.bytes),
            many_bytes};
  }
  template <class Other>
  Work operator()(const Other& /*no amount of work that is known*/) const {
    return {};
  }
};

struct LeastTime {
  const Device* device;

  [[nodiscard]] std::optional<Seconds> operator()(const GemmProbe& p) const {
    const auto& peak = device->peak[static_cast<std::size_t>(row_of(p.type).rate)];
    return peak ? std::optional{p.flops() / peak->value} : std::nullopt;
  }
  [[nodiscard]] std::optional<Seconds> operator()(const CopyProbe& p) const {
    const auto& bandwidth = device->memory.bandwidth;
    const auto& l2 = device->memory.l2;
    if (!bandwidth || !l2) {
      return std::nullopt;
    }
    return least_time(Flops{}, p.moved(), FlopsPerSecond{1.0}, bandwidth->value, l2->value);
  }
  [[nodiscard]] std::optional<Seconds> operator()(const AttentionProbe& p) const {
    const auto& peak = device->peak[static_cast<std::size_t>(Rate::bf16)];
    return peak ? std::optional{p.flops() / peak->value} : std::nullopt;
  }
  [[nodiscard]] std::optional<Seconds> operator()(const DecodeProbe& p) const { return pass(p.cache_bytes()); }
  [[nodiscard]] std::optional<Seconds> operator()(const PassProbe& p) const {
    // Between the kernels of a chain, data that fits into L2 may stay there.
    return pass(p.op == PassOp::chain ? p.moved() / chain_steps : p.moved());
  }
  [[nodiscard]] std::optional<Seconds> operator()(const UnitProbe& p) const {
    constexpr std::int64_t element = 4;
    constexpr std::int64_t word = 16;
    switch (p.op) {
      case UnitOp::stride:
      case UnitOp::offset: return pass(p.count * element);
      case UnitOp::occupancy: return pass(p.count * word);
      default: return std::nullopt;
    }
  }
  [[nodiscard]] std::optional<Seconds> pass(std::int64_t bytes) const {
    const auto& bandwidth = device->memory.bandwidth;
    const auto& l2 = device->memory.l2;
    if (!bandwidth || !l2) {
      return std::nullopt;
    }
    return least_time(Flops{}, Bytes{static_cast<double>(bytes)}, FlopsPerSecond{1.0}, bandwidth->value, l2->value);
  }
  [[nodiscard]] std::optional<Seconds> operator()(const CollectiveProbe& p) const { return least_time_of(p, *device); }
  [[nodiscard]] std::optional<Seconds> operator()(const LayerProbe& p) const {
    const auto& peak = device->peak[static_cast<std::size_t>(Rate::bf16)];
    const auto& bandwidth = device->memory.bandwidth;
    if (!peak || !bandwidth) {
      return std::nullopt;
    }
    return is_decode(p.op) ? read_bytes_of(p) / bandwidth->value : flops_of(p) / peak->value;
  }
  template <class Other>
  [[nodiscard]] std::optional<Seconds> operator()(const Other& /*not bound by a datasheet*/) const {
    return std::nullopt;
  }
};

}  // namespace

std::optional<std::string> too_fast(const Sample& sample, const Device& datasheet) {
  constexpr double tolerance = 1.05;  // allows clocks above the datasheet's
  const std::optional<Seconds> least = std::visit(LeastTime{&datasheet}, sample.probe);
  if (!least || tolerance * sample.latency >= *least) {
    return std::nullopt;
  }
  return "took " + format(sample.latency) + "; the datasheet of " + datasheet.id + " allows no less than " +
         format(*least) + ": " + std::string{remedy};
}

std::optional<std::string> does_not_grow(std::span<const Sample> samples) {
  struct Extremes {
    const Sample *least = nullptr, *most = nullptr;
    double least_work = 0.0, most_work = 0.0, much = 0.0;
  };
  std::map<std::string, Extremes> families;
  for (const Sample& sample : samples) {
    const auto [family, work, much] = std::visit(WorkOf{}, sample.probe);
    if (family.empty()) {
      continue;
    }
    Extremes& e = families[family];
    e.much = much;
    if (e.least == nullptr || work < e.least_work) {
      e.least = &sample;
      e.least_work = work;
    }
    if (e.most == nullptr || work > e.most_work) {
      e.most = &sample;
      e.most_work = work;
    }
  }
  constexpr double hardly = 4.0;
  for (const auto& [family, e] : families) {
    if (e.most_work >= e.much * e.least_work && e.most->latency < hardly * e.least->latency) {
      return name_of(e.most->probe) + " took " + format(e.most->latency) + " and " + name_of(e.least->probe) + " " +
             format(e.least->latency) + ", for " + format_number(e.most_work / e.least_work) +
             " times the work: " + std::string{remedy};
    }
  }
  return std::nullopt;
}

}  // namespace headroom
