// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real_text.hpp>
#include <headroom/core/yaml/yaml_scalar.hpp>

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace headroom {

ConfigValue plain_yaml_value(const std::string& text) {
  ConfigValue value;
  value.kind = ConfigValue::Kind::text;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    value.kind = ConfigValue::Kind::null;
    return value;
  }
  if (text == "true" || text == "True" || text == "TRUE" || text == "false" || text == "False" || text == "FALSE") {
    return flag_value(text[0] == 't' || text[0] == 'T');
  }
  const std::string_view digits = std::string_view{text}.substr(text[0] == '+' ? 1 : 0);
  std::int64_t integer = 0;
  if (const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), integer);
      read.ec == std::errc{} && read.ptr == digits.data() + digits.size()) {
    return count_value(integer);
  }
  const std::string_view unsigned_text = std::string_view{text}.substr(text[0] == '-' || text[0] == '+' ? 1 : 0);
  if (unsigned_text == ".inf" || unsigned_text == ".Inf" || unsigned_text == ".INF") {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    return number_value(text[0] == '-' ? -infinite : infinite);
  }
  if (text == ".nan" || text == ".NaN" || text == ".NAN") {
    return number_value(std::numeric_limits<double>::quiet_NaN());
  }
  const bool number = !unsigned_text.empty() && unsigned_text.find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (const std::optional<double> real = number ? whole_real(digits) : std::nullopt) {
    return number_value(*real);
  }
  value.text = text;
  return value;
}

void append_code_point(std::string& text, std::uint32_t code) {
  const auto rest = [&](unsigned shift) { text += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | (code >> 6U));
    rest(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | (code >> 12U));
    rest(6);
    rest(0);
  } else {
    text += static_cast<char>(0xF0U | (code >> 18U));
    rest(12);
    rest(6);
    rest(0);
  }
}

}  // namespace headroom
