// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/estimate/regime.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <utility>

using namespace headroom;

namespace {

/// A step of 100 s with these parts, the rest of it products.
Breakdown step(std::initializer_list<std::pair<Term, double>> parts) {
  Breakdown time;
  double rest = 100.0;
  for (const auto& [term, seconds] : parts) {
    time[term] = Seconds{seconds};
    rest -= seconds;
  }
  time[Term::gemm] = Seconds{rest};
  return time;
}

}  // namespace

TEST_CASE("a regime is the largest part beside compute") {
  CHECK(regime_of(step({{Term::tp_comm, 12.0}, {Term::dp_comm, 9.0}, {Term::bubble, 20.0}})) ==
        StepRegime::communication);
  CHECK(regime_of(step({{Term::bubble, 20.0}, {Term::host, 19.0}})) == StepRegime::bubble);
  CHECK(regime_of(step({{Term::host, 10.0}, {Term::host_sync, 12.0}, {Term::elementwise, 21.0}})) == StepRegime::host);
  CHECK(regime_of(step({{Term::elementwise, 8.0}, {Term::optimizer, 8.0}})) == StepRegime::memory_traffic);
}

TEST_CASE("a step of which nothing beside compute takes 15 % is bound by compute") {
  CHECK(regime_of(step({{Term::attention, 40.0}, {Term::head, 20.0}, {Term::bubble, 14.9}})) == StepRegime::compute);
  CHECK(regime_of(step({{Term::attention, 40.0}, {Term::bubble, 15.1}})) == StepRegime::bubble);
}
