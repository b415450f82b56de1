// SPDX-License-Identifier: Apache-2.0
// The search equals brute force on random small spaces: lists, trade-offs, the plan taken and the counts.
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search.hpp>
#include <headroom/scenarios/search/search_job.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include "search_oracle.hpp"
#include <random>

using namespace headroom;
using headroom::test::AxisChoice;
using headroom::test::Oracle;
using headroom::test::OracleAnswer;
using headroom::test::OracleQuestion;
using headroom::test::Priced;
using headroom::test::sources;

namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_{seed} {}
  /// 0 .. n - 1
  std::size_t below(std::size_t n) { return engine_() % n; }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  template <class T>
  T one(const std::vector<T>& of) {
    return of[below(of.size())];
  }
  /// A few of them, in their order, never none.
  template <class T>
  std::vector<T> some(const std::vector<T>& of, std::size_t most) {
    std::vector<T> few;
    for (const T& item : of) {
      if (few.size() < most && chance(50)) {
        few.push_back(item);
      }
    }
    return few.empty() ? std::vector<T>{one(of)} : few;
  }

 private:
  std::mt19937_64 engine_;
};

using Texts = std::vector<std::string>;

std::string listed(const Texts& items) {
  std::string text;
  for (const std::string& item : items) {
    text += (text.empty() ? "" : ", ") + item;
  }
  return "[" + text + "]";
}

/// An axis that a space may fix, list or free: its values as numbers and as TOML.
struct AxisRow {
  std::string name;
  std::vector<int> values;
  Texts words;              ///< as TOML; empty: the numbers themselves
  int stated, list, every;  ///< percent of the spaces that fix, list or free it
};

const std::vector<AxisRow>& axis_rows() {
  static const Texts flags{"false", "true"};
  static const std::vector<AxisRow> rows{
      {"order", {0, 1, 2, 3}, {"\"tp-cp-dp-pp\"", "\"tp-cp-pp-dp\"", "\"tp-dp-cp-pp\"", "\"tp-pp-cp-dp\""}, 5, 10, 5},
      {"tp", {1, 2, 3, 4, 8, 16}, {}, 5, 25, 55},
      {"cp", {1, 2, 4}, {}, 5, 15, 20},
      {"ep", {1, 2, 4, 8}, {}, 5, 20, 30},
      {"etp", {1, 2, 4}, {}, 5, 10, 10},
      {"pp", {1, 2, 3, 4, 6, 8}, {}, 5, 25, 55},
      {"micro_batch", {1, 2, 3, 4, 6, 16}, {}, 10, 25, 15},
      {"sequence_parallel", {0, 1}, flags, 20, 10, 15},
      {"recompute", {0, 1, 2}, {"\"none\"", "\"selective\"", "\"full\""}, 0, 30, 20},
      {"recompute_block", {1, 2, 3}, {}, 0, 10, 5},
      {"cp_form", {0, 1, 2}, {"\"ring\"", "\"all-gather\"", "\"ulysses\""}, 10, 10, 10},
      {"overlap_experts", {0, 1}, flags, 0, 10, 10},
      {"cuda_graphs", {0, 1}, flags, 0, 5, 5},
      {"shard_ranks", {0, 1, 2, 4, 8}, {}, 0, 15, 10},
      {"schedule", {0, 1, 2, 4, 5}, {"\"1f1b\"", "\"gpipe\"", "\"zb-h1\"", "\"zb-v\"", "\"dualpipe\""}, 10, 15, 10},
      {"vpp", {1, 2, 3}, {}, 5, 15, 10},
      {"zero", {0, 1, 2, 3}, {}, 15, 25, 30},
  };
  return rows;
}

struct Space {
  Texts search;  ///< [search], [objective] and the rest, as assignments
  OracleQuestion question;
};

class SpaceMaker {
 public:
  explicit SpaceMaker(std::uint64_t seed) : draw_{seed}, fails_{~seed} {}

  Space make() {
    scenario();
    strategy_axes();
    long_run();
    jobs();
    objective();
    return std::move(space_);
  }

