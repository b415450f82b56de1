// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/serve/replica/replica_formats.hpp>
#include <headroom/model/serve/tables/make_tables.hpp>
#include <headroom/scenarios/post_training/pool_price.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/training/train_answer.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

std::string first_problem(const ConfigError& error) {
  return error.diagnostics().empty() ? error.what() : error.diagnostics().front().message;
}

/// Tokens of a mean sequence of the trainer, prompt and answer; padded of the longest.
std::int64_t trained_length(const PostTrainQuestion& q) {
  return std::max<std::int64_t>(1, std::llround(q.prompt_tokens + (q.padded ? q.lengths.most : q.lengths.mean)));
}

/// Whether a stack shards all states over its ranks, as FSDP and ZeRO 3 do.
bool shards_all(const std::string& stack) {
  return !stack.starts_with("megatron");
}

std::vector<std::int64_t> powers_up_to(std::int64_t most) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 1; i <= most; i *= 2) {
    all.push_back(i);
  }
  return all;
}

std::vector<std::int64_t> choices(std::int64_t stated, std::int64_t most) {
  return stated > 0 ? std::vector<std::int64_t>{stated} : powers_up_to(most);
}

/// Of the step's exposed times that of a forward pass: products and what goes beside them run once forward and twice
/// backward (Kaplan et al. 2020, section 2.1); what is recomputed, reduced and updated has no part in it.
Seconds forward_of(const Breakdown& step, bool sharded) noexcept {
  Seconds both = step[Term::gemm] + step[Term::attention] + step[Term::scan] + step[Term::elementwise] +
                 step[Term::head] + step[Term::tp_comm] + step[Term::cp_comm] + step[Term::ep_comm] +
                 step[Term::pp_comm] + step[Term::bubble] + step[Term::host] + step[Term::host_sync];
  if (sharded) {
    both += step[Term::dp_comm];
  }
  return both / 3.0;
}

/// "500 W".
std::string cap_words(const PostTrainQuestion& q) {
  return shortest_text(q.power_cap.value_or(Watts{}).raw()) + " W";
}

/// What fits before what does not; then the faster, or the smaller.
bool beats(const TrainerPrice& a, const TrainerPrice& b) noexcept {
  if (b.train.raw() <= 0.0 || a.fits != b.fits) {
    return b.train.raw() <= 0.0 || a.fits;
  }
  return a.fits ? a.train < b.train : a.device < b.device;
}

}  // namespace

std::pair<std::string, std::string> backend_of(const PostTrainQuestion& q) {
  const bool experts = q.sources->models.find(q.model).moe.has_value();
  const std::string wanted = !q.backend.empty() ? q.backend : experts ? q.software.trainer_of_experts : std::string{};
  for (const auto& backend : q.software.backends) {
    if (backend.first == wanted) {
      return backend;
    }
  }
  return q.software.backends.empty() ? std::pair<std::string, std::string>{"fsdp", "pytorch-fsdp"}
                                     : q.software.backends.front();
}

bool recipe_is_eager(const PostTrainQuestion& q) {
  return q.software.runs_eager(backend_of(q).first);
}

bool recipe_pads(const PostTrainQuestion& q) {
  const std::vector<Block> blocks = q.sources->models.find(q.model).blocks();
  return q.software.pads_recurrent &&
         std::any_of(blocks.begin(), blocks.end(), [](const Block& each) { return is_recurrent(each.mixer); });
}

double weight_tensors(const Architecture& a, double together) noexcept {
  constexpr double mixer = 4.0, norms = 2.0, feed_forward = 3.0, ends = 3.0;
  const double layers = real(a.layers);
  double tensors = ends + layers * (mixer + norms);
  if (!a.moe) {
    return tensors + layers * feed_forward;
  }
  const double dense = real(std::min(a.layers, a.moe->dense_layers));
  const double sparse = (layers - dense) / real(std::max<std::int64_t>(1, a.moe->every));
  return tensors + (layers - sparse) * feed_forward +
         sparse * (1.0 + feed_forward * std::ceil(real(a.moe->experts) / together));
}

const TrainerPrice& PoolPrices::trainer(std::int64_t gpus, Bytes resident) {
  const auto [at, fresh] = trainers_.try_emplace({gpus, resident.raw()});
  if (fresh) {
    at->second = price_trainer(gpus, resident);
  }
  return at->second;
}

