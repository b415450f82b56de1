// SPDX-License-Identifier: Apache-2.0
// Files of a command: what is read is never written over, what is written is whole, and a file of the user's own is
// read before it is shown.
#include <doctest/doctest.h>

#include "run_headroom.hpp"
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const std::string scenario = R"(schema = 1
kind = "train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 8
[training]
seq_len = 4096
global_batch = 64
precision = "bf16"
[strategy]
tp = 2
micro_batch = 1
recompute = "full"
)";

const std::string fleet = R"(schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 1
[serving]
weights = "bf16"
[strategy]
tp = 1
[traffic]
trace = "requests.csv"
requests = 200
)";

void write(const fs::path& file, const std::string& text) {
  std::ofstream{file, std::ios::binary} << text;
}

/// A command is refused without a look at the model, and every file of the folder is as it was.
void check_refused(const fs::path& folder, const std::string& command, const std::vector<std::string>& named) {
  CAPTURE(command);
  std::vector<std::pair<fs::path, std::string>> before;
  for (const auto& entry : fs::recursive_directory_iterator{folder}) {
    std::error_code loop;
    if (entry.is_regular_file(loop)) {
      before.emplace_back(entry.path(), read_text(entry.path()));
    }
  }
  const Run run = run_headroom(command, folder);
  CHECK(run.code == 2);
  CHECK(run.out.empty());
  for (const std::string& name : named) {
    CHECK_MESSAGE(says(run.err, name), name, " not in ", run.err);
  }
  for (const auto& [file, text] : before) {
    CHECK(read_text(file) == text);
  }
}

}  // namespace

TEST_CASE(
    "a file that a command reads is not written over: by its name, by another spelling, a link or a second name") {
  const ScratchFolder folder;
  write(folder.path() / "own.toml", scenario);
  fs::create_symlink("own.toml", folder.path() / "link.toml");
  fs::create_hard_link(folder.path() / "own.toml", folder.path() / "second.toml");
  fs::create_directory(folder.path() / "sub");
  for (const std::string name : {"own.toml", "./own.toml", "sub/../own.toml", "link.toml", "second.toml"}) {
    check_refused(folder.path(), "plan own.toml -o " + name,
                  {"-o '" + name + "' and 'own.toml' are one file", "is read and would be replaced"});
  }
  check_refused(folder.path(), "plan own.toml --trace own.toml", {"--trace 'own.toml' and 'own.toml' are one file"});
  check_refused(folder.path(), "export own.toml --to slurm -o link.toml", {"-o 'link.toml' and 'own.toml'"});
  check_refused(folder.path(), "scale own.toml -o own.toml", {"-o 'own.toml' and 'own.toml'"});
  check_refused(folder.path(), "compare own.toml second.toml -o link.toml", {"'own.toml'", "'second.toml'"});
  check_refused(folder.path(), "plan own.toml --search zero=any --checkpoint own.toml",
                {"--checkpoint 'own.toml' and 'own.toml' are one file"});
}

TEST_CASE("two outputs are two files") {
  const ScratchFolder folder;
  write(folder.path() / "own.toml", scenario);
  fs::create_symlink("a.json", folder.path() / "dangling");
  for (const std::string other : {"a.json", "./a.json", "dangling"}) {
    check_refused(folder.path(), "plan own.toml -o a.json --trace " + other,
                  {"-o 'a.json'", "--trace '" + other + "'", "are one file, which both would write"});
  }
  check_refused(folder.path(), "plan own.toml --search zero=any --checkpoint a.json -o a.json",
                {"--checkpoint 'a.json'", "-o 'a.json'", "both would write"});
  check_refused(folder.path(), "simulate own.toml --trace x --request-log x", {"--trace 'x' and --request-log 'x'"});
  CHECK_FALSE(fs::exists(folder.path() / "a.json"));
  CHECK(run_headroom("plan own.toml -o /dev/null --trace /dev/null", folder.path()).code == 0);
}

