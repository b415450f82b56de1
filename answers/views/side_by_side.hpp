// SPDX-License-Identifier: Apache-2.0
// What stands side by side as text: a column each, "A", "B", ..., a row what is said of them.
#pragma once

#include <headroom/answers/markup/table.hpp>
#include <headroom/scenarios/compare/comparison.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace headroom {

/// "A", ..., "Z", "AA", ...: how columns name what is compared.
[[nodiscard]] std::string column_label(std::size_t i);

/// Rows in which columns differ; those in which all are alike stand in a line above: "alike in all: capacity 79.2 GiB".
class SideBySideTable {
 public:
  SideBySideTable(const std::string& title, std::size_t columns);
  /// Left out where every cell is empty.
  void row(std::string name, std::vector<std::string> cells);
  [[nodiscard]] std::string text() const;

 private:
  Table table_;
  bool any_ = false;  ///< the table has a row
  std::string alike_;
};

/// Keys that differ with the value of each, or that none does.
[[nodiscard]] std::string keys_text(const std::vector<DifferingKey>& keys);

}  // namespace headroom
