// SPDX-License-Identifier: Apache-2.0
// A place in a document and the way to it, so that a page can say of every number which member it is.
#pragma once

#include <headroom/answers/document/value.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::report {

/// One of the page's documents.
struct Document {
  std::string id;  ///< "plan", "scaling": the page's name for it
  Value root;
};

/// A member of a document, there or not: a page shows what its documents hold and nothing in place of what they do
/// not. Outlived by its document.
class Place {
 public:
  /// Absent.
  Place() = default;
  explicit Place(const Document& document) : value_{&document.root}, pointer_{document.id + "#"} {}
  explicit Place(const Value& root) : value_{&root} {}

  /// Member or item; of what is absent, or has none such, an absent place.
  [[nodiscard]] Place operator[](std::string_view member) const;
  [[nodiscard]] Place operator[](std::size_t item) const;

  /// Absent members and nulls are not there.
  [[nodiscard]] bool there() const noexcept { return value_ != nullptr && value_->there(); }
  [[nodiscard]] bool is_number() const noexcept { return value_ != nullptr && value_->is_number(); }
  [[nodiscard]] bool is_text() const noexcept { return value_ != nullptr && value_->kind() == Value::Kind::text; }
  /// Items of an array; none of what is no array.
  [[nodiscard]] std::vector<Place> items() const;
  /// Names of an object's members, in the document's order.
  [[nodiscard]] std::vector<std::string> members() const;

  /// Precondition: is_number().
  [[nodiscard]] double number() const noexcept { return value_->number(); }
  [[nodiscard]] Hint hint() const noexcept { return value_ != nullptr ? value_->hint() : Hint::number; }
  /// Of texts their text, of booleans "true" or "false", of numbers their shortest form; else nothing.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_true() const noexcept { return value_ != nullptr && value_->is_true(); }
  /// "plan#/step_time_s/mid": the document, then a JSON Pointer (RFC 6901).
  [[nodiscard]] const std::string& pointer() const noexcept { return pointer_; }

 private:
  Place(const Value* value, std::string pointer) : value_{value}, pointer_{std::move(pointer)} {}
  const Value* value_ = nullptr;
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
