// SPDX-License-Identifier: Apache-2.0
// `headroom plan` and `headroom explain`: a scenario file or the quick form, priced.
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/page/page.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/interrupt.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/verbs/search.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/scenarios/plan/engine_log.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::cli {

extern const Verb plan_verb;
extern const Verb explain_verb;

namespace {

enum class Asks : std::uint8_t {
  training,
  training_memory,
  search,
  serving,
  serving_memory,
  fleet,
  network,
  network_memory,
};
constexpr std::array forms{
    Form{"the plan of one training strategy", "the plan of one training strategy"},
    Form{"the memory of a training plan (--only memory)", ""},
    Form{"a search", "a search ([search] or --search)"},
    Form{"a serving plan under a fixed load", "a serving plan under a fixed load"},
    Form{"the memory of a serving plan (--only memory)", ""},
    Form{"a fleet ([traffic])", "a fleet ([traffic])"},
    Form{"the plan of a network of ops", "a network of ops"},
    Form{"the memory of a network of ops (--only memory)", ""},
};

/// An option of the quick form is another spelling of a scenario key.
struct QuickOption {
  std::string_view option;
  std::string_view key;
};

constexpr std::array quick_options{
    QuickOption{"--model", "model"},
    QuickOption{"--gpu", "hardware.gpu"},
    QuickOption{"--gpus", "hardware.gpus"},
    QuickOption{"--node", "hardware.node"},
    QuickOption{"--cluster", "hardware.cluster"},
    QuickOption{"--tp", "strategy.tp"},
    QuickOption{"--pp", "strategy.pp"},
    QuickOption{"--vpp", "strategy.vpp"},
    QuickOption{"--cp", "strategy.cp"},
    QuickOption{"--ep", "strategy.ep"},
    QuickOption{"--dp", "strategy.dp"},
    QuickOption{"--zero", "strategy.zero"},
    QuickOption{"--micro-batch", "strategy.micro_batch"},
    QuickOption{"--recompute", "strategy.recompute"},
    QuickOption{"--seq-len", "training.seq_len"},
    QuickOption{"--global-batch", "training.global_batch"},
    QuickOption{"--precision", "training.precision"},
    QuickOption{"--tokens", "training.tokens"},
    QuickOption{"--isl", "serving.isl"},
    QuickOption{"--osl", "serving.osl"},
    QuickOption{"--concurrency", "serving.concurrency"},
    QuickOption{"--rate", "traffic.rate"},
    QuickOption{"--weights", "serving.weights"},
    QuickOption{"--engine", "serving.engine"},
    QuickOption{"--price", "money.price"},
    QuickOption{"--prices", "money.prices"},
};

constexpr std::array options{
    Option{"--model", OptionKind::one, "ID", "model preset, network, or the path of a config.json"},
    Option{"--gpu", OptionKind::one, "ID", "SKU of the catalog"},
    Option{"--gpus", OptionKind::one, "N", "number of GPUs"},
    Option{"--node", OptionKind::one, "ID", "node type; default the SKU's reference node"},
    Option{"--cluster", OptionKind::one, "ID", "training: a cluster of the catalog, for its tiers and transport"},
    Option{"--tp", OptionKind::one, "N", "tensor parallel ranks"},
    Option{"--pp", OptionKind::one, "N", "pipeline stages"},
    Option{"--vpp", OptionKind::one, "N", "model chunks per pipeline stage"},
    Option{"--cp", OptionKind::one, "N", "context parallel ranks"},
    Option{"--ep", OptionKind::one, "N", "expert parallel ranks"},
    Option{"--dp", OptionKind::one, "N", "data parallel replicas; default gpus / (tp pp cp)"},
    Option{"--zero", OptionKind::one, "STAGE", "ZeRO stage 0 to 3; 3 is fully sharded (FSDP); default 1"},
    Option{"--micro-batch", OptionKind::one, "N", "sequences per micro-batch; default the fastest that fits"},
    Option{"--recompute", OptionKind::one, "none|selective|full", "recomputation; default the fastest that fits"},
    Option{"--seq-len", OptionKind::one, "TOKENS", "training: tokens per sequence"}.of(
        Asks::training, Asks::training_memory, Asks::search, Asks::network, Asks::network_memory),
    Option{"--global-batch", OptionKind::one, "N", "training: sequences per step"}.of(
        Asks::training, Asks::training_memory, Asks::search, Asks::network, Asks::network_memory),
    Option{"--precision", OptionKind::one, "NAME", "training: fp32 tf32 fp16 bf16 fp8 mxfp8 nvfp4; default bf16"}.of(
        Asks::training, Asks::training_memory, Asks::search, Asks::network, Asks::network_memory),
    Option{"--tokens", OptionKind::one, "N", "training: tokens of the whole run, e.g. 15e12"}.of(
        Asks::training, Asks::training_memory, Asks::search, Asks::network, Asks::network_memory),
    Option{"--isl", OptionKind::one, "TOKENS", "serving: input tokens; makes the quick form a serving question"}.of(
        Asks::serving, Asks::serving_memory, Asks::fleet),
    Option{"--osl", OptionKind::one, "TOKENS", "serving: output tokens"}.of(
        Asks::serving, Asks::serving_memory, Asks::fleet),
    Option{"--concurrency", OptionKind::one, "N", "serving: requests in flight"}.of(
        Asks::serving, Asks::serving_memory, Asks::fleet),
    Option{"--rate", OptionKind::one, "RATE", "serving: requests that come, e.g. '12 req/s'; sizes a fleet"}.of(
        Asks::fleet),
    Option{"--weights", OptionKind::one, "NAME",
           "serving: format of the weights; default the checkpoint's own, else bf16"}
        .of(Asks::serving, Asks::serving_memory, Asks::fleet),
    Option{"--engine", OptionKind::one, "NAME", "serving: vllm (default), tensorrt-llm or sglang"}.of(
        Asks::serving, Asks::serving_memory, Asks::fleet),
    Option{"--price", OptionKind::one, "MONEY", "price of a GPU, e.g. '2.99 $/h'"}.of(
        Asks::training, Asks::search, Asks::serving, Asks::fleet, Asks::network),
    Option{"--prices", OptionKind::one, "ID", "price list of the catalog"}.of(
        Asks::training, Asks::search, Asks::serving, Asks::fleet, Asks::network),
    Option{"--set", OptionKind::many, "KEY=VALUE", "override any key of the scenario, e.g. strategy.tp=8; repeats"},
    Option{"--without", OptionKind::many, "TERM", "training: price the step without a term, e.g. bubble; repeats"}.of(
        Asks::training, Asks::search, Asks::network),
    Option{"--runs", OptionKind::many, "FILE.csv", "training: measured runs of yours, which move the level; repeats"}
        .of(Asks::training)
        .that(FileUse::reads),
    Option{"--engine-log", OptionKind::one, "FILE", "serving: the engine's start-up log, whose KV cache the plan takes"}
        .of(Asks::serving, Asks::serving_memory)
        .that(FileUse::reads),
    Option{"--trace", OptionKind::one, "FILE", "training: the step's pipeline as a trace for Perfetto"}
        .of(Asks::training, Asks::search)
        .that(FileUse::writes),
    Option{"--search", OptionKind::many, "AXIS=VALUES",
           "free an axis, e.g. tp=any, gpus=64..1024 x2; 'any': the whole strategy"},
    Option{"--objective", OptionKind::one, "GOAL",
           "what a search minimises: step-time, time, cost, energy, gpu-hours, gpus, memory"}
        .of(Asks::search),
    Option{"--threads", OptionKind::one, "N", "threads of a search; default as many as the machine has"}.of(
        Asks::search, Asks::fleet),
    Option{"--checkpoint", OptionKind::one, "FILE", "where a search keeps what it found; it goes on from there"}
        .of(Asks::search)
        .that(FileUse::keeps),
    Option{"--only", OptionKind::one, "PART", "'memory' answers that part alone: no peak, rate or price needed"}.of(
        Asks::training_memory, Asks::serving_memory, Asks::network_memory),
    Option{"--format", OptionKind::one, "text|json|html",
           "text for people (default), json with raw SI, html: one file with charts; see -o"},
};

/// The assignments that the options stand for, `--set` last so that it wins.
std::vector<std::string> overrides_of(const Arguments& arguments, bool quick) {
  std::vector<std::string> overrides;
  const std::vector<std::string> set = arguments.many("--set");
  const auto sets = [&](std::string_view key) {
    return std::any_of(set.begin(), set.end(), [&](const std::string& s) { return s.starts_with(key); });
  };
  const std::vector<std::string> freed = arguments.many("--search");
  const auto frees = [&](std::string_view axis) {
    return std::any_of(freed.begin(), freed.end(), [&](const std::string& s) { return s.starts_with(axis); });
  };
  const bool serving = arguments.has("--isl") || arguments.has("--osl") || arguments.has("--concurrency") ||
                       arguments.has("--rate") || sets("kind=serve") || sets("traffic.");
  if (quick) {
    overrides.emplace_back(serving ? "kind=serve" : "kind=train");
    if (!serving && !frees("precision=") && !arguments.has("--precision")) {
      overrides.emplace_back("training.precision=bf16");
    }
  }
  for (const QuickOption& option : quick_options) {
    if (arguments.has(option.option)) {
      overrides.push_back(std::string{option.key} + "=" + arguments.one(option.option));
    }
  }
  for (const std::string& axis : arguments.many("--search")) {
    overrides.push_back(search_assignment(axis));
  }
  if (arguments.has("--objective")) {
    overrides.push_back("objective.minimize=" + arguments.one("--objective"));
  }
  for (const std::string& assignment : arguments.many("--set")) {
    overrides.push_back(assignment);
  }
  return overrides;
}

/// Problems of the quick form speak of its options: "--gpus many" instead of "--set hardware.gpus=many".
std::vector<Diagnostic> in_option_words(const ConfigError& error, const Arguments& arguments) {
  std::vector<Diagnostic> diagnostics{error.diagnostics().begin(), error.diagnostics().end()};
  for (Diagnostic& diagnostic : diagnostics) {
    for (const std::string& axis : arguments.many("--search")) {
      if (diagnostic.file == "--set " + search_assignment(axis)) {
        diagnostic.file = "--search " + axis;
      }
    }
    if (diagnostic.file == "--set objective.minimize=" + arguments.one("--objective")) {
      diagnostic.file = "--objective " + arguments.one("--objective");
    }
    for (const QuickOption& quick : quick_options) {
      const std::string value = arguments.one(quick.option);
      if (diagnostic.file == "--set " + std::string{quick.key} + "=" + value && arguments.has(quick.option)) {
        diagnostic.file = std::string{quick.option} + " " + value;
      }
      const std::string_view key = quick.key.substr(quick.key.find('.') + 1);
      if (diagnostic.file == "command line" &&
          diagnostic.message.starts_with("missing key '" + std::string{key} + "'")) {
        diagnostic.message += "; give " + std::string{quick.option};
      }
    }
  }
  return diagnostics;
}

PlanPart part_of(const Arguments& arguments) {
  const std::string part = arguments.one("--only");
  if (!part.empty() && part != "memory") {
    throw ConfigError{"--only knows 'memory', not " + quoted(part)};
  }
  return part.empty() ? PlanPart::all : PlanPart::memory;
}

/// The files of --runs. Their own problems are told with what is wrong of them as runs of this plan.
std::vector<RunFile> read_given_runs(const Arguments& arguments, const Scenario& scenario, TermSet without) {
  if (!arguments.has("--runs")) {
    return {};
  }
  Diagnostics diagnostics;
  std::vector<RunFile> files = read_run_files(arguments.many("--runs"), diagnostics);
  if (!diagnostics.empty()) {
    static_cast<void>(
        learn_from_runs(files, std::get<TrainScenario>(scenario.question), *scenario.sources, diagnostics, without));
    diagnostics.throw_if_any();
  }
  return files;
}

/// An engine's own log wins over what is predicted of its memory.
void take_engine_log(const Arguments& arguments, Scenario& scenario) {
  if (!arguments.has("--engine-log")) {
    return;
  }
  auto& serve = std::get<ServeScenario>(scenario.question);
  const EngineLog log = read_engine_log(read_file(arguments.one("--engine-log")), serve.engine.engine);
  for (std::string& note : calibrate_memory(log, serve)) {
    scenario.assumptions.push_back(std::move(note));
  }
}

/// The verb's form of a document, for options that have no part in it; nullopt where its kind is none, which its
/// reading tells.
std::optional<Asks> asks_of(const ConfigValue& document, DocumentKind kind, PlanPart part) {
  const bool memory = part == PlanPart::memory;
  switch (kind) {
    case DocumentKind::network: return memory ? Asks::network_memory : Asks::network;
    case DocumentKind::fleet: return Asks::fleet;
    case DocumentKind::search: return Asks::search;
    case DocumentKind::one_plan: break;
  }
  const ConfigValue* const stated = document.find("kind");
  if (stated == nullptr || (stated->text != "train" && stated->text != "serve")) {
    return std::nullopt;
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
  const std::vector<std::string> files = arguments.many("");
  const std::string format = arguments.one("--format", "text");
  return {format == "json"   ? to_json(answer)
          : format == "html" ? to_html(answer, threads_of(arguments))
                             : to_text(answer, explained, files.empty() ? "command line" : files.front()),
          std::move(said), is_good(answer) ? 0 : 1};
}

Outcome answer(const Arguments& arguments, bool explained) {
  const std::vector<std::string> files = arguments.many("");
  const QuestionLibrary library = QuestionLibrary::standard();
  if (files.empty() && !arguments.has("--model") && !arguments.has("--set")) {
    throw ConfigError{"name a scenario file, or --model, --gpu and --gpus (see 'headroom plan --help')"};
  }
  const PlanPart part = part_of(arguments);
  const std::vector<std::string> overrides = overrides_of(arguments, files.empty());
  try {
    ConfigValue root = files.empty() ? scenario_tree(overrides) : scenario_tree(files.front(), overrides);
    refuse_overwrite_of(plan_verb, arguments, root);
    if (part == PlanPart::memory) {
      // Memory needs no price: a list without an offer for the SKU must not stand in its way.
      root.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "money"; });
    }
    if (arguments.one("--format") == "html") {
      report::require_charts();
    }
    const DocumentKind kind = kind_of(root, library);
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
    AskedQuestion question = read_question(std::move(root), files.empty() ? "command line" : files.front(), library);
    if (kind == DocumentKind::search) {
      FoundPlan found = search(std::move(question), options);
      const bool complete = found.answer.result.complete;
      Outcome outcome = delivered(std::move(found.answer), arguments, explained, std::move(found.effort));
      outcome.code = complete ? outcome.code : interrupted_code();
      return outcome;
    }
    if (auto* const one = std::get_if<asked::OnePlan>(&question)) {
      take_engine_log(arguments, one->scenario);
      options.runs = read_given_runs(arguments, one->scenario, options.without);
    }
    return delivered(answer_of(std::move(question), options), arguments, explained, "");
  } catch (const ConfigError& error) {
    throw ConfigError{in_option_words(error, arguments), error.untold()};
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
    "  headroom plan scenarios/serve/llama3-70b-fleet.toml\n"
    "  headroom plan --model llama3-70b --gpu h100-sxm-80gb --isl 1024 --osl 256 --rate '12 req/s' --set "
    "'slo.ttft_p95=1 s'\n";

}  // namespace

const Verb plan_verb{"plan",
                     "what a workload needs, how long it takes, what it costs",
                     "SCENARIO.toml",
                     1,
                     options,
                     plan_examples,
                     run_plan,
                     nullptr,
                     forms};
const Verb explain_verb{"explain",
                        "the same with formula, inputs, sources and share of every term",
                        "SCENARIO.toml",
                        1,
                        options,
                        plan_examples,
                        run_explain,
                        nullptr,
                        forms};

}  // namespace headroom::cli
