// SPDX-License-Identifier: Apache-2.0
// Fitted numbers into a copy of the model's folder: those lines and nothing else.
#include <headroom/calibrate/stacks/step_files.hpp>
#include <headroom/core/config_reader.hpp>

#include <doctest/doctest.h>

#include "../cli/run_headroom.hpp"
#include "../near.hpp"
#include "step_runs.hpp"
#include <algorithm>
#include <map>

using namespace headroom;
namespace fs = std::filesystem;

namespace {

/// The numbers of one software and of the level of a SKU, fitted to runs that another host time made.
const StepFit& fitted() {
  static const std::vector<RunFile> files = [] {
    const StepKnobs knobs = StepKnobs::of(test::step_sources());
    const std::size_t host = test::knob_behind(knobs, {"megatron-core-te", "h100-sxm-80gb", "hopper", false}, "host");
    return test::parsed(test::measured(test::grid("A, \"quoted\" so\\urce"), {{host, 1.37 * knobs.all()[host].value}}));
  }();
  static const StepFit fit = [] {
    const StepKnobs knobs = StepKnobs::of(test::step_sources());
    const StepOwner owner{"megatron-core-te", "h100-sxm-80gb", "hopper", false};
    StepFitOptions options;
    options.stack = knobs.all()[test::knob_behind(knobs, owner, "host")].id;
    options.gpus = {knobs.all()[test::knob_behind(knobs, owner, "products_16_bit")].id};
    options.leave_one_out = false;
    return fit_step(files, test::step_sources(), options);
  }();
  return fit;
}

void copy_stacks(const fs::path& folder) {
  fs::copy(fs::path{HEADROOM_SOURCE_DIR} / "model/stacks", folder / "stacks", fs::copy_options::recursive);
}

std::map<std::string, std::string> texts_of(const fs::path& folder) {
  std::map<std::string, std::string> texts;
  for (const auto& entry : fs::recursive_directory_iterator{folder}) {
    if (entry.is_regular_file()) {
      texts[fs::relative(entry.path(), folder).string()] = test::read_text(entry.path());
    }
  }
  return texts;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::string file_of(const StepKnob& knob) {
  return knob.scope == StepScope::level ? "stacks/step/levels.toml" : "stacks/train/" + knob.id + ".toml";
}

void replace(const fs::path& file, const std::string& from, const std::string& to) {
  std::string text = test::read_text(file);
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  std::ofstream{file, std::ios::binary} << text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the fitted numbers and their tables' sources are replaced, everything else stays byte for byte") {
  const test::ScratchFolder scratch;
  copy_stacks(scratch.path());
  const auto before = texts_of(scratch.path());
  const std::vector<std::string> written = write_step_files(fitted(), scratch.path().string());
  const auto after = texts_of(scratch.path());
  CHECK(written.size() == 2);
  REQUIRE(before.size() == after.size());
  std::vector<std::string> expected;  // "file|line" of what changed
  for (std::size_t i = 0; i < fitted().knobs.size(); ++i) {
    const StepKnob& knob = fitted().knobs[i];
    if (fitted().free[i]) {
      const bool time = is_step_time(knob.key) && knob.scope != StepScope::level;
      const std::string text = step_value_text(knob, fitted().values[i]);
      expected.push_back(file_of(knob) + "|" + knob.key + " = " + (time ? '"' + text + '"' : text));
    }
  }
  for (const auto& [file, text] : after) {
    const std::vector<std::string> old = lines_of(before.at(file));
    const std::vector<std::string> now = lines_of(text);
    REQUIRE_MESSAGE(old.size() == now.size(), file);
    CHECK(text.ends_with('\n') == before.at(file).ends_with('\n'));
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i] != old[i] && !now[i].starts_with("source = \"fitted (headroom fit --stack ")) {
        CHECK_MESSAGE(std::find(expected.begin(), expected.end(), file + "|" + now[i]) != expected.end(), now[i]);
      }
    }
    for (const std::string& line : expected) {
      if (line.starts_with(file + "|")) {
        CHECK_MESSAGE(std::find(now.begin(), now.end(), line.substr(file.size() + 1)) != now.end(), line);
      }
    }
  }
}

