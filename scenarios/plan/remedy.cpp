// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/plan/remedy.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/training/offload.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

namespace headroom {
namespace {

struct Change {
  std::string text;
  std::function<void(Strategy&)> apply;
};

/// Tokens a rank holds before context parallelism is worth a try: the 8,192 at which Llama 3 was trained without it
/// (Dubey et al. 2024, table 4).
constexpr std::int64_t long_sequence = 8192;

/// Experts move between ranks that stand already: dp, tp and pp stay.
void add_expert_changes(const Moe& moe, const Strategy& s, std::vector<Change>& changes) {
  for (std::int64_t ep = std::int64_t{2} * s.ep; ep <= moe.experts; ep *= 2) {
    changes.push_back(
        {"strategy.ep = " + std::to_string(ep), [=](Strategy& x) { x.ep = static_cast<std::uint16_t>(ep); }});
  }
  const auto add_etp = [&](int etp) {
    changes.push_back({"strategy.etp = " + std::to_string(etp), [=](Strategy& x) {
                         x.etp = static_cast<std::uint16_t>(etp);
                         x.etp_open = false;
                       }});
  };
  for (int etp = 2 * s.etp; etp <= s.tp; etp *= 2) {
    add_etp(etp);
  }
  if (s.etp > 1) {
    add_etp(1);
  }
}

/// Every single change of the strategy that means something for this one, least disruptive first.
std::vector<Change> possible_changes(const TrainScenario& t, const Strategy& s) {
  const std::int64_t domain = t.domain;
  const std::int64_t seq_len = t.work.shape.seq_len;
  std::vector<Change> changes;
  for (int micro_batch = s.micro_batch / 2; micro_batch >= 1; micro_batch /= 2) {
    changes.push_back({"strategy.micro_batch = " + std::to_string(micro_batch),
                       [=](Strategy& x) { x.micro_batch = static_cast<std::uint16_t>(micro_batch); }});
  }
  if (!s.sequence_parallel && s.tp > 1 && t.software.defaults.sequence_parallel) {  // off by habit: it has none
    changes.push_back({"strategy.sequence_parallel = true", [](Strategy& x) { x.sequence_parallel = true; }});
  }
  for (auto mode = static_cast<std::size_t>(s.recompute) + 1; mode < recompute_names.size(); ++mode) {
    changes.push_back({"strategy.recompute = \"" + std::string{recompute_names[mode]} + "\"",
                       [=](Strategy& x) { x.recompute = static_cast<Recompute>(mode); }});
  }
  if (t.architecture.moe) {
    add_expert_changes(*t.architecture.moe, s, changes);
  }
  // dp gives way: the number of GPUs stays.
  for (std::uint32_t factor = 2; factor <= 64; factor *= 2) {
    if (s.dp % factor != 0) {
      break;
    }
    if (std::int64_t{s.tp} * factor <= domain) {
      changes.push_back({"strategy.tp = " + std::to_string(s.tp * factor),
                         [=](Strategy& x) { x.tp = static_cast<std::uint16_t>(x.tp * factor); }});
    }
    changes.push_back({"strategy.pp = " + std::to_string(s.pp * factor),
                       [=](Strategy& x) { x.pp = static_cast<std::uint16_t>(x.pp * factor); }});
    if (seq_len / s.cp > long_sequence) {
      changes.push_back({"strategy.cp = " + std::to_string(s.cp * factor),
                         [=](Strategy& x) { x.cp = static_cast<std::uint16_t>(x.cp * factor); }});
    }
  }
  return changes;
}

/// Changes beyond the strategy's layout: they decide the software and what it keeps, so that the scenario is read again
/// with each set of them.
std::vector<std::vector<std::string>> possible_settings(const TrainScenario& t) {
  std::vector<std::string> stages{""};
  for (int zero = t.strategy.zero + 1; zero <= 3; ++zero) {
    stages.push_back("strategy.zero = " + std::to_string(zero));
  }
  std::vector<std::string> offloads{""};
  if (t.software.offloads_optimizer && !t.work.options.offload_optimizer && !t.offload_to_nvme) {
    const bool activations = t.work.options.offload_activations || t.work.options.offload_checkpoints;
    offloads.emplace_back(activations ? "training.offload = [\"activations\", \"optimizer\"]"
                                      : "training.offload = [\"optimizer\"]");
  }
  std::vector<std::string> optimizers{""};
  if (t.work.options.method == Method::full && t.optimizer.value_or(Optimizer::adamw) == Optimizer::adamw) {
    optimizers.emplace_back("training.optimizer = \"adamw-8bit\"");
  }
  std::vector<std::vector<std::string>> settings;
  for (const std::string& optimizer : optimizers) {
    for (const std::string& offload : offloads) {
      for (const std::string& zero : stages) {
        std::vector<std::string>& setting = settings.emplace_back();
        for (const std::string& change : {zero, offload, optimizer}) {
          if (!change.empty()) {
            setting.push_back(change);
          }
        }
      }
    }
  }
  return settings;
}

/// The key that a change sets: two changes of one key never combine.
std::string_view key_of_change(std::string_view text) {
  return text.substr(0, text.find(' '));
}

bool changes_numbers(const std::vector<std::string>& changes) {
  return std::any_of(changes.begin(), changes.end(),
                     [](std::string_view change) { return key_of_change(change) == "training.optimizer"; });
}

std::vector<std::string_view> keys_of(const Remedy& remedy) {
  std::vector<std::string_view> keys;
  keys.reserve(remedy.changes.size());
  for (const std::string& change : remedy.changes) {
    keys.push_back(key_of_change(change));
  }
  return keys;
}

/// What the software cannot shard is no remedy; what the scenario itself asks for is its own affair.
bool software_can(const TrainScenario& t, const Strategy& s, const Strategy& asked) {
  return t.software.shards(s.zero, s.pp > 1) || (s.zero == asked.zero && !t.software.shards(asked.zero, asked.pp > 1));
}

/// The scenario with changes, read again. The level of the user's own runs is that of one software: another has none.
TrainScenario again(const Scenario& scenario, std::span<const std::string> changes) {
  const auto& asked = std::get<TrainScenario>(scenario.question);
  Scenario read = changed(scenario, changes);
  auto& train = std::get<TrainScenario>(read.question);
  if (train.software.id == asked.software.id) {
    train.work.measured = asked.work.measured;
  }
  return std::move(train);
}

class RemedySearch {
 public:
  RemedySearch(const Scenario& scenario, const Strategy& strategy, PlanPart part)
      : scenario_{scenario},
        asked_{strategy},
        part_{part},
        groups_{part == PlanPart::all ? groups_of(std::get<TrainScenario>(scenario.question)) : nullptr},
        dp_is_stated_{states(scenario, "strategy", "dp")},
        sequence_parallel_is_stated_{states(scenario, "strategy", "sequence_parallel")} {
    const auto& t = std::get<TrainScenario>(scenario.question);
    changes_ = possible_changes(t, strategy);
    for (std::vector<std::string>& setting : possible_settings(t)) {
      settings_.push_back({std::move(setting), nullptr, {}});
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

  /// The candidate as the scenario read again answers it; nothing when that does not surely fit.
  [[nodiscard]] std::optional<Remedy> confirmed(Remedy remedy) const {
    const TrainScenario t = again(scenario_, remedy.changes);
    const TrainAnswer answer = answer_question(compile_question(t, part_, groups_).compiled, open_strategy(t));
    if (answer.estimate.verdict != Verdict::feasible || !host_has_room(t, answer.estimate)) {
      return std::nullopt;
    }
    remedy.strategy = answer.strategy;
    remedy.memory = answer.estimate.memory.total();
    remedy.step = answer.estimate.step;
    return remedy;
  }

 private:
  /// The scenario read with some settings, on first use.
  struct Setting {
    std::vector<std::string> changes;
    std::shared_ptr<const TrainScenario> train;
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
      const bool clash = std::any_of(chosen_.begin(), chosen_.end(), [&](std::size_t j) {
        return key_of_change(changes_[j].text) == key_of_change(changes_[i].text);
      });
      if (!clash) {
        chosen_.push_back(i);
        extend(setting, i + 1, missing - 1);
        chosen_.pop_back();
      }
    }
  }

  void read(Setting& setting) const {
    if (!setting.train) {
      setting.train = std::make_shared<TrainScenario>(again(scenario_, setting.changes));
      setting.compiled = compile_question(*setting.train, part_, groups_).compiled;
    }
  }

  void test(Setting& setting) {
    read(setting);
    const TrainScenario& t = *setting.train;
    OpenStrategy open{t.strategy, t.micro_batch_open, t.recompute_open, false};
    Remedy remedy{setting.changes, {}, {}, {}};
    for (const std::size_t i : chosen_) {
      const std::string_view key = key_of_change(changes_[i].text);
      changes_[i].apply(open.strategy);
      open.micro_batch = open.micro_batch && key != "strategy.micro_batch";
      open.recompute = open.recompute && key != "strategy.recompute";
      remedy.changes.push_back(changes_[i].text);
    }
    Strategy& s = open.strategy;
    if (s.etp_open && t.architecture.moe) {
      s.etp = t.software.defaults.expert_tensor_ranks(s.tp, s.ep);
    }
    const std::int64_t model_ranks = std::int64_t{s.tp} * s.pp * s.cp;
    const auto dp = static_cast<std::uint32_t>(std::max<std::int64_t>(1, t.work.shape.gpus / model_ranks));
    if (dp != s.dp && dp_is_stated_) {
      remedy.changes.push_back("strategy.dp = " + std::to_string(dp));
    }
    s.dp = dp;
    if (!sequence_parallel_is_stated_) {
      s.sequence_parallel = s.tp > 1 && t.software.defaults.sequence_parallel;
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

  const Scenario& scenario_;
  Strategy asked_;
  PlanPart part_;
  std::shared_ptr<const JobGroups> groups_;  ///< remedies keep the GPUs
  bool dp_is_stated_, sequence_parallel_is_stated_;
  std::vector<Change> changes_;
  std::vector<Setting> settings_;
  std::vector<std::size_t> chosen_;
  std::vector<Remedy> found_;
};

/// Cheapest step first, what changes the numbers last; of the same keys only the cheapest.
std::vector<Remedy> ranked(std::vector<Remedy> found) {
  std::stable_sort(found.begin(), found.end(), [](const Remedy& a, const Remedy& b) {
    const bool a_last = changes_numbers(a.changes);
    const bool b_last = changes_numbers(b.changes);
    return a_last != b_last ? b_last : a.step < b.step;
  });
  std::vector<Remedy> kept;
  for (Remedy& remedy : found) {
    const bool again =
        std::any_of(kept.begin(), kept.end(), [&](const Remedy& other) { return keys_of(other) == keys_of(remedy); });
    if (!again) {
      kept.push_back(std::move(remedy));
    }
  }
  return kept;
}

}  // namespace

std::vector<Remedy> find_remedies(const Scenario& scenario,
                                  const Strategy& strategy,
                                  PlanPart part,
                                  std::size_t limit) {
  if (!scenario.document) {
    return {};  // put together by hand: there is nothing to read again
  }
  RemedySearch search{scenario, strategy, part};
  constexpr std::size_t most_changes = 3;
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
