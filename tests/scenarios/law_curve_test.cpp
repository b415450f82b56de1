// SPDX-License-Identifier: Apache-2.0
// The laws of scaling by themselves: what they promise, where doubling stops paying, and Karp and Flatt's share.
#include <headroom/core/diagnostic.hpp>
#include <headroom/scenarios/compare/law_curve.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace headroom;
using namespace headroom::scaling;

namespace {

LawRequest asked(double parallel, std::vector<std::int64_t> counts) {
  LawRequest request;
  request.parallel = parallel;
  request.counts = std::move(counts);
  return request;
}

}  // namespace

TEST_CASE("laws alone: 95 % on 64 workers are 1 / (0.05 + 0.95 / 64) by Amdahl and 0.05 + 0.95 x 64 by Gustafson") {
  const LawCurve curve = law_curve(asked(0.95, {64, 1, 64}));
  REQUIRE(curve.points.size() == 2);
  CHECK(curve.points[0].amdahl == doctest::Approx(1.0));
  CHECK(curve.points[0].gustafson == doctest::Approx(1.0));
  CHECK(curve.points[1].amdahl == doctest::Approx(1.0 / (0.05 + 0.95 / 64.0)).epsilon(1e-12));
  CHECK(curve.points[1].gustafson == doctest::Approx(60.85).epsilon(1e-12));
  CHECK(curve.points[1].amdahl_efficiency() == doctest::Approx(15.4 / 64.0).epsilon(0.01));
  CHECK(*curve.limit == doctest::Approx(20.0));
  // 128 workers: 1 / (0.05 + 0.95 / 128) = 17.41 over 15.42.
  CHECK(curve.points[1].doubling == doctest::Approx(0.1292).epsilon(1e-3));
}

TEST_CASE("laws alone: doubling pays up to a count that the laws have in closed form, and beyond it no more") {
  for (const double parallel : {0.5, 0.9, 0.95, 0.999}) {
    for (const double least : {0.05, 0.1, 0.5}) {
      CAPTURE(parallel);
      CAPTURE(least);
      const auto first = static_cast<std::int64_t>(*first_poor_doubling(parallel, least));
      const LawCurve curve = law_curve(asked(parallel, {first}));
      CHECK(curve.points[0].doubling < least);
      if (first > 1) {
        CHECK(law_curve(asked(parallel, {first - 1})).points[0].doubling >= least * (1.0 - 1e-9));
      }
    }
  }
  CHECK(*first_poor_doubling(0.95, 0.1) == 86.0);  // 0.95 x 0.9 / (0.2 x 0.05) = 85.5
  CHECK(*first_poor_doubling(0.0, 0.1) == 1.0);
  CHECK_FALSE(first_poor_doubling(1.0, 0.1));
}

TEST_CASE("laws alone: Karp and Flatt's share is the serial one of Amdahl's law, and grows with what the law lacks") {
  // The law's own speed-up gives its own share back.
  CHECK(karp_flatt({64.0, 1.0 / (0.05 + 0.95 / 64.0)}) == doctest::Approx(0.05).epsilon(1e-9));
  // (1/12 - 1/64) / (1 - 1/64).
  CHECK(karp_flatt({64.0, 12.0}) == doctest::Approx(0.0687831).epsilon(1e-5));
  LawRequest request = asked(0.95, {8, 64});
  request.measured = 12.0;
  CHECK(law_curve(request).measured->workers == 64);
  request.at = 16;
  const LawCurve curve = law_curve(request);
  CHECK(curve.measured->serial == doctest::Approx((1.0 / 12 - 1.0 / 16) / (1.0 - 1.0 / 16)));
  CHECK(curve.measured->amdahl == doctest::Approx(1.0 / (0.05 + 0.95 / 16)));
}

TEST_CASE("laws alone: every problem of the request is told at once") {
  LawRequest request = asked(1.5, {0, 20'000'000});
  request.least = 0.0;
  request.measured = -1.0;
  request.at = 1;
  try {
    static_cast<void>(law_curve(request));
    FAIL("it was answered");
  } catch (const ConfigError& error) {
    CHECK(error.diagnostics().size() == 6);
    const std::string text = error.what();
    CHECK(text.find("--law is 1.5") != std::string::npos);
    CHECK(text.find("--at is 1") != std::string::npos);
  }
}
