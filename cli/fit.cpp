// SPDX-License-Identifier: Apache-2.0
// `headroom fit`: measured rows in, the sustained shares of the rough stack out.
#include <headroom/calibrate/fit_rough.hpp>
#include <headroom/calibrate/fit_serving_memory.hpp>
#include <headroom/cli/fit_kernels.hpp>
#include <headroom/cli/fit_overlay.hpp>
#include <headroom/cli/fit_serving.hpp>
#include <headroom/cli/fit_step.hpp>
#include <headroom/cli/table.hpp>
#include <headroom/cli/verb.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/scenarios/scenario.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

namespace headroom::cli {
namespace {

constexpr std::array options{
    Option{"--stack", OptionKind::one, "NAME",
           "what to fit: a training software or all of them; serving (times of all engines); rough-train (default); "
           "tensorrt-llm (memory)"},
    Option{"--level", OptionKind::many, "ID", "with a training software: fit the level of this SKU or generation too"},
    Option{"--write", OptionKind::one, "FOLDER",
           "with a training software or serving: put the numbers into FOLDER/stacks/{train,serve,step}"},
    Option{"--no-left-out", OptionKind::flag, "",
           "with a training software or serving: do not fit again without each source"},
    Option{"--only", OptionKind::many, "NAME",
           "with serving: a stack or a number (vllm.sequence) to fit, all others held"},
    Option{"--gpu", OptionKind::one, "ID", "the SKU whose kernel curves to fit, from files of measured kernels"},
    Option{"--base", OptionKind::one, "ID", "folders of samples instead of files: the SKU that an overlay extends"},
    Option{"--id", OptionKind::one, "NAME", "with --base: id of the overlay; default the base's own"},
    Option{"--output", OptionKind::one, "PATH", "write the answer to a file; with --base the overlay's folder"},
    Option{"--html", OptionKind::one, "FILE", "with --base: the fit as one file with charts, for a browser"},
    Option{"--kind", OptionKind::one,
           "gemm|attention-prefill|attention-decode|moe|quantize|attention-training|nccl|custom-all-reduce|"
           "moe-all-to-all",
           "with --gpu: the kind of kernels, where the columns do not tell"},
    Option{"--engine", OptionKind::one, "NAME", "with --gpu: only kernels of this engine"},
    Option{"--dtype", OptionKind::one, "NAME", "with --gpu: only kernels of this format"},
    Option{"--cross-validate", OptionKind::one, "N", "with --gpu: folds by shape (default 5; 0: none)"},
    Option{"--probe-shapes", OptionKind::flag, "", "with --gpu: fit on the probe's shapes alone, judge on the others"},
    Option{"--source", OptionKind::one, "TEXT", "with --gpu and toml: where the kernels come from"},
    Option{
        "--format", OptionKind::one, "text|toml|json|csv|markdown",
        "a table, or TOML ready to paste; json with --gpu; with a training software csv of runs, or the accuracy page"},
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

/// The three numbers as the stack file holds them, or with the errors of the rows, fitted and left out.
std::string memory_fit_text(const ServingMemoryFit& fit, const Arguments& arguments) {
  const ServingMemoryConstants& c = fit.constants;
  if (arguments.one("--format", "text") == "toml") {
    return "[activation]\nquantised = " + format_number(c.quantised_bytes, 3) + "\n\n[framework]\nvalue = \"" +
           format_number(c.framework.raw() / 0x1p30, 3) + " GiB\"\nper_doubling = \"" +
           format_number(c.framework_per_doubling.raw() / 0x1p30, 2) + " GiB\"\n";
  }
  Table table{{"rows", "n", "mape %", "within 1", "left out: mape %", "within 1", "pool miss, 80 %"}};
  for (const ServingMemoryGroup& group : fit.groups) {
    const bool left = group.left_out.n > 0;
    table.row({group.name, std::to_string(group.fitted.n), percent(group.fitted.mape),
               std::to_string(group.fitted.within_one), left ? percent(group.left_out.mape) : "-",
               left ? std::to_string(group.left_out.within_one) : "-", left ? format(group.left_out.pool_miss) : "-"});
  }
  return "activation.quantised " + format_number(c.quantised_bytes, 3) + " B, framework " + format(c.framework) +
         ", per doubling of tp " + format(c.framework_per_doubling) + "\n\n" + table.text(0);
}

Outcome fitted(const Arguments& arguments) {
  const std::vector<std::string> paths = arguments.many("");
  if (paths.empty()) {
    throw ConfigError{"name the files of measured training rows, e.g. 'headroom fit train_*.csv'"};
  }
  if (arguments.has("--gpu")) {
    return fit_kernels(arguments);
  }
  const std::string stack = arguments.one("--stack", "rough-train");
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
  if (stack == "serving") {
    return fit_serving_times(arguments, files);
  }
  if (stack != "rough-train" && stack != "tensorrt-llm") {
    return fit_training(arguments, files);
  }
  const Sources sources = Sources::standard();
  if (stack == "tensorrt-llm") {
    return {memory_fit_text(fit_serving_memory(files, Engine::tensorrt_llm, sources), arguments), "", 0};
  }
  const RoughFit fit = fit_rough(files, sources);
  return {arguments.one("--format", "text") == "toml" ? fit_toml(fit) : fit_text(fit), "", 0};
}

Outcome run(const Arguments& arguments) {
  if (arguments.has("--base") && !arguments.many("").empty()) {
    return fit_overlay(arguments);
  }
  if (arguments.has("--html")) {
    throw ConfigError{"--html draws a fit of a folder of samples: name the folder and its SKU with --base"};
  }
  Outcome outcome = fitted(arguments);
  if (arguments.has("--output")) {
    write_whole_file(arguments.one("--output"), outcome.out);
    outcome.out.clear();
  }
  return outcome;
}

constexpr std::string_view examples =
    "  headroom fit train_*.csv\n"
    "  headroom fit train_*.csv --format toml\n"
    "  headroom fit serve_kvcap.csv --stack tensorrt-llm\n"
    "  headroom fit serve_*.csv --stack serving --write model\n"
    "  headroom fit gemm.csv --gpu h100-sxm-80gb --cross-validate 5\n"
    "  headroom fit h200-rack-7 --base h200-sxm-141gb -o h200-rack-7/overlay\n"
    "  headroom fit h200-rack-7 --base h200-sxm-141gb --html fit.html\n"
    "  headroom fit nccl.csv --gpu h100-sxm-80gb --kind nccl --cross-validate 5\n";

}  // namespace

const Verb fit_verb{
    "fit", "fit stacks from measured runs, kernel curves from measured kernels", "FILE.csv", 10000, options, examples,
    run};

}  // namespace headroom::cli
