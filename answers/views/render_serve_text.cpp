// SPDX-License-Identifier: Apache-2.0
// The text of a serving plan.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/change_text.hpp>

namespace headroom {
namespace {

std::string heading(const ServeScenario& s, const ServePlan& p) {
  const ServingWorkload& w = s.work;
  std::string text = s.architecture.name + " served on " + std::to_string(w.gpus) + " x " + s.device.id + " by " +
                     std::string{engine_titles[static_cast<std::size_t>(s.engine.engine)]} + ", weights " +
                     std::string{name_of(w.weights)} + ", KV cache " + std::string{name_of(w.kv)} + "\n";
  text += "tp " + std::to_string(w.layout.tp) + ", pp " + std::to_string(w.layout.pp);
  if (w.layout.ep > 1) {
    text += ", ep " + std::to_string(w.layout.ep);
  }
  text += w.layout.redundant > 0 ? " with " + counted(w.layout.redundant, "redundant expert") : "";
  text += w.layout.balanced ? ", experts balanced" : "";
  text += w.layout.two_batches ? ", two batches in turn" : "";
  if (w.pool != ServingPool::both) {
    text += ", " + std::string{serving_pool_names[static_cast<std::size_t>(w.pool)]} + " pool";
  }
  return text + ", " + counted(p.estimate.replicas, "replica") + "; " + counted(w.concurrency, "request") +
         " in flight, " + std::to_string(w.isl) + " tokens in, " + std::to_string(w.osl) + " out\n\n";
}

std::string changes_text(const std::string& what, const Changes& changes) {
  return changes.empty() ? "" : what + joined(texts_of(changes)) + "\n";
}

std::string refusal(const ServePlan& p, double chance) {
  std::string text = p.verdict + " (weights " + format(p.estimate.memory.terms[MemoryTerm::weights]);
  if (p.estimate.verdict == Verdict::out_of_memory) {
    text += ", one sequence's KV " + format(p.estimate.memory.sequence);
  }
  text += ")";
  text +=
      p.estimate.verdict == Verdict::kv_cache_uncertain ? "; it fits with probability " + probability_text(chance) : "";
  text += "\n";
  const bool same = p.changes == p.changes_for_all;
  return text + changes_text("smallest change that fits:  ", p.changes) +
         changes_text("or with narrower weights:  ", p.changes_of_weights) +
         (same ? "" : changes_text("smallest change that runs all:  ", p.changes_for_all));
}

std::string held_text(std::int64_t replicas, const ServingMemory& m) {
  return std::to_string(replicas * m.capacity) + "  (" + std::to_string(replicas * m.capacity_low) + " to " +
         std::to_string(replicas * m.capacity_high) + ")";
}

/// What the KV pools of all replicas hold.
std::string capacity_table(const ServeScenario& s, const ServePlan& p) {
  const ServingEstimate& e = p.estimate;
  const ServingMemory& m = e.memory;
  const std::int64_t replicas = e.replicas;
  const std::string tokens = std::to_string(s.work.limits().sequence_tokens);
  Table table{{"KV cache", "<"}};
  table.row({"a token of the whole model", format(e.kv_per_token)});
  table.row({"a sequence of " + tokens + " tokens, per GPU", format(m.sequence)});
  table.row({"sequences of " + tokens + " tokens",
             m.bounded() ? held_text(replicas, m) : "unbounded: no layer keeps a cache"});
  table.row({"of them run at once", std::to_string(replicas * m.max_sequences)});
  if (const std::int64_t block = s.engine.memory.block_tokens; block > 1 && m.bounded()) {
    const double waste = paged_waste(static_cast<double>(block), static_cast<double>(s.work.isl + s.work.osl));
    table.row({"lost in last blocks of " + std::to_string(block) + " tokens",
               "at most " + format_number(100.0 * waste, 2) + " % of " + std::to_string(s.work.isl + s.work.osl)});
  }
  table.row({"in use by " + std::to_string(e.batch) + " of a replica", format(e.kv_in_use) + " of " + format(m.pool)});
  table.row({"longest sequence, " + std::to_string(e.batch) + " at once",
             p.longest_sequence ? format_count(static_cast<double>(*p.longest_sequence)) + " tokens"
                                : "unbounded: the cache stops growing"});
  return table.text();
}

/// Where an iteration's time goes, beside what the datasheet allows.
std::string iteration_table(const ServingTimes& times) {
  Table table{{"iteration", "decodes", "one prompt"}};
  for (std::size_t i = 0; i < iteration_term_count; ++i) {
    if (times.decode.seconds[i] > 0.0 || times.prompt.seconds[i] > 0.0) {
      table.row({std::string{iteration_term_names[i]}, format(Seconds{times.decode.seconds[i]}),
                 format(Seconds{times.prompt.seconds[i]})});
    }
  }
  if (times.decode_drafting.raw() > 0.0) {
    table.row({"drafting", format(times.decode_drafting), format(times.prompt_drafting)});
  }
  table.row({"sum", format(Seconds{times.decode.total()} + times.decode_drafting),
             format(Seconds{times.prompt.total()} + times.prompt_drafting)});
  table.row({times.least_reads ? "least: bytes at the datasheet's bandwidth" : "least: FLOP at the datasheet's peak",
             format(times.least_decode), ""});
  return table.text();
}

/// What no engine beats, where that is all there is.
void add_bound(const ServeScenario& s, const ServePlan& p, Table& answer) {
  answer.row({"TTFT, one prompt alone", "at least " + format(p.bound->prompt_alone)});
  if (s.work.osl > 1) {
    answer.row({"TPOT, one sequence alone", "at least " + format(p.bound->tpot)});
  }
  answer.row({"output tokens/s", "at most " + format_number(p.bound->output_tokens_per_s)});
  answer.row({"requests/s", "at most " + format_number(p.bound->requests_per_s)});
}

std::string bound_text(const ServePlan& p) {
  return "bounds alone, for " + p.untimed +
         ". They are the datasheet's bandwidth and peak with nothing else counted: no engine reaches them, and they "
         "order neither SKUs nor layouts, so that no price is derived";
}

/// Whether the draft pays at this load.
std::string speculation_line(const ServePlan& p) {
  return p.speculation ? "speculation: " + p.speculation->text() + "\n" : "";
}

}  // namespace

std::string serve_text(const Plan& plan, const ServeScenario& s, const ServePlan& p) {
  const Bytes capacity = s.device.visible_capacity().value;
  const ServingMemory& m = p.estimate.memory;
  std::string text = heading(s, p);
  if (!p.problems.empty()) {
    return text + problems_text(p.problems) + notes_text(plan);
  }
  if (p.estimate.verdict != Verdict::feasible) {
    const bool some = p.estimate.verdict == Verdict::kv_cache_uncertain;
    return text + refusal(p, plan.chance_to_fit().value_or(0.0)) + "\n" + memory_table(m.terms, capacity) +
           (some ? "\n" + capacity_table(s, p) : "") + notes_text(plan);
  }
  text += p.verdict + ", with probability " + probability_text(plan.chance_to_fit().value_or(0.0)) + "\n" +
          changes_text("smallest change that runs all:  ", p.changes_for_all);
  const std::string memory = memory_table(m.terms, capacity) + "\n" + capacity_table(s, p);
  const std::string confession =
      "memory: the KV pool is sure to +/- " + format(s.engine.memory.uncertainty) + "; " + p.memory_source + "\n";
  if (plan.part == PlanPart::memory) {
    return text + "\n" + memory + notes_text(plan) + "\n" + confession;
  }
  Table answer{{"", "<"}};
  const bool prefills = s.work.pool != ServingPool::decode;
  const bool decodes = s.work.pool != ServingPool::prefill;
  if (p.times) {
    if (prefills && decodes) {
      answer.row({"TTFT, " + std::to_string(s.work.concurrency) + " in flight", interval_text(p.ttft)});
    }
    if (prefills) {
      answer.row({"TTFT, one prompt alone", format(p.times->prompt_alone)});
    }
    if (decodes && s.work.osl > 1) {
      answer.row({"TPOT, batch of " + std::to_string(p.estimate.batch), interval_text(p.tpot)});
    }
  }
  if (p.speculation && s.work.osl > 1) {
    answer.row({"  without the draft", format(p.speculation->tpot_without)});
  }
  if (p.bound) {
    add_bound(s, p, answer);
  } else if (decodes) {
    answer.row({"output tokens/s", interval_text(p.output_tokens_per_s)});
  } else {
    answer.row({"input tokens/s", interval_text(p.input_tokens_per_s)});
  }
  if (p.speculation) {
    answer.row({"  without the draft", format_number(p.speculation->output_tokens_per_s_without)});
  }
  if (p.times) {
    answer.row({"requests/s", interval_text(p.requests_per_s)});
  }
  if (plan.scenario.money.price && p.times) {
    answer.row({"cost per M output tokens", interval_text(p.cost_per_million_output_tokens)});
    answer.row({"  if billed apart: per M input tokens", interval_text(p.cost_per_million_input_tokens_apart)});
    answer.row({"  and per M output tokens", interval_text(p.cost_per_million_output_tokens_apart)});
  }
  if (decodes) {
    energy_row(answer, p.energy, "output tokens");
  }
  text += answer.text() + (p.other_kernels.empty() ? "" : "kernels: " + p.other_kernels + "\n") + "binds: " + p.binds +
          "\n" + speculation_line(p) + (p.times ? "\n" + iteration_table(*p.times) : "") + bill_text(p.bill) + "\n" +
          memory + notes_text(plan);
  text += energy_text(p.energy) + price_text(plan.scenario.money) + (plan.nearest ? nearest_text(*plan.nearest) : "") +
          "\n" + confession;
  return text + "times: " + (p.bound ? bound_text(p) : p.times_source) + "\n";
}

}  // namespace headroom
