// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/printable.hpp>

#include <cstdint>

namespace headroom {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) noexcept {
  return static_cast<unsigned char>(text[i]);
}

/// Decodes a valid UTF-8 sequence.
std::uint32_t code_point(std::string_view sequence) noexcept {
  if (sequence.size() == 1) {
    return byte_at(sequence, 0);
  }
  std::uint32_t code = byte_at(sequence, 0) & (0x7FU >> sequence.size());
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    code = code << 6U | (byte_at(sequence, i) & 0x3FU);
  }
  return code;
}

bool is_printed(std::uint32_t code) noexcept {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool separator = code == 0x2028 || code == 0x2029;
  // Unicode Standard Annex 9: explicit embeddings, overrides and isolates, and the marks without width.
  const bool direction = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                         (code >= 0x2066 && code <= 0x2069);
  return !control && !separator && !direction;
}

/// The first character of a text: its length in bytes, and whether it may be printed.
struct Character {
  std::size_t length = 1;
  bool printed = false;
};
Character character_at(std::string_view text) noexcept {
  const std::size_t length = utf8_length(text);
  return length == 0 ? Character{} : Character{length, is_printed(code_point(text.substr(0, length)))};
}

void append_bytes(std::string_view bytes, std::string& text) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += {'\\', 'x', digits[byte_at(bytes, i) >> 4U], digits[byte_at(bytes, i) & 15U]};
  }
}

/// Length in bytes of a line break or tab at the start; 0 if there is neither. A lone carriage return is no line break:
/// on a terminal the text after it would overwrite the text before it.
std::size_t layout_length(std::string_view text) noexcept {
  return text.starts_with("\r\n") ? 2 : text.starts_with('\n') || text.starts_with('\t') ? 1 : 0;
}

std::string escaped(std::string_view text, bool lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    if (const std::size_t layout = lines ? layout_length(text) : 0; layout > 0) {
      result += text.substr(0, layout);
      text.remove_prefix(layout);
      continue;
    }
    const Character c = character_at(text);
    if (c.printed) {
      result += text.substr(0, c.length);
    } else {
      append_bytes(text.substr(0, c.length), result);
    }
    text.remove_prefix(c.length);
  }
  return result;
}

}  // namespace

std::size_t utf8_length(std::string_view text) noexcept {
  if (text.empty()) {
    return 0;
  }
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) {
    return 1;
  }
  const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  // The range of the second byte excludes overlong forms, surrogates and code points beyond U+10FFFF.
  const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte_at(text, 1) < low || byte_at(text, 1) > high) {
    return 0;
  }
  for (std::size_t i = 2; i < length; ++i) {
    if (byte_at(text, i) >> 6U != 2) {
      return 0;
    }
  }
  return length;
}

std::optional<std::string_view> first_unprintable(std::string_view text) noexcept {
  while (!text.empty()) {
    const Character c = character_at(text);
    if (!c.printed) {
      return text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return std::nullopt;
}

std::string shown(std::string_view text) {
  return escaped(text, false);
}

std::string shown_lines(std::string_view text) {
  return escaped(text, true);
}

std::string toml_string(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += {'\\', 'u', '0', '0', digits[byte >> 4U], digits[byte & 15U]};
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace headroom