 private:
  void scenario() {
    const int heads = draw_.one<int>({4, 8, 12, 16});
    const int wide = draw_.one<int>({64, 128, 256, 512});  // of a head: small spaces, models of 50 M to 10 B
    const int hidden = heads * wide;
    common_ = {"schema=1",
               "confidence=0.9",
               "kind=\"train\"",
               "training.precision=\"bf16\"",
               "training.seq_len=" + draw_.one<std::string>({"1000", "2048", "4096", "8192"}),
               "training.tokens=1e9",
               "money.price=\"2.5 $/h\""};
    batch_ = draw_.one<std::string>({"8", "12", "16", "24", "32", "64"});
    const auto model = [&](const std::string& key, const std::string& value) {
      common_.push_back("model." + key + "=" + value);
    };
    model("kind", "\"decoder\"");
    model("layers", std::to_string(draw_.one<int>({3, 4, 6, 8, 12})));
    model("hidden", std::to_string(hidden));
    model("heads", std::to_string(heads));
    model("kv_heads", std::to_string(heads / draw_.one<int>({1, 2, 4})));
    model("ffn_hidden", std::to_string(4 * hidden));
    model("gated_mlp", draw_.chance(70) ? "true" : "false");
    model("vocab", "32000");
    model("tied_embeddings", draw_.chance(30) ? "true" : "false");
    experts_ = draw_.chance(40);
    if (experts_) {
      model("moe.experts", draw_.one<std::string>({"4", "8", "12"}));
      model("moe.top_k", "2");
      model("moe.expert_ffn_hidden", std::to_string(hidden));
    }
    if (draw_.chance(10)) {
      common_.emplace_back("training.offload=[\"optimizer\"]");
    }
  }

  /// Some runs fail: goals of the run are then of the calendar.
  void long_run() {
    if (!fails_.chance(25)) {
      return;
    }
    const auto state = [&](const std::string& key, const std::string& value) {
      common_.push_back("goodput." + key + "=" + value);
    };
    state("mtbf_per_gpu", fails_.one<std::string>({"\"500 h\"", "\"5000 h\"", "\"50000 h\""}));
    state("checkpoint_store", fails_.one<std::string>({"\"5 GB/s\"", "\"100 GB/s\""}));
    state("asynchronous", fails_.chance(50) ? "true" : "false");
    state("detection", "\"5 min\"");
    state("restart", fails_.one<std::string>({"\"1 min\"", "\"15 min\""}));
    if (fails_.chance(30)) {
      state("interval", "\"20 min\"");
    } else if (fails_.chance(30)) {
      state("interval_steps", "100");
    }
    if (fails_.chance(30)) {
      state("repair", "\"24 h\"");
      state("spares", fails_.one<std::string>({"0", "1", "3"}));
    }
    if (fails_.chance(30)) {
      state("evaluation", "\"2 min\"");
      state("evaluation_every", "200");
    }
  }

  void strategy_axes() {
    for (const AxisRow& row : axis_rows()) {
      const int dice = static_cast<int>(draw_.below(100));
      if ((row.name == "ep" || row.name == "etp" || row.name == "overlap_experts") && !experts_) {
        continue;
      }
      AxisChoice choice;
      const auto text = [&](int value) {
        const auto at =
            static_cast<std::size_t>(std::find(row.values.begin(), row.values.end(), value) - row.values.begin());
        return row.words.empty() ? std::to_string(value) : row.words[at];
      };
      if (dice < row.stated) {
        choice = {AxisChoice::Kind::stated, {draw_.one(row.values)}};
        common_.push_back("strategy." + row.name + "=" + text(choice.values.front()));
      } else if (dice < row.stated + row.list) {
        choice = {AxisChoice::Kind::listed, draw_.some(row.values, 3)};
        Texts words;
        for (const int value : choice.values) {
          words.push_back(text(value));
        }
        space_.search.push_back("search." + row.name + "=" + listed(words));
      } else if (dice < row.stated + row.list + row.every) {
        choice.kind = AxisChoice::Kind::any;
        space_.search.push_back("search." + row.name + "=\"any\"");
      }
      space_.question.axes[row.name] = choice;
    }
  }

  /// One value stays in the scenario, several become a job axis.
  Texts job_axis(const std::string& name, const std::string& key, const Texts& values) {
    if (values.size() == 1) {
      common_.push_back(key + "=" + values.front());
      return {""};
    }
    space_.search.push_back("search." + name + "=" + listed(values));
    Texts assignments;
    for (const std::string& value : values) {
      assignments.push_back(key + "=" + value);
    }
    return assignments;
  }

  void jobs() {
    const std::size_t several = draw_.chance(30) ? 2 : 1;
    const Texts gpu = job_axis("gpu", "hardware.gpu",
                               draw_.some<std::string>({"\"a100-sxm-40gb\"", "\"a100-sxm-80gb\"", "\"h100-sxm-80gb\""},
                                                       draw_.chance(20) ? 2 : 1));
    const Texts gpus =
        job_axis("gpus", "hardware.gpus", draw_.some<std::string>({"2", "4", "6", "8", "16", "32"}, several));
    const Texts batch =
        job_axis("global_batch", "training.global_batch", draw_.chance(10) ? Texts{"8", "24"} : Texts{batch_});
    Texts software{""}, both{""};
    if (draw_.chance(70)) {
      software = job_axis("software", "training.software",
                          draw_.some<std::string>({"\"megatron-core-te\"", "\"torchtitan\"", "\"deepspeed\"",
                                                   "\"nanotron\"", "\"megatron-deepspeed-zero3\""},
                                                  draw_.chance(20) ? 2 : 1));
    } else if (space_.question.axis("zero").free()) {
      both = {"training.software=\"megatron-core-te\"", "training.software=\"torchtitan\""};
    }
    space_.search.insert(space_.search.end(), common_.begin(), common_.end());
    // A value that was moved into `common_` stands in every job.
    std::vector<Texts> made{{}};
    for (const Texts& axis : {gpu, gpus, software, batch, both}) {
      std::vector<Texts> longer;
      for (const Texts& job : made) {
        for (const std::string& assignment : axis) {
          longer.push_back(job);
          if (!assignment.empty()) {
            longer.back().push_back(assignment);
          }
        }
      }
      made = longer;
    }
    for (Texts& job : made) {
      job.insert(job.begin(), common_.begin(), common_.end());
    }
    space_.question.jobs = std::move(made);
  }

