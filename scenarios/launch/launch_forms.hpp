// SPDX-License-Identifier: Apache-2.0
// One function to write and one to read for every launch form, and what they share.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/launch/launch_rows.hpp>
#include <headroom/scenarios/launch/shell_words.hpp>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace headroom::launch {

/// A form's text; what it does not express stands in its comments where it has any, and in `notes`.
struct LaunchText {
  std::string text;
  std::vector<std::string> notes;
};

[[nodiscard]] LaunchText megatron_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText nemo_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText torchtitan_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText deepspeed_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText torchrun_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText slurm_text(const LaunchPlan& plan);

/// Each reads a whole file into the reading's plan; problems go to its diagnostics.
void read_megatron_text(const ConfigSource& source, LaunchReading& reading);
void read_nemo_text(const ConfigSource& source, LaunchReading& reading);
void read_torchtitan_text(const ConfigSource& source, LaunchReading& reading);
void read_deepspeed_text(const ConfigSource& source, LaunchReading& reading);
void read_torchrun_text(const ConfigSource& source, LaunchReading& reading);
void read_slurm_text(const ConfigSource& source, LaunchReading& reading);

/// A shell script whose syntax is sound. ConfigError: what follows a broken quote means nothing.
[[nodiscard]] ShellScript script_of(const ConfigSource& source,
                                    Assignments assignments,
                                    const std::map<std::string, std::string>& known);
/// `--name value ...` and `--name=value` as items; a word in front of every flag is a problem.
[[nodiscard]] LaunchItems items_of_words(std::span<const ShellWord> words, LaunchReading& reading);
/// Shell words of items: bare flags where true, nothing where false or null.
[[nodiscard]] std::vector<std::string> words_of_items(const LaunchItems& items);

/// The script and the arguments that a launcher starts.
struct TrainerCommand {
  std::vector<std::string> words;  ///< script first, one argument with its values an entry
  std::vector<std::string> notes;
};
[[nodiscard]] TrainerCommand trainer_command(const LaunchPlan& plan);
/// Reads a trainer's arguments: torchtitan's by their dotted names, NeMo's by `a.b=c`, else Megatron-LM's.
void read_trainer(std::span<const ShellWord> words, LaunchReading& reading);

[[nodiscard]] LaunchWriting write_torchtitan(const LaunchPlan& plan);
void read_torchtitan(const LaunchItems& items, LaunchReading& reading);
void read_nemo(const LaunchItems& items, LaunchReading& reading);

/// A torchrun line as words, one option an entry; its launcher part comes from `launch.nodes` and
/// `launch.gpus_per_node`.
[[nodiscard]] std::vector<std::string> torchrun_words(const LaunchPlan& plan, std::string_view endpoint);
/// Reads the launch line of a script: torchrun, or a Python script that another launcher starts. False: there is none.
bool read_launch_line(const ShellScript& script, LaunchReading& reading);

/// "# text" lines: the head of an exported file, then what it does not express. Each stays on its line, whatever the
/// scenario's names hold.
[[nodiscard]] std::string comment_head(const LaunchPlan& plan,
                                       const std::vector<std::string>& head,
                                       const std::vector<std::string>& notes);
/// Words joined by line continuations.
[[nodiscard]] std::string continued(const std::vector<std::string>& words);

}  // namespace headroom::launch
