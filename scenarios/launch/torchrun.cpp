// SPDX-License-Identifier: Apache-2.0
// Reads and writes the torchrun line. Options: pytorch/pytorch, torch/distributed/run.py (underscores are read as
// hyphens). The trainer's own arguments follow.
#include <headroom/scenarios/launch/launch_forms.hpp>
#include <headroom/scenarios/launch/megatron_core.hpp>

#include <algorithm>
#include <array>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;
using enum RowKind;

constexpr std::array torchrun_rows{
    LaunchRow{"--nnodes", "launch.nodes", count, "1"},
    LaunchRow{"--nproc-per-node", "", special},
};
/// Options without a value, needed to find the script after the options.
constexpr std::array<std::string_view, 7> bare{
    "--standalone", "-m", "--module", "--no-python", "--run-path", "--use-env", "--virtual-local-rank"};
constexpr auto torchrun_passed = std::to_array<std::string_view>({"--standalone",
                                                                  "-m",
                                                                  "--module",
                                                                  "--no-python",
                                                                  "--run-path",
                                                                  "--use-env",
                                                                  "--virtual-local-rank",
                                                                  "--rdzv-backend",
                                                                  "--rdzv-endpoint",
                                                                  "--rdzv-id",
                                                                  "--rdzv-conf",
                                                                  "--max-restarts",
                                                                  "--monitor-interval",
                                                                  "--start-method",
                                                                  "--event-log-handler",
                                                                  "--role",
                                                                  "--log-dir",
                                                                  "-r",
                                                                  "--redirects",
                                                                  "-t",
                                                                  "--tee",
                                                                  "--local-ranks-filter",
                                                                  "--node-rank",
                                                                  "--master-addr",
                                                                  "--master-port",
                                                                  "--local-addr",
                                                                  "--logs-specs",
                                                                  "--numa-binding"});

constexpr std::string_view titan_module = "torchtitan.train";
constexpr std::string_view megatron_script = "pretrain_gpt.py";

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

bool is_titan(const LaunchPlan& plan) {
  const std::string software = plan.word("training.software");
  return software.starts_with("torchtitan") || software.starts_with("pytorch");
}

ConfigValue at_word(const ShellWord& word, std::string_view text, const LaunchReading& reading) {
  ConfigValue value = word_value(text);
  value.at = value.key_at = word.at;
  value.file = std::make_shared<const std::string>(reading.file);
  return value;
}

/// Replaces underscores: "--nproc_per_node" is "--nproc-per-node".
std::string hyphened(std::string_view name) {
  std::string text{name};
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

/// Reads the launcher's options; returns the index of the script.
std::size_t read_launcher(const std::vector<ShellWord>& words, std::size_t i, LaunchReading& reading) {
  LaunchItems items;
  bool whole = true;  // false when an unknown option was seen
  while (i < words.size() && (words[i].text.starts_with("-") || words[i].text.starts_with("$"))) {
    const std::string& word = words[i].text;
    if (word.starts_with("$")) {
      reading.remark(at_word(words[i], word, reading), "ignored: " + word + ", which nothing here sets");
      whole = false;
      ++i;
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = hyphened(word.substr(0, equals));
    const bool flag = std::find(bare.begin(), bare.end(), name) != bare.end();
    const bool last = i + 1 >= words.size();
    if (equals != std::string::npos) {
      items.put(name, at_word(words[i], word.substr(equals + 1), reading));
    } else if (flag || last) {
      ConfigValue there = flag_value(true);
      there.at = words[i].at;
      items.put(name, there);
    } else {
      items.put(name, at_word(words[i], words[i + 1].text, reading));
      ++i;
    }
    ++i;
  }
  read_rows(torchrun_rows, torchrun_passed, items, reading);
  if (whole) {
    read_absent(torchrun_rows, items, reading);
  }
  const ConfigValue* processes = items.find("--nproc-per-node");
  if (processes == nullptr) {
    if (whole) {
      reading.assume("launch.gpus_per_node", count_value(1));
    }
  } else if (processes->text == "gpu" || processes->text == "auto") {
    reading.remark(*processes, "ignored: --nproc-per-node " + processes->text + ": the node says it");
  } else if (const auto processes_count = reading.count_of("--nproc-per-node", *processes, machine_count)) {
    reading.state("launch.gpus_per_node", count_value(*processes_count), *processes);
  }
  return i;
}

/// Index after torchrun and after a Python script; both 0 when this is not a launch line.
struct LaunchLine {
  std::size_t launcher = 0, script = 0;
};
LaunchLine find_launch(const std::vector<ShellWord>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (base_name(words[i].text) == "torchrun") {
      return {i + 1, 0};
    }
    if (words[i].text == "-m" && i + 1 < words.size() &&
        (words[i + 1].text == "torch.distributed.run" || words[i + 1].text == "torch.distributed.launch")) {
      return {i + 2, 0};
    }
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool arguments = i + 1 < words.size() && words[i + 1].text.starts_with("--");
    if (words[i].text.ends_with(".py") && arguments) {
      return {0, i};
    }
  }
  return {};
}

LaunchItems titan_items(std::span<const ShellWord> words, LaunchReading& reading) {
  const LaunchItems read = items_of_words(words, reading);
  LaunchItems items;
  for (const LaunchItem& item : read.all()) {
    std::string name = item.name.substr(2);
    ConfigValue value = item.value;
    if (const std::size_t no = name.find(".no_"); no != std::string::npos && value.kind == Kind::boolean) {
      name.erase(no + 1, 3);
      value.boolean = false;
    }
    items.put(name, std::move(value));
  }
  return items;
}

/// Reads `a.b=c` words; options before them (`--recipe NAME`) belong to the script.
void read_overrides(std::span<const ShellWord> words, LaunchReading& reading) {
  LaunchItems items;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") && equals != std::string::npos && equals > 0) {
      items.put(word.substr(0, equals), at_word(words[i], std::string_view{word}.substr(equals + 1), reading));
    } else {
      reading.remark(at_word(words[i], word, reading), "ignored: " + word);
    }
  }
  read_nemo(items, reading);
}

}  // namespace

