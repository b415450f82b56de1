// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/stacks/fit_step.hpp>
#include <headroom/calibrate/stacks/step_confidence.hpp>
#include <headroom/calibrate/stacks/step_files.hpp>
#include <headroom/cli/fits/fit_step.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/render/fit_page.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace headroom::cli {
namespace {

constexpr double leans_by = 0.6;  ///< posterior over prior deviation above which a number mainly rests on its prior

std::string shown(const StepKnob& knob, double value) {
  return step_value_text(knob, value);
}

/// Remark on a knob that is at a bound or hardly determined by the data; empty otherwise.
std::string remark(const StepFit& fit, std::size_t knob) {
  const HierarchicalResult& r = fit.result;
  if (r.at_bound[knob]) {
    return "at its bound";
  }
  return r.narrowing[knob] > 0.9        ? "prior: the runs do not tell it"
         : r.narrowing[knob] > leans_by ? "leans on its prior"
                                        : "";
}

std::string knobs_text(const StepFit& fit) {
  Table table{{"number", "was", "fitted", "+- %", "<expected near", "<remark"}};
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    if (!fit.free[i]) {
      continue;
    }
    const StepKnob& k = fit.knobs[i];
    const double spread = k.linear ? fit.result.deviation[i] : std::exp(fit.result.deviation[i]) - 1.0;
    table.row({k.name(), shown(k, k.value), shown(k, fit.values[i]), percent_number(spread),
               k.parent < 0 ? shown(k, k.centre) : fit.knobs[static_cast<std::size_t>(k.parent)].name(),
               remark(fit, i)});
  }
  return table.text(0);
}

std::string correlations_text(const StepFit& fit) {
  constexpr double strong = 0.7;
  Table table{{"numbers that the runs cannot tell apart", "correlation"}};
  const std::size_t n = fit.knobs.size();
  bool any = false;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double r = fit.result.correlation[i * n + j];
      if (fit.free[i] && fit.free[j] && std::abs(r) > strong) {
        table.row({fit.knobs[j].name() + ", " + fit.knobs[i].name(), format_number(r, 2)});
        any = true;
      }
    }
  }
  return any ? "\n" + table.text(0) : "";
}

struct FamilyErrors {
  std::vector<double> before, fitted, left_out;
  std::array<std::vector<double>, given_runs.size()> after;
};

std::string after_text(const std::vector<double>& errors) {
  return percent_number(errors.empty() ? unknown_error : mean(errors));
}

std::string families_text(const StepFit& fit) {
  std::vector<FamilyErrors> errors(fit.families.size());
  for (const FittedRun& run : fit.runs) {
    FamilyErrors& e = errors[run.family];
    e.before.push_back(run.before);
    e.fitted.push_back(run.fitted);
    if (std::isfinite(run.left_out)) {
      e.left_out.push_back(run.left_out);
    }
    for (std::size_t given = 0; given < given_runs.size(); ++given) {
      if (std::isfinite(run.after[given])) {
        e.after[given].push_back(run.after[given]);
      }
    }
  }
  Table table{{"source", "<SKU", "<kind", "runs", "before: mape %", "fitted", "bias", "left out", "bias", "1 run given",
               "3 runs given"}};
  for (std::size_t f = 0; f < fit.families.size(); ++f) {
    const RunFamily& family = fit.families[f];
    const FamilyErrors& e = errors[f];
    table.row({family.source, family.gpu, family.kind, std::to_string(family.runs), percent_number(mape_of(e.before)),
               percent_number(mape_of(e.fitted)), percent_number(std::expm1(median(e.fitted))),
               percent_number(mape_of(e.left_out)),
               percent_number(e.left_out.empty() ? NAN : std::expm1(median(e.left_out))), after_text(e.after[0]),
               after_text(e.after[1])});
  }
  return table.text(0);
}

/// What runs of one's own are worth to a family that nobody fitted.
std::string told_text(const StepFit& fit) {
  std::string text;
  const auto say = [&](const HeldIntervals& held, const std::string& given, std::string_view whose) {
    if (std::isfinite(held.share)) {
      text += "with " + given + " of a left-out family given, 80 % intervals hold " + percent_number(held.share) +
              " % of its " + std::string{whose} + "; their half width is " + percent_number(held.half_width) +
              " % at the median\n";
    }
  };
  say(fit.held_alone, "no run", "runs");
  for (std::size_t given = 0; given < given_runs.size(); ++given) {
    say(fit.held[given], counted(static_cast<std::int64_t>(given_runs[given]), "run"), "others");
  }
  return text;
}