TEST_CASE("files that a scenario names are read too: its base, a recorded trace, a config.json") {
  const ScratchFolder folder;
  write(folder.path() / "base.toml", scenario);
  write(folder.path() / "own.toml", "base = \"base.toml\"\n[strategy]\ntp = 4\n");
  check_refused(folder.path(), "plan own.toml -o base.toml", {"-o 'base.toml' would replace 'base.toml'"});
  write(folder.path() / "requests.csv", "arrival_s,prompt_tokens,output_tokens\n0,100,10\n1,100,10\n2,100,10\n");
  write(folder.path() / "fleet.toml", fleet);
  check_refused(folder.path(), "simulate fleet.toml --request-log requests.csv",
                {"--request-log 'requests.csv' would replace 'requests.csv'", "'traffic.trace'"});
  write(folder.path() / "config.json", "{}");
  check_refused(folder.path(), "catalog import config.json -o ./config.json", {"'./config.json'", "'config.json'"});
  check_refused(folder.path(), "plan own.toml --model config.json -o config.json", {"'config.json'", "'model'"});
  check_refused(folder.path(), "roofline config.json --gpu h100-sxm-80gb -o config.json", {"read as the model"});
}

TEST_CASE("data of a folder that is read are not written over, its other files are") {
  const ScratchFolder folder;
  const std::string rehearsal = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/calibrate/rehearsal.toml";
  REQUIRE(run_headroom("calibrate -o h200 --simulate '" + rehearsal + "' --quick --no-fit --only launch", folder.path())
              .code == 0);
  check_refused(folder.path(), "calibrate --compare h200 h200 -o h200/samples.csv", {});
  check_refused(folder.path(), "fit h200 --base h200-sxm-141gb --html h200/manifest.toml",
                {"--html 'h200/manifest.toml' would replace a file of 'h200'"});
  fs::create_directories(folder.path() / "overlay/gpus");
  write(folder.path() / "overlay/gpus/x.toml", "");
  write(folder.path() / "own.toml", scenario);
  check_refused(folder.path(), "compare own.toml --overlay overlay -o overlay/gpus/x.toml",
                {"would replace a file of --overlay 'overlay'"});
  const std::string beside = "compare own.toml --overlay overlay -o overlay/answer.txt";
  CHECK(run_headroom(beside, folder.path()).code == 0);
  CHECK(run_headroom(beside, folder.path()).code == 0);
}

TEST_CASE("an overlay is written beside the samples that it is fitted to, not among them") {
  const ScratchFolder folder;
  const std::string rehearsal = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/calibrate/rehearsal.toml";
  REQUIRE(run_headroom("calibrate -o s --simulate '" + rehearsal + "' --quick --no-fit --only launch", folder.path())
              .code == 0);
  for (const std::string name : {"s", "./s/", "s/gpus/a.toml", "s/../s/gpus/a.toml"}) {
    check_refused(folder.path(), "fit s --base h200-sxm-141gb -o " + name,
                  {"-o '" + name +
                   "' would write into the folder 's', which is read; name a folder of its own, such "
                   "as 's/overlay'"});
  }
  CHECK_FALSE(fs::exists(folder.path() / "s/gpus"));
  for (const std::string name : {"s/overlay", "s/overlay/gpus/a.toml"}) {
    CHECK_FALSE(says(run_headroom("fit s --base h200-sxm-141gb -o " + name, folder.path()).err, "-o '"));
  }
}

