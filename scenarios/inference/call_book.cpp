// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/infer/network_calls.hpp>
#include <headroom/model/train/network/network_memory.hpp>
#include <headroom/model/train/software/rough_stack.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/inference/call_book.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace headroom {
namespace {

/// Batches that nobody asks beyond: what fits of small networks has no end.
constexpr std::int64_t most_samples = 4'096;
/// Of a measured point, for the other batches of its network: 17.4 % instead of 25.5 % of error at 0.7, 18.8 % at 1
/// (networks left out of the fit; docs/networks.md).
constexpr double measured_weight = 0.7;
/// Two cards of one SKU that differ in memory alone, same tables otherwise: 2.2 % apart (32 pairs of V100).
constexpr double measured_width = 0.03;

/// Times of calls from the network's ops.
class ModelledCalls {
 public:
  explicit ModelledCalls(const BatchScenario& s)
      : rates_{call_rates(*s.data)}, engine_{*s.engine}, ops_{call_ops(*s.network)} {
    setting_.format = call_format(s.precision);
    setting_.element = setting_.weight = element_bytes(setting_.format);
    setting_.autocast = setting_.format == CallFormat::half && engine_.fusion == Fusion::framework;
    if (const CallHost* host = s.host ? rates_.host_of(s.host->cpu) : nullptr) {
      setting_.host = host->launch;
    }
    setting_.deterministic = s.deterministic;
    device_ = call_device(s.device, rates_, engine_, setting_.format, false);
    if (s.power_cap) {
      device_.product *= matrix_clock(s.device, s.power_cap, power_form(*s.data));
    }
  }
  [[nodiscard]] bool assumed() const noexcept { return device_.assumed; }
  [[nodiscard]] CallTime at(std::int64_t batch) const noexcept {
    return call_time(ops_, real(batch), device_, rates_.physics, engine_, setting_);
  }
  /// FLOP at the peak of the format, or weights once and what goes in and comes out at the memory's bandwidth
  /// (Williams, Waterman and Patterson 2009). Of 3 x 3 convolutions in fp32 a quarter of the multiplications:
  /// Winograd's F(4 x 4, 3 x 3) (Lavin and Gray 2016, table 1).
  [[nodiscard]] Seconds roof(std::int64_t batch) const noexcept {
    double flop = 0.0, weights = 0.0;
    for (const CallOp& op : ops_) {
      const double samples = op.grows == BatchGrows::nothing ? 1.0 : real(batch);
      const bool winograd = op.kind == CallOpKind::winograd && setting_.format == CallFormat::fp32;
      flop += multiplies(op.kind) ? samples * op.flop() * (winograd ? 0.25 : 1.0) : 0.0;
      weights += multiplies(op.kind) ? op.weights * op.count : 0.0;
    }
    const double ends = ops_.empty() ? 0.0 : real(batch) * (ops_.front().in + ops_.back().out);
    const double bytes = weights * setting_.weight + ends * setting_.element;
    return std::max(Seconds{flop / device_.peak.raw()}, Bytes{bytes} / device_.bandwidth);
  }
  /// Against the same call whose sums may be split.
  [[nodiscard]] DeterministicCost deterministic_at(std::int64_t batch) const noexcept {
    CallSetting free = setting_;
    free.deterministic = false;
    DeterministicCost cost;
    cost.batch = batch;
    const Seconds split = call_time(ops_, real(batch), device_, rates_.physics, engine_, free).total();
    cost.share = at(batch).total() / split - 1.0;
    for (const CallOp& op : ops_) {
      if (multiplies(op.kind)) {
        const auto count = static_cast<std::int64_t>(op.count);
        cost.of_products += count;
        const Seconds kept = kernel_time(op, real(batch), device_, rates_.physics, engine_, setting_);
        const Seconds freed = kernel_time(op, real(batch), device_, rates_.physics, engine_, free);
        cost.products += kept > 1.001 * freed ? count : 0;
      }
    }
    return cost;
  }

