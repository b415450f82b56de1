// SPDX-License-Identifier: Apache-2.0
// Every option that an exported file names is one that the program's newest known release takes.
#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/launch/argument_tables.hpp>
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

using namespace headroom;
using namespace headroom::launch;
using headroom::test::sources;

namespace {

using Words = std::vector<std::string>;

std::set<std::string> flags_in(const std::string& text) {
  static const std::regex flag{"(^|[\\s\"'])(--[A-Za-z][A-Za-z0-9_-]*)"};
  std::set<std::string> found;
  for (auto at = std::sregex_iterator{text.begin(), text.end(), flag}; at != std::sregex_iterator{}; ++at) {
    found.insert((*at)[2]);
  }
  return found;
}

/// Lines of a file that are no comment.
std::string body_of(const std::string& text) {
  std::string body;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
    if (text[from] != '#') {
      body += text.substr(from, end - from);
    }
    from = end;
  }
  return body;
}

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t start = text.find(from);
  return start == std::string::npos ? "" : text.substr(start, text.find(to, start) - start);
}

void check_known(std::string_view program, std::string_view command, const std::set<std::string>& flags) {
  const ArgumentTable* table = arguments_of(program, "");
  REQUIRE(table != nullptr);
  for (const std::string& flag : flags) {
    CHECK_MESSAGE(table->has(command, flag), flag, " of ", std::string{program}, ": ", table->state);
  }
}

template <class Export>
void for_each_plan(const Words& base, const std::vector<Words>& models, const std::vector<Words>& changes, Export use) {
  std::size_t written = 0;
  for (const Words& model : models) {
    for (const Words& change : changes) {
      Words all = base;
      all.insert(all.end(), model.begin(), model.end());
      all.insert(all.end(), change.begin(), change.end());
      try {
        use(scenario_from_overrides(all, sources()));
        ++written;
      } catch (const ConfigError&) {
        continue;  // a layout that this form or network cannot have
      }
    }
  }
  CHECK(2 * written > models.size() * changes.size());  // most can
}

const Words training{"kind=train",
                     "hardware.gpu=h100-sxm-80gb",
                     "hardware.gpus=128",
                     "training.seq_len=8192",
                     "training.global_batch=128",
                     "training.precision=bf16",
                     "strategy.micro_batch=1"};
const std::vector<Words> networks{{"model=llama3-70b"},  {"model=llama3.1-8b"},  {"model=qwen3-235b-a22b"},
                                  {"model=deepseek-v3"}, {"model=mixtral-8x7b"}, {"model=gpt3-175b"}};
const std::vector<Words> trainings{
    {},
    {"strategy.zero=1", "strategy.tp=8"},
    {"strategy.zero=2"},
    {"strategy.zero=3", "strategy.shard_ranks=8"},
    {"strategy.tp=4", "strategy.pp=4", "strategy.recompute=full"},
    {"strategy.cp=4", "strategy.cp_form=ring", "strategy.recompute=selective"},
    {"strategy.cp=2", "strategy.cp_form=ulysses", "training.precision=fp16"},
    {"training.precision=fp8"},
    {"training.gradients=bf16", "training.overlap=false"},
    {"training.offload=[\"optimizer\"]"},
    {"strategy.tp=8", "training.async_tp=true", "strategy.cuda_graphs=true"},
    {"strategy.pp=4", "strategy.order=tp-cp-pp-dp"},
    {"training.optimizer=sgd"},
    {"training.flash_attention=false", "training.dropout=true", "training.fused_loss=true"},
};

const Words serving{"kind=serve",      "hardware.gpu=h100-sxm-80gb", "hardware.gpus=16", "serving.isl=2048",
                    "serving.osl=256", "serving.concurrency=64"};
const std::vector<Words> served{{"model=llama3-70b", "serving.weights=bf16"},
                                {"model=qwen3-235b-a22b", "serving.weights=fp8"}};
