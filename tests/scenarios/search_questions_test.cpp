// SPDX-License-Identifier: Apache-2.0
// What a planner asks of a search, and the answers that the field's rules of thumb give.
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::sources;

namespace {

using Texts = std::vector<std::string>;

SearchPlan search(Texts assignments) {
  assignments.insert(assignments.begin(), {"schema=1", "kind=\"train\"", "training.precision=\"bf16\""});
  const SearchQuestion question = read_search(scenario_tree(assignments), "test", sources());
  SearchOptions options;
  options.threads = 2;
  return explain_search(question, run_search(question, options));
}

/// A model on GPUs, the whole strategy free.
Texts whole(const std::string& model, const std::string& gpu, int gpus, int seq_len, int batch, Texts more = {}) {
  Texts keys{"model=" + model, "hardware.gpu=" + gpu, "hardware.gpus=" + std::to_string(gpus),
             "training.seq_len=" + std::to_string(seq_len), "training.global_batch=" + std::to_string(batch)};
  if (more.empty()) {
    more = {"search.strategy=any"};
  }
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

const Strategy& taken(const SearchPlan& plan) {
  REQUIRE(plan.plan);
  return plan.recommended.candidate.strategy;
}

bool replicas_alone(const Strategy& s) {
  return s.tp == 1 && s.pp == 1 && s.cp == 1 && s.ep == 1;
}

bool any_has(const Texts& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

Candidate candidate(double step, std::uint16_t tp, std::uint16_t pp, std::uint8_t zero) {
  Candidate c;
  c.strategy.tp = tp;
  c.strategy.pp = pp;
  c.strategy.zero = zero;
  c.step = Seconds{step};
  c.goal = step;
  c.memory = Bytes{40e9};
  return c;
}

}  // namespace

TEST_CASE("1.3B on 80 GB GPUs: it fits one, so one or eight replicas with nothing sharded") {
  for (const int gpus : {1, 8}) {
    const SearchPlan plan = search(whole("gpt3-1.3b", "a100-sxm-80gb", gpus, 2048, 64));
    CHECK(replicas_alone(taken(plan)));
    CHECK(taken(plan).zero == 0);
    CHECK(static_cast<int>(taken(plan).dp) == gpus);
  }
  // A faster plan that shards is named, with what the simpler one costs.
  const SearchPlan eight = search(whole("gpt3-1.3b", "a100-sxm-80gb", 8, 2048, 64));
  CHECK(eight.why_recommended.find("above the least step-time") != std::string::npos);
  CHECK(eight.why_recommended.find("lower ZeRO stages") != std::string::npos);
}

TEST_CASE("2.7B on 64 GPUs of 40 GB: states no longer fit whole, the lowest ZeRO stage that fits and no ranks") {
  const auto keys = [](const std::string& zero) {
    return whole("gpt3-2.7b", "a100-sxm-40gb", 64, 2048, 256,
                 {"search.tp=any", "search.pp=any", "search.zero=" + zero, "training.software=megatron-core-te"});
  };
  const SearchPlan plan = search(keys("any"));
  CHECK(replicas_alone(taken(plan)));
  CHECK(taken(plan).zero >= 1);
  CHECK(taken(plan).zero <= 2);
  // Replicas of whole states need 2.7e9 x 18 bytes: 45 GiB of a GPU's 40.
  const SearchPlan plain = search(whole("gpt3-2.7b", "a100-sxm-40gb", 64, 2048, 256,
                                        {"search.tp=[1]", "search.zero=[0]", "training.software=megatron-core-te"}));
  CHECK_FALSE(plain.plan);
  CHECK(any_has(plain.emptied, "do not surely fit; closest: "));
}

TEST_CASE("70B on 64 GPUs of 80 GB: tensor ranks inside the host with stages, or everything sharded") {
  const SearchPlan plan = search(whole("llama3-70b", "a100-sxm-80gb", 64, 4096, 256));
  const Strategy& s = taken(plan);
  CHECK((s.zero == 3 || (s.tp >= 2 && s.pp > 1)));
  CHECK(s.tp <= 8);
  CHECK_FALSE(plan.neighbours.empty());
  // Without tensor ranks and stages 2 x 70e9 bytes of weights alone are more than a GPU has: ZeRO 3 or nothing.
  for (const int zero : {0, 1, 2, 3}) {
    const SearchPlan sharded =
        search(whole("llama3-70b", "a100-sxm-80gb", 64, 4096, 256,
                     {"search.tp=[1]", "training.software=torchtitan", "strategy.zero=" + std::to_string(zero)}));
    CHECK(sharded.plan.has_value() == (zero == 3));
  }
}

TEST_CASE("a plan of more kinds of parallelism that is 3 % faster is named, the simpler one taken") {
  const auto answer = [](const std::string& simplicity) {
    return search(
        whole("llama3-8b", "a100-sxm-80gb", 32, 4096, 64,
              {"search.tp=any", "search.pp=any", "search.zero=any", "objective.simplicity=\"" + simplicity + "\""}));
  };
  const SearchPlan simple = answer("5 %");
  const SearchPlan fast = answer("0 %");
  CHECK(replicas_alone(taken(simple)));
  CHECK(taken(fast).tp > 1);
  const double behind = simple.recommended.candidate.step / fast.recommended.candidate.step - 1.0;
  CHECK(behind > 0.0);
  CHECK(behind < 0.05);
  CHECK(simple.why_recommended.find("which is more complicated") != std::string::npos);
  CHECK(fast.why_recommended == "least step-time of all");
  CHECK(same_plan(simple.best.front().candidate, fast.recommended.candidate));
}

TEST_CASE("of candidates within the share the fewest kinds win, then the lowest ZeRO stage, then the best") {
  const auto recommended = [](double simplicity) {
    Incumbents found{5, 0, simplicity};
    found.consider(candidate(1.00, 8, 4, 1));
    found.consider(candidate(1.03, 1, 1, 3));
    found.consider(candidate(1.02, 4, 1, 0));
    found.consider(candidate(1.04, 1, 1, 3));
    found.consider(candidate(1.08, 1, 1, 0));
    return found.recommended().goal;
  };
  CHECK(recommended(0.0) == 1.00);
  CHECK(recommended(0.025) == 1.02);
  CHECK(recommended(0.05) == 1.03);
  CHECK(recommended(0.10) == 1.08);
}

TEST_CASE("of equal goals the fastest is the least, and simplicity gives away its share of time and money at most") {
  const auto of = [](double goal, double time, double spent, std::uint16_t tp, std::uint16_t pp) {
    Candidate c = candidate(1.0, tp, pp, 1);
    c.goal = goal;
    c.time = Seconds{time};
    c.spent = spent;
    return c;
  };
  const auto recommended = [](const std::vector<Candidate>& plans) {
    Incumbents found{5, 0, 0.05};
    Incumbents backwards{5, 0, 0.05};
    for (std::size_t i = 0; i < plans.size(); ++i) {
      found.consider(plans[i]);
      backwards.consider(plans[plans.size() - 1 - i]);
    }
    CHECK(same_plan(found.recommended(), backwards.recommended()));
    return found.recommended();
  };
  // As many GPUs: 30 % slower is no price for one kind less, 4 % is.
  const Candidate fast = of(64.0, 100.0, 100.0, 8, 4);
  CHECK(same_plan(recommended({of(64.0, 130.0, 130.0, 16, 1), fast}), fast));
  const Candidate near = of(64.0, 104.0, 104.0, 4, 1);
  CHECK(same_plan(recommended({of(64.0, 130.0, 130.0, 1, 1), near, fast}), near));
  // As fast, and dearer for it; as cheap, and slower for it.
  CHECK(same_plan(recommended({of(100.0, 100.0, 200.0, 1, 1), of(100.0, 100.0, 100.0, 8, 4)}),
                  of(100.0, 100.0, 100.0, 8, 4)));
  CHECK(same_plan(recommended({of(101.0, 150.0, 101.0, 1, 1), of(100.0, 100.0, 100.0, 8, 4)}),
                  of(100.0, 100.0, 100.0, 8, 4)));
  // Of a class the least of the goal may give too much away of the others, and another of it not.
  const Candidate level = of(102.0, 102.0, 102.0, 2, 1);
  CHECK(same_plan(recommended({of(101.0, 150.0, 101.0, 4, 1), level, of(100.0, 100.0, 100.0, 8, 4)}), level));
}

TEST_CASE("the least GPUs are taken with the fastest plan of so many, but for the share of simplicity") {
  const auto answer = [](const std::string& simplicity) {
    return search({"model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "training.seq_len=8192",
                   "training.global_batch=512", "training.tokens=1e11", "money.price=\"2 $/h\"",
                   "training.software=megatron-core-te", "search.gpus=[64, 128]", "search.tp=any", "search.pp=any",
                   "objective.minimize=gpus", "objective.simplicity=\"" + simplicity + "\""});
  };
  const SearchPlan least = answer("0 %");
  const SearchPlan simple = answer("5 %");
  REQUIRE(least.plan);
  REQUIRE(simple.plan);
  CHECK(least.recommended.gpus == 64);
  CHECK(simple.recommended.gpus == 64);
  const auto time = static_cast<std::size_t>(Goal::time);
  const auto cost = static_cast<std::size_t>(Goal::cost);
  CHECK(simple.recommended.goals[time] <= 1.05 * least.recommended.goals[time]);
  CHECK(simple.recommended.goals[cost] <= 1.05 * least.recommended.goals[cost]);
  // No plan of so many GPUs is faster than the least.
  for (const ListedPlan& plan : least.front) {
    CHECK((plan.gpus != 64 || plan.goals[time] >= least.recommended.goals[time]));
  }
}

TEST_CASE("any tp stays inside the scale-up domain, listed ones are the user's word") {
  const auto most_tp = [](const Texts& keys) {
    Texts all{"schema=1", "kind=\"train\"", "training.precision=\"bf16\""};
    all.insert(all.end(), keys.begin(), keys.end());
    const SearchQuestion question = read_search(scenario_tree(all), "test", sources());
    const MadeJob made = make_job(question, 0);
    REQUIRE_MESSAGE(made.job, made.dropped.why);
    int most = 0;
    for (const LayerRanks& layout : made.job->space->layouts()) {
      most = std::max<int>(most, layout.tp);
    }
    return most;
  };
  CHECK(most_tp(whole("llama3-70b", "h100-sxm-80gb", 64, 4096, 256)) == 8);
  CHECK(most_tp(whole("llama3-70b", "h100-sxm-80gb", 64, 4096, 256, {"search.tp=any"})) == 8);
  CHECK(most_tp(whole("llama3-70b", "h100-sxm-80gb", 64, 4096, 256, {"search.tp=[8, 16]"})) == 16);
  // 72 GPUs that NVLink joins, four of a host.
  CHECK(most_tp(whole("llama3-70b", "gb200", 64, 4096, 256, {"search.tp=any"})) > 8);
}

/// An 8B on 32 to 512 GPUs for the least dollars within a deadline; the list holds every number of GPUs.
SearchPlan within(const std::string& deadline, const std::string& confidence = "0.9") {
  Texts keys{"model=llama3-8b",
             "hardware.gpu=h100-sxm-80gb",
             "confidence=" + confidence,
             "training.seq_len=8192",
             "training.global_batch=512",
             "training.tokens=1e11",
             "money.price=\"2 $/h\"",
             "training.software=megatron-core-te",
             "search.gpus=\"32..512 x2\"",
             "search.tp=any",
             "objective.minimize=cost",
             "objective.plans=10"};
  if (!deadline.empty()) {
    keys.push_back("objective.deadline=\"" + deadline + "\"");
  }
  return search(keys);
}

std::string seconds_text(double seconds) {
  return std::to_string(seconds) + " s";
}

TEST_CASE("a deadline is kept at the slow end where a plan does, and what the middle would take stands beside") {
  const SearchPlan open = within("");
  const auto time = static_cast<std::size_t>(Goal::time);
  REQUIRE(open.plan);
  REQUIRE_FALSE(open.at_middle);
  REQUIRE_FALSE(open.recommended.deadline);
  // A deadline that the cheapest plan keeps by a twentieth: at the slow end, some 12 % later, it does not.
  const double deadline = 1.05 * open.recommended.goals[time];
  const SearchPlan plan = within(seconds_text(deadline));
  REQUIRE(plan.plan);
  REQUIRE(plan.recommended.deadline);
  CHECK(plan.recommended.deadline->kept);
  CHECK(plan.recommended.deadline->reached.high <= deadline * (1.0 + 1e-6));
  CHECK(std::get<TrainPlan>(plan.plan->answer).calendar.high.raw() <= deadline * (1.0 + 1e-6));
  REQUIRE(plan.at_middle);
  REQUIRE(plan.at_middle->deadline);
  CHECK(plan.at_middle->deadline->kept_at_middle());
  CHECK_FALSE(plan.at_middle->deadline->kept);
  CHECK(same_plan(plan.at_middle->candidate, open.recommended.candidate));
  CHECK(plan.recommended.candidate.goal >= plan.at_middle->candidate.goal);
  CHECK(plan.recommended.deadline->chance >= 0.9);
  CHECK(plan.at_middle->deadline->chance < 0.9);
  // Every row says of itself what it keeps; a deadline far away parts nothing.
  CHECK(std::any_of(plan.best.begin(), plan.best.end(), [](const ListedPlan& p) { return !p.deadline->kept; }));
  const SearchPlan far = within(seconds_text(10.0 * deadline));
  CHECK_FALSE(far.at_middle);
  CHECK(same_plan(far.recommended.candidate, open.recommended.candidate));
}

TEST_CASE("a surer deadline takes no fewer dollars, and the probability told is that of the interval") {
  const SearchPlan open = within("");
  const double deadline = 1.05 * open.recommended.goals[static_cast<std::size_t>(Goal::time)];
  double dollars = 0.0;
  for (const char* confidence : {"0.5", "0.6", "0.8", "0.9", "0.97"}) {
    CAPTURE(confidence);
    const SearchPlan plan = within(seconds_text(deadline), confidence);
    REQUIRE(plan.recommended.deadline);
    const LimitedBy& by = *plan.recommended.deadline;
    CHECK(by.kept);
    CHECK(by.chance >= std::stod(confidence));
    CHECK(plan.recommended.candidate.goal >= dollars);
    dollars = plan.recommended.candidate.goal;
    // By hand: ends of the interval lie 1.2816 standard deviations from its middle, in the logarithm.
    const double end = by.limit > by.reached.mid ? by.reached.high : by.reached.low;
    const double z = 1.2815516 * std::abs(std::log(by.limit / by.reached.mid) / std::log(end / by.reached.mid));
    const double signed_z = by.limit > by.reached.mid ? z : -z;
    CHECK(by.chance == doctest::Approx(0.5 * std::erfc(-signed_z / std::sqrt(2.0))).epsilon(1e-4));
  }
  // At 0.5 the plan is that of the middle.
  CHECK_FALSE(within(seconds_text(deadline), "0.5").at_middle);
}

TEST_CASE("where no plan keeps a deadline at the slow end the closest is taken, and it says so") {
  const SearchPlan open = within("");
  const auto time = static_cast<std::size_t>(Goal::time);
  const ListedPlan* fastest = &open.front.front();
  for (const ListedPlan& p : open.front) {
    fastest = p.goals[time] < fastest->goals[time] ? &p : fastest;
  }
  const SearchPlan plan = within(seconds_text(1.05 * fastest->goals[time]));
  REQUIRE(plan.plan);
  CHECK(same_plan(plan.recommended.candidate, fastest->candidate));
  CHECK(plan.recommended.deadline->kept_at_middle());
  CHECK_FALSE(plan.recommended.deadline->kept);
  CHECK(plan.why_recommended.find("none keeps every limit") != std::string::npos);
  CHECK(plan.why_recommended.find("less than the 90 % asked for") != std::string::npos);
  CHECK(plan.recommended.deadline->chance > 0.5);  // it is kept at the middle
  // And what falls short at the middle says where its interval lies.
  const SearchPlan none = within(seconds_text(0.95 * fastest->goals[time]));
  CHECK_FALSE(none.plan);
  CHECK(any_has(none.emptied, "kept at the fast end alone"));
}

TEST_CASE("a budget is kept at the slow end alike") {
  // The cheapest plan of all, and what it costs at the slow end.
  const Interval<Dollars> least = std::get<TrainPlan>(within("").plan->answer).cost;
  const auto of_budget = [](double budget) {
    return search({"confidence=0.9", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "training.seq_len=8192",
                   "training.global_batch=512", "training.tokens=1e11", "money.price=\"2 $/h\"",
                   "training.software=megatron-core-te", "search.gpus=\"32..512 x2\"", "search.tp=any",
                   "objective.simplicity=\"0 %\"", "objective.budget=\"" + std::to_string(budget) + " $\""});
  };
  const SearchPlan rich = of_budget(1.02 * least.high.raw());
  REQUIRE(rich.plan);
  CHECK(rich.recommended.budget->kept);
  REQUIRE(rich.at_middle);  // more GPUs, faster and dearer
  CHECK(rich.at_middle->gpus > rich.recommended.gpus);
  CHECK_FALSE(rich.at_middle->budget->kept);
  const SearchPlan poor = of_budget(1.05 * least.mid.raw());
  REQUIRE(poor.plan);
  CHECK_FALSE(poor.recommended.budget->kept);
  CHECK(poor.recommended.budget->kept_at_middle());
}

TEST_CASE("a budget decides how many GPUs a run takes") {
  const auto gpus = [](const std::string& budget) {
    const SearchPlan plan =
        search({"confidence=0.9", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "training.seq_len=8192",
                "training.global_batch=512", "training.tokens=1e11", "money.price=\"2 $/h\"",
                "training.software=megatron-core-te", "search.gpus=\"32..512 x2\"", "search.tp=any",
                "objective.simplicity=\"0 %\"", "objective.budget=\"" + budget + "\""});
    if (!plan.plan) {
      return std::int64_t{0};
    }
    CHECK(plan.minimize == Goal::time);
    return plan.recommended.gpus;
  };
  // More GPUs are faster and waste more: each budget has its number.
  const std::int64_t rich = gpus("100 k$");
  const std::int64_t middle = gpus("6800 $");
  const std::int64_t poor = gpus("6400 $");
  CHECK(rich == 512);
  CHECK(middle < rich);
  CHECK(poor < middle);
  CHECK(poor > 0);
  CHECK(gpus("1000 $") == 0);
}

TEST_CASE("70B on T4 fits no way, and the answer says what came closest") {
  const SearchPlan plan =
      search(whole("llama3-70b", "t4", 8, 4096, 64, {"search.strategy=any", "training.precision=fp16"}));
  CHECK_FALSE(plan.plan);
  CHECK(plan.result.counts.priced == 0);
  CHECK(any_has(plan.emptied, "do not surely fit; closest: "));
  CHECK(any_has(plan.emptied, " of 14.8 GiB per GPU at the upper end with "));
}

TEST_CASE("tensor ranks that leave a host of eight are flagged in the plan taken") {
  const auto flagged = [](int tp) {
    const SearchPlan plan = search(whole("llama3-70b", "h100-sxm-80gb", 64, 4096, 256,
                                         {"search.tp=[" + std::to_string(tp) + "]", "search.pp=any"}));
    REQUIRE(plan.plan);
    return any_has(plan.plan->notes, "leaves the scale-up domain of 8 GPUs");
  };
  CHECK(flagged(16));
  CHECK_FALSE(flagged(8));
}

TEST_CASE("any software is every software that the catalog has") {
  const SearchQuestion question = read_search(
      scenario_tree(whole("llama3-8b", "h100-sxm-80gb", 8, 4096, 64, {"search.software=any"})), "test", sources());
  const MemoryStacks stacks = memory_stacks(test::model_data());
  REQUIRE(question.axes.jobs.size() == 1);
  Changes expected;
  for (const MemoryStack& stack : stacks.all()) {
    expected.emplace_back(Knob::software, stack.id);
  }
  CHECK(question.axes.jobs.front().values == expected);
}

TEST_CASE("a range runs upward by ones, by steps or by factors, and ends where it says") {
  using Numbers = std::vector<std::int64_t>;
  CHECK(parse_range("1..4") == Numbers{1, 2, 3, 4});
  CHECK(parse_range("8..100 x2") == Numbers{8, 16, 32, 64});
  CHECK(parse_range("0..64 step 24") == Numbers{0, 24, 48});
  CHECK(parse_range("5..5") == Numbers{5});
  for (const char* none :
       {"4..1", "1..8 x1", "0..8 x2", "1..8 step 0", "1-8", "1..", "..8", "1..8x2", "1..8 x", "a..b"}) {
    CAPTURE(none);
    CHECK(parse_range(none).empty());
  }
}
