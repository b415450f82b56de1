// SPDX-License-Identifier: Apache-2.0
// A search by brute force, for tests: nested loops over the values of every axis as docs/search.md lists them, one
// evaluation a strategy, plain lists. Shares nothing with the search but the model behind it.
#pragma once

#include <headroom/core/real.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/evaluate/stage_balance.hpp>
#include <headroom/scenarios/goodput/failures.hpp>
#include <headroom/scenarios/goodput/interval.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/objective.hpp>
#include <headroom/scenarios/training/confidence.hpp>
#include <headroom/scenarios/training/offload.hpp>
#include <headroom/scenarios/training/train_answer.hpp>

#include "search_oracle_choice.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace headroom::test {

class Oracle {
 public:
  Oracle(const OracleQuestion& question, const Sources& sources) : q_{question}, sources_{sources} {
    std::set<std::string> rentals;
    for (const std::vector<std::string>& job : q_.jobs) {
      std::string rental;
      for (const std::string& assignment : job) {
        rental += assignment.starts_with("hardware.gpu") ? assignment + " " : "";
      }
      rentals.insert(rental);
    }
    several_rentals_ = rentals.size() > 1;
  }

  /// Prices every strategy of every job.
  OracleAnswer price() {
    for (std::size_t job = 0; job < q_.jobs.size(); ++job) {
      try {
        const Scenario scenario = scenario_from_overrides(q_.jobs[job], sources_);
        at(scenario);
        const TrainQuestion compiled = compile_question(*train_, PlanPart::all);
        compiled_ = &compiled.compiled;
        job_ = job;
        walk_ranks();
      } catch (const ConfigError&) {
        continue;  // no such job
      }
    }
    return std::move(answer_);
  }

  /// The lists over what keeps the limits.
  void list(OracleAnswer& answer) {
    std::vector<Priced> kept;
    for (const Priced& p : answer.fits) {
      if ((!q_.deadline || p.time <= *q_.deadline) && (!q_.budget || p.dollars <= *q_.budget)) {
        kept.push_back(p);
      }
    }
    const auto before = [](const Priced& a, const Priced& b) {
      return std::tuple{a.goal, a.time, a.dollars, a.step, a.memory, a.job} <
             std::tuple{b.goal, b.time, b.dollars, b.step, b.memory, b.job};
    };
    std::stable_sort(kept.begin(), kept.end(), before);
    answer.best = best_of(kept, q_.plans, several_rentals_);
    answer.front = front_of(kept, q_.pareto.size());
    answer.middle = chosen_of(kept, q_.simplicity);
    std::vector<Priced> sure;
    for (const Priced& p : kept) {
      if ((!q_.deadline || p.slow_time <= *q_.deadline) && (!q_.budget || p.slow_dollars <= *q_.budget)) {
        sure.push_back(p);
      }
    }
    answer.sure = !sure.empty() || kept.empty();
    answer.chosen = chosen_of(sure, q_.simplicity);
    if (!answer.sure) {
      answer.chosen = closest(kept);
    }
  }

 private:
  using Ints = std::vector<int>;

  void at(const Scenario& scenario) {
    train_ = &std::get<TrainScenario>(scenario.question);
    width_ = confidence_of(*train_, step_confidence(*train_->data)).width;
    price_ = scenario.money.price ? scenario.money.price->raw() : 0.0;
  }

  static bool into(std::int64_t divisor, std::int64_t number) { return number % divisor == 0; }

  /// The axis's values: what it fixes, what it lists, all that `any` allows, or what stands when it is blank.
  template <class Any>
  Ints of(const std::string& name, int blank, Any any) const {
    const AxisChoice axis = q_.axis(name);
    switch (axis.kind) {
      case AxisChoice::Kind::stated:
      case AxisChoice::Kind::listed: return axis.values;
      case AxisChoice::Kind::any: return any();
      case AxisChoice::Kind::blank: break;
    }
    return {blank};
  }

  template <class Good>
  static Ints upto(std::int64_t most, Good good) {
    Ints all;
    for (int n = 1; n <= most; ++n) {
      if (good(n)) {
        all.push_back(n);
      }
    }
    return all;
  }

