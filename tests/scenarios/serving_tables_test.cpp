// SPDX-License-Identifier: Apache-2.0
// The serving part of the accuracy page, of made-up rows whose statistics are known by hand.
#include <headroom/scenarios/validation/accuracy_page.hpp>
#include <headroom/scenarios/validation/serving_tables.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;

namespace {

/// Three layouts of one question in the measured order, three of another against it, with a metric that no code names;
/// rates of both families, a pool, a row in doubt and one that nobody answers.
constexpr std::string_view rows_csv =
    "id,source,model,layers,experts,gpu,gpus,tp,isl,osl,concurrency,engine,options,metric,value,unit,notes\n"
    "t1,S,m,32,,G,1,1,100,100,8,vLLM,scenario=closed,tpot_ms_mean,10,ms,\n"
    "t2,S,m,32,,G,2,2,100,100,8,vLLM,scenario=closed,tpot_ms_mean,20,ms,\n"
    "t3,S,m,32,,G,4,4,100,100,8,vLLM,scenario=closed,tpot_ms_mean,40,ms,\n"
    "t4,S,m,32,,G,8,8,100,100,8,vLLM,scenario=closed,tpot_ms_mean,90,ms,CHECK\n"
    "r1,S,m,32,,G,1,1,100,100,,vLLM,scenario=offline,output_tokens_per_s,100,tokens/s,\n"
    "r2,R,x,32,8,H,1,1,100,100,,SGLang,scenario=offline,output_tokens_per_s,100,tokens/s,\n"
    "q1,R,x,32,8,H,1,1,100,100,4,SGLang,scenario=burst,stall_ms_p99,10,ms,\n"
    "q2,R,x,32,8,H,2,2,100,100,4,SGLang,scenario=burst,stall_ms_p99,20,ms,\n"
    "q3,R,x,32,8,H,4,4,100,100,4,SGLang,scenario=burst,stall_ms_p99,30,ms,\n"
    "k1,S,m,32,,G,1,1,100,100,,vLLM,,max_concurrent_sequences,50,sequences,\n"
    "u1,U,net,,,L,1,,,,,E,,images_per_s,7,1/s,\n";

struct Told {
  double predicted, roofline;
};
const std::map<std::string, Told> told{{"t1", {11, 5}},   {"t2", {15, 5}},    {"t3", {44, 20}},
                                       {"r1", {80, 400}}, {"r2", {125, 400}}, {"q1", {30, 1}},
                                       {"q2", {20, 1}},   {"q3", {10, 1}},    {"k1", {51, 60}}};

RowPrediction predict(const RunFile&, const RunRow& row) {
  const auto found = told.find(row.id);
  if (found == told.end()) {
    return unsupported("no tokens");
  }
  const Told& t = found->second;
  return {RowStatus::ok, {}, t.predicted, t.predicted / 1.12, t.predicted * 1.12, t.roofline};
}

std::vector<BudgetBar> bars() {
  return read_budget(parse_toml("[[bar]]\nname = \"one loop\"\nwhere = [\"file=rows.csv\", \"metric=tpot_ms_mean\"]\n"
                                "except = [\"gpus=2\", \"engine=vLLM\"]\nmape = 0.09\nwithin_most = 0.95\n"
                                "[[bar]]\ngroup = \"all\"\nmetric = \"max_concurrent_sequences\"\nmape = 0.03\n"
                                "[[bar]]\nname = \"order\"\ngroup = \"all\"\nlayout_tau = 0.5\n",
                                "serving-bars.toml"),
                     "serving-bars.toml");
}

AccuracyReference reference() {
  AccuracyReference r;
  r.serving_bars = bars();
  Diagnostics diagnostics;
  r.claims = read_claims(
      parse_toml(
          "schema = 1\n[[claim]]\ntool = \"Oracle\"\nquantity = \"TPOT\"\nclaim = \"mean 3\"\ndata = \"two runs\"\n"
          "source = \"its paper\"\nwhere = [\"engine=vLLM\"]\nmetric = \"tpot_ms_mean\"\n"
          "[[claim]]\ntool = \"Abacus\"\nquantity = \"beads\"\nclaim = \"none\"\ndata = \"-\"\nsource = \"s\"\n",
          "claims.toml"),
      diagnostics);
  diagnostics.throw_if_any();
  return r;
}

std::vector<RunFile> files() {
  std::istringstream stream{std::string{rows_csv}};
  Diagnostics diagnostics;
  std::vector<RunFile> read{read_runs(stream, "measured/rows.csv", diagnostics)};
  diagnostics.throw_if_any();
  return read;
}

Validation validation() {
  ValidationScope scope;
  scope.groups = reference().groups();
  return validate(files(), scope, predict);
}

std::string page() {
  return serving_tables(validation(), reference());
}

bool has(const std::string& text, std::string_view line) {
  const bool found = text.find(line) != std::string::npos;
  if (!found) {
    MESSAGE("not found: ", line);
  }
  return found;
}

std::vector<LayoutScore> rank_layouts(const std::vector<ScoredRow>& rows) {
  LayoutBook book;
  for (const ScoredRow& row : rows) {
    book.add(row);
  }
  return book.scores();
}

}  // namespace