TEST_CASE(
    "data of the user's own are not written over, by any of their names and whether a command reads them or not") {
  const ScratchFolder folder;  // the home that start_headroom() gives
  const fs::path data = folder.path() / ".config/headroom";
  for (const char* kind : {"gpus", "models", "stacks/rough"}) {
    fs::create_directories(data / kind);
  }
  const auto gpu = [](const std::string& id) {
    return "schema = 1\nid = \"" + id + "\"\nbase = \"h100-sxm-80gb\"\nname = \"" + id + "\"\n";
  };
  write(data / "gpus/mine.toml", gpu("mine"));
  write(data / "gpus/mine2.toml", gpu("mine2"));
  write(data / "stacks/rough/other.toml", "kept");
  write(folder.path() / "own.toml", scenario);
  fs::create_symlink(data / "gpus/mine.toml", folder.path() / "link");
  fs::create_hard_link(data / "gpus/mine.toml", folder.path() / "second.txt");
  using Words = std::vector<std::string>;
  const auto run = [&](Words words, const std::string& option, const fs::path& file) {
    words.insert(words.end(), {option, file.string()});
    return ended(start_headroom(words, folder.path()), folder.path());
  };
  const std::string own = (folder.path() / "own.toml").string();
  for (const auto& [words, option, file] : std::vector<std::tuple<Words, std::string, fs::path>>{
           {{"catalog", "diff", "mine", "mine2"}, "-o", data / "gpus/mine.toml"},
           {{"catalog", "show", "mine"}, "-o", data / "gpus/mine.toml"},
           {{"catalog", "diff", "mine", "mine2"}, "-o", folder.path() / "link"},
           {{"catalog", "diff", "mine", "mine2"}, "-o", folder.path() / "second.txt"},
           {{"roofline", "llama3.1-8b", "--gpu", "mine2"}, "-o", data / "gpus/../gpus/mine2.toml"},
           {{"plan", own}, "--trace", data / "gpus/mine.toml"},
           {{"fit", "rows.csv"}, "-o", data / "stacks/rough/other.toml"}}) {
    CAPTURE(words.front());
    const Run refused = run(words, option, file);
    CHECK(refused.code == 2);
    CHECK(refused.out.empty());
    CHECK(says(refused.err, "which is read as data of your own; name another, or move it away first"));
  }
  CHECK(read_text(data / "gpus/mine.toml") == gpu("mine"));
  CHECK(read_text(data / "gpus/mine2.toml") == gpu("mine2"));
  CHECK(read_text(data / "stacks/rough/other.toml") == "kept");
  // What is new, and what is no data, may be written there.
  write(folder.path() / "config.json",
        R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4, "vocab_size": 100})");
  const Words import{"catalog", "import", (folder.path() / "config.json").string()};
  CHECK(run(import, "-o", data / "models/new.toml").code == 0);
  CHECK(run(import, "-o", data / "models/new.toml").code == 2);
  CHECK(run({"plan", own}, "-o", data / "answer.toml").code == 0);
  CHECK(run({"plan", own}, "-o", data / "answer.toml").code == 0);
}

TEST_CASE("through a link the file behind it is written, there or not; links without an end are refused") {
  const ScratchFolder folder;
  write(folder.path() / "own.toml", scenario);
  const std::string plan = "plan own.toml -o ";
  const std::string answer = run_headroom("plan own.toml", folder.path()).out;
  fs::create_symlink("target.txt", folder.path() / "dangling");
  CHECK(run_headroom(plan + "dangling", folder.path()).code == 0);
  CHECK(fs::is_symlink(folder.path() / "dangling"));
  CHECK(read_text(folder.path() / "target.txt") == answer);
  fs::create_symlink("loop-b", folder.path() / "loop-a");
  fs::create_symlink("loop-a", folder.path() / "loop-b");
  check_refused(folder.path(), plan + "loop-a", {"loop-a: error: cannot be written", "leads back to itself"});
  CHECK(fs::is_symlink(folder.path() / "loop-a"));
  fs::create_symlink("nowhere/x.txt", folder.path() / "far");
  check_refused(folder.path(), plan + "far", {"there is no folder 'nowhere'"});
}

TEST_CASE("catalog show reads a file of the user's own as a plan does, and shows a good one as it stands") {
  const ScratchFolder folder;
  const fs::path gpus = folder.path() / "data/gpus";
  fs::create_directories(gpus);
  const auto show = [&](const std::string& text) {
    write(gpus / "mine.toml", text);
    const std::string command = "env -u XDG_CONFIG_HOME HOME=/nonexistent HEADROOM_DATA_DIR='" +
                                (folder.path() / "data").string() + "' '" HEADROOM_BINARY "' catalog show mine >'" +
                                (folder.path() / "out").string() + "' 2>'" + (folder.path() / "err").string() + "'";
    const int status = std::system(command.c_str());
    return Run{WEXITSTATUS(status), read_text(folder.path() / "out"), read_text(folder.path() / "err")};
  };
  const std::string good = "schema = 1\nid = \"mine\"\nbase = \"h100-sxm-80gb\"\nname = \"mine\"\n# a note\n";
  const Run shown = show(good);
  CHECK(shown.code == 0);
  CHECK(says(shown.out, good));
  for (const std::string& bad : {std::string{"schema = 2\nid = \"mine\"\nbase = \"h100-sxm-80gb\"\nname = \"mine\"\n"},
                                 std::string{"schema = 1\nid = \"mine\"\nbase = \"h100-sxm-80gb\"\nname = mine\n"},
                                 std::string{"root:x:0:0:root:/root:/bin/bash\n"}, "# \xff\xfe\n" + good}) {
    CAPTURE(bad);
    const Run refused = show(bad);
    CHECK(refused.code == 2);
    CHECK(refused.out.empty());
    CHECK(says(refused.err, "gpus/mine.toml:"));
  }
}