  void walk_ranks() {
    const Architecture& a = train_->architecture;
    const std::int64_t gpus = train_->work.shape.gpus;
    const std::int64_t seq = train_->work.shape.seq_len;
    const auto tps = of("tp", 1, [&] {
      // Inside a host, or the links that join hosts to one domain.
      return upto(std::min(gpus, train_->domain), [&](int t) {
        return into(t, gpus) && into(t, a.heads) && (into(t, a.kv_heads) || into(a.kv_heads, t));
      });
    });
    for (const int tp : tps) {
      const auto cps = of("cp", 1, [&] {
        return upto(std::max<std::int64_t>(1, gpus / tp),
                    [&](int c) { return c == 1 || (into(c, gpus / tp) && into(c, seq) && seq / c >= 1024); });
      });
      for (const int cp : cps) {
        const auto eps = of("ep", 1, [&] {
          return upto(a.moe ? gpus : 1,
                      [&](int e) { return !a.moe || (into(e, a.moe->experts) && into(e, gpus * tp * cp)); });
        });
        for (const int ep : eps) {
          const int own = a.moe ? train_->software.defaults.expert_tensor_ranks(static_cast<std::uint16_t>(tp),
                                                                                static_cast<std::uint16_t>(ep))
                                : 1;
          for (const int etp : of("etp", own, [&] {
                 return upto(a.moe ? tp : 1,
                             [&](int t) { return !a.moe || (into(t, tp) && into(t, a.moe->expert_ffn_hidden)); });
               })) {
            walk_stages(tp, cp, ep, etp);
          }
        }
      }
    }
  }

  void walk_stages(int tp, int cp, int ep, int etp) {
    const std::int64_t gpus = train_->work.shape.gpus;
    const auto pps = of("pp", 1, [&] {
      const std::int64_t left = std::max<std::int64_t>(1, gpus / (tp * cp));
      return upto(std::min<std::int64_t>(left, train_->architecture.layers + 2), [&](int p) { return into(p, left); });
    });
    for (const int pp : pps) {
      Strategy s = train_->strategy;
      s.tp = static_cast<std::uint16_t>(tp);
      s.cp = static_cast<std::uint16_t>(cp);
      s.ep = static_cast<std::uint16_t>(ep);
      s.etp = static_cast<std::uint16_t>(etp);
      s.pp = static_cast<std::uint16_t>(pp);
      s.dp = static_cast<std::uint32_t>(std::max<std::int64_t>(1, gpus / (std::int64_t{tp} * cp * pp)));
      s.etp_open = q_.axis("etp").kind == AxisChoice::Kind::blank;
      const bool grid_open =
          q_.axis("ep").kind == AxisChoice::Kind::any || q_.axis("etp").kind == AxisChoice::Kind::any;
      if (grid_open && !into(ep * etp, std::int64_t{tp} * cp * s.dp)) {
        continue;
      }
      walk_orders(s);
    }
  }

  /// Orders that put the same ranks side by side are one: the first that is listed.
  void walk_orders(Strategy s) {
    const auto orders = of("order", 0, [&] {
      Ints all;
      for (const RankOrder order : train_->software.orders) {
        all.push_back(static_cast<int>(order));
      }
      return all;
    });
    std::vector<std::string> seen;
    for (const int order : orders) {
      s.order = static_cast<RankOrder>(order);
      const std::string name{rank_order_names[static_cast<std::size_t>(order)]};
      std::string placed;
      for (std::size_t at = 0; at < name.size(); at += 3) {
        const std::string axis = name.substr(at, 2);
        const bool alone = (axis == "tp" && s.tp == 1) || (axis == "cp" && s.cp == 1) || (axis == "dp" && s.dp == 1) ||
                           (axis == "pp" && s.pp == 1);
        placed += alone ? "" : axis;
      }
      if (std::find(seen.begin(), seen.end(), placed) == seen.end()) {
        seen.push_back(placed);
        walk_micro_batches(s);
      }
    }
  }

  void walk_micro_batches(Strategy s) {
    const std::int64_t batch = train_->work.shape.global_batch;
    const std::int64_t replica = into(s.dp, batch) ? batch / s.dp : 0;
    const AxisChoice axis = q_.axis("micro_batch");
    Ints sizes = of("micro_batch", 1,
                    [&] { return replica == 0 ? Ints{1} : upto(64, [&](int b) { return into(b, replica); }); });
    if (axis.kind == AxisChoice::Kind::blank) {
      sizes = {1};
      for (const int b : {2, 4, 8}) {
        if (replica == 0 || into(b, replica)) {
          sizes.push_back(b);
        }
      }
    }
    for (const int b : sizes) {
      s.micro_batch = static_cast<std::uint16_t>(b);
      walk_forms(s);
    }
  }

