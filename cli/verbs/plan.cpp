// SPDX-License-Identifier: Apache-2.0
// `headroom plan` and `headroom explain`, for a scenario file or the quick form.
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/page/page.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/interrupt.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/plan_files.hpp>
#include <headroom/cli/frame/progress.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/cli/verbs/search.hpp>
#include <headroom/cli/verbs/side_by_side.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::cli {

extern const Verb plan_verb;
extern const Verb explain_verb;

namespace plan_parts {
namespace {

enum class Asks : std::uint8_t {
  training,
  training_memory,
  search,
  serving,
  serving_memory,
  fleet,
  box,
  network,
  network_memory,
  cluster,
  mixed_job,
  mixed_fleet,
  post_training,
};
constexpr std::array forms{
    Form{"the plan of one training strategy", "the plan of one training strategy"},
    Form{"the memory of a training plan (--only memory)", ""},
    Form{"a search", "a search ([search] or --search)"},
    Form{"a serving plan under a fixed load", "a serving plan under a fixed load"},
    Form{"the memory of a serving plan (--only memory)", ""},
    Form{"a fleet ([traffic])", "a fleet ([traffic])"},
    Form{"the curve of stated GPUs", "the curve of stated GPUs under fixed loads (--concurrency 1..512)"},
    Form{"the plan of a network of ops", "a network of ops"},
    Form{"the memory of a network of ops (--only memory)", ""},
    Form{"the schedule of a cluster", "a cluster (kind = \"cluster\")"},
    Form{"a training job on pools of SKUs", "a training job on pools of SKUs ([[hardware.pool]])",
         formats_in<"text|{}">},
    Form{"a fleet of pools of SKUs", "a fleet of pools of SKUs ([[hardware.pool]])", formats_in<"text|{}">},
    Form{"a step of post-training", "a step of post-training (kind = \"post_train\")"},
};

template <class... Form>
constexpr Forms together(Form... form) {
  return ((Forms{1} << static_cast<unsigned>(form)) | ...);
}

/// The forms that an option of the quick form has a part in: those whose questions have the table of its key.
Forms forms_of(const Key& key) {
  const std::string_view table = key.table();
  const Forms steps = meet(key.kinds, Kinds::post_train) ? together(Asks::post_training) : Forms{};
  if (table == "training") {
    return together(Asks::training, Asks::training_memory, Asks::search, Asks::network, Asks::network_memory,
                    Asks::mixed_job);
  }
  if (table == "serving") {
    return together(Asks::serving, Asks::serving_memory, Asks::fleet, Asks::box, Asks::mixed_fleet);
  }
  if (table == "money") {
    return together(Asks::training, Asks::search, Asks::serving, Asks::fleet, Asks::box, Asks::network, Asks::mixed_job,
                    Asks::mixed_fleet) |
           steps;
  }
  return table == "traffic" ? together(Asks::fleet, Asks::mixed_fleet)
                            : (every_form & ~together(Asks::cluster, Asks::post_training)) | steps;
}

constexpr std::array own_options{
    Option{"--set", OptionKind::many, "KEY=VALUE", "override any key of the scenario, e.g. strategy.tp=8; repeats"},
    Option{"--without", OptionKind::many, "TERM", "training: price the step without a term, e.g. bubble; repeats"}.of(
        Asks::training, Asks::search, Asks::network),
    Option{"--runs", OptionKind::many, "FILE",
           "measured runs of yours, rows as CSV or of a server its client's result, which move the plan's numbers; "
           "repeats"}
        .of(Asks::training, Asks::serving)
        .that(FileUse::reads),
    Option{"--engine-log", OptionKind::one, "FILE", "serving: the engine's start-up log, whose KV cache the plan takes"}
        .of(Asks::serving, Asks::serving_memory)
        .that(FileUse::reads),
    Option{"--trace", OptionKind::one, "FILE",
           "training: the step's pipeline as a trace for Perfetto; of post-training its phases on both pools"}
        .of(Asks::training, Asks::search, Asks::post_training)
        .that(FileUse::writes),
    Option{"--search", OptionKind::many, "AXIS=VALUES",
           "free an axis, e.g. tp=any, gpus=64..1024 x2; 'any': the whole strategy"},
    Option{"--objective", OptionKind::one, "GOAL",
           "what a search minimises: step-time, time, cost, energy, gpu-hours, gpus, memory"}
        .of(Asks::search),
    Option{"--threads", OptionKind::one, "N", "threads of a search; default as many as the machine has"}.of(
        Asks::search, Asks::fleet, Asks::box, Asks::cluster),
    Option{"--ttft", OptionKind::one, "TIME", "serving: slo.ttft_mean of a fixed load, slo.ttft_p95 of traffic"}.of(
        Asks::fleet, Asks::box, Asks::mixed_fleet),
    Option{"--tpot", OptionKind::one, "TIME", "serving: slo.tpot_mean of a fixed load, slo.tpot_p95 of traffic"}.of(
        Asks::fleet, Asks::box, Asks::mixed_fleet),
    Option{"--deadline", OptionKind::one, "TIME", "training: objective.deadline, what the whole run may take"}.of(
        Asks::search),
    Option{within_option, OptionKind::one, "TIME",
           "answer with what is found until then, e.g. '2 s'; exit code 124 if that is partial"}
        .of(Asks::training, Asks::search, Asks::serving, Asks::fleet, Asks::box),
    Option{"--checkpoint", OptionKind::one, "FILE", "where a search keeps what it found; it goes on from there"}
        .of(Asks::search)
        .that(FileUse::keeps),
    Option{"--only", OptionKind::one, "PART", "'memory' answers that part alone: no peak, rate or price needed"}.of(
        Asks::training_memory, Asks::serving_memory, Asks::network_memory),
    brief_option,
    Option{"--format", OptionKind::one, formats_in<"text|{}|html|csv">,
           meanings_in<"text for people (default), {}, html: one file with charts; of a cluster also csv; see -o">},
};

/// Those of keys, then the verb's own.
std::span<const Option> options() {
  static const std::vector<Option> all = quick_options(own_options, forms_of);
  return all;
}

PlanPart part_of(const Arguments& arguments) {
  const std::string part = arguments.one("--only");
  if (!part.empty() && part != "memory") {
    throw ConfigError{"--only knows 'memory', not " + quoted(part)};
  }
  return part.empty() ? PlanPart::all : PlanPart::memory;
}

/// The verb's form for a document, to check options; nullopt for an unknown kind, which the reader reports.
std::optional<Asks> asks_of(const ConfigValue& document, DocumentKind kind, PlanPart part) {
  const bool memory = part == PlanPart::memory;
  switch (kind) {
    case DocumentKind::network: return memory ? Asks::network_memory : Asks::network;
    case DocumentKind::box: return Asks::box;
    case DocumentKind::fleet: return Asks::fleet;
    case DocumentKind::search: return Asks::search;
    case DocumentKind::cluster: return Asks::cluster;
    case DocumentKind::post_train: return Asks::post_training;
    case DocumentKind::mixed:
    case DocumentKind::one_plan: break;
    default: return std::nullopt;
  }
  const ConfigValue* const stated = document.find("kind");
  if (stated == nullptr || (stated->text != "train" && stated->text != "serve")) {
    return std::nullopt;
  }
  if (kind == DocumentKind::mixed) {
    return stated->text == "serve" ? Asks::mixed_fleet : Asks::mixed_job;
  }
  return stated->text == "serve" ? (memory ? Asks::serving_memory : Asks::serving)
                                 : (memory ? Asks::training_memory : Asks::training);
}

/// The plan whose step --trace draws.
const Plan* traced_plan(const GivenAnswer& answer) {
  const auto* const search = std::get_if<SearchPlan>(&answer);
  return search == nullptr ? std::get_if<Plan>(&answer) : search->plan ? &*search->plan : nullptr;
}

Outcome delivered(const GivenAnswer& answer, const Arguments& arguments, bool explained, std::string said) {
  if (const Plan* const plan = arguments.has("--trace") ? traced_plan(answer) : nullptr) {
    write_whole_file(arguments.one("--trace"), trace_of(*plan));
  }
  if (const auto* const step = arguments.has("--trace") ? std::get_if<PostTrainPlan>(&answer) : nullptr;
      step != nullptr && is_good(answer)) {
    write_whole_file(arguments.one("--trace"), phase_trace(*step));
  }
  const std::vector<std::string> files = arguments.many("");
  const std::string file = files.empty() ? "command line" : files.front();
  return {written(answer, arguments, threads_of(arguments), explained, file), std::move(said), is_good(answer) ? 0 : 1,
          is_prose(arguments)};
}

Outcome answer(const Arguments& arguments, bool explained) {
  const std::vector<std::string> files = arguments.many("");
  static_cast<void>(asks_for_brief(arguments));  // refused before anything is computed
  const QuestionLibrary library = own_library();
  if (files.empty() && !arguments.has("--model") && !arguments.has("--set")) {
    throw ConfigError{"name a scenario file, or --model, --gpu and --gpus (see 'headroom plan --help')"};
  }
  const PlanPart part = part_of(arguments);
  const std::vector<Assignment> overrides = overrides_of(options(), arguments, files.empty());
  try {
    if (const std::vector<SweptForm> forms = swept(overrides); forms.size() > 1) {
      if (explained || part == PlanPart::memory) {
        throw ConfigError{forms.front().name +
                          ": a list of values is held side by side by plan alone, with its times; "
                          "ask explain and --only memory for one of them"};
      }
      const TimeLimit limit{arguments};
      std::vector<NamedDocument> documents = documents_of(plan_verb, arguments, forms, library);
      for (NamedDocument& document : documents) {
        take_promises(arguments, document.root);
      }
      return held_side_by_side(std::move(documents), {}, arguments, library, threads_of(arguments));
    }
    ConfigValue root = files.empty() ? scenario_tree(overrides) : scenario_tree(files.front(), overrides);
    refuse_overwrite_of(plan_verb, arguments, root);
    take_promises(arguments, root);
    if (part == PlanPart::memory) {
      // Memory needs no price, so a price list without an offer for the SKU must not fail.
      root.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "money"; });
    }
    if (arguments.one("--format") == "html") {
      report::require_charts();
    }
    const DocumentKind kind = kind_of(root, library);
    if (arguments.one("--format") == "csv" && kind != DocumentKind::cluster && kind != DocumentKind::post_train) {
      throw ConfigError{
          "--format csv writes the schedule of a cluster, a row for each stretch in which a job holds GPUs, or the "
          "ways "
          "to lay a step of post-training out, and " +
          quoted(files.empty() ? "command line" : files.front()) + " asks neither: take text, json or html"};
    }
    if (kind == DocumentKind::box && explained) {
      throw ConfigError{
          "the curve of stated GPUs holds many plans; ask explain for one of them: one serving.concurrency, and the "
          "layout that the curve takes"};
    }
    if (kind == DocumentKind::mixed && explained) {
      throw ConfigError{
          "a mix of SKUs is told pool by pool; ask explain for one of them: its hardware.gpu and hardware.gpus instead "
          "of [[hardware.pool]]"};
    }
    if (kind == DocumentKind::fleet && explained) {
      throw ConfigError{
          "a fleet's plan is simulated, which has no terms to explain; ask explain for one replica under a fixed "
          "load: serving.concurrency instead of [traffic]"};
    }
    if (const std::optional<Asks> asks = asks_of(root, kind, part)) {
      require_form(plan_verb, *asks, arguments);
    }
    AnswerOptions options = search_options();
    options.part = part;
    options.explain = explained;
    options.without = parse_terms(arguments.many("--without"));
    options.threads = threads_of(arguments);
    options.checkpoint = arguments.one("--checkpoint");
    const TimeLimit limit{arguments};
    AskedQuestion question = read_question(std::move(root), files.empty() ? "command line" : files.front(), library);
    if (auto* const one = std::get_if<asked::OnePlan>(&question)) {
      if (arguments.has("--engine-log")) {
        take_engine_log(arguments.one("--engine-log"), one->scenario);
      }
      options.runs = read_given_runs(arguments.many("--runs"), one->scenario, options.without);
    }
    Answered found = answered(std::move(question), options);
    Outcome outcome = delivered(found.answer, arguments, explained, std::move(found.effort));
    outcome.code = is_complete(found.answer) ? outcome.code : interrupted_code();
    return outcome;
  } catch (const ConfigError& error) {
    throw ConfigError{with_options(error), error.untold()};
  }
}