TrainerPrice PoolPrices::price_trainer(std::int64_t gpus, Bytes resident) {
  TrainerPrice best;
  best.why_not = "no layout keeps the rules on " + std::to_string(gpus) + " GPUs";
  std::shared_ptr<const JobGroups> groups;
  for (const TrainerLayout& layout : layouts(gpus)) {
    try {
      TrainerPrice price = price_layout(gpus, layout, resident, groups);
      ++priced_;
      if (price.train.raw() > 0.0 && beats(price, best)) {
        best = std::move(price);
      }
    } catch (const ConfigError& error) {
      best.why_not = best.train.raw() > 0.0 ? best.why_not : first_problem(error);
    }
  }
  return best;
}

std::vector<TrainerLayout> PoolPrices::layouts(std::int64_t gpus) const {
  const Architecture model = q_.sources->models.find(q_.model);
  const bool sharded = shards_all(backend_of(q_).second);
  const bool long_answers = trained_length(q_) > 16384;
  const std::int64_t domain = std::min<std::int64_t>(8, q_.per_node);
  std::vector<TrainerLayout> all;
  for (const std::int64_t tp : choices(q_.trainer.tp, sharded ? 1 : domain)) {
    for (const std::int64_t pp : choices(q_.trainer.pp, sharded ? 1 : 16)) {
      for (const std::int64_t cp : choices(q_.trainer.cp, long_answers ? 8 : 1)) {
        if (gpus % (tp * pp * cp) != 0) {
          continue;
        }
        const std::int64_t most = model.moe && !sharded ? std::min<std::int64_t>(model.moe->experts, gpus / pp) : 1;
        // Experts that nobody deals out are dealt to all ranks of a stage, or to half or a quarter of them.
        for (const std::int64_t ep : choices(q_.trainer.ep, most)) {
          if (q_.trainer.ep > 0 || ep * 4 >= most) {
            all.push_back({tp, pp, cp, ep});
          }
        }
      }
    }
  }
  return all;
}

TrainerPrice PoolPrices::price_layout(std::int64_t gpus,
                                      const TrainerLayout& layout,
                                      Bytes resident,
                                      std::shared_ptr<const JobGroups>& groups) const {
  const Architecture model = q_.sources->models.find(q_.model);
  const std::string stack = backend_of(q_).second;
  const bool sharded = shards_all(stack);
  const auto sequences =
      static_cast<std::int64_t>(std::max(1.0, static_cast<double>(q_.answers()) * form_of(q_.algorithm).sequences));
  const std::int64_t mini = std::min(q_.mini_batch > 0 ? q_.mini_batch : sequences, sequences);
  // Lengths that sequence ranks divide; a batch that data ranks divide.
  const std::int64_t length = (trained_length(q_) + 63) / 64 * 64;
  const std::int64_t dp = gpus / (layout.tp * layout.pp * layout.cp);
  const std::int64_t global = (mini + dp - 1) / dp * dp;
  std::vector<std::string> stated{"schema=1",
                                  "kind=train",
                                  "model=" + q_.model,
                                  "hardware.gpu=" + q_.device.id,
                                  "hardware.gpus=" + std::to_string(gpus),
                                  "training.seq_len=" + std::to_string(length),
                                  "training.global_batch=" + std::to_string(global),
                                  "training.precision=" + q_.precision,
                                  "training.software=" + stack,
                                  "strategy.tp=" + std::to_string(layout.tp),
                                  "strategy.pp=" + std::to_string(layout.pp),
                                  "strategy.cp=" + std::to_string(layout.cp)};
  const auto state = [&](bool when, const std::string& key) {
    if (when) {
      stated.push_back(key);
    }
  };
  state(!q_.node.empty() && q_.cluster.empty(), "hardware.node=" + q_.node);
  state(!q_.cluster.empty(), "hardware.cluster=" + q_.cluster);
  state(q_.power_cap.has_value(), "hardware.power_cap=" + cap_words(q_));
  state(q_.optimizer_on_host, "training.offload=[\"optimizer\"]");
  state(q_.lora, "training.method=lora");
  state(q_.lora, "training.lora_rank=16");
  state(q_.micro_batch > 0, "strategy.micro_batch=" + std::to_string(q_.micro_batch));
  const std::string& recompute = q_.recompute.empty() ? q_.software.usual_recompute : q_.recompute;
  state(!recompute.empty(), "strategy.recompute=" + recompute);
  state(model.moe && layout.ep > 1, "strategy.ep=" + std::to_string(layout.ep));
  state(model.moe && layout.ep > 1, "strategy.etp=1");
  state(sharded, "strategy.zero=3");
  state(sharded && q_.shard_ranks > 0 && dp % q_.shard_ranks == 0,
        "strategy.shard_ranks=" + std::to_string(q_.shard_ranks));
  const Scenario scenario = scenario_from_overrides(stated, *q_.sources);
  TrainScenario train = std::get<TrainScenario>(scenario.question);
  if (!q_.attention.empty()) {
    train.software.time.plain.attention_kernel = train.software.time.moe.attention_kernel = q_.attention;
  }
  if (!groups) {
    groups = groups_of(train);
  }
  TrainQuestion question = compile_question(train, PlanPart::all, groups);
  question.compiled.capacity = question.compiled.capacity - resident;
  const Strategy closed = close_open_axes(question.compiled, open_strategy(train), FitRule::likely);
  const Estimate e = evaluate(question.compiled, tabulate(question.compiled, key_of(closed)), closed);
  if (e.step.raw() <= 0.0) {
    throw ConfigError{"tp " + std::to_string(layout.tp) + ", pp " + std::to_string(layout.pp) + ", cp " +
                      std::to_string(layout.cp) + ", ep " + std::to_string(layout.ep) + " on " + std::to_string(gpus) +
                      " GPUs: " + verdict_text(e.verdict, e.broke, e.limit, closed.schedule)};
  }
  const double steps = std::ceil(static_cast<double>(sequences) / static_cast<double>(global) - 1e-9);
  TrainerPrice price;
  price.strategy = closed;
  price.train = steps * e.step;
  price.forward = steps * forward_of(e.time, sharded);
  price.attention = steps * e.time[Term::attention];
  price.memory = e.memory;
  price.device = e.device.mid;
  price.fits = true;
  if (e.device.mid > question.compiled.capacity) {
    price.fits = false;
    price.why_not = "the trainer needs " + format(e.device.mid) + " of the " + format(question.compiled.capacity) +
                    " that a GPU has left: more GPUs to train, recompute = \"full\" or lora = true would do with less";
  }
  return price;
}

