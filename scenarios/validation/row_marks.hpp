// SPDX-License-Identifier: Apache-2.0
// Marks on measured rows (scenarios/accuracy/marks.toml): what a publication says of a run that no column holds. A mark
// changes no prediction; figures stand with marked rows and without them.
#pragma once

#include <headroom/core/config_reader.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A fact of the source, found outside the errors of the rows that it marks.
struct RowMark {
  std::string publication;        ///< the rows' column `source`
  std::vector<std::string> rows;  ///< ids without their last part, the metric; one that ends in '*' is a start of ids
  std::string why, source;
};

class RowMarks {
 public:
  explicit RowMarks(std::vector<RowMark> marks) : marks_{std::move(marks)} {}
  /// Why a row is marked; empty: it is not.
  [[nodiscard]] std::string_view why(std::string_view publication, std::string_view id) const noexcept;
  /// Whether the publication has any mark.
  [[nodiscard]] bool know(std::string_view publication) const noexcept;

 private:
  std::vector<RowMark> marks_;
};

[[nodiscard]] RowMarks read_marks(const ConfigValue& document);
/// The marks embedded in the binary.
[[nodiscard]] const RowMarks& row_marks();

}  // namespace headroom
