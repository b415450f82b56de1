// SPDX-License-Identifier: Apache-2.0
// Measured rows as a user meets them: what a harness expects, the same bytes of the same inputs, and a fit as a page.
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "run_headroom.hpp"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

namespace fs = std::filesystem;

const std::string node = R"(schema = 1
kind = "simulated-device"
gpu = "GPU"
driver = "DRIVER"
[gemm]
compute = 0.80
bandwidth = 0.84
launch = "2.5 us"
chain = "1.3 ns"
[copy]
bandwidth = 0.90
launch = "2.1 us"
[launch]
stream = "2.3 us"
host = "1.9 us"
graph = "6.0 us"
node = "1.3 us"
[collectives]
gpus = 8
[noise]
spread = 0.01
)";

void write_node(const fs::path& file, const std::string& gpu, const std::string& driver = "580.82.07") {
  std::string text = node;
  text.replace(text.find("GPU"), 3, gpu);
  text.replace(text.find("DRIVER"), 6, driver);
  std::ofstream{file} << text;
}

/// "conditions" of a folder's manifest.
std::string digest_of(const fs::path& folder) {
  const std::string manifest = read_text(folder / "manifest.toml");
  const std::size_t at = manifest.find("conditions = \"") + 14;
  return manifest.substr(at, manifest.find('"', at) - at);
}

}  // namespace

TEST_CASE("a harness tells what to expect of each cell and fails one 5 % below its tolerance with a suspect") {
  const ScratchFolder folder;
  const std::string scenario = "compare '" HEADROOM_SOURCE_DIR "/scenarios/train/llama2-7b-8xa100.toml' ";
  const auto cells = [&](const std::string& a, const std::string& b) {
    std::ofstream{folder.path() / "cells.csv"} << "hardware.gpu,hardware.gpus,tokens_per_s_per_gpu\n"
                                               << "a100-sxm-80gb,8," << a << "\nh100-sxm-80gb,64," << b << "\n";
    return run_headroom(scenario + "--harness cells.csv --tolerance '10 %' --format json", folder.path());
  };
  const Run expected = cells("", "");
  REQUIRE(expected.code == 0);
  const ConfigValue matrix = parse_json(expected.out, "cells.json");
  const auto number = [&](std::size_t i, const char* end) {
    return matrix.find("cells")->items[i].find("expected_tokens_per_s_per_gpu")->find(end)->number;
  };
  CHECK(number(0, "low") == doctest::Approx(0.9 * number(0, "mid")));
  const std::string good = std::to_string(number(0, "mid"));
  const Run failing = cells(good, std::to_string(0.95 * number(1, "low")));
  CHECK(failing.code == 1);
  const ConfigValue judged = parse_json(failing.out, "judged.json");
  CHECK(judged.find("cells")->items[0].find("verdict")->text == "pass");
  CHECK(judged.find("cells")->items[1].find("verdict")->text == "fail");
  CHECK(judged.find("cells")->items[1].find("suspect") != nullptr);
  CHECK(cells(good, std::to_string(1.01 * number(1, "low"))).code == 0);
  std::ofstream{folder.path() / "bad.csv"} << "gpus,tokens_per_s_per_gpu\n8,-1\n";
  const Run bad = run_headroom(scenario + "--harness bad.csv", folder.path());
  CHECK(bad.code == 2);
  CHECK(says(bad.err, "bad.csv:1:1: error: column 'gpus' is neither a key of a scenario, such as hardware.gpus"));
  CHECK(says(bad.err, "bad.csv:2:3: error: '-1' must be a positive rate"));
}

