// SPDX-License-Identifier: Apache-2.0
// The process between clients and engine: requests one after the other, answers behind them.
#include <headroom/model/serve/simulation/front_end.hpp>

#include <doctest/doctest.h>

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
