// SPDX-License-Identifier: Apache-2.0
// Searches as a user runs them: the same bytes whatever the threads, killed and resumed, interrupted, and plans that
// are what `headroom plan` says of them.
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include "run_headroom.hpp"
#include <chrono>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

using namespace headroom;
using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

using Texts = std::vector<std::string>;

SearchQuestion asked(const Texts& assignments) {
  return read_search(scenario_tree(assignments), "test", sources());
}

SearchPlan answer(const SearchQuestion& question, unsigned threads) {
  SearchOptions options;
  options.threads = threads;
  return explain_search(question, run_search(question, options));
}

/// Searches of every kind: a dense model over the whole strategy, experts, several SKUs with money, all orders.
std::vector<Texts> some_searches() {
  const Texts train{"schema=1", "kind=\"train\"", "training.precision=\"bf16\"", "training.seq_len=4096"};
  const auto with = [&](Texts more) {
    more.insert(more.begin(), train.begin(), train.end());
    return more;
  };
  return {
      with({"model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=32", "training.global_batch=128",
            "search.strategy=any"}),
      with({"model=mixtral-8x7b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=64", "training.global_batch=256",
            "training.software=megatron-core-te", "search.tp=any", "search.pp=any", "search.ep=any", "search.etp=any",
            "search.overlap_experts=any", "search.vpp=any", "search.recompute_block=any",
            "objective.pareto=[\"step-time\", \"memory\"]", "objective.simplicity=\"0 %\""}),
      with({"model=llama2-13b", "training.global_batch=64", "training.tokens=1e10", "money.price=\"2 $/h\"",
            "search.gpu=[\"a100-sxm-80gb\", \"h100-sxm-80gb\"]", "search.gpus=[8, 16]", "search.strategy=any",
            "search.software=[\"torchtitan\", \"deepspeed\"]", "objective.minimize=cost", "objective.plans=12"}),
      with({"model=llama3-8b", "hardware.gpu=a100-sxm-80gb", "hardware.gpus=48", "training.global_batch=96",
            "training.software=megatron-core-te", "search.tp=[1, 2, 4]", "search.cp=[1, 2, 4]", "search.pp=[1, 2, 4]",
            "search.order=[\"tp-cp-dp-pp\", \"tp-pp-cp-dp\", \"cp-tp-dp-pp\", \"dp-cp-tp-pp\"]", "search.cp_form=any",
            "search.cuda_graphs=any", "search.schedule=[\"1f1b\", \"gpipe\", \"zb-h1\", \"zb-v\"]",
            "search.sequence_parallel=any", "search.shard_ranks=any", "objective.plans=20"}),
  };
}

Texts long_search(const fs::path& folder, const std::string& gpus) {
  return {"plan",
          "--model",
          "llama3-70b",
          "--gpu",
          "h100-sxm-80gb",
          "--seq-len",
          "8192",
          "--search",
          "gpus=" + gpus,
          "--search",
          "any",
          "--global-batch",
          "512",
          "--format",
          "json",
          "--threads",
          "1",
          "--checkpoint",
          (folder / "search.checkpoint").string()};
}

Texts without_checkpoint(Texts arguments) {
  arguments.resize(arguments.size() - 2);
  return arguments;
}

/// Waits until the checkpoint holds a plan: the search then stands in its rounds and has found something.
void wait_for_plan(const fs::path& checkpoint) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (read_text(checkpoint).find("\nplan ") == std::string::npos) {
    REQUIRE(std::chrono::steady_clock::now() < until);
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
}

}  // namespace

TEST_CASE("a search answers the same bytes with 1, 2, 3 and 8 threads") {
  for (const Texts& assignments : some_searches()) {
    const SearchQuestion question = asked(assignments);
    const SearchPlan alone = answer(question, 1);
    REQUIRE(alone.plan);
    const std::string json = json_text(search_document(alone));
    const std::string text = search_text(alone, "test");
    for (const unsigned threads : {2U, 3U, 8U}) {
      const SearchPlan several = answer(question, threads);
      CHECK(json_text(search_document(several)) == json);
      CHECK(search_text(several, "test") == text);
    }
  }
}

TEST_CASE("every plan that a search lists is what a plan of its assignments says, bit for bit") {
  for (const Texts& assignments : some_searches()) {
    const SearchQuestion question = asked(assignments);
    const SearchPlan found = answer(question, 2);
    REQUIRE(found.plan);
    std::vector<ListedPlan> all = found.best;
    all.insert(all.end(), found.front.begin(), found.front.end());
    all.push_back(found.recommended);
    for (const ListedPlan& listed : all) {
      std::string what;
      for (const Change& change : listed.changes) {
        what += text_of(change) + ", ";
      }
      CAPTURE(what);
      const Plan plan = make_plan(changed(question.base, listed.changes), false);
      const auto& train = std::get<TrainPlan>(plan.answer);
      CHECK(plan.feasible());
      CHECK(train.estimate.step == listed.candidate.step);
      CHECK(train.estimate.device.high == listed.candidate.memory);
      CHECK(train.memory.high == listed.memory.high);
      CHECK(train.strategy.dp == listed.candidate.strategy.dp);
    }
  }
}

