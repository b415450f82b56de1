// SPDX-License-Identifier: Apache-2.0
// `headroom fit`: measured rows in, the sustained shares of the rough stack out.
#include <headroom/calibrate/fit_rough.hpp>
#include <headroom/cli/table.hpp>
#include <headroom/cli/verb.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

namespace headroom::cli {
namespace {

constexpr std::array options{
    Option{"--stack", OptionKind::one, "rough-train", "the stack to fit; this version fits rough-train"},
    Option{"--format", OptionKind::one, "text|toml", "a table, or the [sustained] tables ready to paste"},
};

std::string percent(double fraction) {
  return std::isfinite(fraction) ? format_number(100.0 * fraction) : "-";
}

std::string fit_text(const RoughFit& fit) {
  Table table{{"generation/recipe", "share of peak", "rows", "sources", "mape %", "left out %"}};
  for (const FittedShare& share : fit.shares) {
    table.row({share.key, format_number(share.share), std::to_string(share.rows), std::to_string(share.sources.size()),
               percent(share.mape), percent(share.left_out_mape)});
  }
  for (const FittedShare& share : fit.any) {
    table.row({share.key, format_number(share.share), std::to_string(share.rows), "", "", ""});
  }
  return table.text(0) + "\n" + std::to_string(fit.left_out_rows) +
         " rows of left-out sources: half lie within a factor of " + format_number(1.0 + fit.width50) +
         ", 80 % within " + format_number(1.0 + fit.width80) + ", 90 % within " + format_number(1.0 + fit.width90) +
         "\n";
}

std::string fit_toml(const RoughFit& fit) {
  std::string text;
  std::string generation;
  std::vector<const FittedShare*> ordered;
  ordered.reserve(fit.shares.size());
  for (const FittedShare& share : fit.shares) {
    ordered.push_back(&share);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  if (!fit.any.empty()) {
    text += "[sustained.any]\n";
  }
  for (const FittedShare& share : fit.any) {
    text += '"' + share.key.substr(share.key.find('/') + 1) + "\" = { value = " + format_number(share.share) +
            ", source = \"median of the " + std::to_string(share.sources.size()) + " measured generation(s)\" }\n";
  }
  for (const FittedShare* share : ordered) {
    const std::size_t slash = share->key.find('/');
    if (share->key.substr(0, slash) != generation) {
      generation = share->key.substr(0, slash);
      text += (text.empty() ? "" : "\n") + std::string{"[sustained."} + generation + "]\n";
    }
    text += '"' + share->key.substr(slash + 1) + "\" = { value = " + format_number(share->share) + ", source = \"" +
            std::to_string(share->rows) + " rows of " + std::to_string(share->sources.size()) + " source(s), mape " +
            percent(share->mape) + " %" +
            (std::isfinite(share->left_out_mape) ? ", sources left out " + percent(share->left_out_mape) + " %" : "") +
            "\" }\n";
  }
  return text;
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> paths = arguments.many("");
  if (paths.empty()) {
    throw ConfigError{"name the files of measured training rows, e.g. 'headroom fit train_*.csv'"};
  }
  if (arguments.one("--stack", "rough-train") != "rough-train") {
    throw ConfigError{"stack " + quoted(arguments.one("--stack")) + " cannot be fitted; rough-train can"};
  }
  Diagnostics diagnostics;
  std::vector<RunFile> files;
  for (const std::string& path : paths) {
    std::ifstream stream{path, std::ios::binary};
    if (!stream) {
      diagnostics.add(path, {}, "cannot be read");
    } else {
      files.push_back(read_runs(stream, path, diagnostics));
    }
  }
  diagnostics.throw_if_any();
  const Sources sources = Sources::standard();
  const RoughFit fit = fit_rough(files, sources);
  return {arguments.one("--format", "text") == "toml" ? fit_toml(fit) : fit_text(fit), "", 0};
}

constexpr std::string_view examples =
    "  headroom fit train_*.csv\n"
    "  headroom fit train_*.csv --format toml\n";

}  // namespace

const Verb fit_verb{
    "fit", "fit the rough stack's sustained shares from measured rows", "FILE.csv", 10000, options, examples, run};

}  // namespace headroom::cli
