// SPDX-License-Identifier: Apache-2.0
// Changes of texts and command lines, from single bytes to values that only just make sense.
#pragma once

#include "random.hpp"
#include <map>
#include <string>
#include <vector>

namespace headroom::fuzz {

/// What the seeds say, for changes that the first check of a reader does not catch.
struct Vocabulary {
  std::map<std::string, std::vector<std::string>> keys;        ///< of scenarios, dotted, with the values seen
  std::map<std::string, std::vector<std::string>> options;     ///< with the values seen
  std::map<std::string, std::vector<std::string>> options_of;  ///< by verb
  std::vector<std::string> key_names;
};

/// One change of a text; `other`: a text that lines and halves are taken from. Says what was done.
std::string mutate_text(std::string& text, const std::string& other, Random& random);

/// One change of the words behind `headroom`, the first of which is the verb. Says what was done. No word holds a NUL.
std::string mutate_words(std::vector<std::string>& words, const Vocabulary& vocabulary, Random& random);

}  // namespace headroom::fuzz