  void objective() {
    OracleQuestion& q = space_.question;
    q.minimize = static_cast<Goal>(draw_.below(goal_count));
    const auto first = static_cast<Goal>(draw_.below(goal_count));
    const auto second = static_cast<Goal>(draw_.below(goal_count));
    q.pareto = first == second ? std::vector{first} : std::vector{first, second};
    if (draw_.chance(15)) {
      const auto third = static_cast<Goal>(draw_.below(goal_count));
      if (std::find(q.pareto.begin(), q.pareto.end(), third) == q.pareto.end()) {
        q.pareto.push_back(third);
      }
    }
    Texts words;
    for (const Goal goal : q.pareto) {
      words.push_back("\"" + std::string{goal_names[static_cast<std::size_t>(goal)]} + "\"");
    }
    q.simplicity = draw_.one<double>({0.0, 0.05, 0.2});
    q.margin = draw_.one<double>({0.0, 0.0, 0.1, 0.5});
    q.plans = draw_.one<std::size_t>({1, 3, 5});
    const auto percent = [](double share) {
      return "\"" + std::to_string(static_cast<int>(100.0 * share + 0.5)) + " %\"";
    };
    space_.search.push_back("objective.minimize=\"" + std::string{goal_names[static_cast<std::size_t>(q.minimize)]} +
                            "\"");
    space_.search.push_back("objective.pareto=" + listed(words));
    space_.search.push_back("objective.simplicity=" + percent(q.simplicity));
    space_.search.push_back("objective.memory_margin=" + percent(q.margin));
    space_.search.push_back("objective.plans=" + std::to_string(q.plans));
  }

  Draw draw_;
  Draw fails_;  ///< of its own: what may fail changes nothing else of a space
  Space space_;
  Texts common_;
  std::string batch_;
  bool experts_ = false;
};

/// A limit that parts the space: between the cheapest and the dearest plan.
void draw_limits(Draw& draw, Space& space, const OracleAnswer& all) {
  if (all.fits.empty() || draw.chance(50)) {
    return;
  }
  const Priced& middle = all.fits[draw.below(all.fits.size())];
  const auto whole_units = [](double value, double unit) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(value / unit) + 1);
  };
  if (draw.chance(60)) {
    const std::int64_t seconds = whole_units(middle.time, 1.0);
    space.question.deadline = static_cast<double>(seconds);
    space.search.push_back("objective.deadline=\"" + std::to_string(seconds) + " s\"");
  } else {
    const std::int64_t dollars = whole_units(middle.dollars, 1.0);
    space.question.budget = static_cast<double>(dollars);
    space.search.push_back("objective.budget=\"" + std::to_string(dollars) + " $\"");
  }
}

bool same(const Candidate& found, const Priced& priced) {
  const bool same_values = found.goal == priced.goal && found.step == priced.step && found.memory == priced.memory;
  // Two strategies may cost the same to the last bit: which of them is shown is not the oracle's to say.
  return found.job == priced.job && same_values;
}

void compare(const SearchResult& found, const OracleAnswer& truth, std::size_t goals) {
  CHECK(found.counts.all() == truth.strategies);
  REQUIRE(found.found.found() == truth.chosen.has_value());
  REQUIRE(found.found.best().size() == truth.best.size());
  for (std::size_t i = 0; i < truth.best.size(); ++i) {
    CHECK(same(found.found.best()[i], truth.best[i]));
  }
  const std::vector<Candidate> front = found.found.front();
  REQUIRE(front.size() == truth.front.size());
  for (std::size_t i = 0; i < front.size(); ++i) {
    CHECK(same(front[i], truth.front[i]));
    for (std::size_t goal = 0; goal < goals; ++goal) {
      CHECK(front[i].front[goal] == truth.front[i].front[goal]);
    }
  }
  if (truth.chosen) {
    CHECK(same(found.found.recommended(), *truth.chosen));
    CHECK((found.found.recommended().strain <= 1.0) == truth.sure);
    CHECK(same(found.found.at_middle(), *truth.middle));
  }
}

