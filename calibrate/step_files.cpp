// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/step_files.hpp>
#include <headroom/core/config_reader.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr int digits = 3;

std::string file_of(const StepKnob& knob) {
  switch (knob.scope) {
    case StepScope::physics: return "stacks/step/physics.toml";
    case StepScope::level: return "stacks/step/levels.toml";
    case StepScope::stack:
    case StepScope::experts: return "stacks/train/" + knob.id + ".toml";
  }
  return {};
}

/// Headers of the table that holds the number; bare keys and quoted ones mean the same.
std::vector<std::string> headers_of(const StepKnob& knob) {
  switch (knob.scope) {
    case StepScope::physics: return {""};
    case StepScope::level: return {"[levels." + knob.id + "]", "[levels.\"" + knob.id + "\"]"};
    case StepScope::stack: return {"[time]"};
    case StepScope::experts: return {"[time.moe]"};
  }
  return {};
}

struct Lines {
  std::vector<std::string> text;
  bool ended = true;  ///< the last line ends in a line feed

  explicit Lines(const std::string& whole) : ended{whole.ends_with('\n')} {
    std::istringstream stream{whole};
    for (std::string line; std::getline(stream, line);) {
      text.push_back(line);
    }
  }

  /// The line of `key` in the table under one of `headers`; the end when there is none.
  std::vector<std::string>::iterator find(const std::vector<std::string>& headers, std::string_view key) {
    bool inside = headers.front().empty();
    for (auto line = text.begin(); line != text.end(); ++line) {
      if (line->starts_with("[")) {
        inside = std::find(headers.begin(), headers.end(), *line) != headers.end();
      } else if (inside && line->starts_with(key) && line->find_first_not_of(' ', key.size()) == line->find('=')) {
        return line;
      }
    }
    return text.end();
  }

  [[nodiscard]] std::string whole() const {
    std::string all;
    for (const std::string& line : text) {
      all += line + "\n";
    }
    if (!ended && !all.empty()) {
      all.pop_back();
    }
    return all;
  }
};

/// What stands behind a number or a time on its line: neither holds a '#'.
std::string comment_of(const std::string& line) {
  const std::size_t hash = line.find('#');
  if (hash == std::string::npos) {
    return {};
  }
  return line.substr(line.find_last_not_of(" \t", hash - 1) + 1);
}

/// Whole, or not at all.
void replace_file(const std::string& path, const std::string& text) {
  const std::string half = path + ".part";
  std::ofstream stream{half, std::ios::binary};
  stream << text;
  stream.close();
  std::error_code failure;
  if (stream) {
    fs::rename(half, path, failure);
  }
  if (!stream || failure) {
    throw ConfigError{path + " cannot be written"};
  }
}

/// Families whose rows rest on the number, for the table's source.
std::string provenance(const StepFit& fit, const std::set<std::size_t>& runs) {
  std::map<std::string, std::size_t> sources;
  for (const std::size_t run : runs) {
    ++sources[fit.runs[run].row->source];
  }
  std::string names;
  constexpr std::size_t named = 4;
  for (const auto& [source, rows] : sources) {
    if (sources.size() <= named) {
      names += (names.empty() ? ": " : "; ") + source + " (" + std::to_string(rows) + ")";
    }
  }
  std::replace(names.begin(), names.end(), '"', '\'');
  std::replace(names.begin(), names.end(), '\\', '/');
  return "fitted" + std::string{fit.stack == "all" ? " with all other numbers" : ""} + " (headroom fit --stack " +
         fit.stack + ") on " + std::to_string(runs.size()) + " runs of " + std::to_string(sources.size()) + " sources" +
         names;
}

}  // namespace

std::string step_value_text(const StepKnob& knob, double value) {
  if (!is_step_time(knob.key) || knob.scope == StepScope::level) {
    return format_number(value, digits);
  }
  return value >= 1e-3 ? format_number(1e3 * value, digits) + " ms" : format_number(1e6 * value, digits) + " us";
}

std::vector<std::string> write_step_files(const StepFit& fit, const std::string& folder) {
  std::map<std::string, Lines> files;
  std::map<std::pair<std::string, std::vector<std::string>>, std::set<std::size_t>> behind;
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    if (!fit.free[i]) {
      continue;
    }
    const StepKnob& knob = fit.knobs[i];
    const std::string path = (fs::path{folder} / file_of(knob)).string();
    if (!files.contains(path)) {
      files.emplace(path, Lines{read_file(path).text});
    }
    Lines& lines = files.at(path);
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
    Lines& lines = files.at(table.first);
    if (const auto source = lines.find(table.second, "source"); source != lines.text.end()) {
      *source = "source = \"" + provenance(fit, runs) + "\"";
    }
  }
  std::vector<std::string> written;
  for (const auto& [path, lines] : files) {
    static_cast<void>(parse_toml(lines.whole(), path));
  }
  for (const auto& [path, lines] : files) {
    replace_file(path, lines.whole());
    written.push_back(path);
  }
  return written;
}

}  // namespace headroom
