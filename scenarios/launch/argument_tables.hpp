// SPDX-License-Identifier: Apache-2.0
// Names of the arguments that releases of engines and training programs take, read from their own parsers
// (scenarios/launch/arguments/PROGRAM-RELEASE.toml, each with its source).
#pragma once

#include <headroom/scenarios/launch/launch_rows.hpp>

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::launch {

struct ArgumentTable {
  std::string program;               ///< "vllm"
  std::string from;                  ///< the first release that has them, as "0.12"
  std::string state;                 ///< what was read: "tag v0.5.10"
  std::string date;                  ///< of that state, as 2026-04-05
  std::vector<std::string> sources;  ///< addresses of the files read
  bool negated = false;              ///< switches also have a form that starts with --no-
  /// Names by command: "server", "benchmark", "trainer".
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> names;
  /// Words that an option of any command takes, where they were read too.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> words;

  [[nodiscard]] bool has(std::string_view command, std::string_view name) const;
  /// Whether the option takes the word; true where its words were not read.
  [[nodiscard]] bool takes(std::string_view name, std::string_view word) const;
};

/// All tables, those of a program together and with rising releases.
[[nodiscard]] std::span<const ArgumentTable> argument_tables();

/// The table of a release: the newest that does not start after it; without a release the newest. nullptr for an
/// unknown program and for a release before all tables or that is no number such as "0.11.0" or "v0.11".
[[nodiscard]] const ArgumentTable* arguments_of(std::string_view program, std::string_view release);

/// Notes every written option, and every word of one, that the plan's release does not have, with the releases that do.
void note_arguments(std::string_view program, std::string_view command, LaunchWriting& writing);

}  // namespace headroom::launch