const EnginePrice& PoolPrices::engine(std::int64_t tp, double fraction, const Device& device) {
  const auto [at, fresh] = engines_.try_emplace({tp, fraction, device.id});
  if (fresh) {
    at->second = price_engine(tp, fraction, device, q_.most_sequences);
    ++priced_;
    // What an engine sets aside for the sampler of that many answers it may lack for its weights.
    constexpr std::int64_t fewer = 256;
    if (!at->second.why_not.empty() && q_.most_sequences > fewer) {
      at->second = price_engine(tp, fraction, device, fewer);
    }
  }
  return at->second;
}

EnginePrice PoolPrices::price_engine(std::int64_t tp, double fraction, const Device& device, std::int64_t sequences) {
  EnginePrice price;
  price.tp = tp;
  const std::int64_t prompt = std::max<std::int64_t>(1, std::llround(q_.prompt_tokens));
  const std::int64_t answer = std::max<std::int64_t>(1, std::llround(q_.lengths.mean));
  const std::int64_t most = std::max<std::int64_t>(answer, std::llround(q_.lengths.most));
  std::vector<std::string> stated{"schema=1",
                                  "kind=serve",
                                  "model=" + q_.model,
                                  "hardware.gpu=" + device.id,
                                  "hardware.gpus=" + std::to_string(tp),
                                  "serving.engine=" + (q_.engine.empty() ? q_.software.engine : q_.engine),
                                  "serving.isl=" + std::to_string(prompt),
                                  "serving.osl=" + std::to_string(answer),
                                  "serving.concurrency=1",
                                  "serving.weights=" + q_.rollout_precision,
                                  "serving.memory_fraction=" + std::to_string(fraction),
                                  "serving.max_num_seqs=" + std::to_string(sequences),
                                  "strategy.tp=" + std::to_string(tp)};
  if (device.id == q_.device.id) {
    if (!q_.node.empty()) {
      stated.push_back("hardware.node=" + q_.node);
    }
    if (q_.power_cap) {
      stated.push_back("hardware.power_cap=" + cap_words(q_));
    }
  }
  try {
    const Scenario scenario = scenario_from_overrides(stated, *q_.sources);
    const auto& s = std::get<ServeScenario>(scenario.question);
    const ServingWorkload& w = s.work;
    const ServingEstimate memory = serve_memory(s.architecture, s.device, s.engine, w);
    if (memory.verdict != Verdict::feasible) {
      price.why_not = "an engine over " + counted(tp, "GPU") + " cannot hold the model at " + percent(fraction) +
                      " of their memory: more GPUs to sample, a larger memory_fraction" +
                      (q_.rollout_precision == "bf16" ? " or rollout_precision = \"fp8\" would" : " would");
      return price;
    }
    const ReplicaFormats formats{w.weights, activation_precision(s.device, w.weights), w.kv, w.weight_kernels};
    const IterationPhysics& physics = iteration_physics(*s.data);
    const EngineKernels kernels = engine_kernels(s.engine, physics, s.engine.release);
    const Replica replica{*s.data, s.architecture, s.device, s.host ? &*s.host : nullptr, kernels, w.layout, formats};
    price.slots = std::max<std::int64_t>(1, std::min(memory.memory.capacity, w.max_num_seqs));
    price.memory = memory.memory.terms;
    price.weights = weight_bytes(count_parameters(s.architecture).total, w.weights);
    TableReach reach;
    reach.sequences = std::max<std::int64_t>(price.slots, 2);
    reach.keys = prompt + most;
    IterationStack time = s.engine.time;
    if (q_.eager) {
      time.prompt_launch = std::max(time.prompt_launch, q_.software.eager_launch);
    }
    price.tables =
        std::make_shared<const IterationTables>(make_iteration_tables(replica, time, physics, reach, w.clock));
    IterationBatch batch;
    const std::int64_t together = std::max<std::int64_t>(1, w.max_num_tokens / prompt);
    for (std::int64_t i = 0; i < together; ++i) {
      batch.add(prompt, true, price.tables->chunk(prompt, prompt));
    }
    price.prompt = Seconds{seconds_of(price.tables->time(batch))} / static_cast<double>(together);
  } catch (const ConfigError& error) {
    price.why_not = first_problem(error);
  }
  return price;
}

