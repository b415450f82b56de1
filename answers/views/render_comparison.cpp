// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_comparison.hpp>
#include <headroom/answers/views/side_by_side.hpp>
#include <headroom/core/number_words.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace headroom {
namespace {

const TrainScenario* train_of(const ComparedPlan& p) {
  return std::get_if<TrainScenario>(&p.plan.scenario.question);
}

std::string title_of(const ComparedPlan& p) {
  if (const TrainScenario* const t = train_of(p)) {
    return t->architecture.name + " on " + std::to_string(t->work.shape.gpus) + " x " + t->device.id;
  }
  const auto& s = std::get<ServeScenario>(p.plan.scenario.question);
  return s.architecture.name + " served on " + std::to_string(s.work.gpus) + " x " + s.device.id;
}

std::string verdict_of(const ComparedPlan& p) {
  const std::optional<double> chance = p.plan.chance_to_fit();
  const auto joined = [&](const std::vector<Problem>& problems, const std::string& verdict) {
    std::string text;
    for (const Problem& problem : problems) {
      text += (text.empty() ? "" : "; ") + problem.text;
    }
    const std::string sure =
        chance ? (p.plan.feasible() ? ", with probability " : "; it fits with probability ") + probability_text(*chance)
               : std::string{};
    return problems.empty() ? verdict + sure : text;
  };
  if (const auto* const t = std::get_if<TrainPlan>(&p.plan.answer)) {
    return joined(t->problems, t->verdict);
  }
  const auto& s = std::get<ServePlan>(p.plan.answer);
  return joined(s.problems, s.verdict);
}

std::string plans_text(const Comparison& c) {
  std::string text;
  for (std::size_t i = 0; i < c.plans.size(); ++i) {
    const ComparedPlan& p = c.plans[i];
    text += column_label(i) + "  " + p.file + ": " + title_of(p) + "\n   " + verdict_of(p) + "\n";
  }
  for (const RefusedPlan& refused : c.refused) {
    text += "-  " + refused.file + ": no answer\n   " + refused.why + "\n";
  }
  return text;
}

void add_row(SideBySideTable& table,
             const Comparison& c,
             std::string name,
             const std::function<std::string(const ComparedPlan&)>& cell) {
  std::vector<std::string> cells;
  for (const ComparedPlan& p : c.plans) {
    cells.push_back(cell(p));
  }
  table.row(std::move(name), std::move(cells));
}

/// A row of what a training plan says of its time; blank for plans whose time is not priced.
template <class Say>
void add_training(SideBySideTable& table, const Comparison& c, std::string name, Say say) {
  add_row(table, c, std::move(name), [&](const ComparedPlan& p) {
    return p.samples_per_second > 0.0 ? say(*train_of(p), std::get<TrainPlan>(p.plan.answer)) : std::string{};
  });
}

double dollars_per_second(const ComparedPlan& p) {
  const auto& price = p.plan.scenario.money.price;
  return price ? p.gpus_held * price->raw() : 0.0;
}

std::string per_dollar(const ComparedPlan& p) {
  const double price = dollars_per_second(p);
  return price > 0.0 && p.kept_per_second > 0.0 ? format_number(p.kept_per_second / price) : "";
}

/// Whether any plan says what fails.
bool counts_failures(const Comparison& c) {
  return std::any_of(c.plans.begin(), c.plans.end(),
                     [](const ComparedPlan& p) { return std::get<TrainPlan>(p.plan.answer).outlook.has_value(); });
}

/// What the dollars are made of: who states each price and when.
std::string prices_text(const Comparison& c) {
  std::string text;
  for (std::size_t i = 0; i < c.plans.size(); ++i) {
    const Money& money = c.plans[i].plan.scenario.money;
    if (money.price) {
      text += "  price of " + column_label(i) + ": " + format(*money.price) + " per GPU (" + money.source + ")\n";
    }
  }
  return text;
}

std::string training_table(const Comparison& c) {
  SideBySideTable table{"", c.plans.size()};
  add_row(table, c, "memory per GPU", [](const ComparedPlan& p) {
    const auto& t = std::get<TrainPlan>(p.plan.answer);
    return t.memory.mid > Bytes{} ? format(t.memory.mid) : std::string{};
  });
  add_row(table, c, "capacity",
          [](const ComparedPlan& p) { return format(train_of(p)->device.visible_capacity().value); });
  add_training(table, c, "step", [](const auto&, const TrainPlan& p) { return format(p.step.mid); });
  add_training(table, c, "tokens/s", [](const auto&, const TrainPlan& p) { return format_number(p.tokens_per_s.mid); });
  add_training(table, c, "tokens/s per GPU",
               [](const auto&, const TrainPlan& p) { return format_number(p.tokens_per_s_per_gpu.mid); });
  add_training(table, c, "MFU", [](const auto&, const TrainPlan& p) { return percent(p.mfu.mid); });
  add_training(table, c, "duration", [](const TrainScenario& t, const TrainPlan& p) {
    return t.tokens > 0.0 ? format(p.duration.mid) : std::string{};
  });
  if (counts_failures(c)) {
    add_training(table, c, "goodput", [](const auto&, const TrainPlan& p) {
      return p.outlook ? percent(p.outlook->ratio.mid) : std::string{};
    });
    add_training(table, c, "with failures", [](const auto&, const TrainPlan& p) {
      return p.outlook ? format(p.calendar.mid) : std::string{"not counted"};
    });
  }
  add_training(table, c, "cost", [](const auto&, const TrainPlan& p) {
    return p.cost.mid > Dollars{} ? format(p.cost.mid) : std::string{};
  });
  add_training(table, c, "energy", [](const TrainScenario& t, const TrainPlan& p) {
    return p.energy && t.tokens > 0.0 ? format(p.energy->run.mid) : std::string{};
  });
  add_row(table, c, "sequences per $", per_dollar);
  return "\n" + table.text() + prices_text(c);
}

/// "64 in flight" where all plans are asked that; else each its own.
std::string in_flight(const Comparison& c) {
  const auto asked = [](const ComparedPlan& p) {
    return std::get<ServeScenario>(p.plan.scenario.question).work.concurrency;
  };
  const std::int64_t first = asked(c.plans.front());
  const bool same = std::all_of(c.plans.begin(), c.plans.end(), [&](const auto& p) { return asked(p) == first; });
  return same ? std::to_string(first) + " in flight" : "each plan's own in flight";
}

std::string serving_table(const Comparison& c) {
  SideBySideTable table{"", c.plans.size()};
  const auto say = [&](std::string name, auto value) {
    add_row(table, c, std::move(name), [&](const ComparedPlan& p) {
      return p.samples_per_second > 0.0 ? value(std::get<ServePlan>(p.plan.answer)) : std::string{};
    });
  };
  add_row(table, c, "memory per GPU", [](const ComparedPlan& p) {
    const Bytes total = std::get<ServePlan>(p.plan.answer).estimate.memory.terms.total();
    return total > Bytes{} ? format(total) : std::string{};
  });
  add_row(table, c, "capacity", [](const ComparedPlan& p) {
    return format(std::get<ServeScenario>(p.plan.scenario.question).device.visible_capacity().value);
  });
  say("TTFT, " + in_flight(c), [](const ServePlan& p) { return format(p.ttft.mid); });
  say("TTFT, one prompt alone", [](const ServePlan& p) { return format(p.times->prompt_alone); });
  say("TPOT", [](const ServePlan& p) { return format(p.tpot.mid); });
  say("output tokens/s", [](const ServePlan& p) { return format_number(p.output_tokens_per_s.mid); });
  say("$ per M output tokens", [](const ServePlan& p) {
    return p.cost_per_million_output_tokens.mid > Dollars{} ? format(p.cost_per_million_output_tokens.mid)
                                                            : std::string{};
  });
  add_row(table, c, "output tokens per $", per_dollar);
  return "\n" + table.text() + prices_text(c);
}

std::string signed_text(Seconds time) {
  return time == Seconds{} ? "0" : (time < Seconds{} ? "-" : "+") + format(Seconds{std::abs(time.raw())});
}

/// Terms of the reference's step, and what each other plan has more or less of it.
std::string terms_table(const Comparison& c) {
  const ComparedPlan& first = c.plans[c.reference];
  if (c.serving || first.samples_per_second <= 0.0) {
    return {};
  }
  const Estimate& e = std::get<TrainPlan>(first.plan.answer).estimate;
  const std::string reference = column_label(c.reference);
  std::vector<std::string> header{"time of a step", reference};
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < c.plans.size(); ++i) {
    if (c.plans[i].difference) {
      header.push_back(column_label(i) + " - " + reference);
      others.push_back(i);
    }
  }
  Table table{header};
  constexpr double visible = 1e-4;  // of the first's step
  for (std::size_t t = 0; t < term_count; ++t) {
    std::vector<std::string> row{std::string{term_names[t]}, format(e.time.exposed[t])};
    bool shown = std::abs(e.time.exposed[t] / e.step) > visible;
    for (const std::size_t i : others) {
      const Difference& d = *c.plans[i].difference;
      const bool differs = std::abs(d.terms[t] / e.step) > visible;
      row.push_back(differs ? signed_text(d.terms[t]) : "0");
      shown = shown || differs;
    }
    if (shown) {
      table.row(std::move(row));
    }
  }
  std::vector<std::string> sum{"step", format(e.step)};
  for (const std::size_t i : others) {
    sum.push_back(signed_text(c.plans[i].difference->step));
  }
  table.row(std::move(sum));
  const auto tokens = [](const ComparedPlan& p) {
    const TrainingShape& s = train_of(p)->work.shape;
    return s.global_batch * s.seq_len;
  };
  const bool scaled =
      std::any_of(c.plans.begin(), c.plans.end(), [&](const ComparedPlan& p) { return tokens(p) != tokens(first); });
  return "\n" + table.text() +
         (scaled ? "  steps of other batches are scaled to the tokens of " + reference + "'s\n" : "");
}