 private:
  const CallRates& rates_;
  const NetworkEngine& engine_;
  std::vector<CallOp> ops_;
  CallSetting setting_;
  CallDevice device_;
};

/// Through measured batches alone: no less than the smallest's time, along lines between, and never less for more.
[[nodiscard]] Seconds along_measured(const std::vector<MeasuredCall>& calls, std::int64_t batch) noexcept {
  Seconds longest = calls.front().time;
  for (std::size_t i = 0; i < calls.size() && calls[i].batch <= batch; ++i) {
    longest = std::max(longest, calls[i].time);
  }
  const auto above =
      std::find_if(calls.begin(), calls.end(), [&](const MeasuredCall& call) { return call.batch >= batch; });
  if (above == calls.begin() || above == calls.end()) {
    // Beyond the largest no time is known: as many calls of it as hold the samples.
    return std::max(1.0, real(batch) / real(calls.back().batch)) * longest;
  }
  const MeasuredCall& low = *(above - 1);
  const double share = real(batch - low.batch) / real(above->batch - low.batch);
  return std::max(longest, low.time + share * (above->time - low.time));
}

/// The measured calls over the modelled ones at any batch: along lines of logarithms between measured batches; beyond
/// them the end's ratio, whose weight falls from 1 to 0.7 as the batch doubles or halves.
[[nodiscard]] double measured_ratio(const std::vector<MeasuredCall>& calls,
                                    const ModelledCalls& modelled,
                                    std::int64_t batch) {
  const auto ratio = [&](const MeasuredCall& call) { return std::log(call.time / modelled.at(call.batch).total()); };
  const auto above =
      std::find_if(calls.begin(), calls.end(), [&](const MeasuredCall& call) { return call.batch >= batch; });
  if (above != calls.begin() && above != calls.end()) {
    const MeasuredCall& low = *(above - 1);
    const double share = std::log(real(batch) / real(low.batch)) / std::log(real(above->batch) / real(low.batch));
    return std::exp((1.0 - share) * ratio(low) + share * ratio(*above));
  }
  const MeasuredCall& end = above == calls.end() ? calls.back() : calls.front();
  const double doublings = std::abs(std::log2(real(batch) / real(end.batch)));
  return std::exp(ratio(end) * (measured_weight + (1.0 - measured_weight) * std::exp2(-doublings)));
}

struct CallMemory {
  Bytes weights{}, sample{}, workspace{};
  [[nodiscard]] Bytes of(std::int64_t batch) const noexcept { return weights + workspace + real(batch) * sample; }
};

[[nodiscard]] CallMemory memory_of(const BatchScenario& s, std::vector<std::string>& notes) {
  CallMemory memory;
  if (s.network) {
    const PrecisionRow& row = row_of(s.precision);
    const NetworkInference needs = inference_memory(*s.network, row.weight_bytes);
    memory.weights = real(s.instances) * needs.weights;
    // Activations of engines that compute in 8 bits are as wide as their weights.
    memory.sample = real(s.instances) * needs.per_sample;
  }
  // A context with its libraries' kernels, as of training (model/stacks/rough).
  const RoughStack stack = find_rough_stack(*s.data, "rough-train");
  memory.workspace = s.memory.workspace.value_or(stack.framework);
  memory.weights = s.memory.weights.value_or(memory.weights);
  memory.sample = s.memory.sample.value_or(memory.sample);
  if (!s.memory.workspace) {
    notes.push_back("inference.workspace = " + format(memory.workspace) + " (context and libraries; " +
                    stack.framework_source + ")");
  }
  return memory;
}

/// Batches whose times are computed: each up to 32, then four an octave.
[[nodiscard]] std::set<std::int64_t> computed_batches(std::int64_t largest) {
  std::set<std::int64_t> batches{largest};
  for (std::int64_t b = 1; b <= std::min<std::int64_t>(32, largest); ++b) {
    batches.insert(b);
  }
  for (double b = 32.0; b < real(largest); b *= std::pow(2.0, 0.25)) {
    batches.insert(static_cast<std::int64_t>(std::lround(b)));
  }
  return batches;
}

}  // namespace

const CallPoint* CallBook::point(std::int64_t batch) const noexcept {
  const auto found =
      std::find_if(points.begin(), points.end(), [&](const CallPoint& each) { return each.batch == batch; });
  return found == points.end() ? nullptr : &*found;
}