  void walk_forms(Strategy s) {
    const MemoryStack& software = train_->software;
    const Ints both{0, 1};
    const auto sequences =
        s.tp == 1 ? Ints{0}
                  : of("sequence_parallel", software.defaults.sequence_parallel ? 1 : 0, [&] { return both; });
    const bool selective_is_nothing =
        software.selective == SelectiveRecompute::core_attention && train_->work.options.flash_attention;
    const auto some = [&] { return selective_is_nothing ? Ints{0, 2} : Ints{0, 1, 2}; };
    const auto modes = q_.axis("recompute").kind == AxisChoice::Kind::blank ? some() : of("recompute", 0, some);
    const int heads = static_cast<int>(train_->architecture.heads);
    const auto own_form = static_cast<int>(software.defaults.cp_form);
    const auto contexts = s.cp == 1 ? Ints{own_form} : of("cp_form", own_form, [&] {
      return into(s.tp * s.cp, heads) ? Ints{0, 1, 2} : Ints{0, 1};
    });
    const AxisChoice schedule = q_.axis("schedule");
    const bool own_overlap = schedule.kind == AxisChoice::Kind::stated &&
                             static_cast<Schedule>(schedule.values.front()) == Schedule::dualpipe;
    const bool hopper = train_->device.compute_capability < "9.9" && train_->device.compute_capability > "7";
    const bool in_the_way = software.overlap_alone && hopper && (s.tp > 1 || s.cp > 1);
    const auto overlaps =
        s.ep == 1 ? Ints{0} : of("overlap_experts", own_overlap ? 1 : 0, [&] { return in_the_way ? Ints{0} : both; });
    for (const int sequence : sequences) {
      for (const int mode : modes) {
        for (const int context : contexts) {
          for (const int overlap : overlaps) {
            for (const int graphs : of("cuda_graphs", 0, [&] { return both; })) {
              s.sequence_parallel = sequence == 1;
              s.recompute = static_cast<Recompute>(mode);
              s.cp_form = static_cast<CpForm>(context);
              s.overlap_experts = overlap == 1;
              if (q_.axis("overlap_experts").kind == AxisChoice::Kind::any && s.overlap_experts &&
                  software.overlap_keeps_inputs && s.recompute == Recompute::full) {
                continue;
              }
              s.cuda_graphs = graphs == 1;
              walk_blocks(s);
            }
          }
        }
      }
    }
  }

  void walk_blocks(Strategy s) {
    const std::int64_t layers = train_->architecture.layers;
    Ints blocks{1};
    if (s.recompute == Recompute::full) {
      blocks = of("recompute_block", 1, [&] {
        Ints all;
        for (const int b : {1, 2, 3, 4, 5, 6, 8}) {
          if (b == 1 || b <= (layers + s.pp - 1) / s.pp) {
            all.push_back(b);
          }
        }
        return all;
      });
    }
    for (const int block : blocks) {
      s.recompute_block = static_cast<std::uint8_t>(block);
      walk_states(s);
    }
  }

  void walk_states(Strategy s) {
    const auto zeros = of("zero", train_->software.defaults.zero, [&] {
      Ints all;
      for (const int z : {0, 1, 2, 3}) {
        if (train_->software.shards(z, s.pp > 1)) {
          all.push_back(z);
        }
      }
      return all;
    });
    const std::int64_t data = std::int64_t{s.dp} * s.cp;
    const auto shares = of("shard_ranks", 0, [&] {
      Ints all{0};
      for (std::int64_t gpus = train_->gpus_per_node; gpus < data * s.tp; gpus *= 2) {
        if (into(s.tp, gpus) && gpus / s.tp > 1 && into(gpus / s.tp, data)) {
          all.push_back(static_cast<int>(gpus / s.tp));
        }
      }
      return all;
    });
    for (const int zero : zeros) {
      // Without sharding the groups that share mean nothing: one stands for all.
      const Ints kept = zero == 0 ? Ints{shares.front()} : shares;
      for (const int share : kept) {
        s.zero = static_cast<std::uint8_t>(zero);
        s.shard_ranks = static_cast<std::uint16_t>(share);
        walk_schedules(s);
      }
    }
  }

