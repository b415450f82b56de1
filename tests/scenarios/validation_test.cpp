// SPDX-License-Identifier: Apache-2.0
// The contract of `validate`: every row answered, groups, baselines, filters, weights and budgets.
#include <headroom/scenarios/facts/publication_facts.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/validation/budget.hpp>
#include <headroom/scenarios/validation/ratio_rows.hpp>
#include <headroom/scenarios/validation/row_marks.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

using namespace headroom;
using headroom::test::sources;

namespace {

constexpr std::string_view header =
    "id,source,source_ref,model,arch,layers,hidden,heads,kv_heads,head_dim,ffn_hidden,gated_mlp,vocab,tied_embeddings,"
    "seq_len,experts,top_k,moe_ffn,shared_experts,dense_layers,params_b,gpu,gpus,gpus_per_node,intra_link,"
    "inter_gbps_per_gpu,dp,tp,pp,vpp,cp,ep,seq_parallel,zero,micro_batch,global_batch,precision,recompute,flash_attn,"
    "framework,options,metric,value,unit,notes\n";

/// A dense row with some cells exchanged.
struct Cells {
  std::string id = "a", source = "S", arch = "dense", gpu = "A100-SXM4-80GB", heads = "32", precision = "bf16";
  std::string micro_batch = "1", recompute = "none", options{}, metric = "step_time_s", value = "10", notes{},
              layers = "32";
};

std::string row(const Cells& c) {
  return c.id + "," + c.source + ",ref,m," + c.arch + "," + c.layers + ",4096," + c.heads +
         ",32,128,11008,1,32000,0,4096,,,,,,7," + c.gpu + ",8,8,NVLink3,,8,1,1,1,1,1,0,3," + c.micro_batch + ",128," +
         c.precision + "," + c.recompute + ",1,FSDP," + c.options + "," + c.metric + "," + c.value + ",s," + c.notes +
         "\n";
}

RunFile runs(const std::string& rows, const std::string& name = "f.csv") {
  std::istringstream stream{std::string{header} + rows};
  Diagnostics diagnostics;
  RunFile file = read_runs(stream, name, diagnostics);
  diagnostics.throw_if_any();
  return file;
}

Validation scored(const std::string& rows, std::vector<RowFilter> filters = {}, std::vector<std::string> by = {}) {
  const std::vector<RunFile> files{runs(rows)};
  return validate(files, ValidationScope{std::move(filters), std::move(by), {}}, sources());
}

const GroupScore& group(const Validation& v, std::string_view name, std::string_view metric = "") {
  for (const GroupScore& g : v.groups) {
    if (g.group == name && g.metric == metric) {
      return g;
    }
  }
  FAIL("no group ", name);
  return v.groups.front();
}

}  // namespace

TEST_CASE("id, source and notes never reach the model") {
  const Validation v = scored(row({}) + row({.id = "other", .source = "T", .notes = "fast cluster"}));
  CHECK(v.rows[0].prediction.predicted == v.rows[1].prediction.predicted);
  CHECK(v.rows[0].prediction.status == RowStatus::ok);
}

TEST_CASE(
    "rows in doubt are rejected, rows that lack a cell or a modelled device are unsupported, each with a reason") {
  const Validation v =
      scored(row({.notes = "CHECK the unit"}) + row({.heads = ""}) + row({.gpu = "MIG:A30 (1x1g.6gb MIG)"}) +
             row({.gpu = "A100"}) + row({.arch = "cnn"}) + row({.precision = "int3"}) + row({.metric = "loss"}));
  CHECK(v.rows[0].prediction.status == RowStatus::rejected);
  CHECK(v.rows[0].prediction.why == "its notes say CHECK");
  CHECK(v.rows[1].prediction.why == "not published: heads");
  for (std::size_t i = 1; i < v.rows.size(); ++i) {
    CHECK(v.rows[i].prediction.status == RowStatus::unsupported);
    CHECK_FALSE(v.rows[i].prediction.why.empty());
  }
  const GroupScore& all = group(v, "all");
  CHECK(all.n == 7);
  CHECK(all.supported == 0);
  CHECK(all.rejected == 1);
  CHECK(std::isnan(all.model.mape));
}

