// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/post_files.hpp>
#include <headroom/calibrate/stacks/toml_lines.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

namespace headroom {
namespace {

std::string path_in(const std::string& folder, const std::string& software) {
  return (std::filesystem::path{folder} / "stacks/post" / ((software.empty() ? "any" : software) + ".toml")).string();
}

/// What the numbers of a software rest on, or of all of them together.
std::string post_provenance(const PostTrainFit& fit, const std::string& software) {
  std::map<std::string, std::size_t> sources;
  std::size_t rows = 0;
  for (const FittedPostTrainRun& run : fit.runs) {
    if (run.known->way && run.figure != PostTrainFigure::idle && (software.empty() || run.software == software)) {
      ++sources[run.row->source];
      ++rows;
    }
  }
  return (software.empty() ? std::string{"what softwares have in common: "} : std::string{}) +
         "headroom fit --stack post on " + std::to_string(rows) + " rows of " + sources_text(sources, 4) +
         (software.empty() ? "" : ", around the numbers of all softwares (any.toml)");
}

void put_value(TomlLines& lines,
               const std::string& path,
               const std::string& header,
               const std::string& key,
               const std::string& text,
               Diagnostics& diagnostics) {
  const auto line = lines.find({header}, key);
  if (line == lines.text.end()) {
    diagnostics.add(path, {}, "holds no " + quoted(key) + " in " + header);
    return;
  }
  *line = key + " = " + text + comment_of(*line);
}

void put_numbers_source(TomlLines& lines, const std::string& header, const std::string& text) {
  if (const auto line = lines.find({header}, "source"); line != lines.text.end()) {
    *line = "source = \"" + text + "\"";
  }
}

}  // namespace

std::string post_value_text(const PostTrainKnob& knob, double value) {
  constexpr double short_time = 0.1;
  return !knob.is_time()       ? format_number(value)
         : value >= short_time ? format_number(value) + " s"
                               : format_number(1e3 * value) + " ms";
}

std::vector<std::string> write_post_files(const PostTrainFit& fit, const std::string& folder) {
  TomlFiles files;
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    const PostTrainKnob& knob = fit.knobs[i];
    const bool way = knob.owner == PostTrainOwner::way;
    const std::string path = path_in(folder, knob.owner == PostTrainOwner::software ? knob.id : "");
    const std::string text = post_value_text(knob, fit.values[i]);
    put_value(lines_of(files, path), path, way ? "[sync." + knob.id + "]" : "[numbers]", knob.key,
              knob.is_time() ? '"' + text + '"' : text, diagnostics);
    if (!way) {
      put_numbers_source(lines_of(files, path), "[numbers]",
                         post_provenance(fit, knob.owner == PostTrainOwner::software ? knob.id : ""));
    }
  }
  const bool left_out = std::any_of(fit.runs.begin(), fit.runs.end(),
                                    [](const FittedPostTrainRun& run) { return std::isfinite(run.left_out); });
  if (left_out) {
    const std::string path = path_in(folder, "");
    TomlLines& any = lines_of(files, path);
    for (std::size_t i = 0; i < post_train_figure_names.size(); ++i) {
      if (const double width = width_of(fit, static_cast<PostTrainFigure>(i), "any"); width > 0.0) {
        put_value(any, path, "[widths]", std::string{post_train_figure_names[i]}, format_number(width), diagnostics);
      }
    }
    std::string rows;
    for (std::size_t i = 0; i < post_train_figure_names.size(); ++i) {
      const auto figure = static_cast<PostTrainFigure>(i);
      rows += (i == 0 ? "" : ", ") + std::string{post_train_figure_names[i]} + " " +
              std::to_string(left_out_sources(fit, figure, [](const FittedPostTrainRun&) { return true; }));
    }
    put_numbers_source(any, "[widths]",
                       "headroom fit --stack post: 80 % of the rows lie within, each with its source left out of the "
                       "fit; sources of each: " +
                           rows);
  }
  diagnostics.throw_if_any();
  return write_files(files);
}

}  // namespace headroom
