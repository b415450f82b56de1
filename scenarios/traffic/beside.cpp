// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/memory/memory.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/scenarios/traffic/beside.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace headroom {
namespace {

/// Memory of one model whose engine has the GPU to itself.
struct Held {
  std::string name;
  CompiledServingMemory compiled;
  ServingLimits limits;
  ServingMemory memory;
  Bytes longest{};    ///< cache of its longest request on one GPU
  double need = 0.0;  ///< weight for the division: requests/s x output tokens x bytes of a mean sequence
  std::optional<double> stated;
};

Held hold(const ServeScenario& s, std::size_t model) {
  const ServeScenario one = alone(s, model);
  const ServingTraffic::Lengths lengths = one.traffic->lengths();
  Held held;
  held.name = one.architecture.name;
  held.compiled = compile_serving_memory(one.architecture, s.device, s.engine.memory, one.work.layout, one.work.weights,
                                         one.work.kv);
  held.limits = one.work.limits();
  held.limits.sequence_tokens = one.work.isl + one.work.osl;
  held.memory = serving_memory(held.compiled, held.limits);
  held.longest = held.compiled.stages[0].sequence(real(lengths.longest), real(s.engine.memory.block_tokens));
  held.need = one.traffic->rate().raw() * lengths.output * held.memory.sequence.raw();
  held.stated = model == 0 ? std::nullopt : s.beside[model - 1].kv_share;
  return held;
}

/// "weights of A 15 GiB and B 60.3 GiB, and 4.1 GiB that their engines take beside them": everything in the engine's
/// share of the GPU that is not KV cache.
std::string taken_text(const std::vector<Held>& models, Bytes given, double share) {
  std::string text = "weights of ";
  Bytes beside{};
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Bytes weights = models[i].memory.terms[MemoryTerm::weights];
    text += (i == 0 ? "" : i + 1 == models.size() ? " and " : ", ") + models[i].name + " " + format(weights);
    beside += (given - models[i].memory.pool) / share - weights;
  }
  return text + ", and " + format(beside) + " that their engines take beside them";
}

void refuse_overfull(const ServeScenario& s, const std::vector<Held>& models, Bytes pool) {
  const Bytes device = models.front().compiled.device;
  const Bytes given = s.work.memory_fraction * device;
  // TensorRT-LLM's fraction applies to the memory free after loading, so weights may use the whole GPU.
  const double share = s.engine.memory.fraction_of == FractionOf::free ? s.work.memory_fraction : 1.0;
  if (pool.raw() <= 0.0) {
    throw ConfigError{taken_text(models, given, share) + ", are " + format(-1.0 / share * pool) + " more than the " +
                      format(given / share) + " that a GPU of " + format(device) + " gives at memory_fraction " +
                      format_number(s.work.memory_fraction) +
                      "; raise tp, take narrower weights, or give each model GPUs of its own"};
  }
  Bytes total = pool;
  for (const Held& one : models) {
    total += one.memory.terms.total() - one.memory.terms[MemoryTerm::kv_cache];
  }
  if (total > device) {
    throw ConfigError{"engines of " + model_names(s) + " take with their KV cache " + format(total - device) +
                      " more than a GPU of " + format(device) + "; lower memory_fraction, or raise tp"};
  }
}

}  // namespace

const Architecture& model_of(const ServeScenario& serve, std::size_t model) noexcept {
  return model == 0 ? serve.architecture : serve.beside[model - 1].architecture;
}

std::string model_names(const ServeScenario& serve) {
  std::string text = serve.architecture.name;
  for (std::size_t i = 0; i < serve.beside.size(); ++i) {
    text += (i + 1 == serve.beside.size() ? " and " : ", ") + serve.beside[i].architecture.name;
  }
  return text;
}

