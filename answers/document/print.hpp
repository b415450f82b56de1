// SPDX-License-Identifier: Apache-2.0
// A tree of values as JSON, as rows of CSV, and its numbers as people read them.
#pragma once

#include <headroom/answers/document/value.hpp>

#include <span>
#include <string>
#include <string_view>

namespace headroom {

class JsonWriter;

/// Raw SI, members in their order; a number that is none is null.
[[nodiscard]] std::string json_text(const Value& value);
void write_json(JsonWriter& json, const Value& value);

/// A column: its title and the member that it shows, "step_time_s/mid" of an object within.
struct Column {
  std::string_view title, member;
};
/// A header and a row for each object of a list: raw SI, yes and no as 1 and 0, what is not there as an empty cell.
[[nodiscard]] std::string csv_text(const Value& list, std::span<const Column> columns);

/// "17.7 s", "40.7 GiB", "45.1 %".
[[nodiscard]] std::string figure_text(double value, Hint hint);

}  // namespace headroom
