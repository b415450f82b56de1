// SPDX-License-Identifier: Apache-2.0
// A stated number of GPUs under fixed loads: the front, and the most requests within what is promised.
#include <headroom/scenarios/box/box_curve.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

BoxQuestion box(const std::vector<std::string>& more) {
  std::vector<std::string> all{
      "kind=serve",       "model=llama3-70b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8",
      "serving.isl=1024", "serving.osl=256",  "serving.weights=fp8",        "search.concurrency=\"1..256 x2\""};
  all.insert(all.end(), more.begin(), more.end());
  const ConfigValue root = scenario_tree(all);
  REQUIRE(asks_for_box(root));
  return read_box(root, "test", sources());
}

BoxCurve curve_of(const std::vector<std::string>& more) {
  return box_curve(box(more), {2});
}

bool beats(const BoxPoint& a, const BoxPoint& b) {
  const double user = a.tokens_per_s_per_user.mid - b.tokens_per_s_per_user.mid;
  const double gpu = a.tokens_per_s_per_gpu.mid - b.tokens_per_s_per_gpu.mid;
  return user >= 0.0 && gpu >= 0.0 && (user > 0.0 || gpu > 0.0);
}

}  // namespace

TEST_CASE("box: layouts that fit stand at every load, and the front is what no other point beats in both rates") {
  const BoxCurve curve = curve_of({});
  CHECK(curve.combinations == 4);  // tp 1, 2, 4 and 8
  CHECK(curve.points.size() + 9 * curve.dropped.size() == 36);
  REQUIRE(curve.points.size() >= 18);
  for (const BoxPoint& p : curve.points) {
    const bool beaten =
        std::any_of(curve.points.begin(), curve.points.end(), [&](const BoxPoint& o) { return beats(o, p); });
    CHECK(p.front == !beaten);
  }
  REQUIRE(curve.front.size() > 2);
  for (std::size_t i = 1; i < curve.front.size(); ++i) {
    CHECK(curve.points[curve.front[i]].tokens_per_s_per_user.mid <
          curve.points[curve.front[i - 1]].tokens_per_s_per_user.mid);
    CHECK(curve.points[curve.front[i]].tokens_per_s_per_gpu.mid >
          curve.points[curve.front[i - 1]].tokens_per_s_per_gpu.mid);
  }
  // Fast for one user: all GPUs on one request. Many tokens a GPU: fewer ranks a replica.
  CHECK(curve.points[curve.front.front()].layout.tp == 8);
  CHECK(curve.points[curve.front.back()].layout.tp < 8);
}

TEST_CASE("box: a point is the plan of its changes, to the last bit") {
  const BoxQuestion q = box({});
  const BoxCurve curve = box_curve(q, {2});
  for (const std::size_t i : {std::size_t{0}, curve.points.size() / 2, curve.points.size() - 1}) {
    const BoxPoint& p = curve.points[i];
    const Plan plan = make_plan(changed(q.base, p.changes), false);
    const auto& answer = std::get<ServePlan>(plan.answer);
    CHECK(p.tpot.mid == answer.tpot.mid);
    CHECK(p.ttft.high == answer.ttft.high);
    CHECK(p.tokens_per_s.low == answer.output_tokens_per_s.low);
    CHECK(p.tokens_per_s_per_user.mid == doctest::Approx(1.0 / answer.tpot.mid.raw()));
  }
}

TEST_CASE("box: the most requests within a promise, with the probability asked for") {
  const BoxCurve curve = curve_of({"slo.tpot_mean=30 ms", "slo.ttft_mean=2 s"});
  REQUIRE(curve.feasible());
  const BoxPoint& taken = curve.points[*curve.taken];
  CHECK(taken.chance >= 0.8);
  for (const BoxPoint& p : curve.points) {
    const bool kept = p.chance >= 0.8;
    CHECK(p.keeps == kept);
    CHECK((!kept || p.requests_per_s.mid <= taken.requests_per_s.mid));
  }
  REQUIRE(curve.plan);
  CHECK(std::get<ServePlan>(curve.plan->answer).tpot.mid == taken.tpot.mid);
  // A harder promise and a surer one take no more requests.
  const BoxCurve harder = curve_of({"slo.tpot_mean=20 ms", "slo.ttft_mean=2 s"});
  REQUIRE(harder.feasible());
  CHECK(harder.points[*harder.taken].requests_per_s.mid <= taken.requests_per_s.mid);
  const BoxCurve surer = curve_of({"slo.tpot_mean=30 ms", "slo.ttft_mean=2 s", "confidence=0.98"});
  CHECK((!surer.feasible() || surer.points[*surer.taken].requests_per_s.mid <= taken.requests_per_s.mid));
  // Below what one request alone takes nothing is recommended, and the nearest is told: the likeliest.
  const BoxCurve none = curve_of({"slo.tpot_mean=1 ms"});
  CHECK_FALSE(none.feasible());
  REQUIRE(none.nearest);
  for (const BoxPoint& p : none.points) {
    CHECK(p.chance <= none.points[*none.nearest].chance);
  }
  CHECK_FALSE(curve.nearest);
}

