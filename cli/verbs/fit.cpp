// SPDX-License-Identifier: Apache-2.0
// `headroom fit`: fits numbers to measured rows; by default the sustained shares of the rough form.
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/networks/network_files.hpp>
#include <headroom/calibrate/stacks/fit_rough.hpp>
#include <headroom/calibrate/stacks/fit_serving_memory.hpp>
#include <headroom/cli/fits/fit_classic_laws.hpp>
#include <headroom/cli/fits/fit_kernels.hpp>
#include <headroom/cli/fits/fit_overlay.hpp>
#include <headroom/cli/fits/fit_post.hpp>
#include <headroom/cli/fits/fit_power.hpp>
#include <headroom/cli/fits/fit_serving.hpp>
#include <headroom/cli/fits/fit_step.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/render/network_fit_text.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>

namespace headroom::cli {

extern const Verb fit_verb;

namespace fit_parts {
namespace {

enum class Asks : std::uint8_t { shares, memory, serving, training, kernels, overlay, networks, classic, post, power };
constexpr std::array forms{
    Form{"a fit of the rough stack's shares", "--stack rough-train", "text|toml"},
    Form{"a fit of an engine's memory", "--stack tensorrt-llm", "text|toml"},
    Form{"a fit of serving times", "--stack serving", "text"},
    Form{"a fit of a training software", "--stack SOFTWARE", "text|csv|markdown"},
    Form{"a fit of kernel curves", "--gpu ID", formats_in<"text|toml|{}">},
    Form{"a fit of an overlay", "--base ID", formats_in<"text|toml|{}">},
    Form{"a fit of calls of networks", "--stack networks", "text"},
    Form{"a fit of classic machine learning", "--stack classic", "text"},
    Form{"a fit of post-training", "--stack post", "text"},
    Form{"a fit of power while serving", "--stack power", "text"},
};

constexpr std::array options{
    Option{"--stack", OptionKind::one, "NAME",
           "what to fit: a training software or all of them; serving (times of all engines); networks (calls "
           "of networks); classic (trees, k-means, recommenders, video, robots); post (post-training); power (of GPUs "
           "that "
           "serve); rough-train (default); tensorrt-llm (memory)"}
        .of(Asks::shares,
            Asks::memory,
            Asks::serving,
            Asks::networks,
            Asks::classic,
            Asks::post,
            Asks::power,
            Asks::training),
    Option{"--level", OptionKind::many, "ID", "with a training software: fit the level of this SKU or generation too"}
        .of(Asks::training),
    Option{"--write", OptionKind::one, "FOLDER",
           "with a training software, serving, networks, post or power: put the numbers into "
           "FOLDER/stacks/{train,serve,infer,post,step}"}
        .of(Asks::training, Asks::serving, Asks::networks, Asks::post, Asks::power)
        .that(FileUse::writes_in),
    Option{"--no-left-out", OptionKind::flag, "",
           "with a training software, serving, networks, classic, post or power: do not fit again without each source, "
           "network and SKU"}
        .of(Asks::training, Asks::serving, Asks::networks, Asks::classic, Asks::post, Asks::power),
    Option{"--only", OptionKind::many, "NAME",
           "with serving: a stack or a number (vllm.sequence) to fit, all others held"}
        .of(Asks::serving),
    Option{"--gpu", OptionKind::one, "ID", "the SKU whose kernel curves to fit, from files of measured kernels"}.of(
        Asks::kernels),
    Option{"--base", OptionKind::one, "ID", "folders of samples instead of files: the SKU that an overlay extends"}.of(
        Asks::overlay),
    Option{"--id", OptionKind::one, "NAME", "with --base: id of the overlay; default the base's own"}.of(Asks::overlay),
    Option{"--output", OptionKind::one, "PATH", "write the answer to a file; with --base the overlay's folder"}.that(
        FileUse::writes_in),
    Option{"--html", OptionKind::one, "FILE", "with --base: the fit as one file with charts, for a browser"}
        .of(Asks::overlay)
        .that(FileUse::writes),
    Option{"--kind", OptionKind::one,
           "gemm|attention-prefill|attention-decode|moe|quantize|attention-training|pass|nccl|custom-all-reduce|"
           "moe-all-to-all",
           "with --gpu: the kind of kernels, where the columns do not tell"}
        .of(Asks::kernels),
    Option{"--engine", OptionKind::one, "NAME", "with --gpu: only kernels of this engine"}.of(Asks::kernels),
    Option{"--dtype", OptionKind::one, "NAME", "with --gpu: only kernels of this format"}.of(Asks::kernels),
    Option{"--cross-validate", OptionKind::one, "N", "with --gpu: folds by shape (default 5; 0: none)"}
        .of(Asks::kernels)
        .without("--probe-shapes"),
    Option{"--probe-shapes", OptionKind::flag, "", "with --gpu: fit on the probe's shapes alone, judge on the others"}
        .of(Asks::kernels),
    Option{"--source", OptionKind::one, "TEXT", "with --gpu and toml: where the kernels come from"}
        .of(Asks::kernels)
        .with("--format toml"),
    Option{"--format", OptionKind::one, formats_in<"text|toml|{}|csv|markdown">,
           meanings_in<"a table, or TOML ready to paste; with --gpu or --base also {}; with a training software csv of "
                       "runs, or the accuracy page">},
};

Asks asks_of(const Arguments& arguments) {
  const std::string stack = arguments.one("--stack", "rough-train");
  return arguments.has("--base")   ? Asks::overlay
         : arguments.has("--gpu")  ? Asks::kernels
         : stack == "serving"      ? Asks::serving
         : stack == "networks"     ? Asks::networks
         : stack == "classic"      ? Asks::classic
         : stack == "post"         ? Asks::post
         : stack == "power"        ? Asks::power
         : stack == "tensorrt-llm" ? Asks::memory
         : stack == "rough-train"  ? Asks::shares
                                   : Asks::training;
}

std::string fit_text(const RoughFit& fit) {
  Table table{{"generation/recipe", "share of peak", "rows", "sources", "mape %", "left out %"}};
  for (const FittedShare& share : fit.shares) {
    table.row({share.key, format_number(share.share), std::to_string(share.rows), std::to_string(share.sources.size()),
               percent_number(share.mape), percent_number(share.left_out_mape)});
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
            percent_number(share->mape) + " %" +
            (std::isfinite(share->left_out_mape) ? ", sources left out " + percent_number(share->left_out_mape) + " %"
                                                 : "") +
            "\" }\n";
  }
  return text;
}

/// The three numbers in the stack file's form, or with fitted and left-out errors.
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
    table.row({group.name, std::to_string(group.fitted.n), percent_number(group.fitted.mape),
               std::to_string(group.fitted.within_one), left ? percent_number(group.left_out.mape) : "-",
               left ? std::to_string(group.left_out.within_one) : "-", left ? format(group.left_out.pool_miss) : "-"});
  }
  return "activation.quantised " + format_number(c.quantised_bytes, 3) + " B, framework " + format(c.framework) +
         ", per doubling of tp " + format(c.framework_per_doubling) + "\n\n" + table.text(0);
}

Outcome fit_network_calls(const Arguments& arguments, const std::vector<RunFile>& files) {
  NetworkFitOptions how;
  if (arguments.has("--no-left-out")) {
    how.leave_out.clear();
  }
  const Sources sources = own_sources();
  const NetworkFit fit = fit_networks(
      files, sources, how, [](std::string_view what) { std::cerr << "headroom: " << headroom::shown(what) << "\n"; });
  Outcome outcome;
  outcome.out = network_fit_text(fit);
  if (arguments.has("--write")) {
    for (const std::string& file : write_network_files(fit, arguments.one("--write"))) {
      outcome.err += "headroom: wrote " + file + "\n";
    }
  }
  return outcome;
}

/// Runs the fit that the command asks for.
Outcome fitted(const Arguments& arguments, Asks asks) {
  if (asks == Asks::kernels) {
    return fit_kernels(arguments);
  }
  Diagnostics diagnostics;
  const std::vector<RunFile> files = read_run_files(arguments.many(""), diagnostics);
  diagnostics.throw_if_any();
  if (asks == Asks::serving) {
    return fit_serving_times(arguments, files);
  }
  if (asks == Asks::networks) {
    return fit_network_calls(arguments, files);
  }
  if (asks == Asks::classic) {
    return fit_classic_laws(arguments, files);
  }
  if (asks == Asks::post) {
    return fit_post_training_numbers(arguments, files);
  }
  if (asks == Asks::power) {
    return fit_power_numbers(arguments, files);
  }
  if (asks == Asks::training) {
    return fit_training(arguments, files);
  }
  const Sources sources = own_sources();
  if (asks == Asks::memory) {
    return {memory_fit_text(fit_serving_memory(files, Engine::tensorrt_llm, sources), arguments), "", 0};
  }
  const RoughFit fit = fit_rough(files, sources);
  return {arguments.one("--format", "text") == "toml" ? fit_toml(fit) : fit_text(fit), "", 0};
}

Outcome run(const Arguments& arguments) {
  const Asks asks = asks_of(arguments);
  require_form(fit_verb, asks, arguments);
  if (arguments.many("").empty()) {
    throw ConfigError{asks == Asks::overlay
                          ? "name the folders of samples, e.g. 'headroom fit h200-rack-7 --base h200-sxm-141gb'"
                          : "name the files of measured training rows, e.g. 'headroom fit train_*.csv'"};
  }
  if (asks == Asks::overlay) {
    return fit_overlay(arguments);
  }
  const bool to_file = arguments.has("--output");
  if (to_file) {
    require_output("--output", arguments.one("--output"));
  }
  Outcome outcome = fitted(arguments, asks);
  if (to_file) {
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
    "  headroom fit serve_dlexamples.csv --stack networks --write model\n"
    "  headroom fit other_workloads.csv --stack classic\n"
    "  headroom fit rl_steps.csv --stack post --write model\n"
    "  headroom fit serve_mlenergy.csv --stack power --write model\n"
    "  headroom fit gemm.csv --gpu h100-sxm-80gb --cross-validate 5\n"
    "  headroom fit h200-rack-7 --base h200-sxm-141gb -o h200-rack-7/overlay\n"
    "  headroom fit h200-rack-7 --base h200-sxm-141gb --html fit.html\n"
    "  headroom fit nccl.csv --gpu h100-sxm-80gb --kind nccl --cross-validate 5\n";

}  // namespace
}  // namespace fit_parts

const Verb fit_verb{"fit",
                    "fit stacks from measured runs, kernel curves from measured kernels",
                    "FILE.csv",
                    10000,
                    fit_parts::options,
                    fit_parts::examples,
                    fit_parts::run,
                    nullptr,
                    fit_parts::forms};

}  // namespace headroom::cli
