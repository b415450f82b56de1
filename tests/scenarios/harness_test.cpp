// SPDX-License-Identifier: Apache-2.0
// What to expect over SKUs and scales, and which term to suspect where it is missed.
#include <headroom/scenarios/compare/harness.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <array>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

HarnessCell cell(const std::string& gpu, int gpus, std::optional<double> tolerance = std::nullopt) {
  const std::vector<std::string> overrides{"kind=train",
                                           "model=llama2-7b",
                                           "hardware.gpu=" + gpu,
                                           "hardware.gpus=" + std::to_string(gpus),
                                           "training.seq_len=4096",
                                           "training.global_batch=256",
                                           "training.precision=bf16",
                                           "training.software=torchtitan",
                                           "strategy.tp=1",
                                           "strategy.pp=1",
                                           "strategy.zero=3"};
  return expect_cell(scenario_from_overrides(overrides, sources()), std::to_string(gpus) + " x " + gpu, tolerance);
}

/// A step of 8 s of products and `comm` of data-parallel communication, 1000 tokens/s expected within a tenth.
HarnessCell stated(double comm, std::optional<double> measured) {
  HarnessCell c;
  c.expected = {900.0, 1000.0, 1100.0};
  c.time[Term::gemm] = Seconds{8.0};
  c.time[Term::dp_comm] = Seconds{comm};
  c.measured = measured;
  return c;
}

}  // namespace

TEST_CASE("every cell of A100, H100 and several nodes has an expectation with its tolerance") {
  std::array cells{cell("a100-sxm-80gb", 8), cell("h100-sxm-80gb", 8), cell("h100-sxm-80gb", 64)};
  for (const HarnessCell& c : cells) {
    CAPTURE(c.name);
    CHECK(c.problem.empty());
    CHECK(c.expected.low < c.expected.mid);
    CHECK(c.expected.mid < c.expected.high);
  }
  CHECK(cells[1].expected.mid > 1.5 * cells[0].expected.mid);
  // 5 % below the tolerance fails, the edge itself and the middle pass.
  cells[0].measured = cells[0].expected.mid;
  cells[1].measured = cells[1].expected.low;
  cells[2].measured = 0.95 * cells[2].expected.low;
  judge_cells(cells);
  CHECK(cells[0].verdict == CellVerdict::pass);
  CHECK(cells[1].verdict == CellVerdict::pass);
  CHECK(cells[2].verdict == CellVerdict::fail);
  CHECK_FALSE(cells[0].suspect);
  // What eight GPUs of one host do well is acquitted; what several hosts add is not.
  REQUIRE(cells[2].suspect);
  CHECK((*cells[2].suspect == Term::dp_comm || *cells[2].suspect == Term::straggler));
  const HarnessCell tenth = cell("a100-sxm-80gb", 8, 0.1);
  CHECK(tenth.expected.low == doctest::Approx(0.9 * tenth.expected.mid));
  CHECK(tenth.expected.high == doctest::Approx(1.1 * tenth.expected.mid));
}

TEST_CASE("the suspect is what the failing step has more of than any that passes, alone its largest term") {
  std::array cells{stated(0.5, 1000.0), stated(2.0, 0.95 * 900.0), stated(0.0, std::nullopt), stated(0.0, 1200.0)};
  judge_cells(cells);
  CHECK(cells[1].verdict == CellVerdict::fail);
  CHECK(cells[1].suspect == Term::dp_comm);
  CHECK(cells[1].why == "dp_comm: 20 % of this step, at most 5.9 % of those that pass");
  CHECK(cells[2].verdict == CellVerdict::expected);
  CHECK(cells[3].verdict == CellVerdict::faster);
  std::array alone{stated(2.0, 855.0)};
  judge_cells(alone);
  CHECK(alone[0].suspect == Term::gemm);
  CHECK(alone[0].why == "gemm: 80 % of this step, its largest term");
}

TEST_CASE("kernels of a fifth of the step do not explain one at 58 % of its rate, communication may") {
  const auto judged = [](Term term) {
    HarnessCell good = stated(0.0, 1000.0);
    HarnessCell slow = stated(0.0, 580.0);
    slow.time[term] = Seconds{2.0};
    std::array cells{good, slow};
    judge_cells(cells);
    CHECK(cells[1].suspect == term);
    return cells[1].why;
  };
  // 0.724 of a step more, of a fifth: 4.6 times as long.
  CHECK(judged(Term::attention).find("alone it would have to take 4.6 times as long: look first at what slows all") !=
        std::string::npos);
  CHECK(judged(Term::tp_comm).find("alone") == std::string::npos);
  std::array near_miss{stated(0.0, 850.0)};
  judge_cells(near_miss);
  CHECK(near_miss[0].why == "gemm: 100 % of this step, its largest term");
}

TEST_CASE("a cell that does not fit has no expectation and says why") {
  const HarnessCell small = cell("a100-sxm-40gb", 1);
  CHECK(small.verdict == CellVerdict::no_plan);
  CHECK_FALSE(small.problem.empty());
  std::array cells{small};
  cells[0].measured = 100.0;
  judge_cells(cells);
  CHECK(cells[0].verdict == CellVerdict::no_plan);
}