std::string difference_text(const Comparison& c, std::size_t i) {
  const Difference& d = *c.plans[i].difference;
  const double faster = d.ratio.mid - 1.0;
  const std::string one = column_label(i);
  const std::string other = column_label(c.reference);
  const std::string ratio = "(ratio " + format_number(d.ratio.low) + " to " + format_number(d.ratio.high) + ")";
  const std::string by = faster == 0.0 ? "as many tokens/s " + ratio
                                       : percent(std::abs(faster)) + (faster < 0.0 ? " fewer" : " more") +
                                             (c.serving ? " output" : "") + " tokens/s " + ratio;
  std::string text = d.distinguishable
                         ? one + " is " + (faster < 0.0 ? "slower" : "faster") + " than " + other +
                               " by more than our usual error: " + by + "."
                         : one + " and " + other + " cannot be told apart: " + by + " is within our usual error.";
  if (!c.serving) {
    text += d.shared_level ? " They share class, GPU and software, so the error that they have in common cancels."
                           : " They differ in class, GPU or software, so their errors are independent.";
  }
  return text + "\n";
}

std::string differences_text(const Comparison& c) {
  std::string text;
  for (std::size_t i = 0; i < c.plans.size(); ++i) {
    const std::string untimed = c.plans[i].untimed();
    if (!untimed.empty()) {
      text += column_label(i) + " is compared by its memory alone, in neither time nor price: " + untimed + "\n";
    } else if (c.plans[i].difference) {
      text += difference_text(c, i);
    }
    if (const auto* served = std::get_if<ServePlan>(&c.plans[i].plan.answer)) {
      text += served->other_kernels.empty() ? "" : column_label(i) + ": " + served->other_kernels + "\n";
    }
  }
  return text.empty() ? text : "\n" + text;
}

