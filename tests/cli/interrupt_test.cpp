// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, the end of a batch job, and two searches that want one checkpoint: what is said, and the exit code that a
// script sees.
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/ledger.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "run_headroom.hpp"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace headroom;
using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

using Texts = std::vector<std::string>;

void wait_until(const std::function<bool()>& there) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (!there()) {
    REQUIRE(std::chrono::steady_clock::now() < until);
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
}

/// Whether the program runs, not the test that forked it, and has a handler for the signal: proc(5), SigCgt.
bool catches(pid_t process, int signal) {
  const std::string at_work = "/proc/" + std::to_string(process);
  std::error_code unseen;
  if (fs::read_symlink(at_work + "/exe", unseen) != fs::canonical(HEADROOM_BINARY)) {
    return false;
  }
  const std::string status = read_text(at_work + "/status");
  const std::size_t at = status.find("SigCgt:");
  return at != std::string::npos && ((std::stoull(status.substr(at + 7), nullptr, 16) >> (signal - 1)) & 1U) != 0;
}

Texts search(const std::string& checkpoint = "") {
  Texts words{"plan",     "--model",           "llama3-70b", "--gpu", "h100-sxm-80gb", "--seq-len", "8192",
              "--search", "gpus=256..2048 x2", "--search",   "any",   "--threads",     "1",         "--global-batch",
              "512"};
  if (!checkpoint.empty()) {
    words.insert(words.end(), {"--checkpoint", checkpoint});
  }
  return words;
}

SearchQuestion small_search() {
  static const Sources sources = Sources::standard();
  return read_search(scenario_tree(Texts{"schema=1", "kind=train", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb",
                                         "hardware.gpus=8", "training.seq_len=4096", "training.global_batch=64",
                                         "training.precision=bf16", "search.strategy=any"}),
                     "test", sources);
}

}  // namespace

TEST_CASE(
    "a search that is interrupted before its first round answers with plain layouts and says that it is partial") {
  const SearchQuestion question = small_search();
  const std::atomic<bool> at_once{true};
  SearchOptions options;
  options.stop = &at_once;
  const SearchPlan answer = explain_search(question, run_search(question, options));
  REQUIRE(answer.plan);
  CHECK(answer.plan->feasible());
  const std::string text = search_text(answer, "test");
  CHECK(text.starts_with("PARTIAL: interrupted"));
  CHECK(answer.result.counts.priced > 0);
  // No better than what the whole search takes.
  const SearchPlan whole = explain_search(question, run_search(question, {}));
  CHECK(whole.recommended.candidate.goal <= answer.recommended.candidate.goal);
  CHECK_FALSE(says(text, "divide"));
  CHECK(answer.emptied.empty());
  CHECK(says(json_text(search_document(answer)), "\"complete\": false"));
}

TEST_CASE("an interrupted search ends with 128 and the signal, whatever it found") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const ScratchFolder folder;
    const std::string checkpoint = (folder.path() / "c").string();
    const pid_t child = start_headroom(search(checkpoint), folder.path());
    wait_until([&] { return fs::exists(checkpoint); });
    kill(child, signal);
    const Run run = ended(child, folder.path());
    CHECK(run.code == 128 + signal);
    CHECK(run.out.starts_with("PARTIAL: interrupted"));
    CHECK_FALSE(says(run.out, "do not divide the GPUs"));
    CHECK_FALSE(fs::exists(checkpoint + ".lock"));
  }
}

TEST_CASE("an answer within a time is what was found until then, with 124, and whole where it needs less") {
  const ScratchFolder folder;
  Texts words = search();
  words[8] = "gpus=256..4096 x2";
  words.insert(words.end(), {"--within", "100 ms"});
  const Run found = ended(start_headroom(words, folder.path()), folder.path());
  CHECK(found.code == 124);
  CHECK(found.out.starts_with("PARTIAL: the time ran out"));
  const std::string fleet = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/serve/llama3-70b-fleet.toml";
  const Texts sized{"plan",      "--model",  "llama3-8b",    "--gpu",    "h100-sxm-80gb",
                    "--isl",     "1000",     "--osl",        "200",      "--rate",
                    "40",        "--search", "tp=[1, 2, 4]", "--search", "weights=[\"bf16\", \"fp8\"]",
                    "--threads", "1",        "--format"};
  for (const std::string format : {"text", "json"}) {
    Texts quick = sized;
    quick.insert(quick.end(), {format, "--within", "1 ms"});
    const Run partial = ended(start_headroom(quick, folder.path()), folder.path());
    CAPTURE(partial.err);
    CHECK(partial.code == 124);
    CHECK((format == "text" ? partial.out.starts_with("PARTIAL: the time ran out")
                            : says(partial.out, "\"complete\": false")));
  }
  const Run whole = ended(start_headroom({"plan", fleet, "--within", "1 h"}, folder.path()), folder.path());
  CHECK(whole.code == 0);
  CHECK_FALSE(says(whole.out, "PARTIAL"));
  const Run refused = ended(start_headroom({"plan", fleet, "--within", "2"}, folder.path()), folder.path());
  CHECK(refused.code == 2);
  CHECK(says(refused.err, "--within '2' needs a unit"));
}

