// SPDX-License-Identifier: Apache-2.0
#include "mutate.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>

namespace headroom::fuzz {
namespace {

constexpr std::size_t most_bytes = 2'000'000;  // of a text that is repeated

const std::vector<std::string>& extremes() {
  static const std::vector<std::string> all{"0",
                                            "-1",
                                            "1",
                                            "2",
                                            "1e308",
                                            "-1e308",
                                            "nan",
                                            "inf",
                                            "-inf",
                                            "9223372036854775807",
                                            "9223372036854775808",
                                            "-9223372036854775808",
                                            "18446744073709551616",
                                            "4503599627370496",
                                            "2147483648",
                                            "4294967296",
                                            "1e-308",
                                            "5e-324",
                                            "1e400",
                                            "-0.0",
                                            "0.0",
                                            "0x7fffffff",
                                            "1_000_000",
                                            "01",
                                            "1e6",
                                            "1e9",
                                            "1e12",
                                            "1e15",
                                            "0.5",
                                            "0.999999999999",
                                            "1e-9",
                                            std::string(400, '9'),
                                            "0." + std::string(400, '3'),
                                            "+5",
                                            ".5",
                                            "5."};
  return all;
}

/// Numbers that a planner could state, though not here.
const std::vector<std::string>& likely() {
  static const std::vector<std::string> all{"1",    "2",    "3",     "4",     "5",      "6",      "7",       "8",
                                            "9",    "12",   "16",    "24",    "31",     "64",     "96",      "100",
                                            "127",  "128",  "255",   "256",   "512",    "1000",   "1024",    "1025",
                                            "4096", "8192", "16384", "65536", "100000", "131072", "1048576", "10000000",
                                            "0.1",  "0.25", "0.9",   "1.5",   "99.5"};
  return all;
}

const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> all{"",
                                            " ",
                                            "\t",
                                            "\xEF\xBB\xBF",
                                            "\xE2\x80\xAE",
                                            "\xC3\x28",
                                            "\xF0\x9F\x98\x80",
                                            "\xFF\xFE",
                                            "\x1b[31m",
                                            "\x07",
                                            "\x7f",
                                            "%s%n%d",
                                            "{}",
                                            "$(id)",
                                            "`id`",
                                            "'",
                                            "\"",
                                            "\\",
                                            "\\u0000",
                                            "\"\"\"",
                                            "\r",
                                            "\n\n",
                                            "../x",
                                            "./",
                                            ".",
                                            "..",
                                            "-",
                                            "--",
                                            "#",
                                            "=",
                                            ",",
                                            ";",
                                            "<script>",
                                            "&amp;",
                                            "null",
                                            "None",
                                            "true",
                                            std::string(5'000, 'a'),
                                            std::string(300, '/'),
                                            "h100-sxm-80gb",
                                            "llama3-70b",
                                            "llama3-8b",
                                            "vllm",
                                            "fp8",
                                            "bf16",
                                            "any",
                                            "1..8",
                                            "8..1",
                                            "1..1000000000 x1",
                                            "[1, 2]",
                                            "1e3 GB/s"};
  return all;
}

const std::vector<std::string>& values() {
  static const std::vector<std::string> all{"true",
                                            "false",
                                            "0",
                                            "-1",
                                            "3",
                                            "1e308",
                                            "nan",
                                            "inf",
                                            "\"\"",
                                            "\"x\"",
                                            "[]",
                                            "{}",
                                            "[1, \"a\", []]",
                                            "{ a = 1 }",
                                            "{\"a\": 1}",
                                            "1979-05-27",
                                            "1979-05-27T07:32:00Z",
                                            "null",
                                            "''",
                                            "\"0 GB/s\"",
                                            "\"-5 $/h\"",
                                            "\"1e308 B\"",
                                            "\"1e-308 s\"",
                                            "\"nan s\"",
                                            "\"100 %\"",
                                            "\"any\"",
                                            "\"1..8\"",
                                            "[1, 2, 4]",
                                            "[[[[[[1]]]]]]",
                                            "[\"a\", \"a\"]",
                                            "9223372036854775807",
                                            "9223372036854775808"};
  return all;
}

const std::vector<std::string>& units() {
  static const std::vector<std::string> all{
      "B",       "KB",    "MB",       "GB",    "TB",   "GiB", "TiB",     "EB",  "bit",    "Gb/s",
      "GB/s",    "TB/s",  "EB/s",     "s",     "ms",   "us",  "ns",      "min", "h",      "d",
      "years",   "$",     "$/h",      "$/kWh", "$/GB", "W",   "kW",      "MWh", "FLOP/s", "TFLOP/s",
      "EFLOP/s", "req/s", "tokens/s", "%",     "GHz",  "",    "furlongs"};
  return all;
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

/// From, to.
using Span = std::pair<std::size_t, std::size_t>;

std::vector<Span> numbers_of(std::string_view text) {
  std::vector<Span> all;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i]) || (i > 0 && is_letter(text[i - 1]))) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.' || text[end] == '_' ||
                                 (text[end] == 'e' && end + 1 < text.size() && is_digit(text[end + 1])))) {
      ++end;
    }
    all.emplace_back(text[end - 1] == '.' ? Span{i, end - 1} : Span{i, end});
    i = end;
  }
  return all;
}

