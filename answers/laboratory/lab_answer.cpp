// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/laboratory/lab_answer.hpp>
#include <headroom/answers/markup/html.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>

#include <cmath>

namespace headroom {
namespace {

Value members_of(std::vector<Member> members) {
  return Value::object_of(members.data(), members.size());
}

std::string shown(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::boolean: return value.is_true() ? "yes" : "no";
    case Value::Kind::integer:
    case Value::Kind::number: return figure_text(value.number(), value.hint());
    case Value::Kind::text: return value.text();
    default: return "-";
  }
}

std::string shown(const LabFigure& figure) {
  return figure.text.empty() ? shown(figure.value) : figure.text;
}

std::string change_of(const LabCure& cure) {
  constexpr double least = 5e-5;
  const double change = cure.time_ratio - 1.0;
  return cure.time_ratio <= 0.0 ? "-" : std::abs(change) < least ? "0 %" : percent(change);
}

std::vector<std::string> titles_of(const LabTable& table) {
  std::vector<std::string> titles;
  for (const LabColumn& column : table.columns) {
    titles.emplace_back(column.title);
  }
  return titles;
}

std::vector<std::string> cells_of(const std::vector<Value>& row) {
  std::vector<std::string> cells;
  for (const Value& value : row) {
    cells.push_back(shown(value));
  }
  return cells;
}

}  // namespace

std::string lab_text(const LabAnswer& a) {
  std::string text = a.title + "\n" + a.verdict + "\n\n";
  Table figures{{"", "<"}};
  for (const LabFigure& figure : a.figures) {
    figures.row({std::string{figure.label}, shown(figure)});
  }
  text += figures.text(0);
  for (const LabTable& held : a.tables) {
    Table table{titles_of(held)};
    for (const std::vector<Value>& row : held.rows) {
      table.row(cells_of(row));
    }
    text += "\n" + table.text(0);
  }
  if (!a.cures.empty()) {
    Table cures{{"what would help", "time", "<why"}};
    for (const LabCure& cure : a.cures) {
      cures.row({cure.change, change_of(cure), cure.because});
    }
    text += "\n" + cures.text(0);
  }
  text += a.notes.empty() && a.sources.empty() ? "" : "\n";
  for (const std::string& note : a.notes) {
    text += note + "\n";
  }
  for (const std::string& source : a.sources) {
    text += "source: " + source + "\n";
  }
  return text;
}

Value lab_document(const LabAnswer& a) {
  Value figures = object();
  for (const LabFigure& figure : a.figures) {
    if (!figure.key.empty()) {
      figures.add({std::string{figure.key}, figure.value});
    }
  }
  Value document = object("schema"_m = "headroom.kernel/1", "form"_m = a.form, "gpu"_m = when(!a.gpu.empty(), a.gpu),
                          members_of(a.question), "verdict"_m = a.verdict, std::move(figures));
  for (const LabTable& table : a.tables) {
    document.add({std::string{table.key}, list(table.rows, [&](const std::vector<Value>& cells) {
                    Value held = row();
                    for (std::size_t i = 0; i < cells.size(); ++i) {
                      held.add({std::string{table.columns[i].key}, cells[i]});
                    }
                    return held;
                  })});
  }
  document.add({"helps", list(a.cures, [](const LabCure& cure) {
                  return row("change"_m = cure.change, "time_ratio"_m = when(cure.time_ratio > 0.0, cure.time_ratio),
                             "because"_m = when(!cure.because.empty(), cure.because));
                })});
  document.add({"notes", a.notes});
  document.add({"sources", a.sources});
  return document;
}

std::string lab_svg(const LabAnswer& a) {
  if (!a.chart) {
    throw ConfigError{"kernel " + std::string{a.form} + " has no drawing; ask for --format html, or text"};
  }
  return lab_drawing(*a.chart);
}

std::string lab_page(const LabAnswer& a) {
  return lab_page(a, lab_document(a));
}

std::string lab_page(const LabAnswer& a, const Value& document) {
  using report::escaped;
  report::HtmlTable figures{"The answer in figures", {"<", "<"}};
  for (const LabFigure& figure : a.figures) {
    figures.row({escaped(figure.label), escaped(shown(figure))});
  }
  std::string body = report::paragraph("verdict", escaped(a.verdict)) + figures.html();
  if (a.chart) {
    body +=
        "<figure role=\"img\" aria-label=\"" + escaped(a.chart->title) + "\">" + lab_drawing(*a.chart) + "</figure>\n";
  }
  for (const LabTable& held : a.tables) {
    report::HtmlTable table{report::words(held.key), titles_of(held)};
    for (const std::vector<Value>& row : held.rows) {
      std::vector<std::string> cells = cells_of(row);
      for (std::string& cell : cells) {
        cell = escaped(cell);
      }
      table.row(std::move(cells));
    }
    body += table.html();
  }
  report::HtmlTable cures{"What would help", {"<what would help", "time", "<<why"}};
  for (const LabCure& cure : a.cures) {
    cures.row({escaped(cure.change), escaped(change_of(cure)), escaped(cure.because)});
  }
  body += cures.empty() ? "" : cures.html();
  for (const std::string& note : a.notes) {
    body += report::paragraph("note", escaped(note));
  }
  for (const std::string& source : a.sources) {
    body += report::paragraph("source", "Source: " + escaped(source));
  }
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
         "<title>" +
         escaped(a.title) +
         " &middot; Headroom</title>\n<style>body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem "
         "auto;padding:0 1rem;color:#222;background:#fff}h1{font-size:1.4rem}.verdict{font-size:1.15rem}"
         "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.2rem .8rem .2rem 0;text-align:left;"
         "border-bottom:1px solid #ddd}td.n,th.n{text-align:right}.source,.note{color:#555}figure{margin:1rem 0}"
         "svg{max-width:100%;height:auto}pre{overflow:auto}</style>\n</head>\n<body>\n<h1>" +
         escaped(a.title) + "</h1>\n" + body +
         report::details("The answer as JSON", "<pre>" + escaped(json_text(document)) + "</pre>") +
         "</body>\n</html>\n";
}

}  // namespace headroom