TEST_CASE("figures stand with marked rows and without, and a marked row says why") {
  // The first of the shipped marks, and a row of its publication that none of them names.
  std::ostringstream shipped;
  shipped << std::ifstream{HEADROOM_SOURCE_DIR "/scenarios/accuracy/marks.toml"}.rdbuf();
  const ConfigValue document = parse_toml(shipped.str(), "marks.toml");
  const ConfigValue& mark = document.find("mark")->items.front();
  const std::string publication = mark.find("publication")->text;
  const std::string marked = row({.id = mark.find("rows")->items.front().text + ".step", .source = publication});
  const std::string other = row({.id = "named-by-none.step", .source = publication});
  const Validation v = scored(marked + other + row({}));
  CHECK(v.rows[0].prediction.why == "marked: " + mark.find("why")->text);
  CHECK(v.rows[1].prediction.why.empty());
  CHECK(v.rows[0].prediction.predicted == v.rows[1].prediction.predicted);
  CHECK(group(v, "all").n == 3);
  CHECK(group(v, "all, unmarked").n == 2);
  CHECK(group(v, "source=" + publication + ", unmarked").n == 1);
  // Where nothing is marked nothing is said twice.
  const Validation none = scored(other + row({}));
  for (const GroupScore& g : none.groups) {
    CAPTURE(g.group);
    CHECK_FALSE(g.group.ends_with(", unmarked"));
  }
}

TEST_CASE("marks name rows by their ids without the metric, of one publication, each with a reason and its source") {
  const RowMarks marks =
      read_marks(parse_toml("schema = 1\n[[mark]]\npublication = \"P\"\nrows = [\"a\", \"b-*\"]\n"
                            "why = \"w\"\nsource = \"s\"\n",
                            "marks.toml"));
  CHECK(marks.why("P", "a.step") == "w");
  CHECK(marks.why("P", "b-7.x.tps") == "w");
  CHECK(marks.why("P", "a2.step").empty());
  CHECK(marks.why("Q", "a.step").empty());
  CHECK(marks.know("P"));
  CHECK_FALSE(marks.know("Q"));
  CHECK_THROWS_AS(read_marks(parse_toml("schema = 1\n[[mark]]\npublication = \"P\"\nrows = [\"a\"]\nsource = \"s\"\n",
                                        "marks.toml")),
                  ConfigError);
}

TEST_CASE("facts of a publication are options of its rows on their SKU, beside what a row states itself") {
  const std::vector<PublicationFact> facts =
      read_publication_facts(parse_toml("schema = 1\n[[fact]]\npublication = \"P\"\ngpu = \"A\"\nrows = [\"a-*\", "
                                        "\"c\"]\noptions = [\"own_products=1.5\", "
                                        "\"own_attention=1.2\"]\nwhy = \"w\"\nsource = \"s\"\n",
                                        "facts.toml"));
  std::map<std::string, std::string, std::less<>> options{{"own_attention", "1"}};
  add_facts(facts, {"P", "B", "fp8", "a-1.step"}, options);
  add_facts(facts, {"Q", "A", "fp8", "a-1.step"}, options);
  add_facts(facts, {"P", "A", "fp8", "b-1.step"}, options);
  CHECK(options.size() == 1);
  add_facts(facts, {"P", "A", "fp8", "a-1.step"}, options);
  CHECK(options.at("own_products") == "1.5");
  CHECK(options.at("own_attention") == "1");
  const auto refused = [](const std::string& options) {
    return read_publication_facts(parse_toml(
        "schema = 1\n[[fact]]\npublication = \"P\"\noptions = [" + options + "]\nwhy = \"w\"\nsource = \"s\"\n",
        "facts.toml"));
  };
  CHECK_THROWS_AS(refused(""), ConfigError);
  CHECK_THROWS_AS(refused("\"=2\""), ConfigError);
  // The shipped ones hold for the rows of their publication.
  REQUIRE_FALSE(publication_facts().empty());
  const PublicationFact& shipped = publication_facts().front();
  const RunFile file = runs(row({.source = "\"" + shipped.publication + "\"", .gpu = shipped.gpu}) + row({}));
  CHECK(file.rows[0].run.options == shipped.options);
  CHECK(file.rows[1].run.options.empty());
}

