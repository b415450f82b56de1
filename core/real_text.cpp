// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <version>

namespace headroom {
namespace {

#if defined(__cpp_lib_to_chars)

RealRead read(std::string_view text) noexcept {
  RealRead result;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.value);
  result.error = error;
  result.length = static_cast<std::size_t>(end - text.data());
  return result;
}

std::string shortest(double value) {
  std::array<char, 40> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

#else  // libc++ before version 20 converts integers alone

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Characters of the number in front: [-] digits [. digits] [e [+-] digits], or inf and nan.
std::size_t number_length(std::string_view text) noexcept {
  std::size_t i = text.starts_with('-') ? 1 : 0;
  for (const std::string_view word : {"infinity", "inf", "nan"}) {
    if (text.substr(i, word.size()) == word) {
      return i + word.size();
    }
  }
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < text.size() && is_digit(text[i])) {
      ++i;
    }
    return i - from;
  };
  std::size_t count = digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    const std::size_t behind = digits();
    i -= count + behind == 0 ? 1 : 0;
    count += behind;
  }
  if (count == 0) {
    return 0;
  }
  if (const std::size_t mantissa = i; i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    i += i < text.size() && (text[i] == '+' || text[i] == '-') ? 1 : 0;
    if (digits() == 0) {
      i = mantissa;
    }
  }
  return i;
}

/// A decimal number without rounding: a significand below 2^53, times or over a power of ten that a double holds, is
/// one operation that rounds once (W. D. Clinger, 1990, "How to read floating point numbers accurately", the simple
/// case). Nearly all numbers of files are such, and the C library reads them in arithmetic of 128 bits. nullopt:
/// another number.
std::optional<double> simple_value(std::string_view number) noexcept {
  static constexpr std::array powers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr std::uint64_t most = (std::uint64_t{1} << 53U) / 10U - 1U;  // what one more digit keeps below 2^53
  constexpr int most_exponent = 10'000;
  const bool negative = number.starts_with('-');
  std::uint64_t significand = 0;
  int exponent = 0;
  std::size_t i = negative ? 1 : 0;
  for (bool behind = false; i < number.size() && (is_digit(number[i]) || number[i] == '.'); ++i) {
    if (number[i] == '.') {
      behind = true;
      continue;
    }
    if (significand > most) {
      return std::nullopt;
    }
    significand = 10U * significand + static_cast<std::uint64_t>(number[i] - '0');
    exponent -= behind ? 1 : 0;
  }
  if (i < number.size()) {
    if (number[i] != 'e' && number[i] != 'E') {
      return std::nullopt;  // inf and nan
    }
    const bool down = i + 1 < number.size() && number[i + 1] == '-';
    int stated = 0;
    for (i += down || (i + 1 < number.size() && number[i + 1] == '+') ? 2 : 1; i < number.size(); ++i) {
      stated = std::min(10 * stated + (number[i] - '0'), most_exponent);
    }
    exponent += down ? -stated : stated;
  }
  const auto size = static_cast<std::size_t>(std::abs(exponent));
  if (size >= powers.size()) {
    return std::nullopt;
  }
  const auto whole = static_cast<double>(significand);
  const double value = exponent < 0 ? whole / powers[size] : whole * powers[size];
  return negative ? -value : value;
}

RealRead read(std::string_view text) noexcept {
  RealRead result;
  result.length = number_length(text);
  if (result.length == 0) {
    result.error = std::errc::invalid_argument;
    return result;
  }
  const std::string_view number = text.substr(0, result.length);
  if (const std::optional<double> simple = simple_value(number)) {
    result.value = *simple;
    return result;
  }
  result.value = std::strtod(std::string{number}.c_str(), nullptr);
  const bool zero = number.substr(0, number.find_first_of("eE")).find_first_of("123456789") == std::string_view::npos;
  const bool word = number.ends_with("inf") || number.ends_with("infinity") || number.ends_with("nan");
  if (!word && (std::isinf(result.value) || (result.value == 0.0 && !zero))) {
    result.value = 0.0;
    result.error = std::errc::result_out_of_range;
  }
  return result;
}

/// The shorter of fixed and scientific notation of `value`, fixed where they are equal: what std::to_chars writes.
std::string shortest(double value) {
  if (!std::isfinite(value) || value == 0.0) {
    return std::isnan(value) ? "nan" : value == 0.0 ? (std::signbit(value) ? "-0" : "0") : value > 0.0 ? "inf" : "-inf";
  }
  std::array<char, 400> scientific{};
  // Of a number with fifteen digits or fewer these fifteen are its own, with noughts behind; others take one or two
  // more.
  int digits = 14;
  for (; digits < 17; ++digits) {
    std::snprintf(scientific.data(), scientific.size(), "%.*e", digits, value);
    if (read(scientific.data()).value == value) {
      break;
    }
  }
  if (digits == 14) {
    const std::string_view all{scientific.data()};
    const std::size_t last = all.find_last_not_of('0', all.find('e') - 1);
    digits = static_cast<int>(last) - (all.starts_with('-') ? 1 : 0) - 1;  // behind the point, which is the second
    digits = std::max(digits, 0);
    std::snprintf(scientific.data(), scientific.size(), "%.*e", digits, value);
  }
  const int exponent =
      std::atoi(std::string_view{scientific.data()}.substr(std::string_view{scientific.data()}.find('e') + 1).data());
  std::array<char, 400> fixed{};
  std::snprintf(fixed.data(), fixed.size(), "%.*f", std::max(0, digits - exponent), value);
  const std::string_view e{scientific.data()}, f{fixed.data()};
  return std::string{f.size() <= e.size() ? f : e};
}

#endif

}  // namespace

RealRead read_real(std::string_view text) noexcept {
  return read(text);
}

std::optional<double> whole_real(std::string_view text) noexcept {
  const RealRead number = read(text);
  return number.good() && number.length == text.size() ? std::optional{number.value} : std::nullopt;
}

std::string shortest_text(double value) {
  return shortest(value);
}

std::string general_text(double value, int digits) {
  std::array<char, 40> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, value);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

}  // namespace headroom
