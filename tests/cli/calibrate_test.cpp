// SPDX-License-Identifier: Apache-2.0
// `headroom calibrate`, `fit --base` and `compare --overlay` as a user meets them, on devices that do not exist.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "../support/says.hpp"
#include "run_headroom.hpp"
#include <csignal>
#include <random>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

namespace fs = std::filesystem;

const std::string device = R"(schema = 1
kind = "simulated-device"
gpu = "h200-sxm-141gb"
seed = 5
pace = "PACE"
driver = "DRIVER"
[gemm]
compute = SHARE
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
[noise]
spread = 0.01
outliers = 0.05
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

/// Writes a simulated device into the folder and returns its name.
std::string write_device(const fs::path& folder,
                         const std::string& name,
                         const std::string& more = "",
                         const std::string& share = "0.80",
                         const std::string& driver = "580.82.07",
                         const std::string& pace = "1 ns") {
  std::ofstream{folder / name} << replaced(replaced(replaced(device, "SHARE", share), "DRIVER", driver), "PACE", pace)
                               << more;
  return name;
}

/// The verb with the library of tests/calibrate/fake_probes.cpp, its driver's side and one of its faults.
Run on_fake(const ScratchFolder& folder, const std::string& arguments, const char* fault) {
  setenv("HEADROOM_PROBES_LIBRARY", HEADROOM_FAKE_PROBES, 1);
  setenv("HEADROOM_NVML_LIBRARY", HEADROOM_FAKE_PROBES, 1);
  setenv("FAKE_PROBES", fault, 1);
  const Run run = run_headroom("calibrate " + arguments, folder.path());
  unsetenv("FAKE_PROBES");
  unsetenv("HEADROOM_NVML_LIBRARY");
  unsetenv("HEADROOM_PROBES_LIBRARY");
  return run;
}

/// Starts the binary in `folder`, kills it after `lives` and tells whether it was still alive; one that was not must
/// have come to a good end: what it says of a bad one is shown.
bool killed_after(const fs::path& folder, const std::vector<std::string>& words, std::chrono::microseconds lives) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    const int said = open((folder / "said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(null, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    std::vector<char*> arguments{const_cast<char*>(HEADROOM_BINARY)};
    for (const std::string& word : words) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    if (chdir(folder.c_str()) == 0) {
      execv(HEADROOM_BINARY, arguments.data());
    }
    _exit(127);
  }
  usleep(static_cast<useconds_t>(lives.count()));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) {
    CAPTURE(read_text(folder / "said"));
    REQUIRE(WEXITSTATUS(status) == 0);
  }
  return WIFSIGNALED(status);
}

}  // namespace

TEST_CASE("a rehearsal goes all the way: probes, fit, overlay, and a plan that the overlay changes") {
  const ScratchFolder folder;
  const std::string file = write_device(folder.path(), "device.toml");
  const Run run =
      run_headroom("calibrate -o h200 --simulate device.toml --dtype bf16 --only gemm --only copy", folder.path());
  CHECK(run.code == 0);
  CHECK(says(run.out, "overlay h200-sxm-141gb over h200-sxm-141gb"));
  CHECK(says(run.out, "10 % under"));  // 0.90 of the datasheet's bandwidth
  CHECK(says(run.out, "gemm cublaslt bf16"));
  for (const char* name : {"samples.csv", "timings.csv", "gemm.csv", "copy.csv", "manifest.toml",
                           "overlay/gpus/h200-sxm-141gb.toml", "overlay/curves/h200-sxm-141gb.toml"}) {
    CAPTURE(name);
    CHECK(fs::exists(folder.path() / "h200" / name));
  }
  const Run compared =
      run_headroom("compare '" HEADROOM_SOURCE_DIR "/scenarios/train/llama3-70b-256xh200.toml' --overlay h200/overlay",
                   folder.path());
  CHECK(compared.code == 0);
  CHECK(says(compared.out, "numbers change"));
  CHECK(says(compared.out, "step_time_s.mid"));
  // The same through fit alone, from the files that the calibration left.
  const Run fitted = run_headroom("fit h200 --base h200-sxm-141gb -o again", folder.path());
  CHECK(fitted.code == 0);
  CHECK(read_text(folder.path() / "again/curves/h200-sxm-141gb.toml") ==
        read_text(folder.path() / "h200/overlay/curves/h200-sxm-141gb.toml"));
  const Run named =
      run_headroom("fit h200 --base h200-sxm-141gb -o data/gpus/h200-rack-7.toml --format json", folder.path());
  CHECK(named.code == 0);
  CHECK(fs::exists(folder.path() / "data/curves/h200-rack-7.toml"));
  CHECK(parse_json(named.out, "fit.json").find("id")->text == "h200-rack-7");
  // A second time without --resume it is refused; with another driver too.
  const Run again = run_headroom("calibrate -o h200 --simulate device.toml", folder.path());
  CHECK(again.code == 2);
  CHECK(says(again.err, "go on with --resume"));
  write_device(folder.path(), "other.toml", "", "0.80", "570.86.15");
  const Run other = run_headroom("calibrate -o h200 --resume --simulate other.toml", folder.path());
  CHECK(other.code == 2);
  CHECK(says(other.err, "begun under other conditions: driver 580.82.07 and 570.86.15"));
  CHECK(says(run_headroom("calibrate -o h200 --resume --simulate device.toml --only launch", folder.path()).out,
             "launch, stream"));
}