/// Letters behind a number and a blank.
std::vector<Span> units_of(std::string_view text) {
  std::vector<Span> all;
  for (std::size_t i = 2; i < text.size(); ++i) {
    if (text[i - 1] == ' ' && is_digit(text[i - 2]) && (is_letter(text[i]) || text[i] == '$' || text[i] == '%')) {
      std::size_t end = i + 1;
      while (end < text.size() && (is_letter(text[end]) || text[end] == '/' || text[end] == '$')) {
        ++end;
      }
      all.emplace_back(i, end);
    }
  }
  return all;
}

/// Between two double quotes of one line.
std::vector<Span> quoted_of(std::string_view text) {
  std::vector<Span> all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      const std::size_t end = text.find_first_of("\"\n", i + 1);
      if (end != std::string_view::npos && text[end] == '"') {
        all.emplace_back(i + 1, end);
      }
      i = std::min(end, text.size());
    }
  }
  return all;
}

/// Lines with their ends.
std::vector<Span> lines_of(std::string_view text) {
  std::vector<Span> all;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = text.find('\n', i);
    const std::size_t next = end == std::string_view::npos ? text.size() : end + 1;
    all.emplace_back(i, next);
    i = next;
  }
  return all;
}

/// What stands behind "=" or ":", to the end of its line; cells of a line without either.
std::vector<Span> values_of(std::string_view text) {
  std::vector<Span> all;
  for (const auto& [from, to] : lines_of(text)) {
    const std::size_t end = text[to - 1] == '\n' ? to - 1 : to;
    const std::string_view line = text.substr(from, end - from);
    const std::size_t sign = line.find_first_of("=:");
    if (sign != std::string_view::npos && line.find(',') > sign) {
      all.emplace_back(from + sign + 1, end);
      continue;
    }
    for (std::size_t cell = 0; cell <= line.size();) {
      const std::size_t comma = std::min(line.find(',', cell), line.size());
      all.emplace_back(from + cell, from + comma);
      cell = comma + 1;
    }
  }
  return all;
}

std::string cut(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, 40)) {
    shown += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e ? '?' : c;
  }
  return text.size() > 40 ? shown + "..." : shown;
}

std::string put(std::string& text, const Span& span, const std::string& value) {
  const std::string was = text.substr(span.first, span.second - span.first);
  text.replace(span.first, span.second - span.first, value);
  return "'" + cut(was) + "' becomes '" + cut(value) + "'";
}

std::string other_number(const std::string& was, Random& random) {
  switch (random.below(5)) {
    case 0: return random.pick(extremes());
    case 1:
      return was +
             (was.find('e') == std::string::npos ? "e" + std::to_string(static_cast<int>(random.below(31)) - 15) : "0");
    case 2: return "-" + was;
    case 3: return was + was;
    default: return random.pick(likely());
  }
}

std::string other_text(const std::string& was, Random& random) {
  switch (random.below(4)) {
    case 0: return was + random.pick(hostile_texts());
    case 1: return was.substr(0, random.below(was.size() + 1));
    default: return random.pick(hostile_texts());
  }
}

