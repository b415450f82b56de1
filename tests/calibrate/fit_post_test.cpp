// SPDX-License-Identifier: Apache-2.0
// The fit of post-training: finds the numbers that made the rows, leaves sources out, writes numbers alone.
#include <headroom/calibrate/stacks/fit_post.hpp>
#include <headroom/calibrate/stacks/post_files.hpp>
#include <headroom/calibrate/stacks/toml_lines.hpp>
#include <headroom/model/post_training/software.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;
using test::near;
namespace fs = std::filesystem;

namespace {

constexpr const char* header =
    "id,source,model,params_b,algorithm,software,gpu,gpus,colocated,async_staleness,prompts_per_step,samples_per_"
    "prompt,"
    "response_tokens_mean,response_tokens_max,rollout_tp,options,metric,value,unit,notes\n";

RunFile parsed(const std::string& text) {
  std::istringstream stream{header + text};
  Diagnostics diagnostics;
  RunFile file = read_runs(stream, "steps.csv", diagnostics);
  diagnostics.throw_if_any();
  return file;
}

std::string row_of(const std::string& source,
                   const std::string& software,
                   int gpus,
                   const std::string& metric,
                   double value,
                   const std::string& notes = "") {
  std::ostringstream row;
  row.precision(12);
  row << "r," << source << ",Llama-3.1-8B-Instruct,8.03,GRPO," << software << ",H100-SXM5-80GB," << gpus
      << ",1,0,64,32,1000,4096,1,train_gbs=512," << metric << "," << value << ",s," << notes << "\n";
  return row.str();
}

/// Steps of two softwares under numbers of our own, of two sources each.
RunFile planted(const PostTrainNumbers& first, const PostTrainNumbers& second) {
  PostTrainRowModel model{sources()};
  std::string text;
  for (const std::string software : {"NeMo RL", "verl"}) {
    for (const std::string source : {"a page of ", "an issue of "}) {
      for (const int gpus : {8, 16, 32}) {
        for (const std::string metric : {"rollout_time_s", "train_time_s", "logprob_time_s", "step_time_s"}) {
          const RunFile one = parsed(row_of(source + software, software, gpus, metric, 1.0));
          const PostTrainCase& known = model.priced(one, one.rows.front());
          REQUIRE(known.question);
          const auto value =
              post_train_value(known, software == "verl" ? second : first, known.question->software.paths, metric);
          REQUIRE(value);
          text += row_of(source + software, software, gpus, metric, *value);
        }
      }
    }
  }
  return parsed(text + row_of("a page of verl", "verl", 8, "step_time_s", 1e5, "CHECK: doubted"));
}

double fitted(const PostTrainFit& fit, const std::string& name) {
  const auto found =
      std::find_if(fit.knobs.begin(), fit.knobs.end(), [&](const PostTrainKnob& k) { return k.name() == name; });
  REQUIRE(found != fit.knobs.end());
  return fit.values[static_cast<std::size_t>(found - fit.knobs.begin())];
}

std::string text_of(const fs::path& path) {
  std::ifstream stream{path};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

}  // namespace

TEST_CASE("fit post: finds the numbers that made the rows, and with sources left out those of the software's others") {
  const PostTrainNumbers first{2.2, 1.2, 1.4, Seconds{12.0}, Seconds{6.0}};
  const PostTrainNumbers second{1.3, 1.7, 1.9, Seconds{4.0}, Seconds{6.0}};
  const std::vector<RunFile> files{planted(first, second)};
  PostTrainFitOptions options;
  options.noise = 0.02;
  const PostTrainFit fit = fit_post_training(files, sources(), options);
  CHECK(fit.asked == 48);  // 2 softwares x 2 sources x 3 x 4, the doubted one aside
  CHECK(fit.answered == 48);
  CHECK(fitted(fit, "nemo-rl.rollout") == near(2.2, 0.03));
  CHECK(fitted(fit, "nemo-rl.train") == near(1.2, 0.03));
  CHECK(fitted(fit, "nemo-rl.logprob") == near(1.4, 0.03));
  CHECK(fitted(fit, "verl.rollout") == near(1.3, 0.03));
  CHECK(fitted(fit, "verl.train") == near(1.7, 0.03));
  // The population lies between its two softwares, and at most five numbers belong to one of them.
  CHECK(fitted(fit, "any.rollout") > 1.3);
  CHECK(fitted(fit, "any.rollout") < 2.2);
  CHECK(std::count_if(fit.knobs.begin(), fit.knobs.end(), [](const PostTrainKnob& k) { return k.id == "verl"; }) == 5);
  for (const FittedPostTrainRun& run : fit.runs) {
    CHECK(std::isfinite(run.left_out));
    CHECK(run.others_left);
    CHECK(std::abs(run.left_out) < 0.05);  // the other source of the software says the same
  }
  CHECK(width_of(fit, PostTrainFigure::rollout, "nemo-rl") < 0.05);
}

TEST_CASE("fit post: a software without another source takes what all have in common") {
  const PostTrainNumbers one{2.0, 1.5, 1.5, Seconds{8.0}, Seconds{5.0}};
  std::vector<RunFile> files{planted(one, one)};
  std::erase_if(files.front().rows, [](const RunRow& row) { return row.source == "an issue of verl"; });
  const PostTrainFit fit = fit_post_training(files, sources(), {});
  for (const FittedPostTrainRun& run : fit.runs) {
    if (run.software == "verl") {
      CHECK(!run.others_left);
      CHECK(std::abs(run.left_out) < 0.1);  // NeMo RL was planted alike
    }
  }
}

TEST_CASE("fit post: a width is the order statistic that the next of n alike errors lies within") {
  RunRow first, second, third;
  first.source = "a";
  second.source = "b";
  third.source = "c";
  PostTrainFit fit;
  const auto add = [&](const RunRow& of, PostTrainFigure figure, double left_out) {
    FittedPostTrainRun run;
    run.row = &of;
    run.figure = figure;
    run.left_out = left_out;
    fit.runs.push_back(run);
  };
  const auto all = [](const FittedPostTrainRun&) { return true; };
  for (const double error : {0.1, -0.2, 0.3}) {
    add(first, PostTrainFigure::rollout, error);
  }
  CHECK(left_out_width(fit, PostTrainFigure::rollout, all) == 0.0);  // 0.8 x 4 = 3.2: of three nobody knows the fourth
  add(second, PostTrainFigure::rollout, -0.4);                       // 0.8 x 5 = 4: the largest of four
  CHECK(left_out_width(fit, PostTrainFigure::rollout, all) == near(std::expm1(0.4), 1e-9));
  add(second, PostTrainFigure::rollout, 0.9);
  add(third, PostTrainFigure::rollout, 0.05);
  // 0.8 x 7 = 5.6: the sixth of 0.05, 0.1, 0.2, 0.3, 0.4, 0.9.
  CHECK(left_out_width(fit, PostTrainFigure::rollout, all) == near(std::expm1(0.9), 1e-9));
  CHECK(left_out_sources(fit, PostTrainFigure::rollout, all) == 3);
  // Left out, those of a have 0.05, 0.4 and 0.9 of others and nothing is promised; b's have four whose largest is 0.3;
  // c's have five, and the fifth of 0.8 x 6 = 4.8 is 0.9.
  CHECK(left_out_coverage(fit, PostTrainFigure::rollout) == near(1.0 / 6.0, 1e-9));
  // An idle share of one source: a step of 0.5 / 1.5 more, as its own width says.
  add(first, PostTrainFigure::idle, 0.01);
  for (const double error : {0.1, std::log(1.5), -0.2, 0.3}) {
    add(first, PostTrainFigure::step, error);
  }
  CHECK(width_of(fit, PostTrainFigure::idle, "any") == near(0.5 / 1.5, 1e-9));
}

TEST_CASE("fit post: numbers are written in place, and all else stays") {
  const PostTrainNumbers numbers{2.0, 1.5, 1.5, Seconds{8.0}, Seconds{5.0}};
  const std::vector<RunFile> files{planted(numbers, numbers)};
  const PostTrainFit fit = fit_post_training(files, sources(), {});
  const fs::path folder = fs::temp_directory_path() / "headroom_fit_post_test";
  fs::remove_all(folder);
  fs::create_directories(folder / "stacks");
  fs::copy(fs::path{HEADROOM_SOURCE_DIR} / "model/stacks/post", folder / "stacks/post");
  const std::vector<std::string> written = write_post_files(fit, folder.string());
  CHECK(written.size() == 3);  // any, nemo-rl, verl
  TomlLines before{text_of(fs::path{HEADROOM_SOURCE_DIR} / "model/stacks/post/verl.toml")};
  TomlLines after{text_of(folder / "stacks/post/verl.toml")};
  REQUIRE(before.text.size() == after.text.size());
  std::size_t changed = 0;
  for (std::size_t i = 0; i < before.text.size(); ++i) {
    changed += before.text[i] != after.text[i] ? 1 : 0;
  }
  CHECK(changed <= 6);  // five numbers and what they rest on
  CHECK(*after.find({"[numbers]"}, "rollout") ==
        "rollout = " + post_value_text(fit.knobs[0], fitted(fit, "verl.rollout")));
  CHECK(text_of(folder / "stacks/post/skyrl.toml") ==
        text_of(fs::path{HEADROOM_SOURCE_DIR} / "model/stacks/post/skyrl.toml"));
  fs::remove_all(folder);
}

TEST_CASE("fit post: files without steps are refused") {
  std::vector<RunFile> files{parsed("")};
  CHECK_THROWS_AS(static_cast<void>(fit_post_training(files, sources(), {})), ConfigError);
}
