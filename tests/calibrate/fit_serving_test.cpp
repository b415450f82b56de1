// SPDX-License-Identifier: Apache-2.0
// The fit of serving numbers: finds those that made the rows, leaves sources out, and writes nothing but numbers.
#include <headroom/calibrate/stacks/fit_serving.hpp>
#include <headroom/calibrate/stacks/serving_errors.hpp>
#include <headroom/calibrate/stacks/serving_files.hpp>
#include <headroom/calibrate/stacks/toml_lines.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/measured/serving_simulated.hpp>

#include <doctest/doctest.h>

#include "../cli/run_headroom.hpp"
#include "../near.hpp"
#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headroom;
using headroom::test::sources;
using test::near;
using test::read_text;
namespace fs = std::filesystem;

namespace {

constexpr const char* header =
    "id,source,model,params_b,layers,hidden,heads,kv_heads,head_dim,ffn_hidden,vocab,gpu,gpus,tp,pp,dp,weight_dtype,"
    "act_dtype,kv_dtype,isl,osl,concurrency,engine,engine_version,options,metric,value,unit,notes\n";

RunFile parsed(const std::string& text) {
  std::istringstream stream{header + text};
  Diagnostics diagnostics;
  RunFile file = read_runs(stream, "s.csv", diagnostics);
  diagnostics.throw_if_any();
  return file;
}

struct Asked {
  std::string source, model, gpu, metric;
  int tp = 1, isl = 1, osl = 1, concurrency = 1;
  std::string scenario = "closed", notes{}, engine = "vLLM,0.14.0", id = "r";
  [[nodiscard]] std::string text(double value) const {
    std::ostringstream row;
    row.precision(12);
    row << id << "," << source << "," << model << ",,,,,,,,," << gpu << "," << tp << "," << tp << ",1,1,bf16,bf16,bf16,"
        << isl << "," << osl << "," << concurrency << "," << engine << ",scenario=" << scenario << "," << metric << ","
        << value << ",ms," << notes << "\n";
    return row.str();
  }
};

std::vector<Asked> questions(const std::string& source) {
  std::vector<Asked> all;
  for (const char* metric : {"tpot_ms_mean", "ttft_ms_mean"}) {
    for (const auto& [model, tp] :
         {std::pair{"llama3-8b", 1}, {"llama3-8b", 4}, {"llama3-70b", 8}, {"qwen2.5-7b", 1}}) {
      for (const char* gpu : {"H100-SXM5-80GB", "h200-sxm-141gb"}) {
        for (const int concurrency : {1, 4, 16, 64, 128}) {
          if (metric == std::string_view{"ttft_ms_mean"} && concurrency > 16) {
            continue;  // simulated at every point, ten requests for each in flight
          }
          for (const auto& [isl, osl] : {std::pair{128, 512}, {1024, 128}, {2000, 1000}}) {
            all.push_back({source, model, gpu, metric, tp, isl, osl, concurrency});
          }
        }
      }
    }
  }
  return all;
}

/// The model's own answers to questions under numbers of the caller's, each off by noise of 3 %.
std::string made_rows(const std::vector<Asked>& asked,
                      const std::map<std::string, double>& stack_numbers,
                      const std::map<std::string, double>& shared_numbers,
                      double slower = 1.0) {
  static ServingTimeModel model{sources()};
  std::mt19937 random{7};
  std::string text;
  for (const Asked& a : asked) {
    const RunFile one = parsed(a.text(1.0));
    RowPrediction refusal;
    const auto q = model.question(one.rows[0].serving, a.metric, "ms", refusal);
    REQUIRE_MESSAGE(q.has_value(), refusal.why);
    IterationStack stack = q->stack->time;
    IterationPhysics physics = iteration_physics(test::model_data());
    for (const auto& [key, value] : stack_numbers) {
      set_iteration_number(stack, key, value);
    }
    for (const auto& [key, value] : shared_numbers) {
      set_iteration_number(physics, key, value);
    }
    // A sum of twelve uniforms is near enough to a normal and the same with every library.
    double noise = -6.0;
    for (int i = 0; i < 12; ++i) {
      noise += static_cast<double>(random()) / 4294967296.0;
    }
    double made = predict_time(
        *q, [&](const IterationMix& mix) { return q->replica->terms(mix); }, stack, physics);
    if (q->metric == ServingMetric::ttft) {
      // First tokens of a loop are those of its simulation.
      const auto s = simulated_question(one.rows[0].serving, a.metric, "ms", model.places(), refusal);
      REQUIRE_MESSAGE(s.has_value(), refusal.why);
      const ClientReport report =
          simulated_report(*s, simulated_engine(*s, stack, physics), stack, published_loads(test::model_data()));
      made = s->to_unit * report.of(s->metric, s->statistic);
    }
    text += a.text(slower * made * std::exp(0.03 * noise));
  }
  return text;
}

const std::map<std::string, double> known{
    {"products", 1.05}, {"layer", 45e-6}, {"sequence", 20e-6}, {"tokenise", 8e-6}, {"steps", 4.0}};
const std::map<std::string, double> known_shared{{"decode_attention", 1.05}, {"all_reduce", 1.4}};

const std::vector<RunFile>& rows() {
  static const std::vector<RunFile> files{parsed(made_rows(questions("A"), known, known_shared))};
  return files;
}

ServingFit fitted(const std::vector<RunFile>& files, bool leave_one_out = false, double noise = 0.05) {
  ServingFitOptions options;
  options.noise = noise;
  options.leave_one_out = leave_one_out;
  return fit_serving(files, sources(), options);
}

double value_of(const ServingFit& fit, std::string_view name) {
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    if (fit.knobs[i].name() == name) {
      return fit.values[i];
    }
  }
  FAIL("no such knob: " << name);
  return 0.0;
}

