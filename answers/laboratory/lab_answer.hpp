// SPDX-License-Identifier: Apache-2.0
// An answer of the laboratory (one kernel, one access, one transfer): said in a sentence, shown in figures and tables,
// with the cures in the order to try, each priced. Text, documents, drawing and page are all made of it.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/answers/laboratory/lab_chart.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct LabFigure {
  std::string label;      ///< for people: "warps resident"
  std::string_view key;   ///< in documents, with its unit: "resident_warps"; empty: for people alone
  Value value;            ///< raw SI
  std::string text = {};  ///< for people; empty: `value` as its hint says
};

struct LabColumn {
  std::string_view title;  ///< for people; one that starts with '<' holds text
  std::string_view key;    ///< in documents, with its unit
};

struct LabTable {
  std::string_view key;
  std::vector<LabColumn> columns;
  std::vector<std::vector<Value>> rows;  ///< as long as `columns`; an absent value is shown as "-"
};

/// A change to try, and what it does to the time.
struct LabCure {
  std::string change;     ///< "64 registers a thread instead of 128"
  double time_ratio = 1;  ///< time after over before; not positive: not known
  std::string because = {};
};

struct LabAnswer {
  std::string_view form;         ///< "occupancy"
  std::string title;             ///< "256 threads of 128 registers, on a100-sxm-80gb"
  std::string gpu = {};          ///< id of the SKU; empty: of none
  std::vector<Member> question;  ///< what was asked, as members of the document
  std::string verdict;           ///< one sentence: the answer
  std::vector<LabFigure> figures;
  std::vector<LabTable> tables = {};
  std::vector<LabCure> cures = {};  ///< in the order to try
  std::vector<std::string> notes = {};
  std::vector<std::string> sources = {};
  std::optional<LabChart> chart = {};
};

[[nodiscard]] std::string lab_text(const LabAnswer& answer);
/// Schema "headroom.kernel/1": raw SI, the unit in the key.
[[nodiscard]] Value lab_document(const LabAnswer& answer);
/// ConfigError when the answer has no drawing.
[[nodiscard]] std::string lab_svg(const LabAnswer& answer);
/// One HTML file that needs nothing but itself: the answer, its drawing and its document, lab_document() or another.
[[nodiscard]] std::string lab_page(const LabAnswer& answer);
[[nodiscard]] std::string lab_page(const LabAnswer& answer, const Value& document);

}  // namespace headroom
