// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/plan/serve_remedy.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>
#include <headroom/scenarios/read/serve_rules.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace headroom {
namespace {

/// Fewer tokens a step than the engine would start with, or run a prompt in.
bool starves(const ServeScenario& s, const ServingWorkload& w) {
  const bool fewer = w.max_num_tokens < s.work.max_num_tokens;
  const std::int64_t each = w.draft ? 1 + w.draft->speculation.draft : 1;
  const bool drafts = each > 1 && s.engine.scheduler.order == PromptOrder::beside_decodes;
  return fewer &&
         ((!s.chunked_prefill && w.max_num_tokens < w.isl) || (drafts && w.max_num_tokens < each * w.max_num_seqs) ||
          (s.engine.habits.tokens_hold_sequences && w.max_num_tokens < w.max_num_seqs));
}

bool reaches(const ServeScenario& s, const ServingWorkload& w, ServingGoal goal) {
  if (starves(s, w)) {
    return false;
  }
  const ServingEstimate e = serve_memory(s.architecture, s.device, s.engine, w);
  return e.verdict == Verdict::feasible && (goal == ServingGoal::fits || e.memory.max_sequences >= sequences_asked(w));
}

/// The largest fraction, in hundredths, that leaves room for what lies beside it.
std::optional<double> smaller_fraction(const ServeScenario& s, ServingGoal goal) {
  ServingWorkload w = s.work;
  for (int percent = static_cast<int>(100.0 * w.memory_fraction); percent >= 50; --percent) {
    w.memory_fraction = percent / 100.0;
    if (w.memory_fraction < s.work.memory_fraction && reaches(s, w, goal)) {
      return w.memory_fraction;
    }
  }
  return std::nullopt;
}

/// Changes of the engine's settings. The number of those that leave every bit as it is is the sum of its parts, each of
/// which does more harm than all before it together, so that counting up goes from the least harm to the most.
struct Setting {
  static constexpr unsigned count = 8;
  bool sequences, fraction, tokens, cache;
  constexpr Setting(unsigned number, bool narrow_cache)
      : sequences{(number & 1U) != 0},  // no more slots than sequences that come: none
        fraction{(number & 2U) != 0},   // less left to other programs
        tokens{(number & 4U) != 0},     // prompts in smaller chunks: slower prefill
        cache{narrow_cache} {}
};

/// Fewer sequences at once are not offered, for weights are read for all of them together. The number was chosen: no
/// measurement says where a replica stops being worth its weights.
constexpr std::int64_t fewest_seqs = 16;

/// Chunks are halved at most three times: below an eighth of the default prefill starves.
constexpr int most_halvings = 3;

/// Above so many hundredths of the memory no fraction is offered. The number was chosen: what other programs and the
/// driver take of a GPU is not known beforehand, and an engine that asks for what they hold does not start.
constexpr int most_percent = 95;

/// The engine's default is as far as a fraction is raised: who states less leaves the rest to others.
double highest_fraction(const ServeScenario& s, const ServingWorkload& w) {
  return s.engine.default_fraction(w.layout.tp);
}

/// The least of a change from `before` that still reaches the goal: tokens first, then the fraction.
void relax(const ServeScenario& s,
           const Setting& setting,
           ServingGoal goal,
           const ServingWorkload& before,
           ServingWorkload& w) {
  for (int halvings = 1; setting.tokens && halvings < most_halvings; ++halvings) {
    ServingWorkload more = w;
    more.max_num_tokens = before.max_num_tokens >> halvings;
    if (more.max_num_tokens > w.max_num_tokens && reaches(s, more, goal)) {
      w = more;
      break;
    }
  }
  for (int percent = static_cast<int>(std::floor(100.0 * before.memory_fraction)) + 1; setting.fraction; ++percent) {
    ServingWorkload less = w;
    less.memory_fraction = percent / 100.0;
    if (less.memory_fraction >= w.memory_fraction) {
      return;
    }
    if (reaches(s, less, goal)) {
      w = less;
      return;
    }
  }
}

/// Applies a setting to `w`; what was changed, or nothing when it does not apply or not reach the goal.
std::optional<Changes> apply(const ServeScenario& s, const Setting& setting, ServingGoal goal, ServingWorkload w) {
  const ServingWorkload before = w;
  if (setting.sequences && s.traffic) {
    return std::nullopt;  // how many come at once is not stated
  }
  if (setting.sequences) {
    const std::int64_t groups = w.layout.attention_groups();
    w.max_num_seqs = (sequences_asked(w) + groups - 1) / groups;
  }
  if (setting.fraction) {
    w.memory_fraction = std::max(w.memory_fraction, highest_fraction(s, w));
  }
  if (setting.tokens) {
    w.max_num_tokens = std::max<std::int64_t>(1, w.max_num_tokens >> most_halvings);
  }
  if (setting.cache && row_of(w.kv).weight_bytes > 1.0) {
    w.kv = Precision::fp8;
  }
  const bool applies = (!setting.sequences || w.max_num_seqs != before.max_num_seqs) &&
                       (!setting.fraction || w.memory_fraction > before.memory_fraction) &&
                       (!setting.tokens || w.max_num_tokens < before.max_num_tokens) &&
                       (!setting.cache || w.kv != before.kv);
  if (!applies || !reaches(s, w, goal)) {
    return std::nullopt;
  }
  relax(s, setting, goal, before, w);
  Changes changes;
  if (setting.sequences) {
    changes.emplace_back(Knob::max_num_seqs, w.max_num_seqs);
  }
  if (setting.fraction) {
    changes.emplace_back(Knob::memory_fraction, w.memory_fraction);
  }
  if (setting.tokens) {
    changes.emplace_back(Knob::max_num_tokens, w.max_num_tokens);
  }
  if (setting.cache) {
    changes.emplace_back(Knob::kv_cache, w.kv);
  }
  return changes;
}

/// The least slice of the same card, by its part of the card, on which the question as it stands reaches the goal; the
/// whole card where none does. Its memory alone is looked at: the rates of a larger one are no worse.
Changes larger_slice(const ServeScenario& s, ServingGoal goal) {
  ServeScenario on = s;
  for (const Device::Slice::Larger& larger : s.device.slice->larger) {
    for (std::optional<Sourced<Bytes>>* size : {&on.device.memory.usable, &on.device.memory.visible}) {
      if (*size) {
        (*size)->value = larger.memory;
      }
    }
    if (reaches(on, on.work, goal)) {
      return {{Knob::gpu, larger.id}};
    }
  }
  return {};
}

/// Of so many times the ranks those that a host does not hold are stages.
void add_ranks(const ServeScenario& s, std::int64_t factor, ServingLayout& layout) {
  for (; factor > 1; factor /= 2) {
    (spans_hosts(s, 2 * layout.tp) ? layout.pp : layout.tp) *= 2;
  }
}

/// `w` with more GPUs and more ranks of them in a replica; nothing when a replica takes more than there are.
std::optional<ServingWorkload> grown(const ServeScenario& s,
                                     const ServingWorkload& start,
                                     std::int64_t gpus_factor,
                                     std::int64_t rank_factor) {
  ServingWorkload w = start;
  w.gpus *= gpus_factor;
  add_ranks(s, rank_factor, w.layout);
  if (s.fraction_open) {
    w.memory_fraction = s.engine.default_fraction(w.layout.tp);
  }
  return w.layout.gpus() > w.gpus ? std::nullopt : std::optional{w};
}

Changes growth_changes(const ServingWorkload& from, const ServingWorkload& to) {
  Changes changes;
  if (to.gpus != from.gpus) {
    changes.emplace_back(Knob::gpus, to.gpus);
  }
  if (to.layout.tp != from.layout.tp) {
    changes.emplace_back(Knob::tp, to.layout.tp);
  }
  if (to.layout.pp != from.layout.pp) {
    changes.emplace_back(Knob::pp, to.layout.pp);
  }
  return changes;
}

bool multiplies(const Device& device, Precision precision) {
  return device.peak[static_cast<std::size_t>(row_of(precision).rate)].has_value();
}

/// Formats narrower than the weights are in, the widest first.
std::vector<Precision> narrower_formats(const ServeScenario& s) {
  std::vector<Precision> formats;
  for (const Precision format : {Precision::fp8, Precision::nvfp4, Precision::int4}) {
    const bool runs = format == Precision::int4 || multiplies(s.device, format);
    if (runs && stored_bytes(format) < stored_bytes(s.work.weights)) {
      formats.push_back(format);
    }
  }
  std::stable_sort(formats.begin(), formats.end(),
                   [](Precision a, Precision b) { return stored_bytes(a) > stored_bytes(b); });
  return formats;
}

/// Settings, ranks and cache of `start` on its GPUs, in the order of the harm they do.
std::optional<Changes> settled(const ServeScenario& s, ServingGoal goal, const ServingWorkload& start) {
  const std::int64_t most = s.device.slice ? 1 : 64;
  for (const bool cache : {false, true}) {
    for (std::int64_t tp = 1; tp <= most; tp *= 2) {
      const std::optional<ServingWorkload> w = grown(s, start, 1, tp);
      for (unsigned number = 0; w && number < Setting::count; ++number) {
        if (const std::optional<Changes> settings = apply(s, Setting{number, cache}, goal, *w)) {
          Changes changes = growth_changes(start, *w);
          changes.insert(changes.end(), settings->begin(), settings->end());
          return changes;
        }
      }
    }
  }
  return std::nullopt;
}

/// The same with weights of a format, said first.
std::optional<Changes> with_weights(const ServeScenario& s, ServingGoal goal, Precision weights) {
  ServingWorkload w = s.work;
  w.weights = weights;
  std::optional<Changes> changes = settled(s, goal, w);
  if (changes) {
    changes->insert(changes->begin(), {Knob::weights, weights});
  }
  return changes;
}

}  // namespace