Outcome run_plan(const Arguments& arguments) {
  return answer(arguments, false);
}
Outcome run_explain(const Arguments& arguments) {
  return answer(arguments, true);
}

constexpr std::string_view plan_examples =
    "  headroom plan scenarios/train/llama3-70b-512xh100.toml\n"
    "  headroom plan scenarios/train/llama3-70b-512xh100.toml --set strategy.tp=4 --format json\n"
    "  headroom plan scenarios/train/llama3-70b-512xh100.toml --format html -o report.html\n"
    "  headroom plan --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --tp 8 --pp 4 --seq-len 8192 --global-batch "
    "1024\n"
    "  headroom plan --model llama3-70b --gpu h100-sxm-80gb --gpus 1024 --seq-len 8192 --global-batch 1024 --search "
    "any\n"
    "  headroom plan --model llama3-70b --gpu h100-sxm-80gb --gpus 8 --tp 8 --isl 1024 --osl 256 --concurrency 64\n"
    "  headroom plan --model llama3-70b --gpu h100-sxm-80gb --gpus 8 --isl 1024 --osl 256 --concurrency '1..512 x2' "
    "--set 'slo.tpot_mean=30 ms'\n"
    "  headroom plan scenarios/serve/llama3-70b-fleet.toml\n"
    "  headroom plan --model llama3-70b --gpu h100-sxm-80gb --isl 1024 --osl 256 --rate '12 req/s' --set "
    "'slo.ttft_p95=1 s'\n";

}  // namespace
}  // namespace plan_parts

const Verb plan_verb{"plan",
                     "what a workload needs, how long it takes, what it costs",
                     "SCENARIO.toml",
                     1,
                     plan_parts::options(),
                     plan_parts::plan_examples,
                     plan_parts::run_plan,
                     nullptr,
                     plan_parts::forms};
const Verb explain_verb{"explain",
                        "the same with formula, inputs, sources and share of every term",
                        "SCENARIO.toml",
                        1,
                        plan_parts::options(),
                        plan_parts::plan_examples,
                        plan_parts::run_explain,
                        nullptr,
                        plan_parts::forms};

}  // namespace headroom::cli
