// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/networks/network_files.hpp>
#include <headroom/calibrate/stacks/toml_lines.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/model/estimate/number_format.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace headroom {
namespace {

constexpr int digits = 3;

using Line = std::vector<std::string>::iterator;

/// Lines below a header up to the next: of tables in a list the one that holds `line`, any where it is empty.
std::pair<Line, Line> table_in(TomlLines& lines, const std::string& header, const std::string& line) {
  const auto is_header = [](const std::string& text) { return text.starts_with("["); };
  auto begin = lines.text.begin();
  if (header.empty()) {
    return {begin, std::find_if(begin, lines.text.end(), is_header)};
  }
  while ((begin = std::find(begin, lines.text.end(), header)) != lines.text.end()) {
    ++begin;
    const auto end = std::find_if(begin, lines.text.end(), is_header);
    if (line.empty() || std::find(begin, end, line) != end) {
      return {begin, end};
    }
    begin = end;
  }
  return {lines.text.end(), lines.text.end()};
}

/// The line of a key in a part of the file; its end where there is none.
Line key_in(const std::pair<Line, Line>& part, const std::string& key) {
  return std::find_if(part.first, part.second, [&](const std::string& text) {
    return text.starts_with(key) && text.find_first_not_of(' ', key.size()) == text.find('=');
  });
}

/// `{ fp32 = 1.06, tf32 = 0.83 }` with another number of one name.
bool replace_inline(std::string& line, const std::string& name, const std::string& value) {
  for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
    const std::size_t equals = line.find_first_not_of(' ', at + name.size());
    if (equals == std::string::npos || line[equals] != '=' || (line[at - 1] != ' ' && line[at - 1] != '{')) {
      continue;
    }
    const std::size_t begin = line.find_first_not_of(' ', equals + 1);
    line.replace(begin, line.find_first_of(" ,}", begin) - begin, value);
    return true;
  }
  return false;
}

struct Place {
  std::string file, header, line;
};
Place place_of(const NetworkKnob& knob) {
  switch (knob.owner) {
    case NetworkOwner::physics: return {"stacks/step/network-calls.toml", "[physics]", ""};
    case NetworkOwner::silicon: return {"stacks/step/network-calls.toml", "[[silicon]]", "name = \"" + knob.id + "\""};
    case NetworkOwner::host: return {"stacks/step/network-calls.toml", "[[host]]", "cpu = \"" + knob.id + "\""};
    case NetworkOwner::engine: break;
  }
  const bool server = knob.key == "input" || knob.key == "closed_loop";
  return {"stacks/infer/" + knob.id + ".toml",
          server                                ? "[server]"
          : knob.key == "exchange_hidden"       ? "[training]"
          : knob.key.starts_with("elementwise") ? ""
                                                : "[host]",
          ""};
}

bool put(TomlLines& lines, const NetworkKnob& knob, double value) {
  const Place place = place_of(knob);
  const auto part = table_in(lines, place.header, place.line);
  const std::size_t dot = knob.key.find('.');
  const auto line = key_in(part, knob.key.substr(0, dot));
  if (line == part.second) {
    return false;
  }
  const std::string text = network_value_text(knob, value);
  if (dot != std::string::npos) {
    return replace_inline(*line, knob.key.substr(dot + 1), text);
  }
  *line = knob.key + " = " + (knob.is_time() || knob.is_rate() ? '"' + text + '"' : text) + comment_of(*line);
  return true;
}

/// Rows of the fit under some engines, or under all, and of what.
std::string provenance(const NetworkFit& fit, const std::vector<std::string>& engines) {
  std::map<std::string, std::size_t> sources;
  std::set<std::string> networks, devices;
  std::size_t rows = 0;
  for (const FittedNetworkRun& run : fit.runs) {
    if (engines.empty() || std::find(engines.begin(), engines.end(), run.call.engine->id) != engines.end()) {
      ++sources[run.row->source];
      networks.insert(run.call.network);
      devices.insert(run.call.device->id);
      ++rows;
    }
  }
  if (rows == 0) {
    return {};  // what the file says of its numbers still holds
  }
  return "fitted with all other numbers of networks' calls (headroom fit --stack networks) on " + std::to_string(rows) +
         " configurations of " + std::to_string(networks.size()) + " networks on " + std::to_string(devices.size()) +
         " GPUs, " + sources_text(sources, 4);
}

void put_source(TomlLines& lines, const std::string& text) {
  const auto part = table_in(lines, "", "");
  if (const auto line = key_in(part, "source"); line != part.second) {
    *line = "source = \"" + text + "\"";
  }
}

