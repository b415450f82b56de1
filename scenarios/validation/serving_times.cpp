// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/engine_terms.hpp>
#include <headroom/scenarios/plan.hpp>
#include <headroom/scenarios/serve_reader.hpp>
#include <headroom/scenarios/validation/serving_row.hpp>
#include <headroom/scenarios/validation/serving_times.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

namespace headroom {
namespace {

std::string option(const ServingConfiguration& run, std::string_view key) {
  const auto found = run.options.find(key);
  return found == run.options.end() ? std::string{} : found->second;
}

/// An option's number; nullopt when it is absent or none.
std::optional<double> number(const ServingConfiguration& run, std::string_view key) {
  const std::string text = option(run, key);
  double value = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = status == std::errc{} && end == text.data() + text.size() && value > 0.0 && value < 1e12;
  return good ? std::optional{value} : std::nullopt;
}

/// What no row can mean, as far as its times read it; empty where nothing is wrong.
std::string impossible(const ServingConfiguration& run) {
  for (const std::string_view key : {"memory_fraction", "max_num_tokens"}) {
    const std::optional<double> value = number(run, key);
    const double least = key == "max_num_tokens" ? 1.0 : 0.0;
    const double most = key == "memory_fraction" ? 1.0 : 1e12;
    if (!option(run, key).empty() && (!value || *value < least || *value > most)) {
      return "options: '" + std::string{key} + "' is " + quoted(option(run, key));
    }
  }
  constexpr std::int64_t large = 1'000'000'000;
  return impossible_size({{"layers", run.layers, 100'000},
                          {"hidden", run.hidden, large},
                          {"heads", run.heads, large},
                          {"kv_heads", run.kv_heads, large},
                          {"gpus", run.gpus, large},
                          {"tp", run.tp, large},
                          {"pp", run.pp, large},
                          {"ep", run.ep, large},
                          {"dp", run.dp, large},
                          {"max_batch", run.max_batch, large}});
}

std::optional<Precision> precision_named(std::string_view name) {
  const auto* found = std::find(precision_names.begin(), precision_names.end(), name == "fp4" ? "nvfp4" : name);
  return found == precision_names.end() ? std::nullopt
                                        : std::optional{static_cast<Precision>(found - precision_names.begin())};
}

/// Activations of products: as published; else those of the weights where they multiply as they are stored, 16 bit of
/// the formats that are unpacked.
Precision activations_of(const ServingConfiguration& run, Precision weights) {
  if (const auto stated = precision_named(run.act_dtype)) {
    return *stated;
  }
  switch (weights) {
    case Precision::int4:
    case Precision::int8: return Precision::bf16;
    case Precision::mxfp4: return Precision::bf16;
    default: return weights;
  }
}

struct MetricRow {
  std::string_view name;
  ServingMetric metric;
};
constexpr std::array metric_rows{
    MetricRow{"output_tokens_per_s", ServingMetric::output_rate},
    MetricRow{"total_tokens_per_s", ServingMetric::total_rate},
    MetricRow{"requests_per_s", ServingMetric::request_rate},
    MetricRow{"ttft_ms_mean", ServingMetric::ttft},
    MetricRow{"ttft_ms_p50", ServingMetric::ttft},
    MetricRow{"tpot_ms_mean", ServingMetric::tpot},
    MetricRow{"tpot_ms_p50", ServingMetric::tpot},
};

struct LoadRow {
  std::string_view scenario;
  ServingLoad load;
};
constexpr std::array load_rows{
    LoadRow{"static", ServingLoad::fixed_batch}, LoadRow{"offline", ServingLoad::saturated},
    LoadRow{"closed", ServingLoad::closed},      LoadRow{"interactive", ServingLoad::closed},
    LoadRow{"sustained", ServingLoad::closed},
};

bool is_latency(ServingMetric m) noexcept {
  return m == ServingMetric::ttft || m == ServingMetric::tpot || m == ServingMetric::e2e;
}

/// As an engine runs it that lets every layer look at everything.
Architecture without_windows(Architecture arch) {
  arch.window = 0;
  for (LayerVariant& variant : arch.variants) {
    variant.block.window = 0;
  }
  return arch;
}

/// Why a metric has no closed form under a load; empty where it has.
std::string without_form(ServingLoad load, ServingMetric metric, std::string_view name) {
  if (is_latency(metric) && load == ServingLoad::saturated) {
    return "metric " + quoted(name) + " of requests that were all sent at once is a queue's: simulate it";
  }
  return {};
}

}  // namespace

struct ServingTimeModel::Placed {
  ServingLayout layout;
  double replicas = 1.0;
};

ServingTimeModel::ServingTimeModel(const Sources& sources)
    : sources_{sources}, devices_{sources.catalog}, stacks_{serving_stacks()} {}

const Architecture* ServingTimeModel::architecture(const ServingConfiguration& run, bool windows) {
  std::string key = run.model + (windows ? "" : "/whole") + "/" + std::to_string(run.params_b.value_or(0.0));
  for (const std::optional<std::int64_t>& cell : {run.layers, run.hidden, run.heads, run.kv_heads, run.head_dim,
                                                  run.ffn_hidden, run.vocab, run.experts, run.top_k, run.moe_ffn}) {
    key += "/" + std::to_string(cell.value_or(0));
  }
  auto [at, fresh] = architectures_.try_emplace(key);
  if (fresh) {
    if (!run.model.empty() && sources_.models.knows(run.model)) {
      Architecture preset = sources_.models.find(run.model);
      const bool agrees = run.layers.value_or(preset.layers) == preset.layers &&
                          run.hidden.value_or(preset.hidden) == preset.hidden &&
                          run.heads.value_or(preset.heads) == preset.heads;
      if (agrees) {
        at->second = std::make_shared<Architecture>(windows ? std::move(preset) : without_windows(std::move(preset)));
      }
    }
    if (!at->second && run.layers && run.hidden && run.heads && run.kv_heads && run.vocab &&
        (run.ffn_hidden || run.moe_ffn)) {
      at->second = std::make_shared<Architecture>(architecture_of(run));
    }
  }
  return at->second.get();
}

const Node* ServingTimeModel::usual_node(const Device& device) const {
  const Node* node = sources_.catalog.reference_node(device);
  const bool staged = node != nullptr && node->topology == LinkTopology::pcie && !node->peer_access;
  return staged ? nullptr : node;
}

std::optional<ServingTimeQuestion> ServingTimeModel::question(const ServingConfiguration& run,
                                                              std::string_view metric,
                                                              std::string_view unit,
                                                              RowPrediction& refusal) {
  const auto refuse = [&](const std::string& why) {
    refusal = unsupported(why);
    return std::nullopt;
  };
  const auto* known =
      std::find_if(metric_rows.begin(), metric_rows.end(), [&](const MetricRow& m) { return m.name == metric; });
  if (known == metric_rows.end()) {
    return refuse("metric " + quoted(metric) + " in " + quoted(unit) + " is not predicted for serving yet");
  }
  const std::string scenario = option(run, "scenario");
  const auto* load =
      std::find_if(load_rows.begin(), load_rows.end(), [&](const LoadRow& l) { return l.scenario == scenario; });
  if (load == load_rows.end()) {
    return refuse("a load of scenario " + quoted(scenario) + " has no closed form: a run to simulate");
  }
  if (load->load == ServingLoad::saturated && !option(run, "requests").empty()) {
    return refuse(option(run, "requests") + " requests at once fill and drain the batch: a run to simulate");
  }
  if (const std::string none = without_form(load->load, known->metric, metric); !none.empty()) {
    return refuse(none);
  }
  if (!option(run, "speculative").empty() && option(run, "speculative") != "0") {
    return refuse("speculative decoding without a published acceptance");
  }
  const std::string missing = blank_cells({{!run.gpu.empty(), "gpu"},
                                           {run.tp.has_value(), "tp"},
                                           {!run.weight_dtype.empty(), "weight_dtype"},
                                           {run.osl.has_value(), "osl"}});
  if (!missing.empty()) {
    return refuse("not published: " + missing);
  }
  const ServingStack* stack = stack_of_release(stacks_, run.engine, run.engine_version);
  if (stack == nullptr) {
    return refuse("engine " + quoted(run.engine) + " is of no stack");
  }
  const Architecture* arch = architecture(run, stack->time.windows);
  if (arch == nullptr) {
    return refuse("the network is neither a preset nor whole in the columns");
  }
  const auto prompt = stack->prompts.find(arch->id);
  if (!run.isl && prompt == stack->prompts.end()) {
    return refuse("not published: isl");
  }
  const double isl = run.isl ? *run.isl : prompt->second;
  const std::optional<Precision> weights = precision_named(run.weight_dtype);
  const std::optional<Precision> cache =
      weights && run.kv_dtype.empty() ? default_kv_cache(stack->engine, *weights) : precision_named(run.kv_dtype);
  if (!weights || !cache) {
    return refuse("format " + quoted(weights ? run.kv_dtype : run.weight_dtype) + " is not known");
  }
  const RowDevices::Answer& found = devices_.find(run.gpu);
  if (found.device == nullptr) {
    return refuse(found.why);
  }
  const Device& device = *found.device;
  const std::string attention_dp = option(run, "attention_dp");
  const bool groups = !attention_dp.empty() && attention_dp != "0";
  if (groups && !run.ep && (run.gpus.value_or(1) > 1 || run.dp.value_or(1) > 1)) {
    return refuse("not published: ep of an attention-DP layout");
  }
  const ServingLayout layout{filled(run.tp), run.pp.value_or(1), run.ep.value_or(1)};
  const std::int64_t gpus = run.gpus.value_or(layout.gpus());
  if (const LayoutProblem p = check(*arch, layout, gpus); p.verdict != Verdict::feasible) {
    return refuse(verdict_text(p.verdict, real(p.broke), real(p.limit)));
  }
  const ReplicaFormats formats{*weights, activations_of(run, *weights), *cache};
  // The network by its place among those kept: networks of columns have no id.
  const std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(arch)) + "/" + device.id + "/" +
                          stack->time.curves + "/" + std::to_string(layout.tp) + "/" + std::to_string(layout.pp) + "/" +
                          std::to_string(layout.ep) + "/" + std::string{name_of(formats.weights)} + "/" +
                          std::string{name_of(formats.activations)} + "/" + std::string{name_of(formats.cache)};
  auto [at, fresh] = replicas_.try_emplace(key);
  if (fresh) {
    try {
      const EngineKernels kernels{stack->time.curves, {Routing::power_law, iteration_physics().routing}};
      at->second = std::make_shared<Replica>(*arch, device, usual_node(device), kernels, layout, formats);
      least_[key] = std::make_shared<LeastIteration>(*arch, device, layout, formats);
    } catch (const ConfigError& error) {
      refused_[key] = error.what();
    }
  }
  if (!at->second) {
    return refuse(refused_[key]);
  }
  ServingTimeQuestion q;
  q.replica = at->second;
  q.least = least_[key];
  q.stack = stack;
  q.kind = load->load;
  q.metric = known->metric;
  q.experts = arch->moe.has_value();
  q.replicas = real(gpus / layout.gpus());
  q.to_unit = is_latency(q.metric) ? 1e3 : 1.0;
  q.load.isl = isl;
  q.load.osl = *run.osl;
  q.load.groups = real(layout.attention_groups());
  q.load.stages = real(layout.pp);
  // What runs at once: as many as are asked, no more than the engine takes and its cache holds.
  const CompiledServingMemory memory = compile_serving_memory(*arch, device, stack->memory, layout, *weights, *cache);
  ServingLimits limits;
  limits.memory_fraction = number(run, "memory_fraction").value_or(stack->default_fraction(layout.tp));
  limits.max_num_seqs = run.max_batch.value_or(stack->default_max_num_seqs(device));
  limits.max_num_tokens =
      static_cast<std::int64_t>(number(run, "max_num_tokens").value_or(real(stack->default_max_num_tokens(device))));
  const double held = isl + (stack->reserves_output() ? 1.0 : 0.5) * *run.osl;
  limits.sequence_tokens = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(held)));
  const ServingMemory m = serving_memory(memory, limits);
  if (m.capacity < 1) {
    return refuse(verdict_text(m.verdict, m.broke, m.limit));
  }
  q.load.chunk = real(limits.max_num_tokens);
  const double most = real(m.max_sequences);
  const bool counted = q.kind == ServingLoad::fixed_batch || q.kind == ServingLoad::closed;
  const std::optional<double> asked = run.concurrency             ? run.concurrency
                                      : scenario == "interactive" ? std::optional{1.0}
                                                                  : std::nullopt;
  if (counted && !asked) {
    return refuse("not published: concurrency");
  }
  if (counted) {
    q.replicas = std::min(q.replicas, std::max(1.0, *asked));  // fewer requests than replicas leave some idle
  }
  q.load.concurrency = counted ? *asked / q.replicas : most;
  q.load.batch = q.kind == ServingLoad::fixed_batch ? q.load.concurrency : std::min(q.load.concurrency, most);
  return q;
}