PricedRollout price_rollout(const PostTrainQuestion& q, const EnginePrice& engine, std::int64_t engines, bool steady) {
  PricedRollout priced;
  priced.engines = std::max<std::int64_t>(1, engines);
  const auto answers = static_cast<std::int64_t>(std::ceil(static_cast<double>(q.answers()) * q.oversampling));
  const std::vector<double> all = stratified_lengths(q.lengths, answers);
  // The engine that has the longest answer, dealt with the others in turn. Groups start in the order of prompts, which
  // knows nothing of lengths: every golden-ratio step through the sorted ones.
  std::vector<double> own;
  for (std::int64_t i = answers - 1; i >= 0; i -= priced.engines) {
    own.push_back(all[static_cast<std::size_t>(i)]);
  }
  std::vector<double> mixed(own.size());
  double place = 0.0;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < own.size(); ++i) {
    place = std::fmod(place + 0.6180339887498949, 1.0);
    order.emplace_back(place, i);
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < own.size(); ++i) {
    mixed[i] = own[order[i].second];
  }
  RolloutShare share;
  share.lengths = mixed;
  share.prompt = q.prompt_tokens;
  share.group = q.samples;
  share.shares_prefix = q.software.shares_prefix;
  share.slots = engine.slots;
  share.whole_batches = q.software.whole_batches;
  share.step_tokens = q.step_tokens;
  share.turn = q.turn;
  const RolloutClock clock{[&](double batch, double keys) {
                             IterationBatch now;
                             now.decodes = std::max<std::int64_t>(1, std::llround(batch));
                             now.context = std::max(now.decodes, static_cast<std::int64_t>(std::llround(keys)));
                             if (q.eager) {  // launched as iterations with a prompt are, here one of a token
                               now.add(1, false, {});
                             }
                             return Seconds{seconds_of(engine.tables->time(now))};
                           },
                           engine.prompt};
  priced.times = simulate_rollout(share, clock);
  if (steady) {
    // Engines that never empty: batches behind each other, the last one's tail shared among them.
    constexpr std::size_t batches = 4;
    std::vector<double> many;
    // Beside the batch that is trained, as many more as their age allows.
    const auto under_way =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(mixed.size()) * std::max(1.0, q.staleness)));
    for (std::size_t i = 0; i < batches; ++i) {
      many.insert(many.end(), mixed.begin(), mixed.end());
    }
    share.lengths = many;
    share.slots = std::max<std::int64_t>(1, std::min(share.slots, under_way));
    share.turn = {};
    const RolloutTimes through = simulate_rollout(share, clock);
    priced.steady = std::min(
        priced.times.whole,
        through.full / (static_cast<double>(batches) - 0.5 * through.mean_batch / static_cast<double>(mixed.size())));
    // An answer's tokens come at the rate of all over those that decode beside it.
    const double tokens = through.tokens / static_cast<double>(batches);
    priced.group =
        std::min(priced.times.whole, longest_of(q.lengths, q.samples) * through.mean_batch / tokens * priced.steady) +
        q.turn;
  }
  return priced;
}

}  // namespace headroom
