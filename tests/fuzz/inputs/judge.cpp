// SPDX-License-Identifier: Apache-2.0
#include "judge.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace headroom::fuzz {
namespace {

namespace fs = std::filesystem;

class JsonCheck {
 public:
  explicit JsonCheck(std::string_view text) : text_{text} {}

  std::string fault() {
    blanks();
    value(0);
    blanks();
    if (why_.empty() && at_ != text_.size()) {
      fail("text behind the document");
    }
    return why_;
  }

 private:
  void fail(const std::string& why) {
    if (why_.empty()) {
      why_ = why + " at byte " + std::to_string(at_);
    }
    at_ = text_.size();
  }
  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() {
    while (at_ < text_.size() && (here() == ' ' || here() == '\n' || here() == '\t' || here() == '\r')) {
      ++at_;
    }
  }
  bool take(char c) {
    const bool taken = here() == c;
    at_ += taken ? 1 : 0;
    return taken;
  }

  void value(int depth) {
    if (depth > 200) {
      fail("more than 200 levels");
    } else if (take('{')) {
      members(depth);
    } else if (take('[')) {
      blanks();
      if (!take(']')) {
        do {
          blanks();
          value(depth + 1);
          blanks();
        } while (take(','));
        close(']');
      }
    } else if (here() == '"') {
      text();
    } else if (here() == '-' || std::isdigit(static_cast<unsigned char>(here())) != 0) {
      number();
    } else {
      for (const std::string_view word : {"true", "false", "null"}) {
        if (text_.substr(at_, word.size()) == word) {
          at_ += word.size();
          return;
        }
      }
      fail("no value");
    }
  }

  void members(int depth) {
    blanks();
    if (take('}')) {
      return;
    }
    do {
      blanks();
      text();
      blanks();
      close(':');
      blanks();
      value(depth + 1);
      blanks();
    } while (take(','));
    close('}');
  }

  void close(char c) {
    if (!take(c)) {
      fail(std::string{"no '"} + c + "'");
    }
  }

  void text() {
    if (!take('"')) {
      fail("no text");
      return;
    }
    while (at_ < text_.size() && here() != '"') {
      if (static_cast<unsigned char>(here()) < 0x20) {
        fail("a control character");
        return;
      }
      at_ += here() == '\\' ? 2 : 1;
    }
    close('"');
  }

  void digits() {
    if (std::isdigit(static_cast<unsigned char>(here())) == 0) {
      fail("no digit");
    }
    while (std::isdigit(static_cast<unsigned char>(here())) != 0) {
      ++at_;
    }
  }

  void number() {
    const std::size_t from = at_;
    take('-');
    if (!take('0')) {
      digits();
    }
    if (take('.')) {
      digits();
    }
    if (take('e') || take('E')) {
      if (!take('+')) {
        take('-');
      }
      digits();
    }
    if (why_.empty() && !std::isfinite(std::strtod(std::string{text_.substr(from, at_ - from)}.c_str(), nullptr))) {
      fail("a number beyond a double");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string why_;
};

bool says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// `word` between characters that are no letters, digits or underscores.
bool has_word(std::string_view text, std::string_view word) {
  const auto part = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_' || text[at] == '.');
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if ((at == 0 || !part(at - 1)) && !part(at + word.size())) {
      return true;
    }
  }
  return false;
}

/// Words of the standard library and of sanitizers, which no user can act on.
constexpr std::array internals{"std::",
                               "bad_alloc",
                               "basic_string",
                               "vector::",
                               "what():",
                               "terminate",
                               "map::at",
                               "out_of_range",
                               "length_error",
                               "bad_variant",
                               "bad_optional",
                               "bad_function",
                               "filesystem error",
                               "runtime error:",
                               "Sanitizer",
                               "Assertion",
                               "stoi",
                               "stol",
                               "stod",
                               "stoull",
                               "cannot create std",
                               "invalid stoi"};

/// What an answer with a number that is none looks like; nothing of words that the input itself holds.
std::string no_number(const std::string& out, const std::vector<std::string>& words, const Files& before) {
  for (const std::string_view word : {"nan", "inf", "-nan", "-inf"}) {
    if (!has_word(out, word)) {
      continue;
    }
    const auto given = [&](const std::string& text) { return says(text, "nan") || says(text, "inf"); };
    if (std::none_of(words.begin(), words.end(), given) &&
        std::none_of(before.begin(), before.end(),
                     [&](const auto& file) { return given(file.first) || given(file.second); })) {
      return "the answer holds the number " + std::string{word};
    }
  }
  return {};
}

bool visible(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t';
  });
}

