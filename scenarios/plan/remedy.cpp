// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/plan/remedy.hpp>
#include <headroom/scenarios/training/offload.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace headroom {
namespace {

/// Tokens a rank holds before context parallelism is worth a try: the 8,192 at which Llama 3 was trained without it
/// (Dubey et al. 2024, table 4).
constexpr std::int64_t long_sequence = 8192;

constexpr std::size_t most_changes = 3;

/// Whether it puts weights on the host without the stage that brings them layer by layer.
bool lacks_stage(const Changes& setting, int zero) {
  bool weights = false;
  for (const Change& change : setting) {
    if (change.knob == Knob::zero) {
      zero = static_cast<int>(std::get<std::int64_t>(change.value));
    } else if (change.knob == Knob::offload) {
      const auto& what = std::get<std::vector<Offload>>(change.value);
      weights = std::find(what.begin(), what.end(), Offload::parameters) != what.end();
    }
  }
  return weights && zero < 3;
}

/// Experts move between ranks that stand already: dp, tp and pp stay.
void add_expert_changes(const Moe& moe, const Strategy& s, Changes& changes) {
  for (std::int64_t ep = std::int64_t{2} * s.ep; ep <= moe.experts; ep *= 2) {
    changes.emplace_back(Knob::ep, ep);
  }
  for (int etp = 2 * s.etp; etp <= s.tp; etp *= 2) {
    changes.emplace_back(Knob::etp, etp);
  }
  if (s.etp > 1) {
    changes.emplace_back(Knob::etp, 1);
  }
}

/// Every single change of the strategy that means something for this one, least disruptive first.
Changes possible_changes(const TrainScenario& t, const Strategy& s) {
  const std::int64_t seq_len = t.work.shape.seq_len;
  Changes changes;
  for (int micro_batch = s.micro_batch / 2; micro_batch >= 1; micro_batch /= 2) {
    changes.emplace_back(Knob::micro_batch, micro_batch);
  }
  if (!s.sequence_parallel && s.tp > 1 && t.software.defaults.sequence_parallel) {  // off by habit: it has none
    changes.emplace_back(Knob::sequence_parallel, true);
  }
  for (auto mode = static_cast<std::size_t>(s.recompute) + 1; mode < recompute_names.size(); ++mode) {
    changes.emplace_back(Knob::recompute, static_cast<Recompute>(mode));
  }
  if (t.architecture.moe) {
    add_expert_changes(*t.architecture.moe, s, changes);
  }
  // dp gives way: the number of GPUs stays.
  for (std::int64_t factor = 2; factor <= 64; factor *= 2) {
    if (s.dp % factor != 0) {
      break;
    }
    if (s.tp * factor <= t.domain) {
      changes.emplace_back(Knob::tp, s.tp * factor);
    }
    changes.emplace_back(Knob::pp, s.pp * factor);
    if (seq_len / s.cp > long_sequence) {
      changes.emplace_back(Knob::cp, s.cp * factor);
    }
  }
  return changes;
}

/// What more may lie on the host. Beside layer inputs or weights it is told with what lies there already.
Changes possible_offloads(const TrainScenario& t, bool one_card) {
  const MemoryOptions& o = t.work.options;
  if (t.offload_to_nvme || o.offload_parameters) {
    return {};
  }
  std::vector<Offload> kept;
  if (o.offload_activations || o.offload_checkpoints) {
    kept.push_back(Offload::activations);
  }
  Changes changes;
  const auto add = [&](Offload more) {
    std::vector<Offload> all = kept;
    all.push_back(more);
    changes.emplace_back(Knob::offload, std::move(all));
  };
  if (t.software.offloads_optimizer && !o.offload_optimizer) {
    add(Offload::optimizer);
  }
  if (one_card && t.software.offloads_parameters) {
    add(Offload::parameters);
  }
  return changes;
}

/// Optimizers of the same rule whose moments take less of the device.
Changes possible_optimizers(const TrainScenario& t) {
  if (t.stated.optimizer.value_or(Optimizer::adamw) != Optimizer::adamw) {
    return {};
  }
  Changes changes;
  if (t.work.options.method != Method::full && t.software.adapters) {
    changes.emplace_back(Knob::optimizer, Optimizer::paged_adamw);
  }
  if (t.work.options.method == Method::full || t.software.adapters) {
    changes.emplace_back(Knob::optimizer, Optimizer::adamw_8bit);
  }
  return changes;
}

/// What is trained, on what: the method where the software has it, the loss in parts, shorter sequences.
std::vector<Changes> possible_recipes(const TrainScenario& t) {
  std::vector<Changes> recipes{{}};
  if (!is_tuning(t)) {
    return recipes;
  }
  const MemoryOptions& o = t.work.options;
  const bool adapts = t.software.adapters || (!t.stated.software && t.work.shape.gpus == 1);
  if (adapts && o.method == Method::full) {
    recipes.push_back({{Knob::method, Method::lora}});
  }
  if (adapts && o.method != Method::qlora) {
    recipes.push_back({{Knob::method, Method::qlora}});
  }
  if (!o.fused_loss && !is_fused(t.software, o)) {
    recipes.push_back({{Knob::fused_loss, true}});
  }
  constexpr std::int64_t shortest = 512;  // tokens that still hold a question and its answer
  if (!t.architecture.patches) {
    for (std::int64_t seq_len = t.work.shape.seq_len / 2; seq_len >= shortest; seq_len /= 2) {
      recipes.push_back({{Knob::seq_len, seq_len}});
    }
  }
  return recipes;
}

/// Changes beyond the strategy's layout: they decide the software and what it keeps, so that the question is resolved
/// and compiled again with each set of them.
std::vector<Changes> possible_settings(const TrainScenario& t) {
  Changes stages, offloads = possible_offloads(t, is_tuning(t)), optimizers = possible_optimizers(t);
  for (int zero = t.strategy.zero + 1; zero <= 3; ++zero) {
    stages.emplace_back(Knob::zero, zero);
  }
  std::vector<Changes> settings;
  const auto extended = [](std::vector<Changes> all, const Changes& by) {
    const std::size_t before = all.size();
    for (const Change& change : by) {
      for (std::size_t i = 0; i < before; ++i) {
        Changes more = all[i];
        more.push_back(change);
        all.push_back(std::move(more));
      }
    }
    return all;
  };
  for (const Changes& recipe : possible_recipes(t)) {
    for (Changes& setting : extended(extended(extended({{}}, stages), offloads), optimizers)) {
      setting.insert(setting.end(), recipe.begin(), recipe.end());
      settings.push_back(std::move(setting));
    }
  }
  std::erase_if(settings, [&](const Changes& setting) {
    return setting.size() > most_changes || lacks_stage(setting, t.strategy.zero);
  });
  return settings;
}

bool changes_numbers(const Changes& changes) {
  return std::any_of(changes.begin(), changes.end(), [](const Change& c) {
    return c.knob == Knob::method || c.knob == Knob::seq_len ||
           (c.knob == Knob::optimizer && c != Change{Knob::optimizer, Optimizer::paged_adamw});
  });
}

bool same_knobs(const Remedy& a, const Remedy& b) {
  return std::equal(a.changes.begin(), a.changes.end(), b.changes.begin(), b.changes.end(),
                    [](const Change& x, const Change& y) { return x.knob == y.knob; });
}

/// What the software cannot shard is no remedy; what the scenario itself asks for is its own affair.
bool software_can(const TrainScenario& t, const Strategy& s, const Strategy& asked) {
  return t.software.shards(s.zero, s.pp > 1) || (s.zero == asked.zero && !t.software.shards(asked.zero, asked.pp > 1));
}

class RemedySearch {
 public:
  RemedySearch(const TrainScenario& train, const Strategy& strategy, PlanPart part)
      : train_{train},
        asked_{strategy},
        part_{part},
        groups_{part == PlanPart::all ? groups_of(train) : nullptr},
        changes_{possible_changes(train, strategy)} {
    for (Changes& setting : possible_settings(train)) {
      settings_.push_back({std::move(setting), std::nullopt, {}});
    }
  }

