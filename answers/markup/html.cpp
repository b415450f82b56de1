// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/markup/html.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headroom::report {
namespace {

std::string data_element(double value, const std::string& of, const std::string& over, const std::string& text) {
  return "<data value=\"" + shortest_text(value) + "\" data-of=\"" + escaped(of) + "\"" +
         (over.empty() ? "" : " data-over=\"" + escaped(over) + "\"") + ">" + escaped(text) + "</data>";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string{c};
  }
  return safe;
}

std::string words(std::string_view name) {
  std::string text{name};
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string label_of(std::string_view member) {
  using Pair = std::pair<std::string_view, std::string_view>;
  constexpr std::array spellings{Pair{"gpu", "GPU"},   Pair{"gpus", "GPUs"}, Pair{"pue", "PUE"},
                                 Pair{"mtbf", "MTBF"}, Pair{"nvme", "NVMe"}, Pair{"kv", "KV"}};
  constexpr std::array<std::string_view, 4> units{"s", "j", "w", "usd"};
  constexpr std::string_view rate = "_bytes_per_s";
  std::string label;
  for (std::string_view rest = member.substr(0, member.size() - (member.ends_with(rate) ? rate.size() : 0));
       !rest.empty();) {
    const std::size_t end = std::min(rest.find('_'), rest.size());
    std::string word{rest.substr(0, end)};
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool unit = std::find(units.begin(), units.end(), word) != units.end();
    if (unit && !label.empty()) {
      // "tokens_per_s" is a rate: there the second is part of the name.
      word = label.ends_with(" per") ? word : std::string{};
    } else if (word == "j") {
      word = "energy";
    }
    for (const auto& [name, spelling] : spellings) {
      word = word == name ? std::string{spelling} : word;
    }
    label += (label.empty() || word.empty() ? "" : " ") + word;
  }
  return label;
}

std::string figure_text(const Place& place) {
  const bool plain = place.hint() == Hint::number || place.hint() == Hint::per_second || place.hint() == Hint::per_usd;
  const bool whole = plain && place.number() == std::floor(place.number());
  return figure_text(place.number(), whole ? Hint::count : place.hint());
}

std::string named(std::string_view name, const Place& place) {
  return place.is_number() ? std::string{name} + " " + figure_text(place) : std::string{};
}

std::string figure(const Place& place) {
  return place.is_number() ? data_element(place.number(), place.pointer(), "", figure_text(place))
                           : escaped(place.text());
}

std::string share(const Place& part, const Place& whole) {
  if (!part.is_number() || !whole.is_number()) {
    return {};
  }
  const double value = part.number() / whole.number();
  return data_element(value, part.pointer(), whole.pointer(), figure_text(value, Hint::percent));
}

std::string range(const Place& interval) {
  const Place low = interval["low"];
  const Place high = interval["high"];
  const bool certain = low.is_number() && high.is_number() && low.number() == high.number();
  return low.there() && high.there() && middle(low).there() && !certain
             ? "<span class=\"ends\">" + figure(low) + " to " + figure(high) + "</span>"
             : std::string{};
}

Place middle(const Place& place) {
  return place.is_number() || place.is_text() ? place : place["mid"];
}

std::string with_range(const Place& place) {
  const std::string ends = range(place);
  return figure(middle(place)) + (ends.empty() ? "" : " <span class=\"range\">(" + ends + ")</span>");
}

HtmlTable::HtmlTable(std::string label, std::initializer_list<std::string_view> titles)
    : HtmlTable{std::move(label), std::vector<std::string>{titles.begin(), titles.end()}} {}

HtmlTable::HtmlTable(std::string label, const std::vector<std::string>& titles) : label_{std::move(label)} {
  for (const std::string_view title : titles) {
    const std::size_t marks = std::min<std::size_t>(title.find_first_not_of('<'), title.size());
    const std::string_view kind = marks == 0 ? "n" : marks == 1 ? "" : "long";
    columns_.push_back({std::string{title.substr(marks)}, std::string{kind}});
  }
}

void HtmlTable::row(std::vector<std::string> cells, std::string_view kind) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    columns_[i].used = columns_[i].used || !cells[i].empty();
  }
  rows_.push_back({std::move(cells), std::string{kind}});
}

std::string HtmlTable::html() const {
  if (empty()) {
    return {};
  }
  const auto of_kind = [](const std::string& kind) { return kind.empty() ? std::string{} : " class=\"" + kind + "\""; };
  std::string text = "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"" + escaped(label_) +
                     "\"><table" + of_kind(kind_) + "><thead><tr>";
  for (const Column& column : columns_) {
    text += column.used ? "<th scope=\"col\"" + of_kind(column.kind) + ">" + escaped(column.title) + "</th>" : "";
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const Row& row : rows_) {
    text += "<tr" + of_kind(row.kind) + ">";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].used) {
        const std::string tag = i == 0 ? "th" : "td";
        text += "<" + tag + (i == 0 ? " scope=\"row\"" : "") + of_kind(columns_[i].kind) + ">" + row.cells[i] + "</" +
                tag + ">";
      }
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string chart(std::string_view kind, const Place& place, const std::string& label, std::size_t rows) {
  return "<figure class=\"chart" + std::string{rows == 0 ? " plot" : ""} + "\" style=\"--rows:" + std::to_string(rows) +
         "\"><canvas role=\"img\" data-chart=\"" + std::string{kind} + "\" data-at=\"" + escaped(place.pointer()) +
         "\" aria-label=\"" + escaped(label) + "\"></canvas></figure>\n";
}

std::string section(std::string_view id, std::string_view title, const std::string& lead, const std::string& body) {
  if (body.empty()) {
    return {};
  }
  return "<section id=\"" + std::string{id} + "\">\n<h2>" + escaped(title) + "</h2>\n" +
         (lead.empty() ? "" : paragraph("lead", lead)) + body + "</section>\n";
}

std::string paragraph(std::string_view kind, const std::string& html) {
  return "<p class=\"" + std::string{kind} + "\">" + html + "</p>\n";
}

std::string details(const std::string& summary, const std::string& html) {
  return html.empty() ? std::string{}
                      : "<details><summary>" + escaped(summary) + "</summary>\n" + html + "</details>\n";
}

std::string term(std::string_view family, std::string_view name) {
  const std::string other = "var(--" + std::string{family} + "-other)";
  const bool nameable = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  const std::string colour =
      nameable ? "var(--" + std::string{family} + "-" + std::string{name} + "," + other + ")" : other;
  return "<span class=\"term\"><i style=\"background:" + colour + "\"></i>" + escaped(words(name)) + "</span>";
}

}  // namespace headroom::report