  void walk_schedules(Strategy s) {
    const std::int64_t layers = train_->architecture.layers;
    const auto chunks = [&] {
      return of("vpp", 1, [&] {
        return upto(std::max<std::int64_t>(1, layers / s.pp), [&](int v) {
          return v == 1 || into(std::int64_t{s.pp} * v, layers) || into(std::int64_t{s.pp} * v, layers + 2);
        });
      });
    };
    if (s.pp == 1 && q_.axis("vpp").kind != AxisChoice::Kind::listed) {
      const Ints own = of("vpp", 1, [] { return Ints{1}; });
      const AxisChoice schedule = q_.axis("schedule");
      evaluate_one(s, schedule.kind == AxisChoice::Kind::stated ? schedule.values.front() : 0, own.front());
      return;
    }
    for (const int schedule : of("schedule", 0, [&] {
           Ints all;
           for (const Schedule known : train_->software.schedules) {
             all.push_back(static_cast<int>(known));
           }
           return all;
         })) {
      const bool one = static_cast<Schedule>(schedule) != Schedule::one_f_one_b && q_.axis("vpp").free();
      Ints tried = one ? Ints{1} : chunks();
      std::erase_if(tried, [&](int v) { return runs_alone(s, schedule, v); });
      // Layers that no number of chunks divides are laid out in two or four where the software takes any number.
      if (tried.empty() && !one && q_.axis("vpp").kind == AxisChoice::Kind::any &&
          train_->software.defaults.balances_stages) {
        tried = upto(4, [&](int v) { return (v == 2 || v == 4) && v * s.pp <= layers; });
      }
      for (const int v : tried) {
        evaluate_one(s, schedule, v);
      }
    }
  }

  /// Overlapped experts of a pipeline without chunks, which some software does not run.
  [[nodiscard]] bool runs_alone(const Strategy& s, int schedule, int chunks) const {
    return q_.axis("overlap_experts").kind == AxisChoice::Kind::any && train_->software.overlap_needs_chunks &&
           s.overlap_experts && s.pp > 1 && chunks == 1 && static_cast<Schedule>(schedule) != Schedule::dualpipe;
  }

  void evaluate_one(Strategy s, int schedule, int chunks) {
    s.schedule = static_cast<Schedule>(schedule);
    s.vpp = static_cast<std::uint16_t>(chunks);
    ++answer_.strategies;
    const TrainingShape& shape = train_->work.shape;
    if (check(compiled_->architecture, shape, s).verdict != Verdict::feasible) {
      ++answer_.broken;
      return;
    }
    // Layers of the end stages are no axis: where they are open they balance the stages, if that fits.
    const LayerTable table = table_for(*compiled_, s);
    const Bytes room = (1.0 - q_.margin) * compiled_->capacity;
    const StageSplit split = shortest(*compiled_, table, s, room);
    const Estimate& e = split.estimate;
    if (e.device.high > room || host_is_short(*train_, e)) {
      ++answer_.no_room;
      return;
    }
    ++answer_.priced;
    Priced p;
    p.job = job_;
    p.rental = train_->device.id + " " + std::to_string(train_->work.shape.gpus);
    p.strategy = split.strategy;
    p.step = e.step;
    p.memory = e.device.high;
    p.goal = value(q_.minimize, e);
    p.time = value(Goal::time, e);
    p.dollars = value(Goal::cost, e);
    p.slow_time = slow_time(e.step);
    p.slow_dollars = p.slow_time * paid() * price_;
    for (std::size_t i = 0; i < q_.pareto.size(); ++i) {
      p.front[i] = value(q_.pareto[i], e);
    }
    answer_.fits.push_back(p);
  }

  /// Calendar time of a step: the closed form of the run that the scenario states, over its steps.
  [[nodiscard]] Seconds held(Seconds step, double steps) const {
    if (!train_->long_run) {
      return step;
    }
    const goodput::Question& q = *train_->long_run;
    goodput::Run run;
    run.mtbf = goodput::job_mtbf(q.per_gpu.mid, real(train_->work.shape.gpus), q.per_job);
    run.save = goodput::checkpoint_time(q.checkpoint, q.store);
    run.recovery = q.recovery;
    run.work = steps * step + (q.evaluation_every > 0 ? steps / real(q.evaluation_every) : 0.0) * q.evaluation;
    run.interval = q.interval_steps > 0 ? real(q.interval_steps) / steps * run.work
                                        : q.interval.value_or(goodput::best_interval(run.save, run.mtbf));
    return goodput::goodput(run).completion.mid / steps;
  }

  [[nodiscard]] double paid() const {
    const double spares = train_->long_run ? real(train_->long_run->recovery.spares) : 0.0;
    return real(train_->work.shape.gpus) + spares * real(train_->gpus_per_node);
  }