Changes serving_changes(const ServeScenario& s, ServingGoal goal) {
  const std::optional<Precision> own = own_weights(s.architecture);
  if (own && stored_bytes(*own) < stored_bytes(s.work.weights)) {
    if (std::optional<Changes> changes = with_weights(s, goal, *own)) {
      return *changes;
    }
  }
  if (const std::optional<double> fraction = smaller_fraction(s, goal)) {
    return {{Knob::memory_fraction, *fraction}};
  }
  // Slices work by themselves: neither ranks nor replicas make room in one.
  const std::int64_t most = s.device.slice ? 1 : 64;
  for (std::int64_t gpus = 1; gpus <= most; gpus *= 2) {
    for (const bool cache : {false, true}) {
      for (std::int64_t tp = 1; tp <= most; tp *= 2) {
        const std::optional<ServingWorkload> w = grown(s, s.work, gpus, tp);
        const bool idle = goal == ServingGoal::fits && gpus > 1 && tp == 1;  // replicas make no room in a GPU
        for (unsigned number = 0; w && !idle && number < Setting::count; ++number) {
          if (const std::optional<Changes> settings = apply(s, Setting{number, cache}, goal, *w)) {
            Changes changes = growth_changes(s.work, *w);
            changes.insert(changes.end(), settings->begin(), settings->end());
            return changes;
          }
        }
      }
    }
  }
  return s.device.slice ? larger_slice(s, goal) : Changes{};
}