/// A copy of the stacks that ship.
class Stacks {
 public:
  Stacks() {
    for (const char* kind : {"stacks/serve", "stacks/step"}) {
      fs::create_directories(folder_.path() / kind);
      for (const auto& entry : fs::directory_iterator{fs::path{HEADROOM_SOURCE_DIR} / "model" / kind}) {
        fs::copy_file(entry.path(), folder_.path() / kind / entry.path().filename());
      }
    }
  }
  /// Puts a remark of somebody's behind a number.
  void remark(const std::string& file, const std::string& key, const std::string& text) const {
    TomlLines lines{read_text(folder_.path() / file)};
    const auto line = lines.find({"[time]"}, key);
    REQUIRE(line != lines.text.end());
    *line += text;
    replace_file((folder_.path() / file).string(), lines.whole());
  }
  [[nodiscard]] std::string path() const { return folder_.path().string(); }
  [[nodiscard]] std::map<std::string, std::string> texts() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator{folder_.path()}) {
      if (entry.is_regular_file()) {
        all[fs::relative(entry.path(), folder_.path()).string()] = read_text(entry.path());
      }
    }
    return all;
  }

 private:
  test::ScratchFolder folder_;
};

}  // namespace

TEST_CASE(
    "a harness that drives the executor itself expects its host time near that of the engines, not of the server") {
  const std::vector<ServingKnob> knobs = serving_knobs(test::model_data());
  const auto expected_near = [&](std::string_view name) -> std::string {
    const auto knob = std::find_if(knobs.begin(), knobs.end(), [&](const ServingKnob& k) { return k.name() == name; });
    REQUIRE(knob != knobs.end());
    REQUIRE(knob->parent >= 0);
    return knobs[static_cast<std::size_t>(knob->parent)].name();
  };
  CHECK(expected_near("tensorrt-llm-mlperf.sequence") == "tensorrt-llm-engines.sequence");
  CHECK(expected_near("tensorrt-llm-mlperf.products") == "tensorrt-llm.products");
  CHECK(expected_near("tensorrt-llm-static.sequence") == "tensorrt-llm-engines.sequence");
}