TEST_CASE("facts hold for the precisions that they name, and the first that knows an option tells it") {
  const std::vector<PublicationFact> facts = read_publication_facts(
      parse_toml("schema = 1\n[[fact]]\npublication = \"P\"\nrows = [\"a-1\"]\noptions = [\"cuda_graphs=0\"]\n"
                 "why = \"w\"\nsource = \"s\"\n[[fact]]\npublication = \"P\"\nprecisions = [\"fp8\", \"bf16\"]\n"
                 "options = [\"tp_comm_overlap=1\", \"cuda_graphs=1\"]\nwhy = \"w\"\nsource = \"s\"\n",
                 "facts.toml"));
  const auto told = [&](std::string_view precision, std::string_view id) {
    std::map<std::string, std::string, std::less<>> options;
    add_facts(facts, {"P", "A", precision, id}, options);
    return options;
  };
  CHECK(told("nvfp4", "b.step").empty());
  CHECK(told("", "b.step").empty());
  CHECK(told("bf16", "b.step").at("tp_comm_overlap") == "1");
  CHECK(told("fp8", "b.step").at("cuda_graphs") == "1");
  CHECK(told("fp8", "a-1.step").at("cuda_graphs") == "0");
  CHECK(told("fp8", "a-1.step").at("tp_comm_overlap") == "1");
}

TEST_CASE("a fact holds for the networks that it names, and fills the cells that it names where they are blank") {
  const std::vector<PublicationFact> facts = read_publication_facts(
      parse_toml("schema = 1\n[[fact]]\npublication = \"P\"\nmodels = [\"m\"]\noptions = [\"cuda_graphs=0\"]\n"
                 "why = \"w\"\nsource = \"s\"\n",
                 "facts.toml"));
  std::map<std::string, std::string, std::less<>> options;
  add_facts(facts, {"P", "A", "fp8", "a.step", "other"}, options);
  CHECK(options.empty());
  add_facts(facts, {"P", "A", "fp8", "a.step", "m"}, options);
  CHECK(options.at("cuda_graphs") == "0");
  const RunFile file =
      runs(row({.precision = "", .micro_batch = "", .options = "cell.precision=fp8;cell.micro_batch=2"}) +
           row({.options = "cell.precision=fp8;cell.micro_batch=2"}));
  CHECK(file.rows[0].run.precision == "fp8");
  CHECK(file.rows[0].run.micro_batch == 2);
  CHECK(file.rows[1].run.precision == "bf16");
  CHECK(file.rows[1].run.micro_batch == 1);
}

TEST_CASE("where only ratios of a table are predicted its other rows tell the level, the row's own value does not") {
  const RunFile file = runs(row({.id = "a", .options = "ratios=1", .value = "10"}) +
                            row({.id = "b", .options = "ratios=1", .value = "40"}) +
                            row({.id = "c", .options = "ratios=1", .value = "1e6", .notes = "CHECK"}) +
                            row({.id = "d", .value = "1e6"}) + row({.id = "e", .source = "T", .options = "ratios=1"}));
  const auto by_itself = [](const RunRow& r) {
    RowPrediction answer;
    answer.status = r.id == "z" ? RowStatus::unsupported : RowStatus::ok;
    answer.predicted = r.id == "a" ? 1.0 : 2.0;
    answer.low = 0.5 * answer.predicted;
    answer.high = 2.0 * answer.predicted;
    answer.fastest = 0.1;
    return answer;
  };
  CHECK(only_ratios(file.rows[0]));
  CHECK_FALSE(only_ratios(file.rows[3]));
  // b is predicted twice as slow as a and measured at 40: a is 20, whatever it measured.
  const RowPrediction a = predict_ratio(file.rows, file.rows[0], by_itself);
  REQUIRE(a.status == RowStatus::ok);
  CHECK(a.predicted == doctest::Approx(20.0));
  CHECK(a.low == doctest::Approx(10.0));
  CHECK(a.high == doctest::Approx(40.0));
  CHECK(a.fastest == 0.0);
  CHECK_FALSE(a.assumed.empty());
  CHECK(predict_ratio(file.rows, file.rows[1], by_itself).predicted == doctest::Approx(20.0));
  const RowPrediction alone = predict_ratio(file.rows, file.rows[4], by_itself);
  CHECK(alone.status == RowStatus::unsupported);
  CHECK(alone.why.find("no other run of it is answered") != std::string::npos);
}

