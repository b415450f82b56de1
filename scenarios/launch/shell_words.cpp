// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/launch/shell_words.hpp>

#include <algorithm>
#include <optional>

namespace headroom::launch {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_name(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

/// Text with the place of every character.
struct Placed {
  std::string text;
  std::vector<Position> places;
  void add(char c, Position at) {
    text += c;
    places.push_back(at);
  }
  void add(const Placed& other) {
    text += other.text;
    places.insert(places.end(), other.places.begin(), other.places.end());
  }
};

/// A variable with one value, or an array of words.
struct Variable {
  std::vector<Placed> words;
  bool array = false;
  bool used = false;
};

/// The word being read; quotes make even an empty word count.
struct Word {
  Placed placed;
  Position at;
  bool begun = false;
};

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& file, Assignments assignments, Diagnostics& diagnostics)
      : text_{text}, file_{file}, assignments_{assignments}, diagnostics_{diagnostics} {}

  void know(const std::string& name, const std::string& value) {
    Placed placed;
    for (const char c : value) {
      placed.add(c, {1, 1});
    }
    variables_[name] = {{placed}, false, false};
  }

  ShellScript run() {
    while (i_ < text_.size()) {
      step_once();
    }
    end_command();
    for (const std::string& name : array_order_) {
      const Variable& variable = variables_[name];
      if (!variable.array || variable.used) {
        continue;
      }
      ShellCommand array;
      for (const Placed& word : variable.words) {
        array.words.push_back({word.text, word.places.empty() ? Position{1, 1} : word.places.front()});
      }
      script_.arrays.push_back(std::move(array));
    }
    return std::move(script_);
  }

 private:
  [[nodiscard]] char here(std::size_t ahead = 0) const { return i_ + ahead < text_.size() ? text_[i_ + ahead] : '\0'; }
  void move() {
    const bool starts = (static_cast<unsigned char>(text_[i_]) >> 6) != 2;
    at_ = text_[i_] == '\n' ? Position{at_.line + 1, 1} : Position{at_.line, at_.column + (starts ? 1 : 0)};
    ++i_;
  }
  void take() {
    begin(at_);
    word_.placed.add(here(), at_);
    move();
  }
  void begin(Position at) {
    if (!word_.begun) {
      word_.begun = true;
      word_.at = at;
    }
  }
  void problem(Position at, std::string message) { diagnostics_.add(file_, at, std::move(message)); }

  void step_once() {
    const char c = here();
    if (c == '\\' && (here(1) == '\n' || (here(1) == '\r' && here(2) == '\n'))) {
      while (here() != '\n') {
        move();
      }
      move();
    } else if (is_blank(c)) {
      end_word();
      move();
    } else if (c == '\n' && in_array_) {
      end_word();
      move();
    } else if (c == '#' && !word_.begun) {
      comment();
    } else if (c == ')' && in_array_) {
      end_array();
    } else if (c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
      end_command();
      move();
    } else if (c == '<' || c == '>') {
      redirection();
    } else {
      word_character();
    }
  }

  void word_character() {
    const char c = here();
    if (c == '\'') {
      single_quotes();
    } else if (c == '"') {
      double_quotes();
    } else if (c == '\\' && i_ + 1 < text_.size()) {
      move();
      take();
    } else if (c == '$' || c == '`') {
      expansion(false);
    } else if (c == '=' && here(1) == '(' && starts_assignment()) {
      take();
      move();
      begin_array();
    } else {
      take();
    }
  }

  void comment() {
    const Position at = at_;
    const std::size_t start = i_;
    while (i_ < text_.size() && here() != '\n') {
      move();
    }
    constexpr std::string_view mark = "#SBATCH";
    std::string_view line = text_.substr(start, i_ - start);
    if (at.column == 1 && line.starts_with(mark)) {
      line.remove_prefix(mark.size());
      script_.directives.push_back({std::string{line}, {at.line, static_cast<int>(mark.size()) + 1}});
    }
  }

  /// Skips redirections such as `> file` and `2>&1`, which do not change the command.
  void redirection() {
    if (!word_.placed.text.empty() && word_.placed.text.find_first_not_of("0123456789") == std::string::npos) {
      word_ = {};
    }
    end_word();
    while (here() == '<' || here() == '>' || here() == '&') {
      move();
    }
    skip_next_ = true;
  }

  void single_quotes() {
    const Position open = at_;
    begin(open);
    move();
    while (i_ < text_.size() && here() != '\'') {
      take();
    }
    close(open, '\'');
  }

