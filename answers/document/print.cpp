// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/document_formats.hpp>
#include <headroom/answers/document/print.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

using Kind = Value::Kind;

/// The member at "a/b" of an object; nullptr where it is not there.
const Value* member_at(const Value& object, std::string_view path) {
  const Value* value = &object;
  while (value != nullptr && !path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    value = value->find(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return value;
}

std::string csv_cell(const Value* value) {
  if (value == nullptr || !value->there()) {
    return {};
  }
  switch (value->kind()) {
    case Kind::boolean: return value->is_true() ? "1" : "0";
    case Kind::integer: return std::to_string(value->integer());
    case Kind::number: return shortest_text(value->number());
    case Kind::text: return csv_field(value->text());
    case Kind::absent:
    case Kind::null:
    case Kind::list:
    case Kind::object: break;
  }
  return {};
}

std::string magnitude_text(double value) {
  constexpr double in_full = 1e6;
  return general_text(value, value == std::floor(value) && std::abs(value) < in_full ? 6 : 4);
}

}  // namespace

const DocumentFormat* find_document_format(std::string_view name) noexcept {
  const auto* const found = std::find_if(document_formats.begin(), document_formats.end(),
                                         [&](const DocumentFormat* format) { return format->name == name; });
  return found == document_formats.end() ? nullptr : *found;
}

std::string csv_text(const Value& list, std::span<const Column> columns) {
  std::string text;
  for (const Column& column : columns) {
    text += (text.empty() ? "" : ",") + std::string{column.title};
  }
  for (const Member& row : list.members()) {
    text += '\n';
    for (const Column& column : columns) {
      text += (&column == &columns.front() ? "" : ",") + csv_cell(member_at(row.value, column.member));
    }
  }
  return text + '\n';
}

std::string figure_text(double value, Hint hint) {
  switch (hint) {
    case Hint::number:
    case Hint::per_second:
    case Hint::per_usd: return format_number(value);
    case Hint::magnitude: return magnitude_text(value);
    case Hint::count: return format_count(value);
    case Hint::percent: return format_number(100.0 * value) + " %";
    case Hint::change: return (value > 0.0 ? "+" : "") + format_number(100.0 * value) + " %";
    case Hint::seconds: return format(Seconds{value});
    case Hint::bytes: return format(Bytes{value});
    case Hint::bytes_per_second: return format(BytesPerSecond{value});
    case Hint::flop: return format(Flops{value});
    case Hint::flop_per_second: return format(FlopsPerSecond{value});
    case Hint::flop_per_byte: return format_number(value) + " FLOP/B";
    case Hint::usd: return format(Dollars{value});
    case Hint::usd_per_hour: return format(DollarsPerSecond{value});
    case Hint::joules: return format(Joules{value});
    case Hint::watts: return format(Watts{value});
  }
  return format_number(value);
}

}  // namespace headroom
