// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/stacks/fit_power.hpp>
#include <headroom/calibrate/stacks/toml_lines.hpp>
#include <headroom/cli/fits/fit_power.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>

#include <iostream>
#include <string>

namespace headroom::cli {
namespace {

std::string power_text(const ServingPowerFit& fit) {
  constexpr std::size_t named = 5;
  Table errors{{"rows", "errors", "mean %", "median %"}};
  const auto add = [&](const char* name, const FitErrors& e) {
    if (e.rows > 0) {
      errors.row({std::to_string(e.rows), name, percent_number(e.mean), percent_number(e.median)});
    }
  };
  add("with the file's numbers", fit.before);
  add("fitted", fit.fitted);
  add("each network left out", fit.left_out);
  Table numbers{{"number", "in the file", "fitted", "least", "most"}};
  for (const PowerNumber& n : fit.numbers) {
    numbers.row({std::string{n.name}, format_number(n.before), format_number(n.fitted), format_number(n.low),
                 format_number(n.high)});
  }
  return errors.text(0) + "\n" + numbers.text(0) +
         "\nleast and most are those of the fits without one SKU each; active and scaled_experts are shares of limit "
         "less idle, "
         "reading is in pJ a byte, arithmetic in pJ a FLOP\n" +
         (fit.left_out.rows > 0
              ? "of the networks left out 80 % lie within a factor of " + format_number(1.0 + fit.width) + "\n"
              : "") +
         "the rows come from " + sources_text(fit.sources, named) + "\n";
}

}  // namespace

Outcome fit_power_numbers(const Arguments& arguments, const std::vector<RunFile>& files) {
  const Sources sources = own_sources();
  const ServingPowerFit fit =
      fit_serving_power(files, sources, !arguments.has("--no-left-out"),
                        [](std::string_view what) { std::cerr << "headroom: " << shown(what) << "\n"; });
  const std::string folder = arguments.one("--write");
  std::string told;
  for (const std::string& file : folder.empty() ? std::vector<std::string>{} : write_power_file(fit, folder)) {
    told += "headroom: wrote " + file + "\n";
  }
  return {power_text(fit), told, 0};
}

}  // namespace headroom::cli