TEST_CASE("boards whose kernels take longer alone take as much longer in the parts of a step that run them") {
  const auto step = [](const std::string& options) {
    return scored(row({.options = options})).rows[0].prediction.predicted;
  };
  const double plain = step("");
  CHECK(step("own_products=1") == doctest::Approx(plain));
  const double slow = step("own_products=1.3");
  CHECK(slow > 1.05 * plain);
  CHECK(slow < 1.3 * plain);  // passes and traffic do not
  CHECK(step("own_products=1.3;own_attention=1") < slow);
  CHECK(step("own_products=1.3;own_attention=1.3") == doctest::Approx(slow));
}

TEST_CASE("every metric speaks of the same step") {
  const Validation v = scored(row({}) + row({.metric = "tokens_per_s_per_gpu"}) + row({.metric = "samples_per_s"}) +
                              row({.metric = "model_tflops_per_gpu"}) + row({.metric = "mfu", .value = "0.5"}));
  const double step = v.rows[0].prediction.predicted;
  CHECK(v.rows[1].prediction.predicted == doctest::Approx(128.0 * 4096 / 8 / step));
  CHECK(v.rows[2].prediction.predicted == doctest::Approx(128.0 / step));
  CHECK(v.rows[3].prediction.predicted * 1e12 / 312e12 == doctest::Approx(v.rows[4].prediction.predicted));
  CHECK(v.rows[4].prediction.predicted < 1.0);
}

TEST_CASE("recomputation that is not published is the fastest that fits, and widens the interval") {
  const Validation v = scored(row({.recompute = "none"}) + row({.recompute = ""}) + row({.recompute = "full"}));
  CHECK(v.rows[1].prediction.predicted == v.rows[0].prediction.predicted);
  const auto width = [&](std::size_t row) { return v.rows[row].prediction.high / v.rows[row].prediction.predicted; };
  CHECK(width(1) > 1.01 * width(0));
  CHECK(v.rows[2].prediction.predicted > 1.2 * v.rows[0].prediction.predicted);
}

TEST_CASE("the three kinds of memory are ordered: allocated, reserved, nvidia-smi") {
  const auto memory = [](const char* kind) {
    return row({.options = std::string{"memory_kind="} + kind, .metric = "memory_gib_per_gpu", .value = "40"});
  };
  const Validation v = scored(memory("allocated") + memory("reserved") + memory("nvidia_smi"));
  CHECK(v.rows[0].prediction.predicted < v.rows[1].prediction.predicted);
  CHECK(v.rows[1].prediction.predicted < v.rows[2].prediction.predicted);
}

TEST_CASE("the constant baseline is the best single efficiency of its group, the roofline is the datasheet") {
  const Validation v = scored(row({.value = "10"}) + row({.value = "20"}) + row({.value = "10"}));
  const double bound = v.rows[0].prediction.roofline;
  const GroupScore& all = group(v, "all");
  CHECK(all.constant.mape == doctest::Approx((0.0 + 0.5 + 0.0) / 3));  // c bound = 10
  CHECK(all.roofline.mape == doctest::Approx((2 * std::abs(bound / 10 - 1) + std::abs(bound / 20 - 1)) / 3));
  CHECK(bound == doctest::Approx(128.0 * 4096 *
                                 (6.0 * (32 * (4 * 4096.0 * 4096 + 3 * 4096.0 * 11008) + 32000.0 * 4096) +
                                  12.0 * 32 * 4096 * 4096) /
                                 8 / 312e12));
}