TrainerCommand trainer_command(const LaunchPlan& plan) {
  const auto begun = [](std::string script, LaunchWriting& writing) {
    std::erase_if(writing.notes, [](const LaunchNote& note) { return note.key == "hardware.gpus"; });
    return TrainerCommand{{std::move(script)}, writing.notes};
  };
  if (is_titan(plan)) {
    LaunchWriting writing = write_torchtitan(plan);
    TrainerCommand command = begun("-m " + std::string{titan_module}, writing);
    LaunchItems named;
    for (const LaunchItem& item : writing.items.all()) {
      named.put("--" + item.name, item.value);
    }
    const std::vector<std::string> words = words_of_items(named);
    command.words.insert(command.words.end(), words.begin(), words.end());
    return command;
  }
  LaunchWriting writing = write_megatron(plan, false);
  TrainerCommand command = begun(std::string{megatron_script}, writing);
  const std::vector<std::string> words = words_of_items(writing.items);
  command.words.insert(command.words.end(), words.begin(), words.end());
  return command;
}

void read_trainer(std::span<const ShellWord> words, LaunchReading& reading) {
  const auto starts = [&](std::string_view prefix) {
    return std::any_of(words.begin(), words.end(), [&](const ShellWord& w) { return w.text.starts_with(prefix); });
  };
  const bool overrides = std::any_of(words.begin(), words.end(), [](const ShellWord& w) {
    const std::size_t equals = w.text.find('=');
    return !w.text.starts_with("-") && equals != std::string::npos &&
           w.text.substr(0, equals).find('.') != std::string::npos;
  });
  if (starts("--parallelism.") || starts("--training.") || starts("--job.")) {
    read_torchtitan(titan_items(words, reading), reading);
  } else if (overrides) {
    read_overrides(words, reading);
  } else {
    read_megatron(items_of_words(words, reading), Absent::is_default, reading);
  }
}

std::vector<std::string> torchrun_words(const LaunchPlan& plan, std::string_view endpoint) {
  const std::int64_t gpus = plan.count("hardware.gpus", 1);
  const std::int64_t per_node = plan.count("launch.gpus_per_node", 1);
  if (gpus % per_node != 0) {
    throw ConfigError{std::to_string(gpus) + " GPUs do not fill nodes of " + std::to_string(per_node) + "; use " +
                      std::to_string(gpus / per_node * per_node) + " or " +
                      std::to_string((gpus / per_node + 1) * per_node)};
  }
  std::vector<std::string> words{"torchrun", "--nnodes " + std::to_string(gpus / per_node),
                                 "--nproc-per-node " + std::to_string(per_node)};
  if (gpus > per_node) {
    words.emplace_back("--rdzv-backend c10d");
    words.push_back("--rdzv-endpoint " + std::string{endpoint});
  } else {
    words.emplace_back("--standalone");
  }
  return words;
}

LaunchText torchrun_text(const LaunchPlan& plan) {
  std::vector<std::string> words = torchrun_words(plan, "\"$MASTER_ADDR:29500\"");
  const TrainerCommand trainer = trainer_command(plan);
  words.insert(words.end(), trainer.words.begin(), trainer.words.end());
  const std::vector<std::string> head{
      "torchrun, the same line on every node; data, tokenizer and learning rate to add"};
  return {comment_head(plan, head, trainer.notes) + continued(words), trainer.notes};
}

bool read_launch_line(const ShellScript& script, LaunchReading& reading) {
  bool found = false;
  for (const ShellCommand& command : script.commands) {
    const LaunchLine line = find_launch(command.words);
    if (line.launcher == 0 && line.script == 0) {
      std::string text;
      for (const ShellWord& word : command.words) {
        text += " " + word.text;
      }
      reading.remark(at_word(command.words.front(), "", reading), "ignored:" + text.substr(0, 100));
      continue;
    }
    if (found) {
      reading.problem(command.words.front().at, "a second launch line; one file is one launch");
      continue;
    }
    found = true;
    const std::size_t at = line.launcher > 0 ? read_launcher(command.words, line.launcher, reading) : line.script;
    if (at >= command.words.size()) {
      reading.problem(command.words.back().at, "the launch line has no script");
      continue;
    }
    read_trainer(std::span{command.words}.subspan(at + 1), reading);
  }
  return found;
}

void read_torchrun_text(const ConfigSource& source, LaunchReading& reading) {
  const ShellScript script = script_of(source, Assignments::variables, {});
  if (!read_launch_line(script, reading)) {
    reading.problem(Position{}, "no launch line: neither torchrun nor a Python script with arguments");
  }
}

}  // namespace headroom::launch