std::string objective_text(const Objectives& o) {
  std::string text;
  const auto add = [&](std::string_view name, const std::optional<Seconds>& most) {
    text += most ? (text.empty() ? "" : ", ") + std::string{name} + " " + format(*most) : "";
  };
  add("a duration of", o.duration);
  add("TTFT", o.ttft);
  add("TPOT", o.tpot);
  return text;
}

std::string ranking_text(const Comparison& c) {
  const std::string objective = objective_text(c.objectives);
  std::string text = std::string{"\nby "} + (c.serving ? "output tokens" : "sequences") + " per dollar" +
                     (objective.empty() ? "" : ", within " + objective) + "\n";
  Table table{{"", "", "<"}};
  std::size_t place = 0;
  for (const RankedOffer& r : c.ranking) {
    const bool ranks = r.standing == Standing::meets;
    place += ranks ? 1 : 0;
    std::string why = r.standing == Standing::misses       ? "misses the objective"
                      : r.standing == Standing::unpriced   ? "no price given"
                      : r.standing == Standing::untimed    ? "no time to rank it by"
                      : r.standing == Standing::infeasible ? "infeasible: " + verdict_of(c.plans[r.offer])
                      : c.plans[r.offer].near_best         ? "not surely less than the first"
                                                           : "";
    if (c.plans[r.offer].crosses) {
      why += (why.empty() ? "" : "; ") +
             std::string{"keeps the objective at the middle, and not with the probability asked for"};
    }
    table.row({(ranks ? std::to_string(place) + ". " : "-  ") + column_label(r.offer),
               r.samples_per_dollar > 0.0 ? format_number(r.samples_per_dollar) : "", why});
  }
  return text + table.text();
}