const std::vector<Words> servings{
    {"strategy.tp=8"},
    {"strategy.tp=8", "strategy.pp=2"},
    {"strategy.tp=8", "serving.kv_cache=fp8", "serving.chunked_prefill=false", "serving.max_num_tokens=4096"},
    {"strategy.tp=8", "serving.speculative.draft=2", "serving.speculative.acceptance=0.7",
     "serving.speculative.method=ngram"},
    {"strategy.tp=8", "traffic.rate=2 req/s", "traffic.prompt={mean=1500}", "traffic.output={mean=250}",
     "traffic.arrivals=gamma", "traffic.cv=2.0", "slo.ttft_p95=2 s"},
};

}  // namespace

TEST_CASE("every argument written for Megatron-LM and torchtitan is one that their newest known release takes") {
  for_each_plan(training, networks, trainings, [](const Scenario& scenario) {
    const auto& train = std::get<TrainScenario>(scenario.question);
    const auto text = [&](LaunchForm form) { return export_launch(scenario, train, train.strategy, form).text; };
    check_known("megatron-lm", "trainer", flags_in(body_of(text(LaunchForm::megatron))));
    std::set<std::string> keys;
    const LaunchItems job = items_of_document(parse_toml(text(LaunchForm::torchtitan), "job.toml"));
    for (const LaunchItem& item : job.all()) {
      keys.insert("--" + item.name);
    }
    check_known("torchtitan", "trainer", keys);
  });
}

TEST_CASE("every argument written for an engine and its benchmark is one that its newest known release takes") {
  for (const std::string engine : {"vllm", "sglang", "tensorrt-llm"}) {
    Words base = serving;
    base.push_back("serving.engine=" + engine);
    const auto form = static_cast<LaunchForm>(std::find(launch_form_names.begin(), launch_form_names.end(), engine) -
                                              launch_form_names.begin());
    for_each_plan(base, {served.front()}, servings, [&](const Scenario& scenario) {
      const auto& serve = std::get<ServeScenario>(scenario.question);
      const std::string text = body_of(export_launch(scenario, serve, form).text);
      std::string server = between(text, "\nelse\n", "\nfi\n");
      server.erase(0, engine == "tensorrt-llm" ? server.find("trtllm-serve") : 0);  // srun has flags of its own
      CHECK_FALSE(flags_in(server).empty());
      check_known(engine, "server", flags_in(server));
      check_known(engine, "benchmark", flags_in(between(text, "= bench ]; then\n", "\nelse\n")));
    });
  }
}

TEST_CASE("every argument in a cluster's file is one that the engine's newest known release takes") {
  for (const std::string engine : {"vllm", "sglang"}) {
    Words base = serving;
    base.push_back("serving.engine=" + engine);
    std::vector<Words> layouts = servings;
    layouts.push_back({"strategy.tp=2", "strategy.ep=16"});
    layouts.push_back({"strategy.tp=1", "strategy.ep=16", "serving.redundant_experts=16"});
    layouts.push_back({"strategy.tp=1", "strategy.ep=16", "serving.pool=prefill", "serving.two_batch_overlap=true"});
    layouts.push_back({"strategy.tp=1", "strategy.ep=16", "serving.two_batch_overlap=false"});
    for_each_plan(base, served, layouts, [&](const Scenario& scenario) {
      const auto& serve = std::get<ServeScenario>(scenario.question);
      const std::string text = export_launch(scenario, serve, LaunchForm::leaderworkerset).text;
      check_known(engine, "server", flags_in(body_of(text)));
      CHECK(text.find("takes no word") == std::string::npos);
      std::set<std::string> load = flags_in(between(text, "# the plan's load: ", "\n"));
      check_known(engine, "benchmark", load);
    });
  }
  Words base = serving;
  base.emplace_back("serving.engine=vllm");
  for_each_plan(base, {served.front()}, {servings.front(), servings[2], servings[3]}, [](const Scenario& scenario) {
    const auto& serve = std::get<ServeScenario>(scenario.question);
    check_known("vllm", "server", flags_in(body_of(export_launch(scenario, serve, LaunchForm::kserve).text)));
    std::set<std::string> keywords;
    const std::string engine = between(export_launch(scenario, serve, LaunchForm::ray_serve).text, "engine_kwargs:\n",
                                       "placement_group_config");
    static const std::regex keyword{"\n            ([a-z_]+):"};
    for (auto at = std::sregex_iterator{engine.begin(), engine.end(), keyword}; at != std::sregex_iterator{}; ++at) {
      std::string name = (*at)[1];
      std::replace(name.begin(), name.end(), '_', '-');
      keywords.insert("--" + name);
    }
    CHECK(keywords.size() > 3);
    check_known("vllm", "server", keywords);
  });
}

