// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/scenarios/measured/power_limits.hpp>
#include <headroom/scenarios/measured/serving_disaggregated.hpp>
#include <headroom/scenarios/measured/serving_launches.hpp>
#include <headroom/scenarios/measured/serving_place.hpp>
#include <headroom/scenarios/measured/serving_row.hpp>
#include <headroom/scenarios/measured/serving_watts.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <vector>

namespace headroom {
namespace {

std::optional<Precision> precision_of(std::string_view name) {
  const auto* found = std::find(precision_names.begin(), precision_names.end(), name == "fp4" ? "nvfp4" : name);
  return found == precision_names.end() ? std::nullopt
                                        : std::optional{static_cast<Precision>(found - precision_names.begin())};
}

/// Columns required for memory that this row leaves blank, for print.
std::string missing_cells(const ServingConfiguration& run) {
  return blank_cells({{run.layers.has_value(), "layers"},
                      {run.hidden.has_value(), "hidden"},
                      {run.heads.has_value(), "heads"},
                      {run.kv_heads.has_value(), "kv_heads (MLA is not in the columns)"},
                      {run.ffn_hidden.has_value() || run.moe_ffn.has_value(), "ffn_hidden"},
                      {run.vocab.has_value(), "vocab"},
                      {run.tp.has_value(), "tp"},
                      {!run.gpu.empty(), "gpu"},
                      {!run.weight_dtype.empty(), "weight_dtype"}});
}

/// The first cell that is not a positive number within bounds, for print.
std::string impossible_cell(const ServingConfiguration& run) {
  constexpr std::int64_t large = 1'000'000'000;
  return impossible_size({{"layers", run.layers, 100'000},
                          {"hidden", run.hidden, large},
                          {"heads", run.heads, large},
                          {"kv_heads", run.kv_heads, large},
                          {"head_dim", run.head_dim, large},
                          {"ffn_hidden", run.ffn_hidden, large},
                          {"vocab", run.vocab, large},
                          {"gpus", run.gpus, large},
                          {"tp", run.tp, large},
                          {"pp", run.pp, large},
                          {"ep", run.ep, large},
                          {"dp", run.dp, large},
                          {"max_batch", run.max_batch, large}});
}

/// Number of an option; nullopt when absent, NaN when it is not a number.
std::optional<double> option(const ServingConfiguration& run, std::string_view key) {
  const auto found = run.options.find(key);
  if (found == run.options.end()) {
    return std::nullopt;
  }
  const double value = whole_real(found->second).value_or(0.0);
  return value > 0.0 && value < 1e12 ? value : std::numeric_limits<double>::quiet_NaN();
}

std::int64_t whole_option(const ServingConfiguration& run, std::string_view key, std::int64_t otherwise) {
  const std::optional<double> value = option(run, key);
  return value ? static_cast<std::int64_t>(*value) : otherwise;
}

/// A mean first token of a closed loop with drafts, which has a closed form that was nearer to 50 such runs of
/// DeepSeek-R1 than their simulation (a median of 43 against 48 %), and a hundred times as fast.
bool drafts_in_loop(const ServingConfiguration& run, std::string_view metric) {
  const std::string method = row_option(run, "speculative");
  return (metric == "ttft_ms_mean" || metric == "ttft_ms_p50") && !method.empty() && method != "0" &&
         scenario_of(run) == "closed";
}

ServingQuantity quantity_of(ServingMetric metric) noexcept {
  return metric == ServingMetric::ttft ? ServingQuantity::ttft
         : is_time(metric)             ? ServingQuantity::tpot
                                       : ServingQuantity::rate;
}

std::string impossible_option(const ServingConfiguration& run) {
  for (const std::string_view key : {"memory_fraction", "max_seq_len", "max_num_tokens"}) {
    const std::optional<double> value = option(run, key);
    if (value && (std::isnan(*value) || (key == "memory_fraction" && *value > 1.0))) {
      return "options: '" + std::string{key} + "' is " + quoted(run.options.find(key)->second);
    }
  }
  return {};
}

/// Widens an interval by that of another answer; false when one of them has none.
bool widen_interval(RowPrediction& answer, const RowPrediction& other) {
  if (answer.status != RowStatus::ok || other.status != RowStatus::ok) {
    return false;
  }
  answer.low = std::min(answer.low, other.low);
  answer.high = std::max(answer.high, other.high);
  return true;
}

/// Widens an interval by that of another answer, and its bound by the other's.
void widen(RowPrediction& answer, const RowPrediction& other, bool rate) {
  if (!widen_interval(answer, other)) {
    return;
  }
  answer.fastest = rate ? std::max(answer.fastest, other.fastest) : std::min(answer.fastest, other.fastest);
}

/// An answer at the drafts that are accepted, as wide as those at both ends of them, and the bound of a run whose every
/// draft is accepted; `at` and `fastest` take RowDrafts::Accepted.
template <class Answer, class Bound>
RowPrediction at_ends_of(const RowDrafts& drafts, const Answer& at, const Bound& fastest) {
  RowPrediction answer = at(drafts.accepted);
  if (answer.status == RowStatus::ok) {
    answer.fastest = fastest(drafts.most());
  }
  if (drafts.drafted > 0) {
    widen_interval(answer, at(drafts.low));
    widen_interval(answer, at(drafts.high));
    answer.assumed = format_number(drafts.accepted.tokens) + " tokens a step (" + format_number(drafts.low.tokens) +
                     " to " + format_number(drafts.high.tokens) + ", published of " + drafts.of + ")";
  }
  return answer;
}

/// The same of a question whose load has the tokens that a step makes; `predict`, `sheet` and `fastest` take it.
template <class Question, class Predict>
RowPrediction with_drafts(const Question& question,
                          SteadyLoad Question::*load,
                          const RowDrafts& drafts,
                          const ServingErrors& errors,
                          const Predict& predict,
                          double (*sheet)(const Question&),
                          double (*fastest)(const Question&)) {
  const auto asked = [&](const RowDrafts::Accepted& accepted) {
    Question at = question;
    (at.*load).step_tokens = accepted.tokens;
    return at;
  };
  const auto at = [&](const RowDrafts::Accepted& accepted) {
    const Question of = asked(accepted);
    const double predicted = predict(of);
    return RowPrediction{RowStatus::ok, {}, predicted, errors.low * predicted, errors.high * predicted, sheet(of)};
  };
  return at_ends_of(drafts, at, [&](const RowDrafts::Accepted& accepted) { return fastest(asked(accepted)); });
}

}  // namespace

std::optional<Engine> engine_of(std::string_view name) {
  std::string lower{name};
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (std::size_t i = 0; i < engine_names.size(); ++i) {
    if (lower == engine_names[i]) {
      return static_cast<Engine>(i);
    }
  }
  return lower == "trt-llm" || lower == "trtllm" ? std::optional{Engine::tensorrt_llm} : std::nullopt;
}

Architecture architecture_of(const ServingConfiguration& run) {
  Architecture arch;
  arch.layers = run.layers.value_or(1);
  arch.hidden = run.hidden.value_or(1);
  arch.heads = run.heads.value_or(1);
  arch.kv_heads = run.kv_heads.value_or(arch.heads);
  arch.head_dim = run.head_dim.value_or(std::max<std::int64_t>(1, arch.hidden / arch.heads));
  arch.ffn_hidden = run.ffn_hidden.value_or(run.moe_ffn.value_or(1));
  arch.vocab = run.vocab.value_or(1);
  arch.gated_mlp = true;
  if (run.experts.value_or(0) > 1) {
    Moe moe;
    moe.experts = filled(run.experts);
    moe.top_k = run.top_k.value_or(1);
    moe.expert_ffn_hidden = run.moe_ffn.value_or(arch.ffn_hidden);
    arch.moe = moe;
  }
  if (!run.params_b) {
    return arch;
  }
  Architecture nearest = arch;
  double least = std::numeric_limits<double>::max();
  for (const bool gated : {true, false}) {
    for (const bool tied : {false, true}) {
      arch.gated_mlp = gated;
      arch.tied_embeddings = tied;
      const double miss = std::abs(count_parameters(arch).total - 1e9 * *run.params_b);
      if (miss < least) {
        least = miss;
        nearest = arch;
      }
    }
  }
  return nearest;
}

const ServingStack& ServingRowModel::stack(Engine engine) {
  std::optional<ServingStack>& slot = stacks_[static_cast<std::size_t>(engine)];
  if (!slot) {
    slot = find_serving_stack(sources_.data, engine);
  }
  return *slot;
}

void ServingRowModel::set_stack(ServingStack stack) {
  std::optional<ServingStack>& slot = stacks_[static_cast<std::size_t>(stack.engine)];
  slot = std::move(stack);
}

std::optional<ServingRowModel::Question> ServingRowModel::question(const ServingConfiguration& run,
                                                                   RowPrediction& refusal) {
  const auto refuse = [&](RowPrediction why) {
    refusal = std::move(why);
    return std::nullopt;
  };
  for (const std::string& bad : {run.broken, impossible_cell(run), impossible_option(run)}) {
    if (!bad.empty()) {
      return refuse(rejected(bad));
    }
  }
  if (const std::string missing = missing_cells(run); !missing.empty()) {
    return refuse(unsupported("not published: " + missing));
  }
  const std::optional<Engine> engine = engine_of(run.engine);
  if (!engine) {
    return refuse(unsupported("engine " + quoted(run.engine) + " is none of vLLM, TensorRT-LLM, SGLang"));
  }
  const std::optional<Precision> weights = precision_of(run.weight_dtype);
  const std::optional<Precision> kv =
      weights && run.kv_dtype.empty() ? default_kv_cache(stack(*engine), *weights) : precision_of(run.kv_dtype);
  if (!weights || !kv) {
    return refuse(unsupported("format " + quoted(weights ? run.kv_dtype : run.weight_dtype) + " is not known"));
  }
  const RowDevices::Answer& found = devices_.find(run.gpu);
  if (found.device == nullptr) {
    return refuse(unsupported(found.why));
  }
  const std::int64_t tokens =
      whole_option(run, "max_seq_len",
                   run.isl && run.osl ? static_cast<std::int64_t>(std::ceil(*run.isl + *run.osl)) : std::int64_t{0});
  if (tokens < 1) {
    return refuse(unsupported("not published: isl, osl or max_seq_len"));
  }
  const Architecture arch = architecture_of(run);
  const ServingLayout layout = row_layout(run);
  const std::int64_t gpus = run.gpus.value_or(layout.gpus());
  if (const LayoutProblem p = check(arch, layout, gpus); p.verdict != Verdict::feasible) {
    return refuse(unsupported(verdict_text(p.verdict, static_cast<double>(p.broke), static_cast<double>(p.limit))));
  }
  const ServingStack& engine_stack = stack(*engine);
  Question q;
  q.compiled = compile_serving_memory(arch, *found.device, engine_stack.memory, layout, *weights, *kv);
  q.limits.memory_fraction = option(run, "memory_fraction").value_or(engine_stack.default_fraction(layout.tp));
  q.limits.max_num_tokens = whole_option(run, "max_num_tokens", engine_stack.default_max_num_tokens(*found.device));
  q.limits.max_num_seqs = run.max_batch.value_or(engine_stack.default_max_num_seqs(*found.device));
  q.limits.sequence_tokens = tokens;
  const std::int64_t whole_replicas = gpus / layout.gpus();
  q.replicas = static_cast<double>(whole_replicas);
  // A published batch limit caps what runs. The engine's default does not: the row counts what the pool holds.
  q.cap = run.max_batch ? static_cast<double>(*run.max_batch * layout.attention_groups()) : 0x1p53;
  return q;
}

std::optional<double> ServingRowModel::exact_capacity(const ServingConfiguration& run) {
  RowPrediction refusal;
  const std::optional<Question> q = question(run, refusal);
  if (!q) {
    return std::nullopt;
  }
  const ServingMemory m = serving_memory(q->compiled, q->limits);
  return q->replicas * static_cast<double>(q->compiled.layout.attention_groups()) * (m.pool / m.sequence);
}

RowPrediction ServingRowModel::predict_times(const ServingConfiguration& run,
                                             std::string_view metric,
                                             std::string_view unit) {
  for (const std::string& bad : {run.broken, impossible_cell(run), impossible_option(run)}) {
    if (!bad.empty()) {
      return rejected(bad);
    }
  }
  if (asks_for_power(metric)) {
    return predict_power(run, metric);
  }
  if (asks_for_deployment(run, metric)) {
    return predict_deployment(run, metric);
  }
  if (asks_for_run(run, metric) && !drafts_in_loop(run, metric)) {
    return predict_run(run, metric, unit);
  }
  RowPrediction refusal;
  const std::optional<ServingTimeQuestion> q = times_.question(run, metric, unit, refusal);
  if (!q) {
    return refusal;
  }
  const ServingErrors errors = errors_of(run, q->stack->id, quantity_of(q->metric), q->experts);
  const KernelTerms kernels = [&](const IterationMix& mix) { return q->replica->terms(mix); };
  const auto predicted = [&](const ServingTimeQuestion& asked) {
    return predict_time(asked, kernels, q->stack->time, iteration_physics(sources_.data));
  };
  return with_drafts(*q, &ServingTimeQuestion::load, q->drafts, errors, predicted, sheet_time, fastest_time);
}

ServingErrors ServingRowModel::errors_of(const ServingConfiguration& run,
                                         const std::string& stack,
                                         ServingQuantity quantity,
                                         bool experts) {
  const Device& device = *devices_.find(run.gpu).device;
  const ServingErrors errors =
      serving_confidence(sources_.data).of(stack, quantity, experts, device.id, weights_named(run.weight_dtype));
  return of_unmeasured(errors, device, unmeasured_errors(sources_.data));
}

RowPrediction ServingRowModel::predict_power(const ServingConfiguration& run, std::string_view metric) {
  RowPrediction refusal;
  const std::optional<ServingWatts> found = serving_watts(run, times_, sources_.catalog, refusal);
  if (!found) {
    return refusal;
  }
  const double width = std::log1p(power_form(sources_.data).serving_width);
  if (metric == "power_w_per_gpu") {
    return {RowStatus::ok, {}, found->watts, found->watts / std::exp(width), found->watts * std::exp(width),
            found->limit};
  }
  // The errors of power and of the rate are taken as independent.
  const ServingErrors rate = errors_of(run, found->question.stack->id, ServingQuantity::rate, found->question.experts);
  const double joules = found->gpus * found->watts / found->output_rate;
  return {RowStatus::ok,
          {},
          joules,
          joules * std::exp(-std::hypot(width, std::log(rate.high))),
          joules * std::exp(std::hypot(width, std::log(rate.low))),
          found->gpus * found->limit / found->sheet_rate};
}

RowPrediction ServingRowModel::predict_deployment(const ServingConfiguration& run, std::string_view metric) {
  RowPrediction refusal;
  const std::optional<DisaggregatedQuestion> q =
      disaggregated_question(run, metric, sources_.catalog, times_.places(), refusal);
  if (!q) {
    return refusal;
  }
  const ServingErrors errors =
      errors_of(run, q->decode.stack->id, quantity_of(q->metric), q->decode.arch->moe.has_value());
  const auto predicted = [&](const DisaggregatedQuestion& asked) {
    return headroom::predict_deployment(asked, iteration_physics(sources_.data));
  };
  return with_drafts(*q, &DisaggregatedQuestion::decode_load, q->decode.drafts, errors, predicted, sheet_deployment,
                     fastest_deployment);
}

RowPrediction ServingRowModel::predict_run(const ServingConfiguration& run,
                                           std::string_view metric,
                                           std::string_view unit) {
  RowPrediction refusal;
  const std::optional<SimulatedQuestion> q = simulated_question(run, metric, unit, times_.places(), refusal);
  if (!q) {
    return refusal;
  }
  const bool experts = q->placed.arch->moe.has_value();
  const ServingErrors rate = errors_of(run, q->placed.stack->id, ServingQuantity::rate, experts);
  const ServingErrors queue = errors_of(run, q->placed.stack->id, in_queue(q->quantity()), experts);
  const ServingErrors errors = errors_of_run(*q, runs_, rate, queue);
  const auto at = [&](const RowDrafts::Accepted& accepted) {
    SimulatedQuestion asked = *q;
    double more = 1.0;
    if (q->limits_kept.empty()) {
      asked.set_accepted(accepted);
    } else if (q->rate_at_limits()) {
      // Times at the limits are the limits' whatever is accepted; as many more requests keep them as a step yields
      // tokens.
      more = accepted.tokens / q->placed.drafts.accepted.tokens;
    }
    const double predicted = more * runs_.answer(asked);
    if (!std::isfinite(predicted) || predicted <= 0.0) {
      return unsupported("no request of the run was answered, or none with a second token");
    }
    return RowPrediction{RowStatus::ok,         {}, predicted, errors.low * predicted, errors.high * predicted,
                         simulated_sheet(asked)};
  };
  const auto fastest = [&](const RowDrafts::Accepted& accepted) {
    SimulatedQuestion asked = *q;
    asked.placed.drafts.accepted = accepted;
    return simulated_fastest(asked);
  };
  return at_ends_of(q->placed.drafts, at, fastest);
}

namespace {

bool is_rate(std::string_view metric) noexcept {
  return metric.ends_with("_per_s");
}

/// Everything of a row that decides which of its layouts is the fastest.
std::string layout_key(const ServingConfiguration& run) {
  std::string key = run.model + "/" + run.gpu + "/" + run.weight_dtype + "/" + run.act_dtype + "/" + run.kv_dtype +
                    "/" + run.engine + "/" + run.engine_version;
  for (const double number : {static_cast<double>(run.gpus.value_or(0)), run.isl.value_or(0.0), run.osl.value_or(0.0),
                              run.concurrency.value_or(0.0), run.request_rate.value_or(0.0), run.params_b.value_or(0.0),
                              static_cast<double>(run.max_batch.value_or(0))}) {
    key += "/" + shortest_text(number);
  }
  for (const auto& [name, value] : run.options) {
    key += "/" + name + "=" + value;
  }
  return key;
}

}  // namespace

RowPrediction ServingRowModel::predict_any_layout(const ServingConfiguration& run,
                                                  std::string_view metric,
                                                  std::string_view unit) {
  auto [at, fresh] = layouts_.try_emplace(layout_key(run));
  std::vector<ServingConfiguration>& found = at->second;
  RowPrediction refusal = unsupported("not published: tp");
  const Architecture* network = times_.places().network_of(run);
  if (fresh && network != nullptr) {
    std::vector<ServingConfiguration> layouts = possible_layouts(run, *network);
    std::size_t best = layouts.size();
    double highest = 0.0;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      const RowPrediction rate = predict_stated(layouts[i], "requests_per_s", "1/s");
      if (rate.status != RowStatus::ok) {
        refusal = rate;
      } else if (rate.predicted > highest) {
        highest = rate.predicted;
        best = i;
      }
    }
    if (best < layouts.size()) {
      found.push_back(layouts[best]);
      for (const ServingConfiguration& layout : layouts) {
        const std::int64_t ranks = filled(layout.tp);
        const std::int64_t taken = filled(layouts[best].tp);
        if (ranks == 2 * taken || 2 * ranks == taken) {
          found.push_back(layout);
        }
      }
    }
  }
  if (found.empty()) {
    return refusal;
  }
  RowPrediction answer = predict_stated(found.front(), metric, unit);
  for (std::size_t i = 1; i < found.size(); ++i) {
    widen(answer, predict_stated(found[i], metric, unit), is_rate(metric));
  }
  return answer;
}

RowPrediction ServingRowModel::predict(const ServingConfiguration& run,
                                       std::string_view metric,
                                       std::string_view unit) {
  if (const std::string wrong = contradiction(run); !wrong.empty()) {
    return rejected(wrong);
  }
  const bool timed = metric != "max_concurrent_sequences";  // a count of sequences is of a layout that is stated
  const auto any = [&](const ServingConfiguration& one) {
    return timed && leaves_layout_open(one) ? predict_any_layout(one, metric, unit) : predict_stated(one, metric, unit);
  };
  RowPrediction answer = any(run);
  for (const std::string_view end : {"prompt_tokens_low", "prompt_tokens_high"}) {
    if (const std::optional<double> tokens = row_number(run, end)) {
      ServingConfiguration other = run;
      other.isl = tokens;
      widen(answer, any(other), is_rate(metric));
    }
  }
  for (const std::string_view end : {"launched_places_low", "launched_places_high"}) {
    if (const std::optional<double> places = row_number(run, end)) {
      ServingConfiguration other = run;
      other.max_batch = static_cast<std::int64_t>(*places);
      if (const std::optional<double> per = row_number(run, "requests_per_place")) {
        other.options["requests"] = shortest_text(std::max(1.0, std::round(*per * *places)));
      }
      widen(answer, any(other), is_rate(metric));
    }
  }
  return answer;
}

namespace {

/// The answer where any of several deployments may be the row's: in the middle of the least and the most (in the
/// logarithm), as wide as all of them. One that is not answered leaves the row unanswered.
RowPrediction between(const std::vector<RowPrediction>& answers, bool rate) {
  RowPrediction all = answers.front();
  double least = all.predicted, most = all.predicted;
  for (const RowPrediction& one : answers) {
    if (one.status != RowStatus::ok) {
      return one;
    }
    widen(all, one, rate);
    least = std::min(least, one.predicted);
    most = std::max(most, one.predicted);
  }
  all.predicted = std::sqrt(least * most);
  for (std::size_t i = 1; i < answers.size(); ++i) {
    all.assumed += "; or " + answers[i].assumed;
  }
  return all;
}

/// Of deployments with and without drafts whose number nobody published, the drafts take as many as a launch of the
/// network elsewhere states at most, and widen the answer without moving it.
constexpr std::string_view widest_drafts = "3";

}  // namespace

RowPrediction ServingRowModel::predict(const RunRow& row) {
  if (networks_.knows(row.serving)) {
    return networks_.predict(row);
  }
  LaunchedRow filled = launched(row, published_launches(sources_.data));
  limit_power(filled, sources_.data, row);
  const auto answered = [&](const LaunchedRow& one) {
    RowPrediction answer = predict(one.run, row.metric, row.unit);
    answer.assumed = one.assumed + (one.assumed.empty() || answer.assumed.empty() ? "" : "; ") + answer.assumed;
    return answer;
  };
  const std::vector<LaunchedRow> deployments = deployments_of(row, filled, published_deployments(sources_.data));
  if (deployments.empty()) {
    return answered(filled);
  }
  std::vector<RowPrediction> answers, open;
  for (LaunchedRow one : deployments) {
    if (one.open_drafts && deployments.size() > 1) {
      one.run.options["draft_tokens"] = widest_drafts;
      open.push_back(answered(one));
    } else {
      answers.push_back(answered(one));
    }
  }
  if (answers.empty()) {
    return unsupported("several deployments with drafts of an unpublished number have its lengths and clients");
  }
  RowPrediction answer = between(answers, is_rate(row.metric));
  for (const RowPrediction& one : open) {
    widen(answer, one, is_rate(row.metric));
    answer.assumed += answer.status == RowStatus::ok ? "; or " + one.assumed : "";
  }
  return answer;
}

RowPrediction ServingRowModel::predict_stated(const ServingConfiguration& run,
                                              std::string_view metric,
                                              std::string_view unit) {
  if (metric != "max_concurrent_sequences") {
    return predict_times(run, metric, unit);
  }
  RowPrediction refusal;
  const std::optional<Question> q = question(run, refusal);
  if (!q) {
    return refusal;
  }
  const ServingMemory m = serving_memory(q->compiled, q->limits);
  if (m.capacity < 1) {
    return unsupported(verdict_text(m.verdict, m.broke, m.limit));
  }
  const auto answer = [&](std::int64_t sequences) {
    return q->replicas * std::min(q->cap, static_cast<double>(sequences));
  };
  // Counts are whole, so the interval reaches at least one sequence to either side.
  const double low = std::min(answer(m.capacity_low), answer(m.capacity - 1));
  const double high = std::max(answer(m.capacity_high), answer(m.capacity + 1));
  const Bytes sheet = q->compiled.device - m.terms[MemoryTerm::weights];
  return {RowStatus::ok, {}, answer(m.capacity), low, high, q->replicas * (sheet / m.sequence)};
}

}  // namespace headroom
