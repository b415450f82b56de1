// SPDX-License-Identifier: Apache-2.0
// Pieces of HTML: text, figures that name the member they show, tables, charts.
#pragma once

#include <headroom/answers/markup/place.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::report {

/// A number as its document hints, one without a fraction in full. Precondition: is_number().
[[nodiscard]] std::string figure_text(const Place& place);
/// "sequence 8192"; empty where no number stands.
[[nodiscard]] std::string named(std::string_view name, const Place& place);

/// Text between tags and inside attributes.
[[nodiscard]] std::string escaped(std::string_view text);
/// "tp comm" of "tp_comm".
[[nodiscard]] std::string words(std::string_view name);

/// A member's name in words, without the unit that its value is shown with: "GPU power" of "gpu_power_w".
[[nodiscard]] std::string label_of(std::string_view member);

/// `<data value="17.703" data-of="plan#/step_time_s/mid">17.7 s</data>`: the value as the document has it, and which
/// member it is. Text members as they are; nothing for what is not there.
[[nodiscard]] std::string figure(const Place& place);
/// The same of part / whole, whose members it names both; in percent.
[[nodiscard]] std::string share(const Place& part, const Place& whole);
/// "13.5 s to 23.1 s" of a member with low and high; nothing for one without, or whose ends are one.
[[nodiscard]] std::string range(const Place& interval);
/// `mid` of an interval, or the member itself where it is a plain number.
[[nodiscard]] Place middle(const Place& place);
/// "17.7 s (13.5 s to 23.1 s)" of either.
[[nodiscard]] std::string with_range(const Place& place);

/// A table that scrolls in a frame of its own where it is wider than the page. Cells are HTML; columns without any are
/// left out.
class HtmlTable {
 public:
  /// Titles are text. A title that starts with '<' makes a column of text, with "<<" of sentences; the others hold
  /// figures and stand right.
  explicit HtmlTable(std::string label, std::initializer_list<std::string_view> titles);
  HtmlTable(std::string label, const std::vector<std::string>& titles);
  /// A class for the style sheet.
  void kind(std::string_view name) { kind_ = name; }
  void row(std::vector<std::string> cells, std::string_view kind = "");
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  [[nodiscard]] std::string html() const;

 private:
  struct Column {
    std::string title;
    std::string kind;
    bool used = false;
  };
  struct Row {
    std::vector<std::string> cells;
    std::string kind;
  };
  std::string label_, kind_;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// A chart that the page's script draws from `place`, with what it shows in words for those who do not see it. `rows`
/// are its bars, from which its height follows; 0: the height of a plot.
[[nodiscard]] std::string chart(std::string_view kind,
                                const Place& place,
                                const std::string& label,
                                std::size_t rows = 0);

/// A headed part of the page; nothing without a body.
[[nodiscard]] std::string section(std::string_view id,
                                  std::string_view title,
                                  const std::string& lead,
                                  const std::string& body);
[[nodiscard]] std::string paragraph(std::string_view kind, const std::string& html);
/// What is shown when it is opened, and in print.
[[nodiscard]] std::string details(const std::string& summary, const std::string& html);
/// The name of a term behind a dot in its colour: `family` is "m" (memory), "t" (time) or "g" (the calendar).
[[nodiscard]] std::string term(std::string_view family, std::string_view name);

}  // namespace headroom::report
