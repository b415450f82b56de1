// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/against/plan_gap.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/power/power.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace headroom {
namespace {

/// What a part of a run is, in the plan's words.
enum class PartKind : std::uint8_t { computing, communication, copies, data, host, unplanned, count };
constexpr std::size_t kind_count = static_cast<std::size_t>(PartKind::count);
constexpr std::array<std::string_view, kind_count> kind_names{
    "computing", "exposed_communication", "exposed_copies", "data", "host", "unplanned"};

/// As draws of power tell terms apart; what waits for other ranks shows in a trace as a collective that runs on.
constexpr PartKind kind_of(Term term) noexcept {
  if (term == Term::bubble || term == Term::straggler) {
    return PartKind::communication;
  }
  switch (draw_of(term)) {
    case Draw::matrix:
    case Draw::memory: return PartKind::computing;
    case Draw::communication: return term == Term::offload ? PartKind::copies : PartKind::communication;
    case Draw::waiting: break;
  }
  return term == Term::data                              ? PartKind::data
         : term == Term::host || term == Term::host_sync ? PartKind::host
                                                         : PartKind::unplanned;
}

struct PartWord {
  std::string_view word;
  PartKind kind;
};
/// Words that readers of traces and people who write breakdowns use.
constexpr std::array part_words{
    PartWord{"computing", PartKind::computing},
    PartWord{"compute", PartKind::computing},
    PartWord{"kernels", PartKind::computing},
    PartWord{"forward", PartKind::computing},
    PartWord{"fwd", PartKind::computing},
    PartWord{"backward", PartKind::computing},
    PartWord{"bwd", PartKind::computing},
    PartWord{"forward_backward", PartKind::computing},
    PartWord{"loss", PartKind::computing},
    PartWord{"optimizer_step", PartKind::computing},
    PartWord{"update", PartKind::computing},
    PartWord{"exposed_communication", PartKind::communication},
    PartWord{"communication", PartKind::communication},
    PartWord{"comm", PartKind::communication},
    PartWord{"allreduce", PartKind::communication},
    PartWord{"all_reduce", PartKind::communication},
    PartWord{"nccl", PartKind::communication},
    PartWord{"gradient_sync", PartKind::communication},
    PartWord{"exposed_copies", PartKind::copies},
    PartWord{"copies", PartKind::copies},
    PartWord{"copy", PartKind::copies},
    PartWord{"h2d", PartKind::copies},
    PartWord{"d2h", PartKind::copies},
    PartWord{"memcpy", PartKind::copies},
    PartWord{"idle_data", PartKind::data},
    PartWord{"data_load", PartKind::data},
    PartWord{"data_loading", PartKind::data},
    PartWord{"dataloader", PartKind::data},
    PartWord{"input", PartKind::data},
    PartWord{"idle_host", PartKind::host},
    PartWord{"idle_launch", PartKind::host},
    PartWord{"idle_sync", PartKind::host},
    PartWord{"launch", PartKind::host},
    PartWord{"overhead", PartKind::host},
    PartWord{"python", PartKind::host},
};

/// "data-load" and "Data Load" as "data_load".
std::string plain_word(std::string_view name) {
  std::string word;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (letter || (c >= 'A' && c <= 'Z')) {
      word += letter ? c : static_cast<char>(c - 'A' + 'a');
    } else if (!word.empty() && word.back() != '_') {
      word += '_';
    }
  }
  return word;
}

std::optional<Term> term_named(std::string_view word) {
  for (std::size_t i = 0; i < term_count; ++i) {
    if (term_names[i] == word && static_cast<Term>(i) != Term::measured_level) {
      return static_cast<Term>(i);
    }
  }
  return std::nullopt;
}

PartKind kind_of_word(std::string_view word) {
  const auto* const found =
      std::find_if(part_words.begin(), part_words.end(), [&](const PartWord& known) { return known.word == word; });
  return found == part_words.end() ? PartKind::unplanned : found->kind;
}

std::string spaced(std::string_view word) {
  std::string words{word};
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// The plan's terms, the level of one's own runs spread over them.
Breakdown spread_terms(const PlannedStep& plan) {
  Breakdown terms = plan.terms;
  terms[Term::measured_level] = Seconds{};
  const Seconds sum = terms.total();
  const double level = sum.raw() > 0.0 ? plan.step.mid / sum : 1.0;
  for (Seconds& term : terms.exposed) {
    term = level * term;
  }
  return terms;
}

struct Gatherer {
  std::vector<PlanGapRow> rows;

  PlanGapRow& row(std::string_view part) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const PlanGapRow& r) { return r.part == part; });
    if (found != rows.end()) {
      return *found;
    }
    rows.emplace_back().part = std::string{part};
    return rows.back();
  }
};

/// Terms below this share of the step are rounding, not work.
constexpr double least_told = 1e-6;

/// Each term on the row that bears its name, else on that of its kind; the kind's row is made where it must be.
void add_terms(Gatherer& all, const Breakdown& terms) {
  const Seconds least = least_told * terms.total();
  std::vector<std::pair<Seconds, Term>> order;
  for (std::size_t i = 0; i < term_count; ++i) {
    order.emplace_back(terms.exposed[i], static_cast<Term>(i));
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [time, term] : order) {
    if (time <= least) {
      continue;
    }
    const std::string_view name = term_names[static_cast<std::size_t>(term)];
    const auto own =
        std::find_if(all.rows.begin(), all.rows.end(), [&](const PlanGapRow& r) { return r.part == name; });
    PlanGapRow& row = own != all.rows.end() ? *own : all.row(kind_names[static_cast<std::size_t>(kind_of(term))]);
    row.plan += time;
    row.terms.push_back(name);
  }
}

