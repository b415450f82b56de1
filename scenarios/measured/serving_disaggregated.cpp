// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/scenarios/measured/serving_disaggregated.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace headroom {
namespace {

struct DeploymentMetric {
  std::string_view name;
  ServingMetric metric;
  bool median;
};
constexpr std::array deployment_metrics{
    DeploymentMetric{"output_tokens_per_s", ServingMetric::output_rate, false},
    DeploymentMetric{"total_tokens_per_s", ServingMetric::total_rate, false},
    DeploymentMetric{"requests_per_s", ServingMetric::request_rate, false},
    DeploymentMetric{"ttft_ms_mean", ServingMetric::ttft, false},
    DeploymentMetric{"ttft_ms_p50", ServingMetric::ttft, true},
    DeploymentMetric{"tpot_ms_mean", ServingMetric::tpot, false},
    DeploymentMetric{"tpot_ms_p50", ServingMetric::tpot, true},
};

const DeploymentMetric* deployment_metric(std::string_view name) {
  const auto* found = std::find_if(deployment_metrics.begin(), deployment_metrics.end(),
                                   [&](const DeploymentMetric& m) { return m.name == name; });
  return found == deployment_metrics.end() ? nullptr : found;
}

/// Rate at which a GPU sends cache to another pool: over NVLink where one domain holds both pools, else by its NICs.
std::optional<BytesPerSecond> sending_rate(const Device& device, const Node* node, std::int64_t gpus) {
  const std::int64_t joined = std::max<std::int64_t>(device.scale_up.domain, node != nullptr ? node->gpus : 1);
  if (gpus <= joined && joined > 1) {
    return hosts_view(device, node, 2).inside_pair;
  }
  return node != nullptr ? node->scale_out_per_gpu() : std::nullopt;
}

SteadyLoad load_of(const PlacedRow& placed, double isl, double osl) {
  SteadyLoad load;
  load.isl = isl;
  load.osl = osl;
  load.groups = real(placed.layout.attention_groups());
  load.stages = real(placed.layout.pp);
  load.chunk = real(placed.limits.max_num_tokens);
  load.queries = placed.drafts.queries();
  load.step_tokens = placed.drafts.accepted.tokens;
  return load;
}

double answer(const DisaggregatedQuestion& q, const SteadyState& s) {
  switch (q.metric) {
    case ServingMetric::output_rate: return s.output_tokens_per_s;
    case ServingMetric::total_rate: return s.requests_per_s * (q.decode_load.isl + q.decode_load.osl);
    case ServingMetric::input_rate: return s.requests_per_s * q.decode_load.isl;
    case ServingMetric::request_rate: return s.requests_per_s;
    case ServingMetric::ttft: return q.to_unit * s.ttft.raw();
    case ServingMetric::tpot: return q.to_unit * s.tpot.raw();
    case ServingMetric::running:
    case ServingMetric::e2e: break;
  }
  return q.to_unit * (s.ttft.raw() + (q.decode_load.osl - 1.0) * s.tpot.raw());
}

IterationCost engine_cost(const PlacedRow& placed, const IterationPhysics& physics) {
  const IterationCost engine = [&placed, &physics](const IterationMix& mix) {
    return engine_terms(*placed.replica, mix, placed.replica->terms(mix), placed.stack->time, physics).total();
  };
  return [&placed, engine](const IterationMix& mix) {
    return engine(mix) + drafting_seconds(placed.drafts, *placed.replica, placed.stack->time, engine, mix);
  };
}

IterationCost least_cost(const PlacedRow& placed, ExpertsRead read) {
  return [&placed, read](const IterationMix& mix) { return placed.least->time(mix, read); };
}

constexpr SteadyHabits no_pool_habits{Seconds{}, 0.0, 0.0, 0.0, 0.0};

}  // namespace

ServingConfiguration prefilling(const ServingConfiguration& run) {
  ServingConfiguration prefill = run;
  const auto whole = [&](std::string_view key) {
    return static_cast<std::int64_t>(row_number(run, key).value_or(1.0));
  };
  const std::int64_t groups = whole("prefill_attention_dp");
  prefill.tp = whole("prefill_tp");
  prefill.pp = whole("prefill_pp");
  // Attention-DP runs attention and experts over the same ranks, whatever the row leaves blank.
  const bool cut = row_number(run, "prefill_moe_tp").value_or(1.0) > 1.0;
  prefill.ep = std::max(whole("prefill_ep"), groups > 1 && !cut ? groups * *prefill.tp : std::int64_t{1});
  prefill.dp = groups;
  prefill.gpus.reset();
  prefill.max_batch.reset();
  prefill.options["pool"] = "prefill";
  prefill.options.erase("attention_dp");
  prefill.options["decode_moe_tp"] = row_option(run, "prefill_moe_tp");
  return prefill;
}

