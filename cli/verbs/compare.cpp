// SPDX-License-Identifier: Apache-2.0
// `headroom compare`: several plans next to each other.
#include <headroom/answers/page/page.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/progress.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/verbs/compare_overlay.hpp>
#include <headroom/cli/verbs/compare_pipelines.hpp>
#include <headroom/cli/verbs/harness.hpp>
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/cli/verbs/side_by_side.hpp>

#include <array>
#include <utility>

namespace headroom::cli {

extern const Verb compare_verb;

namespace compare_parts {
namespace {

constexpr std::size_t most_plans = 16;

enum class Asks : std::uint8_t { training, overlay, harness, fleets, serving, pipelines };
constexpr std::array forms{
    Form{"a comparison of training plans", "several training scenarios", formats_in<"text|{}|html">},
    Form{"what an overlay changes", "--overlay FOLDER", "text"},
    Form{"a matrix of cells", "--harness FILE.csv", formats_in<"text|{}">},
    Form{"a comparison of fleets", "several fleets ([traffic])", formats_in<"text|{}|html">},
    Form{"a comparison of plans under fixed loads", "several plans under a fixed load", formats_in<"text|{}|html">},
    Form{"a comparison of measured pipelines", "--pipelines FILE.toml", formats_in<"text|{}">},
};

/// The forms that an option of the quick form has a part in.
Forms forms_of(const Key& key) {
  constexpr auto bit = [](Asks asks) { return Forms{1} << static_cast<unsigned>(asks); };
  const std::string_view table = key.table();
  return table == "training"  ? bit(Asks::training)
         : table == "serving" ? bit(Asks::serving) | bit(Asks::fleets)
         : table == "traffic" ? bit(Asks::fleets)
                              : bit(Asks::training) | bit(Asks::serving) | bit(Asks::fleets);
}

constexpr std::array own_options{
    Option{"--set-each", OptionKind::many, "KEY=VALUE", "override a key of every scenario; repeats"}.of(
        Asks::training, Asks::overlay, Asks::harness, Asks::fleets, Asks::serving),
    Option{"--set", OptionKind::many, "KEY=VALUE", "the same as --set-each, as other verbs spell it"}.of(
        Asks::training, Asks::overlay, Asks::harness, Asks::fleets, Asks::serving),
    Option{"--search", OptionKind::many, "AXIS=VALUES",
           "free an axis of every scenario, e.g. tp=any; 'any': the whole strategy"}
        .of(Asks::training, Asks::serving, Asks::fleets),
    Option{"--objective", OptionKind::one, "GOAL",
           "what a search minimises: step-time, time, cost, energy, gpu-hours, gpus, memory"}
        .of(Asks::training),
    Option{"--overlay", OptionKind::one, "FOLDER", "one scenario without and with a data folder: what changes"}
        .of(Asks::overlay)
        .that(FileUse::reads),
    Option{
        "--harness", OptionKind::one, "FILE.csv",
        "one scenario over a matrix of SKUs and scales: what to expect of each cell, and whether measured rates hold"}
        .of(Asks::harness)
        .that(FileUse::reads),
    Option{"--pipelines", OptionKind::one, "FILE.toml",
           "two measured pipelines: time, money and energy at equal quality, preparation and copies counted"}
        .of(Asks::pipelines)
        .that(FileUse::reads),
    Option{"--tolerance", OptionKind::one, "SHARE", "with --harness; default: what past predictions were off by"}.of(
        Asks::harness),
    Option{"--deadline", OptionKind::one, "TIME", "training: what the whole run may take, e.g. \"90 d\""}.of(
        Asks::training, Asks::serving),
    Option{"--ttft", OptionKind::one, "TIME", "serving: what the first token may take, e.g. \"500 ms\""}.of(
        Asks::training, Asks::serving),
    Option{"--tpot", OptionKind::one, "TIME", "serving: what each further token may take, e.g. \"50 ms\""}.of(
        Asks::training, Asks::serving),
    Option{within_option, OptionKind::one, "TIME",
           "compare what is found until then, e.g. '2 s'; exit code 124 if that is partial"}
        .of(Asks::training, Asks::serving, Asks::fleets),
    brief_option.of(Asks::training, Asks::serving, Asks::fleets),
    Option{"--format", OptionKind::one, formats_in<"text|{}|html">,
           meanings_in<"text for people (default), {}, html: one file with charts">},
};

/// Those of keys, then the verb's own.
std::span<const Option> options() {
  static const std::vector<Option> all = quick_options(own_options, forms_of);
  return all;
}

/// A document for each file and each value of the lists that are given.
std::vector<NamedDocument> documents(const Arguments& arguments, const QuestionLibrary& library) {
  const bool quick = arguments.many("").empty();
  if (quick && !arguments.has("--model")) {
    return {};
  }
  return documents_of(compare_verb, arguments, swept(overrides_of(options(), arguments, quick, "--set-each")), library);
}

Asks asks_of(const std::vector<NamedDocument>& documents, const QuestionLibrary& library) {
  if (are_fleets(documents, library)) {
    return Asks::fleets;
  }
  const ConfigValue* const kind = documents.empty() ? nullptr : documents.front().root.find("kind");
  return kind != nullptr && kind->text == "serve" ? Asks::serving : Asks::training;
}

Outcome run_compare(const Arguments& arguments) {
  if (arguments.has("--overlay")) {
    require_form(compare_verb, Asks::overlay, arguments);
    return compare_overlay(arguments);
  }
  if (arguments.has("--harness")) {
    require_form(compare_verb, Asks::harness, arguments);
    return run_harness(arguments);
  }
  if (arguments.has("--pipelines")) {
    require_form(compare_verb, Asks::pipelines, arguments);
    return run_pipelines(arguments);
  }
  static_cast<void>(asks_for_brief(arguments));  // refused before anything is computed
  const QuestionLibrary library = own_library();
  try {
    std::vector<NamedDocument> all = documents(arguments, library);
    require_form(compare_verb, asks_of(all, library), arguments);
    Diagnostics diagnostics;
    Objectives objectives;
    objectives.duration = quantity_option<Seconds>(arguments, "--deadline", diagnostics);
    objectives.ttft = quantity_option<Seconds>(arguments, "--ttft", diagnostics);
    objectives.tpot = quantity_option<Seconds>(arguments, "--tpot", diagnostics);
    diagnostics.throw_if_any();
    if (all.size() < 2) {
      throw ConfigError{"'compare' needs two scenario files or more; 'headroom plan' answers one"};
    }
    if (arguments.one("--format") == "html") {
      report::require_charts();
    }
    const TimeLimit limit{arguments};
    return held_side_by_side(std::move(all), objectives, arguments, library, 0);
  } catch (const ConfigError& error) {
    throw ConfigError{with_options(error), error.untold()};
  }
}

constexpr std::string_view examples =
    "  headroom compare megatron.toml fsdp.toml\n"
    "  headroom compare h100.toml h200.toml b200.toml --set-each training.tokens=1e12 --deadline '60 d'\n"
    "  headroom compare --model llama3-70b --gpu h100-sxm-80gb,h200-sxm-141gb --gpus 8 --isl 1024 --osl 256 "
    "--concurrency 64\n"
    "  headroom compare h200.toml --overlay h200-rack-7/overlay\n"
    "  headroom compare llama3-8b.toml --harness nightly.csv --tolerance '10 %'\n"
    "  headroom compare --pipelines cpu-and-gpus.toml\n";

}  // namespace
}  // namespace compare_parts

const Verb compare_verb{"compare",
                        "plans side by side: by term, by dollar, and whether they differ at all",
                        "SCENARIO.toml",
                        compare_parts::most_plans,
                        compare_parts::options(),
                        compare_parts::examples,
                        compare_parts::run_compare,
                        nullptr,
                        compare_parts::forms};

}  // namespace headroom::cli