TEST_CASE("filters are conjunctions over columns and options") {
  const std::string rows = row({.id = "a", .options = "method=lora"}) + row({.id = "b", .layers = "8"}) +
                           row({.id = "c", .precision = "fp16"});
  const auto ids = [&](std::vector<std::string> expressions) {
    std::vector<RowFilter> filters;
    for (const std::string& e : expressions) {
      filters.push_back(parse_filter(e));
    }
    std::string text;
    for (const ScoredRow& r : scored(rows, filters).rows) {
      text += r.id;
    }
    return text;
  };
  CHECK(ids({}) == "abc");
  CHECK(ids({"precision=bf16"}) == "ab");
  CHECK(ids({"precision=bf16|fp16"}) == "abc");
  CHECK(ids({"precision!=bf16"}) == "c");
  CHECK(ids({"layers>=32"}) == "ac");
  CHECK(ids({"layers<=31"}) == "b");
  CHECK(ids({"options.method=lora"}) == "a");
  CHECK(ids({"options.method="}) == "bc");
  CHECK(ids({"precision=bf16", "layers<=31"}) == "b");
  CHECK_THROWS_AS(parse_filter("precision"), ConfigError);
  CHECK_THROWS_AS(parse_filter("layers>=many"), ConfigError);
  CHECK_THROWS_AS(scored(rows, {parse_filter("precisoin=bf16")}), ConfigError);
}

TEST_CASE("rows that agree in the weight columns count as one") {
  const std::string rows = row({.value = "10"}) + row({.value = "10"}) + row({.value = "20", .layers = "16"});
  const Validation plain = scored(rows);
  const Validation weighted = scored(rows, {}, {"layers"});
  const auto error = [&](std::size_t i) { return std::abs(plain.rows[i].error()); };
  CHECK(group(plain, "all").model.mape == doctest::Approx((2 * error(0) + error(2)) / 3));
  CHECK(group(weighted, "all").model.mape == doctest::Approx((error(0) + error(2)) / 2));
  // Each row states its weight, so that some of them scored apart weigh as they do among all.
  CHECK(weighted.rows[0].weight == 0.5);
  CHECK(weighted.rows[1].weight == 0.5);
  CHECK(weighted.rows[2].weight == 1.0);
  CHECK(group(score_rows(weighted.rows), "all").model.mape == group(weighted, "all").model.mape);
}

TEST_CASE("groups are named by what their rows share, each also by metric") {
  const Validation v = scored(row({.options = "method=lora"}) + row({.source = "T", .metric = "samples_per_s"}));
  CHECK(group(v, "all").n == 2);
  CHECK(group(v, "all", "step_time_s").n == 1);
  CHECK(group(v, "file=f.csv").n == 2);
  CHECK(group(v, "source=T").n == 1);
  CHECK(group(v, "gpu=A100-SXM4-80GB").n == 2);
  CHECK(group(v, "framework=FSDP").n == 2);
  CHECK(group(v, "arch=dense").n == 2);
  CHECK(group(v, "options.method=lora").n == 1);
}

TEST_CASE("training rows are grouped by size and by class") {
  const Validation v = scored(row({}) + row({.options = "method=sft"}) + row({.arch = "moe"}));
  CHECK(group(v, "size=<=8").n == 3);
  CHECK(group(v, "class=dense").n == 1);
  CHECK(group(v, "class=adapters and tuning").n == 1);
  CHECK(group(v, "class=experts").n == 1);
}

TEST_CASE("a measured row that beats the hardware is rejected, in whatever unit it is told") {
  // 7 B of weights, 128 sequences of 4,096 tokens on 8 A100: products alone take 9.0 s at the peak.
  const double tokens = 128.0 * 4096;
  const double products = 6.0 * (32 * (4 * 4096.0 * 4096 + 3 * 4096.0 * 11008) + 32000.0 * 4096);
  const double scores = 6.0 * 32 * 4096.0 * 4096;  // causal: half of them
  const double least = tokens * (products + scores) / 8 / 312e12;
  const auto status = [](const std::string& metric, double value) {
    const Validation v = scored(row({.metric = metric, .value = std::to_string(value)}));
    return v.rows[0].prediction.status == RowStatus::rejected ? v.rows[0].prediction.why : std::string{};
  };
  CHECK(status("step_time_s", 1.01 * least).empty());
  CHECK(status("step_time_s", least / 1.3) == "faster than the roofline by 1.30x: check units");
  CHECK(status("samples_per_s", 0.99 * 128 / least).empty());
  CHECK(status("samples_per_s", 2.0 * 128 / least) == "faster than the roofline by 2.00x: check units");
  CHECK(status("tokens_per_s_per_gpu", 2.0 * tokens / 8 / least) == "faster than the roofline by 2.00x: check units");
  CHECK(status("mfu", 0.7).empty());
  CHECK_FALSE(status("mfu", 45).empty());  // percent taken for a share
  CHECK(status("memory_gib_per_gpu", 1e-3).empty());
}

