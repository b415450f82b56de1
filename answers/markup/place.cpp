// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/place.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/json_writer.hpp>

namespace headroom::report {
namespace {

using Kind = ConfigValue::Kind;

/// RFC 6901, section 3: '~' and '/' of a name are written "~0" and "~1".
std::string pointer_token(std::string_view name) {
  std::string token;
  for (const char c : name) {
    token += c == '~' ? "~0" : c == '/' ? "~1" : std::string{c};
  }
  return token;
}

}  // namespace

std::string shortest_text(double value) {
  JsonWriter shortest;
  shortest.number(value);
  std::string text = shortest.take();
  text.pop_back();
  return text;
}

Document document_of(std::string id, std::string text) {
  Document document{std::move(id), std::move(text), {}};
  document.root = parse_json(document.text, document.id);
  return document;
}

Place Documents::find(std::string_view id) const {
  for (const Document& document : all) {
    if (document.id == id) {
      return Place{document};
    }
  }
  return {};
}

Place Place::operator[](std::string_view member) const {
  const ConfigValue* found = value_ != nullptr && value_->kind == Kind::table ? value_->find(member) : nullptr;
  return {found, pointer_ + "/" + pointer_token(member)};
}

Place Place::operator[](std::size_t item) const {
  const bool held = value_ != nullptr && value_->kind == Kind::array && item < value_->items.size();
  return {held ? &value_->items[item] : nullptr, pointer_ + "/" + std::to_string(item)};
}

bool Place::is_number() const noexcept {
  return value_ != nullptr && (value_->kind == Kind::number || value_->kind == Kind::integer);
}

std::vector<Place> Place::items() const {
  std::vector<Place> places;
  if (value_ != nullptr && value_->kind == Kind::array) {
    for (std::size_t i = 0; i < value_->items.size(); ++i) {
      places.push_back((*this)[i]);
    }
  }
  return places;
}

std::vector<std::string> Place::members() const {
  std::vector<std::string> names;
  if (value_ != nullptr && value_->kind == Kind::table) {
    for (const ConfigEntry& entry : value_->entries) {
      names.push_back(entry.key);
    }
  }
  return names;
}

double Place::number() const noexcept {
  return value_->kind == Kind::integer ? static_cast<double>(value_->integer) : value_->number;
}

std::string Place::text() const {
  if (value_ == nullptr) {
    return {};
  }
  switch (value_->kind) {
    case Kind::text: return value_->text;
    case Kind::boolean: return value_->boolean ? "true" : "false";
    case Kind::integer: return std::to_string(value_->integer);
    case Kind::number: return shortest_text(value_->number);
    case Kind::null:
    case Kind::array:
    case Kind::table: return {};
  }
  return {};
}

bool Place::is_true() const noexcept {
  return value_ != nullptr && value_->kind == Kind::boolean && value_->boolean;
}

}  // namespace headroom::report
