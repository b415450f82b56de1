// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probe/probed_layer.hpp>
#include <headroom/calibrate/samples/collective_probes.hpp>
#include <headroom/calibrate/samples/probe_plan.hpp>
#include <headroom/calibrate/samples/probe_shapes.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::array<std::int64_t, 6> tokens{1, 16, 64, 256, 1024, 8192};
constexpr std::array<std::int64_t, 2> quick_tokens{1, 8192};
constexpr std::array<std::array<std::int64_t, 2>, 8> weights{
    {{128, 64}, {256, 2048}, {512, 16384}, {2048, 512}, {4096, 4096}, {6144, 1536}, {8192, 8192}, {16384, 2560}}};

constexpr std::int64_t smallest_array = 4096;
constexpr std::int64_t largest_array = std::int64_t{1} << 32;
constexpr std::array<std::int64_t, 6> launch_counts{1, 4, 16, 64, 256, 1024};
/// A stream holds about 1024 launches before the host has to wait; half of them are queued behind the blocking kernel.
constexpr std::int64_t rate_count = 512;

constexpr std::int64_t sustained_side = 8192;
constexpr Seconds sustained_length{5.0};
constexpr int sustained_runs = 2;
constexpr std::int64_t workspace = std::int64_t{32} << 20;
constexpr double usable_share = 0.8;  // the rest is for the context, graphs and kernel code

std::int64_t weight_bytes(GemmType type, std::int64_t n, std::int64_t k) {
  return operand_bytes(type, n * k);
}

class Planner {
 public:
  Planner(const ProbeDevice& device, const ProbeChoice& choice) : device_{&device}, choice_{&choice} {}

  void gemms(GemmType type) {
    const GemmTypeRow& row = row_of(type);
    if (device_->capability < row.least_capability) {
      plan_.skipped.push_back({"gemm " + std::string{row.name}, needs_capability(row.least_capability)});
      return;
    }
    for (const auto& [n, k] : weights) {
      const std::int64_t copies = rotation_copies(weight_bytes(type, n, k), device_->l2, 2);
      for (const std::int64_t m : tokens) {
        if (!choice_->quick || std::find(quick_tokens.begin(), quick_tokens.end(), m) != quick_tokens.end()) {
          add(GemmProbe{type, m, n, k, copies, {}});
        }
      }
    }
  }

  void sustained(GemmType type) {
    if (choice_->quick || device_->capability < row_of(type).least_capability) {
      return;
    }
    constexpr std::int64_t side = sustained_side;
    const std::int64_t copies = rotation_copies(weight_bytes(type, side, side), device_->l2, 2);
    for (int run = 0; run < sustained_runs; ++run) {
      add(GemmProbe{type, side, side, side, copies, sustained_length});
    }
  }

  void copies() {
    const std::int64_t step = choice_->quick ? 16 : 2;
    for (const CopyOp op : {CopyOp::memcpy, CopyOp::copy, CopyOp::triad}) {
      for (std::int64_t bytes = smallest_array; bytes <= largest_array; bytes *= step) {
        CopyProbe probe{op, bytes, 1};
        probe.copies = rotation_copies(probe.arrays() * bytes, device_->l2);
        add(probe);
      }
    }
  }

  void launches() {
    for (const LaunchOp op : {LaunchOp::stream, LaunchOp::stream_host, LaunchOp::graph}) {
      for (const std::int64_t count : launch_counts) {
        add(LaunchProbe{op, count});
      }
    }
    add(LaunchProbe{LaunchOp::sync, 1});
    for (const std::int64_t count : {launch_counts.front(), launch_counts.back()}) {
      add(LaunchProbe{LaunchOp::replay, count});
    }
    add(LaunchProbe{LaunchOp::rate, rate_count});
  }

  void kinds() {
    for (const Probe& probe : chosen_kinds(*device_, *choice_)) {
      add(probe);
    }
  }

  void collectives() {
    const bool asked = choice_->collectives.value_or(false);
    if (device_->group < 2 && asked) {
      plan_.skipped.push_back({"nccl",
                               "collectives need two GPUs or more; this process sees one (all of the node: unset "
                               "CUDA_VISIBLE_DEVICES)"});
    } else if (device_->group > 1 && device_->nccl.empty()) {
      plan_.skipped.push_back(
          {"nccl", "libnccl.so.2 was not found; install NCCL, or name its folder in LD_LIBRARY_PATH"});
    } else {
      for (const CollectiveProbe& probe : plan_collectives(device_->group, choice_->quick)) {
        add(probe);
      }
    }
  }

  [[nodiscard]] ProbePlan take() { return std::move(plan_); }

 private:
  void add(const Probe& probe) {
    const Bytes needed = memory_of(probe);
    const Bytes usable = usable_share * device_->free_memory;
    if (needed > usable) {
      plan_.skipped.push_back({name_of(probe), "needs " + format(needed) + "; " + format(usable) + " may be used"});
    } else {
      plan_.probes.push_back(probe);
    }
  }