/// Rows left out of the fit: their number by kind, with a few examples.
std::string unused_text(const StepFit& fit) {
  constexpr std::size_t shown_rows = 3;
  std::string text;
  for (std::size_t kind = 0; kind < unused_kind_names.size(); ++kind) {
    std::size_t rows = 0;
    std::string first;
    for (const UnusedRow& unused : fit.unused) {
      if (static_cast<std::size_t>(unused.kind) == kind && rows++ < shown_rows) {
        first += "  " + unused.row->file + ":" + std::to_string(unused.row->line) + ": " + unused.why + "\n";
      }
    }
    if (rows > 0) {
      text += "not fitted, " + std::string{unused_kind_names[kind]} + ": " + std::to_string(rows) + "\n" + first +
              (rows > shown_rows ? "  ...\n" : "");
    }
  }
  return text;
}

/// Warnings about what the fit does not support.
std::string warnings_text(const StepFit& fit) {
  std::size_t free = 0;
  std::size_t told = 0;
  std::string at_bound;
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    free += fit.free[i] ? 1 : 0;
    told += fit.free[i] && fit.result.narrowing[i] <= leans_by ? 1 : 0;
    if (fit.free[i] && fit.result.at_bound[i]) {
      at_bound += (at_bound.empty() ? "" : ", ") + fit.knobs[i].name();
    }
  }
  std::string text;
  if (told == 0) {
    text += "everything leans_by on priors: the runs tell none of the " + std::to_string(free) + " numbers\n";
  } else if (fit.runs.size() < free) {
    text += "fewer runs than numbers: " + std::to_string(free - told) + " of " + std::to_string(free) +
            " lean on their priors\n";
  }
  const bool one_source = std::all_of(fit.families.begin(), fit.families.end(), [&](const RunFamily& family) {
    return family.source == fit.families.front().source;
  });
  if (one_source) {
    text += "a single source: no error says what the numbers are worth on runs of another\n";
  }
  if (!at_bound.empty()) {
    text += "at their bounds: " + at_bound +
            "; rows in another unit, a term that the model lacks, or bounds in priors.toml " + "that are too narrow\n";
  }
  return text;
}

std::string runs_csv(const StepFit& fit) {
  std::string text = "id,source,gpu,kind,hosts,measured,before,fitted,left_out,deviation,after_1,after_3,weight\n";
  for (const FittedRun& run : fit.runs) {
    const RunFamily& f = fit.families[run.family];
    text += run.row->id + ",\"" + f.source + "\"," + f.gpu + "," + f.kind + "," + (f.hosts ? "several" : "one") + "," +
            format_number(run.row->measured, 6) + "," + format_number(run.before, 4) + "," +
            format_number(run.fitted, 4) + "," + format_number(run.left_out, 4) + "," +
            format_number(run.deviation, 4) + "," + format_number(run.after[0], 4) + "," +
            format_number(run.after[1], 4) + "," + format_number(run.weight, 4) + "\n";
  }
  return text;
}

}  // namespace

Outcome fit_training(const Arguments& arguments, const std::vector<RunFile>& files) {
  StepFitOptions options;
  options.stack = arguments.one("--stack", "all");
  options.gpus = arguments.many("--level");
  options.leave_one_out = !arguments.has("--no-left-out");
  const Sources sources = own_sources();
  const StepFit fit = fit_step(files, sources, options, [](std::string_view what) {
    std::cerr << "headroom: " << headroom::shown(what) << "\n";
  });
  Outcome outcome;
  outcome.out = knobs_text(fit) + correlations_text(fit) + "\n" + families_text(fit) + "\n" +
                std::to_string(fit.runs.size()) + " runs fitted in " + std::to_string(fit.result.iterations) +
                " iterations; " + std::to_string(fit.unused.size()) + " rows of time are not fitted\n" +
                told_text(fit) + warnings_text(fit) + unused_text(fit);
  const std::string format = arguments.one("--format", "text");
  if (format == "csv") {
    outcome.out = runs_csv(fit);
    outcome.err = told_text(fit) + warnings_text(fit) + unused_text(fit);
  } else if (format == "markdown") {
    std::string command = "headroom fit --stack " + options.stack;
    for (const RunFile& file : files) {
      command += " " + std::filesystem::path{file.file}.filename().string();
    }
    outcome.out = fit_page(fit, files, sources, command + " --format markdown");
    outcome.err = told_text(fit) + warnings_text(fit) + unused_text(fit);
  }
  if (arguments.has("--write")) {
    const std::string folder = arguments.one("--write");
    for (const std::string& file : write_step_files(fit, folder)) {
      outcome.err += "headroom: wrote " + file + "\n";
    }
    if (options.leave_one_out && options.stack == "all") {
      const auto write = [&](const std::string& name, const std::string& text) {
        const std::string file = folder + "/stacks/step/" + name;
        std::ofstream stream{file, std::ios::binary};
        stream << text;
        stream.close();
        if (!stream) {
          throw ConfigError{file + " cannot be written"};
        }
        outcome.err += "headroom: wrote " + file + "\n";
      };
      write("confidence.toml", confidence_toml(confidence_of_fit(fit, sources, step_confidence(sources.data))));
      write("posterior.toml", posterior_toml(fit.posterior));
    }
  }
  return outcome;
}

}  // namespace headroom::cli
