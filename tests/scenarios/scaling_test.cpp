// SPDX-License-Identifier: Apache-2.0
// A scenario at a series of GPU counts: the counts, what each is beside the others, topology, budgets and refusals.
#include <headroom/scenarios/compare/cures.hpp>
#include <headroom/scenarios/compare/scaling.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/scratch_folder.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cstdlib>
#include <sstream>

using namespace headroom;
using headroom::test::ScratchFolder;
using headroom::test::sources;
using namespace headroom::scaling;

namespace {

Scenario scenario(std::vector<std::string> more = {}, const Sources& from = sources()) {
  std::vector<std::string> overrides{"kind=train",
                                     "model=llama3-8b",
                                     "hardware.gpu=h100-sxm-80gb",
                                     "hardware.gpus=8",
                                     "training.seq_len=8192",
                                     "training.global_batch=64",
                                     "training.precision=bf16",
                                     "training.software=torchtitan",
                                     "strategy.zero=3",
                                     "strategy.micro_batch=1",
                                     "strategy.recompute=selective"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return scenario_from_overrides(overrides, from);
}

std::vector<std::int64_t> counts(const Curve& curve) {
  std::vector<std::int64_t> result;
  for (const Point& p : curve.points) {
    result.push_back(p.gpus);
  }
  return result;
}

/// Folders of a user who has clusters of DGX H100 whose spine is oversubscribed as said, read by `run`.
template <class Run>
void with_clusters(Run run, int leaf = 2) {
  const ScratchFolder folder;
  for (const int ratio : {1, 4}) {
    std::ostringstream text;
    text << "schema = 1\nid = \"tree-" << ratio << "\"\nname = \"t\"\naliases = []\nnode = \"dgx-h100\"\n"
         << "nodes = { value = 1024, source = \"T\" }\nrail_optimised = false\ntransport = \"infiniband\"\n"
         << "[sources]\nT = \"made for a test\"\n"
         << "[[tier]]\nname = \"leaf\"\nnodes = " << leaf << "\noversubscription = 1.0\n"
         << "[[tier]]\nname = \"spine\"\nnodes = 1024\noversubscription = " << ratio << ".0\n";
    folder.write("clusters/tree-" + std::to_string(ratio) + ".toml", text.str());
  }
  setenv("HEADROOM_DATA_DIR", folder.path().c_str(), 1);
  const Sources own = Sources::standard();
  unsetenv("HEADROOM_DATA_DIR");
  run(own);
}

Curve weak(const Sources& from, std::vector<std::string> more) {
  scaling::Request request;
  request.kind = Kind::weak;
  request.from = 8;
  request.to = 4096;
  return scaling_curve(scenario(std::move(more), from), request);
}

std::string refusal(const Scenario& s, const scaling::Request& request) {
  try {
    static_cast<void>(scaling_curve(s, request));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("counts double from the smallest whole replica to eight times the scenario's, or as asked") {
  const Scenario s = scenario({"hardware.gpus=96", "strategy.tp=4", "training.global_batch=96"});
  const auto& train = std::get<TrainScenario>(s.question);
  CHECK(counts_of(train, {}) == std::vector<std::int64_t>{12, 24, 48, 96, 192, 384, 768});
  scaling::Request asked;
  asked.from = 5;
  asked.to = 21;
  CHECK(counts_of(train, asked) == std::vector<std::int64_t>{5, 10, 20});
}

TEST_CASE("a model of scans scales as others do: each count has a time") {
  const Scenario s = scenario({"model=mamba-1.4b", "training.software=megatron-core", "strategy.zero=1"});
  const Curve curve = scaling_curve(s, {});
  CHECK(curve.is_series());
  for (const Point& p : curve.points) {
    CAPTURE(p.gpus);
    REQUIRE(p.answered);
    CHECK(p.train().estimate.step > Seconds{});
  }
}

TEST_CASE("strong scaling keeps the batch, weak scaling the batch of a GPU, dp follows, stated or not") {
  for (const bool stated : {false, true}) {
    CAPTURE(stated);
    const Scenario s = stated ? scenario({"strategy.dp=8"}) : scenario();
    scaling::Request request;
    request.to = 32;
    const Curve strong = scaling_curve(s, request);
    REQUIRE(counts(strong) == std::vector<std::int64_t>{1, 2, 4, 8, 16, 32});
    request.kind = Kind::weak;
    const Curve grown = scaling_curve(s, request);
    for (std::size_t i = 3; i < 6; ++i) {
      REQUIRE(strong.points[i].answered);
      REQUIRE(grown.points[i].answered);
      CHECK(strong.points[i].global_batch == 64);
      CHECK(grown.points[i].global_batch == 8 * grown.points[i].gpus);
      CHECK(strong.points[i].train().strategy.dp == strong.points[i].gpus);
    }
    // The scenario's own count is the scenario's own plan.
    CHECK(strong.points[3].train().estimate.step == std::get<TrainPlan>(make_plan(s, false).answer).estimate.step);
    CHECK(grown.points[3].train().estimate.step == strong.points[3].train().estimate.step);
  }
}

TEST_CASE("a count that cannot be is listed with its verdict, not dropped, relations are to the smallest that can") {
  const Curve curve = scaling_curve(scenario({"training.global_batch=24"}), {});
  // One GPU: out of memory; 16 GPUs: 24 does not divide.
  REQUIRE(counts(curve) == std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64});
  CHECK_FALSE(curve.points[0].answered);
  CHECK(curve.points[0].verdict.starts_with("does not fit: needs "));
  CHECK_FALSE(curve.points[4].answered);
  CHECK(curve.points[4].verdict == "global batch 24 does not divide by dp x micro_batch = 16");
  const Point& smallest = *curve.smallest();
  CHECK(smallest.efficiency == 1.0);
  CHECK_FALSE(smallest.marginal);
  const Point& eight = curve.points[3];
  CHECK(eight.efficiency ==
        doctest::Approx(eight.train().tokens_per_s_per_gpu.mid / smallest.train().tokens_per_s_per_gpu.mid));
  CHECK(eight.communication ==
        doctest::Approx(eight.train().estimate.time[Term::dp_comm] / eight.train().estimate.step));
}

TEST_CASE("a share of the batch that is no whole number is told") {
  scaling::Request request;
  request.kind = Kind::weak;
  request.from = 4;
  request.to = 8;
  const Curve curve = scaling_curve(scenario({"hardware.gpus=8", "training.global_batch=9"}), request);
  CHECK(curve.points[0].verdict == "global batch 9 x 4 / 8 is no whole number");
  CHECK(curve.points[0].global_batch == 0);
}

TEST_CASE("weak scaling from 8 to 4096 GPUs never gains efficiency, on one switch or on a tree, at any ZeRO") {
  with_clusters([](const Sources& own) {
    for (const char* cluster : {"", "hardware.cluster=tree-1", "hardware.cluster=tree-4"}) {
      for (const char* zero : {"strategy.zero=1", "strategy.zero=3"}) {
        CAPTURE(cluster);
        CAPTURE(zero);
        std::vector<std::string> more{zero, "strategy.tp=2"};
        if (*cluster != '\0') {
          more.emplace_back(cluster);
        }
        const Curve curve = weak(own, more);
        REQUIRE(curve.points.size() == 10);
        for (std::size_t i = 0; i < curve.points.size(); ++i) {
          CAPTURE(curve.points[i].gpus);
          REQUIRE(curve.points[i].answered);
          CHECK((i == 0 || curve.points[i].efficiency <= curve.points[i - 1].efficiency));
        }
        CHECK(curve.points.back().efficiency < 0.99);
      }
    }
  });
}

TEST_CASE("a 4:1 spine lowers efficiency beyond a leaf, a 1:1 tree is one large switch") {
  with_clusters([](const Sources& own) {
    const Curve plain = weak(own, {});
    const Curve even = weak(own, {"hardware.cluster=tree-1"});
    const Curve narrow = weak(own, {"hardware.cluster=tree-4"});
    for (std::size_t i = 0; i < plain.points.size(); ++i) {
      CAPTURE(plain.points[i].gpus);
      CHECK(even.points[i].train().estimate.step == plain.points[i].train().estimate.step);
      if (plain.points[i].gpus > 16) {  // two hosts are a leaf
        CHECK(narrow.points[i].efficiency < even.points[i].efficiency);
      } else {
        CHECK(narrow.points[i].train().estimate.step == even.points[i].train().estimate.step);
      }
    }
  });
}

TEST_CASE("a ring crosses a leaf's uplink with the traffic of one host, exchanges between experts with that of all") {
  with_clusters(
      [](const Sources& own) {
        const Curve even = weak(own, {"hardware.cluster=tree-1"});
        const Curve narrow = weak(own, {"hardware.cluster=tree-4"});
        CHECK(narrow.points.back().train().estimate.step == even.points.back().train().estimate.step);
        const auto experts = [&](const std::string& cluster) {
          scaling::Request request;
          request.kind = Kind::weak;
          request.to = 512;
          return scaling_curve(scenario({"model=qwen3-30b-a3b", "hardware.gpus=64", "training.seq_len=4096",
                                         "training.software=megatron-core", "strategy.zero=1", "strategy.ep=64",
                                         "strategy.recompute=full", cluster},
                                        own),
                               request);
        };
        const Point wide = experts("hardware.cluster=tree-1").points.back();
        const Point tight = experts("hardware.cluster=tree-4").points.back();
        REQUIRE(wide.answered);
        REQUIRE(tight.answered);
        CHECK(tight.train().estimate.step > 1.2 * wide.train().estimate.step);
      },
      4);
}

TEST_CASE("a count that the cluster does not hold is listed, the others are priced") {
  with_clusters([](const Sources& own) {
    scaling::Request request;
    request.from = 4096;
    request.to = 16384;
    request.kind = Kind::weak;
    const Curve curve = scaling_curve(scenario({"hardware.cluster=tree-1"}, own), request);
    REQUIRE(curve.points.size() == 3);
    CHECK(curve.points[1].answered);
    CHECK_FALSE(curve.points[2].answered);
    CHECK(curve.points[2].verdict.find("1024") != std::string::npos);
  });
}

TEST_CASE("a budget ends the series where the run costs more, and needs a price and tokens") {
  const auto curve = [](const Budget& budget) {
    scaling::Request request;
    request.budget = budget;
    request.to = 512;
    return scaling_curve(scenario({"money.price=2 $/h", "training.tokens=1e12", "training.global_batch=512"}), request);
  };
  const Curve all = curve({Dollars{1e12}, {}});
  CHECK(all.most_useful == 512);
  const double cost_64 = all.points[6].train().cost.mid.raw();
  REQUIRE(all.points[6].gpus == 64);
  REQUIRE(all.points[7].train().cost.mid.raw() > cost_64);
  CHECK(curve({Dollars{1.0001 * cost_64}, {}}).most_useful == 64);
  CHECK(curve({{}, DollarsPerSecond{100 * 2.0 / 3600}}).most_useful == 64);
  CHECK_FALSE(curve({Dollars{1.0}, {}}).most_useful);
  scaling::Request request;
  request.budget.run = Dollars{1e6};
  const std::string refused = refusal(scenario(), request);
  CHECK(refused.find("--budget needs a price") != std::string::npos);
  CHECK(refused.find("--budget of a whole run needs its tokens") != std::string::npos);
}

TEST_CASE("a budget is held against every count: those that are too dear are told, the rest are weighed") {
  const auto curve = [](Budget budget) {
    scaling::Request request;
    request.budget = budget;
    request.to = 128;
    return scaling_curve(scenario({"money.price=2 $/h", "training.tokens=1e12", "training.global_batch=512"}), request);
  };
  const Curve all = curve({Dollars{1e12}, {}});
  CHECK(all.good());
  double least = 1e300;
  double most = 0.0;
  for (const Point& p : all.points) {
    CHECK_FALSE(p.too_dear);
    if (p.answered) {
      CHECK(p.cost.raw() == doctest::Approx(p.train().cost.mid.raw()));
      least = std::min(least, p.cost.raw());
      most = std::max(most, p.cost.raw());
    }
  }
  REQUIRE(most > least);
  const double between = 0.5 * (least + most);
  const Curve some = curve({Dollars{between}, {}});
  REQUIRE(some.most_useful);
  std::size_t dear = 0;
  for (const Point& p : some.points) {
    CHECK(p.too_dear == (p.answered && p.cost.raw() > between));
    CHECK_FALSE((p.gpus == *some.most_useful && p.too_dear));
    dear += p.too_dear ? 1 : 0;
  }
  CHECK(dear > 0);
  const Curve none = curve({Dollars{0.5 * least}, {}});
  CHECK_FALSE(none.most_useful);
  CHECK_FALSE(none.good());
  CHECK(none.is_series());
}

TEST_CASE("one count that can be answered is no series: no knee, and no answer unless it was all that was asked") {
  // Seven sequences divide over one GPU or over seven.
  const Scenario odd = scenario({"training.global_batch=7", "model=llama2-7b", "training.seq_len=2048",
                                 "hardware.gpu=b200-sxm-180gb", "strategy.recompute=full"});
  scaling::Request request;
  request.from = 7;
  request.to = 64;
  const Curve curve = scaling_curve(odd, request);
  REQUIRE(curve.answered() == 1);
  CHECK(curve.points.front().answered);
  CHECK_FALSE(curve.is_series());
  CHECK_FALSE(curve.good());
  CHECK_FALSE(curve.knee);
  CHECK_FALSE(curve.stop);
  for (const Point& p : curve.points) {
    if (!p.answered) {
      CHECK(p.verdict.find("global batch 7 does not divide") != std::string::npos);
      CHECK_FALSE(p.way_out.empty());
    }
  }
  request.to = 7;
  CHECK(scaling_curve(odd, request).good());
  request.from = 8;
  request.to = 8;
  CHECK_FALSE(scaling_curve(odd, request).good());
}

TEST_CASE("what cannot be a request is refused, all of it at once") {
  scaling::Request request;
  request.from = 0;
  request.to = -8;
  request.least = 0.0;
  const std::string refused = refusal(scenario(), request);
  CHECK(refused.find("--from is 0") != std::string::npos);
  CHECK(refused.find("--to is -8") != std::string::npos);
  CHECK(refused.find("--threshold is 0") != std::string::npos);
  const Scenario serves = scenario_from_overrides(
      std::vector<std::string>{"kind=serve", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=1",
                               "serving.isl=1024", "serving.osl=128", "serving.concurrency=8", "serving.weights=bf16"},
      sources());
  CHECK(refusal(serves, {}).find("serves") != std::string::npos);
}

TEST_CASE("3x on 8 GPUs leaves 62.5 %, every cure is the scenario priced again, ranked by its gain") {
  // Eight L40S on PCIe: gradients cross the host bridge.
  const Scenario s =
      scenario({"hardware.gpu=l40s", "model=gpt3-1.3b", "training.seq_len=2048", "strategy.zero=0",
                "training.software=megatron-core", "strategy.recompute=none", "training.global_batch=16"});
  const SpeedupAnswer answer = explain_speedup(s, {3.0, 8, 1});
  CHECK(answer.communication == 0.625);
  REQUIRE(answer.predicted);
  CHECK(*answer.predicted < 8.0);
  CHECK(answer.predicted_communication > 0.1);
  REQUIRE(answer.cures.size() >= 4);
  const double base = std::get<TrainPlan>(answer.base.answer).estimate.step.raw() / 16.0;
  std::size_t read_again = 0;
  for (std::size_t i = 0; i < answer.cures.size(); ++i) {
    const Cure& cure = answer.cures[i];
    CAPTURE(cure.what);
    if (i > 0 && cure.answered) {
      CHECK(answer.cures[i - 1].answered);
      CHECK(answer.cures[i - 1].gain >= cure.gain);
    }
    if (cure.changes.front().knob == Knob::hidden_dp_traffic || !cure.answered) {
      continue;  // no key states it
    }
    Changes changes{{Knob::gpus, 8}};
    changes.insert(changes.end(), cure.changes.begin(), cure.changes.end());
    const Scenario with = changed(s, changes);
    const Seconds step = std::get<TrainPlan>(make_plan(with, false).answer).estimate.step;
    const double batch = static_cast<double>(std::get<TrainScenario>(with.question).work.shape.global_batch);
    CHECK(cure.step == step);
    CHECK(cure.gain == doctest::Approx(base / (step.raw() / batch) - 1.0));
    ++read_again;
  }
  CHECK(read_again >= 3);
  const auto gain_of = [&](std::string_view word) {
    const auto found = std::find_if(answer.cures.begin(), answer.cures.end(),
                                    [&](const Cure& c) { return c.what.find(word) != std::string::npos; });
    REQUIRE(found != answer.cures.end());
    return *found;
  };
  CHECK(gain_of("accumulation").gain > 0.05);
  CHECK(gain_of("larger batch").gain > 0.05);
  CHECK(gain_of("overlap").gain >= 0.0);  // no more than what there is to hide behind
  // Communication that shrinks raises the measured speed-up; perfect division is its limit.
  CHECK(*gain_of("accumulation").speedup > 3.0);
  for (const Cure& cure : answer.cures) {
    CHECK((!cure.speedup || *cure.speedup > 0.0));
  }
}

TEST_CASE("a SKU without NVLink is offered the one of its generation that has it") {
  const Scenario s = scenario({"hardware.gpu=a100-pcie-80gb", "model=gpt3-1.3b", "training.seq_len=2048",
                               "strategy.zero=1", "training.software=megatron-core", "training.global_batch=8"});
  const SpeedupAnswer answer = explain_speedup(s, {3.0, 8, 1});
  const auto found = std::find_if(answer.cures.begin(), answer.cures.end(), [](const Cure& c) {
    return c.changes.front() == Change{Knob::gpu, "a100-sxm-80gb"};
  });
  REQUIRE(found != answer.cures.end());
  CHECK(found->gain > 0.0);
  const auto overlap = std::find_if(answer.cures.begin(), answer.cures.end(),
                                    [](const Cure& c) { return c.what.starts_with("more overlap"); });
  REQUIRE(overlap != answer.cures.end());
  CHECK(overlap->gain > 0.0);
  CHECK(overlap->communication < answer.predicted_communication);
}

TEST_CASE("overlap and asynchronous tensor parallelism are cures as changed keys") {
  const std::vector<std::string> job{"hardware.gpus=8", "strategy.tp=4", "strategy.zero=1", "training.global_batch=64",
                                     "training.software=megatron-core-te"};
  const auto cures_of = [&](std::vector<std::string> more) {
    more.insert(more.begin(), job.begin(), job.end());
    return explain_speedup(scenario(more), {3.0, 8, 1}).cures;
  };
  const auto with = [](const std::vector<Cure>& cures, const Change& change) {
    const auto found =
        std::find_if(cures.begin(), cures.end(), [&](const Cure& c) { return c.changes.front() == change; });
    return found == cures.end() ? std::nullopt : std::optional{*found};
  };
  const std::vector<Cure> off = cures_of({"training.overlap=false"});
  const std::optional<Cure> overlap = with(off, {Knob::overlap, true});
  REQUIRE(overlap);
  CHECK(overlap->gain > 0.0);
  const std::optional<Cure> async = with(off, {Knob::async_tp, true});
  REQUIRE(async);
  CHECK(async->changes.size() == 2);  // nothing runs beside compute without the other key
  CHECK(async->gain > overlap->gain);
  const std::vector<Cure> on = cures_of({});
  CHECK_FALSE(with(on, {Knob::overlap, true}));
  REQUIRE(with(on, {Knob::async_tp, true}));
  CHECK(with(on, {Knob::async_tp, true})->changes.size() == 1);
  CHECK(with(on, {Knob::async_tp, true})->gain > 0.0);
  CHECK_FALSE(with(cures_of({"training.async_tp=true"}), {Knob::async_tp, true}));
}

TEST_CASE("a measurement that cannot be is refused") {
  const auto refused = [](const MeasuredSpeedup& measured) -> std::string {
    try {
      static_cast<void>(explain_speedup(scenario(), measured));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(refused({9.0, 8, 1}).find("faster than perfect division") != std::string::npos);
  CHECK(refused({0.0, 8, 1}).find("above 0") != std::string::npos);
  CHECK(refused({-3.0, 8, 1}).find("above 0") != std::string::npos);
  CHECK(refused({1.0, 8, 8}).find("--at is 8; it must be above --over 8") != std::string::npos);
  CHECK(refused({8.0, 8, 1}).empty());
}
