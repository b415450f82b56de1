// SPDX-License-Identifier: Apache-2.0
// Regret and rank correlation of strategies, on rows whose answers are known by hand.
#include <headroom/scenarios/validation/sweeps.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace headroom;

namespace {

/// A run of a 64-GPU job of one million tokens a step (256 sequences of 4,096).
ScoredRow run(std::int64_t tp, double measured, double predicted) {
  RunConfiguration c;
  c.model = "m";
  c.arch = "dense";
  c.gpu = "G";
  c.precision = "bf16";
  c.layers = 32;
  c.hidden = 4096;
  c.gpus = 64;
  c.seq_len = 4096;
  c.global_batch = 256;
  c.tp = tp;
  ScoredRow row;
  row.id = "tp" + std::to_string(tp);
  row.metric = "step_time_s";
  row.measured = measured;
  row.prediction.status = RowStatus::ok;
  row.prediction.predicted = predicted;
  row.source = "S";
  row.run = std::make_shared<const RunConfiguration>(c);
  return row;
}

/// The row with some cells exchanged.
template <class Change>
ScoredRow with(ScoredRow row, Change change) {
  RunConfiguration c = *row.run;
  change(c);
  row.run = std::make_shared<const RunConfiguration>(c);
  return row;
}

Sweeps find_sweeps(const std::vector<ScoredRow>& rows) {
  SweepBook book;
  for (const ScoredRow& row : rows) {
    book.add(row);
  }
  return book.sweeps();
}

const SweepScore& group(const Sweeps& sweeps, std::string_view name) {
  for (const SweepScore& score : sweeps.groups) {
    if (score.group == name) {
      return score;
    }
  }
  FAIL("no group ", name);
  return sweeps.groups.front();
}

}  // namespace

TEST_CASE("regret is what the strategy predicted fastest measures over the best, tau counts pairs that differ") {
  // Picked: tp 2 at 11 s; best: tp 1 at 10 s. 10 and 10.3 s are no order. The other five pairs: (10, 11) against,
  // (10.3, 11), (10.3, 20), (10, 20) and (11, 20) as predicted; (10.3, 11): predicted 9.5 against 9, so against too.
  const std::vector<ScoredRow> rows{run(1, 10, 9.6), run(2, 11, 9), run(4, 20, 30), run(8, 10.3, 9.5)};
  const Sweeps sweeps = find_sweeps(rows);
  REQUIRE(sweeps.sweeps.size() == 1);
  const Sweep& s = sweeps.sweeps.front();
  CHECK(s.strategies == 4);
  CHECK(s.regret == doctest::Approx(0.1));
  CHECK(s.picked == "tp2");
  CHECK(s.best == "tp1");
  CHECK(s.pairs == 5);
  CHECK(s.tau() == doctest::Approx((3.0 - 2.0) / 5.0));
}

TEST_CASE("three strategies are no sweep, and runs of one strategy are one") {
  std::vector<ScoredRow> rows{run(1, 10, 9), run(2, 11, 10), run(4, 12, 11)};
  CHECK(find_sweeps(rows).sweeps.empty());
  rows.push_back(run(4, 14, 11));
  CHECK(find_sweeps(rows).sweeps.empty());
  rows.push_back(run(4, 40, 11));
  rows.push_back(run(8, 20, 5));
  const Sweeps sweeps = find_sweeps(rows);
  REQUIRE(sweeps.sweeps.size() == 1);
  CHECK(sweeps.sweeps.front().strategies == 4);
  CHECK(sweeps.sweeps.front().regret == doctest::Approx(1.0));  // tp 8 at 20 s
  CHECK(sweeps.sweeps.front().pairs == 6);                      // tp 4 counts 14 s, the median of 12, 14 and 40
}