TEST_CASE("a search that is killed at random moments answers what one that was left alone does") {
  const ScratchFolder scratch;
  const fs::path& folder = scratch.path();
  const Texts arguments = long_search(folder, "[256, 512, 1024]");
  const auto began = std::chrono::steady_clock::now();
  const Run alone = ended(start_headroom(without_checkpoint(arguments), folder), folder);
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
  REQUIRE(alone.code == 0);
  REQUIRE(alone.out.find("\"complete\": true") != std::string::npos);
  std::mt19937 random{7};
  int killed = 0;
  int resumed = 0;
  const auto finish = [&](const Run& run) {
    CHECK(run.code == 0);
    CHECK(run.out == alone.out);
    resumed += run.err.find("resumed from the checkpoint") != std::string::npos ? 1 : 0;
    fs::remove(folder / "search.checkpoint");
  };
  const int kills = asked_kills(10);
  while (killed < kills) {
    const auto moment = std::chrono::milliseconds{1 + random() % (static_cast<unsigned>(took.count()) / 2 + 1)};
    const pid_t child = start_headroom(arguments, folder);
    std::this_thread::sleep_for(moment);
    kill(child, SIGKILL);
    const Run run = ended(child, folder);
    if (run.code == -1) {
      ++killed;
    } else {
      finish(run);
    }
  }
  finish(ended(start_headroom(arguments, folder), folder));
  CHECK(resumed >= 1);
}

TEST_CASE("an interrupted search prints what it found and says that it is partial") {
  for (const bool json : {true, false}) {
    const ScratchFolder scratch;
    const fs::path& folder = scratch.path();
    Texts arguments = long_search(folder, "256..2048 x2");
    arguments[14] = json ? "json" : "text";
    const pid_t child = start_headroom(arguments, folder);
    wait_for_plan(folder / "search.checkpoint");
    kill(child, SIGINT);
    const Run run = ended(child, folder);
    CHECK(run.code == 128 + SIGINT);
    if (json) {
      CHECK(run.out.find("\"complete\": false") != std::string::npos);
      CHECK(run.out.find("\"taken\": {") != std::string::npos);
    } else {
      CHECK(run.out.starts_with("PARTIAL: interrupted"));
      CHECK(run.out.find("\ntake tp ") != std::string::npos);
    }
  }
}

TEST_CASE("a checkpoint that is cut off, changed, of another search or none at all is refused") {
  const ScratchFolder scratch;
  const fs::path& folder = scratch.path();
  const fs::path file = folder / "c";
  const std::string search =
      "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 8 --seq-len 4096 --global-batch 64 --search tp=any "
      "--search zero=any --checkpoint c";
  const auto refused = [&](const std::string& text, const std::string& why) {
    CAPTURE(why);
    std::ofstream{file, std::ios::binary} << text;
    const Run run = run_headroom(search, folder);
    CHECK(run.code == 2);
    CHECK(run.out.empty());
    CHECK(run.err == "headroom: error: --checkpoint 'c' " + why + "\n");
    CHECK(read_text(file) == text);
  };
  const Run first = run_headroom(search, folder);
  REQUIRE(first.code == 0);
  const std::string whole = read_text(file);
  CHECK(run_headroom(search, folder).out == first.out);
  const std::string cut_off = "is cut off; remove it to search anew";
  const std::string damaged = "is damaged; remove it to search anew";
  for (const std::size_t kept : {whole.size() - 1, whole.size() / 2, std::size_t{40}}) {
    refused(whole.substr(0, kept), cut_off);
  }
  refused("", "is no checkpoint of a search; name another file or remove it");
  refused("kind = \"train\"\n", "is no checkpoint of a search; name another file or remove it");
  std::mt19937 random{11};
  for (int i = 0; i < 20; ++i) {
    const std::size_t from = whole.find('\n') + 1;
    const std::size_t last = whole.rfind("\nend ");
    std::string changed_text = whole;
    char& digit = changed_text[from + random() % (last - from)];
    digit = digit == '7' ? '8' : '7';
    refused(changed_text, damaged);
  }
  std::ofstream{file, std::ios::binary} << whole;
  for (const char* change : {" --set training.seq_len=2048", " --search pp=any", " --objective memory"}) {
    const Run foreign = run_headroom(search + change, folder);
    CHECK(foreign.code == 2);
    CHECK(foreign.err ==
          "headroom: error: --checkpoint 'c' is of another search (other scenario, axes or objective); name "
          "another file or remove it\n");
    CHECK(read_text(file) == whole);
  }
}