TEST_CASE("killed at random moments and resumed: the same overlay to the byte") {
  const ScratchFolder folder;
  write_device(folder.path(), "device.toml", "[drift]\nshare = 0.01\ntime = \"5 s\"\n", "0.80", "580.82.07", "10 ms");
  const std::vector<std::string> words{"calibrate", "--simulate", "device.toml", "--dtype", "bf16",
                                       "--only",    "gemm",       "--only",      "copy",    "-o"};
  std::string line;
  for (const std::string& word : words) {
    line += word + " ";
  }
  CHECK(run_headroom(line + "whole", folder.path()).code == 0);
  std::vector<std::string> parts = words;
  parts.insert(parts.end(), {"parts", "--resume"});
  const auto check_same = [&] {
    for (const char* name : {"gpus/h200-sxm-141gb.toml", "curves/h200-sxm-141gb.toml"}) {
      const std::string whole = read_text(folder.path() / "whole/overlay" / name);
      CHECK_FALSE(whole.empty());
      CHECK(read_text(folder.path() / "parts/overlay" / name) == whole);
    }
  };
  std::mt19937 random{20};  // NOLINT(cert-msc51-cpp): the same moments every time, as far as a clock allows
  std::uniform_int_distribution<int> moment{5'000, 60'000};
  const int kills = asked_kills(8);
  for (int killed = 0; killed < kills;) {
    if (killed_after(folder.path(), parts, std::chrono::microseconds{moment(random)})) {
      ++killed;
    } else {  // it came to its end between two kills: from the beginning
      REQUIRE(fs::exists(folder.path() / "parts/overlay"));
      check_same();
      fs::remove_all(folder.path() / "parts");
    }
  }
  const Run last = run_headroom(line + "parts --resume", folder.path());
  CAPTURE(last.err);
  CHECK(last.code == 0);
  check_same();
}

TEST_CASE("a beginning that was killed before it had its manifest is begun anew, a stranger's folder is not") {
  const ScratchFolder folder;
  write_device(folder.path(), "device.toml");
  fs::create_directory(folder.path() / "killed");
  std::ofstream{folder.path() / "killed/manifest.toml.3735928559.part"} << "schema = 1\n";
  const std::string rest = " --resume --simulate device.toml --only launch --no-fit";
  CHECK(run_headroom("calibrate -o killed" + rest, folder.path()).code == 0);
  CHECK_FALSE(fs::exists(folder.path() / "killed/manifest.toml.3735928559.part"));
  fs::create_directory(folder.path() / "strange");
  std::ofstream{folder.path() / "strange/notes.txt"} << "mine\n";
  const Run strange = run_headroom("calibrate -o strange" + rest, folder.path());
  CHECK(strange.code == 2);
  CHECK(says(strange.err, "'strange' holds something else than samples"));
}

TEST_CASE("a lost device ends with exit code 3, keeps its samples, and a resumption goes on") {
  const ScratchFolder folder;
  write_device(folder.path(), "sick.toml", "[faults]\nlost_after = 30\n");
  write_device(folder.path(), "well.toml");
  const Run lost = run_headroom("calibrate -o h200 --simulate sick.toml --dtype bf16 --only gemm", folder.path());
  CHECK(lost.code == 3);
  CHECK(lost.out.empty());
  CHECK(says(lost.err, "Xid 79"));
  CHECK(says(lost.err, "30 samples are kept in h200; go on with 'headroom calibrate -o h200 --resume'"));
  CHECK(says(read_text(folder.path() / "h200/manifest.toml"), "complete = false"));
  const Run resumed =
      run_headroom("calibrate -o h200 --resume --simulate well.toml --dtype bf16 --only gemm", folder.path());
  CHECK(resumed.code == 0);
  CHECK(says(read_text(folder.path() / "h200/manifest.toml"), "complete = true"));
}