TEST_CASE("tables of arguments have a source and a date, and are found by release") {
  REQUIRE(argument_tables().size() >= 10);
  for (const ArgumentTable& table : argument_tables()) {
    CAPTURE(table.program);
    CAPTURE(table.from);
    CHECK_FALSE(table.sources.empty());
    for (const std::string& source : table.sources) {
      CHECK(source.starts_with("https://github.com/"));
    }
    CHECK(table.date.size() == 10);
    CHECK_FALSE(table.state.empty());
    for (const auto& [command, names] : table.names) {
      CHECK(names.size() > 20);
      for (const std::string& name : names) {
        CHECK(name.starts_with("--"));
      }
    }
  }
  CHECK(arguments_of("vllm", "0.11.0")->from == "0.10");
  CHECK(arguments_of("vllm", "v0.12.0.post1")->from == "0.12");
  CHECK(arguments_of("vllm", "")->from == "0.22");
  CHECK(arguments_of("sglang", "0.5.9")->from == "0.5.1");
  CHECK(arguments_of("vllm", "0.6.3") == nullptr);
  CHECK(arguments_of("vllm", "nightly") == nullptr);
  CHECK(arguments_of("llama.cpp", "") == nullptr);
}

TEST_CASE("a word that the stated release does not know is told") {
  const auto text = [](const std::string& release) {
    Words all{"kind=serve",       "model=deepseek-v3", "hardware.gpu=gb200",       "hardware.gpus=64",
              "serving.isl=2000", "serving.osl=1000",  "serving.concurrency=4096", "serving.weights=nvfp4",
              "strategy.tp=1",    "strategy.ep=64",    "serving.engine=vllm"};
    if (!release.empty()) {
      all.push_back("serving.engine_version=" + release);
    }
    const Scenario scenario = scenario_from_overrides(all, sources());
    return export_launch(scenario, std::get<ServeScenario>(scenario.question), LaunchForm::vllm).text;
  };
  CHECK(text("").find("--all2all-backend flashinfer_nvlink_one_sided") != std::string::npos);
  CHECK(text("").find("takes no word") == std::string::npos);
  CHECK(text("0.12.0").find("--all2all-backend flashinfer_all2allv") != std::string::npos);
  CHECK(text("0.13.0").find("--all2all-backend flashinfer_all2allv") != std::string::npos);
  CHECK(text("0.13.0").find("takes no word") == std::string::npos);
  // A release that has the word, under the table of an older one: told with both.
  CHECK(text("0.21.0").find("vllm 0.21.0, by the words of 0.12 that hold for it, takes no word "
                            "flashinfer_nvlink_one_sided") != std::string::npos);
}

TEST_CASE("an option that the stated release lacks is told with the release that has it") {
  const auto notes = [](const Words& more) {
    Words all = serving;
    for (const Words& part : {served.front(), Words{"strategy.tp=8"}, more}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    const Scenario scenario = scenario_from_overrides(all, sources());
    std::string text;
    for (const LaunchNote& note :
         export_launch(scenario, std::get<ServeScenario>(scenario.question), LaunchForm::leaderworkerset).notes) {
      text += note.text + "\n";
    }
    return text;
  };
  const Words hosts{"strategy.pp=2"};
  CHECK(notes(hosts).find("has no such argument") == std::string::npos);
  CHECK(notes({"strategy.pp=2", "serving.engine_version=0.10.2"})
            .find("--nnodes: vllm 0.10.2 has no such argument, 0.12 has it; take it out by hand\n") !=
        std::string::npos);
}
