// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/stubs/python_names.hpp>
#include <headroom/cli/stubs/python_stub.hpp>

#include <algorithm>
#include <array>

namespace headroom::python {
namespace {

/// The reserved words of Python 3.11 (The Python Language Reference, 2.3.1).
constexpr std::array<std::string_view, 35> reserved{
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_reserved(std::string_view name) noexcept {
  return std::find(reserved.begin(), reserved.end(), name) != reserved.end();
}

}  // namespace

bool is_attribute(std::string_view name) noexcept {
  return !name.empty() && is_letter(name.front()) && !is_reserved(name) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

std::string class_name(std::string_view path) {
  std::string name;
  bool begins = true;
  for (const char c : path) {
    if (!is_letter(c) && !is_digit(c)) {
      begins = true;
    } else if (c == '_') {
      begins = true;
    } else {
      name += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      begins = false;
    }
  }
  return name;
}

std::string keyword_of(std::string_view option) {
  std::string name{option.substr(std::min(option.find_first_not_of('-'), option.size()))};
  std::replace(name.begin(), name.end(), '-', '_');
  return is_reserved(name) ? name + "_" : name;
}

std::string doc_string(std::string_view text) {
  std::string out = "\"\"\"";
  for (const char c : text) {
    out += c == '\\' || c == '"' ? std::string{'\\', c} : std::string{c};
  }
  return out + "\"\"\"";
}

}  // namespace headroom::python