std::string left_out_source(const NetworkFit& fit, const std::function<bool(const FittedNetworkRun&)>& of) {
  std::set<std::string> networks;
  std::size_t runs = 0;
  for (const FittedNetworkRun& run : fit.runs) {
    if (std::isfinite(run.left_out[0]) && of(run)) {
      networks.insert(run.call.network);
      ++runs;
    }
  }
  return "headroom fit: " + std::to_string(runs) + " configurations of " + std::to_string(networks.size()) +
         " networks, each once with its network and once with its GPU left out of the fit";
}

/// Width and source in a table of the file, which is added at its end where it is not there.
void put_interval(TomlLines& lines, double one, double loop, const std::string& source) {
  std::vector<std::string> written{"[interval]"};
  if (one > 0.0) {
    written.push_back("value = " + format_number(one, digits));
  }
  if (loop > 0.0) {
    written.push_back("closed_loop = " + format_number(loop, digits));
  }
  written.push_back("source = \"" + source + "\"");
  const auto part = table_in(lines, "[interval]", "");
  auto at = part.first;
  if (at != lines.text.end() || std::find(lines.text.begin(), lines.text.end(), "[interval]") != lines.text.end()) {
    auto end = part.second;
    while (end != part.first && (end - 1)->empty()) {
      --end;
    }
    at = lines.text.erase(part.first - 1, end);
  } else {
    written.insert(written.begin(), "");
    at = lines.text.end();
  }
  lines.text.insert(at, written.begin(), written.end());
}

void put_widths(const NetworkFit& fit, const std::string& folder, TomlFiles& files) {
  namespace fs = std::filesystem;
  const auto trains = [](const FittedNetworkRun& run) { return run.call.step.has_value(); };
  const auto builds = [](const FittedNetworkRun& run) {
    return run.call.engine->fusion == Fusion::inference || run.call.engine->fusion == Fusion::runtime;
  };
  TomlLines& calls = lines_of(files, (fs::path{folder} / "stacks/step/network-calls.toml").string());
  const auto part = table_in(calls, "[interval]", "");
  const auto put_one = [&](const std::string& key, const std::string& source_key,
                           const std::function<bool(const FittedNetworkRun&)>& of) {
    const double width = left_out_width(fit, of);
    if (width > 0.0) {
      *key_in(part, key) = key + " = " + format_number(width, digits);
      *key_in(part, source_key) = source_key + " = \"" + left_out_source(fit, of) + "\"";
    }
  };
  put_one("value", "source",
          [&](const FittedNetworkRun& run) { return !builds(run) && !trains(run) && run.call.together == 0.0; });
  put_one("inference", "inference_source",
          [&](const FittedNetworkRun& run) { return builds(run) && !trains(run) && run.call.together == 0.0; });
  put_one("training", "training_source", trains);
  std::set<std::string> engines;
  for (const FittedNetworkRun& run : fit.runs) {
    engines.insert(run.call.engine->id);
  }
  for (const std::string& id : engines) {
    const auto alone = [&](const FittedNetworkRun& run) {
      return run.call.engine->id == id && run.call.together == 0.0 && !trains(run);
    };
    const auto loops = [&](const FittedNetworkRun& run) {
      return run.call.engine->id == id && run.call.together > 0.0;
    };
    const double one = left_out_width(fit, alone);
    const double loop = left_out_width(fit, loops);
    if (one > 0.0 || loop > 0.0) {
      put_interval(
          lines_of(files, (fs::path{folder} / ("stacks/infer/" + id + ".toml")).string()), one, loop,
          left_out_source(fit, [&](const FittedNetworkRun& run) { return run.call.engine->id == id && !trains(run); }));
    }
  }
}

}  // namespace

std::vector<std::string> write_network_files(const NetworkFit& fit, const std::string& folder) {
  namespace fs = std::filesystem;
  TomlFiles files;
  Diagnostics diagnostics;
  std::map<std::string, std::set<std::string>> engines;
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    const NetworkKnob& knob = fit.knobs[i];
    const std::string path = (fs::path{folder} / place_of(knob).file).string();
    if (!put(lines_of(files, path), knob, fit.values[i])) {
      diagnostics.add(path, {}, "holds no " + quoted(knob.name()));
    }
    engines[path].insert(knob.engines.begin(), knob.engines.end());
  }
  diagnostics.throw_if_any();
  for (const auto& [path, ids] : engines) {
    if (const std::string told = provenance(fit, {ids.begin(), ids.end()}); !told.empty()) {
      put_source(lines_of(files, path), told);
    }
  }
  put_widths(fit, folder, files);
  return write_files(files);
}

}  // namespace headroom