TEST_CASE("a stack that states no number of its own moves its parent's, as it has it in the files afterwards") {
  std::vector<Asked> asked;
  for (const int concurrency : {1, 4, 16, 64}) {
    asked.push_back({"A", "llama3-8b", "H100-SXM5-80GB", "tpot_ms_mean", 1, 128, 512, concurrency});
    asked.back().engine = "TensorRT-LLM (MLPerf harness),6.0";
  }
  const ServingFit fit = fitted({parsed(made_rows(asked, {{"layer", 60e-6}}, {}))}, false, 0.001);
  REQUIRE(fit.runs.size() == asked.size());
  REQUIRE(fit.runs.front().stack == "tensorrt-llm-mlperf");
  // its gaps between kernels are TensorRT-LLM's: 60 us made the rows, and its own file has a tenth of it
  const IterationStack& parent = find_serving_stack(test::model_data(), Engine::tensorrt_llm).time;
  REQUIRE(parent.layer.raw() < 15e-6);
  CHECK(value_of(fit, "tensorrt-llm.layer") > 1.5 * parent.layer.raw());
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    const std::string name = fit.knobs[i].name();
    if (name == "tensorrt-llm.layer") {
      CHECK(fit.result.narrowing[i] < 0.99);
    }
    if (name == "vllm.layer") {
      CHECK(fit.result.narrowing[i] == near(1.0, 1e-6));
    }
  }
}

TEST_CASE("numbers that made the rows are found again through noise of 3 %, where rows weigh more than priors") {
  const ServingFit fit = fitted(rows(), false, 0.003);
  REQUIRE(fit.runs.size() == questions("A").size());
  for (const auto& [key, value] : known) {
    CAPTURE(key);
    CHECK(value_of(fit, "vllm." + key) == near(value, 0.15));
  }
  CHECK(value_of(fit, "vllm.products") == near(known.at("products"), 0.04));
  CHECK(value_of(fit, "serve.decode_attention") == near(known_shared.at("decode_attention"), 0.08));
  CHECK(value_of(fit, "serve.all_reduce") == near(known_shared.at("all_reduce"), 0.15));
  // what is left is the noise, from errors that were larger
  double before = 0.0;
  double after = 0.0;
  for (const FittedServingRun& run : fit.runs) {
    before += std::abs(run.before);
    after += std::abs(run.fitted);
    CHECK(std::isnan(run.left_out));
  }
  CHECK(before / static_cast<double>(fit.runs.size()) > 0.10);
  CHECK(after / static_cast<double>(fit.runs.size()) < 0.03);
  // no row tells a number of another engine
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    if (fit.knobs[i].id == "sglang") {
      CHECK(fit.result.narrowing[i] == near(1.0, 1e-6));
    }
  }
}

TEST_CASE("the same rows give the same numbers, to the last bit") {
  const ServingFit once = fitted(rows());
  const ServingFit again = fitted(rows());
  CHECK(once.values == again.values);
}

TEST_CASE("a source left out does not pull the numbers that its rows are judged by") {
  const std::vector<RunFile> files{
      parsed(made_rows(questions("A"), known, known_shared) + made_rows(questions("slow"), known, known_shared, 1.5))};
  const ServingFit fit = fitted(files, true);
  double fitted_error = 0.0;
  double left_out_error = 0.0;
  std::size_t n = 0;
  for (const FittedServingRun& run : fit.runs) {
    REQUIRE(std::isfinite(run.left_out));
    if (run.row->source == "slow" && run.row->metric == "tpot_ms_mean") {
      fitted_error += run.fitted;
      left_out_error += run.left_out;
      ++n;
    }
  }
  // fitted between both sources, judged by the other one alone: ln 1.5 too fast
  CHECK(left_out_error / static_cast<double>(n) == near(-std::log(1.5), 0.10));
  CHECK(fitted_error / static_cast<double>(n) > -0.75 * std::log(1.5));
}