CallBook make_call_book(const BatchScenario& s) {
  std::vector<std::string> notes;
  const CallMemory memory = memory_of(s, notes);
  const Bytes all = s.device.visible_capacity().value;
  const Bytes capacity = std::min(all, s.memory.usable.value_or(all));
  std::int64_t fitting = most_samples;
  if (memory.sample > Bytes{}) {
    fitting = std::min(fitting, largest_batch(capacity, memory.weights, memory.workspace, memory.sample));
  } else if (memory.of(0) > capacity) {
    fitting = 0;
  }
  // Without a network the largest stated call ends what is known.
  const std::int64_t known = s.network ? most_samples : s.calls.back().batch;
  const std::int64_t asked = std::min(s.max_batch.value_or(most_samples), most_samples);
  const std::int64_t largest = std::clamp<std::int64_t>(std::min({asked, fitting, known}), 1, most_samples);
  if (!s.network && asked > known && s.max_batch) {
    notes.push_back("no call of more than " + std::to_string(known) + " samples is stated: larger ones are not taken");
  }
  if (!s.network && s.calls.front().batch > 1) {
    notes.push_back("a call of fewer samples than " + std::to_string(s.calls.front().batch) +
                    ", the fewest that is stated, is taken to last as long");
  }
  if (!s.network && !s.memory.sample) {
    notes.emplace_back("memory: neither a model nor inference.sample_memory says what a sample holds; none is counted");
  }

  std::optional<ModelledCalls> modelled;
  if (s.network) {
    modelled.emplace(s);
  }
  const auto time_of = [&](std::int64_t batch) {
    if (!modelled) {
      return along_measured(s.calls, batch);
    }
    const Seconds time = modelled->at(batch).total();
    if (s.calls.empty()) {
      return time;
    }
    return measured_ratio(s.calls, *modelled, batch) * time;
  };

  std::map<std::int64_t, Seconds> times;
  std::set<std::int64_t> batches = computed_batches(largest);
  for (const MeasuredCall& call : s.calls) {
    if (call.batch <= largest) {
      batches.insert(call.batch);
    }
  }
  for (const std::int64_t batch : batches) {
    times[batch] = time_of(batch);
  }
  std::vector<Seconds> curve;
  curve.reserve(static_cast<std::size_t>(largest));
  for (auto low = times.begin(); low != times.end(); ++low) {
    curve.push_back(low->second);
    const auto high = std::next(low);
    for (std::int64_t b = low->first + 1; high != times.end() && b < high->first; ++b) {
      const double share = real(b - low->first) / real(high->first - low->first);
      curve.push_back(low->second + share * (high->second - low->second));
    }
  }

  CallBook book{{}, CallCurve{std::move(curve)}, 0.0, {}, std::move(notes), {}};
  std::set<std::int64_t> told{largest};
  for (std::int64_t b = 1; b <= largest; b *= 2) {
    told.insert(b);
  }
  for (const MeasuredCall& call : s.calls) {
    told.insert(call.batch);
  }
  if (modelled && modelled->assumed()) {
    book.notes.push_back("no network was measured in " + std::string{name_of(s.precision)} + " on GPUs like " +
                         s.device.id + ": products reach what neighbours of its generation do");
  }
  if (fitting < asked && fitting < most_samples) {
    told.insert(fitting + 1);  // the first that does not fit
  }
  for (const std::int64_t batch : told) {
    CallPoint point;
    point.batch = batch;
    point.memory = memory.of(batch);
    point.fits = batch <= fitting;
    point.time = batch <= largest ? book.curve.of(batch) : time_of(batch);
    point.rate = real(batch) / point.time.raw();
    point.measured =
        std::any_of(s.calls.begin(), s.calls.end(), [&](const MeasuredCall& call) { return call.batch == batch; });
    if (modelled && !point.measured) {
      point.parts = modelled->at(batch);
    }
    if (modelled) {
      point.roof = modelled->roof(batch);
    }
    book.points.push_back(std::move(point));
  }
  if (modelled && s.deterministic) {
    for (const std::int64_t batch : told) {
      const DeterministicCost cost = modelled->deterministic_at(batch);
      if (!book.deterministic || cost.share > book.deterministic->share) {
        book.deterministic = cost;
      }
    }
  }
  const CallRates& rates = call_rates(*s.data);
  if (!s.network) {
    book.width = measured_width;
    book.width_source = "stated calls: two cards of one SKU lie 2.2 % apart (32 pairs of V100 tables)";
  } else if (!s.calls.empty()) {
    book.width = rates.width_measured;
    book.width_source = rates.width_measured_source;
  } else {
    book.width = rates.width_of(*s.engine, false);
    book.width_source = rates.width_source_of(*s.engine);
  }
  return book;
}

}  // namespace headroom