std::string nested(Random& random) {
  static const std::vector<std::string> openings{"[", "{", "{a=", "{\"a\":", "(", "<a>", "a.", "\"", "[[a]]\n", "[a"};
  static const std::vector<std::size_t> depths{10, 100, 1'000, 10'000, 100'000};
  const std::string opening = random.pick(openings);
  const std::size_t depth = random.pick(depths);
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) {
    text += opening;
  }
  return text;
}

std::string change_bytes(std::string& text, Random& random) {
  const std::size_t at = random.below(text.size() + 1);
  switch (random.below(4)) {
    case 0:
      if (at < text.size()) {
        text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << random.below(8)));
      }
      return "a bit of byte " + std::to_string(at) + " turned";
    case 1: {
      const std::string extra =
          random.chance(50) ? std::string(1, static_cast<char>(random.below(256))) : random.pick(hostile_texts());
      text.insert(at, extra);
      return "'" + cut(extra) + "' put in at byte " + std::to_string(at);
    }
    case 2: text.erase(at, 1 + random.below(20)); return "bytes at " + std::to_string(at) + " left out";
    default: text.resize(at); return "cut off at byte " + std::to_string(at);
  }
}

std::string change_lines(std::string& text, const std::string& other, Random& random) {
  const std::vector<Span> lines = lines_of(text);
  if (lines.empty()) {
    text = other;
    return "another text for nothing";
  }
  const Span one = random.pick(lines);
  const Span two = random.pick(lines);
  const std::string first = text.substr(one.first, one.second - one.first);
  const std::string second = text.substr(two.first, two.second - two.first);
  switch (random.below(6)) {
    case 0: text.insert(two.first, first); return "the line '" + cut(first) + "' a second time";
    case 1: text.erase(one.first, one.second - one.first); return "without the line '" + cut(first) + "'";
    case 2: {
      const auto& [low, high] = std::minmax(one, two);
      if (low.first != high.first) {
        const std::string late = text.substr(high.first, high.second - high.first);
        const std::string early = text.substr(low.first, low.second - low.first);
        text.replace(high.first, late.size(), early);
        text.replace(low.first, early.size(), late);
      }
      return "two lines change places";
    }
    case 3: {
      const std::vector<Span> theirs = lines_of(other);
      if (theirs.empty()) {
        return "nothing";
      }
      const Span line = random.pick(theirs);
      text.insert(two.first, other.substr(line.first, line.second - line.first));
      return "a line of another text put in";
    }
    case 4: {
      text = text.substr(0, one.first) + other.substr(random.below(other.size() + 1));
      return "crossed with another text";
    }
    default: {
      const std::size_t times = std::min<std::size_t>(1 + random.below(300), most_bytes / (first.size() + 1));
      std::string many;
      for (std::size_t i = 0; i < times; ++i) {
        many += first;
      }
      text.insert(one.first, many);
      return "the line '" + cut(first) + "' " + std::to_string(times + 1) + " times";
    }
  }
}

std::string change_form(std::string& text, Random& random) {
  switch (random.below(5)) {
    case 0: {
      std::string ended;
      for (const char c : text) {
        ended += c == '\n' ? (random.chance(90) ? "\r\n" : "\r") : std::string(1, c);
      }
      text = std::move(ended);
      return "other ends of lines";
    }
    case 1: text.insert(0, random.chance(50) ? "\xEF\xBB\xBF" : "\xFF\xFE"); return "a byte order mark";
    case 2: text.insert(random.below(text.size() + 1), 1, '\0'); return "a NUL";
    case 3: {
      const std::string deep = nested(random);
      const std::vector<Span> places = values_of(text);
      if (places.empty()) {
        text = deep;
        return "nests '" + cut(deep) + "'";
      }
      return put(text, random.pick(places), deep);
    }
    default: {
      const std::string once = text;
      const std::size_t times = std::min<std::size_t>(random.below(30), most_bytes / (once.size() + 1));
      for (std::size_t i = 0; i < times; ++i) {
        text += once;
      }
      return "the whole text " + std::to_string(times + 1) + " times";
    }
  }
}

