// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/money.hpp>
#include <headroom/scenarios/serve_plan.hpp>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

bool fits(const ServeScenario& s, const ServingWorkload& w) {
  return serve_memory(s.architecture, s.device, s.engine, w).verdict == Verdict::feasible;
}

/// Sequences that one replica has to run for the asked concurrency.
std::int64_t sequences_asked(const ServingWorkload& w) {
  const std::int64_t replicas = std::max<std::int64_t>(1, w.gpus / w.layout.gpus());
  return (w.concurrency + replicas - 1) / replicas;
}

/// A broken rule in serving's words: replicas instead of dp, and stages that are layers and nothing else.
Problem serving_problem(const ServingEstimate& e) {
  Problem problem = problem_of({e.verdict, e.broke, e.limit});
  if (e.verdict == Verdict::gpus_not_divisible) {
    problem.text = format_count(e.broke) + " GPUs are no whole number of replicas of " + format_count(e.limit);
  } else if (e.verdict == Verdict::layers_too_few) {
    problem.way_out = "use pp " + format_count(e.broke) + " or less";
  } else if (e.verdict == Verdict::expert_groups_misfit) {
    problem.text = "tp " + format_count(e.broke) + " and ep " + format_count(e.limit) + ": neither divides the other";
    problem.way_out = "use ep " + format_count(e.broke) + " or a multiple of it";
  }
  return problem;
}

/// The largest fraction, in hundredths, that leaves room for what lies beside it.
std::optional<double> smaller_fraction(const ServeScenario& s) {
  ServingWorkload w = s.work;
  for (int percent = static_cast<int>(100.0 * w.memory_fraction); percent >= 50; --percent) {
    w.memory_fraction = percent / 100.0;
    if (w.memory_fraction < s.work.memory_fraction && fits(s, w)) {
      return w.memory_fraction;
    }
  }
  return std::nullopt;
}

/// Changes of the engine's settings alone, least disruptive first; the empty one stands for none.
struct Setting {
  bool fewer_sequences = false;
  bool narrow_cache = false;
};
constexpr std::array<Setting, 4> settings{Setting{false, false}, Setting{true, false}, Setting{false, true},
                                          Setting{true, true}};

/// Applies a setting; what was changed in words, or nothing when it does not apply.
std::optional<std::vector<std::string>> apply(const Setting& setting, ServingWorkload& w) {
  std::vector<std::string> changes;
  if (setting.fewer_sequences) {
    const std::int64_t asked = sequences_asked(w);
    if (asked >= w.max_num_seqs) {
      return std::nullopt;
    }
    w.max_num_seqs = asked;
    changes.push_back("serving.max_num_seqs = " + std::to_string(asked));
  }
  if (setting.narrow_cache) {
    if (row_of(w.kv).weight_bytes <= 1.0) {
      return std::nullopt;
    }
    w.kv = Precision::fp8;
    changes.emplace_back("serving.kv_cache = \"fp8\"");
  }
  return changes;
}

/// What the rough form assumes beyond the scenario, and where the question leaves what is known.
void note_memory(const ServeScenario& s, const ServingEstimate& e, Plan& plan) {
  const std::int64_t held = e.memory.max_sequences * e.replicas;
  if (s.work.concurrency > held) {
    const bool limited = e.memory.max_sequences < e.memory.capacity;
    plan.notes.push_back("concurrency " + std::to_string(s.work.concurrency) + " exceeds what " +
                         (limited ? "max_num_seqs lets in" : "the KV cache holds") + " (" + std::to_string(held) +
                         " sequences): the rest waits");
  }
  const std::int64_t positions = s.architecture.max_seq_len;
  if (positions > 0 && s.work.limits().sequence_tokens > positions) {
    plan.notes.push_back("sequences of " + std::to_string(s.work.limits().sequence_tokens) + " tokens exceed the " +
                         std::to_string(positions) + " positions that " + s.architecture.id + " was trained on");
  }
  if (!s.device.memory.visible) {
    plan.notes.push_back(
        "memory: " + s.device.id +
        " has no 'visible' capacity in the catalog; nvidia-smi's total stands for it, up to 1.3 % more "
        "than a program sees");
  }
}

}  // namespace

std::vector<std::string> serving_changes(const ServeScenario& s) {
  if (const std::optional<double> fraction = smaller_fraction(s)) {
    return {"serving.memory_fraction = " + format_number(*fraction, 2)};
  }
  for (std::int64_t factor = 1; factor <= 64; factor *= 2) {
    for (const bool more_gpus : {false, true}) {
      ServingWorkload ranks = s.work;
      ranks.layout.tp *= factor;
      std::vector<std::string> changes;
      if (factor > 1 && more_gpus) {
        ranks.gpus *= factor;
        changes.push_back("hardware.gpus = " + std::to_string(ranks.gpus));
      }
      if (factor > 1) {
        changes.push_back("strategy.tp = " + std::to_string(ranks.layout.tp));
      }
      if ((factor == 1 && more_gpus) || ranks.layout.gpus() > ranks.gpus) {
        continue;
      }
      for (const Setting& setting : settings) {
        ServingWorkload w = ranks;
        const std::optional<std::vector<std::string>> more = apply(setting, w);
        if (more && fits(s, w)) {
          changes.insert(changes.end(), more->begin(), more->end());
          return changes;
        }
      }
    }
  }
  return {};
}

ServePlan plan_serving(const ServeScenario& s, const Money& money, bool explained, PlanPart part, Plan& plan) {
  ServePlan answer;
  answer.memory_source = s.engine.uncertainty_source;
  ExplainRecorder recorder;
  double width = 0.0;
  if (part == PlanPart::memory) {
    answer.estimate = serve_memory(s.architecture, s.device, s.engine, s.work, explained ? &recorder : nullptr);
    plan.interval_source = s.engine.uncertainty_source;
  } else {
    const RoughStack stack = find_rough_stack("rough-serve");
    answer.estimate = serve(s.architecture, s.device, stack, s.engine, s.work, explained ? &recorder : nullptr);
    plan.interval_source = stack.interval_source;
    width = stack.interval;
  }
  plan.explain = recorder.entries();
  const ServingEstimate& e = answer.estimate;
  answer.verdict = verdict_text(e.verdict, e.broke, e.limit);
  if (e.verdict == Verdict::out_of_memory || e.verdict == Verdict::kv_cache_too_small) {
    answer.changes = serving_changes(s);
    return answer;
  }
  if (e.verdict != Verdict::feasible) {
    answer.problems.push_back(serving_problem(e));
    return answer;
  }
  note_memory(s, e, plan);
  const CompiledServingMemory compiled =
      compile_serving_memory(s.architecture, s.device, s.engine.memory, s.work.layout, s.work.weights, s.work.kv);
  answer.longest_sequence = longest_sequence(compiled, s.work.limits(), e.batch);
  if (part == PlanPart::memory) {
    return answer;
  }
  answer.ttft = widened(e.ttft, width);
  answer.tpot = widened(e.tpot, width);
  answer.output_tokens_per_s = widened(e.output_tokens_per_s, width);
  answer.binds = e.decode_memory_bound ? "decode reads weights and KV cache: memory bandwidth binds"
                                       : "decode is compute-bound at this batch";
  if (money.price) {
    answer.cost_per_million_output_tokens =
        widened(cost_per_million(static_cast<double>(s.work.gpus) * *money.price, Hertz{e.output_tokens_per_s}), width);
  }
  return answer;
}

}  // namespace headroom
