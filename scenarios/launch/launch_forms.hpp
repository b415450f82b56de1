// SPDX-License-Identifier: Apache-2.0
// Reader and writer of every launch form, and what they share.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/launch/launch_rows.hpp>
#include <headroom/scenarios/launch/shell_words.hpp>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace headroom::launch {

/// Text of a form. `notes` lists what the form cannot express; comments in the text repeat it where the form has any.
struct LaunchText {
  std::string text;
  std::vector<LaunchNote> notes;
};

[[nodiscard]] LaunchText megatron_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText nemo_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText torchtitan_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText deepspeed_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText torchrun_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText slurm_text(const LaunchPlan& plan);

/// Read a whole file into the reading's plan; problems go to its diagnostics.
void read_megatron_text(const ConfigSource& source, LaunchReading& reading);
void read_nemo_text(const ConfigSource& source, LaunchReading& reading);
void read_torchtitan_text(const ConfigSource& source, LaunchReading& reading);
void read_deepspeed_text(const ConfigSource& source, LaunchReading& reading);
void read_torchrun_text(const ConfigSource& source, LaunchReading& reading);
void read_slurm_text(const ConfigSource& source, LaunchReading& reading);

/// Parses a shell script. Throws ConfigError for wrong syntax, because text after a broken quote has no meaning.
[[nodiscard]] ShellScript script_of(const ConfigSource& source,
                                    Assignments assignments,
                                    const std::map<std::string, std::string>& known);
/// Items from `--name value ...` and `--name=value`; a word before the first flag is a problem.
[[nodiscard]] LaunchItems items_of_words(std::span<const ShellWord> words, LaunchReading& reading);
/// Shell words from items: a true flag stands alone; false and null are left out.
[[nodiscard]] std::vector<std::string> words_of_items(const LaunchItems& items);

/// Training script and its arguments, as a launcher starts them.
struct TrainerCommand {
  std::vector<std::string> words;  ///< script first, then one argument with its values per entry
  std::vector<LaunchNote> notes;   ///< but for the number of GPUs, which the launch line says
};
[[nodiscard]] TrainerCommand trainer_command(const LaunchPlan& plan);
/// Reads a trainer's arguments: torchtitan's dotted names, NeMo's `a.b=c`, else Megatron-LM's.
void read_trainer(std::span<const ShellWord> words, LaunchReading& reading);

[[nodiscard]] LaunchWriting write_torchtitan(const LaunchPlan& plan);
void read_torchtitan(const LaunchItems& items, LaunchReading& reading);
void read_nemo(const LaunchItems& items, LaunchReading& reading);

/// A torchrun line as words, one option per entry; `launch.nodes` and `launch.gpus_per_node` size the launch.
[[nodiscard]] std::vector<std::string> torchrun_words(const LaunchPlan& plan, std::string_view endpoint);
/// Reads a script's launch line: torchrun, or a Python script that another launcher starts. False when there is none.
bool read_launch_line(const ShellScript& script, LaunchReading& reading);

/// Comment lines "# text" at the head of an exported file, followed by its notes. Line breaks in names of the scenario
/// cannot end a comment.
[[nodiscard]] std::string comment_head(const LaunchPlan& plan,
                                       const std::vector<std::string>& head,
                                       const std::vector<LaunchNote>& notes);
/// Words joined by shell line continuations.
[[nodiscard]] std::string continued(const std::vector<std::string>& words);

}  // namespace headroom::launch