/// One change of a value that a reader would take.
std::string change_value(std::string& text, Random& random) {
  const auto number_in = [&] {
    const std::vector<Span> all = numbers_of(text);
    if (all.empty()) {
      return change_bytes(text, random);
    }
    const Span span = random.pick(all);
    return put(text, span, other_number(text.substr(span.first, span.second - span.first), random));
  };
  switch (random.below(8)) {
    case 0: {
      const std::vector<Span> all = quoted_of(text);
      if (!all.empty()) {
        const Span span = random.pick(all);
        return put(text, span, other_text(text.substr(span.first, span.second - span.first), random));
      }
      return number_in();
    }
    case 1: {
      const std::vector<Span> all = units_of(text);
      return all.empty() ? number_in() : put(text, random.pick(all), random.pick(units()));
    }
    case 2: {
      const std::vector<Span> all = values_of(text);
      return all.empty() ? number_in() : put(text, random.pick(all), random.pick(values()));
    }
    case 3: {
      const std::vector<Span> all = values_of(text);
      if (all.empty()) {
        return number_in();
      }
      const Span from = random.pick(all);
      return put(text, random.pick(all), text.substr(from.first, from.second - from.first));
    }
    default: return number_in();
  }
}

}  // namespace

std::string mutate_text(std::string& text, const std::string& other, Random& random) {
  const std::size_t kind = random.below(100);
  if (kind < 15) {
    return change_bytes(text, random);
  }
  if (kind < 35) {
    return change_lines(text, other, random);
  }
  return kind < 42 ? change_form(text, random) : change_value(text, random);
}

std::string mutate_words(std::vector<std::string>& words, const Vocabulary& vocabulary, Random& random) {
  const std::size_t at = words.size() < 2 ? words.size() : 1 + random.below(words.size() - 1);
  const auto clean = [](std::string word) {
    std::erase(word, '\0');
    return word;
  };
  const std::size_t kind = random.below(100);
  const auto verb = words.empty() ? vocabulary.options_of.end() : vocabulary.options_of.find(words.front());
  const bool known = verb != vocabulary.options_of.end() && !verb->second.empty();
  if (kind < 35 && known && !vocabulary.key_names.empty() &&
      std::find(verb->second.begin(), verb->second.end(), "--set") != verb->second.end()) {
    const std::string key = random.pick(vocabulary.key_names);
    const std::vector<std::string>& seen =
        vocabulary.keys.at(random.chance(85) ? key : random.pick(vocabulary.key_names));
    std::string value = seen.empty() || random.chance(25) ? random.pick(values()) : random.pick(seen);
    if (random.chance(50)) {
      static_cast<void>(change_value(value, random));
    }
    words.emplace_back("--set");
    words.push_back(clean(key + "=" + value));
    return "--set " + cut(words.back());
  }
  if (kind < 55 && known) {
    const std::string option = random.pick(verb->second);
    words.push_back(option);
    const auto seen = vocabulary.options.find(option);
    std::string value;
    if (seen != vocabulary.options.end() && !seen->second.empty() && random.chance(75)) {
      value = random.pick(seen->second);
    } else {
      value = random.chance(50) ? random.pick(likely()) : random.pick(hostile_texts());
    }
    if (random.chance(30)) {
      static_cast<void>(change_value(value, random));
    }
    if (random.chance(90)) {
      words.push_back(clean(value));
    }
    return option + " " + cut(value);
  }
  if (at >= words.size() || kind < 60) {
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), clean(random.pick(hostile_texts())));
    return "a word more";
  }
  const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
  if (kind < 66) {
    const std::string gone = *place;
    words.erase(place);
    return "without the word '" + cut(gone) + "'";
  }
  if (kind < 70) {
    const std::string again = *place;
    words.insert(place, again);
    return "the word '" + cut(again) + "' twice";
  }
  if (kind < 74) {
    std::swap(*place, words[1 + random.below(words.size() - 1)]);
    return "two words change places";
  }
  std::string word = *place;
  const std::string was = word;
  static_cast<void>(kind < 95 ? change_value(word, random) : change_bytes(word, random));
  word = clean(word);
  *place = word;
  return "the word '" + cut(was) + "' becomes '" + cut(word) + "'";
}

}  // namespace headroom::fuzz