std::optional<CacheTransfer> cache_transfer(const PlacedRow& prefill,
                                            const Device& device,
                                            const Catalog& catalog,
                                            std::int64_t gpus) {
  const std::optional<BytesPerSecond> rate = sending_rate(device, catalog.reference_node(device), gpus);
  if (!rate) {
    return std::nullopt;
  }
  Bytes most{};
  for (int i = 0; i < prefill.memory.stage_count; ++i) {
    const ServingStage& stage = prefill.memory.stages[static_cast<std::size_t>(i)];
    most = std::max(most, stage.sequence(prefill.isl, 1.0));
  }
  return CacheTransfer{most / prefill.isl, *rate, Seconds{}};
}

bool asks_for_deployment(const ServingConfiguration& run, std::string_view metric) {
  return deployment_metric(metric) != nullptr && row_option(run, "pool").empty() && !keeps_limits(run) &&
         row_number(run, "prefill_workers") && row_number(run, "decode_workers");
}

std::optional<DisaggregatedQuestion> disaggregated_question(const ServingConfiguration& run,
                                                            std::string_view metric,
                                                            const Catalog& catalog,
                                                            ServingPlaces& places,
                                                            RowPrediction& refusal) {
  const auto refuse = [&](const std::string& why) {
    refusal = unsupported(why);
    return std::nullopt;
  };
  if (!run.concurrency) {
    return refuse("not published: concurrency");
  }
  ServingConfiguration decoding = run;
  decoding.disaggregated = true;
  std::optional<PlacedRow> decode = places.place(decoding, refusal);
  if (!decode) {
    return std::nullopt;
  }
  std::optional<PlacedRow> prefill = places.place(prefilling(run), refusal);
  if (!prefill) {
    refusal.why = "prefilling workers: " + refusal.why;
    return std::nullopt;
  }
  const DeploymentMetric& asked = *deployment_metric(metric);
  DisaggregatedQuestion q;
  q.prefill = std::move(*prefill);
  q.decode = std::move(*decode);
  q.prefill.replicas = static_cast<std::int64_t>(*row_number(run, "prefill_workers"));
  q.prefill_load = load_of(q.prefill, q.decode.isl, q.decode.osl);
  q.decode_load = load_of(q.decode, q.decode.isl, q.decode.osl);
  q.decode_load.client = client_facts(run);
  q.clients = std::max(1.0, *run.concurrency);
  q.places = row_number(run, "decode_places").value_or(0.0);
  q.metric = asked.metric;
  q.median = asked.median;
  q.to_unit = asked.metric == ServingMetric::ttft || asked.metric == ServingMetric::tpot ? 1e3 : 1.0;
  const Device& device = *places.device_of(run);
  const std::int64_t gpus = q.prefill.replicas * q.prefill.layout.gpus() + q.decode.replicas * q.decode.layout.gpus();
  const std::optional<CacheTransfer> transfer = cache_transfer(q.prefill, device, catalog, gpus);
  if (!transfer) {
    return refuse("the node of " + device.id + " has no NICs in the catalog, over which the cache would travel");
  }
  q.transfer = q.decode.isl * transfer->bytes_per_token / transfer->rate + q.prefill.stack->time.handover;
  ServingLimits limits = q.decode.limits;
  limits.sequence_tokens = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(q.decode.isl + q.decode.osl)));
  if (const ServingMemory m = serving_memory(q.decode.memory, limits); m.capacity < 1) {
    return refuse(verdict_text(m.verdict, m.broke, m.limit));
  }
  return q;
}

namespace {

double asked(const DisaggregatedQuestion& q,
             const IterationCost& prefill,
             const IterationCost& decode,
             Seconds transfer,
             double places,
             SteadyHabits habits) {
  habits.burst = q.median ? 0.0 : habits.burst;
  return answer(
      q, disaggregated_loop({prefill, q.prefill_load, real(q.prefill.replicas)},
                            {decode, q.decode_load, real(q.decode.replicas), places}, q.clients, transfer, habits));
}

}  // namespace

double predict_deployment(const DisaggregatedQuestion& q, const IterationPhysics& physics) {
  SteadyHabits habits = steady_habits(q.decode.stack->time, q.prefill_load.isl, physics.bubble);
  habits.holds_first = q.decode.stack->time.holds_first_apart;
  habits.late_results =
      q.prefill.stack->time.late_results && (q.decode.drafts.drafted == 0 || q.decode.drafts.overlapped);
  return asked(q, engine_cost(q.prefill, physics), engine_cost(q.decode, physics), q.transfer, q.places, habits);
}

double sheet_deployment(const DisaggregatedQuestion& q) {
  return asked(q, least_cost(q.prefill, ExpertsRead::expected), least_cost(q.decode, ExpertsRead::expected), {}, 0.0,
               no_pool_habits);
}

double fastest_deployment(const DisaggregatedQuestion& q) {
  // Every request as if alone, which no queue and no batch shortens.
  DisaggregatedQuestion lone = q;
  lone.clients = 1.0;
  const double one = asked(lone, least_cost(q.prefill, ExpertsRead::least), least_cost(q.decode, ExpertsRead::least),
                           {}, 0.0, no_pool_habits);
  return q.to_unit == 1.0 ? q.clients * one : one;
}

}  // namespace headroom