Changes narrower_weights(const ServeScenario& s, ServingGoal goal) {
  for (const Precision format : narrower_formats(s)) {
    if (std::optional<Changes> changes = with_weights(s, goal, format)) {
      return *changes;
    }
  }
  return {};
}

std::string memory_refusal(const ServeScenario& s, const ServingMemory& m) {
  if (m.verdict != Verdict::kv_cache_uncertain) {
    return verdict_text(m.verdict, m.broke, m.limit);
  }
  return "may not fit: the KV pool is " + format(m.pool) + " give or take " + format(s.engine.memory.uncertainty) +
         ", one sequence " + format(m.sequence) + " per GPU";
}

Changes ways_out(const ServeScenario& s, const ServingWorkload& work) {
  Changes ways;
  const auto add = [&](const ServingWorkload& changed, Change change) {
    if (reaches(s, changed, ServingGoal::fits)) {
      ways.push_back(std::move(change));
      return true;
    }
    return false;
  };
  for (const Precision format : narrower_formats(s)) {
    ServingWorkload w = work;
    w.weights = format;
    if (add(w, {Knob::weights, format})) {
      break;
    }
  }
  if (row_of(work.kv).weight_bytes > 1.0) {
    ServingWorkload w = work;
    w.kv = Precision::fp8;
    add(w, {Knob::kv_cache, w.kv});
  }
  for (std::int64_t seqs = work.max_num_seqs / 2; seqs >= fewest_seqs; seqs /= 2) {
    ServingWorkload w = work;
    w.max_num_seqs = seqs;
    if (add(w, {Knob::max_num_seqs, seqs})) {
      break;
    }
  }
  for (int percent = static_cast<int>(std::floor(100.0 * work.memory_fraction)) + 1; percent <= most_percent;
       ++percent) {
    ServingWorkload w = work;
    w.memory_fraction = percent / 100.0;
    if (add(w, {Knob::memory_fraction, w.memory_fraction})) {
      break;
    }
  }
  if (s.device.slice) {
    return ways;
  }
  // Tensor ranks as far as the host reaches, stages where even those are too few.
  bool held = false;
  std::int64_t factor = 2;
  for (; factor <= 8 && !held && !spans_hosts(s, work.layout.tp * factor); factor *= 2) {
    ServingWorkload w = work;
    w.layout.tp *= factor;
    w.gpus = std::max(w.gpus, w.layout.gpus());
    held = add(w, {Knob::tp, w.layout.tp});
  }
  for (std::int64_t stages = 2; stages <= 4 && !held && factor == 2; stages *= 2) {
    ServingWorkload w = work;
    w.layout.pp *= stages;
    w.gpus = std::max(w.gpus, w.layout.gpus());
    held = add(w, {Knob::pp, w.layout.pp});
  }
  return ways;
}

}  // namespace headroom
