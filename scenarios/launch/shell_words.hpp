// SPDX-License-Identifier: Apache-2.0
// Shell scripts as commands of words: as much of the POSIX shell command language (IEEE 1003.1-2017, section 2.2 to
// 2.6) and of bash's arrays as launch scripts use.
#pragma once

#include <headroom/core/diagnostic.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::launch {

/// A word with its quotes and known variables resolved. What is not known here (`$SLURM_PROCID`, `$(hostname)`) stays
/// as it was written.
struct ShellWord {
  std::string text;
  Position at;
};

struct ShellCommand {
  std::vector<ShellWord> words;
};

struct ShellScript {
  std::vector<ShellCommand> commands;
  std::vector<ShellCommand> arrays;   ///< that no command expands, in the order of the script
  std::vector<ShellWord> directives;  ///< lines that start with #SBATCH, what follows it
};

enum class Assignments : bool { words, variables };

/// Quotes, backslashes and continued lines, comments, `NAME=value`, `NAME=(a b)`, `NAME+=`, `export NAME=value`,
/// `$NAME`,
/// `${NAME}`, `${NAME:-default}`, `${NAME[@]}`; a variable unquoted falls into words at its blanks. `known` are
/// variables that the surroundings set. With Assignments::words `a=b` is a word like any other. A quote or an
/// expansion that is not closed is a problem of `file`.
[[nodiscard]] ShellScript read_shell(std::string_view text,
                                     const std::string& file,
                                     Assignments assignments,
                                     const std::map<std::string, std::string>& known,
                                     Diagnostics& diagnostics);

/// A word as a shell reads it back: between single quotes where it must be.
[[nodiscard]] std::string shell_quoted(std::string_view word);

}  // namespace headroom::launch
