// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/stacks/fit_post.hpp>
#include <headroom/calibrate/stacks/post_files.hpp>
#include <headroom/cli/fits/fit_post.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <array>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::cli {
namespace {

std::string post_numbers_text(const PostTrainFit& fit) {
  Table table{{"number", "was", "fitted", "+- %", "<expected near"}};
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    const PostTrainKnob& k = fit.knobs[i];
    table.row({k.name(), post_value_text(k, k.value), post_value_text(k, fit.values[i]),
               percent_number(std::expm1(fit.result.deviation[i])),
               k.parent < 0 ? post_value_text(k, k.centre) : fit.knobs[static_cast<std::size_t>(k.parent)].name()});
  }
  return table.text(0);
}

struct PostErrors {
  std::vector<double> before, fitted, left_out;
};

/// What a table calls a figure: rates stand apart from times, for their errors count otherwise.
std::string figure_word(const FittedPostTrainRun& run) {
  const bool rate = run.row->metric == "tokens_per_s_per_gpu" || run.row->metric == "samples_per_s";
  return rate ? "rate" : std::string{post_train_figure_names[static_cast<std::size_t>(run.figure)]};
}

/// |predicted / measured - 1|; of an idle share |predicted - measured|.
double error_size(const FittedPostTrainRun& run, double error) {
  return run.figure == PostTrainFigure::idle ? std::abs(error)
                                             : std::abs(std::expm1(figure_word(run) == "rate" ? -error : error));
}

std::string both(const std::vector<double>& errors) {
  return errors.empty() ? "-" : percent_number(mean(errors)) + " / " + percent_number(median(errors));
}

std::string errors_text(const PostTrainFit& fit, bool by_source) {
  std::map<std::pair<std::string, std::string>, PostErrors> groups;
  for (const FittedPostTrainRun& run : fit.runs) {
    if (run.beside) {
      continue;
    }
    PostErrors& e = groups[{figure_word(run), by_source ? run.row->source : ""}];
    e.before.push_back(error_size(run, run.before));
    e.fitted.push_back(error_size(run, run.fitted));
    if (std::isfinite(run.left_out)) {
      e.left_out.push_back(error_size(run, run.left_out));
    }
  }
  std::vector<std::string> columns{"figure"};
  if (by_source) {
    columns.emplace_back("<source");
  }
  for (const std::string_view column : {"rows", "before: mean / median %", "fitted", "source left out"}) {
    columns.emplace_back(column);
  }
  Table table{columns};
  for (const auto& [key, e] : groups) {
    std::vector<std::string> cells{key.first};
    if (by_source) {
      cells.push_back(key.second);
    }
    const std::vector<std::string> figures{std::to_string(e.fitted.size()), both(e.before), both(e.fitted),
                                           both(e.left_out)};
    cells.insert(cells.end(), figures.begin(), figures.end());
    table.row(cells);
  }
  return table.text(0);
}

std::string intervals_text(const PostTrainFit& fit) {
  Table table{{"interval", "width", "sources", "inside, widths of other sources, %"}};
  for (std::size_t i = 0; i < post_train_figure_names.size(); ++i) {
    const auto figure = static_cast<PostTrainFigure>(i);
    if (const double width = width_of(fit, figure, "any"); width > 0.0) {
      const std::size_t sources = left_out_sources(fit, figure, [](const FittedPostTrainRun&) { return true; });
      table.row({std::string{post_train_figure_names[i]}, format_number(width), std::to_string(sources),
                 percent_number(left_out_coverage(fit, figure))});
    }
  }
  return table.text(0);
}

}  // namespace

Outcome fit_post_training_numbers(const Arguments& arguments, const std::vector<RunFile>& files) {
  PostTrainFitOptions options;
  options.leave_out = !arguments.has("--no-left-out");
  const Sources sources = own_sources();
  const PostTrainFit fit = fit_post_training(files, sources, options, [](std::string_view what) {
    std::cerr << "headroom: " << headroom::shown(what) << "\n";
  });
  Outcome outcome;
  outcome.out = post_numbers_text(fit) + "\n" + errors_text(fit, false) + "\n" + errors_text(fit, true) + "\n" +
                (options.leave_out ? intervals_text(fit) + "\n" : "") + std::to_string(fit.answered) + " of " +
                std::to_string(fit.asked) + " rows without a mark are answered, " + std::to_string(fit.runs.size()) +
                " fitted or judged in " + std::to_string(fit.result.iterations) + " iterations\n";
  const std::string folder = arguments.one("--write");
  const std::vector<std::string> written = folder.empty() ? std::vector<std::string>{} : write_post_files(fit, folder);
  for (const std::string& file : written) {
    outcome.err += "headroom: wrote " + file + "\n";
  }
  return outcome;
}

}  // namespace headroom::cli
