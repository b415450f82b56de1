// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/laboratory/lab_answer.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/render_link_collective.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace headroom::cli {
namespace {

constexpr std::string_view textbook_note =
    "Textbook times on switches that all links enter, with nothing lost to copies or kernels: not what NCCL reaches";

/// Whether the ranks of several nodes have NICs to tell of.
bool has_nics(const LinkQuestion& q) {
  return q.group.per_node > 1 && q.group.nodes() > 1;
}

BytesPerSecond busbw_of(const LinkQuestion& q, Seconds time) {
  return bytes_per_rank(q.collective, q.bytes, q.group.ranks) / time;
}

std::string_view algorithm_name(Collective collective, TextbookAlgorithm algorithm) {
  return algorithm == TextbookAlgorithm::scattered && collective == Collective::reduce ? "reduce-scatter, gather"
                                                                                       : name_of(algorithm).name;
}

std::string group_words(const LinkQuestion& q) {
  const TextbookGroup& g = q.group;
  std::string text =
      counted(g.ranks, "rank") +
      (g.per_node > 1 ? ", " + std::to_string(g.per_node) + " a node, each with a NIC of " : ", each with a link of ") +
      format(g.link) + " in one direction, " +
      (g.message > Seconds{} ? format(g.message) + " a message" : "messages cost nothing");
  if (g.per_node > 1) {
    text += "; within a node " + format(g.inside) + ", " +
            (g.inside_message > Seconds{} ? format(g.inside_message) + " a message" : "messages cost nothing");
  }
  return text;
}

/// The algorithms that the table shows: the one named, the usual ones, or all.
std::vector<TextbookTime> shown_of(const LinkAnswer& a) {
  std::vector<TextbookTime> shown;
  std::copy_if(a.times.begin(), a.times.end(), std::back_inserter(shown), [&](const TextbookTime& t) {
    return a.question.all || (a.question.algorithm ? t.algorithm == *a.question.algorithm : t.usual);
  });
  return shown;
}

const TextbookTime& fastest_of(const LinkAnswer& a) {
  return *std::find_if(a.times.begin(), a.times.end(), [](const TextbookTime& t) { return !t.in_switch; });
}

std::string algorithms_text(const LinkAnswer& a) {
  const LinkQuestion& q = a.question;
  const bool nodes = has_nics(q);
  std::vector<std::string> header{"algorithm", "time", "steps", "busiest rank sends"};
  if (nodes) {
    header.emplace_back("busiest NIC sends");
  }
  Table all{header};
  for (const TextbookTime& t : shown_of(a)) {
    std::vector<std::string> row{std::string{algorithm_name(q.collective, t.algorithm)}, format(t.time),
                                 std::to_string(t.steps), format(t.sent)};
    if (nodes) {
      row.push_back(format(t.nic));
    }
    all.row(std::move(row));
  }
  std::string text = all.text(0);
  for (const TextbookCrossover& c : a.crossovers) {
    text += "below " + format(c.bytes) + " the fastest is " + std::string{algorithm_name(q.collective, c.below)} +
            ", above it " + std::string{algorithm_name(q.collective, c.above)} + "\n";
  }
  if (q.all && fastest_of(a).algorithm != a.taken.algorithm) {
    text += "the fastest on plain links is " + std::string{algorithm_name(q.collective, fastest_of(a).algorithm)} +
            ", which NCCL does not have; the answer takes " +
            std::string{algorithm_name(q.collective, a.taken.algorithm)} + "\n";
  }
  return text;
}

LabChart chart_of(const LinkAnswer& a) {
  const LinkQuestion& q = a.question;
  LabChart chart{std::string{name_of(q.collective)} + " over " + counted(q.group.ranks, "rank") + ", time against size",
                 {"buffer", Hint::bytes, true},
                 {"time", Hint::seconds, true}};
  constexpr double least = 1024.0;
  constexpr double most = 4.0 * 1024.0 * 1024.0 * 1024.0;
  const double from = std::min(least, q.bytes.raw());
  const double to = std::max(most, q.bytes.raw());
  for (const TextbookTime& shown : shown_of(a)) {
    LabLine line{std::string{algorithm_name(q.collective, shown.algorithm)}, LineStyle::solid, {}};
    for (double bytes = from; bytes <= 2.0 * to; bytes *= 2.0) {
      const Bytes size{std::min(bytes, to)};
      for (const TextbookTime& t : textbook_times(q.collective, size, q.group)) {
        if (t.algorithm == shown.algorithm) {
          line.points.push_back({size.raw(), t.time.raw(), {}});
        }
      }
    }
    chart.lines.push_back(std::move(line));
  }
  chart.lines.push_back({"asked", LineStyle::points, {{q.bytes.raw(), a.taken.time.raw(), "asked"}}});
  for (const TextbookCrossover& c : a.crossovers) {
    chart.marks.push_back({c.bytes.raw(), std::string{algorithm_name(q.collective, c.above)} + " from here"});
  }
  return chart;
}

}  // namespace

std::string collective_svg(const LinkAnswer& a) {
  return lab_drawing(chart_of(a));
}

