// SPDX-License-Identifier: Apache-2.0
// A Slurm batch script around a torchrun line. Names: SchedMD's sbatch manual (options of a batch job); the form of the
// launch follows stas00/ml-engineering and bigscience's scripts: one task a node, torchrun starts its processes.
#include <headroom/scenarios/launch/launch_forms.hpp>

#include <algorithm>
#include <array>

namespace headroom::launch {
namespace {

using enum RowKind;

constexpr std::array slurm_rows{
    LaunchRow{"--nodes", "launch.nodes"}, LaunchRow{"--gpus-per-node", "", special},   LaunchRow{"--gres", "", special},
    LaunchRow{"--gpus", "", special},     LaunchRow{"--ntasks-per-node", "", special},
};
constexpr auto slurm_passed =
    std::to_array<std::string_view>({"--job-name",      "--partition", "--account",       "--qos",
                                     "--time",          "--output",    "--error",         "--mem",
                                     "--mem-per-gpu",   "--exclusive", "--cpus-per-task", "--cpus-per-gpu",
                                     "--constraint",    "--nodelist",  "--exclude",       "--array",
                                     "--dependency",    "--requeue",   "--no-requeue",    "--signal",
                                     "--mail-type",     "--mail-user", "--reservation",   "--ntasks",
                                     "--gpus-per-task", "--gpu-bind",  "--hint",          "--threads-per-core",
                                     "--chdir",         "--switches",  "--comment"});

struct ShortName {
  std::string_view letter, name;
};
constexpr std::array short_names{
    ShortName{"-N", "--nodes"},  ShortName{"-G", "--gpus"},          ShortName{"-J", "--job-name"},
    ShortName{"-n", "--ntasks"}, ShortName{"-p", "--partition"},     ShortName{"-A", "--account"},
    ShortName{"-t", "--time"},   ShortName{"-c", "--cpus-per-task"}, ShortName{"-o", "--output"},
    ShortName{"-e", "--error"},  ShortName{"-C", "--constraint"},    ShortName{"-w", "--nodelist"},
    ShortName{"-q", "--qos"},    ShortName{"-x", "--exclude"},       ShortName{"-d", "--dependency"},
    ShortName{"-a", "--array"},
};

/// Reads one #SBATCH line: `--name=value`, `--name value`, `-N 4` or `-N4`.
void add_directive(const ShellWord& line, LaunchItems& items, LaunchReading& reading) {
  const ShellScript script = read_shell(line.text, reading.file, Assignments::words, {}, reading.diagnostics);
  if (script.commands.empty()) {
    return;
  }
  std::vector<ShellWord> words = script.commands.front().words;
  for (ShellWord& word : words) {
    word.at = {line.at.line, line.at.column + word.at.column - 1};
    for (const ShortName& known : short_names) {
      if (word.text.starts_with(known.letter) && !word.text.starts_with("--")) {
        const std::string rest = word.text.substr(2);
        word.text = std::string{known.name} + (rest.empty() ? "" : "=" + rest);
        break;
      }
    }
  }
  const LaunchItems read = items_of_words(words, reading);
  for (const LaunchItem& item : read.all()) {
    items.put(item.name, item.value);
  }
}

/// Count in "8", "h100:8", "gpu:8" or "gpu:h100:8".
std::optional<std::int64_t> gpu_count(std::string_view name, ConfigValue value, LaunchReading& reading) {
  if (value.kind == ConfigValue::Kind::text) {
    value.text = value.text.substr(value.text.rfind(':') + 1);
  }
  return reading.count_of(name, value, machine_count);
}

void read_directives(const ShellScript& script, LaunchReading& reading) {
  LaunchItems items;
  for (const ShellWord& line : script.directives) {
    add_directive(line, items, reading);
  }
  read_rows(slurm_rows, slurm_passed, items, reading);
  for (const std::string_view name : {"--gpus-per-node", "--gres"}) {
    const ConfigValue* item = items.find(name);
    if (item != nullptr && (name != "--gres" || item->text.starts_with("gpu"))) {
      if (const auto count = gpu_count(name, *item, reading)) {
        reading.state("launch.gpus_per_node", count_value(*count), *item);
      }
    }
  }
  if (const ConfigValue* all = items.find("--gpus")) {
    if (const auto count = gpu_count("--gpus", *all, reading)) {
      reading.state("hardware.gpus", count_value(*count), *all);
    }
  }
  reading.take_count(items, "--ntasks-per-node", "launch.tasks_per_node", machine_count);
}

/// Environment variables of the job that follow from its directives.
std::map<std::string, std::string> variables(const LaunchPlan& plan) {
  std::map<std::string, std::string> known;
  const auto add = [&](std::string_view key, std::initializer_list<const char*> names) {
    if (const std::int64_t count = plan.count(key, 0); count > 0) {
      for (const char* name : names) {
        known[name] = std::to_string(count);
      }
    }
  };
  add("launch.nodes", {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
  add("launch.gpus_per_node", {"SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"});
  add("launch.tasks_per_node", {"SLURM_NTASKS_PER_NODE"});
  return known;
}

/// Value for --job-name. sbatch reads its lines from shell comments, where quotes do not protect, so unusual characters
/// become hyphens.
std::string job_name(std::string_view id) {
  std::string name{id.substr(0, 64)};
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return !letter && c != '.' && c != '_' && c != '-' && c != '+';
      },
      '-');
  return name;
}

}  // namespace

LaunchText slurm_text(const LaunchPlan& plan) {
  std::vector<std::string> words = torchrun_words(plan, "\"$MASTER_ADDR:29500\"");
  words.front() = "srun --wait=60 --kill-on-bad-exit=1 torchrun";
  if (plan.count("hardware.gpus", 1) > plan.count("launch.gpus_per_node", 1)) {
    words.emplace_back("--rdzv-id \"$SLURM_JOB_ID\"");
  }
  const TrainerCommand trainer = trainer_command(plan);
  words.insert(words.end(), trainer.words.begin(), trainer.words.end());
  const std::int64_t per_node = plan.count("launch.gpus_per_node", 1);
  std::string text = "#!/bin/bash\n";
  text += "#SBATCH --job-name=" + job_name(plan.word("launch.model", "training")) + "\n";
  text += "#SBATCH --nodes=" + std::to_string(plan.count("hardware.gpus", 1) / per_node) + "\n";
  text += "#SBATCH --ntasks-per-node=1\n";
  text += "#SBATCH --gpus-per-node=" + std::to_string(per_node) + "\n";
  text += "#SBATCH --mem=0\n#SBATCH --exclusive\n";
  text += comment_head(plan, {"to add: --time, --partition, data, tokenizer and learning rate"}, trainer.notes);
  text += "set -euo pipefail\n";
  text += "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\nexport MASTER_ADDR\n";
  return {text + continued(words), trainer.notes};
}

void read_slurm_text(const ConfigSource& source, LaunchReading& reading) {
  read_directives(script_of(source, Assignments::variables, {}), reading);
  const ShellScript script = script_of(source, Assignments::variables, variables(reading.plan));
  // Without torchrun, every process is a task.
  const bool spawns = std::any_of(script.commands.begin(), script.commands.end(), [](const ShellCommand& command) {
    return std::any_of(command.words.begin(), command.words.end(), [](const ShellWord& word) {
      return word.text.ends_with("torchrun") || word.text.starts_with("torch.distributed.");
    });
  });
  const ConfigValue* tasks = reading.plan.find("launch.tasks_per_node");
  if (!spawns && tasks != nullptr) {
    reading.state("launch.gpus_per_node", count_value(tasks->integer), *tasks);
  }
  if (!read_launch_line(script, reading)) {
    reading.problem(Position{}, "no launch line: neither torchrun nor a Python script with arguments");
  }
}

}  // namespace headroom::launch