TEST_CASE("what was written reads back as the rounded numbers, with the runs in the source") {
  const test::ScratchFolder scratch;
  copy_stacks(scratch.path());
  static_cast<void>(write_step_files(fitted(), scratch.path().string()));
  const StepFit& fit = fitted();
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    if (!fit.free[i]) {
      continue;
    }
    const StepKnob& knob = fit.knobs[i];
    const ConfigSource source = read_file((scratch.path() / file_of(knob)).string());
    const ConfigValue document = parse_toml(source.text, file_of(knob));
    const ConfigValue* table =
        knob.scope == StepScope::level ? document.find("levels")->find(knob.id) : document.find("time");
    REQUIRE(table != nullptr);
    table = knob.scope == StepScope::experts ? table->find("moe") : table;
    REQUIRE(table != nullptr);
    Diagnostics diagnostics;
    ConfigTable read{*table, "", diagnostics};
    const bool time = is_step_time(knob.key) && knob.scope != StepScope::level;
    const double number = time ? read.quantity<Seconds>(knob.key, true).raw() : read.number(knob.key, {0.0, 1e6});
    CAPTURE(knob.name());
    CHECK(diagnostics.empty());
    CHECK(number == test::near(fit.values[i], 0.006));  // three digits
    if (knob.scope == StepScope::experts) {
      continue;  // no run had experts
    }
    const std::string text = table->find("source")->text;
    CHECK(text.find("16 runs of 1 sources: A, 'quoted' so/urce (16)") != std::string::npos);
  }
}

TEST_CASE("a comment behind a number and a last line without its end stay") {
  const test::ScratchFolder scratch;
  copy_stacks(scratch.path());
  const std::size_t host = test::knob_behind(StepKnobs::of(test::step_sources()),
                                             {"megatron-core-te", "h100-sxm-80gb", "hopper", false}, "host");
  const fs::path file = scratch.path() / file_of(fitted().knobs[host]);
  const std::vector<std::string> lines = lines_of(test::read_text(file));
  const auto line = std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("host = "); });
  REQUIRE(line != lines.end());
  replace(file, *line, *line + "  # by hand");
  std::string text = test::read_text(file);
  text.pop_back();
  std::ofstream{file, std::ios::binary} << text;
  static_cast<void>(write_step_files(fitted(), scratch.path().string()));
  const std::string now = test::read_text(file);
  CHECK(now.find("host = \"" + step_value_text(fitted().knobs[host], fitted().values[host]) + "\"  # by hand\n") !=
        std::string::npos);
  CHECK_FALSE(now.ends_with('\n'));
}

TEST_CASE("a missing number, a missing file and a file that would not read back leave every file as it was") {
  const StepKnobs knobs = StepKnobs::of(test::step_sources());
  const std::size_t host = test::knob_behind(knobs, {"megatron-core-te", "h100-sxm-80gb", "hopper", false}, "host");
  const std::string name = file_of(knobs.all()[host]);
  const auto refused = [&](const fs::path& folder, const char* with) {
    const auto before = texts_of(folder);
    CHECK_THROWS_WITH_AS(static_cast<void>(write_step_files(fitted(), folder.string())), doctest::Contains(with),
                         ConfigError);
    CHECK(texts_of(folder) == before);
  };
  const test::ScratchFolder scratch;
  copy_stacks(scratch.path());
  replace(scratch.path() / name, "\nhost = ", "\nhast = ");
  refused(scratch.path(), "holds no 'host' in [time]");
  replace(scratch.path() / name, "\nhast = ", "\nhost = ");
  replace(scratch.path() / name, "[time]", "[time]\n= 7");
  refused(scratch.path(), name.c_str());
  fs::remove(scratch.path() / name);
  refused(scratch.path(), name.c_str());
}