TEST_CASE("a hang is left behind, and a spent budget tells the rules that were not met") {
  const ScratchFolder folder;
  write_device(folder.path(), "hangs.toml", "[faults]\nhangs_at = \"triad 4096 B\"\n");
  const Run hang = run_headroom("calibrate -o a --simulate hangs.toml --only copy --patience '0.2 s'", folder.path());
  CHECK(hang.code == 3);
  CHECK(says(hang.err, "triad 4096 B: hangs: no answer within 200 ms"));
  write_device(folder.path(), "device.toml");
  const Run budget = run_headroom("calibrate -o b --simulate device.toml --only copy --budget '1 s'", folder.path());
  CHECK(budget.code == 0);
  CHECK(says(budget.out, "ended early: the budget of 1.00 s is spent"));
  CHECK(says(budget.out, "not within the rule:"));
  CHECK(says(read_text(folder.path() / "b/manifest.toml"), "triad 4294967296 B: not measured"));
}

TEST_CASE("the gate: two days of one device pass, a slower device fails with exit code 1") {
  const ScratchFolder folder;
  write_device(folder.path(), "device.toml");
  write_device(folder.path(), "slower.toml", "", "0.70");
  const std::string rest = " --dtype bf16 --only gemm --no-fit";
  CHECK(run_headroom("calibrate -o monday --simulate device.toml" + rest, folder.path()).code == 0);
  CHECK(run_headroom("calibrate -o friday --simulate device.toml" + rest, folder.path()).code == 0);
  CHECK(run_headroom("calibrate -o sick --simulate slower.toml" + rest, folder.path()).code == 0);
  const Run same = run_headroom("calibrate --compare monday friday", folder.path());
  CHECK(same.code == 0);
  CHECK(says(same.out, "friday is not slower than monday"));
  CHECK(says(same.out, "measured under the same conditions"));
  const Run slower = run_headroom("calibrate --compare monday sick", folder.path());
  CHECK(slower.code == 1);
  CHECK(says(slower.out, "sick is slower than monday"));
  const Run json = run_headroom("calibrate --compare monday sick --format json", folder.path());
  CHECK(parse_json(json.out, "gate.json").find("verdict")->text == "slower");
  CHECK(run_headroom("calibrate --compare monday sick --threshold '50 %'", folder.path()).code == 0);
}

TEST_CASE("no library, no device, an old driver, a busy GPU, MIG: exit code 3, one message, nothing written") {
  const ScratchFolder folder;
  const struct {
    const char *fault, *message;
  } cases[] = {
      {"none", "no CUDA device: no CUDA-capable device is detected"},
      {"driver", "the driver knows CUDA 11.4, the probes were built with CUDA 13.0; update the driver"},
      {"busy", "NVIDIA H200 is in use by /usr/bin/python3 (4711, 12.0 GiB); wait for it"},
      {"mig", "NVIDIA H200 is cut into MIG slices"},
  };
  for (const auto& [fault, message] : cases) {
    CAPTURE(fault);
    const Run run = on_fake(folder, "-o x", fault);
    CHECK(run.code == 3);
    CHECK(run.out.empty());
    CHECK(says(run.err, message));
    CHECK_FALSE(fs::exists(folder.path() / "x"));
  }
  setenv("HEADROOM_PROBES_LIBRARY", "/nowhere/libheadroom_probes.so", 1);
  const Run missing = run_headroom("calibrate", folder.path());
  unsetenv("HEADROOM_PROBES_LIBRARY");
  CHECK(missing.code == 3);
  CHECK(says(missing.err, "the probe library cannot be opened"));
}

TEST_CASE("through the library's border: calibrated, told apart by board, shared only when told") {
  const ScratchFolder folder;
  const Run run = on_fake(folder, "-o x --only gemm --dtype bf16", "");
  CHECK(run.code == 0);
  const std::string manifest = read_text(folder.path() / "x/manifest.toml");
  CHECK(says(manifest, "board = \"692-2G520-0200-000\""));
  CHECK(says(manifest, "mark = \""));
  CHECK_FALSE(says(manifest, "GPU-0000"));
  // The times of that library have no memory in them, which a fit does not believe; the samples stay.
  CHECK(says(run.out, "no overlay: x: bf16 m 1"));
  CHECK(says(run.out, "its timer did not wait"));
  CHECK(fs::exists(folder.path() / "x/gemm.csv"));
  CHECK(on_fake(folder, "-o y --only launch --share", "busy").code == 0);
  const Run lost = on_fake(folder, "-o z --only launch", "lost");
  CHECK(lost.code == 3);
  CHECK(says(lost.err, "3 samples are kept in z"));
}
