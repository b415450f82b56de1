// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/model/serve/fixed_load/serving_use.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/scenarios/measured/serving_watts.hpp>

#include <utility>

namespace headroom {

bool asks_for_power(std::string_view metric) noexcept {
  return metric == "power_w_per_gpu" || metric == "j_per_output_token";
}

std::optional<ServingWatts> serving_watts(const ServingConfiguration& run,
                                          ServingTimeModel& times,
                                          const Catalog& catalog,
                                          RowPrediction& refusal) {
  std::optional<ServingTimeQuestion> q = times.question(run, "output_tokens_per_s", "tokens/s", refusal);
  if (!q) {
    return std::nullopt;
  }
  const ModelData& data = times.places().data();
  const Device& device = *times.places().device_of(run);
  const PowerForm& form = power_form(data);
  const std::optional<GpuPower> power = gpu_power(device, catalog.reference_node(device), power_cap_of(run), form);
  if (!power) {
    refusal = unsupported("the catalog has no power of " + device.id);
    return std::nullopt;
  }
  const IterationPhysics& physics = iteration_physics(data);
  const KernelTerms kernels = [&](const IterationMix& mix) { return q->replica->terms(mix); };
  const SteadyState state = steady_state_of(*q, kernels, q->stack->time, physics);
  const IterationMix decode = decode_mix(q->load);
  const IterationTerms terms = engine_terms(*q->replica, decode, kernels(decode), q->stack->time, physics);
  ServingWatts answer;
  answer.power = *power;
  answer.use = serving_use(terms, *q->least, q->load, state);
  answer.watts = serving_power(answer.power, answer.use, form).raw();
  answer.limit = power->tdp.raw();
  answer.output_rate = q->replicas * state.output_tokens_per_s;
  answer.gpus = real(run.gpus.value_or(q->replica->layout().gpus()));
  answer.sheet_rate = sheet_time(*q);
  answer.question = std::move(*q);
  return answer;
}

}  // namespace headroom