TEST_CASE("a plan whose layout is open and a curve answer within a time like a search: what was found, and 124") {
  const ScratchFolder folder;
  const Texts layout{"plan",      "--model", "deepseek-v3", "--gpu",  "h800-sxm-80gb",  "--gpus", "2048",
                     "--seq-len", "4096",    "--within",    "100 ms", "--global-batch", "15360",  "--format"};
  const Texts curve{"plan",
                    "--model",
                    "llama3-70b",
                    "--gpu",
                    "h100-sxm-80gb",
                    "--gpus",
                    "8",
                    "--isl",
                    "1024",
                    "--osl",
                    "256",
                    "--concurrency",
                    "1..1024",
                    "--within",
                    "1 ms",
                    "--search",
                    "max_num_seqs=1..8",
                    "--threads",
                    "1",
                    "--format"};
  for (const Texts& words : {layout, curve}) {
    for (const std::string format : {"text", "json"}) {
      Texts asked = words;
      asked.insert(std::find(asked.begin(), asked.end(), "--format") + 1, format);
      const Run partial = ended(start_headroom(asked, folder.path()), folder.path());
      CAPTURE(partial.err);
      CAPTURE(format);
      CHECK(partial.code == 124);
      CHECK((format == "text" ? partial.out.starts_with("PARTIAL: the time ran out")
                              : says(partial.out, "\"complete\": false")));
      CHECK((words != layout || format == "text" ||
             says(partial.out, "layouts were tried until the search was stopped")));
    }
  }
}

TEST_CASE("an interrupt that a search was started to ignore is ignored, the other one ends it") {
  for (const auto& [ignored, other] : {std::pair{SIGINT, SIGTERM}, {SIGTERM, SIGINT}}) {
    const ScratchFolder folder;
    const std::string checkpoint = (folder.path() / "c").string();
    const pid_t child = start_headroom(search(checkpoint), folder.path(), ignored);
    wait_until([&] { return fs::exists(checkpoint); });
    CHECK_FALSE(catches(child, ignored));
    CHECK(catches(child, other));
    kill(child, ignored);
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    CHECK(catches(child, other));  // it goes on
    kill(child, other);
    const Run run = ended(child, folder.path());
    CHECK(run.code == 128 + other);
    CHECK(run.out.starts_with("PARTIAL: interrupted"));
  }
}

TEST_CASE("what needs the plan of a search that was interrupted has no answer, and 130") {
  const ScratchFolder folder;
  std::ofstream{folder.path() / "s.toml"} << "schema = 1\nkind = \"train\"\nmodel = \"llama3-70b\"\n[hardware]\ngpu = "
                                             "\"h100-sxm-80gb\"\n[training]\nseq_len = 8192\nglobal_batch = 512\n"
                                             "precision = \"bf16\"\n[search]\ngpus = \"256..2048 x2\"\nstrategy = "
                                             "\"any\"\n";
  const std::string file = (folder.path() / "s.toml").string();
  for (const Texts& words : {Texts{"export", file, "--to", "slurm"}, Texts{"compare", file, file}}) {
    CAPTURE(words.front());
    const pid_t child = start_headroom(words, folder.path());
    wait_until([&] { return catches(child, SIGINT); });
    kill(child, SIGINT);
    const Run run = ended(child, folder.path());
    CHECK(run.code == 130);
    CHECK(run.out.empty());
    CHECK(says(run.err, "interrupted before"));
  }
}

TEST_CASE("a fleet's plan that is interrupted has no answer and says so") {
  const ScratchFolder folder;
  const std::string fleet = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/serve/llama3-70b-fleet.toml";
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t child = start_headroom({"plan", fleet, "-o", (folder.path() / "answer.txt").string()}, folder.path());
    wait_until([&] { return catches(child, signal); });
    kill(child, signal);
    const Run run = ended(child, folder.path());
    CHECK(run.code == 128 + signal);
    CHECK(run.out.empty());
    CHECK(run.err == "headroom: interrupted before there was an answer\n");
    CHECK_FALSE(fs::exists(folder.path() / "answer.txt"));
  }
}

