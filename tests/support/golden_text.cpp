// SPDX-License-Identifier: Apache-2.0
#include "golden_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <regex>
#include <utility>

namespace headroom::test {
namespace {

constexpr double factor = 2.0;             // between two fitted numbers
constexpr double near_share = 0.1;         // between two shares of a whole
constexpr double negligible = 0.05;        // of the largest number of a table
constexpr std::ptrdiff_t most_days = 400;  // between two days
constexpr int most_rounded_digits = 6;     // beyond: as many as the double needs

enum class Kind { word, number, day, bar };

struct Token {
  Kind kind = Kind::word;
  std::string text;
  std::size_t begin = 0, end = 0;  ///< columns
  std::size_t gap = 0;             ///< spaces before it
  // Of numbers:
  double value = 0.0;  ///< in the smallest unit of its dimension
  std::string dimension;
  bool unit = false, form_alone = false, integer = false, grouped = false, fitted = false;
  int least_digits = 0, most_digits = 0;  ///< significant ones: trailing zeros of integers may be or not
  std::string key;                        ///< of JSON
};

struct Line {
  std::string_view text;
  std::vector<Token> tokens;
  bool json = false;
  std::map<std::string, double> largest;  ///< by dimension, of the table that it stands in
};

constexpr std::string_view digits = "0123456789";
constexpr std::string_view punctuation = "()[]{},;:\"'=|";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A number of `scale` and `dimension`: "GiB", "us", "days", "M$", and "T", thousands and more of whatever follows.
bool read_unit(std::string_view text, double& scale, std::string& dimension) {
  struct Named {
    std::string_view text;
    double scale;
    std::string_view dimension = {};
  };
  static constexpr std::array bases{
      Named{"s", 1.0, "s"},
      Named{"min", 60.0, "s"},
      Named{"h", 3600.0, "s"},
      Named{"d", 86400.0, "s"},
      Named{"day", 86400.0, "s"},
      Named{"days", 86400.0, "s"},
      Named{"years", 31556952.0, "s"},
      Named{"B", 1.0, "B"},
      Named{"b", 1.0, "b"},
      Named{"FLOP", 1.0, "FLOP"},
      Named{"W", 1.0, "W"},
      Named{"Wh", 1.0, "Wh"},
      Named{"J", 1.0, "J"},
      Named{"$", 1.0, "$"},
      Named{"%", 1.0, "%"},
  };
  static constexpr std::array prefixes{
      Named{"", 1.0},      Named{"n", 1e-9},    Named{"u", 1e-6},   Named{"m", 1e-3}, Named{"k", 1e3},
      Named{"M", 1e6},     Named{"G", 1e9},     Named{"T", 1e12},   Named{"P", 1e15}, Named{"Ki", 0x1p10},
      Named{"Mi", 0x1p20}, Named{"Gi", 0x1p30}, Named{"Ti", 0x1p40}};
  for (const Named& prefix : prefixes) {
    if (prefix.scale >= 1e3 && text == prefix.text) {
      scale = prefix.scale;
      dimension = "many";
      return true;
    }
    for (const Named& base : bases) {
      if (text.starts_with(prefix.text) && text.substr(prefix.text.size()) == base.text) {
        scale = prefix.scale * base.scale;
        dimension = base.dimension;
        return true;
      }
    }
  }
  return false;
}

/// The same of "TFLOP/s", "$/GB/month", "tokens/s", too: what is behind the stroke stays as written.
bool read_rate(std::string_view text, double& scale, std::string& dimension) {
  const std::size_t stroke = std::min(text.find('/'), text.size());
  const std::string_view base = text.substr(0, stroke);
  if (!read_unit(base, scale, dimension)) {
    if (stroke == text.size() || !is_one_of(base, {"req", "requests", "tokens", "samples", "sequences"})) {
      return false;
    }
    scale = 1.0;
    dimension = base;
  }
  dimension += text.substr(stroke);
  return true;
}

/// The number that `text` is, as far as the number goes.
bool read_number(std::string_view text, Token& token) {
  std::string plain;
  int before = 0, zeros = 0, significant = 0;
  bool point = false, power = false;
  std::size_t i = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
  plain = text.substr(0, i);
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (is_digit(c)) {
      before += power ? 0 : 1;
      if (!power && (c != '0' || significant > 0)) {
        ++significant;
        zeros = c == '0' ? zeros + 1 : 0;
      }
    } else if (c == '.' && before > 0 && !point && !power && i + 1 < text.size() && is_digit(text[i + 1])) {
      point = true;
    } else if (c == 'e' && before > 0 && !power) {
      power = true;
      if (i + 1 < text.size() && (text[i + 1] == '+' || text[i + 1] == '-')) {
        plain += c;
        ++i;
      }
    } else if (c == ' ') {
      token.grouped = true;
      continue;
    } else {
      return false;
    }
    plain += text[i];
  }
  if (before == 0 || !is_digit(plain.back())) {
    return false;
  }
  token.kind = Kind::number;
  token.value = std::strtod(plain.c_str(), nullptr);
  token.integer = !point && !power;
  token.most_digits = significant;
  token.least_digits = significant - (token.integer ? zeros : 0);
  return true;
}

/// Where the number in thousands "16 384" that begins at `at` ends; `end` where it is none.
std::size_t end_of_thousands(std::string_view line, std::size_t at, std::size_t end) {
  const std::size_t first = line[at] == '+' || line[at] == '-' ? at + 1 : at;
  if (end - first < 1 || end - first > 3 || line[first] == '0' ||
      line.substr(first, end - first).find_first_not_of(digits) != std::string_view::npos) {
    return end;
  }
  while (end + 4 <= line.size() && line[end] == ' ' &&
         line.substr(end + 1, 3).find_first_not_of(digits) == std::string_view::npos &&
         (end + 4 == line.size() || std::string_view{" ),:;x"}.find(line[end + 4]) != std::string_view::npos)) {
    end += 4;
  }
  return end;
}

std::vector<Token> tokens_of(std::string_view line) {
  static const std::regex day{"[0-9]{4}-[0-9]{2}-[0-9]{2}"};
  std::vector<Token> tokens;
  std::size_t gap = 0;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == ' ') {
      ++gap;
      ++i;
      continue;
    }
    Token token;
    token.begin = i;
    token.gap = gap;
    std::size_t end = i + 1;
    if (punctuation.find(line[i]) == std::string_view::npos) {
      end = std::min(line.find_first_of(std::string{punctuation} + ' ', i), line.size());
      if (end - i > 1 && line[end - 1] == '.') {
        --end;
      }
      const std::string word{line.substr(i, end - i)};
      const bool glued = word.size() > 1 && (word.back() == '%' || word.back() == 'x');
      if (word.find_first_not_of('#') == std::string::npos && gap > 1 && i > gap) {
        token.kind = Kind::bar;
      } else if (word == "nothing") {
        token.kind = Kind::number;
        token.integer = true;
      } else if (std::regex_match(word, day)) {
        token.kind = Kind::day;
      } else if (glued && read_number(std::string_view{word}.substr(0, word.size() - 1), token)) {
        token.dimension = word.back();
        token.unit = true;
      } else if (const std::size_t whole = end_of_thousands(line, i, end);
                 read_number(line.substr(i, whole - i), token)) {
        end = whole;
        const std::size_t next = end + 1;
        if (next < line.size() && line[end] == ' ' && line[next] != ' ') {
          const std::size_t stop = std::min(line.find_first_of(std::string{punctuation} + ' ', next), line.size());
          double scale = 1.0;
          if (read_rate(line.substr(next, stop - next), scale, token.dimension)) {
            token.value *= scale;
            token.unit = true;
            end = stop;
            // "29.6 % fast" and "3.10 % slow" are one number with its sign in words.
            for (const std::string_view side : {" fast", " slow"}) {
              end += token.dimension == "%" && line.substr(end).starts_with(side) ? side.size() : 0;
            }
          }
        }
      }
    }
    token.end = end;
    token.text = line.substr(i, end - i);
    tokens.push_back(std::move(token));
    gap = 0;
    i = end;
  }
  return tokens;
}

