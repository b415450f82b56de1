// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/stacks/fit_classic.hpp>
#include <headroom/cli/fits/fit_classic_laws.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>

#include <iostream>
#include <string>

namespace headroom::cli {
namespace {

std::string errors_text(const FitErrors& errors) {
  return errors.rows == 0 ? "-" : percent_number(errors.mean) + " / " + percent_number(errors.median);
}

std::string laws_text(const std::vector<ClassicLawFit>& fits) {
  Table errors{{"law", "rows", "SKUs", "before", "fitted", "left out", "80 % within"}};
  Table numbers{{"number", "in the file", "fitted"}};
  for (const ClassicLawFit& fit : fits) {
    errors.row({fit.law, std::to_string(fit.fitted.rows), std::to_string(fit.machines), errors_text(fit.before),
                errors_text(fit.fitted), errors_text(fit.left_out),
                fit.left_out.rows > 0 ? format_number(fit.width) : "-"});
    for (const ClassicNumber& number : fit.numbers) {
      numbers.row({fit.law + "." + number.name, format_number(number.before), format_number(number.fitted)});
    }
  }
  return errors.text(0) + "\nmean and median errors in %; left out: each SKU or processor once\n\n" + numbers.text(0) +
         "\nin SI units, shares of one\n";
}

}  // namespace

Outcome fit_classic_laws(const Arguments& arguments, const std::vector<RunFile>& files) {
  const Sources sources = own_sources();
  return {laws_text(fit_classic(files, sources, !arguments.has("--no-left-out"),
                                [](std::string_view what) { std::cerr << "headroom: " << shown(what) << "\n"; })),
          "", 0};
}

}  // namespace headroom::cli