  [[nodiscard]] std::string needs_capability(std::int64_t least) const {
    const auto text = [](std::int64_t c) { return std::to_string(c / 10) + "." + std::to_string(c % 10); };
    return "needs compute capability " + text(least) + "; this device has " + text(device_->capability);
  }

  const ProbeDevice* device_;
  const ProbeChoice* choice_;
  ProbePlan plan_;
};

struct NameOf {
  std::string operator()(const GemmProbe& p) const {
    return "gemm " + std::string{row_of(p.type).name} + " " + std::to_string(p.m) + "x" + std::to_string(p.n) + "x" +
           std::to_string(p.k) + (p.sustained > Seconds{} ? " sustained" : "");
  }
  std::string operator()(const CopyProbe& p) const {
    return std::string{copy_op_names[static_cast<std::size_t>(p.op)]} + " " + std::to_string(p.array_bytes) + " B";
  }
  std::string operator()(const LaunchProbe& p) const {
    return std::string{launch_op_names[static_cast<std::size_t>(p.op)]} + " " + std::to_string(p.count);
  }
  template <class Kind>
  std::string operator()(const Kind& p) const {
    return name_of(p);
  }
  std::string operator()(const CollectiveProbe& p) const { return name_of(p); }
};

struct MemoryOf {
  Bytes operator()(const GemmProbe& p) const {
    const std::int64_t output = p.m * p.n * row_of(p.type).output_bytes;
    const std::int64_t input = operand_bytes(p.type, p.m * p.k);
    return Bytes{static_cast<double>((p.copies * weight_bytes(p.type, p.n, p.k)) + input + output + workspace)};
  }
  Bytes operator()(const CopyProbe& p) const { return static_cast<double>(p.copies) * p.moved(); }
  Bytes operator()(const LaunchProbe&) const { return Bytes{}; }
  template <class Kind>
  Bytes operator()(const Kind& p) const {
    return memory_of(p);
  }
  Bytes operator()(const CollectiveProbe& p) const { return memory_of(p); }
  Bytes operator()(const LayerProbe& p) const {
    Bytes sum{};
    for (const ProbedKernel& kernel : kernels_of(p)) {
      sum += std::visit(*this, kernel.probe);
    }
    return sum;
  }
};

}  // namespace

std::string name_of(const Probe& probe) {
  return std::visit(NameOf{}, probe);
}

Bytes memory_of(const Probe& probe) {
  return std::visit(MemoryOf{}, probe);
}

std::vector<Probe> chosen_kinds(const ProbeDevice& device, const ProbeChoice& choice) {
  const ProbeExtent extent = choice.quick  ? ProbeExtent::quick
                             : choice.full ? ProbeExtent::full
                                           : ProbeExtent::standard;
  std::vector<Probe> probes;
  const auto take = [&](bool chosen, const auto& kinds) {
    if (chosen) {
      probes.insert(probes.end(), kinds.begin(), kinds.end());
    }
  };
  take(choice.memory, pass_probes(extent, device.l2));
  take(choice.decode, decode_probes(extent, device.l2));
  take(choice.attention, attention_probes(extent, device.l2));
  take(choice.transfer, transfer_probes(extent, device.peers));
  take(choice.layer, layer_probes());
  take(choice.unit, unit_probes(extent, device.l2));
  return probes;
}

std::vector<ProbeShape> probe_shapes() {
  std::vector<ProbeShape> shapes;
  for (const auto& [n, k] : weights) {
    for (const std::int64_t m : tokens) {
      shapes.push_back({m, n, k});
    }
  }
  return shapes;
}

std::int64_t rotation_copies(std::int64_t bytes, Bytes l2, std::int64_t least) {
  constexpr Bytes beyond_any_l2{0x1p28};
  const auto cache = static_cast<std::int64_t>((l2 > Bytes{} ? l2 : beyond_any_l2).raw());
  return std::max((2 * cache / bytes) + 1, least);
}

ProbePlan plan_probes(const ProbeDevice& device, const ProbeChoice& choice) {
  Planner planner{device, choice};
  if (choice.gemm) {
    for (const GemmType type : choice.types) {
      planner.gemms(type);
    }
  }
  if (choice.copy) {
    planner.copies();
  }
  if (choice.launch) {
    planner.launches();
  }
  planner.kinds();
  if (choice.collectives.value_or(true)) {
    planner.collectives();
  }
  if (choice.gemm) {
    for (const GemmType type : choice.types) {
      planner.sustained(type);
    }
  }
  ProbePlan plan = planner.take();
  if (choice.quick) {
    plan.effort.repeats = 3;
  }
  return plan;
}

}  // namespace headroom