TEST_CASE("throughput is turned into time, other metrics and unpredicted rows are left out") {
  std::vector<ScoredRow> rows{run(1, 16, 16), run(2, 20, 20), run(4, 24, 24)};
  // 256 x 4,096 tokens / 64 GPUs / 1,024 tokens per second and GPU = 16 s; 256 samples / 32 per second = 8 s.
  rows.push_back(with(run(1, 1024, 1024), [](RunConfiguration& c) { c.pp = 2; }));
  rows.back().metric = "tokens_per_s_per_gpu";
  rows.push_back(with(run(1, 32, 8), [](RunConfiguration& c) { c.pp = 4; }));
  rows.back().metric = "samples_per_s";
  rows.push_back(run(16, 500, 500));
  rows.back().metric = "model_tflops_per_gpu";
  rows.push_back(run(32, 1, 1));
  rows.back().prediction.status = RowStatus::unsupported;
  const Sweeps sweeps = find_sweeps(rows);
  REQUIRE(sweeps.sweeps.size() == 1);
  CHECK(sweeps.sweeps.front().strategies == 5);
  CHECK(sweeps.sweeps.front().regret == doctest::Approx(1.0));  // 16 s picked, 8 s best: predicted 32 s
}

TEST_CASE("another network, size, batch, SKU, precision, method or source is another question") {
  const std::vector<ScoredRow> base{run(1, 10, 9), run(2, 11, 10), run(4, 12, 11)};
  const auto sweeps_with = [&](ScoredRow row) {
    std::vector<ScoredRow> rows = base;
    rows.push_back(std::move(row));
    return find_sweeps(rows).sweeps.size();
  };
  CHECK(sweeps_with(run(8, 13, 12)) == 1);
  CHECK(sweeps_with(with(run(8, 13, 12), [](RunConfiguration& c) { c.layers = 33; })) == 0);
  CHECK(sweeps_with(with(run(8, 13, 12), [](RunConfiguration& c) { c.gpus = 128; })) == 0);
  CHECK(sweeps_with(with(run(8, 13, 12), [](RunConfiguration& c) { c.global_batch = 512; })) == 0);
  CHECK(sweeps_with(with(run(8, 13, 12), [](RunConfiguration& c) { c.gpu = "H"; })) == 0);
  CHECK(sweeps_with(with(run(8, 13, 12), [](RunConfiguration& c) { c.precision = "fp8"; })) == 0);
  CHECK(sweeps_with(with(run(8, 13, 12), [](RunConfiguration& c) { c.options["method"] = "lora"; })) == 0);
  CHECK(sweeps_with(with(run(8, 13, 12), [](RunConfiguration& c) { c.options["release"] = "2"; })) == 1);
  ScoredRow other = run(8, 13, 12);
  other.source = "T";
  CHECK(sweeps_with(other) == 0);
}

TEST_CASE("of strategies predicted alike the slowest is the one picked") {
  const Sweeps sweeps = find_sweeps(std::vector{run(1, 10, 9), run(2, 13, 9), run(4, 12, 9), run(8, 20, 10)});
  CHECK(sweeps.sweeps.front().regret == doctest::Approx(0.3));
}

TEST_CASE("of strategies alike in all the first by its words is told, by the id of its first run that has one") {
  std::vector<ScoredRow> rows{run(8, 10, 9), run(4, 10, 9), run(2, 10, 9), run(1, 10, 9), run(1, 10, 9), run(1, 10, 9)};
  rows[3].id.clear();
  rows[4].id = "first";
  rows[5].id = "second";
  const Sweep sweep = find_sweeps(rows).sweeps.at(0);
  CHECK(sweep.strategies == 4);
  CHECK(sweep.picked == "first");
  CHECK(sweep.best == "first");
}