  void double_quotes() {
    const Position open = at_;
    begin(open);
    move();
    while (i_ < text_.size() && here() != '"') {
      if (here() == '\\' && here(1) == '\n') {
        move();
        move();
      } else if (here() == '\\' && std::string_view{"$`\"\\"}.find(here(1)) != std::string_view::npos &&
                 here(1) != '\0') {
        move();
        take();
      } else if (here() == '$' || here() == '`') {
        expansion(true);
      } else {
        take();
      }
    }
    close(open, '"');
  }

  void close(Position open, char quote) {
    if (i_ >= text_.size()) {
      problem(open, std::string{"quote "} + quote + " is not closed");
    } else {
      move();
    }
  }

  /// Takes the text from `open` to its matching `closing`, both included, as written.
  void take_nested(char open, char closing) {
    const Position start = at_;
    int depth = 0;
    do {
      if (i_ >= text_.size()) {
        return problem(start, std::string{"'"} + open + "' is not closed");
      }
      depth += here() == open ? 1 : here() == closing ? -1 : 0;
      take();
    } while (depth > 0);
  }

  void expansion(bool quoted_here) {
    const Position at = at_;
    begin(at);
    if (here() == '`') {
      take();
      while (i_ < text_.size() && here() != '`') {
        take();
      }
      if (i_ >= text_.size()) {
        return problem(at, "'`' is not closed");
      }
      return take();
    }
    if (here(1) == '(') {
      take();
      return take_nested('(', ')');
    }
    std::size_t length = 1;
    std::string name;
    if (here(1) == '{') {
      const std::size_t end = text_.find('}', i_);
      if (end == std::string_view::npos) {
        problem(at, "'${' is not closed");
        return take();
      }
      name = text_.substr(i_ + 2, end - i_ - 2);
      length = end - i_ + 1;
    } else {
      while (is_name(here(length), length == 1)) {
        name += here(length++);
      }
    }
    if (!expand(name, quoted_here)) {
      for (; length > 0; --length) {
        take();
      }
      return;
    }
    for (; length > 0; --length) {
      move();
    }
  }

  /// Appends the value of a known variable to the word; false when it is unknown.
  bool expand(std::string name, bool quoted_here) {
    std::optional<std::string> fallback;
    if (const std::size_t dash = name.find('-'); dash != std::string::npos) {
      fallback = name.substr(dash + 1);
      name.resize(dash - (dash > 0 && name[dash - 1] == ':' ? 1 : 0));
    }
    const std::size_t bracket = name.find('[');
    const std::string subscript = bracket == std::string::npos ? "" : name.substr(bracket);
    name.resize(std::min(bracket, name.size()));
    const auto found = variables_.find(name);
    const bool all = subscript == "[@]" || subscript == "[*]";
    if (found == variables_.end() && all) {
      word_.begun = !word_.placed.text.empty();
      return true;  // arrays cannot come from the environment, so this one is empty
    }
    if (found == variables_.end()) {
      if (!fallback || fallback->find_first_of("$`") != std::string::npos) {
        return false;
      }
      for (const char c : *fallback) {
        word_.placed.add(c, at_);
      }
      return true;
    }
    found->second.used = true;
    for (const Placed& word : found->second.words) {
      expanded_ += word.text.size();
    }
    if (expanded_ > most_expanded) {
      return false;  // stops repeated doubling such as A=$A$A
    }
    if (all) {
      for (std::size_t k = 0; k < found->second.words.size(); ++k) {
        if (k > 0) {
          end_word();
        }
        const Placed& element = found->second.words[k];
        begin(element.places.empty() ? at_ : element.places.front());
        add_value(element, quoted_here);
      }
      word_.begun = !word_.placed.text.empty();
      return true;
    }
    if (!subscript.empty() || found->second.words.empty()) {
      return found->second.words.empty() && subscript.empty();
    }
    add_value(found->second.words.front(), quoted_here);
    return true;
  }

  /// An unquoted value is split at spaces (section 2.6.5).
  void add_value(const Placed& value, bool quoted_here) {
    if (quoted_here) {
      return word_.placed.add(value);
    }
    word_.begun = !word_.placed.text.empty();
    for (std::size_t k = 0; k < value.text.size(); ++k) {
      if (is_blank(value.text[k]) || value.text[k] == '\n') {
        end_word();
      } else {
        begin(value.places[k]);
        word_.placed.add(value.text[k], value.places[k]);
      }
    }
  }