TEST_CASE("box: where nothing holds the model the smallest change that would is told, and it does") {
  const BoxCurve nothing = curve_of({"hardware.gpus=1", "serving.weights=bf16"});
  CHECK_FALSE(nothing.feasible());
  CHECK(nothing.points.empty());
  REQUIRE_FALSE(nothing.way_out.empty());
  REQUIRE_FALSE(nothing.way_out_of_weights.empty());
  for (Changes changes : {nothing.way_out, nothing.way_out_of_weights}) {
    const BoxQuestion q = box({"hardware.gpus=1", "serving.weights=bf16", "strategy.tp=1"});
    changes.push_back(q.loads.front());
    CHECK(make_plan(changed(q.base, changes), false, PlanPart::memory).feasible());
  }
}

TEST_CASE("box: settings of the engine are searched like layouts") {
  const BoxCurve curve = curve_of({"strategy.tp=4", "search.max_num_seqs=[8, 64]", "search.kv_cache=any",
                                   "search.memory_fraction=[0.8, 0.9]", "search.max_num_tokens=[2048, 8192]"});
  CHECK(curve.combinations == 16);
  REQUIRE_FALSE(curve.points.empty());
  // Eight sequences a replica run at once, however many are in flight.
  for (const BoxPoint& p : curve.points) {
    const bool few = std::any_of(p.changes.begin(), p.changes.end(), [](const Change& c) {
      return c == Change{Knob::max_num_seqs, 8};
    });
    CHECK((!few || p.running <= 8.0 * static_cast<double>(p.replicas)));
  }
}

TEST_CASE("box: the answer is the same on any number of threads") {
  const BoxQuestion q = box({"slo.tpot_mean=30 ms"});
  const BoxCurve one = box_curve(q, {1});
  const BoxCurve three = box_curve(q, {3});
  REQUIRE(one.points.size() == three.points.size());
  CHECK(one.taken == three.taken);
  for (std::size_t i = 0; i < one.points.size(); ++i) {
    CHECK(one.points[i].tokens_per_s.mid == three.points[i].tokens_per_s.mid);
  }
}

TEST_CASE("box: a curve that is stopped has what was priced until then, one load at least, and is not complete") {
  const BoxQuestion q = box({});
  const std::atomic<bool> stop{true};
  BoxProgress progress;
  const BoxCurve stopped = box_curve(q, {1, &stop, &progress});
  CHECK_FALSE(stopped.complete);
  REQUIRE(stopped.points.size() == 1);
  CHECK(stopped.feasible());
  REQUIRE(stopped.plan);
  CHECK(stopped.dropped.back().why == "not looked at before the curve was stopped");
  CHECK(progress.loads == 4 * 9);
  CHECK(progress.priced < progress.loads);
  BoxProgress whole;
  const BoxCurve all = box_curve(q, {2, nullptr, &whole});
  CHECK(all.complete);
  CHECK(whole.priced == whole.loads);
  // It is one of the points of the whole curve.
  CHECK(std::any_of(all.points.begin(), all.points.end(), [&](const BoxPoint& p) {
    return p.changes == stopped.points.front().changes && p.tpot.mid == stopped.points.front().tpot.mid;
  }));
}

TEST_CASE("box: what cannot be asked is refused with its place and a way out") {
  const auto said = [](const std::vector<std::string>& more) -> std::string {
    try {
      static_cast<void>(curve_of(more));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(said({"slo.tpot_p95=30 ms"}).find("state 'tpot_mean'") != std::string::npos);
  CHECK(said({"search.max_num_seqs=\"1..1000\"", "search.max_num_tokens=\"1..1000\""}).find("list fewer values") !=
        std::string::npos);
  CHECK(said({"search.memory_fraction=[0.8, 1.5]"}).find("memory_fraction") != std::string::npos);
  CHECK(said({"search.chunked_prefill=[2]"}).find("true, false") != std::string::npos);
  CHECK(said({"serving.concurrency=8"}).find("searched and stated") != std::string::npos);
}
