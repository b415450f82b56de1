// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/front_end.hpp>

#include <algorithm>
#include <cstddef>

namespace headroom {

FrontEnd::FrontEnd(const RequestLoad& load, Picoseconds intake, Picoseconds parse) : load_{load} {
  if (intake <= Picoseconds{0} || load.concurrency > 0) {
    return;
  }
  done_.reserve(load.requests.size());
  Picoseconds free{0};
  for (auto next = load.requests.begin(); next != load.requests.end();) {
    const Picoseconds pass = std::max(free, next->arrival);
    const auto end = std::find_if(next, load.requests.end(), [&](const Request& r) { return r.arrival > pass; });
    free = pass + (end - next) * parse;
    for (; next != end; ++next) {
      free += intake;
      done_.push_back(free);
    }
  }
}

RequestLoad FrontEnd::behind() const {
  RequestLoad load = load_;
  for (std::size_t i = 0; i < done_.size(); ++i) {
    load.requests[i].arrival = done_[i];
  }
  return load;
}

Picoseconds FrontEnd::seen(Picoseconds time) const noexcept {
  if (time == never) {
    return time;
  }
  const auto later = std::upper_bound(load_.requests.begin(), load_.requests.end(), time,
                                      [](Picoseconds t, const Request& request) { return t < request.arrival; });
  const auto before = static_cast<std::size_t>(later - load_.requests.begin());
  return before == 0 ? time : std::max(time, done_[before - 1]);
}

void FrontEnd::show(FleetResult& result) const noexcept {
  for (std::size_t i = 0; i < done_.size(); ++i) {
    RequestTimes& times = result.requests[i];
    times.arrival = load_.requests[i].arrival;
    times.first_token = seen(times.first_token);
    times.finished = seen(times.finished);
  }
}

}  // namespace headroom