TEST_CASE("rows of many questions in turn are put to their own, and sweeps stand in the order of their words") {
  const auto of_layers = [](std::int64_t layers, std::int64_t tp) {
    ScoredRow row = with(run(tp, static_cast<double>(layers + tp), 1.0 / static_cast<double>(layers + tp)),
                         [&](RunConfiguration& c) { c.layers = layers; });
    row.source = "S" + std::to_string(1'000 + layers);
    row.id = std::to_string(layers) + "/" + std::to_string(tp);
    return row;
  };
  constexpr std::int64_t questions = 500;
  std::vector<ScoredRow> rows;
  for (const std::int64_t tp : {1, 2, 4, 8}) {
    for (std::int64_t layers = questions; layers > 0; --layers) {
      if (tp < 8 || layers % 2 == 0) {  // every other question has three strategies, so it is no sweep
        rows.push_back(of_layers(layers, tp));
      }
    }
  }
  const Sweeps sweeps = find_sweeps(rows);
  REQUIRE(sweeps.sweeps.size() == questions / 2);
  for (std::size_t i = 0; i < sweeps.sweeps.size(); ++i) {
    const auto layers = 2 * static_cast<std::int64_t>(i + 1);
    const Sweep& sweep = sweeps.sweeps[i];
    CHECK(sweep.source == "S" + std::to_string(1'000 + layers));
    CHECK(sweep.best == std::to_string(layers) + "/1");
    CHECK(sweep.picked == std::to_string(layers) + "/8");
    CHECK(sweep.model == "m");
    CHECK(sweep.gpu == "G");
    CHECK(sweep.precision == "bf16");
    CHECK(sweep.gpus == 64);
    CHECK(sweep.seq_len == 4096);
    CHECK(sweep.global_batch == 256);
  }
}

TEST_CASE("groups of sweeps: quantiles of regret, tau over all pairs and the median of sweeps") {
  std::vector<ScoredRow> rows{run(1, 10, 1), run(2, 20, 2), run(4, 30, 3), run(8, 40, 4)};     // regret 0, tau 1
  for (const ScoredRow& row : {run(1, 10, 4), run(2, 20, 3), run(4, 30, 2), run(8, 40, 1)}) {  // regret 3, tau -1
    rows.push_back(with(row, [](RunConfiguration& c) { c.gpus = 512; }));
  }
  // Ten times the first again, at other batches.
  for (std::int64_t batch = 1; batch <= 8; ++batch) {
    for (const std::size_t i : {0, 1, 2, 3}) {
      rows.push_back(with(rows[i], [&](RunConfiguration& c) { c.global_batch = batch; }));
    }
  }
  const Sweeps sweeps = find_sweeps(rows);
  const SweepScore& all = group(sweeps, "all");
  CHECK(all.sweeps == 10);
  CHECK(all.strategies == 40);
  CHECK(all.pairs == 60);
  CHECK(all.regret_median == 0.0);
  CHECK(all.regret_p90 == doctest::Approx(0.3));  // between the ninth of ten, 0, and the tenth, 3
  CHECK(all.tau == doctest::Approx((9.0 - 1.0) / 10.0));
  CHECK(all.tau_median == doctest::Approx(1.0));
  CHECK(group(sweeps, "source=S size=65-512").tau == doctest::Approx(-1.0));
  CHECK(group(sweeps, "size=9-64").sweeps == 9);
  CHECK(group(sweeps, "all beyond 8 GPUs").sweeps == 10);
  for (ScoredRow& row : rows) {
    row = with(row, [](RunConfiguration& c) { c.gpus = 8; });
  }
  for (const SweepScore& score : find_sweeps(rows).groups) {
    CHECK(score.group != "all beyond 8 GPUs");
  }
}

TEST_CASE("sizes by their ends") {
  CHECK(size_bucket(1) == "<=8");
  CHECK(size_bucket(8) == "<=8");
  CHECK(size_bucket(9) == "9-64");
  CHECK(size_bucket(64) == "9-64");
  CHECK(size_bucket(65) == "65-512");
  CHECK(size_bucket(512) == "65-512");
  CHECK(size_bucket(513) == "513-2048");
  CHECK(size_bucket(2048) == "513-2048");
  CHECK(size_bucket(2049) == ">2048");
}
