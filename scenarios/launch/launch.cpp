// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/printable.hpp>
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/launch/launch_forms.hpp>
#include <headroom/scenarios/launch/serve_forms.hpp>
#include <headroom/scenarios/launch/settle.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <algorithm>

namespace headroom {
namespace {

using namespace launch;

struct FormFunctions {
  LaunchText (*write)(const LaunchPlan& plan);
  void (*read)(const ConfigSource& source, LaunchReading& reading);
};
/// Functions of each form, in the order of LaunchForm.
constexpr std::array<FormFunctions, launch_form_names.size()> forms{{
    {megatron_text, read_megatron_text},
    {nemo_text, read_nemo_text},
    {torchtitan_text, read_torchtitan_text},
    {deepspeed_text, read_deepspeed_text},
    {torchrun_text, read_torchrun_text},
    {slurm_text, read_slurm_text},
    {vllm_text, read_vllm_text},
    {sglang_text, read_sglang_text},
    {tensorrt_llm_text, read_tensorrt_llm_text},
    {kubernetes_text, read_cluster_text},
    {leaderworkerset_text, read_cluster_text},
    {kserve_text, read_cluster_text},
    {ray_serve_text, read_cluster_text},
}};
const FormFunctions& functions_of(LaunchForm form) {
  return forms[static_cast<std::size_t>(form)];
}

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The text without lines that hold only a comment.
std::string without_comments(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') {
      kept += std::string{line.substr(first)} + "\n";
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return kept;
}

/// Place of the first byte that is not valid UTF-8; nullopt when all are.
std::optional<Position> not_utf8(std::string_view text) {
  Position at{1, 1};
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      return at;
    }
    at = text.front() == '\n' ? Position{at.line + 1, 1} : Position{at.line, at.column + 1};
    text.remove_prefix(length);
  }
  return std::nullopt;
}

/// Makes the notes printable, one line each.
ExportedLaunch exported(LaunchText written, LaunchForm form) {
  for (LaunchNote& note : written.notes) {
    note.text = shown(note.text);
  }
  return {std::move(written.text), std::move(written.notes), form != LaunchForm::deepspeed};
}

void check_text(const ConfigSource& source) {
  const auto refuse = [&](Position at, std::string why) {
    throw ConfigError{{Diagnostic{source.file, at, std::move(why)}}};
  };
  if (const auto at = not_utf8(source.text)) {
    refuse(*at, "is not UTF-8 here");
  }
  if (without_comments(source.text).empty()) {
    refuse({}, "is empty: there is no launch in it; name the script or the file of settings that starts the job");
  }
}

}  // namespace

ExportedLaunch export_launch(const Scenario& scenario,
                             const TrainScenario& train,
                             const Strategy& strategy,
                             LaunchForm form) {
  return exported(functions_of(form).write(plan_of(scenario, train, strategy)), form);
}

ExportedLaunch export_launch(const Scenario& scenario, const ServeScenario& serve, LaunchForm form) {
  const std::string_view ours = engine_names[static_cast<std::size_t>(serve.engine.engine)];
  const std::string_view theirs = launch_form_names[static_cast<std::size_t>(form)];
  if (form == LaunchForm::kserve || form == LaunchForm::ray_serve) {
    if (serve.engine.engine != Engine::vllm) {
      throw ConfigError{"form " + quoted(theirs) + " runs vLLM, and the scenario's engine is " + quoted(ours) +
                        "; use --to kubernetes or leaderworkerset, or --set serving.engine=vllm"};
    }
  } else if (ours != theirs && form < LaunchForm::kubernetes) {
    throw ConfigError{"the scenario's engine is " + quoted(ours) + ", and form " + quoted(theirs) +
                      (serves(form) ? " is another's; use --to " + std::string{ours} +
                                          ", or --set serving.engine=" + std::string{theirs}
                                    : " launches training; use --to " + std::string{ours})};
  }
  return exported(functions_of(form).write(serve_keys(scenario, serve)), form);
}

std::optional<LaunchForm> form_of(std::string_view text) {
  const std::string body = without_comments(text);
  const auto starts_line = [&](std::string_view part) {
    return body.starts_with(part) || holds(body, "\n" + std::string{part});
  };
  if (starts_line("apiVersion:")) {
    return holds(body, "kind: LLMInferenceService") ? LaunchForm::kserve
           : holds(body, "kind: LeaderWorkerSet")   ? LaunchForm::leaderworkerset
                                                    : LaunchForm::kubernetes;
  }
  if (starts_line("applications:")) {
    return LaunchForm::ray_serve;
  }
  if (holds(body, "vllm serve") || holds(body, "vllm.entrypoints.openai.api_server")) {
    return LaunchForm::vllm;
  }
  if (holds(body, "sglang.launch_server") || holds(body, "sglang serve")) {
    return LaunchForm::sglang;
  }
  if (holds(body, "trtllm-serve")) {
    return LaunchForm::tensorrt_llm;
  }
  if (body.starts_with("{")) {
    return LaunchForm::deepspeed;
  }
  if (text.starts_with("#SBATCH") || holds(text, "\n#SBATCH")) {
    return LaunchForm::slurm;
  }
  if (holds(body, "torchrun") || holds(body, "torch.distributed.run") || holds(body, "torch.distributed.launch")) {
    return LaunchForm::torchrun;
  }
  if (starts_line("[parallelism]") || starts_line("[training]") || starts_line("[model]") || starts_line("[job]")) {
    return LaunchForm::torchtitan;
  }
  if (holds(body, "--tensor-model-parallel-size") || holds(body, "--micro-batch-size") || holds(body, "--num-layers") ||
      starts_line("--") || holds(body, "=(")) {
    return LaunchForm::megatron;
  }
  for (const std::string_view key :
       {"model.", "train.", "trainer.", "ddp.", "optimizer.", "data.", "dataset.", "mixed_precision="}) {
    if (starts_line(key)) {
      return LaunchForm::nemo;
    }
  }
  return std::nullopt;
}

ImportedLaunch import_launch(const ConfigSource& source, const ImportRequest& request, const Sources& sources) {
  check_text(source);
  const std::optional<LaunchForm> form = request.from ? request.from : form_of(source.text);
  if (!form) {
    throw ConfigError{{Diagnostic{source.file,
                                  {},
                                  "is none of the launch forms known here; say --from megatron, nemo, torchtitan, "
                                  "deepspeed, torchrun, slurm, vllm or sglang"}}};
  }
  LaunchReading reading;
  reading.file = source.file;
  reading.ignore_unknown = request.ignore_unknown;
  functions_of(*form).read(source, reading);
  ImportedLaunch imported{*form, {}, "", {}};
  const ConfigValue document = is_serving(reading) ? settle_serving(reading, request.assignments, sources)
                                                   : settle(reading, request.assignments, sources);
  imported.scenario = read_settled(document, reading, sources);
  const std::string from = "imported from " + shown(source.file) + " (" +
                           std::string{launch_form_names[static_cast<std::size_t>(*form)]} + ")";
  imported.toml = document_text(document, {from});
  imported.remarks = std::move(reading.remarks);
  return imported;
}

}  // namespace headroom