  /// The run at the slow end: a step as much longer as steps were; where failures are counted with chance and their
  /// rate, errors that do not know of each other.
  [[nodiscard]] double slow_time(Seconds step) const {
    const TrainingShape& shape = train_->work.shape;
    const double steps = train_->tokens / (real(shape.global_batch) * real(shape.seq_len));
    if (!train_->long_run) {
      return (1.0 + width_) * steps * step.raw();
    }
    const goodput::Question& q = *train_->long_run;
    goodput::Run run;
    run.mtbf = goodput::job_mtbf(q.per_gpu.mid, real(shape.gpus), q.per_job);
    run.save = goodput::checkpoint_time(q.checkpoint, q.store);
    run.recovery = q.recovery;
    run.work = steps * step + (q.evaluation_every > 0 ? steps / real(q.evaluation_every) : 0.0) * q.evaluation;
    run.interval = q.interval_steps > 0 ? real(q.interval_steps) / steps * run.work
                                        : q.interval.value_or(goodput::best_interval(run.save, run.mtbf));
    try {
      const goodput::GoodputRange range = goodput::goodput_over(run, q.per_gpu, real(shape.gpus), q.per_job);
      const goodput::Goodput& middle = range.middle;
      const double chance = std::log(middle.completion.high / middle.completion.mid);
      const double rate = std::log(range.many.completion.mid / middle.completion.mid);
      return middle.completion.mid.raw() * std::exp(std::hypot(std::log1p(width_), chance, rate));
    } catch (const ConfigError&) {
      return std::numeric_limits<double>::infinity();  // never gets ahead
    }
  }

  /// Of a job the longest step that keeps the limits at the slow end, by halving.
  double most_step(std::size_t job) {
    const Scenario scenario = scenario_from_overrides(q_.jobs[job], sources_);
    at(scenario);
    double few = 0.0, many = 1e6;
    for (int i = 0; i < 200; ++i) {
      const double step = 0.5 * (few + many);
      const double time = slow_time(Seconds{step});
      const bool keeps = (!q_.deadline || time <= *q_.deadline) && (!q_.budget || time * paid() * price_ <= *q_.budget);
      (keeps ? few : many) = step;
    }
    return few;
  }

  /// Of a GPU with its share of the host and the spares, in a step, its part of the evaluation and what it is held for
  /// beside them; what gpu_energy() is, its own tests say.
  [[nodiscard]] double energy(const Estimate& e, double steps, double held, double spares) const {
    const GpuPower power = *gpu_power(train_->device, train_->host ? &*train_->host : nullptr, train_->power_cap,
                                      power_form(*train_->data));
    const double host = power.host.raw();
    double worked = e.step.raw();
    if (train_->long_run) {
      const goodput::Question& q = *train_->long_run;
      const double pauses = q.evaluation_every > 0 ? steps / real(q.evaluation_every) : 0.0;
      worked = (steps * e.step.raw() + pauses * q.evaluation.raw()) / steps;
    }
    const double waits = (power.of(Draw::waiting).raw() + host) * (held - worked);
    return worked / e.step.raw() * gpu_energy(e.time, power).raw() + host * worked + waits +
           spares * ((power.idle.raw() + host) * held);
  }

  [[nodiscard]] double value(Goal goal, const Estimate& e) const {
    const TrainingShape& shape = train_->work.shape;
    const auto batch = static_cast<double>(shape.global_batch);
    const auto gpus = static_cast<double>(shape.gpus);
    const double step_tokens = batch * static_cast<double>(shape.seq_len);
    const double steps = (train_->tokens > 0.0 ? train_->tokens : 1e6) / step_tokens;
    const double clock = held(e.step, steps).raw();
    const double spares = train_->long_run ? real(train_->long_run->recovery.spares) : 0.0;
    const double paid = gpus + spares * real(train_->gpus_per_node);
    switch (goal) {
      case Goal::step_time: return e.step.raw();
      case Goal::time: return (train_->tokens > 0.0 ? steps : 0.0) * clock;
      case Goal::cost: return steps * paid * price_ * clock;
      case Goal::energy: return steps * gpus * energy(e, steps, clock, paid / gpus - 1.0);
      case Goal::gpu_hours: return 1e6 / batch * paid / 3600.0 * clock;
      case Goal::gpus: return gpus;
      case Goal::memory: return e.device.high.raw();
    }
    return 0.0;
  }

  /// Whose step is the least over what its job may take; of equals the first.
  std::optional<Priced> closest(const std::vector<Priced>& sorted) {
    std::map<std::size_t, double> most;
    std::optional<Priced> least;
    double strain = 0.0;
    for (const Priced& p : sorted) {
      const auto of_job = most.contains(p.job) ? most.find(p.job) : most.emplace(p.job, most_step(p.job)).first;
      const double own = p.step.raw() / of_job->second;
      if (!least || own < strain) {
        least = p;
        strain = own;
      }
    }
    return least;
  }

  const OracleQuestion& q_;
  const Sources& sources_;
  bool several_rentals_ = false;
  const TrainScenario* train_ = nullptr;
  const CompiledTraining* compiled_ = nullptr;
  double price_ = 0.0, width_ = 0.0;
  std::size_t job_ = 0;
  OracleAnswer answer_;
};

}  // namespace headroom::test
