// SPDX-License-Identifier: Apache-2.0
// Pools that publications are known to have launched, and which rows take them.
#include <headroom/scenarios/measured/serving_launches.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

std::vector<PublishedDeployments> deployments(const std::string& numbers, Diagnostics& diagnostics) {
  return read_published_deployments(
      parse_toml("schema = 1\nid = \"serve-deployments\"\nsource = \"a test\"\n[[configuration]]\nid = \"pools\"\n"
                 "sources = [\"Dump\"]\nsource = \"a test\"\ndeployments = [" +
                     numbers + "]\n",
                 "deployments.toml"),
      diagnostics);
}

RunRow apart() {
  RunRow r;
  r.source = "Dump of last year";
  r.source_ref = "dump@1:tasks/chat.json";
  r.metric = "ttft_ms_mean";
  r.unit = "ms";
  r.serving.model = "Llama-3.1-8B";
  r.serving.gpu = "H100-SXM5-80GB";
  r.serving.weight_dtype = r.serving.act_dtype = "bf16";
  r.serving.engine = "SGLang";
  r.serving.disaggregated = true;
  r.serving.tp = 8;
  r.serving.isl = 1000;
  r.serving.osl = 100;
  r.serving.concurrency = 64.0;
  r.serving.options = {{"scenario", "closed"}, {"disaggregated", "1"}, {"prefill_tp", "4"}, {"decode_tp", "8"}};
  return r;
}

}  // namespace

TEST_CASE("a row that states no workers takes those that its publication launched for its lengths and clients") {
  Diagnostics diagnostics;
  const std::string two =
      "1000, 100, 64, 2, 4, 4, 1, 1, 8, 8, 1, 0, 288, 128, 1000, 100, 32, 1, 4, 4, 0, 3, 8, 1, 0, 0, 0, 0";
  const std::vector<PublishedDeployments> published = deployments(two, diagnostics);
  REQUIRE(diagnostics.empty());
  const RunRow r = apart();
  const std::vector<LaunchedRow> found = deployments_of(r, {r.serving, ""}, published);
  REQUIRE(found.size() == 1);
  const ServingConfiguration& run = found[0].run;
  CHECK(run.options.at("prefill_workers") == "2");
  CHECK(run.options.at("prefill_attention_dp") == "4");
  CHECK(run.options.at("decode_workers") == "1");
  CHECK(run.options.at("decode_places") == "1024");  // 128 of each of 8 attention ranks
  CHECK(run.options.at("eplb") == "1");
  CHECK(run.tp == 1);
  CHECK(run.dp == 8);
  CHECK(run.ep == 8);
  CHECK(found[0].assumed.find("prefilling 2 x 4 (attention-DP), decoding 1 x 8 (attention-DP) ranks, 128 places of a "
                              "decoding rank, 288 experts") == 0);

  RunRow other = r;
  other.serving.concurrency = 48.0;  // clients that nothing was launched for
  CHECK(deployments_of(other, {other.serving, ""}, published).empty());
  other = r;
  other.serving.options["decode_tp"] = "16";  // ranks that contradict what was launched
  CHECK(deployments_of(other, {other.serving, ""}, published).empty());
  other.serving.options["decode_tp"] = other.serving.options["prefill_tp"] = "16";  // all GPUs, 2 x 4 + 8, in either
  CHECK(deployments_of(other, {other.serving, ""}, published).size() == 1);
  other = r;
  other.serving.disaggregated = false;
  CHECK(deployments_of(other, {other.serving, ""}, published).empty());
}

TEST_CASE("lists of deployments hold for rows of their days, and for rows that state no day") {
  Diagnostics diagnostics;
  const auto on = [&](const std::string& notes) {
    RunRow r = apart();
    r.notes = notes;
    const std::vector<PublishedDeployments> published = read_published_deployments(
        parse_toml("schema = 1\nid = \"serve-deployments\"\nsource = \"a test\"\n[[configuration]]\nid = \"pools\"\n"
                   "sources = [\"Dump\"]\nsource = \"a test\"\nfrom = \"2026-02-06\"\nuntil = \"2026-03-13\"\n"
                   "deployments = [1000, 100, 64, 1, 4, 1, 0, 2, 8, 1, 0, 0, 0, 0]\n",
                   "deployments.toml"),
        diagnostics);
    return deployments_of(r, {r.serving, ""}, published).size();
  };
  CHECK(on("measured 2026-02-05; image x") == 0);
  CHECK(on("measured 2026-02-06; image x") == 1);
  CHECK(on("measured 2026-03-13") == 1);
  CHECK(on("measured 2026-03-14") == 0);
  CHECK(on("") == 1);
  CHECK(diagnostics.empty());
}

TEST_CASE("a row that states its workers takes their places alone, of launches without drafts") {
  Diagnostics diagnostics;
  const std::vector<PublishedDeployments> published = deployments(
      "1000, 100, 64, 1, 4, 1, 0, 2, 8, 1, 0, 0, 0, 16, 1000, 100, 64, 1, 4, 1, 0, 2, 8, 1, 0, 3, 0, 32", diagnostics);
  RunRow r = apart();
  CHECK(deployments_of(r, {r.serving, ""}, published).size() == 2);  // with and without drafts: no cell tells which
  r.serving.options["prefill_workers"] = "1";
  r.serving.options["decode_workers"] = "2";
  const std::vector<LaunchedRow> found = deployments_of(r, {r.serving, ""}, published);
  REQUIRE(found.size() == 1);
  CHECK(found[0].run.options.at("decode_places") == "16");
  CHECK(found[0].run.options.count("speculative") == 0);
}

TEST_CASE("every problem of the table of deployments has its place, and those that ship are read") {
  const auto told = [](const std::string& numbers) {
    Diagnostics diagnostics;
    static_cast<void>(deployments(numbers, diagnostics));
    std::string text;
    for (const Diagnostic& d : diagnostics.sorted()) {
      text += d.message + "\n";
    }
    return text;
  };
  CHECK(told("1000, 100, 64").find("14 numbers") != std::string::npos);
  CHECK(told("1000, 100, 64, 0, 4, 1, 0, 2, 8, 1, 0, 0, 0, 0").find("below 1") != std::string::npos);
  CHECK(told("1000, 100, 64, 1, 4, 1, 2, 2, 8, 1, 0, 0, 0, 0").find("flag") != std::string::npos);
  CHECK(told("1000, 100, 64, 1, 4, 1, 0, 2, 8, 1, 0, -2, 0, 0").find("drafts") != std::string::npos);
  CHECK(published_deployments(sources().data).size() > 20);
}