TEST_CASE("a line a metric: scored, MAPE, median, p90, bias in time, interval, baselines") {
  const std::string text = page();
  // Errors +10, -25 and +10 %; the second lies outside 12 %. The constant is twice the datasheet: 0, -50 and 0 %. The
  // row in doubt counts nowhere.
  CHECK(has(text, "| all | tpot_ms_mean | 3 of 3 | 15.0 | 10.0 | 22.0 | +10.0 | 66.7 | 16.7 | 58.3 |\n"));
  // Three metrics apart, whatever they are called.
  CHECK(has(text, "| burst | stall_ms_p99 | 3 of 3 |"));
  CHECK(has(text, "| closed | tpot_ms_mean | 3 of 3 |"));
  CHECK(has(text, "| S | tpot_ms_mean | 3 of 3 |"));
  CHECK(has(text, "| SGLang | output_tokens_per_s | 1 of 1 |"));
  CHECK(has(text, "| H | stall_ms_p99 | 3 of 3 |"));
}

TEST_CASE("a rate that is too low is a time that is too long") {
  const std::string text = page();
  CHECK(has(text, "| dense | output_tokens_per_s | 1 of 1 | 20.0 | 20.0 | 20.0 | +25.0 | 0 | 0 | 300 |\n"));
  CHECK(has(text, "| experts | output_tokens_per_s | 1 of 1 | 25.0 | 25.0 | 25.0 | -20.0 | 0 | 0 | 300 |\n"));
}

TEST_CASE("what nobody answers is named with its rows, and is of no family") {
  const std::string text = page();
  CHECK(has(text, "\nNot answered: images_per_s (1).\n"));
  CHECK(has(text, "\nNot answered: U (1).\n"));
  for (const GroupScore& g : validation().groups) {
    CHECK((g.group != "family=dense" || !g.metric.empty() || g.n == 6));
  }
}

TEST_CASE("what pools hold stands apart from times") {
  const std::string text = page();
  CHECK(has(text, "| all | 1 of 1 | 2.00 | 2.00 | 2.00 | 0 | 20.0 | 1 |\n"));
  CHECK(text.find("| max_concurrent_sequences |") == std::string::npos);
}

TEST_CASE("serving bars: rows by the file's name less those excepted, an interval that is too wide, order of layouts") {
  const std::string text = page();
  CHECK(has(text, "| one loop | mape | at most 9.00 % | 10.0 % | **missed** |\n"));
  CHECK(has(text, "| one loop | within | at most 95.0 % | 100 % | **missed** |\n"));
  CHECK(has(text, "| all, max_concurrent_sequences | mape | at most 3.00 % | 2.00 % | holds |\n"));
  CHECK(has(text, "| order | layout_tau | at least 0.50 | 0"));
  CHECK(has(text, "1 of 4 hold.\n"));
  const std::vector<std::string> missed = missed_bars(validation(), bars());
  REQUIRE(missed.size() == 3);
  CHECK(missed[0] == "one loop: mape 10.0 % is above 9.00 %");
}

