// SPDX-License-Identifier: Apache-2.0
// The embedded catalog lints clean, and each planted mistake is found by exactly the check it was planted for.
#include <headroom/hardware/lint/lint.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

namespace headroom::embedded {
EmbeddedIndex embedded_catalog() noexcept;
}

using namespace headroom;

namespace {

const std::string planted_folder = std::string{HEADROOM_SOURCE_DIR} + "/tests/hardware/planted";

Catalog with_planted() {
  return Catalog{DataStore{embedded::embedded_catalog(), {planted_folder}}};
}

std::vector<std::filesystem::path> planted_files() {
  std::vector<std::filesystem::path> result;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{planted_folder}) {
    if (entry.path().extension() == ".toml") {
      result.push_back(entry.path());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// What the first line says: "# expects: CHECK".
std::string expected_check(const std::filesystem::path& path) {
  const std::string text = read_file(path.string()).text;
  const std::string prefix = "# expects: ";
  REQUIRE(text.starts_with(prefix));
  return text.substr(prefix.size(), text.find('\n') - prefix.size());
}

std::set<std::string> failures_of(const std::vector<LintFinding>& findings, const std::string& file) {
  std::set<std::string> checks;
  for (const LintFinding& finding : findings) {
    if (finding.excused.empty() && finding.place.file == file) {
      checks.insert(finding.check);
    }
  }
  return checks;
}

std::vector<std::string> check_names() {
  std::vector<std::string> names;
  for (const LintCheck& check : lint_checks()) {
    names.emplace_back(check.name);
  }
  return names;
}

/// A device that breaks nothing, to break one thing at a time.
Device sound() {
  Device d;
  d.id = "sound";
  d.file = "gpus/sound.toml";
  d.generation = "hopper";
  const auto give = [](auto& place, auto value) {
    place.emplace();
    place->value = value;
    place->source = "test";
    place->file = "gpus/sound.toml";
  };
  give(d.compute.units, std::int64_t{132});
  give(d.compute.clock, Hertz{1.83e9});
  give(d.compute.dense_flop_per_clock_per_unit, std::int64_t{4096});
  give(d.peak[static_cast<std::size_t>(Rate::bf16)], FlopsPerSecond{989e12});
  give(d.sparse[static_cast<std::size_t>(Rate::bf16)], FlopsPerSecond{1979e12});
  give(d.memory.marketed, Bytes{80e9});
  give(d.memory.usable, Bytes{85.5e9});
  give(d.memory.bandwidth, BytesPerSecond{3.35e12});
  give(d.power.tdp, Watts{700.0});
  return d;
}

}  // namespace

TEST_CASE("every entry of the embedded catalog lints clean or says why not") {
  const Catalog catalog{DataStore{embedded::embedded_catalog(), {}}};
  REQUIRE(catalog.store().ids("gpus").size() > 30);
  for (const LintFinding& finding : lint_catalog(catalog)) {
    INFO(finding.check, ": ", finding.place.text());
    CHECK_FALSE(finding.excused.empty());
  }
}

TEST_CASE("each planted mistake is found by the check it was planted for, and by no other") {
  const std::vector<LintFinding> findings = lint_catalog(with_planted());
  const std::vector<std::filesystem::path> files = planted_files();
  REQUIRE(files.size() >= 14);
  for (const std::filesystem::path& path : files) {
    CAPTURE(path.string());
    CHECK(failures_of(findings, path.string()) == std::set<std::string>{expected_check(path)});
  }
}

TEST_CASE("planted mistakes are blamed on their own files alone") {
  for (const LintFinding& finding : lint_catalog(with_planted())) {
    if (finding.excused.empty()) {
      INFO(finding.check, ": ", finding.place.text());
      CHECK(finding.place.file.starts_with(planted_folder));
    }
  }
}

TEST_CASE("every check has a planted mistake, and every planted mistake names a check") {
  std::set<std::string> planted;
  for (const std::filesystem::path& path : planted_files()) {
    planted.insert(expected_check(path));
  }
  const std::vector<std::string> names = check_names();
  CHECK(planted == std::set<std::string>{names.begin(), names.end()});
}

TEST_CASE("a finding says what the numbers are and what the slip may have been") {
  const std::vector<LintFinding> findings = lint_catalog(with_planted());
  const auto message = [&](const std::string& id) {
    for (const LintFinding& finding : findings) {
      if (std::filesystem::path{finding.place.file}.stem() == id) {
        return finding.place.message;
      }
    }
    return std::string{};
  };
  CHECK(message("both-directions") ==
        "per_gpu is 900 GB/s, 2.00 x the 450 GB/s of links x link_rate: both directions were counted, or two GPUs?");
  CHECK(message("gigabits-on-a-link") ==
        "link_rate is 3.12 GB/s, 0.125 x the 25.0 GB/s of one NVLink4 in one direction: Gb/s was written where GB/s is "
        "meant?");
  CHECK(message("sparse-as-dense") == "bf16 peak 242 TFLOP/s is the figure with sparsity; dense is half of it");
  CHECK(message("unknown-gpu") == "GPU 'h100-sxm-81gb' is not in the catalog; did you mean 'h100-sxm-80gb'?");
}

TEST_CASE("a sound device has no findings, and one that breaks a check has that finding") {
  CHECK(lint_device(sound()).empty());
  Device device = sound();
  device.memory.bandwidth->value = BytesPerSecond{0.0};
  device.power.tdp->source.clear();
  const std::vector<LintFinding> findings = lint_device(device);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].check == "sourced");
  CHECK(findings[1].check == "positive");
}

