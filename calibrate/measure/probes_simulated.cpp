// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/measure/probes_simulated.hpp>
#include <headroom/calibrate/probe/probed_layer.hpp>
#include <headroom/calibrate/samples/probe_plan.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <thread>

namespace headroom {
namespace {

constexpr std::uint64_t hw_thermal_slowdown = 0x40;
constexpr Range<double> share{0.0, 1.0};

template <class Parameter, class Curve>
void set(Curve& curve, Parameter parameter, double value) {
  curve[static_cast<std::size_t>(parameter)] = value;
}

void read_constants(ConfigTable& root, SimulatedDevice& d) {
  d.gemm = prior_values(gemm_parameters());
  d.copy = prior_values(memory_parameters());
  ConfigTable gemm = root.table("gemm");
  set(d.gemm, GemmParameter::compute, gemm.number("compute", share));
  set(d.gemm, GemmParameter::bandwidth, gemm.number("bandwidth", share));
  set(d.gemm, GemmParameter::launch, gemm.quantity<Seconds>("launch").raw());
  set(d.gemm, GemmParameter::chain, gemm.quantity<Seconds>("chain").raw());
  gemm.finish();
  ConfigTable copy = root.table("copy");
  set(d.copy, MemoryParameter::bandwidth, copy.number("bandwidth", share));
  set(d.copy, MemoryParameter::launch, copy.quantity<Seconds>("launch").raw());
  if (const std::optional<Seconds> block = copy.maybe_quantity<Seconds>("block")) {
    set(d.copy, MemoryParameter::block, block->raw());
  }
  copy.finish();
  ConfigTable launch = root.table("launch");
  d.stream = launch.quantity<Seconds>("stream");
  d.host = launch.quantity<Seconds>("host");
  d.graph = launch.quantity<Seconds>("graph");
  d.node = launch.quantity<Seconds>("node");
  launch.finish();
  if (std::optional<ConfigTable> transfer = root.maybe_table("transfer")) {
    d.pinned = transfer->quantity<BytesPerSecond>("pinned");
    d.pageable = transfer->quantity<BytesPerSecond>("pageable");
    d.transfer = transfer->quantity<Seconds>("latency");
    transfer->finish();
  }
  if (std::optional<ConfigTable> unit = root.maybe_table("unit")) {
    d.load = unit->quantity<Seconds>("load");
    d.sync = unit->quantity<Seconds>("sync");
    d.arrival = unit->quantity<Seconds>("arrival");
    d.update = unit->quantity<Seconds>("update");
    d.updates = unit->quantity<Hertz>("updates");
    unit->finish();
  }
}

void read_disturbances(ConfigTable& root, SimulatedDevice& d) {
  if (std::optional<ConfigTable> noise = root.maybe_table("noise")) {
    d.noise = noise->maybe_number("spread", share).value_or(0.0);
    d.outliers = noise->maybe_number("outliers", share).value_or(0.0);
    d.outlier_factor = noise->maybe_number("outlier_factor", {1.0, 1000.0}).value_or(3.0);
    noise->finish();
  }
  if (std::optional<ConfigTable> drift = root.maybe_table("drift")) {
    d.drift = drift->number("share", share);
    d.drift_time = drift->quantity<Seconds>("time");
    drift->finish();
  }
  for (ConfigTable& table : root.tables("throttle")) {
    d.throttles.push_back({table.quantity<Seconds>("from", true), table.quantity<Seconds>("until"),
                           table.number("slower", {0.0, 100.0})});
    table.finish();
  }
}

void read_faults(ConfigTable& root, SimulatedDevice& d) {
  if (std::optional<ConfigTable> faults = root.maybe_table("faults")) {
    d.most_memory = faults->maybe_quantity<Bytes>("out_of_memory_above").value_or(Bytes{});
    d.lost_after = faults->maybe_integer("lost_after").value_or(0);
    d.hangs_at = faults->maybe_text("hangs_at").value_or("");
    d.unsynchronised = faults->maybe_boolean("unsynchronised").value_or(false);
    d.mig = faults->maybe_boolean("mig").value_or(false);
    faults->finish();
  }
  for (ConfigTable& table : root.tables("refuse")) {
    d.refusals.push_back({table.text("probe"), table.text("why")});
    table.finish();
  }
  for (ConfigTable& table : root.tables("process")) {
    d.processes.push_back({table.integer("id"), table.text("name"), table.maybe_quantity<Bytes>("memory")});
    table.finish();
  }
}

/// Properties that the CUDA runtime would report, from the catalog where it has them.
void read_facts(ConfigTable& root, const Catalog& catalog, SimulatedDevice& d) {
  const std::string gpu = root.text("gpu");
  try {
    d.datasheet = catalog.device(gpu);
  } catch (const ConfigError& error) {
    root.problem("gpu", error.diagnostics().front().message);
    return;
  }
  d.facts.name = root.maybe_text("name").value_or(d.datasheet.id);
  d.facts.cuda_driver = root.maybe_text("cuda_driver").value_or("13.0");
  d.facts.cuda_runtime = root.maybe_text("cuda_runtime").value_or("13.0");
  d.facts.cublaslt = root.maybe_text("cublaslt").value_or("13.1.0");
  d.driver = root.maybe_text("driver").value_or("580.82.07");
  d.mark = root.maybe_text("mark").value_or("51301a7e");
  const auto& units = d.datasheet.compute.units;
  const auto& l2 = d.datasheet.memory.l2;
  const std::string capability = d.datasheet.compute_capability;
  if (!units || !l2 || !d.datasheet.memory.bandwidth || capability.size() < 3) {
    root.problem("gpu", "needs a SKU whose compute capability, units, l2 and bandwidth the catalog knows");
    return;
  }
  const std::size_t dot = capability.find('.');
  d.facts.capability = 10 * std::stoi(capability.substr(0, dot)) + std::stoi(capability.substr(dot + 1));
  d.facts.sms = units->value;
  d.facts.l2 = l2->value;
  d.facts.memory = d.datasheet.visible_capacity().value;
  d.facts.free_memory = root.maybe_quantity<Bytes>("free").value_or(0.99 * d.facts.memory);
}

/// Splitmix64 (Steele et al. 2014).
std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// Random draws that depend only on what is measured, so that a resumed calibration repeats them.
class Draws {
 public:
  Draws(std::uint64_t seed, const std::string& name, std::int64_t round) : state_{mixed(seed)} {
    for (const char c : name) {
      state_ = mixed(state_ ^ static_cast<unsigned char>(c));
    }
    state_ = mixed(state_ ^ static_cast<std::uint64_t>(round));
  }
  double uniform() noexcept {
    state_ = mixed(state_);
    return (static_cast<double>(state_ >> 11U) + 0.5) * 0x1p-53;
  }
  /// Box and Muller 1958.
  double normal() noexcept {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

/// Seconds of one kernel on an idle device; nullopt for a probe that is not simulated.
struct TrueTime {
  const SimulatedDevice* d;

  std::optional<double> operator()(const GemmProbe& p) const {
    const GemmFormat* format = find_gemm_format(row_of(p.type).name);
    const Rate rate = row_of(p.type).rate;
    if (format == nullptr || !d->datasheet.peak[static_cast<std::size_t>(rate)]) {
      return std::nullopt;
    }
    GemmFormat product = *format;
    product.quantises = false;  // a probe times the product alone
    const GemmModel model{d->gemm, kernel_device(d->datasheet, rate), product, Residency::benchmark,
                          static_cast<double>(p.copies)};
    return model.time({static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k)}).raw();
  }
  std::optional<double> operator()(const CopyProbe& p) const {
    const auto array = static_cast<double>(p.array_bytes);
    const KernelDevice limits{FlopsPerSecond{1.0}, d->datasheet.bandwidth(), static_cast<double>(d->facts.sms),
                              d->facts.l2};
    const MemoryOp pass{Bytes{array * static_cast<double>(p.arrays() - 1)}, Bytes{array}, 0.0};
    return MemoryModel{d->copy, limits}.time(pass).raw();
  }
  std::optional<double> operator()(const LaunchProbe& p) const {
    const auto n = static_cast<double>(p.count);
    switch (p.op) {
      case LaunchOp::stream: return (d->stream + d->host).raw() / n + d->stream.raw();
      case LaunchOp::stream_host: return d->host.raw();
      case LaunchOp::sync: return (d->stream + d->host).raw();
      case LaunchOp::rate: return d->node.raw();
      case LaunchOp::graph:
      case LaunchOp::replay:
      case LaunchOp::count: break;
    }
    return d->graph.raw() / n + d->node.raw();
  }
  std::optional<double> operator()(const CollectiveProbe& p) const {
    const std::optional<Seconds> time = d->others.time(p);
    return time ? std::optional{time->raw()} : std::nullopt;
  }
  std::optional<double> operator()(const LayerProbe& p) const {
    double sum = 0.0;
    for (const ProbedKernel& kernel : kernels_of(p)) {
      const std::optional<double> each = std::visit(*this, kernel.probe);
      if (!each) {
        return std::nullopt;
      }
      sum += static_cast<double>(kernel.count) * *each;
    }
    return sum;
  }
  template <class Other>
  std::optional<double> operator()(const Other& probe) const {
    return simulated_time(*d, probe);
  }
};

[[noreturn]] void hang() {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::hours{1});
  }
}

}  // namespace