TEST_CASE("layouts are ranked within a question, and three make one") {
  const std::vector<LayoutScore> scores = rank_layouts(validation().rows);
  std::map<std::string, LayoutScore> by_group;
  for (const LayoutScore& s : scores) {
    by_group[s.group] = s;
  }
  REQUIRE(scores.size() == 7);  // all, two engines, two metrics, two sources: rates have one layout a question
  CHECK(scores[0].group == "all");
  CHECK(scores[0].questions == 2);
  CHECK(scores[0].layouts == 6);
  CHECK(scores[0].tau == doctest::Approx(0.0));
  CHECK(by_group["engine=vLLM"].tau == doctest::Approx(1.0));
  CHECK(by_group["metric=stall_ms_p99"].tau == doctest::Approx(-1.0));
  // Another load is another question, and two layouts are none.
  std::vector<ScoredRow> rows = validation().rows;
  auto other = std::make_shared<ServingConfiguration>(*rows[2].serving);
  other->request_rate = 3.0;
  rows[2].serving = other;
  CHECK(rank_layouts(rows)[0].questions == 1);
}

TEST_CASE("a claim stands beside our like error, and alone where we have none") {
  const std::string text = page();
  CHECK(has(text,
            "| Oracle | TPOT | mean 3 | two runs | its paper | MAPE 15.0, median 10.0, p90 22.0 on 3 of 3 rows: "
            "engine=vLLM, tpot_ms_mean |\n"));
  CHECK(has(text, "| Abacus | beads | none | - | s | - |\n"));
}

TEST_CASE("the page has the serving tables of its serving rows, and says so where it has none") {
  AccuracyInputs inputs;
  inputs.validation = validation();
  inputs.command = "headroom validate rows.csv --format markdown";
  const std::string text = accuracy_page(inputs, reference());
  CHECK(has(text, page()));
  CHECK(text.find("## Training time") == std::string::npos);
  CHECK(has(accuracy_page({}, reference()), "No file of serving rows was given"));
}

TEST_CASE("conditions: a file by its path or its name, and exceptions that all have to hold") {
  const std::vector<RunFile> read = files();
  const auto members = [&](const std::vector<std::string>& where, const std::vector<std::string>& except) {
    const RowGroup group = parse_group(where, except);
    std::size_t n = 0;
    for (const RunRow& row : read[0].rows) {
      n += belongs(group, read[0], row) ? 1 : 0;
    }
    return n;
  };
  CHECK(members({"file=rows.csv"}, {}) == 11);
  CHECK(members({"file=measured/rows.csv"}, {}) == 11);
  CHECK(members({"file!=rows.csv"}, {}) == 0);
  CHECK(members({"file=ows.csv"}, {}) == 0);
  CHECK(members({"engine=SGLang"}, {"gpus!=1", "options.scenario=burst"}) == 2);
  CHECK(parse_group(std::vector<std::string>{"a=1"}, std::vector<std::string>{"b=2", "c=3"}).name ==
        "where a=1 except b=2 and c=3");
}

TEST_CASE("bars and claims of serving that ship are read, and broken ones are named") {
  const AccuracyReference& shipped = accuracy_reference();
  CHECK(shipped.serving_bars.size() >= 12);
  CHECK(shipped.claims.size() >= 10);
  for (const BudgetBar& bar : shipped.serving_bars) {
    CHECK_FALSE(bar.name.empty());
  }
  Diagnostics diagnostics;
  static_cast<void>(read_claims(parse_toml("schema = 1\n[[claim]]\ntool = \"T\"\nquantity = \"q\"\ndata = \"d\"\n"
                                           "source = \"s\"\nmetric = \"tpot_ms_mean\"\n",
                                           "c.toml"),
                                diagnostics));
  CHECK(diagnostics.size() == 2);  // no claim, a metric of no rows
  const auto broken = [](const char* text) {
    return [text] { static_cast<void>(read_budget(parse_toml(text, "b.toml"), "b.toml")); };
  };
  CHECK_THROWS_AS(broken("[[bar]]\ngroup = \"all\"\nexcept = [\"a=1\"]\nmape = 0.1\n")(), ConfigError);
  CHECK_THROWS_AS(broken("[[bar]]\nwhere = [\"a=1\"]\nlayout_tau = 0.1\n")(), ConfigError);
  CHECK_THROWS_AS(broken("[[bar]]\ngroup = \"all\"\nwithin_most = 1.1\n")(), ConfigError);
}