std::string sentence_of(const PlanGapRow& row, Seconds gap) {
  const std::string name = spaced(row.part);
  const std::string mostly = row.terms.empty() ? "" : " (mostly " + std::string{row.terms.front()} + ")";
  if (!row.run) {
    return "The plan has " + format(row.plan) + " of " + name + mostly + ", which the run's files do not tell.";
  }
  if (row.plan.raw() <= 0.0) {
    return "The run spends " + format(*row.run) + " a step on " + name + ", of which the plan has nothing.";
  }
  const Seconds more = row.gap();
  if (std::abs(more.raw()) < 0.01 * row.plan.raw()) {
    return "The run spends " + format(*row.run) + " a step on " + name + " as planned" + mostly + ".";
  }
  std::string text = "The run spends " + format(*row.run) + " a step on " + name + ", the plan has " +
                     format(row.plan) + mostly + ": " + format(Seconds{std::abs(more.raw())}) +
                     (more.raw() > 0.0 ? " more" : " less");
  if (gap.raw() > 0.0 && row.of_gap > 0.0) {
    text += ", " + percent(row.of_gap, 3) + " of the gap";
  }
  return text + ".";
}

PlannedUse use_of(const PlannedStep& plan, const Breakdown& terms) {
  PlannedUse use;
  use.mfu = plan.mfu;
  const Seconds products = terms[Term::gemm] + terms[Term::attention] + terms[Term::head];
  use.tensor_active = products.raw() > 0.0 ? plan.mfu * ((products + terms[Term::recompute]) / products) : plan.mfu;
  use.memory_passes = plan.passes * ((terms[Term::elementwise] + terms[Term::optimizer]) / plan.step.mid);
  return use;
}

std::string verdict_of_gap(const PlanGap& gap, const PlannedStep& plan) {
  const double ratio = gap.run / gap.plan;
  const std::string interval = " (" + format(plan.step.low) + " to " + format(plan.step.high) + ")";
  const std::string head = "A step takes " + format(gap.run) + ", the plan has " + format(gap.plan) + interval + ": ";
  const PlanGapRow* const first = gap.rows.empty() ? nullptr : &gap.rows.front();
  if (gap.within) {
    return head + "as planned.";
  }
  if (gap.reached.mfu > 1.0) {
    return head + "no GPU multiplies so fast, so that the scenario is of another run.";
  }
  if (ratio < 1.0) {
    return head + percent(1.0 - ratio, 3) + " faster than planned; the plan's inputs or the breakdown miss something.";
  }
  return head + percent(ratio - 1.0, 3) + " longer" +
         (first != nullptr && first->of_gap > 0.0 ? ", of which " + spaced(first->part) + " takes the most." : ".");
}

}  // namespace

PlanGap plan_gap(const RunReading& run, const PlannedStep& plan) {
  PlanGap gap;
  gap.run = run.step.value_or(Seconds{});
  gap.plan = plan.step.mid;
  gap.within = gap.run >= plan.step.low && gap.run <= plan.step.high;
  const Breakdown terms = spread_terms(plan);
  Gatherer all;
  for (const TimePart& part : run.parts) {
    const std::string word = plain_word(part.key);
    const PartKind kind = kind_of_word(word);
    const bool known = term_named(word) || kind != PartKind::unplanned;
    PlanGapRow& row = all.row(term_named(word)              ? std::string_view{word}
                              : kind != PartKind::unplanned ? kind_names[static_cast<std::size_t>(kind)]
                                                            : std::string_view{word});
    row.run = row.run.value_or(Seconds{}) + part.time;
    if (!known && part.time.raw() > 0.0 && !word.starts_with("idle")) {
      gap.notes.push_back("No term of the plan is called " + quoted(part.key) + ": all of it counts as unplanned.");
    }
  }
  add_terms(all, terms);
  std::erase_if(all.rows, [](const PlanGapRow& row) {
    return row.run.value_or(Seconds{}).raw() <= 0.0 && row.plan.raw() <= 0.0;
  });
  gap.rows = std::move(all.rows);
  const Seconds whole = gap.run - gap.plan;
  for (PlanGapRow& row : gap.rows) {
    row.of_gap = std::abs(whole.raw()) > 1e-9 * gap.plan.raw() ? row.gap() / whole : 0.0;
    row.says = sentence_of(row, whole);
  }
  const double sign = whole.raw() < 0.0 ? -1.0 : 1.0;
  std::stable_sort(gap.rows.begin(), gap.rows.end(), [&](const PlanGapRow& a, const PlanGapRow& b) {
    return sign * a.gap().raw() > sign * b.gap().raw();
  });
  gap.planned = use_of(plan, terms);
  const double slower = gap.plan / gap.run;
  gap.reached = {slower * gap.planned.mfu, slower * gap.planned.tensor_active, slower * gap.planned.memory_passes};
  gap.verdict = verdict_of_gap(gap, plan);
  return gap;
}

}  // namespace headroom