  /// All candidates of exactly `size` changes that fit, in order of disruption.
  std::vector<Remedy> of_size(std::size_t size) {
    found_.clear();
    for (Setting& setting : settings_) {
      if (setting.changes.size() <= size) {
        chosen_.clear();
        extend(setting, 0, size - setting.changes.size());
      }
    }
    return std::move(found_);
  }

  /// The candidate as the question resolved again answers it; nothing when that does not surely fit.
  [[nodiscard]] std::optional<Remedy> confirmed(Remedy remedy) const {
    const std::optional<TrainScenario> t = resolved_with(train_, remedy.changes);
    if (!t) {
      return std::nullopt;
    }
    const TrainAnswer answer = answer_question(compile_question(*t, part_, groups_).compiled, open_strategy(*t));
    if (answer.estimate.verdict != Verdict::feasible || !host_has_room(*t, answer.estimate)) {
      return std::nullopt;
    }
    remedy.strategy = answer.strategy;
    remedy.memory = answer.estimate.memory.total();
    remedy.step = answer.estimate.step;
    return remedy;
  }

 private:
  /// The question with some settings, resolved and compiled on first use.
  struct Setting {
    Changes changes;
    std::optional<TrainScenario> train;
    CompiledTraining compiled;
  };

  void extend(Setting& setting, std::size_t from, std::size_t missing) {
    if (missing == 0) {
      if (!setting.changes.empty() || !chosen_.empty()) {
        test(setting);
      }
      return;
    }
    for (std::size_t i = from; i < changes_.size(); ++i) {
      const bool clash = std::any_of(chosen_.begin(), chosen_.end(),
                                     [&](std::size_t j) { return changes_[j].knob == changes_[i].knob; });
      if (!clash) {
        chosen_.push_back(i);
        extend(setting, i + 1, missing - 1);
        chosen_.pop_back();
      }
    }
  }

