// SPDX-License-Identifier: Apache-2.0
// Launch scripts as words, with the place of each.
#include <headroom/scenarios/launch/shell_words.hpp>

#include <doctest/doctest.h>

using namespace headroom;
using namespace headroom::launch;

namespace {

ShellScript read(std::string_view text, Assignments assignments = Assignments::variables) {
  Diagnostics diagnostics;
  ShellScript script = read_shell(text, "x", assignments, {{"SLURM_NNODES", "4"}}, diagnostics);
  diagnostics.throw_if_any();
  return script;
}

/// The words of the last command, with '|' between.
std::string words(std::string_view text, Assignments assignments = Assignments::variables) {
  const ShellScript script = read(text, assignments);
  std::string joined;
  for (const ShellWord& word : script.commands.back().words) {
    joined += (joined.empty() ? "" : "|") + word.text;
  }
  return joined;
}

std::string problem(std::string_view text) {
  try {
    static_cast<void>(read(text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("quotes, backslashes and comments are the shell's") {
  CHECK(words("a 'b c' \"d e\" f\\ g") == "a|b c|d e|f g");
  CHECK(words("a 'b\\' \"c\\\"d\\n\" # rest 'open") == "a|b\\|c\"d\\n");
  CHECK(words("a \\\n  b \\\r\n c") == "a|b|c");
  CHECK(words("a '' b#c") == "a||b#c");
  CHECK(words("a 2>&1 > log.txt b") == "a|b");
  CHECK(words("cd x && run y | tee z") == "tee|z");
}

TEST_CASE("variables and arrays stand for their values, unknown ones for themselves") {
  CHECK(words("N=8\nrun --gpus $N ${N} \"$N\" '$N'") == "run|--gpus|8|8|8|$N");
  CHECK(words("A=\"--x 1 --y 2\"\nrun $A \"$A\"") == "run|--x|1|--y|2|--x 1 --y 2");
  CHECK(words("A=(--x 1 # why\n --y 'two words')\nA+=(--z)\nrun \"${A[@]}\"") == "run|--x|1|--y|two words|--z");
  CHECK(words("A=(--y 'two words')\nrun ${A[@]}") == "run|--y|two|words");
  CHECK(words("A='--x 1'\nrun ${A[@]}") == "run|--x|1");
  CHECK(words("run \"${A[@]}\" $UNKNOWN ${U:-7} ${V-a b} x") == "run|$UNKNOWN|7|a b|x");
  CHECK(words("A=\"--x $UNKNOWN --y\"\nrun $A") == "run|--x|$UNKNOWN|--y");
  CHECK(words("export N=3\nrun $N $SLURM_NNODES") == "run|3|4");
  CHECK(words("W=$(hostname | head -n 1)\nrun $W $(nproc) `date`") == "run|$W|$(nproc)|`date`");
  CHECK(words("a=b c.d=e", Assignments::words) == "a=b|c.d=e");
}

TEST_CASE("variables that double do not fill the memory") {
  std::string text = "A=xxxxxxxx\n";
  for (int i = 0; i < 60; ++i) {
    text += "A=$A$A\n";
  }
  CHECK(words(text + "run $A").size() < (1U << 22U));
}

TEST_CASE("a word knows its line and column, through variables too") {
  const ShellScript script = read("ARGS=\"--x 1\n  --why 2\"\nrun 'é' $ARGS\n");
  const std::vector<ShellWord>& found = script.commands.back().words;
  REQUIRE(found.size() == 6);
  CHECK(found[1].at.line == 3);
  CHECK(found[1].at.column == 5);
  CHECK(found[4].text == "--why");
  CHECK(found[4].at.line == 2);
  CHECK(found[4].at.column == 3);
}

TEST_CASE("directives and arrays that nothing expands are kept") {
  const ShellScript script = read("#!/bin/bash\n#SBATCH --nodes=4\n # SBATCH --no\nA=(b c)\n");
  REQUIRE(script.directives.size() == 1);
  CHECK(script.directives[0].text == " --nodes=4");
  CHECK(script.directives[0].at.line == 2);
  REQUIRE(script.arrays.size() == 1);
  CHECK(script.arrays[0].words[1].text == "c");
  CHECK(script.commands.empty());
}

TEST_CASE("what is not closed is said where it opens") {
  CHECK(problem("run 'a\nb") == "x:1:5: error: quote ' is not closed");
  CHECK(problem("run \"a") == "x:1:5: error: quote \" is not closed");
  CHECK(problem("run $(a (b)") == "x:1:6: error: '(' is not closed");
  CHECK(problem("run ${a") == "x:1:5: error: '${' is not closed");
  CHECK(problem("run `a") == "x:1:5: error: '`' is not closed");
}

TEST_CASE("a quoted word reads back") {
  for (const std::string_view word : {"plain", "", "two words", "it's", "$HOME", "([0]*3+[1]*58)", "a\"b", "#x"}) {
    CHECK(words("run " + shell_quoted(word)) == "run|" + std::string{word});
  }
  CHECK(shell_quoted("a.b/c=1,0") == "a.b/c=1,0");
}
