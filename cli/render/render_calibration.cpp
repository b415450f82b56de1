// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/render_calibration.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

/// "3.2 % slower", "3.2 % faster", "the same": nothing below a thousandth.
std::string by_how_much(double share, const char* more, const char* less) {
  if (std::abs(share) < 1e-3) {
    return "the same";
  }
  return percent_number(std::abs(share), 2) + " % " + (share > 0.0 ? more : less);
}

std::string first_of(const std::vector<std::string>& all, std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, all.size()); ++i) {
    text += "  " + all[i] + "\n";
  }
  return text + (all.size() > shown ? "  and " + std::to_string(all.size() - shown) + " more\n" : "");
}

/// What the data say of a fitted curve; what stays at its prior is not told.
std::string parameters_of(const OverlayCurve& curve) {
  std::string text;
  for (std::size_t i = 0; i < curve.fitted.problem.parameters.size(); ++i) {
    const CurveParameter& p = curve.fitted.problem.parameters[i];
    const FittedParameter& fitted = curve.fitted.fit.result.parameters[i];
    const bool fixed = !curve.fitted.problem.fixed.empty() && curve.fitted.problem.fixed[i];
    if (!fixed && !fitted.from_prior) {
      text += (text.empty() ? "" : ", ") + std::string{p.name} + " " + value_text(p, fitted.value) + " +- " +
              percent_number(fitted.deviation, 2) + " %";
    }
  }
  return text;
}

Value row_value(const GateRow& r) {
  return row("name"_m = r.name, "n_a"_m = r.n_a, "n_b"_m = r.n_b, "time_ratio"_m = r.ratio, "low"_m = r.low,
             "high"_m = r.high, "p"_m = r.p, "verdict"_m = gate_verdict_names[static_cast<std::size_t>(r.verdict)]);
}

void add_row(Table& table, const GateRow& row) {
  table.row({row.name, std::to_string(row.n_a), std::to_string(row.n_b), format_number(row.ratio, 4),
             format_number(row.low, 4) + " to " + format_number(row.high, 4),
             std::string{gate_verdict_names[static_cast<std::size_t>(row.verdict)]}});
}

}  // namespace

std::string curve_name(const KernelGroup& g) {
  const std::string kind{g.kind == KernelKind::quantize ? "memory"
                                                        : kernel_kind_names[static_cast<std::size_t>(g.kind)]};
  return kind + (kind == g.engine ? "" : " " + g.engine) + " " + g.format + (g.kernel.empty() ? "" : " " + g.kernel) +
         (g.routing.empty() ? "" : " " + g.routing);
}

std::string calibration_text(const Calibration& calibration, const CalibrationRules& rules) {
  std::size_t outliers = 0;
  std::int64_t throttled = 0;
  for (const ProbeTiming& timing : calibration.probes) {
    outliers += timing.spread.outliers;
    throttled += timing.throttled;
  }
  std::string text = std::to_string(calibration.probes.size() - calibration.unmet.size()) + " of " +
                     std::to_string(calibration.probes.size()) +
                     " probes within the rule: the median is known within " + percent_number(rules.precision, 2) +
                     " %, with 95 %\n";
  text += outliers > 0 ? std::to_string(outliers) + " spans are outliers: flagged in timings.csv, kept\n" : "";
  text += throttled > 0 ? std::to_string(throttled) +
                              " measurements under heat or a brake: marked in samples.csv, left out where others are\n"
                        : "";
  text += calibration.ended.empty() ? "" : "ended early: " + calibration.ended + "\n";
  if (!calibration.unmet.empty()) {
    text += "not within the rule:\n" + first_of(calibration.unmet, 5);
  }
  return text;
}

std::string overlay_text(const Overlay& overlay) {
  std::string text = "overlay " + overlay.id + " over " + overlay.base + "\n\n";
  Table curves{{"curve", "samples", "held out: mape %", "80 % within %", "outliers", "<beside the base"}};
  for (const OverlayCurve& curve : overlay.curves) {
    curves.row({curve_name(curve.fitted.group), std::to_string(curve.fitted.problem.measured.size()),
                percent_number(curve.fitted.judged().mape, 3), percent_number(curve.within80, 3),
                std::to_string(curve.outliers.size()),
                curve.slower ? by_how_much(*curve.slower, "slower", "faster") + " (" + curve.base + ")" : "no such"});
  }
  text += curves.text(2) + "\n";
  for (const OverlayCurve& curve : overlay.curves) {
    const std::string told = parameters_of(curve);
    text += told.empty() ? "" : "  " + curve_name(curve.fitted.group) + ": " + told + "\n";
    text += curve.outliers.empty() ? "" : "    far from the curve: " + curve.outliers.front() + "\n";
  }
  Table facts{{"measured", "here", overlay.base, "difference"}};
  for (const OverlayFact& fact : overlay.facts) {
    facts.row({fact.what, fact.measured, fact.base.empty() ? "-" : fact.base,
               fact.difference ? by_how_much(*fact.difference, "above", "under") : ""});
  }
  text += "\n" + facts.text(2);
  for (const std::string& remark : overlay.remarks) {
    text += "left out: " + remark + "\n";
  }
  return text;
}

std::string gate_text(const Gate& gate, const GateRule& rule, const std::string& a, const std::string& b) {
  std::string text;
  switch (gate.verdict) {
    case GateVerdict::slower: text = b + " is slower than " + a; break;
    case GateVerdict::same: text = b + " is not slower than " + a; break;
    case GateVerdict::faster: text = b + " is faster than " + a; break;
    case GateVerdict::inconclusive: text = b + " against " + a + ": inconclusive, measure both more often"; break;
  }
  text += " (threshold " + percent_number(rule.threshold, 2) + " %, " + percent_number(rule.confidence, 2) +
          " % intervals, probes corrected for their number after Holm)\n\n";
  Table families{{"family", "probes", "", "time, B over A", "interval", "<verdict"}};
  for (const GateRow& row : gate.families) {
    add_row(families, row);
  }
  text += families.text(2);
  Table probes{{"probe", "spans of A", "of B", "time, B over A", "interval", "<verdict"}};
  constexpr std::size_t shown = 20;
  std::size_t others = 0;
  for (const GateRow& row : gate.probes) {
    if (row.verdict != GateVerdict::slower) {
      continue;
    }
    if (++others <= shown) {
      add_row(probes, row);
    }
  }
  text += others > 0
              ? "\n" + std::to_string(others) + " of " + std::to_string(gate.probes.size()) +
                    " probes are slower by more than the threshold\n" + probes.text(2)
              : "\nno probe of " + std::to_string(gate.probes.size()) + " is slower by more than the threshold\n";
  const auto only = [&](const std::vector<std::string>& names, const std::string& where) {
    text += names.empty()
                ? ""
                : std::to_string(names.size()) + " probes only in " + where + ", such as " + names.front() + "\n";
  };
  only(gate.only_a, a);
  only(gate.only_b, b);
  return text;
}

Value gate_document(const Gate& gate, const GateRule& rule) {
  return object("schema"_m = "headroom.gate/1",
                "verdict"_m = gate_verdict_names[static_cast<std::size_t>(gate.verdict)],
                "threshold"_m = rule.threshold, "confidence"_m = rule.confidence,
                "families"_m = list(gate.families, row_value), "probes"_m = list(gate.probes, row_value));
}

}  // namespace headroom::cli