  void test(Setting& setting) {
    if (!setting.train) {
      setting.train = resolved_with(train_, setting.changes);
      if (!setting.train) {
        return;
      }
      setting.compiled = compile_question(*setting.train, part_, groups_).compiled;
    }
    const TrainScenario& t = *setting.train;
    Remedy remedy{setting.changes, {}, {}, {}};
    StatedStrategy stated = t.stated.strategy;
    for (const std::size_t i : chosen_) {
      state(changes_[i], stated);
      remedy.changes.push_back(changes_[i]);
    }
    const std::optional<std::uint32_t> stated_dp = std::exchange(stated.dp, std::nullopt);
    const OpenStrategy open{resolve_strategy(stated, t), !stated.micro_batch, !stated.recompute, false};
    if (stated_dp && open.strategy.dp != *stated_dp) {
      remedy.changes.emplace_back(Knob::dp, open.strategy.dp);
    }
    const TrainAnswer answer = answer_question(setting.compiled, open);
    if (answer.estimate.verdict == Verdict::feasible && host_has_room(t, answer.estimate) &&
        software_can(t, answer.strategy, asked_)) {
      remedy.step = answer.estimate.step;
      found_.push_back(std::move(remedy));
    }
  }

  /// A remedy must hold: room that nobody stated is none.
  static bool host_has_room(const TrainScenario& t, const Estimate& e) {
    return t.offload_to_nvme || e.host.total().raw() <= 0.0 || (t.host_memory && !host_is_short(t, e));
  }

  const TrainScenario& train_;
  Strategy asked_;
  PlanPart part_;
  std::shared_ptr<const JobGroups> groups_;  ///< remedies keep the GPUs
  Changes changes_;
  std::vector<Setting> settings_;
  std::vector<std::size_t> chosen_;
  std::vector<Remedy> found_;
};

/// Tokens of a sequence that changes state; beyond any where they state none.
std::int64_t sequence_of(const Changes& changes) {
  const auto found =
      std::find_if(changes.begin(), changes.end(), [](const Change& c) { return c.knob == Knob::seq_len; });
  return found == changes.end() ? std::numeric_limits<std::int64_t>::max() : std::get<std::int64_t>(found->value);
}

/// Cheapest step first, what changes the numbers last, of sequences the longest; of the same keys only the first.
std::vector<Remedy> ranked(std::vector<Remedy> found) {
  std::stable_sort(found.begin(), found.end(), [](const Remedy& a, const Remedy& b) {
    const bool a_last = changes_numbers(a.changes);
    const bool b_last = changes_numbers(b.changes);
    const std::int64_t a_tokens = sequence_of(a.changes);
    const std::int64_t b_tokens = sequence_of(b.changes);
    return a_last != b_last ? b_last : a_tokens != b_tokens ? a_tokens > b_tokens : a.step < b.step;
  });
  std::vector<Remedy> kept;
  for (Remedy& remedy : found) {
    const bool again =
        std::any_of(kept.begin(), kept.end(), [&](const Remedy& other) { return same_knobs(other, remedy); });
    if (!again) {
      kept.push_back(std::move(remedy));
    }
  }
  return kept;
}

}  // namespace

bool is_tuning(const TrainScenario& t) noexcept {
  return t.work.options.method != Method::full || t.work.shape.gpus == 1;
}

Changes enough_gpus(const TrainScenario& train) {
  constexpr int sharded = 3;
  if (!is_tuning(train) || !train.software.shards(sharded, train.strategy.pp > 1)) {
    return {};
  }
  TrainScenario t = train;
  t.stated.software = train.software.id;  // more GPUs may mean another where none is stated
  t.stated.strategy.zero = sharded;
  t.stated.strategy.dp.reset();
  for (std::int64_t factor = 2; factor <= 8; factor *= 2) {
    t.work.shape.gpus = factor * train.work.shape.gpus;
    resolve_training(t);
    const TrainAnswer answer =
        answer_question(compile_question(t, PlanPart::memory, nullptr).compiled, open_strategy(t));
    if (answer.estimate.verdict == Verdict::feasible && !host_is_short(t, answer.estimate)) {
      Changes changes{{Knob::gpus, t.work.shape.gpus}};
      if (train.strategy.zero < sharded) {
        changes.emplace_back(Knob::zero, sharded);
      }
      if (!train.stated.software) {
        changes.emplace_back(Knob::software, train.software.id);
      }
      return changes;
    }
  }
  return {};
}

std::vector<Remedy> find_remedies(const Scenario& scenario,
                                  const Strategy& strategy,
                                  PlanPart part,
                                  std::size_t limit) {
  if (!scenario.document) {
    return {};  // put together by hand: what is stated is not known
  }
  RemedySearch search{std::get<TrainScenario>(scenario.question), strategy, part};
  std::vector<Remedy> remedies;
  for (std::size_t size = 1; size <= most_changes && remedies.empty(); ++size) {
    for (Remedy& candidate : ranked(search.of_size(size))) {
      if (remedies.size() == limit) {
        break;
      }
      if (std::optional<Remedy> holds = search.confirmed(std::move(candidate))) {
        remedies.push_back(std::move(*holds));
      }
    }
  }
  return remedies;
}

}  // namespace headroom
