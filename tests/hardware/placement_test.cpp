// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/hardware/fabric/placement.hpp>

#include <doctest/doctest.h>

namespace headroom {
namespace {

AxisGroup at(const Placement& placement, Axis axis) {
  return placement[static_cast<std::size_t>(axis)];
}

TEST_CASE("Megatron's order puts tensor parallelism on neighbours and the pipeline furthest apart") {
  // Megatron-LM core/parallel_state.py, example of 16 GPUs: tp 2, pp 4: pipeline groups {0,4,8,12}, data {0,2}.
  const Placement p = place({}, {.tp = 2, .dp = 2, .pp = 4});
  CHECK(at(p, Axis::tp).ranks == 2);
  CHECK(at(p, Axis::tp).stride == 1);
  CHECK(at(p, Axis::dp).stride == 2);
  CHECK(at(p, Axis::pp).ranks == 4);
  CHECK(at(p, Axis::pp).stride == 4);
}

TEST_CASE("experts divide a stage's ranks anew") {
  // 64 ranks: tp 2, cp 2, dp 8, pp 2; experts etp 1, ep 8 leave edp 4.
  const Placement p = place({}, {.tp = 2, .cp = 2, .dp = 8, .pp = 2, .ep = 8});
  CHECK(at(p, Axis::cp).stride == 2);
  CHECK(at(p, Axis::dp).stride == 4);
  CHECK(at(p, Axis::ep).stride == 1);
  CHECK(at(p, Axis::edp).ranks == 4);
  CHECK(at(p, Axis::edp).stride == 8);
  CHECK(at(p, Axis::pp).stride == 32);
  CHECK(at(p, Axis::dp_cp).ranks == 16);
  CHECK(at(p, Axis::dp_cp).stride == 2);
}

TEST_CASE("another order moves the strides") {
  const AxisOrder order = parse_axis_order("tp-cp-ep-pp-dp");
  CHECK(to_text(order) == "tp-cp-ep-pp-dp");
  const Placement p = place(order, {.tp = 4, .dp = 8, .pp = 2});
  CHECK(at(p, Axis::pp).stride == 4);
  CHECK(at(p, Axis::dp).stride == 8);
}

TEST_CASE("an order and degrees that cannot be are named") {
  try {
    static_cast<void>(parse_axis_order("tp-xp-tp-dp"));
    FAIL("accepted");
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    for (const char* part :
         {"unknown axis 'xp'", "'tp' stands twice", "'cp' is missing", "'ep' is missing", "'pp' is missing"}) {
      CAPTURE(part);
      CHECK(text.find(part) != std::string::npos);
    }
  }
  CHECK_THROWS_WITH_AS(static_cast<void>(place({}, {.tp = 2, .dp = 2, .ep = 3})), doctest::Contains("etp x ep = 3"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(place({}, {.tp = 0, .dp = -1})), doctest::Contains("dp is -1"), ConfigError);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(place(parse_axis_order("tp-cp-ep-pp-dp"), {.tp = 2, .dp = 8, .pp = 2, .ep = 8})),
      doctest::Contains("two stages"), ConfigError);
}

}  // namespace
}  // namespace headroom