SimulatedDevice read_simulated_device(const ConfigValue& document, const std::string& file, const Catalog& catalog) {
  Diagnostics diagnostics;
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  SimulatedDevice d;
  if (root.text("kind") != "simulated-device") {
    root.problem("kind", "must be \"simulated-device\"");
  }
  d.date = root.maybe_text("date").value_or("2026-01-01T00:00:00Z");
  d.seed = static_cast<std::uint64_t>(root.maybe_integer("seed", not_negative).value_or(1));
  d.pace = root.maybe_quantity<Seconds>("pace").value_or(Seconds{});
  read_facts(root, catalog, d);
  read_constants(root, d);
  d.others = read_simulated_node(root, d.datasheet, catalog);
  d.facts.group = d.others.gpus();
  d.facts.nccl = d.others.nccl();
  read_disturbances(root, d);
  read_faults(root, d);
  root.finish();
  diagnostics.throw_if_any();
  static_cast<void>(file);
  return d;
}

SimulatedProber::SimulatedProber(SimulatedDevice device, Seconds begun)
    : device_{std::move(device)}, now_{begun.raw()} {}

double SimulatedProber::slowness(double at) const noexcept {
  double factor = 1.0 + device_.drift * -std::expm1(-at / device_.drift_time.raw());
  for (const SimulatedDevice::Throttle& t : device_.throttles) {
    factor *= at >= t.from.raw() && at < t.until.raw() ? 1.0 + t.slower : 1.0;
  }
  return factor;
}