  /// Whether the word so far is `NAME` or `NAME+` where an assignment is allowed.
  [[nodiscard]] bool starts_assignment() const {
    std::string_view name = word_.placed.text;
    if (name.ends_with('+')) {
      name.remove_suffix(1);
    }
    return assignments_ == Assignments::variables && !name.empty() && may_assign() && is_name(name.front(), true) &&
           std::all_of(name.begin(), name.end(), [](char c) { return is_name(c, false); });
  }
  [[nodiscard]] bool may_assign() const {
    return std::all_of(words_.begin(), words_.end(), [](const Word& word) {
      return word.placed.text == "export" || word.placed.text == "declare" || word.placed.text == "-a" ||
             word.placed.text == "local" || word.placed.text == "readonly";
    });
  }

  void begin_array() {
    array_name_ = word_.placed.text;
    array_name_.pop_back();
    word_ = {};
    before_array_ = std::move(words_);
    words_.clear();
    in_array_ = true;
  }

  void end_array() {
    end_word();
    const bool more = array_name_.ends_with('+');
    if (more) {
      array_name_.pop_back();
    }
    if (variables_.find(array_name_) == variables_.end()) {
      array_order_.push_back(array_name_);
    }
    Variable& variable = variables_[array_name_];
    if (!more) {
      variable.words.clear();
    }
    variable.array = true;
    for (Word& word : words_) {
      variable.words.push_back(std::move(word.placed));
    }
    words_ = std::move(before_array_);
    before_array_.clear();
    in_array_ = false;
    move();
  }

  void end_word() {
    if (!word_.begun) {
      return;
    }
    if (skip_next_) {
      skip_next_ = false;
    } else if (in_array_ || !assign()) {
      words_.push_back(std::move(word_));
    }
    word_ = {};
  }

  /// Reads `NAME=value` before or instead of a command.
  bool assign() {
    const std::string& text = word_.placed.text;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || assignments_ == Assignments::words || !may_assign()) {
      return false;
    }
    const bool more = text[equals - 1] == '+';
    const std::string name = text.substr(0, equals - (more ? 1 : 0));
    if (name.empty() || !is_name(name.front(), true) ||
        !std::all_of(name.begin(), name.end(), [](char c) { return is_name(c, false); })) {
      return false;
    }
    Placed value;
    for (std::size_t k = equals + 1; k < text.size(); ++k) {
      value.add(text[k], word_.placed.places[k]);
    }
    // A value known only at run time stays a variable, so messages show its name instead of its expansion.
    const bool command = value.text.starts_with("$(") || value.text.starts_with("`");
    const bool word = value.text.find_first_of(" \t\n") == std::string::npos;
    if (command || (word && value.text.find_first_of("$`") != std::string::npos)) {
      variables_.erase(name);
      return true;
    }
    Variable& variable = variables_[name];
    if (more && !variable.words.empty()) {
      variable.words.front().add(value);
    } else {
      variable = {{value}, false, false};
    }
    return true;
  }

  void end_command() {
    end_word();
    skip_next_ = false;
    if (in_array_) {
      problem(at_, "the array " + quoted(array_name_) + " is not closed");
      in_array_ = false;
    }
    ShellCommand command;
    for (Word& word : words_) {
      command.words.push_back({std::move(word.placed.text), word.at});
    }
    words_.clear();
    const bool only_export = command.words.size() == 1 && command.words.front().text == "export";
    if (!command.words.empty() && !only_export) {
      script_.commands.push_back(std::move(command));
    }
  }

  std::string_view text_;
  const std::string& file_;
  Assignments assignments_;
  Diagnostics& diagnostics_;
  std::size_t i_ = 0;
  Position at_{1, 1};
  Word word_;
  std::vector<Word> words_, before_array_;
  std::string array_name_;
  std::vector<std::string> array_order_;
  bool in_array_ = false, skip_next_ = false;
  static constexpr std::size_t most_expanded = std::size_t{1} << 20U;
  std::size_t expanded_ = 0;  ///< number of characters produced by variables
  std::map<std::string, Variable> variables_;
  ShellScript script_;
};

}  // namespace

ShellScript read_shell(std::string_view text,
                       const std::string& file,
                       Assignments assignments,
                       const std::map<std::string, std::string>& known,
                       Diagnostics& diagnostics) {
  Lexer lexer{text, file, assignments, diagnostics};
  for (const auto& [name, value] : known) {
    lexer.know(name, value);
  }
  return lexer.run();
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%^-";
  if (!word.empty() && word.find_first_not_of(safe) == std::string_view::npos) {
    return std::string{word};
  }
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  }
  return text + "'";
}

}  // namespace headroom::launch