/// Not within rounding: the very same candidates.
void same_lists(const Incumbents& a, const Incumbents& b) {
  const auto same_plans = [](const std::vector<Candidate>& x, const std::vector<Candidate>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_plan);
  };
  CHECK(same_plans(a.best(), b.best()));
  CHECK(same_plans(a.front(), b.front()));
  if (a.found() && b.found()) {
    CHECK(same_plan(a.recommended(), b.recommended()));
    CHECK(same_plan(a.at_middle(), b.at_middle()));
    return;
  }
  for (std::size_t i = 0; i < limit_count; ++i) {
    REQUIRE(a.closest()[i].candidate.has_value() == b.closest()[i].candidate.has_value());
    CHECK(a.closest()[i].value == b.closest()[i].value);
    if (a.closest()[i].candidate) {
      CHECK(same_plan(*a.closest()[i].candidate, *b.closest()[i].candidate));
    }
  }
}

/// What the spaces of a run had in them: a property that holds of nothing holds of no one.
struct Census {
  std::uint64_t strategies = 0, priced = 0, no_room = 0, broken = 0, left_out = 0, simpler = 0, limited = 0, safer = 0,
                unsure = 0, empty = 0, failing = 0;
};

void check_space(std::uint64_t seed, Census& census) {
  Space space = SpaceMaker{seed}.make();
  Oracle oracle{space.question, sources()};
  OracleAnswer truth = oracle.price();
  Draw draw{seed ^ 0x9e3779b97f4a7c15ULL};
  draw_limits(draw, space, truth);
  oracle.list(truth);
  std::string text;
  for (const std::string& assignment : space.search) {
    text += assignment + "\n";
  }
  CAPTURE(seed);
  CAPTURE(text);
  const SearchQuestion question = read_search(scenario_tree(space.search), "test", sources());
  SearchOptions options;
  options.threads = 1;
  SearchResult bounded;
  try {
    bounded = run_search(question, options);
  } catch (const ConfigError&) {
    CHECK(truth.strategies == 0);  // a scenario that contradicts itself: zb-v with vpp
    return;
  }
  compare(bounded, truth, space.question.pareto.size());
  options.bounded = false;
  const SearchResult all = run_search(question, options);
  compare(all, truth, space.question.pareto.size());
  CHECK(all.counts.pruned() == 0);
  CHECK(all.counts.priced == truth.priced);
  CHECK(all.counts.no_room == truth.no_room);
  CHECK(all.counts.broken == truth.broken);
  same_lists(bounded.found, all.found);
  census.strategies += truth.strategies;
  census.priced += truth.priced;
  census.no_room += truth.no_room;
  census.broken += truth.broken;
  census.left_out += bounded.counts.pruned();
  census.empty += truth.chosen ? 0 : 1;
  census.limited += truth.chosen && (space.question.deadline || space.question.budget) ? 1 : 0;
  census.safer += truth.chosen && truth.sure && !(*truth.chosen == *truth.middle) ? 1 : 0;
  census.unsure += truth.sure ? 0 : 1;
  const bool fails = std::any_of(space.search.begin(), space.search.end(),
                                 [](const std::string& key) { return key.starts_with("goodput."); });
  census.failing += fails && truth.chosen ? 1 : 0;
  census.simpler += truth.chosen && !(*truth.chosen == truth.best.front()) ? 1 : 0;
}

}  // namespace

TEST_CASE("a search finds what the evaluation of every strategy finds, on 1,000 random spaces") {
  constexpr std::uint64_t spaces = 1000;
  Census census;
  for (std::uint64_t seed = 1; seed <= spaces; ++seed) {
    check_space(seed, census);
  }
  // Orders that put data ranks inside context ranks: no table is shared over numbers of stages.
  for (const std::uint64_t seed : {10885U, 11390U, 13123U}) {
    check_space(seed, census);
  }
  INFO("strategies " << census.strategies << ", priced " << census.priced << ", no room " << census.no_room
                     << ", broken " << census.broken << ", left out " << census.left_out << ", simpler "
                     << census.simpler << ", limited " << census.limited << ", safer " << census.safer << ", unsure "
                     << census.unsure << ", empty " << census.empty);
  // Every kind of end was met often enough to mean something.
  CHECK(census.priced > 50'000);
  CHECK(census.no_room > 10'000);
  CHECK(census.broken > 10'000);
  CHECK(census.left_out > 20'000);
  CHECK(census.simpler > 20);
  CHECK(census.limited > 100);
  CHECK(census.safer > 20);   // another plan than at the middle, for the slow end
  CHECK(census.unsure > 20);  // none keeps the limits at the slow end
  CHECK(census.empty > 20);
  CHECK(census.failing > 100);
}