Value difference_value(const Difference& d, bool serving) {
  return object("throughput_ratio"_m = share(d.ratio), "distinguishable"_m = d.distinguishable,
                "shared_level"_m = when(!serving, d.shared_level), "step_s"_m = when(!serving, d.step),
                "terms_s"_m = serving ? Value{} : step_terms(d.terms));
}

Value plan_value(const ComparedPlan& p, bool serving) {
  const bool timed = p.samples_per_second > 0.0;
  const std::string untimed = p.untimed();
  const auto* const t = std::get_if<TrainPlan>(&p.plan.answer);
  const auto* const s = std::get_if<ServePlan>(&p.plan.answer);
  return object(
      "file"_m = p.file, "feasible"_m = p.plan.feasible(), "verdict"_m = verdict_of(p), price(p.plan.scenario.money),
      t != nullptr
          ? object("memory_bytes"_m = t->memory.mid, "step_time_s"_m = when(timed, t->step.mid),
                   "tokens_per_s"_m = when(timed, per_second(t->tokens_per_s.mid)),
                   "sequences_per_s"_m = when(timed, per_second(p.samples_per_second)),
                   "duration_s"_m = when(t->duration.mid > Seconds{}, t->duration.mid),
                   "goodput"_m = t->outlook ? share(t->outlook->ratio.mid) : Value{},
                   "calendar_s"_m = when(t->outlook.has_value(), t->calendar.mid),
                   "cost_usd"_m = when(t->cost.mid > Dollars{}, t->cost.mid),
                   "run_j"_m = t->energy && t->energy->run.mid > Joules{} ? Value{t->energy->run.mid} : Value{})
      : timed ? object("ttft_s"_m = s->ttft.mid, "prompt_alone_s"_m = s->times->prompt_alone, "tpot_s"_m = s->tpot.mid,
                       "output_tokens_per_s"_m = per_second(p.samples_per_second),
                       "other_kernels"_m = when(!s->other_kernels.empty(), s->other_kernels))
              : Value{},
      "untimed"_m = when(!untimed.empty(), untimed),
      "against_reference"_m = p.difference ? difference_value(*p.difference, serving) : Value{});
}

Value ranked_value(const Comparison& c, const RankedOffer& r) {
  const bool priced = r.samples_per_dollar > 0.0;
  return row(
      "plan"_m = r.offer, "standing"_m = standing_names[static_cast<std::size_t>(r.standing)],
      "near_best"_m = c.plans[r.offer].near_best, "crosses_objective"_m = c.plans[r.offer].crosses,
      Member{c.serving ? "output_tokens_per_usd" : "sequences_per_usd", when(priced, per_usd(r.samples_per_dollar))});
}

}  // namespace

std::string comparison_text(const Comparison& c) {
  return plans_text(c) + "\n" + keys_text(c.keys) + (c.serving ? serving_table(c) : training_table(c)) +
         terms_table(c) + differences_text(c) + ranking_text(c);
}

Value comparison_document(const Comparison& c) {
  return object(
      "schema"_m = "headroom.compare/1", "kind"_m = c.serving ? "serve" : "train",
      "plans"_m = list(c.plans, [&](const ComparedPlan& p) { return plan_value(p, c.serving); }),
      "refused"_m = when(!c.refused.empty(), list(c.refused,
                                                  [](const RefusedPlan& refused) {
                                                    return row("file"_m = refused.file, "why"_m = refused.why);
                                                  })),
      "reference"_m = c.reference,
      "differs"_m =
          list(c.keys, [](const DifferingKey& key) { return row("key"_m = key.key, "values"_m = key.values); }),
      "ranking"_m = list(c.ranking, [&](const RankedOffer& r) { return ranked_value(c, r); }));
}

}  // namespace headroom