std::string judge_answer(const std::vector<std::string>& words,
                         const Files& before,
                         const Files& after,
                         const Reply& reply) {
  const auto json = std::find(words.begin(), words.end(), "json");
  const bool asked = (json != words.begin() && json != words.end() && *(json - 1) == "--format") ||
                     std::find(words.begin(), words.end(), "--format=json") != words.end() || words.front() == "schema";
  if (asked && !reply.out.empty() && reply.out.front() == '{') {
    if (const std::string fault = json_fault(reply.out); !fault.empty()) {
      return "the answer is no JSON: " + fault;
    }
  }
  // The list of answers is a table, whatever its file is called.
  const bool table = std::find(words.begin(), words.end(), "--answers") != words.end();
  for (const auto& [name, text] : after) {
    if (!table && !before.contains(name) && name.ends_with(".json")) {
      if (const std::string fault = json_fault(text); !fault.empty()) {
        return "the file " + name + " is no JSON: " + fault;
      }
    }
  }
  if (reply.code == 0 && reply.out.empty() && reply.err.empty() && before == after) {
    return "neither an answer nor a refusal";
  }
  return no_number(reply.out, words, before);
}

std::string judge_refusal(const Files& before, const Files& after, const Reply& reply) {
  if (!says(reply.err, "error: ") && !says(reply.err, "usage: ")) {
    return "exit code " + std::to_string(reply.code) + " without an error on stderr";
  }
  for (std::size_t at = reply.err.find("error: "); at != std::string::npos; at = reply.err.find("error: ", at + 1)) {
    if (at + 7 >= reply.err.size() || reply.err[at + 7] == '\n') {
      return "an error without a text";
    }
  }
  if (reply.code != 2) {
    return {};
  }
  // Asked for JSON, a refused command is a document too.
  const bool told = says(reply.out, "\"schema\": \"headroom.error/1\"");
  if (!reply.out.empty() && !told) {
    return "a refused command has printed an answer";
  }
  for (const auto& [name, text] : after) {
    const auto was = before.find(name);
    if (was == before.end()) {
      return "a refused command has left the file " + name;
    }
    if (was->second != text) {
      return "a refused command has changed the file " + name;
    }
  }
  return after.size() == before.size() ? std::string{} : "a refused command has removed a file";
}

}  // namespace

std::string json_fault(std::string_view text) {
  return JsonCheck{text}.fault();
}

Files files_of(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator{folder}) {
    if (entry.is_regular_file()) {
      files[fs::relative(entry.path(), folder).string()] = text_of(entry.path());
    }
  }
  return files;
}

std::string judge(const std::vector<std::string>& words, const Files& before, const Files& after, const Reply& reply) {
  switch (reply.signal) {
    case 0: break;
    case SIGXCPU:
    case SIGKILL: return "more processor time than allowed";
    case SIGALRM: return "more time than allowed";
    case SIGXFSZ: return "more output than allowed";
    default: return std::string{"ended by signal "} + strsignal(reply.signal);
  }
  if (reply.code != 0 && reply.code != 1 && reply.code != 2 && reply.code != 3 && reply.code != 4 &&
      reply.code != 124) {
    return "exit code " + std::to_string(reply.code);
  }
  for (const char* const internal : internals) {
    const auto quoted = [&](const std::string& text) { return says(text, internal); };
    if (says(reply.err, internal) && std::none_of(words.begin(), words.end(), quoted) &&
        std::none_of(before.begin(), before.end(), [&](const auto& file) { return quoted(file.second); })) {
      return std::string{"stderr says '"} + internal + "'";
    }
  }
  if (!visible(reply.err)) {
    return "control characters on stderr";
  }
  return reply.code >= 2 && reply.code != 4 && reply.code != 124 ? judge_refusal(before, after, reply)
                                                                 : judge_answer(words, before, after, reply);
}

}  // namespace headroom::fuzz
