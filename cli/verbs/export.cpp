// SPDX-License-Identifier: Apache-2.0
// `headroom export`: writes a training or serving plan as the launch file of another program.
#include <headroom/answers/door/cluster_kind.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_fleet.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/verbs/export_reports.hpp>
#include <headroom/cli/verbs/export_timeline.hpp>
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/cli/verbs/search.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/scenarios/deploy/deploy.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/keys/key.hpp>
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/pools/cluster_export.hpp>
#include <headroom/scenarios/post_training/post_train_export.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/sharing/mig_parted.hpp>
#include <headroom/scenarios/sharing/sharing_plan.hpp>
#include <headroom/scenarios/traffic/admission.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli {

extern const Verb export_verb;

namespace export_parts {
namespace {

enum class Asks : std::uint8_t { training, search, serving, fleet, box, sharing, cluster, timeline, post_training };
constexpr std::array forms{
    Form{"the launch of one training strategy", "the plan of one training strategy"},
    Form{"the launch of the plan that a search takes", "a search ([search] or --search)"},
    Form{"the launch of a server under a fixed load", "a serving plan under a fixed load"},
    Form{"the launch of a fleet ([traffic])", "a fleet ([traffic])"},
    Form{"the launch of the layout that a curve takes", "the curve of stated GPUs (--concurrency 1..512)"},
    Form{"the slices of a card for its tenants", "tenants of one card (kind sharing)"},
    Form{"queues, quotas and priorities of a cluster", "a cluster (kind cluster)"},
    Form{"what profilers and monitors would see of a run", "a timeline (--to kineto, chakra or dcgm)"},
    Form{"the launch of a step of post-training", "a step of post-training (kind post_train)"},
};

/// The forms that an option of the quick form has a part in.
Forms forms_of(const Key& key) {
  constexpr auto bit = [](Asks asks) { return Forms{1} << static_cast<unsigned>(asks); };
  const std::string_view table = key.table();
  return table == "training"  ? bit(Asks::training) | bit(Asks::search) | bit(Asks::timeline)
         : table == "serving" ? bit(Asks::serving) | bit(Asks::fleet) | bit(Asks::box)
         : table == "traffic" ? bit(Asks::fleet)
                              : every_form & ~bit(Asks::cluster) &
                                    ~(meet(key.kinds, Kinds::post_train) ? 0U : bit(Asks::post_training)) &
                                    ~(meet(key.kinds, Kinds::sharing) ? 0U : bit(Asks::sharing));
}

struct OtherWord {
  std::string_view word, instead;
};
constexpr std::array other_words{
    OtherWord{"helm", "--to kubernetes writes a Deployment and its Service, which a chart takes as they are"},
    OtherWord{"kustomize", "--to kubernetes writes a Deployment and its Service, which an overlay takes as they are"},
    OtherWord{"k8s", "take --to kubernetes"},
    OtherWord{"deployment", "take --to kubernetes"},
    OtherWord{"lws", "take --to leaderworkerset"},
    OtherWord{"llmisvc", "take --to kserve"},
    OtherWord{"kuberay", "take --to rayservice"},
    OtherWord{"docker", "--to vllm, sglang or tensorrt-llm writes the command that a container runs"},
    OtherWord{"cloudai", "take --to cloudai-test, cloudai-scenario or cloudai-system: CloudAI reads three files"},
};
std::string instead_of(std::string_view word) {
  const auto found =
      std::find_if(other_words.begin(), other_words.end(), [&](const auto& w) { return w.word == word; });
  return std::string{found == other_words.end() ? std::string_view{} : found->instead};
}

/// "ray" is short for the one form of Ray.
std::string_view form_meant(std::string_view word) {
  return word == "ray" ? "ray-serve" : "";
}

constexpr std::array own_options{
    Option{"--to", OptionKind::one,
           "megatron|nemo|torchtitan|deepspeed|torchrun|slurm|vllm|sglang|tensorrt-llm|kubernetes|leaderworkerset|"
           "kserve|ray-serve|mig-parted|kueue|slurm-qos|kineto|chakra|dcgm|verl|nemo-rl|dynamo|inferenceservice|"
           "rayservice|skypilot|cloudai-test|cloudai-scenario|cloudai-system|llm-d|mlperf-endpoints|focus",
           "the form to write; from vllm on for serving, mig-parted for slices of cards, kueue and slurm-qos for "
           "clusters, then what profilers and monitors would see of a training run, post-training, deployments (of "
           "training skypilot and cloudai-*), and the answer as a benchmark's result or as a bill"}
        .or_else(instead_of)
        .or_meant(form_meant),
    Option{"--search", OptionKind::many, "AXIS=VALUES",
           "free an axis, e.g. tp=any; 'any': the whole strategy; the plan taken is written"},
    Option{"--objective", OptionKind::one, "GOAL",
           "what a search minimises: step-time, time, cost, energy, gpu-hours, gpus, memory"}
        .of(Asks::search, Asks::timeline),
    Option{"--ranks", OptionKind::one, "N", "ranks to simulate; default 8, or the job's"}.of(Asks::timeline),
    Option{"--steps", OptionKind::one, "N", "steps to simulate; default 6"}.of(Asks::timeline),
    Option{"--seed", OptionKind::one, "N", "another draw of the same run; default 1"}.of(Asks::timeline),
    Option{"--plant", OptionKind::many, "CAUSE=SHARE",
           "plant a fault that 'headroom diagnose' names, e.g. data_loading=0.3; repeats"}
        .of(Asks::timeline),
    Option{"--start", OptionKind::one, "DATE", "focus: first day of the charge, e.g. 2026-12-01"}
        .of(Asks::training, Asks::search, Asks::serving, Asks::fleet, Asks::box)
        .with("--to focus"),
    Option{"--hours", OptionKind::one, "N", "focus: hours of serving that are billed; default 730, a month"}
        .of(Asks::serving, Asks::fleet, Asks::box)
        .with("--to focus"),
    Option{"--set", OptionKind::many, "KEY=VALUE", "override any key of the scenario, e.g. strategy.tp=8; repeats"},
    Option{"--output", OptionKind::one, "FILE", "write the launch to a file, whole or not at all"}.that(
        FileUse::writes),
};

/// Those of keys, then the verb's own.
std::span<const Option> options() {
  static const std::vector<Option> all = quick_options(own_options, forms_of);
  return all;
}

LaunchForm form_named(const std::string& typed) {
  const std::string_view meant = form_meant(typed);
  const std::string_view name = meant.empty() ? std::string_view{typed} : meant;
  const auto found = std::find(launch_form_names.begin(), launch_form_names.end(), name);
  return static_cast<LaunchForm>(found - launch_form_names.begin());
}

/// Why a plan cannot be launched, and the remedies.
std::string refusal(const TrainPlan& plan) {
  std::string text = "not written: " + (plan.problems.empty() ? plan.verdict : "rules are broken") + "\n";
  for (const Problem& problem : plan.problems) {
    text += "  " + problem.text + (problem.way_out.empty() ? "" : "; " + problem.way_out) + "\n";
  }
  for (const Remedy& remedy : plan.remedies) {
    text += "  it fits with " + joined(texts_of(remedy.changes)) + "\n";
  }
  return text + (plan.way_out.empty() ? "" : "  " + plan.way_out + "\n");
}

/// Writes the launch file to stdout or to --output. Notes on the network also go to stderr, because a file that is
/// started unread would train or serve another network.
Outcome delivered(const ExportedLaunch& launch, const Arguments& arguments, std::string remarks) {
  for (const LaunchNote& note : launch.notes) {
    if (!launch.has_comments || note.of_network()) {
      remarks += "not expressed: " + note.text + "\n";
    }
  }
  if (arguments.has("--output")) {
    write_whole_file(arguments.one("--output"), launch.text);
    return {"", remarks, 0};
  }
  return {launch.text, remarks, 0};
}

/// A server in the form that --to names: a launch file, or a deployment.
ExportedLaunch server_launch(const Scenario& scenario, const ServeScenario& serve, const Arguments& arguments) {
  const std::optional<DeployForm> deployed = deploy_form_of(arguments.one("--to"));
  return deployed ? export_deployment(scenario, serve, *deployed)
                  : export_launch(scenario, serve, form_named(arguments.one("--to")));
}

constexpr std::string_view slices_form = "mig-parted";

/// Slices of a card for its tenants, as the partition editor takes them.
Outcome write_slices(const ConfigValue& root,
                     const std::string& file,
                     const QuestionLibrary& library,
                     const Arguments& arguments) {
  if (arguments.one("--to") != slices_form) {
    throw ConfigError{quoted(file) + " asks about tenants of one card; --to mig-parted writes its slices"};
  }
  const SharingPlan plan = make_sharing_plan(read_sharing(root, file, library.sources, library.networks));
  const SharingWay& way = plan.ways[static_cast<std::size_t>(CardSharing::mig)];
  if (!way.possible) {
    return {"", "not written: " + joined(way.why_not, "; ") + "\n", 1};
  }
  MigLayout layout{"tenants", "all", {}};
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < way.tenants.size(); ++i) {
    layout.profiles.push_back(way.tenants[i].profile);
    notes.push_back(way.tenants[i].profile + " at memory slice " + std::to_string(way.tenants[i].start) + ": " +
                    plan.question.tenants[i].name);
  }
  std::string remarks;
  for (const std::string& why : way.why_not) {
    remarks += why + "\n";
  }
  return delivered({mig_parted(plan.question.card, {&layout, 1}, notes), {}, true}, arguments, remarks);
}

constexpr std::array<std::string_view, 2> cluster_forms{"kueue", "slurm-qos"};
bool is_cluster_form(std::string_view form) {
  return std::find(cluster_forms.begin(), cluster_forms.end(), form) != cluster_forms.end();
}

/// Tenants, quotas and priorities of a cluster for the program that runs it, or the slices of its pools.
Outcome write_cluster(const ConfigValue& root,
                      const std::string& file,
                      const QuestionLibrary& library,
                      const Arguments& arguments) {
  const std::string form = arguments.one("--to");
  if (form != slices_form && !is_cluster_form(form)) {
    throw ConfigError{quoted(file) +
                      " asks about a cluster; --to kueue and --to slurm-qos write its queues, --to mig-parted the "
                      "slices of its pools"};
  }
  const pools::ClusterQuestion question = kinds::cluster::read(root, file, library);
  const std::string text = form == slices_form ? pools::slices_text(question, library.sources)
                           : form == "kueue"   ? pools::kueue_text(question)
                                               : pools::slurm_qos_text(question);
  return delivered({text, {}, true}, arguments, "");
}

bool is_post_train_form(std::string_view form) {
  return std::find(post_train_form_names.begin(), post_train_form_names.end(), form) != post_train_form_names.end();
}

/// The way that a plan of post-training takes.
Outcome write_post_training(const ConfigValue& root,
                            const std::string& file,
                            const QuestionLibrary& library,
                            const Arguments& arguments) {
  const std::string form = arguments.one("--to");
  if (!is_post_train_form(form)) {
    throw ConfigError{quoted(file) + " asks about post-training; --to verl and --to nemo-rl write its launch"};
  }
  const PostTrainPlan plan = make_post_train_plan(read_post_training(root, file, library.sources));
  return delivered({form == "verl" ? verl_launch(plan) : nemo_rl_recipe(plan), {}, true}, arguments, "");
}

/// Changes that would let a replica hold its load.
std::string memory_ways_out(const ServePlan& answer) {
  const Changes& changes = answer.changes.empty() ? answer.changes_of_weights : answer.changes;
  return changes.empty() ? "" : "  it fits with " + joined(texts_of(changes)) + "\n";
}

/// For a serving question without traffic only memory decides, so a SKU without a measured rate can be launched too.
/// The longest admitted request must fit, or the engine would refuse to start. `said` is printed to stderr first.
Outcome write_serving(const Scenario& scenario, const Arguments& arguments, std::string said) {
  const auto& serve = std::get<ServeScenario>(scenario.question);
  const ExportedLaunch launch = server_launch(scenario, serve, arguments);
  Scenario longest = scenario;
  std::get<ServeScenario>(longest.question).work.max_seq_len = admitted_tokens(serve);
  const Plan plan = make_plan(std::move(longest), false, PlanPart::memory);
  const auto& answer = std::get<ServePlan>(plan.answer);
  if (!plan.feasible()) {
    std::string text = "not written: " + (answer.problems.empty() ? answer.verdict : "rules are broken") + "\n";
    for (const Problem& problem : answer.problems) {
      text += "  " + problem.text + (problem.way_out.empty() ? "" : "; " + problem.way_out) + "\n";
    }
    return {"", text + memory_ways_out(answer), 1};
  }
  if (answer.running.mid < static_cast<double>(serve.work.concurrency)) {
    said += answer.verdict + "\n";
  }
  for (const std::string& refused : refused_requests(serve)) {
    said += refused + "\n";
  }
  return delivered(launch, arguments, said);
}

/// Writes a fleet's launch. The plan determines replicas, layout and verdict, even when replicas and layout are stated.
Outcome write_fleet(const ConfigValue& root,
                    const std::string& file,
                    const Sources& sources,
                    const Arguments& arguments) {
  const FleetPlan plan = plan_fleet(read_fleet(root, file, sources));
  if (!plan.feasible()) {
    const std::string way_out = fleet_way_out(plan);
    return {"",
            "not written: " + fleet_verdict(plan) + "\n" + (way_out.empty() ? "" : "  " + way_out + "\n") +
                (plan.options.empty() ? fleet_left_out(plan) : ""),
            1};
  }
  if (is_report_form(arguments.one("--to"))) {
    return delivered(report_of(plan, arguments), arguments, fleet_verdict(plan) + "\n");
  }
  const FleetOption& best = plan.options.front();
  Scenario scenario = *best.scenario;
  scenario.question = as_sized(best);
  std::string taken = fleet_verdict(plan) + "\n";
  for (const Change& change : best.changes) {
    taken += "  " + override_of(change) + "\n";
  }
  return write_serving(scenario, arguments, taken);
}

/// Writes a feasible plan as a launch file, or says why it is not feasible. `said` is printed to stderr first.
Outcome write(const Plan& plan, const std::string& file, const Arguments& arguments, const std::string& said) {
  if (is_timeline_form(arguments.one("--to"))) {
    return plan.feasible() ? write_timeline(plan, arguments, said)
                           : Outcome{"", said + refusal(std::get<TrainPlan>(plan.answer)), 1};
  }
  const auto& answer = std::get<TrainPlan>(plan.answer);
  if (is_report_form(arguments.one("--to"))) {
    return plan.feasible() ? delivered(report_of(plan, arguments), arguments, said)
                           : Outcome{"", said + refusal(answer), 1};
  }
  const std::optional<DeployForm> deployed = deploy_form_of(arguments.one("--to"));
  const LaunchForm form = deployed ? LaunchForm::megatron : form_named(arguments.one("--to"));
  if (serves(form)) {
    throw ConfigError{"form " + quoted(arguments.one("--to")) + " launches a serving engine; " + quoted(file) +
                      " asks for training: use --to megatron, nemo, torchtitan, deepspeed, torchrun or slurm"};
  }
  if (!plan.feasible()) {
    return {"", said + refusal(answer), 1};
  }
  const auto& train = std::get<TrainScenario>(plan.scenario.question);
  const ExportedLaunch launch = deployed ? export_deployment(plan.scenario, train, answer.strategy, *deployed)
                                         : export_launch(plan.scenario, train, answer.strategy, form);
  std::string remarks = said;
  if (answer.estimate.verdict == Verdict::may_not_fit) {
    remarks += answer.verdict + "\n";
  }
  return delivered(launch, arguments, remarks);
}

Outcome answer(const ConfigValue& root, const std::string& file, const Arguments& arguments) {
  const QuestionLibrary library = own_library();
  const DocumentKind asked = kind_of(root, library);
  const std::string form = arguments.one("--to");
  if (form == slices_form && asked != DocumentKind::sharing && asked != DocumentKind::cluster) {
    throw ConfigError{"form 'mig-parted' cuts a card for its tenants; " + quoted(file) +
                      " asks about something else: ask kind 'sharing' with [[tenant]], or kind 'cluster'"};
  }
  if (is_cluster_form(form) && asked != DocumentKind::cluster) {
    throw ConfigError{"form " + quoted(form) + " writes the queues of a cluster; " + quoted(file) +
                      " asks about something else: ask kind 'cluster' with [[pool]] and [[job]]"};
  }
  const bool timeline = is_timeline_form(form);
  if (timeline && asked != DocumentKind::one_plan && asked != DocumentKind::search) {
    throw ConfigError{"form " + quoted(form) + " writes what a profiler would see of a training run; " + quoted(file) +
                      " asks about something else: ask a training plan"};
  }
  if (is_post_train_form(form) && asked != DocumentKind::post_train) {
    throw ConfigError{"form " + quoted(form) + " launches post-training; " + quoted(file) +
                      " asks about something else: ask kind 'post_train'"};
  }
  switch (asked) {
    case DocumentKind::network:
      throw ConfigError{"a network of ops has no launch form; export writes training plans of the model presets"};
    case DocumentKind::fleet:
      require_form(export_verb, Asks::fleet, arguments);
      return write_fleet(root, file, library.sources, arguments);
    case DocumentKind::one_plan: {
      if (const ConfigValue* kind = root.find("kind"); kind != nullptr) {
        if (timeline && kind->text == "serve") {
          throw ConfigError{"form " + quoted(form) + " writes what a profiler would see of a training run; " +
                            quoted(file) + " asks about serving"};
        }
        require_form(export_verb,
                     timeline                ? Asks::timeline
                     : kind->text == "serve" ? Asks::serving
                                             : Asks::training,
                     arguments);
      }
      break;
    }
    case DocumentKind::search: require_form(export_verb, timeline ? Asks::timeline : Asks::search, arguments); break;
    case DocumentKind::box: require_form(export_verb, Asks::box, arguments); break;
    case DocumentKind::sharing:
      require_form(export_verb, Asks::sharing, arguments);
      return write_slices(root, file, library, arguments);
    case DocumentKind::cluster:
      require_form(export_verb, Asks::cluster, arguments);
      return write_cluster(root, file, library, arguments);
    case DocumentKind::post_train:
      require_form(export_verb, Asks::post_training, arguments);
      return write_post_training(root, file, library, arguments);
    default: throw ConfigError{quoted(file) + " has no launch form; export writes plans of training and serving"};
  }
  AskedQuestion question = read_question(root, file, library);
  if (const auto* const one = std::get_if<asked::OnePlan>(&question)) {
    // Of a stated load memory alone decides: no rate is needed where the layout that is stated, or the default, fits.
    if (std::holds_alternative<ServeScenario>(one->scenario.question) && !is_report_form(form) &&
        make_plan(one->scenario, false, PlanPart::memory).feasible()) {
      return write_serving(one->scenario, arguments, "");
    }
  }
  const TakenPlan taken = taken_plan(std::move(question));
  if (!taken.plan) {
    return {"", taken.effort + "not written: " + taken.text, taken.code_without_plan()};
  }
  const std::string said = taken.effort + taken.text;
  if (std::holds_alternative<ServeScenario>(taken.plan->scenario.question) && is_report_form(form)) {
    return delivered(report_of(*taken.plan, arguments), arguments, said);
  }
  return std::holds_alternative<ServeScenario>(taken.plan->scenario.question)
             ? write_serving(taken.plan->scenario, arguments, said)
             : write(*taken.plan, file, arguments, said);
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> files = arguments.many("");
  const bool quick = files.empty();
  if ((quick && !arguments.has("--model") && !arguments.has("--set")) || !arguments.has("--to")) {
    throw ConfigError{
        "name a scenario, or --model, --gpu and --gpus, and a form, e.g. 'headroom export scenario.toml --to "
        "megatron'"};
  }
  const std::vector<Assignment> overrides = overrides_of(options(), arguments, quick);
  try {
    const ConfigValue root = quick ? scenario_tree(overrides) : scenario_tree(files.front(), overrides);
    refuse_overwrite_of(export_verb, arguments, root);
    return answer(root, quick ? "command line" : files.front(), arguments);
  } catch (const ConfigError& error) {
    throw ConfigError{with_options(error), error.untold()};
  }
}

constexpr std::string_view examples =
    "  headroom export scenarios/train/llama3-70b-512xh100.toml --to slurm -o train.sbatch\n"
    "  headroom export scenarios/train/llama3-70b-512xh100.toml --to megatron --set strategy.vpp=2\n"
    "  headroom export scenarios/train/llama3-70b-search.toml --to slurm -o train.sbatch\n"
    "  headroom export scenarios/serve/llama3-70b.toml --to vllm -o serve.sh\n"
    "  headroom export scenarios/serve/llama3-70b-fleet.toml --to kubernetes -o fleet.yaml\n"
    "  headroom export scenarios/serve/llama3-70b-fleet.toml --to dynamo -o graph.yaml\n"
    "  headroom export scenarios/serve/llama3-70b-fleet.toml --to llm-d -o predicted.yaml\n"
    "  headroom export scenarios/cluster/two-teams.toml --to kueue -o queues.yaml\n"
    "  headroom export scenarios/train/llama2-7b-8xa100.toml --to kineto --plant data_loading=0.3 -o "
    "'rank{rank}.json'\n"
    "  headroom export --model llama3-70b --gpu h100-sxm-80gb --gpus 8 --tp 8 --isl 1024 --osl 256 --concurrency 64 "
    "--to vllm\n";

}  // namespace
}  // namespace export_parts

const Verb export_verb{"export",
                       "a plan as a launch file of a training program, a serving engine, Slurm, Kubernetes or Ray, as "
                       "a trace of its run, as a benchmark's result or as a bill",
                       "SCENARIO.toml",
                       1,
                       export_parts::options(),
                       export_parts::examples,
                       export_parts::run,
                       nullptr,
                       export_parts::forms};

}  // namespace headroom::cli