TEST_CASE("rows in doubt, tails and rows that nothing answers are no part of a fit, a burst is, as a queue") {
  std::vector<Asked> asked = questions("A");
  asked.resize(12);
  std::string text = made_rows(asked, known, known_shared);
  Asked odd = asked[0];
  odd.notes = "ODD a typo";
  Asked burst = asked[0];
  burst.metric = "output_tokens_per_s";
  burst.scenario = "burst";
  Asked tail = asked[0];
  tail.metric = "tpot_ms_p99";
  text += odd.text(1e6) + burst.text(5) + tail.text(5);
  const std::vector<RunFile> files{parsed(text)};  // the fit points into it
  const ServingFit fit = fitted(files);
  CHECK(fit.runs.size() == 13);
  CHECK(std::count_if(fit.runs.begin(), fit.runs.end(), [](const FittedServingRun& run) { return run.queue; }) == 1);
  CHECK_THROWS_AS(static_cast<void>(fitted({parsed(odd.text(5))})), ConfigError);
}

TEST_CASE("marked rows are scored and tell no number") {
  // The first of the shipped marks, and a row of its publication that none of them names.
  const ConfigValue document =
      parse_toml(read_text(HEADROOM_SOURCE_DIR "/scenarios/accuracy/marks.toml"), "marks.toml");
  const ConfigValue& mark = document.find("mark")->items.front();
  std::vector<Asked> asked = questions(mark.find("publication")->text);
  asked.resize(60);
  const auto layer_told_by = [&](const std::string& id) {
    for (Asked& a : asked) {
      a.engine = "SGLang,0.5.9";
      a.id = id;
    }
    const std::vector<RunFile> files{parsed(made_rows(asked, known, known_shared))};
    const ServingFit fit = fitted(files);
    CHECK(fit.runs.size() == 60);
    return value_of(fit, "sglang.layer");
  };
  CHECK(layer_told_by("named-by-none") == near(known.at("layer"), 0.2));
  CHECK(layer_told_by(mark.find("rows")->items.front().text) < 0.5 * known.at("layer"));  // the prior's
}

TEST_CASE("a row weighs one over the root of its family: source, SKU, network, metric") {
  const ServingFit fit = fitted(rows());
  std::map<std::size_t, double> sizes;
  for (const FittedServingRun& run : fit.runs) {
    sizes[run.family] += 1.0;
  }
  CHECK(sizes.size() == 2 * 3 * 2);
  for (const FittedServingRun& run : fit.runs) {
    CHECK(run.weight == near(1.0 / std::sqrt(sizes[run.family])));
  }
}

