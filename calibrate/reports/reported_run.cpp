// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/reports/reported_run.hpp>
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

/// Moves the places of a text that stood behind `columns` characters of a line put in front of it.
void move_back(ConfigValue& value, int columns) {
  const auto moved = [&](Position& at) { at.column -= at.line == 1 ? std::min(columns, at.column - 1) : 0; };
  moved(value.at);
  moved(value.key_at);
  for (ConfigValue& item : value.items) {
    move_back(item, columns);
  }
  for (ConfigEntry& entry : value.entries) {
    move_back(entry.value, columns);
  }
}

ConfigValue parse_list(std::string_view text, const std::string& file) {
  constexpr std::string_view front = R"({"rows":)";
  const auto columns = static_cast<int>(front.size());
  try {
    ConfigValue root = parse_json(std::string{front} + std::string{text} + "}", file);
    move_back(root, columns);
    return root;
  } catch (const ConfigError& error) {
    std::vector<Diagnostic> problems{error.diagnostics().begin(), error.diagnostics().end()};
    for (Diagnostic& problem : problems) {
      problem.at.column -= problem.at.line == 1 ? std::min(columns, problem.at.column - 1) : 0;
    }
    throw ConfigError{std::move(problems), error.untold()};
  }
}

bool objects_a_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with('{')) {
    return false;
  }
  std::string_view first = text.substr(0, end);
  first.remove_suffix(first.ends_with('\r') ? 1 : 0);
  const std::size_t next = text.find_first_not_of(" \t\r\n", end);
  return first.ends_with('}') && next != std::string_view::npos && text[next] == '{';
}

}  // namespace

void ReportedRun::set_number(std::string_view column, std::optional<double> value) {
  if (value && std::isfinite(*value) && *value > 0.0) {
    cells.insert_or_assign(std::string{column}, cell_text(*value));
  }
}

void ReportedRun::set_text(std::string_view column, std::string_view value) {
  if (!value.empty()) {
    cells.insert_or_assign(std::string{column}, std::string{value});
  }
}

void ReportedRun::set_load(std::optional<double> concurrency, std::optional<double> rate, bool at_once) {
  const bool bounded = concurrency && *concurrency >= 1.0 && std::isfinite(*concurrency);
  const bool paced = rate && *rate > 0.0 && std::isfinite(*rate);
  if (paced) {
    set_number("request_rate", rate);
    options["scenario"] = "online";
    if (bounded) {
      options["max_concurrency"] = cell_text(*concurrency);
      remarks.emplace_back("requests come at a rate, with a bound on those in flight that is taken not to bind");
    }
  } else if (bounded) {
    set_number("concurrency", concurrency);
    options["scenario"] = *concurrency == 1.0 ? "interactive" : "closed";
  } else if (at_once) {
    set_text("request_rate", "inf");
    options["scenario"] = "burst";
  }
}

void ReportedRun::measure(std::string_view metric, std::string_view unit, std::optional<double> value, double factor) {
  if (value && std::isfinite(*value) && *value > 0.0) {
    metrics.push_back({std::string{metric}, std::string{unit}, *value * factor});
  }
}

void measure_fields(std::span<const ReportedField> fields, const ConfigValue& root, ReportedRun& run) {
  for (const ReportedField& field : fields) {
    run.measure(field.metric, field.unit, number_at(root, field.path), field.factor);
  }
}

const ConfigValue* value_at(const ConfigValue& root, std::string_view path) noexcept {
  const ConfigValue* at = &root;
  while (at != nullptr && !path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    at = member_of(at, path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return at;
}

std::optional<double> number_at(const ConfigValue& root, std::string_view path) noexcept {
  return number_of(value_at(root, path));
}

std::string text_at_path(const ConfigValue& root, std::string_view path) {
  const ConfigValue* const value = value_at(root, path);
  return value != nullptr && value->kind == ConfigValue::Kind::text ? value->text : std::string{};
}

std::string model_name(std::string_view repository) {
  while (repository.ends_with('/')) {
    repository.remove_suffix(1);
  }
  return std::string{repository.substr(repository.find_last_of('/') + 1)};
}

std::string cell_text(double value) {
  return general_text(value, 9);
}

std::vector<ConfigValue> json_objects_of_lines(std::string_view text, const std::string& file, Diagnostics& problems) {
  std::vector<ConfigValue> objects;
  int line = 1;
  for (std::string_view rest = text; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (one.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    try {
      objects.push_back(parse_json(one, file));
      objects.back().at = {line, 1};
    } catch (const ConfigError& error) {
      for (Diagnostic problem : error.diagnostics()) {
        problem.at.line = line;
        problems.add(std::move(problem));
      }
    }
  }
  return objects;
}

std::vector<ReportedRun> one_run(ReportedRun run, const Diagnostics& problems) {
  problems.throw_if_any();
  std::vector<ReportedRun> runs;
  runs.push_back(std::move(run));
  return runs;
}

std::vector<ConfigValue> json_objects(std::string_view written, const std::string& file) {
  const std::string text = with_plain_numbers(written);
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const std::string_view rest = std::string_view{text}.substr(begin);
  if (rest.starts_with('[')) {
    ConfigValue root = parse_list(text, file);
    std::vector<ConfigValue> objects = std::move(root.find("rows")->items);
    Diagnostics problems;
    for (const ConfigValue& object : objects) {
      if (object.kind != ConfigValue::Kind::table) {
        problems.add(file, object.at,
                     "is " + std::string{kind_name(object.kind)} + "; a list of results holds objects");
      }
    }
    problems.throw_if_any();
    return objects;
  }
  if (objects_a_line(rest)) {
    Diagnostics problems;
    std::vector<ConfigValue> objects = json_objects_of_lines(text, file, problems);
    problems.throw_if_any();
    return objects;
  }
  std::vector<ConfigValue> objects;
  objects.push_back(parse_json(text, file));
  return objects;
}

}  // namespace headroom
