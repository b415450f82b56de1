// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/step_files.hpp>
#include <headroom/calibrate/stacks/toml_lines.hpp>
#include <headroom/core/config_reader.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr int step_digits = 3;

std::string file_of(const StepKnob& knob) {
  switch (knob.scope) {
    case StepScope::physics: return "stacks/step/physics.toml";
    case StepScope::level: return "stacks/step/levels.toml";
    case StepScope::stack:
    case StepScope::experts: return "stacks/train/" + knob.id + ".toml";
  }
  return {};
}

/// Possible headers of the table with the number, with bare and with quoted keys.
std::vector<std::string> headers_of(const StepKnob& knob) {
  switch (knob.scope) {
    case StepScope::physics: return {""};
    case StepScope::level: return {"[levels." + knob.id + "]", "[levels.\"" + knob.id + "\"]"};
    case StepScope::stack: return {"[time]"};
    case StepScope::experts: return {"[time.moe]"};
  }
  return {};
}

/// Source text for a table: the families whose rows determine the number.
std::string provenance(const StepFit& fit, const std::set<std::size_t>& runs) {
  std::map<std::string, std::size_t> sources;
  for (const std::size_t run : runs) {
    ++sources[fit.runs[run].row->source];
  }
  return "fitted" + std::string{fit.stack == "all" ? " with all other numbers" : ""} + " (headroom fit --stack " +
         fit.stack + ") on " + std::to_string(runs.size()) + " runs of " + sources_text(sources, 4);
}

}  // namespace

std::string step_value_text(const StepKnob& knob, double value) {
  if (!is_step_time(knob.key) || knob.scope == StepScope::level) {
    return format_number(value, step_digits);
  }
  return value >= 1e-3 ? format_number(1e3 * value, step_digits) + " ms"
                       : format_number(1e6 * value, step_digits) + " us";
}

std::vector<std::string> write_step_files(const StepFit& fit, const std::string& folder) {
  TomlFiles files;
  std::map<std::pair<std::string, std::vector<std::string>>, std::set<std::size_t>> behind;
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    if (!fit.free[i]) {
      continue;
    }
    const StepKnob& knob = fit.knobs[i];
    const std::string path = (fs::path{folder} / file_of(knob)).string();
    TomlLines& lines = lines_of(files, path);
    const auto line = lines.find(headers_of(knob), knob.key);
    if (line == lines.text.end()) {
      diagnostics.add(path, {}, "holds no " + quoted(knob.key) + " in " + headers_of(knob).front());
      continue;
    }
    const std::string text = step_value_text(knob, fit.values[i]);
    const bool time = is_step_time(knob.key) && knob.scope != StepScope::level;
    *line = knob.key + " = " + (time ? '"' + text + '"' : text) + comment_of(*line);
    auto& runs = behind[{path, headers_of(knob)}];
    for (std::size_t run = 0; run < fit.runs.size(); ++run) {
      if (std::find(fit.behind[run].begin(), fit.behind[run].end(), i) != fit.behind[run].end()) {
        runs.insert(run);
      }
    }
  }
  diagnostics.throw_if_any();
  for (const auto& [table, runs] : behind) {
    TomlLines& lines = files.at(table.first);
    if (const auto source = lines.find(table.second, "source"); source != lines.text.end()) {
      *source = "source = \"" + provenance(fit, runs) + "\"";
    }
  }
  return write_files(files);
}

}  // namespace headroom
