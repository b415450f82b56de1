// SPDX-License-Identifier: Apache-2.0
// Money and energy of whole plans: where prices come from, the bill, other ways to pay, what a power cap does.
#include <headroom/scenarios/money/offer.hpp>
#include <headroom/scenarios/plan/network_plan.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/network_reader.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>

using namespace headroom;
using headroom::test::sources;

namespace {

std::vector<std::string> training() {
  return {"kind=train",
          "model=llama3-70b",
          "hardware.gpu=h100-sxm-80gb",
          "hardware.gpus=512",
          "training.seq_len=8192",
          "training.global_batch=1024",
          "training.precision=bf16",
          "training.tokens=15e12",
          "strategy.tp=8",
          "strategy.pp=4",
          "strategy.micro_batch=1",
          "strategy.recompute=none"};
}

std::vector<std::string> with(std::vector<std::string> base, const std::vector<std::string>& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

Scenario scenario(const std::vector<std::string>& more) {
  return scenario_from_overrides(with(training(), more), sources());
}

Plan planned(const std::vector<std::string>& more = {}) {
  return make_plan(scenario(more), false);
}

const TrainPlan& train(const Plan& plan) {
  return std::get<TrainPlan>(plan.answer);
}

Plan served(const std::vector<std::string>& more) {
  return make_plan(scenario_from_overrides(with({"kind=serve", "model=llama3-70b", "hardware.gpu=h100-sxm-80gb",
                                                 "hardware.gpus=8", "serving.isl=2048", "serving.osl=256",
                                                 "strategy.tp=8", "serving.weights=bf16", "serving.concurrency=64"},
                                                more),
                                           sources()),
                   false);
}

/// One list of two regions and two markets.
PriceList two_regions() {
  PriceList list;
  list.id = "two";
  list.name = "Two";
  list.date = "2026-08";
  const auto offer = [&](const char* region, Market market, double dollars) {
    PriceOffer o;
    o.gpu = "h100-sxm-80gb";
    o.market = market;
    o.region = region;
    o.price.value = DollarsPerSecond{dollars / 3600.0};
    list.offers.push_back(o);
  };
  offer("us", Market::on_demand, 3.0);
  offer("eu", Market::on_demand, 3.5);
  offer("us", Market::spot, 1.0);
  offer("eu", Market::spot, 1.0);
  return list;
}

double hourly(const std::optional<DollarsPerSecond>& price) {
  return price->raw() * 3600.0;
}

const std::vector<std::string> owned{"money.owned.capex=30000 $",          "money.owned.lifetime=4 y",
                                     "money.owned.utilisation=0.8",        "money.owned.power=1 kW",
                                     "money.owned.power_price=0.10 $/kWh", "money.owned.pue=1.25"};

}  // namespace

TEST_CASE("bytes that no bill counts are told, with a run they are billed") {
  const std::vector<std::string> egress{"money.price=3 $/h", "money.egress.size=1 PB", "money.egress.price=0.09 $/GB"};
  const auto told = [](const Plan& plan) {
    return std::any_of(plan.notes.begin(), plan.notes.end(), [](const std::string& note) {
      return note.starts_with("money.storage, money.egress: not billed");
    });
  };
  CHECK(told(served(egress)));
  const Plan run = planned(egress);
  CHECK_FALSE(told(run));
  REQUIRE(train(run).bill.items.size() == 2);
  CHECK(train(run).bill.items[1].cost.mid.raw() == doctest::Approx(90'000.0));  // 1e6 GB x 0.09 $
}

TEST_CASE("an offer is that of the region, where regions differ one must be stated, and what there is is told") {
  const PriceList list = two_regions();
  const auto find = [&](Market market, std::string_view region) {
    return find_offer(list, sources().catalog, "h100-sxm-80gb", market, region);
  };
  CHECK(hourly(find(Market::on_demand, "eu").price.price) == doctest::Approx(3.5));
  CHECK(find(Market::on_demand, "eu").price.source == "Two, on-demand, eu, 2026-08");
  const FoundOffer several = find(Market::on_demand, "");
  CHECK(several.lacks_region);
  CHECK(several.why ==
        "price list 'two' has several on-demand offers for h100-sxm-80gb: us 3.00 $/h, eu 3.50 $/h; "
        "state 'region'");
  CHECK(hourly(find(Market::spot, "").price.price) == doctest::Approx(1.0));  // alike everywhere: no question
  CHECK(find(Market::spot, "").price.region == "any");
  CHECK(find(Market::spot, "asia-pacific").why.find("it has us 1.00 $/h, eu 1.00 $/h") != std::string::npos);
  CHECK(find(Market::reserved, "us").why.find("no reserved offer") != std::string::npos);
}

TEST_CASE("a slice that nobody sells costs its part of a card: of compute or of memory, the larger one") {
  const PriceList list = two_regions();
  const auto price = [&](const std::string& gpu) {
    return find_offer(list, sources().catalog, gpu, Market::on_demand, "eu").price;
  };
  // Of 3.50 $/h: a seventh of the compute, a quarter of the memory, half of the memory.
  CHECK(hourly(price("h100-sxm-80gb/1g.10gb").price) == doctest::Approx(3.5 / 7.0));
  CHECK(hourly(price("h100-sxm-80gb/1g.20gb").price) == doctest::Approx(3.5 / 4.0));
  CHECK(hourly(price("h100-sxm-80gb/3g.40gb").price) == doctest::Approx(3.5 / 2.0));
  CHECK(price("h100-sxm-80gb/1g.20gb").source == "Two, on-demand, eu, 2026-08, 25.0 % of a card h100-sxm-80gb");
}

TEST_CASE("a typed price is taken without a date and says so, a list's carries its own") {
  const Scenario typed = scenario({"money.price=2 $/h"});
  CHECK(typed.money.source == "stated on the command line, undated");
  CHECK(typed.money.date.empty());
  const Scenario dated = scenario({"money.price=2 $/h", "money.date=2026-08-15", "money.source=quote 17"});
  CHECK(dated.money.source == "quote 17, 2026-08-15");
  const Scenario listed = scenario({"money.prices=nebius-2026-08", "money.market=spot"});
  CHECK(listed.money.source == "Nebius list prices, August 2026, spot, eu, 2026-08");
  CHECK(listed.money.date == "2026-08");
  CHECK(listed.money.market == PaidAs::spot);
}

TEST_CASE("an owned GPU's price is capital over the hours used and rated power through the building") {
  const Scenario s = scenario(owned);
  REQUIRE(s.money.parts.size() == 3);
  CHECK(hourly(s.money.parts[0].per_gpu) == doctest::Approx(30000.0 / (0.8 * 4 * 8760)));
  CHECK(hourly(s.money.parts[2].per_gpu) == doctest::Approx(1.0 * 1.25 * 0.10));
  CHECK(hourly(s.money.price) == doctest::Approx(30000.0 / 28032.0 + 0.125));
  CHECK(s.money.market == PaidAs::owned);
  // Without stated watts: the GPU at its limit and its share of what the DGX draws beside its GPUs.
  std::vector<std::string> blank = owned;
  blank.erase(blank.begin() + 3);
  CHECK(scenario(blank).money.owned->terms.power.raw() == doctest::Approx(700.0 + 0.45 * 4600.0 / 8.0));
}

TEST_CASE("the bill is GPUs, bytes kept and bytes sent, its total their sum, and an owned machine's by part") {
  const Plan p = planned({"money.price=2 $/h", "money.storage.size=500 TB", "money.storage.price=0.02 $/GB/month",
                          "money.egress.size=10 TB", "money.egress.price=0.09 $/GB"});
  const Bill& bill = train(p).bill;
  REQUIRE(bill.items.size() == 3);
  CHECK(bill.items[0].cost.mid.raw() == doctest::Approx(train(p).cost.mid.raw()));
  const double months = train(p).calendar.mid.raw() / (730.0 * 3600.0);
  CHECK(bill.items[1].cost.mid.raw() == doctest::Approx(500e3 * 0.02 * months));
  CHECK(bill.items[2].cost.mid.raw() == doctest::Approx(900.0));
  CHECK(bill.items[2].cost.low.raw() == bill.items[2].cost.high.raw());  // bytes are known
  CHECK(bill.total.mid.raw() == doctest::Approx(train(p).cost.mid.raw() + 500e3 * 0.02 * months + 900.0));
  const Plan kept = planned({"money.price=2 $/h", "money.storage.size=500 TB", "money.storage.price=0.02 $/GB/month",
                             "money.storage.kept=1460 h"});
  CHECK(train(kept).bill.items[1].cost.mid.raw() == doctest::Approx(500e3 * 0.02 * 2.0));
  const Plan own = planned(owned);
  REQUIRE(train(own).bill.items.size() == 2);  // no upkeep was stated
  CHECK(train(own).bill.items[0].item == "gpus: capital");
  CHECK(train(own).bill.total.mid.raw() == doctest::Approx(train(own).cost.mid.raw()));
}

TEST_CASE("the lists' storage offers price bytes with the list's own date") {
  const Plan p =
      planned({"money.price=2 $/h", "money.storage.size=1 GiB", "money.storage.kept=1000 h",
               "money.storage.prices=gcs-2026-09", "money.egress.size=1 GiB", "money.egress.prices=gcs-2026-09"});
  const Bill& bill = train(p).bill;
  REQUIRE(bill.items.size() == 3);
  CHECK(bill.items[1].cost.mid.raw() == doctest::Approx(0.027397));
  CHECK(bill.items[1].date == "2026-09-20");
  CHECK(bill.items[2].cost.mid.raw() == doctest::Approx(0.12));
}

TEST_CASE("in a plan renting at 2.5 $/h beside a GPU of 30,000 $ breaks even after 12,453 hours of use") {
  const Plan p = planned({"money.price=2.5 $/h", "money.owned.capex=30000 $", "money.owned.lifetime=4 y",
                          "money.owned.utilisation=1", "money.owned.power=700 W", "money.owned.pue=1.3",
                          "money.owned.power_price=0.10 $/kWh"});
  const Bill& bill = train(p).bill;
  REQUIRE(bill.alternatives.size() == 1);
  const Alternative& buying = bill.alternatives[0];
  CHECK(buying.price.market == PaidAs::owned);
  REQUIRE(buying.break_even.has_value());
  CHECK(buying.break_even->value / 3600.0 == doctest::Approx(12453.0).epsilon(1e-4));
  CHECK(buying.break_even->text == "buying pays after 12 453 h of use (1.42 y without a pause) against 2.50 $/h");
  const double hours = train(p).gpu_hours.mid;
  CHECK(buying.cost->mid.raw() == doctest::Approx(hours * (30000.0 / 35040.0 + 0.091)));
}

TEST_CASE("a reservation pays above the ratio of the prices, spot while that share of it is useful") {
  const Plan p = planned({"money.price=4 $/h", "money.market=on-demand",
                          "money.against=[{price=\"3 $/h\", market=\"reserved\"}, {price=\"1 $/h\", market=\"spot\"}, "
                          "{prices=\"lambda-2026-08\"}]"});
  const std::vector<Alternative>& others = train(p).bill.alternatives;
  REQUIRE(others.size() == 3);
  CHECK(others[0].break_even->value == doctest::Approx(0.75));
  CHECK(others[0].break_even->text == "reserving pays when more than 75.0 % of its hours are used");
  CHECK(others[1].break_even->value == doctest::Approx(0.25));
  CHECK(others[1].break_even->text == "spot pays while more than 25.0 % of its hours are useful work");
  CHECK_FALSE(others[2].break_even.has_value());  // on demand either way: the cheaper one is
  CHECK(others[2].cost->mid.raw() == doctest::Approx(2.99 * train(p).gpu_hours.mid));
}

TEST_CASE("one's own machine against an API: the load above which it costs less, as a share of what it reaches") {
  const Plan p = served({"money.price=2 $/h", "money.api.input=0.5 $", "money.api.output=1.5 $",
                         "money.api.name=their API", "money.api.date=2026-08"});
  const auto& answer = std::get<ServePlan>(p.answer);
  REQUIRE(answer.bill.alternatives.size() == 1);
  const Alternative& api = answer.bill.alternatives[0];
  // A request of 2048 in and 256 out costs 0.001408 $; the machine 16 $/h.
  const double requests = 16.0 / 3600.0 / (1e-6 * (2048 * 0.5 + 256 * 1.5));
  CHECK(api.break_even->value == doctest::Approx(256.0 * requests));
  CHECK(api.break_even->unit == "tokens/s");
  CHECK(api.per_million->raw() == doctest::Approx(1e6 / 256.0 * 1e-6 * (2048 * 0.5 + 256 * 1.5)));
  CHECK(api.price.source == "scenario, 2026-08");
}

TEST_CASE("another rent of a served box is told per million output tokens, at the same rate") {
  const Plan p = served({"money.price=2 $/h", "money.against=[{price=\"5 $/h\"}]"});
  const auto& answer = std::get<ServePlan>(p.answer);
  REQUIRE(answer.bill.alternatives.size() == 1);
  CHECK(answer.bill.alternatives[0].per_million->raw() ==
        doctest::Approx(2.5 * answer.cost_per_million_output_tokens.mid.raw()));
  CHECK(answer.bill.items.empty());  // no run, no bill
}

TEST_CASE("the energy of a plan is its terms at their powers and the hosts beside them, and a PUE lifts all of it") {
  const Plan p = planned();
  const TrainPlan& t = train(p);
  REQUIRE(t.energy.has_value());
  const PlanEnergy& e = *t.energy;
  // By hand from the printed terms: 700 W of products, 70 + 0.88 x 630 over memory, 70 + 0.44 x 630 on links,
  // 70 + 0.11 x 630 waiting; 258.75 W of host.
  double joules = 0.0;
  for (std::size_t i = 0; i < term_count; ++i) {
    const Term term = static_cast<Term>(i);
    const bool products =
        term == Term::gemm || term == Term::attention || term == Term::recompute || term == Term::head;
    const bool memory = term == Term::elementwise || term == Term::optimizer;
    const bool waits = term == Term::host || term == Term::bubble || term == Term::straggler || term == Term::data;
    const double watts = products ? 700.0 : memory ? 624.4 : waits ? 139.3 : 347.2;
    joules += t.estimate.time.exposed[i].raw() * watts;
  }
  const double step = t.estimate.step.raw();
  CHECK(e.gpu.raw() == doctest::Approx(joules / step));
  CHECK(e.step.mid.raw() == doctest::Approx(512.0 * (joules + 258.75 * step)));
  const double steps = 15e12 / (1024.0 * 8192.0);
  CHECK(e.run.mid.raw() == doctest::Approx(steps * e.step.mid.raw()));
  CHECK(e.per_million.mid.raw() == doctest::Approx(e.run.mid.raw() / 15e6));
  // Time and power err apart: wider than either, narrower than both on top of each other.
  const double width = p.confidence->width;
  CHECK(e.run.high.raw() > (1.0 + width) * e.run.mid.raw());
  CHECK(e.run.high.raw() < (1.0 + width) * 1.15 * e.run.mid.raw());

  const Plan built = planned({"energy.pue=1.2", "energy.power_price=0.10 $/kWh", "energy.rack_power=40 kW"});
  const PlanEnergy& at_the_wall = *train(built).energy;
  CHECK(at_the_wall.run.mid.raw() == doctest::Approx(1.2 * e.run.mid.raw()));
  CHECK(at_the_wall.dollars->mid.raw() == doctest::Approx(0.10 * at_the_wall.run.mid.raw() / 3.6e6));
  // Eight GPUs of 700 W and 258.75 W of host each: 7.67 kW.
  CHECK(*at_the_wall.nodes_per_rack == 5.0);
}

TEST_CASE("a cap slows products and leaves passes over memory, a joule buys more of them") {
  const Plan free = planned();
  const Plan capped = planned({"hardware.power_cap=450 W"});
  const Breakdown& before = train(free).estimate.time;
  const Breakdown& after = train(capped).estimate.time;
  const double clock = std::get<TrainScenario>(capped.scenario.question).work.clock;
  // 380 W of 630 W are left of the dynamic power: f (1/2 + f/2)^2 = 380/630.
  CHECK(clock * std::pow(0.5 + 0.5 * clock, 2) == doctest::Approx(380.0 / 630.0).epsilon(1e-6));
  CHECK(after[Term::gemm] / before[Term::gemm] == doctest::Approx(1.0 / clock).epsilon(1e-6));
  CHECK(after[Term::attention] / before[Term::attention] == doctest::Approx(1.0 / clock).epsilon(1e-6));
  CHECK(after[Term::elementwise].raw() == doctest::Approx(before[Term::elementwise].raw()).epsilon(1e-9));
  CHECK(after.total() > before.total());
  CHECK(train(capped).energy->step.mid < train(free).energy->step.mid);
  CHECK(train(planned({"hardware.power_cap=700 W"})).estimate.step == train(free).estimate.step);
}

TEST_CASE("a cap slows prefill and a decode that multiplies, not one that reads") {
  const Plan free = served({});
  const Plan capped = served({"hardware.power_cap=450 W"});
  const auto& times = std::get<ServePlan>(free.answer).times;
  const auto& slower = std::get<ServePlan>(capped.answer).times;
  REQUIRE(times.has_value());
  REQUIRE(slower.has_value());
  CHECK(slower->prompt_alone > times->prompt_alone);
  REQUIRE(times->reads);
  CHECK(slower->state.decode_step == times->state.decode_step);
  CHECK(slower->state.tpot > times->state.tpot);  // it meets the prompts of others
  const auto& energy = std::get<ServePlan>(capped.answer).energy;
  REQUIRE(energy.has_value());
  CHECK(energy->gpu.raw() <= 450.0);
  CHECK(energy->gpu <= std::get<ServePlan>(free.answer).energy->gpu);
  Watts parts{};
  for (const EnergyPart& part : energy->parts) {
    parts += part.share * part.power;
  }
  CHECK(parts.raw() == doctest::Approx(energy->gpu.raw()));  // the kinds of time share out what is drawn together
}

TEST_CASE("a network of ops has a bill, energy and GPU-hours per million samples of its own") {
  const NetworkLibrary networks = NetworkLibrary::standard();
  const std::vector<std::string> overrides{"kind=train",
                                           "model=resnet-50",
                                           "hardware.gpu=a100-sxm-80gb",
                                           "hardware.gpus=8",
                                           "training.global_batch=2048",
                                           "training.precision=fp16",
                                           "training.samples=1e8",
                                           "money.price=2 $/h",
                                           "money.against=[{price=\"1 $/h\"}]"};
  const NetworkPlan plan =
      make_network_plan(read_network_scenario(scenario_tree(overrides), "command line", sources(), networks));
  REQUIRE(plan.times.has_value());
  const NetworkTimes& t = *plan.times;
  CHECK(t.gpu_hours_per_million_samples == doctest::Approx(8e6 / t.samples_per_s.mid / 3600.0));
  CHECK(t.bill.total.mid.raw() == doctest::Approx(t.cost.mid.raw()));
  REQUIRE(t.bill.alternatives.size() == 1);
  CHECK(t.bill.alternatives[0].cost->mid.raw() == doctest::Approx(0.5 * t.cost.mid.raw()));
  REQUIRE(t.energy.has_value());
  CHECK(t.energy->per_million.mid.raw() == doctest::Approx(t.energy->run.mid.raw() / 100.0));
}

TEST_CASE("in a plan variants are told when asked for, with the recipes that the SKU has") {
  CHECK(train(planned({"money.price=2 $/h"})).variants.empty());
  const Plan p = planned({"money.price=2 $/h", "money.what_if=true"});
  const std::vector<Variant>& variants = train(p).variants;
  REQUIRE(variants.size() >= 4);
  CHECK(variants[0].cost->raw() == doctest::Approx(0.5 * train(p).cost.mid.raw()));
  CHECK(variants[3].what == "fp8");
  const Plan fp8 = planned({"training.precision=fp8"});
  CHECK(variants[3].time == doctest::Approx(train(fp8).estimate.step / train(p).estimate.step));
}

TEST_CASE(
    "a search for the least energy takes the lower cap, one for the least time the higher, lists and plan agree") {
  const auto searched = [](const std::string& goal) {
    const std::vector<std::string> question{"kind=train",
                                            "model=llama3-8b",
                                            "hardware.gpu=h100-sxm-80gb",
                                            "hardware.gpus=16",
                                            "training.seq_len=8192",
                                            "training.global_batch=128",
                                            "training.precision=bf16",
                                            "search.power_cap=[\"700 W\", \"450 W\"]",
                                            "search.tp=[1, 2]",
                                            "objective.minimize=" + goal};
    const SearchQuestion q = read_search(scenario_tree(question), "test", sources());
    return explain_search(q, run_search(q, {}));
  };
  const auto takes = [](const SearchPlan& p, const Change& change) {
    const auto& all = p.recommended.changes;
    return std::find(all.begin(), all.end(), change) != all.end();
  };
  const SearchPlan energy = searched("energy");
  REQUIRE(energy.plan.has_value());
  CHECK(takes(energy, {Knob::power_cap, "450 W"}));
  // Of a million tokens, without the building: what the plan itself says.
  const auto& plan = std::get<TrainPlan>(energy.plan->answer);
  CHECK(energy.recommended.goals[static_cast<std::size_t>(Goal::energy)] ==
        doctest::Approx(plan.energy->per_million.mid.raw()).epsilon(1e-9));
  CHECK(takes(searched("step-time"), {Knob::power_cap, "700 W"}));
}