TEST_CASE("an interrupted command that was asked for JSON says on stdout that there is no answer") {
  const ScratchFolder folder;
  const std::string fleet = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/serve/llama3-70b-fleet.toml";
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t child = start_headroom({"plan", fleet, "--format", "json"}, folder.path());
    wait_until([&] { return catches(child, signal); });
    kill(child, signal);
    const Run run = ended(child, folder.path());
    CHECK(run.code == 128 + signal);
    CHECK(run.err == "headroom: interrupted before there was an answer\n");
    CHECK(says(run.out, "\"schema\": \"headroom.error/1\""));
    CHECK(says(run.out, "\"exit_code\": " + std::to_string(128 + signal)));
    CHECK(says(run.out, "\"code\": \"interrupted\""));
  }
}

TEST_CASE("an interrupted calibration keeps its samples, ends with 130, and goes on") {
  const ScratchFolder folder;
  const std::string device = read_text(fs::path{HEADROOM_SOURCE_DIR} / "scenarios/calibrate/rehearsal.toml");
  std::ofstream{folder.path() / "device.toml"} << "pace = \"20 ms\"\n" << device;
  const Texts words{"calibrate",
                    "-o",
                    (folder.path() / "h200").string(),
                    "--simulate",
                    (folder.path() / "device.toml").string(),
                    "--quick",
                    "--only",
                    "launch",
                    "--resume"};
  const pid_t child = start_headroom(words, folder.path());
  wait_until([&] {  // a measurement stands below the header: it is measuring
    const std::string samples = read_text(folder.path() / "h200/samples.csv");
    return std::count(samples.begin(), samples.end(), '\n') > 1;
  });
  kill(child, SIGINT);
  const Run run = ended(child, folder.path());
  CHECK(run.code == 130);
  CHECK(says(run.out, "it was interrupted"));
  CHECK(says(run.out, "go on with 'headroom calibrate"));
  CHECK(says(read_text(folder.path() / "h200/manifest.toml"), "complete = false"));
  CHECK(ended(start_headroom(words, folder.path()), folder.path()).code == 0);
}

TEST_CASE("a checkpoint is one search's at a time, a killed search leaves it free") {
  const ScratchFolder first;
  const ScratchFolder second;
  const std::string checkpoint = (first.path() / "c").string();
  const pid_t owner = start_headroom(search(checkpoint), first.path());
  wait_until([&] { return fs::exists(checkpoint); });
  fs::create_symlink(checkpoint, second.path() / "link");
  for (const std::string& name : {checkpoint, (second.path() / "link").string()}) {
    const Run refused = ended(start_headroom(search(name), second.path()), second.path());
    CHECK(refused.code == 2);
    CHECK(refused.out.empty());
    CHECK(
        says(refused.err, "--checkpoint '" + name + "' is in use by another search (process " + std::to_string(owner)));
    CHECK(says(refused.err, "wait for it, or name another file"));
  }
  kill(owner, SIGKILL);
  CHECK(ended(owner, first.path()).code == -1);
  const pid_t next = start_headroom(search(checkpoint), first.path());
  wait_until([&] {
    return says(read_text(checkpoint + ".lock"), "process " + std::to_string(next)) && catches(next, SIGINT);
  });
  kill(next, SIGINT);
  CHECK(ended(next, first.path()).code == 130);
  CHECK_FALSE(fs::exists(checkpoint + ".lock"));
}

TEST_CASE("a checkpoint that cannot be written any more costs no answer") {
  const SearchQuestion question = small_search();
  const SearchSetting setting = setting_of(question, true, 1);
  const ScratchFolder folder;
  fs::create_directory(folder.path() / "disk");
  SearchLedger ledger{setting, (folder.path() / "disk/c").string()};
  CHECK(ledger.unsaved().empty());
  fs::remove_all(folder.path() / "disk");
  ledger.save();
  CHECK(says(ledger.unsaved(), "cannot be written: No such file or directory"));
  fs::create_directory(folder.path() / "disk");
  ledger.save();
  CHECK(ledger.unsaved().empty());
  CHECK_THROWS_AS((SearchLedger{setting, (folder.path() / "nowhere/c").string()}), ConfigError);
}

TEST_CASE("locks of a checkpoint: one at a time, and nothing is left behind") {
  const ScratchFolder folder;
  const std::string checkpoint = (folder.path() / "c").string();
  std::ofstream{checkpoint + ".lock"} << "process 1 on a machine that died";
  {
    const CheckpointLock one{checkpoint};
    CHECK_THROWS_WITH_AS((CheckpointLock{checkpoint}), doctest::Contains("is in use by another search"), ConfigError);
    CHECK(says(read_text(checkpoint + ".lock"), "process " + std::to_string(getpid())));
  }
  CHECK(fs::is_empty(folder.path()));
  const CheckpointLock again{checkpoint};
}