TEST_CASE("written files read back what was fitted, to three digits, and hold everything else byte for byte") {
  const ServingFit fit = fitted(rows());
  const Stacks stacks;
  stacks.remark("stacks/serve/vllm.toml", "layer", "  # between two kernels");
  const auto before = stacks.texts();
  const std::vector<std::string> written = write_serving_files(fit, stacks.path());
  const auto after = stacks.texts();
  REQUIRE(before.size() == after.size());
  std::set<std::string> changed;
  for (const auto& [name, text] : after) {
    if (text != before.at(name)) {
      changed.insert((fs::path{stacks.path()} / name).string());
    }
    if (name == "stacks/step/serve-confidence.toml") {
      continue;
    }
    CAPTURE(name);
    const TomlLines old{before.at(name)};
    const TomlLines now{text};
    REQUIRE(old.text.size() == now.text.size());
    CHECK(text.ends_with('\n') == before.at(name).ends_with('\n'));
    for (std::size_t i = 0; i < now.text.size(); ++i) {
      if (now.text[i] == old.text[i]) {
        continue;
      }
      const std::string key = now.text[i].substr(0, now.text[i].find(' '));
      CHECK(old.text[i].starts_with(key + " = "));
      CHECK(comment_of(now.text[i]) == comment_of(old.text[i]));
      const std::string id = fs::path{name}.stem().string();
      const bool a_knob = std::any_of(fit.knobs.begin(), fit.knobs.end(),
                                      [&](const ServingKnob& k) { return k.id == id && k.key == key; });
      CHECK((key == "source" || a_knob));
    }
  }
  for (const std::string& name : changed) {
    CHECK(std::find(written.begin(), written.end(), name) != written.end());
  }
  // an engine's own numbers and those of all
  Diagnostics diagnostics;
  const ServingStack vllm = read_serving_stack(parse_toml(after.at("stacks/serve/vllm.toml"), "v"), "v", diagnostics);
  const IterationPhysics physics =
      read_iteration_physics(parse_toml(after.at("stacks/step/serve.toml"), "p"), "p", diagnostics);
  diagnostics.throw_if_any();
  for (const auto& [key, value] : known) {
    CAPTURE(key);
    CHECK(iteration_number(vllm.time, key) == near(value_of(fit, "vllm." + key), 0.005));
  }
  CHECK(physics.decode_attention == near(value_of(fit, "serve.decode_attention"), 0.005));
  CHECK(vllm.time.source.find("192 rows of 1 sources: A (192)") != std::string::npos);
  CHECK(vllm.memory.framework.raw() > 0.0);
}

TEST_CASE("written files of a fit with numbers held: those of the others stay as they are, and so do their errors") {
  ServingFit part = fitted(rows());
  part.only = {"vllm"};
  const Stacks stacks;
  const auto before = stacks.texts();
  const std::vector<std::string> written = write_serving_files(part, stacks.path());
  CHECK(written.size() == 2);
  for (const auto& [name, text] : stacks.texts()) {
    CAPTURE(name);
    const bool own = name == "stacks/serve/vllm.toml" || name == "stacks/step/serve-confidence.toml";
    CHECK((own || text == before.at(name)));
  }
  const auto vllm = stacks.texts().at("stacks/serve/vllm.toml");
  CHECK(vllm.find("all other numbers held (headroom fit --only vllm) on") != std::string::npos);
  const auto has = [](const ServingConfidence& c, const ServingErrors& e) {
    return std::any_of(c.classes().begin(), c.classes().end(), [&](const ServingErrors& o) {
      return o.stack == e.stack && o.quantity == e.quantity && o.experts == e.experts && o.low == e.low;
    });
  };
  const ServingConfidence classes = confidence_of_serving_fit(part);
  for (const ServingErrors& e : serving_confidence(test::model_data()).classes()) {
    CAPTURE(e.stack);
    CHECK((e.stack == "vllm" || has(classes, e)));
  }
}

TEST_CASE("written files: where a file or a number is missing nothing is written") {
  std::vector<Asked> asked = questions("A");
  asked.resize(12);
  const std::vector<RunFile> files{parsed(made_rows(asked, known, known_shared))};  // the fit points into it
  const ServingFit fit = fitted(files);
  const Stacks stacks;
  fs::remove(fs::path{stacks.path()} / "stacks/serve/vllm.toml");
  const auto before = stacks.texts();
  CHECK_THROWS_AS(static_cast<void>(write_serving_files(fit, stacks.path())), ConfigError);
  CHECK(stacks.texts() == before);
}

TEST_CASE("numbers as files write them: times with a unit, shares bare, three digits") {
  CHECK(serving_value_text({"vllm", "layer"}, 27.34e-6) == "27.3 us");
  CHECK(serving_value_text({"vllm", "step"}, 1.104e-3) == "1.10 ms");
  CHECK(serving_value_text({"vllm", "products"}, 0.8974) == "0.897");
}