namespace {

/// The question's load under a cost of iterations, in the row's unit.
double answer(const ServingTimeQuestion& q, const IterationCost& step, const SteadyHabits& habits) {
  const SteadyState s = q.kind == ServingLoad::fixed_batch ? static_batch(step, q.load, habits)
                        : q.kind == ServingLoad::closed    ? closed_loop(step, q.load, habits)
                                                           : saturated(step, q.load, habits);
  switch (q.metric) {
    case ServingMetric::output_rate: return q.replicas * s.output_tokens_per_s;
    case ServingMetric::total_rate: return q.replicas * s.requests_per_s * (q.load.isl + q.load.osl);
    case ServingMetric::request_rate: return q.replicas * s.requests_per_s;
    case ServingMetric::ttft: return q.to_unit * s.ttft.raw();
    case ServingMetric::tpot: return q.to_unit * s.tpot.raw();
    case ServingMetric::e2e: break;
  }
  return q.to_unit * (s.ttft.raw() + (q.load.osl - 1.0) * s.tpot.raw());
}

constexpr SteadyHabits no_habits{Seconds{}, 0.0, 0.0, 0.0, 0.0};

}  // namespace

double predict_time(const ServingTimeQuestion& q,
                    const KernelTerms& kernels,
                    const IterationStack& stack,
                    const IterationPhysics& physics) {
  const IterationCost step = [&](const IterationMix& mix) {
    return engine_terms(*q.replica, mix, kernels(mix), stack, physics).total();
  };
  return answer(q, step, {stack.request, stack.steps, stack.burst, stack.interference, physics.bubble});
}

double sheet_time(const ServingTimeQuestion& q) {
  return answer(
      q, [&](const IterationMix& mix) { return q.least->time(mix, ExpertsRead::expected); }, no_habits);
}

double fastest_time(const ServingTimeQuestion& q) {
  const IterationCost step = [&](const IterationMix& mix) { return q.least->time(mix, ExpertsRead::least); };
  ServingTimeQuestion bound = q;
  if (q.kind == ServingLoad::closed && q.to_unit != 1.0) {
    bound.load.batch = bound.load.concurrency = 1.0;  // nobody in front, and whatever the engine lets run at once
    return answer(bound, step, no_habits);
  }
  if (q.kind == ServingLoad::fixed_batch || q.to_unit != 1.0) {
    return answer(bound, step, no_habits);
  }
  // How many run at once is the engine's to choose and the memory model's to guess: the best of a wide range.
  double best = 0.0;
  for (const double factor : {0.5, 1.0, 2.0, 4.0, 8.0}) {
    bound.load.batch = std::max(1.0, factor * q.load.batch);
    bound.load.concurrency = std::max(q.load.concurrency, bound.load.batch);
    best = std::max(best, answer(bound, step, no_habits));
  }
  return best;
}

}  // namespace headroom