bool holds_any(std::string_view text, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return text.find(part) != std::string_view::npos; });
}

/// What binds is a ranking by fitted numbers: of "binds: gemm 48 %, tp_comm 18 %" the names become one word each, and
/// so does what stands behind "bound by".
void forget_ranking(std::vector<Token>& tokens) {
  for (std::size_t i = 2; i < tokens.size(); ++i) {
    if (tokens[i - 2].text == "bound" && tokens[i - 1].text == "by" && tokens[i].kind == Kind::word) {
      tokens[i].text = "NAME";
      while (i + 1 < tokens.size() && tokens[i + 1].gap == 1) {
        tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  const auto binds = std::find_if(tokens.begin(), tokens.end(), [](const Token& t) { return t.text == "binds"; });
  const std::size_t first = static_cast<std::size_t>(binds - tokens.begin()) + 1;
  for (std::size_t i = tokens.size(); i-- > first;) {
    std::size_t name = i;
    while (tokens[i].dimension == "%" && name > first && tokens[name - 1].kind == Kind::word &&
           punctuation.find(tokens[name - 1].text[0]) == std::string_view::npos) {
      --name;
    }
    if (name < i) {
      tokens[name].text = "NAME";
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(name) + 1,
                   tokens.begin() + static_cast<std::ptrdiff_t>(i));
      i = name;
    }
  }
}

/// The key of each number of a line of JSON; of low, mid and high that of the object which they bound.
void name_by_keys(Line& line) {
  std::string key;
  for (std::size_t i = 0; i < line.tokens.size(); ++i) {
    Token& token = line.tokens[i];
    if (i + 2 < line.tokens.size() && line.tokens[i + 1].text == "\"" && line.tokens[i + 2].text == ":" &&
        token.kind == Kind::word && !is_one_of(token.text, {"low", "mid", "high"})) {
      key = token.text;
    }
    const bool first = i < 6;
    if (token.kind == Kind::number && token.dimension.empty()) {
      const std::size_t mark = key.rfind('_');
      token.key = key;
      token.dimension = mark != std::string::npos ? key.substr(mark) : first ? "" : key;
    }
  }
}

bool tells_rate(std::string_view text) {
  for (const std::string_view word : {"/s", "per GPU", "per $", "hours", "ours", "mean"}) {
    if (text.find(word) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

/// The text of the cell that holds token `i`.
std::string_view cell_of(const Line& line, std::size_t i) {
  std::size_t first = i, last = i;
  while (first > 0 && line.tokens[first].gap < 2) {
    --first;
  }
  while (last + 1 < line.tokens.size() && line.tokens[last + 1].gap < 2) {
    ++last;
  }
  return line.text.substr(line.tokens[first].begin, line.tokens[last].end - line.tokens[first].begin);
}

/// The nearest words above a number, in the same table: those of its column.
std::string_view column_of(const std::vector<Line>& lines, std::size_t at, const Token& number) {
  while (at > 0 && !lines[at - 1].tokens.empty()) {
    --at;
    const std::vector<Token>& above = lines[at].tokens;
    for (std::size_t i = 0; i < above.size(); ++i) {
      if (above[i].begin < number.end && number.begin < above[i].end && above[i].kind == Kind::word &&
          above[i].text != "-" && punctuation.find(above[i].text[0]) == std::string_view::npos) {
        return cell_of(lines[at], i);
      }
    }
  }
  return {};
}

/// Whether the word `after` tokens behind number `i` says that measurements are counted.
bool counts_measurements(const Line& line, std::size_t i) {
  const std::initializer_list<std::string_view> words{"rows", "runs", "sources", "measured"};
  for (std::size_t j = i + 1; j < std::min(i + 3, line.tokens.size()); ++j) {
    if (is_one_of(line.tokens[j].text, words)) {
      return true;
    }
  }
  return is_one_of(line.tokens[i].key, words);
}

void mark_fitted(std::vector<Line>& lines, std::size_t at, const GoldenMarks& marks) {
  Line& line = lines[at];
  if (holds_any(line.text, marks.exact)) {
    return;
  }
  const bool form_alone = holds_any(line.text, marks.form);
  const bool all = form_alone || holds_any(line.text, marks.fitted);
  std::string label;
  for (const Token& token : line.tokens) {
    if (token.kind == Kind::number) {
      break;
    }
    label += token.text + " ";
  }
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < line.tokens.size(); ++i) {
    Token& token = line.tokens[i];
    if (token.kind != Kind::number) {
      token.fitted = token.kind != Kind::word;
      continue;
    }
    numbers.push_back(i);
    token.form_alone = form_alone;
    const bool rounded = token.grouped && token.least_digits <= 3;
    token.fitted = all || !token.integer || token.unit || rounded ||
                   (!line.json && (tells_rate(label) || tells_rate(column_of(lines, at, token)))) ||
                   counts_measurements(line, i);
  }
  // "708 to 1210", "925 (708 to 1210)"
  for (std::size_t n = numbers.size(); n-- > 1;) {
    Token& left = line.tokens[numbers[n - 1]];
    Token& right = line.tokens[numbers[n]];
    if (numbers[n] == numbers[n - 1] + 2 && line.tokens[numbers[n] - 1].text == "to") {
      left.fitted = right.fitted = left.fitted || right.fitted;
    }
  }
}

std::vector<Line> lines_of(std::string_view text, const GoldenMarks& marks) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Line line;
    line.text = text.substr(0, end);
    line.tokens = tokens_of(line.text);
    line.json = !line.tokens.empty() && std::string_view{"\"{}[]"}.find(line.tokens[0].text) != std::string_view::npos;
    if (!holds_any(line.text, marks.exact)) {
      forget_ranking(line.tokens);
    }
    if (line.json) {
      name_by_keys(line);
    }
    lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto joined = [&](const Line& a, const Line& b) {
    return !a.tokens.empty() && !b.tokens.empty() && a.json == b.json &&
           (!a.json || a.tokens[0].begin == b.tokens[0].begin);
  };
  for (std::size_t begin = 0, end = 0; begin < lines.size(); begin = end) {
    std::map<std::string, double> largest;
    for (end = begin; end < lines.size() && (end == begin || joined(lines[end - 1], lines[end])); ++end) {
      for (const Token& token : lines[end].tokens) {
        if (token.kind == Kind::number && (lines[end].json || !token.dimension.empty())) {
          double& most = largest[token.dimension];
          most = std::max(most, std::abs(token.value));
        }
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      lines[i].largest = largest;
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    mark_fitted(lines, i, marks);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!holds_any(lines[i].text, marks.unordered)) {
      continue;
    }
    const std::size_t first = ++i;
    while (i < lines.size() && !lines[i].tokens.empty() && lines[i].text[0] != ']' &&
           lines[i].tokens[0].begin == lines[first].tokens[0].begin) {
      ++i;
    }
    std::sort(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.begin() + static_cast<std::ptrdiff_t>(i),
              [](const Line& a, const Line& b) { return a.text < b.text; });
  }
  return lines;
}

std::ptrdiff_t day_number(const std::string& day) {
  const std::chrono::year_month_day date{std::chrono::year{std::stoi(day.substr(0, 4))},
                                         std::chrono::month{static_cast<unsigned>(std::stoul(day.substr(5, 2)))},
                                         std::chrono::day{static_cast<unsigned>(std::stoul(day.substr(8, 2)))}};
  return std::chrono::sys_days{date}.time_since_epoch().count();
}

double largest(const Line& line, const std::string& dimension) {
  const auto found = line.largest.find(dimension);
  return found == line.largest.end() ? 0.0 : found->second;
}

char sign(const Token& token) {
  return token.text[0] == '-' || token.text[0] == '+' ? token.text[0] : ' ';
}

/// Why two tokens at the same place are not the same; empty: they are.
std::string difference(const Token& a, const Token& b, double most) {
  const std::string both = "'" + a.text + "' and '" + b.text + "'";
  // An integer of three digits or more may be a number rounded to as many, with decimals beside it.
  const bool rounded = a.integer != b.integer && (a.integer ? a : b).most_digits > 2;
  const bool zero = a.kind == b.kind && a.kind == Kind::number && (a.value == 0.0 || b.value == 0.0);
  const bool fitted = (a.fitted && b.fitted) || ((rounded || zero) && (a.fitted || b.fitted));
  if (a.kind != b.kind || !fitted) {
    return a.text == b.text ? "" : both + " are not the same";
  }
  if (a.kind == Kind::bar || a.text == b.text) {
    return "";
  }
  if (a.kind == Kind::day) {
    return std::abs(day_number(a.text) - day_number(b.text)) <= most_days ? "" : both + " lie too far apart";
  }
  if (a.dimension != b.dimension && !zero) {
    return both + " have not the same dimension";
  }
  const bool long_a = a.most_digits > most_rounded_digits && a.least_digits > 3;
  const bool long_b = b.most_digits > most_rounded_digits && b.least_digits > 3;
  if (!zero && a.key.empty() &&
      (long_a != long_b || (!long_a && (a.least_digits > b.most_digits || b.least_digits > a.most_digits)))) {
    return both + " have not as many digits";
  }
  if (!zero && std::min(std::abs(a.value), std::abs(b.value)) >= 1e4 && a.integer && b.integer && a.dimension.empty() &&
      a.grouped != b.grouped) {
    return both + " are not both written in thousands";
  }
  const bool percent = a.dimension == "%" || b.dimension == "%";
  const bool share = percent || is_one_of(a.key, {"share", "misfit", "step_error"});
  const double whole = percent ? 100.0 : share ? 1.0 : most;
  if (a.form_alone || std::max(std::abs(a.value), std::abs(b.value)) < negligible * whole) {
    return "";
  }
  if (!zero && sign(a) != sign(b)) {
    return both + " have not the same sign";
  }
  if (share && std::abs(a.value - b.value) <= near_share * whole) {
    return "";
  }
  const double ratio = zero ? 0.0 : a.value / b.value;
  return ratio >= 1.0 / factor && ratio <= factor ? "" : both + " lie further apart than a factor of two";
}

std::string difference(const Line& a, const Line& b) {
  const auto told = [&](const std::string& why) {
    return why + "\n  kept:    " + std::string{a.text} + "\n  printed: " + std::string{b.text};
  };
  for (std::size_t i = 0; i < std::max(a.tokens.size(), b.tokens.size()); ++i) {
    if (i == a.tokens.size() || i == b.tokens.size()) {
      return told("the line has not as many words");
    }
    const Token& left = a.tokens[i];
    const Token& right = b.tokens[i];
    const double most = std::max({largest(a, left.dimension), largest(b, left.dimension), largest(a, right.dimension),
                                  largest(b, right.dimension)});
    if (std::string why = difference(left, right, most); !why.empty()) {
      return told(why);
    }
    // The first cell of a row of numbers is moved by the widest of them.
    const bool moved = i == 0 && left.kind == Kind::number;
    const auto layout = [&](std::size_t gap) { return i == 0 ? gap : std::min<std::size_t>(gap, 2); };
    if (!moved && layout(left.gap) != layout(right.gap)) {
      return told("'" + left.text + "' does not begin where it began");
    }
  }
  return "";
}

}  // namespace

GoldenMarks take_marks(std::string_view& text) {
  GoldenMarks marks;
  while (text.starts_with("! ")) {
    const std::string_view line = text.substr(2, text.find('\n') - 2);
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string held{line.substr(std::min(space + 1, line.size()))};
    const std::string_view mark = line.substr(0, space);
    if (mark == "exact") {
      marks.exact.push_back(held);
    } else if (mark == "fitted") {
      marks.fitted.push_back(held);
    } else if (mark == "form") {
      marks.form.push_back(held);
    } else if (mark == "unordered") {
      marks.unordered.push_back(held);
    } else {
      break;
    }
    text.remove_prefix(std::min(line.size() + 3, text.size()));
  }
  return marks;
}

std::string golden_difference(std::string_view expected, std::string_view actual, const GoldenMarks& marks) {
  const std::vector<Line> kept = lines_of(expected, marks);
  const std::vector<Line> printed = lines_of(actual, marks);
  std::size_t at = 0;  // of `printed`: what comes next
  bool anywhere = false;
  for (std::size_t begin = 0; begin <= kept.size();) {
    std::size_t end = begin;
    while (end < kept.size() && kept[end].text != "...") {
      ++end;
    }
    const bool last = end == kept.size();
    // The lines from `begin` to `end` stand here, or after left out ones as soon as they do.
    std::string why;
    std::size_t best = 0;
    bool found = false;
    for (std::size_t from = last && anywhere ? std::max(at, printed.size() - std::min(printed.size(), end - begin))
                                             : at;
         !found && from <= printed.size(); ++from) {
      std::size_t i = 0;
      std::string here;
      for (; begin + i < end && here.empty(); ++i) {
        here = from + i < printed.size() ? difference(kept[begin + i], printed[from + i])
                                         : "a line is not printed\n  kept:    " + std::string{kept[begin + i].text};
      }
      if (here.empty() && last && from + i < printed.size()) {
        here = "a line more is printed\n  printed: " + std::string{printed[from + i].text};
      }
      found = here.empty();
      if (why.empty() || i > best) {
        best = i;
        why = here;
      }
      if (found) {
        at = from + i;
      } else if (!anywhere) {
        break;
      }
    }
    if (!found) {
      return why;
    }
    anywhere = true;
    begin = end + 1;
  }
  return "";
}

std::string golden_rewritten(std::string_view expected, std::string_view actual) {
  const auto words = [](const Line& line) {
    std::string text;
    for (const Token& token : line.tokens) {
      text += token.kind == Kind::word ? token.text + " " : "# ";
    }
    return text;
  };
  const std::vector<Line> printed = lines_of(actual, {});
  std::string text;
  std::size_t at = 0;
  for (const Line& line : lines_of(expected, {})) {
    std::size_t found = line.text == "..." ? printed.size() : at;
    while (found < printed.size() && words(printed[found]) != words(line)) {
      ++found;
    }
    text += std::string{(found < printed.size() ? printed[found] : line).text} + "\n";
    at = found < printed.size() ? found + 1 : at;
  }
  return text;
}

}  // namespace headroom::test
