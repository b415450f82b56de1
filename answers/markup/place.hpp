// SPDX-License-Identifier: Apache-2.0
// A place in a JSON document and the way to it, so that a page can say of every number which member it is.
#pragma once

#include <headroom/core/config_value.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::report {

/// The shortest text that reads back as this double, as the documents write it.
[[nodiscard]] std::string shortest_text(double value);

/// One of the page's documents: the very text that `--format json` prints, and the tree it stands for.
struct Document {
  std::string id;  ///< "plan", "scaling": the page's name for it
  std::string text;
  ConfigValue root;
};

/// Parses text that a verb has just written. ConfigError when it is no JSON object.
[[nodiscard]] Document document_of(std::string id, std::string text);

/// A member of a document, there or not: a page shows what its documents hold and nothing in place of what they do
/// not. Outlived by its document.
class Place {
 public:
  /// Absent.
  Place() = default;
  explicit Place(const Document& document) : value_{&document.root}, pointer_{document.id + "#"} {}

  /// Member or item; of what is absent, or has none such, an absent place.
  [[nodiscard]] Place operator[](std::string_view member) const;
  [[nodiscard]] Place operator[](std::size_t item) const;

  /// Absent members and nulls are not there.
  [[nodiscard]] bool there() const noexcept { return value_ != nullptr && value_->kind != ConfigValue::Kind::null; }
  [[nodiscard]] bool is_number() const noexcept;
  [[nodiscard]] bool is_integer() const noexcept {
    return value_ != nullptr && value_->kind == ConfigValue::Kind::integer;
  }
  [[nodiscard]] bool is_text() const noexcept { return value_ != nullptr && value_->kind == ConfigValue::Kind::text; }
  /// Items of an array; none of what is no array.
  [[nodiscard]] std::vector<Place> items() const;
  /// Names of an object's members, in the document's order.
  [[nodiscard]] std::vector<std::string> members() const;

  /// Precondition: is_number().
  [[nodiscard]] double number() const noexcept;
  /// Of texts their text, of booleans "true" or "false", of numbers their shortest form; else nothing.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_true() const noexcept;
  /// "plan#/step_time_s/mid": the document, then a JSON Pointer (RFC 6901).
  [[nodiscard]] const std::string& pointer() const noexcept { return pointer_; }

 private:
  Place(const ConfigValue* value, std::string pointer) : value_{value}, pointer_{std::move(pointer)} {}
  const ConfigValue* value_ = nullptr;
  std::string pointer_;
};

/// What a page is made of.
struct Documents {
  std::vector<Document> all;          ///< the answer first
  std::vector<std::string> left_out;  ///< what could not be worked out beside the answer, and why
  /// The root of a document; absent when the page has none of that name.
  [[nodiscard]] Place find(std::string_view id) const;
};

}  // namespace headroom::report
