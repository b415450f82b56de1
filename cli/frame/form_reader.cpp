// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/form_reader.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

constexpr double largest_size = 1099511627776.0;  // 2^40

/// Options of all questions.
constexpr std::array<std::string_view, 4> common{"--gpu", "--engine", "--curves", "--format"};

bool among(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<double> size_of(std::string_view text, double least) {
  const std::optional<std::int64_t> value = integer_of(text);
  if (!value || static_cast<double>(*value) < least || static_cast<double>(*value) > largest_size) {
    return std::nullopt;
  }
  return static_cast<double>(*value);
}

}  // namespace

bool FormReader::given(std::string_view option) {
  asked_.push_back(option);
  return arguments_->has(option);
}

double FormReader::integer(std::string_view option, double least) {
  const std::string text = arguments_->one(option);
  const std::optional<double> value = size_of(text, least);
  if (!value) {
    problem(std::string{option} + " " + quoted(text) +
            (least > 0.0 ? " must be a positive integer" : " must be an integer, 0 or more"));
  }
  return value.value_or(1.0);
}

bool FormReader::need(std::string_view option) {
  required_.push_back(option);
  if (!given(option)) {
    missing_.push_back(option);
    return false;
  }
  return true;
}

double FormReader::size(std::string_view option) {
  return need(option) ? integer(option, 1.0) : 1.0;
}

double FormReader::size_or(std::string_view option, double otherwise) {
  return given(option) ? integer(option, 1.0) : otherwise;
}

double FormReader::count_or(std::string_view option, double otherwise) {
  return given(option) ? integer(option, 0.0) : otherwise;
}

bool FormReader::flag(std::string_view option) {
  return given(option);
}

std::string FormReader::file() const {
  const std::vector<std::string> words = arguments_->many("");
  return words.size() > 1 ? words[1] : std::string{};
}

std::vector<std::string> FormReader::texts(std::string_view option) {
  return given(option) ? arguments_->many(option) : std::vector<std::string>{};
}

double FormReader::measure(std::string_view option, Dimension dimension, double otherwise, bool nought) {
  const std::string text = arguments_->one(option);
  const std::variant<double, TextError> parsed = parse_quantity(text, dimension);
  if (const auto* error = std::get_if<TextError>(&parsed)) {
    problem(std::string{option} + " " + error->message);
    return otherwise;
  }
  const double value = std::get<double>(parsed);
  if (value < 0.0 || (value == 0.0 && !nought)) {
    problem(std::string{option} + " " + quoted(text) + (nought ? " must not be negative" : " must be positive"));
    return otherwise;
  }
  return value;
}

double FormReader::real(std::string_view option, double least, double most) {
  const std::string text = arguments_->one(option);
  std::optional<double> value = whole_real(text);
  if (!value) {
    value = parse_short_number(text);
  }
  if (!value && text.ends_with('%')) {
    const std::string_view share = std::string_view{text}.substr(0, text.find_last_not_of(" %") + 1);
    value = whole_real(share);
    value = value ? std::optional{0.01 * *value} : std::nullopt;
  }
  if (!value || !(*value >= least) || !(*value <= most)) {
    problem(std::string{option} + " " + quoted(text) + " must be a number from " + general_text(least, 6) + " to " +
            general_text(most, 6));
    return least > 0.0 ? least : 1.0 < most ? 1.0 : most;
  }
  return *value;
}

double FormReader::number(std::string_view option, double least, double most) {
  return need(option) ? real(option, least, most) : most;
}

double FormReader::number_or(std::string_view option, double least, double most, double otherwise) {
  return given(option) ? real(option, least, most) : otherwise;
}

std::string FormReader::text(std::string_view option, std::string_view otherwise) {
  return given(option) ? arguments_->one(option) : std::string{otherwise};
}

std::size_t FormReader::choice(std::string_view option,
                               std::span<const std::string_view> names,
                               std::string_view otherwise) {
  const std::string name = text(option, otherwise);
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) {
    problem(std::string{option} + " " + quoted(name) + " is not known" + suggestion(name, names) + "; known are " +
            listed(names));
    return 0;
  }
  return static_cast<std::size_t>(at - names.begin());
}

const GemmFormat& FormReader::format(std::string_view otherwise, std::string_view option) {
  const std::string name = text(option, otherwise);
  if (const GemmFormat* found = find_gemm_format(name)) {
    return *found;
  }
  std::vector<std::string_view> names;
  for (const GemmFormat& format : gemm_formats()) {
    names.push_back(format.name);
  }
  problem(std::string{option} + " " + quoted(name) + " is not known" + suggestion(name, names) + "; known are " +
          listed(names));
  return gemm_formats().front();
}

std::vector<double> FormReader::extents(std::string_view option,
                                        std::size_t dimensions,
                                        double least,
                                        double otherwise) {
  constexpr std::size_t most = 3;
  std::vector<double> sizes;
  if (!given(option)) {
    sizes.assign(std::max<std::size_t>(dimensions, 1), otherwise);
    return sizes;
  }
  const std::string text = arguments_->one(option);
  bool good = true;
  for (std::string_view rest = text; good;) {
    const std::size_t cross = rest.find('x');
    const std::optional<double> value = size_of(rest.substr(0, cross), least);
    good = value.has_value() && sizes.size() < most;
    sizes.push_back(value.value_or(1.0));
    if (cross == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(cross + 1);
  }
  if (!good) {
    problem(std::string{option} + " " + quoted(text) + " must be one to three " +
            (least > 0.0 ? "positive integers" : "integers, 0 or more,") + " with x between them, such as 3x3");
  } else if (dimensions > 0 && sizes.size() == 1) {
    sizes.assign(dimensions, sizes.front());
  } else if (dimensions > 0 && sizes.size() != dimensions) {
    problem(std::string{option} + " " + quoted(text) + " must have one size, or " + std::to_string(dimensions) +
            " with x between them");
  }
  sizes.resize(dimensions > 0 ? dimensions : std::min(sizes.size(), most), 1.0);
  return sizes;
}

void FormReader::tell_missing() {
  if (!missing_.empty()) {
    problem(std::string{verb_} + " " + std::string{kind_} + " needs " + listed(required_) + " (" +
            std::string{meaning_} + "); missing: " + listed(missing_));
  }
}

void FormReader::tell_idle(std::span<const Option> known) {
  std::vector<std::string_view> taken;
  for (const Option& option : known) {
    const bool everywhere = among(common, option.name);
    if (!everywhere && among(asked_, option.name)) {
      taken.push_back(option.name);
    }
  }
  for (const Option& option : known) {
    if (arguments_->has(option.name) && !among(common, option.name) && !among(asked_, option.name)) {
      problem(std::string{option.name} + " has no part in " + std::string{verb_} + " " + std::string{kind_} +
              ", which takes " + listed(taken));
    }
  }
}

Diagnostics FormReader::problems(std::span<const Option> known) {
  tell_missing();
  tell_idle(known);
  return diagnostics_;
}

void FormReader::finish(std::span<const Option> known) {
  problems(known).throw_if_any();
}

}  // namespace headroom::cli