Measurement SimulatedProber::measure(const Probe& probe, const ProbeEffort& effort) {
  const std::string name = name_of(probe);
  if (device_.pace > Seconds{}) {
    std::this_thread::sleep_for(std::chrono::duration<double>{device_.pace.raw()});
  }
  if (name == device_.hangs_at) {
    hang();
  }
  if (device_.lost_after > 0 && ++measured_ > device_.lost_after) {
    throw DeviceError{"Xid 79: the GPU has fallen off the bus"};
  }
  if (const std::optional<std::string> why = device_.others.fails(probe)) {
    return Skipped{name, *why};
  }
  for (const SimulatedDevice::Refusal& refusal : device_.refusals) {
    if (name.starts_with(refusal.probe)) {
      return Skipped{name, refusal.why};
    }
  }
  if (device_.most_memory > Bytes{} && memory_of(probe) > device_.most_memory) {
    return Skipped{name, "out of memory"};
  }
  const std::optional<double> truth = std::visit(TrueTime{&device_}, probe);
  if (!truth) {
    return Skipped{name, "the simulated device has no such probe"};
  }
  constexpr double dispatch = 5e-6;  // time that a timer sees when it does not wait
  const double each = device_.unsynchronised ? dispatch : *truth * slowness(now_.load());
  Draws draws{device_.seed, name, effort.round};
  Sample sample;
  sample.probe = probe;
  std::vector<double> spans;
  for (std::int64_t i = 0; i < effort.repeats; ++i) {
    const double ordinary = each * std::exp(device_.noise * draws.normal());
    const bool odd = draws.uniform() < device_.outliers;
    const double factor = 1.0 + (device_.outlier_factor - 1.0) * draws.uniform();
    spans.push_back(odd ? ordinary * factor : ordinary);
    sample.told.emplace_back(spans.back());
  }
  sample.latency = Seconds{median(spans)};
  sample.fastest = Seconds{*std::min_element(spans.begin(), spans.end())};
  sample.slowest = Seconds{*std::max_element(spans.begin(), spans.end())};
  sample.spans = effort.repeats;
  sample.launches = std::max<std::int64_t>(1, static_cast<std::int64_t>(effort.span.raw() / each));
  double took = static_cast<double>(effort.repeats + 1) * std::max(effort.span.raw(), each);
  if (const auto* gemm = std::get_if<GemmProbe>(&probe); gemm != nullptr) {
    sample.algorithms = effort.algorithms;
    if (gemm->sustained > Seconds{}) {
      sample.first = sample.fastest;
      sample.lasted = gemm->sustained;
      took = gemm->sustained.raw();
    }
  }
  now_ = now_.load() + took;
  return sample;
}

DeviceReading SimulatedProber::read() const {
  const double at = now_.load();
  DeviceReading reading;
  if (device_.datasheet.compute.clock) {
    reading.sm_clock = device_.datasheet.compute.clock->value / slowness(at);
  }
  reading.temperature_celsius = 60;
  reading.busy_percent = device_.processes.empty() ? 0 : 97;
  reading.throttle = 0;
  for (const SimulatedDevice::Throttle& t : device_.throttles) {
    if (at >= t.from.raw() && at < t.until.raw()) {
      reading.throttle = hw_thermal_slowdown;
    }
  }
  return reading;
}

DeviceSettings SimulatedProber::settings() const {
  DeviceSettings settings;
  settings.driver = device_.driver;
  settings.mark = device_.mark;
  if (device_.datasheet.compute.clock) {
    settings.sm_clock_max = device_.datasheet.compute.clock->value;
  }
  if (device_.datasheet.power.tdp) {
    settings.power_limit = device_.datasheet.power.tdp->value;
  }
  settings.mig = device_.mig;
  return settings;
}

}  // namespace headroom
