// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/html.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::report {
namespace {

std::string data_element(double value, const std::string& of, const std::string& over, const std::string& text) {
  return "<data value=\"" + shortest_text(value) + "\" data-of=\"" + escaped(of) + "\"" +
         (over.empty() ? "" : " data-over=\"" + escaped(over) + "\"") + ">" + escaped(text) + "</data>";
}

}  // namespace

std::string figure_text(double value, Unit unit) {
  switch (unit) {
    case Unit::number: return format_number(value);
    case Unit::count: return format_count(value);
    case Unit::percent: return format_number(100.0 * value) + " %";
    case Unit::change: return (value > 0.0 ? "+" : "") + format_number(100.0 * value) + " %";
    case Unit::seconds: return format(Seconds{value});
    case Unit::bytes: return format(Bytes{value});
    case Unit::bytes_per_second: return format(BytesPerSecond{value});
    case Unit::flop: return format(Flops{value});
    case Unit::flop_per_second: return format(FlopsPerSecond{value});
    case Unit::flop_per_byte: return format_number(value) + " FLOP/B";
    case Unit::usd: return format(Dollars{value});
    case Unit::usd_per_hour: return format(DollarsPerSecond{value});
    case Unit::joules: return format(Joules{value});
    case Unit::watts: return format(Watts{value});
  }
  return format_number(value);
}

Unit unit_of(std::string_view name) {
  using Ending = std::pair<std::string_view, Unit>;
  // The first that fits: longer endings before the shorter ones that they end in.
  constexpr std::array endings{Ending{"_usd_per_gpu_s", Unit::usd_per_hour},
                               Ending{"_flop_per_byte", Unit::flop_per_byte},
                               Ending{"_flop_per_s", Unit::flop_per_second},
                               Ending{"_flop_per_s_per_gpu", Unit::flop_per_second},
                               Ending{"_bytes_per_s", Unit::bytes_per_second},
                               Ending{"tokens_per_s", Unit::number},
                               Ending{"samples_per_s", Unit::number},
                               Ending{"_flop_per_sample", Unit::flop},
                               Ending{"bytes_per_sample", Unit::bytes},
                               Ending{"_bytes_per_gpu_and_step", Unit::bytes},
                               Ending{"_bytes_per_step", Unit::bytes},
                               Ending{"_bytes_per_micro_batch", Unit::bytes},
                               Ending{"_per_s", Unit::number},
                               Ending{"_time_s_per_step", Unit::seconds},
                               Ending{"_time_s_per_micro_batch", Unit::seconds},
                               Ending{"_flop", Unit::flop},
                               Ending{"bytes", Unit::bytes},
                               Ending{"_usd", Unit::usd},
                               Ending{"dollars", Unit::usd},
                               Ending{"_s", Unit::seconds},
                               Ending{"_j", Unit::joules},
                               Ending{"j_per_million_tokens", Unit::joules},
                               Ending{"j_per_million_output_tokens", Unit::joules},
                               Ending{"j_per_million_samples", Unit::joules},
                               Ending{"_w", Unit::watts},
                               Ending{"_w_per_gpu", Unit::watts},
                               Ending{"share", Unit::percent},
                               Ending{"kept", Unit::percent},
                               Ending{"ratio", Unit::percent},
                               Ending{"efficiency", Unit::percent},
                               Ending{"utilisation", Unit::percent},
                               Ending{"mfu", Unit::percent}};
  for (const auto& [ending, unit] : endings) {
    if (name.ends_with(ending)) {
      return unit;
    }
  }
  return Unit::number;
}

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

std::string figure(const Place& place, Unit unit) {
  if (!place.is_number()) {
    return escaped(place.text());
  }
  const Unit written = unit == Unit::number && place.is_integer() ? Unit::count : unit;
  return data_element(place.number(), place.pointer(), "", figure_text(place.number(), written));
}

std::string share(const Place& part, const Place& whole) {
  if (!part.is_number() || !whole.is_number()) {
    return {};
  }
  const double value = part.number() / whole.number();
  return data_element(value, part.pointer(), whole.pointer(), figure_text(value, Unit::percent));
}

std::string range(const Place& interval, Unit unit) {
  const Place low = interval["low"];
  const Place high = interval["high"];
  const bool certain = low.is_number() && high.is_number() && low.number() == high.number();
  return low.there() && high.there() && middle(low).there() && !certain
             ? "<span class=\"ends\">" + figure(low, unit) + " to " + figure(high, unit) + "</span>"
             : std::string{};
}

Place middle(const Place& place) {
  return place.is_number() || place.is_text() ? place : place["mid"];
}

std::string with_range(const Place& place, Unit unit) {
  const std::string ends = range(place, unit);
  return figure(middle(place), unit) + (ends.empty() ? "" : " <span class=\"range\">(" + ends + ")</span>");
}

HtmlTable::HtmlTable(std::string label, std::initializer_list<std::string_view> titles) : label_{std::move(label)} {
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
