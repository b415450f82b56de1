// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/remedy.hpp>

#include <algorithm>
#include <array>
#include <functional>

namespace headroom {
namespace {

struct Change {
  std::string text;
  std::function<void(Strategy&)> apply;
};

/// Every single change that means something for this strategy, least disruptive first.
std::vector<Change> possible_changes(const Architecture& arch, const Strategy& s, std::int64_t domain) {
  std::vector<Change> changes;
  for (int micro_batch = s.micro_batch / 2; micro_batch >= 1; micro_batch /= 2) {
    changes.push_back({"strategy.micro_batch = " + std::to_string(micro_batch),
                       [=](Strategy& x) { x.micro_batch = static_cast<std::uint16_t>(micro_batch); }});
  }
  if (!s.sequence_parallel && s.tp > 1) {
    changes.push_back({"strategy.sequence_parallel = true", [](Strategy& x) { x.sequence_parallel = true; }});
  }
  for (auto mode = static_cast<std::size_t>(s.recompute) + 1; mode < recompute_names.size(); ++mode) {
    changes.push_back({"strategy.recompute = \"" + std::string{recompute_names[mode]} + "\"",
                       [=](Strategy& x) { x.recompute = static_cast<Recompute>(mode); }});
  }
  for (int zero = s.zero + 1; zero <= 3; ++zero) {
    changes.push_back(
        {"strategy.zero = " + std::to_string(zero), [=](Strategy& x) { x.zero = static_cast<std::uint8_t>(zero); }});
  }
  if (arch.moe) {
    // Experts move between ranks that stand already: dp, tp and pp stay.
    for (std::int64_t ep = 2 * s.ep; ep <= arch.moe->experts; ep *= 2) {
      changes.push_back(
          {"strategy.ep = " + std::to_string(ep), [=](Strategy& x) { x.ep = static_cast<std::uint16_t>(ep); }});
    }
    for (int etp = 2 * s.etp; etp <= s.tp; etp *= 2) {
      changes.push_back({"strategy.etp = " + std::to_string(etp), [=](Strategy& x) {
                           x.etp = static_cast<std::uint16_t>(etp);
                           x.etp_open = false;
                         }});
    }
    if (s.etp > 1) {
      changes.push_back({"strategy.etp = 1", [](Strategy& x) {
                           x.etp = 1;
                           x.etp_open = false;
                         }});
    }
  }
  // dp gives way: the number of GPUs stays.
  for (std::uint32_t factor = 2; factor <= 64; factor *= 2) {
    if (s.dp % factor != 0) {
      break;
    }
    if (std::int64_t{s.tp} * factor <= domain) {
      changes.push_back({"strategy.tp = " + std::to_string(s.tp * factor), [=](Strategy& x) {
                           x.tp = static_cast<std::uint16_t>(x.tp * factor);
                           x.sequence_parallel = true;
                         }});
    }
    changes.push_back({"strategy.pp = " + std::to_string(s.pp * factor),
                       [=](Strategy& x) { x.pp = static_cast<std::uint16_t>(x.pp * factor); }});
  }
  return changes;
}

/// The key that a change sets: two changes of one key never combine.
std::string_view key_of_change(const Change& change) {
  return std::string_view{change.text}.substr(0, change.text.find(' '));
}

class RemedySearch {
 public:
  RemedySearch(const CompiledTraining& compiled, const Strategy& strategy, std::int64_t domain)
      : compiled_{compiled}, strategy_{strategy}, changes_{possible_changes(compiled.architecture, strategy, domain)} {}

  /// All remedies of exactly `size` changes, in order of disruption.
  std::vector<Remedy> of_size(std::size_t size) {
    found_.clear();
    chosen_.clear();
    extend(0, size);
    return std::move(found_);
  }

 private:
  void extend(std::size_t from, std::size_t missing) {
    if (missing == 0) {
      test();
      return;
    }
    for (std::size_t i = from; i < changes_.size(); ++i) {
      const bool clash = std::any_of(chosen_.begin(), chosen_.end(), [&](std::size_t j) {
        return key_of_change(changes_[j]) == key_of_change(changes_[i]);
      });
      if (!clash) {
        chosen_.push_back(i);
        extend(i + 1, missing - 1);
        chosen_.pop_back();
      }
    }
  }

  void test() {
    Strategy s = strategy_;
    Remedy remedy;
    for (const std::size_t i : chosen_) {
      changes_[i].apply(s);
      remedy.changes.push_back(changes_[i].text);
    }
    if (s.etp_open && compiled_.architecture.moe) {
      s.etp = compiled_.memory.stack.defaults.expert_tensor_ranks(s.tp, s.ep);
    }
    const std::int64_t model_ranks = std::int64_t{s.tp} * s.pp * s.cp;
    s.dp = static_cast<std::uint32_t>(std::max<std::int64_t>(1, compiled_.work.shape.gpus / model_ranks));
    const Estimate e = evaluate(compiled_, tabulate(compiled_, key_of(s)), s);
    if (e.verdict == Verdict::feasible && fits_surely(e.memory)) {
      remedy.strategy = s;
      remedy.memory = e.memory.total();
      remedy.step = e.step;
      found_.push_back(std::move(remedy));
    }
  }

  /// A remedy must hold at the upper end of the interval: one that fits by a hair is none.
  [[nodiscard]] bool fits_surely(const MemoryBreakdown& memory) const noexcept {
    const double upper = 1.0 + compiled_.memory.stack.interval;
    return upper * memory.allocated() + memory[MemoryTerm::framework] <= compiled_.capacity;
  }

  const CompiledTraining& compiled_;
  Strategy strategy_;
  std::vector<Change> changes_;
  std::vector<std::size_t> chosen_;
  std::vector<Remedy> found_;
};

}  // namespace

std::vector<Remedy> find_remedies(const CompiledTraining& compiled,
                                  const Strategy& strategy,
                                  std::int64_t domain,
                                  std::size_t limit) {
  RemedySearch search{compiled, strategy, domain};
  constexpr std::size_t most_changes = 3;
  for (std::size_t size = 1; size <= most_changes; ++size) {
    std::vector<Remedy> found = search.of_size(size);
    if (!found.empty()) {
      found.resize(std::min(found.size(), limit));
      return found;
    }
  }
  return {};
}

}  // namespace headroom
