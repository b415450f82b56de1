// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/size_expression.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::int64_t largest_value = std::int64_t{1} << 52;
constexpr int deepest = 64;  // parentheses

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// sum = term {(+|-) term}, term = factor {(*|/) factor}, factor = number | name | (sum).
class Parser {
 public:
  Parser(std::string_view text, const Sizes& sizes) : text_{text}, sizes_{sizes} {}

  SizeResult run() {
    std::int64_t value = sum();
    skip();
    if (result_.problem.empty() && at_ < text_.size()) {
      fail(quoted(text_) + " is no arithmetic over sizes: nothing can follow " +
           quoted(text_.substr(0, at_ == 0 ? 1 : at_)) + "; write it as \"4 * width\"");
    }
    result_.value = result_.problem.empty() ? value : 1;
    return std::move(result_);
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
  }

  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) {
      return false;
    }
    ++at_;
    return true;
  }

  void fail(std::string problem) {
    if (result_.problem.empty()) {
      result_.problem = std::move(problem);
    }
  }

  std::int64_t bounded(double value, std::int64_t exact) {
    if (value > static_cast<double>(largest_value) || value < -static_cast<double>(largest_value)) {
      fail(quoted(text_) + " goes beyond 2^52; check the sizes");
      return 1;
    }
    return exact;
  }

  std::int64_t sum() {
    std::int64_t value = term();
    while (result_.problem.empty()) {
      if (take('+')) {
        value += term();
      } else if (take('-')) {
        value -= term();
      } else {
        break;
      }
      value = bounded(static_cast<double>(value), value);
    }
    return value;
  }

  std::int64_t term() {
    std::int64_t value = factor();
    while (result_.problem.empty()) {
      if (take('*')) {
        const std::int64_t by = factor();
        const double product = static_cast<double>(value) * static_cast<double>(by);
        value = bounded(product, product < 1e18 && product > -1e18 ? value * by : 1);
      } else if (take('/')) {
        value = divided(value, factor());
      } else {
        break;
      }
    }
    return value;
  }

  std::int64_t divided(std::int64_t value, std::int64_t by) {
    if (!result_.problem.empty()) {
      return 1;
    }
    if (by == 0 || value % by != 0) {
      fail(quoted(text_) + ": " + std::to_string(value) + " does not divide by " + std::to_string(by));
      return 1;
    }
    return value / by;
  }

  std::int64_t factor() {
    skip();
    if (take('(')) {
      if (++depth_ > deepest) {
        fail(quoted(text_) + " has more than 64 parentheses in each other");
        return 1;
      }
      const std::int64_t value = sum();
      if (result_.problem.empty() && !take(')')) {
        fail(quoted(text_) + " lacks a ')'");
      }
      --depth_;
      return value;
    }
    if (at_ < text_.size() && is_digit(text_[at_])) {
      return number();
    }
    if (at_ < text_.size() && is_letter(text_[at_])) {
      return named();
    }
    fail(quoted(text_) + " is no arithmetic over sizes: a number or a name has to " +
         (at_ < text_.size() ? "stand before " + quoted(text_.substr(at_)) : std::string{"follow at its end"}));
    return 1;
  }

  std::int64_t number() {
    double value = 0.0;
    std::int64_t exact = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      value = 10.0 * value + (text_[at_] - '0');
      exact = value < 1e18 ? 10 * exact + (text_[at_] - '0') : 1;
    }
    return bounded(value, exact);
  }

  std::int64_t named() {
    const std::size_t first = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) {
      ++at_;
    }
    const std::string_view name = text_.substr(first, at_ - first);
    const std::optional<std::int64_t> found = sizes_.find(name);
    if (!found) {
      const std::string near = suggestion(name, sizes_.names());
      fail("no size is called " + quoted(name) +
           (near.empty() ? "; write a whole number, or a name of [sizes] or of the block's sizes" : near));
    }
    return found.value_or(1);
  }

  std::string_view text_;
  const Sizes& sizes_;
  std::size_t at_ = 0;
  int depth_ = 0;
  SizeResult result_;
};

/// Writes the value in the text's place; an unknown one becomes 1, so that reading goes on.
void put_size(ConfigValue& value, const Sizes& sizes, ConfigTable& reader) {
  if (value.kind == ConfigValue::Kind::array) {
    for (ConfigValue& item : value.items) {
      put_size(item, sizes, reader);
    }
    return;
  }
  if (value.kind != ConfigValue::Kind::text) {
    return;
  }
  SizeResult result = evaluate_size(value.text, sizes);
  if (!result.problem.empty()) {
    reader.diagnostics().add(reader.file(), value.at, std::move(result.problem));
  }
  value.kind = ConfigValue::Kind::integer;
  value.integer = result.value;
  value.text.clear();
}

}  // namespace

std::optional<std::int64_t> Sizes::find(std::string_view name) const {
  const auto found = own_.find(name);
  if (found != own_.end()) {
    return found->second;
  }
  return outside_ == nullptr ? std::nullopt : outside_->find(name);
}

std::vector<std::string_view> Sizes::names() const {
  std::vector<std::string_view> all = outside_ == nullptr ? std::vector<std::string_view>{} : outside_->names();
  for (const auto& entry : own_) {
    all.push_back(entry.first);
  }
  return all;
}

SizeResult evaluate_size(std::string_view text, const Sizes& sizes) {
  return Parser{text, sizes}.run();
}

void put_sizes(ConfigValue& table, const Sizes& sizes, std::span<const std::string_view> keys, ConfigTable& reader) {
  for (ConfigEntry& entry : table.entries) {
    if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) {
      put_size(entry.value, sizes, reader);
    }
  }
}

std::optional<std::int64_t> read_size(ConfigTable& table, std::string_view key, const Sizes& sizes) {
  const ConfigValue* found = table.value(key);
  if (found == nullptr) {
    return std::nullopt;
  }
  if (found->kind != ConfigValue::Kind::text) {
    return table.maybe_integer(key, {-largest_value, largest_value});
  }
  SizeResult result = evaluate_size(found->text, sizes);
  if (!result.problem.empty()) {
    table.problem(key, std::move(result.problem));
    return std::nullopt;
  }
  return result.value;
}

}  // namespace headroom