TEST_CASE("mixed precision gains less than the ratio of the peaks, and halves activations but not the states") {
  const auto predicted = [](const std::string& gpu, const std::string& precision, const std::string& metric) {
    const Validation v = scored(row(
        {.gpu = gpu, .precision = precision, .options = "memory_kind=allocated", .metric = metric, .value = "1000"}));
    REQUIRE(v.rows[0].prediction.status == RowStatus::ok);
    return v.rows[0].prediction.predicted;
  };
  const auto gain = [&](const std::string& gpu, const std::string& wide, const std::string& narrow) {
    return predicted(gpu, wide, "step_time_s") / predicted(gpu, narrow, "step_time_s");
  };
  const double a100 = gain("A100-SXM4-80GB", "tf32", "bf16");  // peaks 2.0 apart
  const double v100 = gain("V100-SXM2-32GB", "fp32", "fp16");  // 8.0
  CHECK(a100 > 1.2);
  CHECK(a100 < 2.0);
  CHECK(v100 > 2.0);
  CHECK(v100 < 8.0);
  // Weights, gradients and moments take 16 bytes either way, sharded over 8 ranks; the saved tensors half.
  const double states = 16.0 * 6.74e9 / 8 / 0x1p30;
  const double wide = predicted("A100-SXM4-80GB", "tf32", "memory_gib_per_gpu") - states;
  const double narrow = predicted("A100-SXM4-80GB", "bf16", "memory_gib_per_gpu") - states;
  CHECK(narrow > 0.4 * wide);
  CHECK(narrow < 0.8 * wide);
}

TEST_CASE("a bar may state conditions, and limits of the tail and of the interval") {
  const std::vector<RunFile> files{runs(row({}) + row({.value = "1000", .layers = "16"}))};
  const auto missed = [&](const char* toml) {
    const std::vector<BudgetBar> bars = read_budget(parse_toml(toml, "b.toml"), "b.toml");
    ValidationScope scope;
    scope.groups.push_back(bars.front().where.value());
    return missed_bars(validate(files, scope, sources()), bars);
  };
  CHECK(missed("[[bar]]\nwhere = [\"layers<=16\", \"gpus=8\"]\ncoverage = 1.0\np90 = 1000.0\n").empty());
  const std::vector<std::string> lines = missed("[[bar]]\nwhere = [\"layers<=16\"]\np90 = 1e-9\nwithin = 1.0\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].starts_with("where layers<=16: p90 "));
  CHECK(lines[1] == "where layers<=16: within 0 % is below 100 %");
  CHECK(missed("[[bar]]\nwhere = [\"layers<=8\"]\nmape = 10.0\n") ==
        std::vector<std::string>{"where layers<=8: no rows"});
  CHECK_THROWS_AS(missed("[[bar]]\ngroup = \"all\"\nwhere = [\"layers<=8\"]\nmape = 10.0\n"), ConfigError);
  CHECK_THROWS_AS(missed("[[bar]]\nwhere = [\"layers<=8\"]\ntau = 0.5\n"), ConfigError);
}

TEST_CASE("rows that are handed on one by one are scored as those that are kept") {
  const std::string text = std::string{header} + row({}) + row({.recompute = "full", .value = "12"}) +
                           row({.micro_batch = "2"}) + row({.micro_batch = "4"}) + row({.micro_batch = "8"}) +
                           row({.gpu = "nobody's"}) + row({.metric = "tokens_per_s_per_gpu", .value = "3000"}) +
                           row({.notes = "CHECK"}) + row({.value = "6", .layers = "16"});
  ValidationScope scope;
  scope.weight_by = {"micro_batch", "layers"};
  scope.groups.push_back(parse_group(std::vector<std::string>{"layers<=16"}));
  scope.filters.push_back(parse_filter("value<=1e6"));
  const std::vector<RunFile> files{runs(text.substr(std::string_view{header}.size()))};
  const Validation kept = validate(files, scope, sources());

  const std::vector<RunText> texts{{"f.csv", [&] { return std::make_unique<std::istringstream>(text); }}};
  std::vector<ScoredRow> seen;
  const std::vector<RunFile> heads = checked_heads(texts);
  const Validation handed_on =
      validate(texts, heads, scope, sources(), {}, [&](const ScoredRow& one) { seen.push_back(one); });
  CHECK(handed_on.rows.empty());
  CHECK(handed_on.tally.rows == kept.rows.size());
  CHECK(handed_on.tally.supported == kept.tally.supported);
  CHECK(handed_on.tally.reasons == kept.tally.reasons);
  CHECK(kept.tally.reasons.size() == 2);
  REQUIRE(seen.size() == kept.rows.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i].prediction.predicted == kept.rows[i].prediction.predicted);
    CHECK(seen[i].groups == kept.rows[i].groups);
  }
  REQUIRE(handed_on.groups.size() == kept.groups.size());
  for (std::size_t i = 0; i < kept.groups.size(); ++i) {
    const GroupScore& a = handed_on.groups[i];
    const GroupScore& b = kept.groups[i];
    CHECK(a.group == b.group);
    CHECK(a.metric == b.metric);
    CHECK(a.n == b.n);
    CHECK(a.supported == b.supported);
    if (b.supported > 0) {
      CHECK(a.model.mape == b.model.mape);
      CHECK(a.constant.mape == b.constant.mape);
      CHECK(a.within_interval == b.within_interval);
    }
  }
  REQUIRE(kept.sweeps.sweeps.size() == 1);
  REQUIRE(handed_on.sweeps.sweeps.size() == 1);
  CHECK(handed_on.sweeps.sweeps[0].regret == kept.sweeps.sweeps[0].regret);
  CHECK(handed_on.sweeps.sweeps[0].picked == kept.sweeps.sweeps[0].picked);
}