TEST_CASE("the same inputs give the same bytes, another driver another digest on every result") {
  const ScratchFolder folder;
  write_node(folder.path() / "node.toml", "h200-sxm-141gb");
  write_node(folder.path() / "newer.toml", "h200-sxm-141gb", "590.10.01");
  const std::string rest = " --quick --only gemm --dtype bf16 --only nccl";
  REQUIRE(run_headroom("calibrate -o a --simulate node.toml" + rest, folder.path()).code == 0);
  REQUIRE(run_headroom("calibrate -o b --simulate node.toml" + rest, folder.path()).code == 0);
  REQUIRE(run_headroom("calibrate -o c --simulate newer.toml" + rest, folder.path()).code == 0);
  const std::vector<std::string> results{"manifest.toml",
                                         "samples.csv",
                                         "gemm.csv",
                                         "nccl.csv",
                                         "overlay/gpus/h200-sxm-141gb.toml",
                                         "overlay/curves/h200-sxm-141gb.toml",
                                         "overlay/collectives/h200-sxm-141gb.toml"};
  for (const std::string& name : results) {
    CAPTURE(name);
    CHECK(read_text(folder.path() / "a" / name) == read_text(folder.path() / "b" / name));
  }
  const std::string before = digest_of(folder.path() / "a");
  const std::string after = digest_of(folder.path() / "c");
  CHECK(before.size() == 16);
  CHECK(digest_of(folder.path() / "b") == before);
  CHECK(after != before);
  for (const char* name : {"overlay/gpus/h200-sxm-141gb.toml", "overlay/curves/h200-sxm-141gb.toml",
                           "overlay/collectives/h200-sxm-141gb.toml"}) {
    CAPTURE(name);
    CHECK(says(read_text(folder.path() / "a" / name), "conditions " + before));
    CHECK(says(read_text(folder.path() / "c" / name), "driver 590.10.01"));
    CHECK(says(read_text(folder.path() / "c" / name), "conditions " + after));
  }
}

TEST_CASE("FP8 on an A100 and MIG on a T4 are not supported, and the answer says what is") {
  const ScratchFolder folder;
  write_node(folder.path() / "a100.toml", "a100-sxm-80gb");
  const Run probed = run_headroom("calibrate -o x --simulate a100.toml --only gemm --dtype fp8", folder.path());
  CHECK(probed.code == 3);
  CHECK(says(probed.err, "gemm fp8: needs compute capability 8.9; this device has 8.0"));
  const std::string plan = "plan '" HEADROOM_SOURCE_DIR "/scenarios/train/llama2-7b-8xa100.toml' ";
  const Run planned = run_headroom(plan + "--set training.precision=fp8", folder.path());
  CHECK(planned.code == 2);
  CHECK(says(planned.err, "a100-sxm-80gb has no fp8 rate; it has fp64, tf32, fp16, bf16, int8"));
  const Run sliced = run_headroom(plan + "--set 'hardware.gpu=MIG:T4 (4x1g.5gb MIG)'", folder.path());
  CHECK(sliced.code == 2);
  CHECK(says(sliced.err, "t4 cannot be cut into slices"));
  const Run cut = run_headroom(plan + "--set 'hardware.gpu=MIG:A30 (4x1g.6gb MIG)'", folder.path());
  CHECK(cut.code == 2);
  CHECK(says(cut.err, "instances of MIG have no P2P between them"));
}

TEST_CASE("collectives go from a rehearsal into the overlay, and a plan with it is another") {
  const ScratchFolder folder;
  write_node(folder.path() / "node.toml", "h200-sxm-141gb");
  const Run run = run_headroom("calibrate -o node --simulate node.toml --quick --only nccl", folder.path());
  CHECK(run.code == 0);
  CHECK(says(run.out, "collective, NCCL"));
  CHECK(says(run.out, "nccl all_reduce"));
  const Run compared =
      run_headroom("compare '" HEADROOM_SOURCE_DIR "/scenarios/train/llama3-70b-256xh200.toml' --overlay node/overlay",
                   folder.path());
  CHECK(compared.code == 0);
  CHECK(says(compared.out, "step_terms_s.tp_comm"));
  CHECK_FALSE(says(compared.out, "step_terms_s.gemm "));  // no product was measured
  // What was measured reads as the measured collectives of others do.
  CHECK(run_headroom("collective node/nccl.csv --kind nccl --gpu h200-sxm-141gb", folder.path()).code == 0);
  const Run page = run_headroom("fit node --base h200-sxm-141gb --html fit.html --format json", folder.path());
  CHECK(page.code == 0);
  const std::string html = read_text(folder.path() / "fit.html");
  const ConfigValue document = parse_json(page.out, "fit.json");
  const ConfigValue& rows = *document.find("curves")->items[0].find("rows");
  CHECK(rows.items.size() == 24);
  const double measured = rows.items[0].find("measured_s")->number;
  const double fitted = rows.items[0].find("fitted_s")->number;
  CHECK(fitted / measured - 1.0 == doctest::Approx(rows.items[0].find("error")->number).epsilon(1e-6));
  CHECK(says(html, "data-chart=\"fit-times\""));
  CHECK(says(html, "data-chart=\"fit-errors\""));
  CHECK(says(html, "580.82.07"));
  const Run lost = run_headroom("fit node/nccl.csv --gpu h200-sxm-141gb --html fit.html", folder.path());
  CHECK(lost.code == 2);
  CHECK(says(lost.err, "--html has no part in a fit of kernel curves; it goes with --base ID"));
}