std::string collective_page(const LinkAnswer& a) {
  const LinkQuestion& q = a.question;
  const std::string name{name_of(q.collective)};
  LabAnswer page;
  page.form = "collective";
  page.title = name + " of " + format(q.bytes) + " on " + group_words(q);
  page.verdict = "It takes " + format(a.taken.time) + " by " +
                 std::string{algorithm_name(q.collective, a.taken.algorithm)} + ", " +
                 format(busbw_of(q, a.taken.time)) + " of bus bandwidth.";
  page.figures = {{"time", "time_s", a.taken.time},
                  {"algbw", "algbw_bytes_per_s", q.bytes / a.taken.time},
                  {"busbw", "busbw_bytes_per_s", busbw_of(q, a.taken.time)},
                  {"sent per rank", "sent_bytes_per_rank", bytes_per_rank(q.collective, q.bytes, q.group.ranks)}};
  LabTable table{"algorithms",
                 {{"<algorithm", "algorithm"},
                  {"time", "time_s"},
                  {"steps", "steps"},
                  {"busiest rank sends", "busiest_rank_bytes"}},
                 {}};
  if (has_nics(q)) {
    page.figures.push_back({"sent per NIC", "sent_bytes_per_nic", a.taken.nic});
    table.columns.push_back({"busiest NIC sends", "busiest_nic_bytes"});
  }
  table.columns.push_back({"<source", "source"});
  for (const TextbookTime& t : shown_of(a)) {
    std::vector<Value> row{std::string{algorithm_name(q.collective, t.algorithm)}, t.time, t.steps, t.sent};
    if (has_nics(q)) {
      row.emplace_back(t.nic);
    }
    row.emplace_back(std::string{name_of(t.algorithm).source});
    table.rows.push_back(std::move(row));
  }
  page.tables.push_back(std::move(table));
  for (LabTable& held : series_tables(a.series)) {
    page.tables.push_back(std::move(held));
  }
  page.notes = {std::string{textbook_note} + "."};
  page.chart = chart_of(a);
  return lab_page(page, collective_document(a));
}

LinkAnswer answer_link_collective(const LinkQuestion& q) {
  LinkAnswer a;
  a.question = q;
  a.times = textbook_times(q.collective, q.bytes, q.group);
  a.taken = taken_of(a.times, q.algorithm);
  if (!q.algorithm) {
    a.crossovers = textbook_crossovers(q.collective, q.group, !q.all);
  }
  a.series = answer_series(q.series, q.collective, q.group.ranks, q.bytes, [&](Collective collective, Bytes bytes) {
    return taken_of(textbook_times(collective, bytes, q.group), q.algorithm).time;
  });
  return a;
}

std::string collective_text(const LinkAnswer& a) {
  const LinkQuestion& q = a.question;
  std::string text = std::string{name_of(q.collective)} + " of " + format(q.bytes) + " on " + group_words(q) + "\n\n";
  const Seconds best = a.taken.time;
  Table table{{"", "<"}};
  table.row({"time", format(best) + ", " + std::string{algorithm_name(q.collective, a.taken.algorithm)}});
  table.row({"algbw", format(q.bytes / best)});
  table.row({"busbw", format(busbw_of(q, best))});
  table.row({"sent per rank", format(bytes_per_rank(q.collective, q.bytes, q.group.ranks))});
  if (has_nics(q)) {
    table.row({"sent per NIC", format(a.taken.nic)});
  }
  text += table.text(0) + "\n" + algorithms_text(a) + series_text(a.series);
  return text + "\n" + std::string{textbook_note} + "; --gpu ID prices that.\n";
}

Value collective_document(const LinkAnswer& a) {
  const LinkQuestion& q = a.question;
  const Seconds best = a.taken.time;
  const bool nodes = q.group.per_node > 1;
  const bool nics = has_nics(q);
  return object(
      "schema"_m = "headroom.collective/1", "collective"_m = name_of(q.collective), "bytes"_m = q.bytes,
      "gpus"_m = q.group.ranks, "per_node"_m = when(nodes, q.group.per_node), "link_bytes_per_s"_m = q.group.link,
      "message_s"_m = q.group.message, "inside_bytes_per_s"_m = when(nodes, q.group.inside),
      "inside_message_s"_m = when(nodes, q.group.inside_message), "time_s"_m = Interval<Seconds>{best, best, best},
      "algbw_bytes_per_s"_m = q.bytes / best, "busbw_bytes_per_s"_m = busbw_of(q, best),
      "sent_bytes_per_rank"_m = bytes_per_rank(q.collective, q.bytes, q.group.ranks),
      "sent_bytes_per_nic"_m = when(nics, a.taken.nic), "algorithm"_m = algorithm_name(q.collective, a.taken.algorithm),
      "fastest"_m = when(q.all, algorithm_name(q.collective, fastest_of(a).algorithm)),
      "algorithms"_m = list(shown_of(a),
                            [&](const TextbookTime& t) {
                              return row("algorithm"_m = algorithm_name(q.collective, t.algorithm), "time_s"_m = t.time,
                                         "steps"_m = t.steps, "busiest_rank_bytes"_m = t.sent,
                                         "busiest_nic_bytes"_m = when(nics, t.nic), "needs_switch"_m = t.in_switch,
                                         "source"_m = name_of(t.algorithm).source);
                            }),
      "crossovers"_m = when(!a.crossovers.empty(), list(a.crossovers,
                                                        [&](const TextbookCrossover& c) {
                                                          return row("below"_m = algorithm_name(q.collective, c.below),
                                                                     "above"_m = algorithm_name(q.collective, c.above),
                                                                     "bytes"_m = c.bytes);
                                                        })),
      series_document(a.series));
}

}  // namespace headroom::cli
