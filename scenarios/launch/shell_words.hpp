// SPDX-License-Identifier: Apache-2.0
// Parses shell scripts into commands of words: the parts of the POSIX shell command language (IEEE 1003.1-2017,
// sections 2.2 to 2.6) and of bash's arrays that launch scripts use.
#pragma once

#include <headroom/core/diagnostic.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::launch {

/// A word with quotes and known variables resolved. Unknown expansions (`$SLURM_PROCID`, `$(hostname)`) stay as
/// written.
struct ShellWord {
  std::string text;
  Position at;
};

struct ShellCommand {
  std::vector<ShellWord> words;
};

struct ShellScript {
  std::vector<ShellCommand> commands;
  std::vector<ShellCommand> arrays;   ///< arrays that no command expands, in the order of the script
  std::vector<ShellWord> directives;  ///< the rest of each line that starts with #SBATCH
};

enum class Assignments : bool { words, variables };

/// Supports quotes, backslashes, continued lines, comments, `NAME=value`, `NAME=(a b)`, `NAME+=`, `export NAME=value`,
/// `$NAME`, `${NAME}`, `${NAME:-default}` and `${NAME[@]}`; an unquoted variable splits at spaces. `known`: variables
/// of the environment. With Assignments::words `a=b` is an ordinary word. An unclosed quote or expansion is a problem
/// of `file`.
[[nodiscard]] ShellScript read_shell(std::string_view text,
                                     const std::string& file,
                                     Assignments assignments,
                                     const std::map<std::string, std::string>& known,
                                     Diagnostics& diagnostics);

/// Quotes a word for the shell if necessary, with single quotes.
[[nodiscard]] std::string shell_quoted(std::string_view word);

}  // namespace headroom::launch