TEST_CASE("tolerances are those that the rules state") {
  const auto checks = [](const Device& device) {
    std::set<std::string> result;
    for (const LintFinding& finding : lint_device(device)) {
      result.insert(finding.check);
    }
    return result;
  };
  const double product = 132 * 1.83e9 * 4096;
  Device device = sound();
  device.sparse = {};
  auto& bf16 = device.peak[static_cast<std::size_t>(Rate::bf16)]->value;
  bf16 = FlopsPerSecond{product * 1.019};
  CHECK(checks(device).empty());
  bf16 = FlopsPerSecond{product * 0.979};
  CHECK(checks(device) == std::set<std::string>{"peak-matches-clock"});
  device = sound();
  device.memory.usable->value = Bytes{80 * 1073741824.0};  // "80 GB" that means GiB: the most there can be
  CHECK(checks(device).empty());
  device.memory.usable->value = Bytes{80e9 * 1.08};
  CHECK(checks(device) == std::set<std::string>{"marketed-matches-usable"});
  device.memory.usable->value = Bytes{80e9 * 0.89};
  CHECK(checks(device) == std::set<std::string>{"marketed-matches-usable"});
}

TEST_CASE("an exception excuses the findings of its check with its reason, and must be needed") {
  Device device = sound();
  device.compute.units->value = 144;
  device.lint_exceptions.push_back({"peak-matches-clock", "tensor peak at another clock", {}});
  const std::vector<LintFinding> excused = lint_device(device);
  REQUIRE(excused.size() == 1);
  CHECK(excused[0].excused == "tensor peak at another clock");

  device = sound();
  device.lint_exceptions.push_back({"peak-matches-clok", "why not", {3, 1}});
  const std::vector<LintFinding> unused = lint_device(device);
  REQUIRE(unused.size() == 1);
  CHECK(unused[0].check == "exception-unused");
  CHECK(unused[0].excused.empty());
  CHECK(unused[0].place.text() ==
        "gpus/sound.toml:3:1: error: 'peak-matches-clok' is no check; did you mean 'peak-matches-clock'?");
}

TEST_CASE("check names are unique, and each has a rule to print") {
  const std::vector<std::string> names = check_names();
  CHECK(std::set<std::string>{names.begin(), names.end()}.size() == names.size());
  for (const LintCheck& check : lint_checks()) {
    CHECK_FALSE(check.rule.empty());
  }
}
