// SPDX-License-Identifier: Apache-2.0
// The process between clients and engine: requests one after the other, answers behind them.
#include <headroom/model/serve/screen/screen.hpp>
#include <headroom/model/serve/simulation/front_end.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>

#include <doctest/doctest.h>

#include "serving_tables.hpp"
#include <cstddef>
#include <utility>
#include <vector>

using namespace headroom;

namespace {

constexpr Picoseconds ms{1'000'000'000};

RequestLoad arrivals(const std::vector<int>& at_ms) {
  RequestLoad load;
  for (const int at : at_ms) {
    load.requests.push_back({at * ms, 10, 10});
  }
  return load;
}

RequestTimes answered(int first_ms, int last_ms) {
  RequestTimes times;
  times.first_token = first_ms * ms;
  times.finished = last_ms * ms;
  return times;
}

}  // namespace

TEST_CASE("requests pass the front end one after the other, and an idle one at once") {
  const RequestLoad load = arrivals({0, 0, 0, 20});
  const RequestLoad behind = FrontEnd{load, 5 * ms}.behind();
  CHECK(behind.requests[0].arrival == 5 * ms);
  CHECK(behind.requests[1].arrival == 10 * ms);
  CHECK(behind.requests[2].arrival == 15 * ms);
  CHECK(behind.requests[3].arrival == 25 * ms);
}

TEST_CASE("answers wait for the requests that came before them, and for no later one") {
  const RequestLoad load = arrivals({0, 0, 0, 20});
  FleetResult result;
  // done before the burst has passed; after it; while the fourth request passes; unanswered
  result.requests = {answered(8, 12), answered(12, 18), answered(16, 22), RequestTimes{}};
  FrontEnd{load, 5 * ms}.show(result);
  CHECK(result.requests[0].arrival == Picoseconds{0});
  CHECK(result.requests[0].first_token == 15 * ms);
  CHECK(result.requests[0].finished == 15 * ms);
  CHECK(result.requests[1].first_token == 15 * ms);
  CHECK(result.requests[1].finished == 18 * ms);
  CHECK(result.requests[2].first_token == 16 * ms);
  CHECK(result.requests[2].finished == 25 * ms);
  CHECK(result.requests[3].arrival == 20 * ms);
  CHECK(result.requests[3].first_token == never);
}

TEST_CASE("a front end that takes no time, and a closed loop, leave everything as it was") {
  const RequestLoad open = arrivals({0, 0, 3});
  RequestLoad closed = open;
  closed.concurrency = 2;
  for (const auto& [load, intake] : {std::pair{open, Picoseconds{0}}, std::pair{closed, 5 * ms}}) {
    const FrontEnd front{load, intake};
    const RequestLoad behind = front.behind();
    for (std::size_t i = 0; i < load.requests.size(); ++i) {
      CHECK(behind.requests[i].arrival == load.requests[i].arrival);
    }
    FleetResult result;
    result.requests = {answered(1, 2), answered(1, 2), answered(4, 5)};
    front.show(result);
    CHECK(result.requests[0].first_token == 1 * ms);
    CHECK(result.requests[2].finished == 5 * ms);
  }
}

TEST_CASE("templates of all that wait are parsed before any of them gets on") {
  const RequestLoad load = arrivals({0, 0, 0, 20, 60});
  const RequestLoad behind = FrontEnd{load, 5 * ms, 10 * ms}.behind();
  // three templates and the first request, the others behind it; the fourth came meanwhile and is the next pass
  CHECK(behind.requests[0].arrival == 35 * ms);
  CHECK(behind.requests[1].arrival == 40 * ms);
  CHECK(behind.requests[2].arrival == 45 * ms);
  CHECK(behind.requests[3].arrival == 60 * ms);
  CHECK(behind.requests[4].arrival == 75 * ms);
}

namespace {

/// Iterations of 10 ms, whatever they hold.
ServingFleet behind_queue(const IterationTables& tables, FrontWork work) {
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.engine.blocks = 10'000;
  fleet.pool.front = work;
  return fleet;
}

RequestLoad clients(std::int64_t concurrency, std::size_t requests, std::int32_t output) {
  RequestLoad load;
  load.requests.assign(requests, {Picoseconds{0}, 10, output});
  load.concurrency = concurrency;
  return load;
}

IterationTables tens() {
  return test::simple_tables({.step = 10'000'000'000});
}

}  // namespace

TEST_CASE("pieces of an iteration pass one after another, and a client sends once its last has passed") {
  const IterationTables tables = tens();
  const ServingFleet fleet = behind_queue(tables, {{}, 1 * ms});
  const FleetResult result = simulate(fleet, clients(2, 4, 3));
  CHECK(result.requests[0].first_token == 11 * ms);
  CHECK(result.requests[1].first_token == 12 * ms);
  CHECK(result.requests[0].finished == 31 * ms);
  CHECK(result.requests[1].finished == 32 * ms);
  CHECK(result.requests[2].arrival == 31 * ms);
  CHECK(result.requests[3].arrival == 32 * ms);
  // the third, sent at 31, is behind the second's last piece
  CHECK(result.requests[2].started == 32 * ms);
  CHECK(result.requests[2].first_token == 43 * ms);
  CHECK(result.requests[3].first_token == 44 * ms);
}

TEST_CASE("where decodes are faster than their pieces these queue up, and later prompts behind them") {
  const IterationTables tables = tens();
  const ServingFleet fleet = behind_queue(tables, {{}, 8 * ms});
  const FleetResult result = simulate(fleet, clients(2, 3, 4));
  // pieces of 16 ms an iteration: 10 to 26, to 42, to 58, to 74
  CHECK(result.requests[0].first_token == 18 * ms);
  CHECK(result.requests[1].first_token == 26 * ms);
  CHECK(result.requests[0].finished == 66 * ms);
  CHECK(result.requests[1].finished == 74 * ms);
  // sent at 66, when the pieces of the fourth iteration keep the process busy until 74
  CHECK(result.requests[2].arrival == 66 * ms);
  CHECK(result.requests[2].started == 74 * ms);
  CHECK(result.requests[2].first_token == 92 * ms);
}

TEST_CASE("texts are read in turn, and between the pieces that came before them") {
  const IterationTables tables = tens();
  const ServingFleet fleet = behind_queue(tables, {ms / 2, {}});
  const FleetResult result = simulate(fleet, clients(3, 3, 1));
  CHECK(result.requests[0].started == 5 * ms);
  CHECK(result.requests[1].started == 15 * ms);  // its text was read at 10, in the first's iteration
  CHECK(result.requests[2].started == 15 * ms);
  RequestLoad open = clients(0, 3, 1);
  open.requests[2].arrival = 12 * ms;
  const FleetResult later = simulate(fleet, open);
  CHECK(later.requests[1].started == 15 * ms);
  CHECK(later.requests[2].started == 25 * ms);  // read from 12 to 17, in the second's iteration
}

TEST_CASE("a long stretch of decodes hands over as many pieces as its iterations, wherever an arrival cuts it") {
  const IterationTables tables = tens();
  ServingFleet fleet = behind_queue(tables, {{}, 4 * ms});
  RequestLoad load = clients(0, 3, 500);
  load.requests[2] = {3'000 * ms, 10, 2};
  const FleetResult alone = simulate(fleet, load);
  // two pieces of 4 ms an iteration pass in its 10 ms, so that none queues up
  CHECK(alone.requests[0].first_token == 14 * ms);
  CHECK(alone.requests[0].finished == 5'004 * ms);
  CHECK(alone.requests[1].finished == 5'008 * ms);
  // behind the pieces of the iteration that ends as it comes, in the one after the next
  CHECK(alone.requests[2].started == 3'010 * ms);
  CHECK(alone.requests[2].first_token == (3'020 + 12) * ms);
  fleet.pool.front.piece = 6 * ms;  // 2 ms more than an iteration lasts, of each of 300 until the third comes
  const FleetResult late = simulate(fleet, load);
  CHECK(late.requests[2].started == (3'000 + 610) * ms);
}

TEST_CASE("replicas have a front end each, and no more requests pass than it works off") {
  const IterationTables tables = tens();
  ServingFleet fleet = behind_queue(tables, {ms / 10, 2 * ms});
  fleet.pool.replicas = 2;
  fleet.pool.engine.max_num_seqs = 64;
  const RequestLoad load = clients(128, 2'000, 50);
  const FleetResult result = simulate(fleet, load);
  CHECK(result.unanswered == 0);
  const double most = 2 * fleet.pool.front.most(10.0, 50.0);
  CHECK(most == doctest::Approx(2 / (0.001 + 0.1)));
  const double rate = serving_metrics(load, result).all.finished_per_s;
  CHECK(rate < most * 1.01);
  CHECK(rate > most * 0.9);
  ScreenTraffic traffic;
  traffic.rate = Hertz{1.0};
  traffic.prompt = {10.0, 0.0};
  traffic.output = {50.0, 0.0};
  CHECK(screened_saturation(fleet, traffic).raw() == doctest::Approx(most));
  fleet.pool.front = {};
  CHECK(screened_saturation(fleet, traffic).raw() > 5 * most);
}