ServingErrors serving_errors(const ServeScenario& serve, ServingQuantity quantity) {
  std::optional<ServingErrors> widest;
  for (std::size_t i = 0; i < model_count(serve); ++i) {
    ServingErrors e = serving_confidence(*serve.data)
                          .of(serve.engine.id, quantity, model_of(serve, i).moe.has_value(), serve.device.id,
                              name_of(serve.work.weights));
    if (!widest || e.high * widest->low > widest->high * e.low) {
      widest = std::move(e);
    }
  }
  ServingErrors errors = of_unmeasured(*widest, serve.device, unmeasured_errors(*serve.data));
  if (const DraftPlan* const draft = serve.work.draft.get(); draft != nullptr && draft->acceptance_high > 0.0) {
    const auto tokens = [&](double acceptance) {
      return Speculation{draft->speculation.draft, acceptance, 0}.tokens_per_step();
    };
    const double mid = tokens(draft->speculation.acceptance);
    errors = of_assumed_drafts(errors, tokens(draft->acceptance_low) / mid, tokens(draft->acceptance_high) / mid);
  }
  const ServingLayout& layout = serve.work.layout;
  if (!experts_over_nics(serve.device, serve.host ? &*serve.host : nullptr, layout)) {
    return errors;
  }
  const WideExpertErrors& wide = wide_expert_errors(*serve.data);
  return over_nics(errors, layout.balanced && layout.two_batches ? wide.launched : wide);
}

std::string other_kernels_text(const ServeScenario& serve) {
  const UnmeasuredErrors& unmeasured = unmeasured_errors(*serve.data);
  const Device& device = serve.device;
  if (!unmeasured.holds(device)) {
    return {};
  }
  return "nobody measured kernels of " + device.id + "; " +
         (device.curves.empty() ? "the mean of the measured generations stands"
                                : "those of " + device.curves + " stand") +
         " for them, with the datasheet of " + device.id +
         ", and its times are as wide as SKUs told from the kernels of other generations were off" +
         (device.vendor == unmeasured.vendor
              ? ""
              : " and as published rates of " + unmeasured.others.skus + " (" + unmeasured.others.source + ")");
}

ServeScenario alone(const ServeScenario& serve, std::size_t model) {
  ServeScenario one = serve;
  ServingTraffic traffic = serve.traffic->of_model(model);
  const ServingTraffic::Lengths lengths = traffic.lengths();
  one.work.isl = std::max<std::int64_t>(1, std::llround(lengths.prompt));
  one.work.osl = std::max<std::int64_t>(1, std::llround(lengths.output));
  one.traffic = std::make_shared<const ServingTraffic>(std::move(traffic));
  if (model > 0) {
    one.architecture = serve.beside[model - 1].architecture;
    one.work.weights = serve.beside[model - 1].weights;
    one.work.kv = serve.beside[model - 1].kv;
  }
  one.beside.clear();
  return one;
}

BesideMemory beside_memory(const ServeScenario& serve) {
  std::vector<Held> models;
  std::vector<ServingMemory> memories;
  for (std::size_t i = 0; i < model_count(serve); ++i) {
    if (const LayoutProblem wrong = check(model_of(serve, i), serve.work.layout, serve.work.layout.gpus());
        wrong.verdict != Verdict::feasible) {
      throw ConfigError{model_of(serve, i).name + ": " +
                        verdict_text(wrong.verdict, real(wrong.broke), real(wrong.limit))};
    }
    models.push_back(hold(serve, i));
    memories.push_back(models.back().memory);
  }
  const Bytes pool = shared_pool(memories, models.front().compiled.device, serve.work.memory_fraction);
  refuse_overfull(serve, models, pool);
  Bytes rest = pool;
  Bytes longest{};
  double need = 0.0;
  for (const Held& one : models) {
    rest -= one.stated.value_or(0.0) * pool;
    longest += one.stated ? Bytes{} : one.longest;
    need += one.stated ? 0.0 : one.need;
  }
  const Bytes floors = std::min(longest, rest);
  BesideMemory memory;
  for (const Held& one : models) {
    const Bytes floor = longest.raw() > 0.0 ? one.longest / longest * floors : Bytes{};
    const double by_need = need > 0.0 ? one.need / need : 1.0;
    const Bytes own = one.stated ? *one.stated * pool : floor + by_need * (rest - floors);
    const ServingMemory holds = with_pool(one.compiled, one.limits, one.memory, own);
    if (holds.verdict != Verdict::feasible) {
      throw ConfigError{one.name + " gets " + format(own) + " of the KV cache that is left on a GPU (" + format(pool) +
                        "), which holds no request of " + std::to_string(one.limits.sequence_tokens) +
                        " tokens; change kv_share, raise tp, or give it GPUs of its own"};
    }
    memory.pools.push_back(own);
    memory.shares.push_back(own / pool);
  }
  return memory;
}

}  // namespace headroom
