// SPDX-License-Identifier: Apache-2.0
// Commands that are changed, with the files that they read: the program's own examples, the kept transcripts, the bad
// inputs, and those of commands.txt.
#pragma once

#include "mutate.hpp"
#include "program.hpp"
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace headroom::fuzz {

/// A file that a command reads, by the name that the command knows it by.
struct Input {
  std::string name;
  std::filesystem::path source;  ///< where its text is; empty: `text` is it
  std::string text = {};
};

struct Seed {
  std::vector<std::string> words;  ///< behind `headroom`
  std::vector<Input> inputs;
  bool data_folder = false;  ///< HEADROOM_DATA_DIR is the folder "data" beside the inputs
  bool refused = false;      ///< a bad input already, unchanged
};

struct Seeds {
  std::vector<std::string> verbs;  ///< as the program's overview lists them
  std::vector<Seed> all;
  std::map<std::string, std::vector<std::size_t>> of_verb;
  std::vector<Input> files;  ///< of all seeds, for crossing
  Vocabulary vocabulary;
};

/// Throws std::runtime_error where a verb of the program has no seed. `made`: an empty folder for files that the
/// program itself writes as seeds.
[[nodiscard]] Seeds load_seeds(const std::filesystem::path& binary,
                               const std::filesystem::path& source,
                               const std::filesystem::path& made);

}  // namespace headroom::fuzz