TEST_CASE("of a text with a bad row nothing is predicted") {
  const std::string text = std::string{header} + row({}) + row({.value = "x"});
  const std::vector<RunText> texts{{"f.csv", [&] { return std::make_unique<std::istringstream>(text); }}};
  CHECK_THROWS_WITH_AS(static_cast<void>(checked_heads(texts)), doctest::Contains("f.csv:3:"), ConfigError);
}

TEST_CASE("a bar that is missed, or that names no rows, is told") {
  const Validation v = scored(row({}) + row({.heads = ""}));
  const auto missed = [&](const char* toml) {
    return missed_bars(v, read_budget(parse_toml(toml, "b.toml"), "b.toml")).size();
  };
  CHECK(missed("[[bar]]\ngroup = \"all\"\nmape = 1000.0\ncoverage = 0.5\n") == 0);
  CHECK(missed("[[bar]]\ngroup = \"all\"\ncoverage = 0.51\n") == 1);
  CHECK(missed("[[bar]]\ngroup = \"all\"\nmape = 1e-9\nmedian = 1e-9\n") == 2);
  CHECK(missed("[[bar]]\ngroup = \"source=nobody\"\nmape = 10.0\n") == 1);
  CHECK_THROWS_AS(missed("[[bar]]\ngroup = \"all\"\nmap = 1.0\n"), ConfigError);
}

TEST_CASE("a serving row of a metric that nothing predicts says so") {
  std::istringstream stream{
      "id,source,gpu,engine,isl,osl,metric,value,unit,options,notes\nx,S,L4,vLLM,1,1,tpot_ms_p99,3,ms,,\n"};
  Diagnostics diagnostics;
  const std::vector<RunFile> files{read_runs(stream, "s.csv", diagnostics)};
  diagnostics.throw_if_any();
  const Validation v = validate(files, ValidationScope{}, sources());
  REQUIRE(v.rows.size() == 1);
  CHECK(v.rows[0].prediction.status == RowStatus::unsupported);
  CHECK(v.rows[0].prediction.why == "metric 'tpot_ms_p99' in 'ms' is not predicted for serving yet");
}
