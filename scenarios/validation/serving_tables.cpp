// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/validation/accuracy_tables.hpp>
#include <headroom/scenarios/validation/serving_tables.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

/// Capacity in sequences, neither time nor rate, has its own table.
constexpr std::string_view capacity = "max_concurrent_sequences";

std::string scored_text(const GroupScore& g) {
  return std::to_string(g.supported) + " of " + std::to_string(g.n - g.rejected);
}

/// Median relative error as one of time. Inverting a rate reverses the order of errors and keeps the middle one.
double time_bias(const GroupScore& g) {
  return time_sign(g.metric) > 0.0 ? g.model.bias : 1.0 / (1.0 + g.model.bias) - 1.0;
}

/// Names of what has no scored row, with the number of rows not rejected: "a (12); b (3)".
class Unscored {
 public:
  void add(std::string_view name, const GroupScore& g) {
    if (g.supported == 0 && g.n > g.rejected) {
      list_ += (list_.empty() ? "" : "; ") + std::string{name} + " (" + std::to_string(g.n - g.rejected) + ")";
    }
  }
  [[nodiscard]] std::string text() const { return list_.empty() ? list_ : "\nNot answered: " + list_ + ".\n"; }

 private:
  std::string list_;
};

std::string error_line(const std::string& name, const GroupScore& g) {
  return table_line({name, g.metric, scored_text(g), percent_text(g.model.mape), percent_text(g.model.median_ape),
                     percent_text(g.model.p90_ape), signed_percent_text(time_bias(g)), percent_text(g.within_interval),
                     percent_text(g.constant.mape), percent_text(g.roofline.mape)});
}

/// One line per metric and group of a kind ("engine="), or per metric of all rows ("all").
std::string error_table(const Validation& serving, std::string_view title, std::string_view kind) {
  std::string lines;
  Unscored unscored;
  const bool whole = kind == "all";
  for (const GroupScore& g : serving.groups) {
    if ((whole ? g.group != kind : !g.group.starts_with(kind)) || g.metric == capacity) {
      continue;
    }
    const std::string name = whole ? g.group : g.group.substr(kind.size());
    if (g.metric.empty() != whole) {  // either a metric over all rows, or a group over all metrics
      unscored.add(whole ? g.metric : name, g);
    }
    if (!g.metric.empty() && g.supported > 0) {
      lines += error_line(name, g);
    }
  }
  if (lines.empty()) {
    return lines;
  }
  const std::string first{whole ? "rows" : kind.substr(0, kind.size() - 1)};
  return "\n### " + std::string{title} + "\n" +
         table_header(
             {first, "metric", "scored", "MAPE", "median", "p90", "bias", "interval", "constant", "datasheet"}) +
         lines + unscored.text();
}

std::string layout_table(const std::vector<LayoutScore>& layouts) {
  if (layouts.empty()) {
    return {};
  }
  std::string text =
      "\n### Ranking of layouts\nRows of one source with the same network, SKU, engine, release, format, load and "
      "metric under three layouts or more. Tau: Kendall's, over all pairs of a question.\n\n" +
      table_header({"questions of", "questions", "layouts", "tau, mean", "tau, median"});
  for (const LayoutScore& l : layouts) {
    text += table_line({l.group, std::to_string(l.questions), std::to_string(l.layouts), correlation_text(l.tau),
                        correlation_text(l.tau_median)});
  }
  return text;
}

/// Our error on the rows comparable with a claim; "-" without such rows.
std::string like_figure(const Validation& serving, const Claim& claim) {
  if (claim.where) {
    for (const GroupScore& g : serving.groups) {
      if (g.group == claim.where->name && g.metric == claim.metric && g.supported > 0) {
        return "MAPE " + percent_text(g.model.mape) + ", median " + percent_text(g.model.median_ape) + ", p90 " +
               percent_text(g.model.p90_ape) + " on " + scored_text(g) + " rows: " + shown_group(g.group) + ", " +
               g.metric;
      }
    }
  }
  return "-";
}

std::string claim_table(const Validation& serving, const std::vector<Claim>& claims) {
  if (claims.empty()) {
    return {};
  }
  std::string text =
      "\n### Other predictors\nWhat their authors, or users who say so in public, report, in %. Read, not run here: "
      "each "
      "stands on data of its own, where nothing else is said on no row of ours, and no two on the same. Ours is the "
      "like figure on all such rows that we answer.\n\n" +
      table_header({"predictor", "of", "claims", "on", "where it says so", "ours"});
  for (const Claim& claim : claims) {
    text +=
        table_line({claim.tool, claim.quantity, claim.claim, claim.data, claim.source, like_figure(serving, claim)});
  }
  return text;
}

/// Rows of a group whose predicted capacity is at most one sequence off.
std::size_t within_one(const Validation& serving, const std::string& group) {
  return static_cast<std::size_t>(std::count_if(serving.rows.begin(), serving.rows.end(), [&](const ScoredRow& row) {
    return row.metric == capacity && row.prediction.status == RowStatus::ok &&
           std::abs(row.prediction.predicted - row.measured) <= 1.0 &&
           std::find(row.groups.begin(), row.groups.end(), group) != row.groups.end();
  }));
}

std::string capacity_table(const Validation& serving) {
  std::string lines;
  for (const GroupScore& g : serving.groups) {
    const bool named = g.group == "all" || g.group.starts_with("engine=") || g.group.starts_with("gpu=");
    if (g.metric == capacity && g.supported > 0 && named) {
      lines += table_line({g.group, scored_text(g), percent_text(g.model.mape), percent_text(g.model.median_ape),
                           percent_text(g.model.p90_ape), percent_text(g.constant.mape), percent_text(g.roofline.mape),
                           std::to_string(within_one(serving, g.group))});
    }
  }
  return lines.empty() ? lines
                       : "\n## Serving capacity\n`max_concurrent_sequences`: what the KV pools hold.\n\n" +
                             table_header({"rows", "scored", "MAPE", "median", "p90", "constant", "datasheet",
                                           "within 1 sequence"}) +
                             lines;
}

}  // namespace

std::string serving_tables(const Validation& serving, const AccuracyReference& reference) {
  if (serving.rows.empty()) {
    return "\n## Serving\nNo file of serving rows was given: `serve_*.csv` beside the others adds their tables.\n";
  }
  std::string text =
      "\n## Serving\nThroughput and latency, a line a metric. Bias is the median error as one of time: + is too slow, "
      "for rates as for latencies. *Interval* claims 80 %, no more and no less. *Datasheet*: the least FLOP and bytes "
      "of "
      "every iteration at the datasheet's peaks, under the same load, without an engine. Rows that nobody answers are "
      "networks without tokens, loads and metrics that have no form here, or layouts that were not published.\n";
  if (!reference.serving_bars.empty()) {
    text += "\n### Bars of serving\n`--budget` with `scenarios/accuracy/serving-bars.toml`.\n\n" +
            bars_table(serving, reference.serving_bars);
  }
  struct Kind {
    std::string_view title, prefix;
  };
  for (const Kind& kind :
       {Kind{"By metric", "all"}, Kind{"By load", "load="}, Kind{"By family", "family="}, Kind{"By source", "source="},
        Kind{"By engine", "engine="}, Kind{"By SKU, serving", "gpu="}}) {
    text += error_table(serving, kind.title, kind.prefix);
  }
  return text + layout_table(serving.layouts) + claim_table(serving, reference.claims) + capacity_table(serving);
}

}  // namespace headroom
