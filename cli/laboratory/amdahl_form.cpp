// SPDX-License-Identifier: Apache-2.0
// `headroom kernel amdahl`: what a whole gains from faster parts, what it can gain at most, and which part is next.
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/laboratory/amdahl.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace headroom::cli {
namespace {

constexpr double most_speedup = 1e9;
constexpr double least_speedup = 1e-3;

struct NamedParts {
  std::vector<std::string> names;
  std::vector<SpedPart> parts;
};

/// "0.95", "95 %" or "95%".
std::optional<double> share_in(std::string_view text) {
  if (!text.ends_with('%')) {
    return whole_real(text);
  }
  const auto number = whole_real(text.substr(0, text.find_last_not_of(" %") + 1));
  return number ? std::optional{0.01 * *number} : std::nullopt;
}

/// NAME:SHARE:X; a name may hold colons itself.
void read_part(FormReader& in, const std::string& text, NamedParts& read) {
  const std::size_t second = text.rfind(':');
  const std::size_t first =
      second == std::string::npos || second == 0 ? std::string::npos : text.rfind(':', second - 1);
  const std::string told = "--part " + quoted(text);
  if (first == std::string::npos || first == 0) {
    in.problem(told + " must be NAME:SHARE:X, such as attention:0.3:2");
    return;
  }
  const std::string name = text.substr(0, first);
  const std::string share_text = text.substr(first + 1, second - first - 1);
  const std::string speedup_text = text.substr(second + 1);
  const std::optional<double> share = share_in(share_text);
  const std::optional<double> speedup = whole_real(speedup_text);
  const bool share_good = share && *share >= 0.0 && *share <= 1.0;
  const bool speedup_good = speedup && *speedup >= least_speedup && *speedup <= most_speedup;
  if (!share_good) {
    in.problem(told + ": share " + quoted(share_text) + " must be a number from 0 to 1, or from 0 % to 100 %");
  }
  if (!speedup_good) {
    in.problem(told + ": speed-up " + quoted(speedup_text) + " must be a number from " +
               general_text(least_speedup, 3) + " to " + general_text(most_speedup, 3));
  }
  if (std::find(read.names.begin(), read.names.end(), name) != read.names.end()) {
    in.problem(told + ": " + quoted(name) + " is named twice");
  }
  read.names.push_back(name);
  read.parts.push_back({share_good ? *share : 0.0, speedup_good ? *speedup : 1.0});
}

NamedParts read_parts(FormReader& in) {
  NamedParts read;
  for (const std::string& text : in.texts("--part")) {
    read_part(in, text, read);
  }
  if (!in.given("--part")) {
    read.names = {"the faster part"};
    const double share = in.number("--fraction", 0.0, 1.0);
    read.parts = {{share, in.number("--speedup", least_speedup, most_speedup)}};
    return read;
  }
  const bool fraction = in.given("--fraction");
  const bool speedup = in.given("--speedup");
  if (fraction || speedup) {
    in.problem("--fraction and --speedup have no part beside --part, which says both of each part; leave them out");
  }
  double sum = 0.0;
  for (const SpedPart& part : read.parts) {
    sum += part.share;
  }
  if (sum > 1.0 + 1e-9) {
    in.problem("the shares of --part add up to " + format_number(sum, 4) +
               ", above 1; each is a share of the whole's time before, and parts must not overlap");
  }
  return read;
}

/// The part whose speed changes the whole most: that which has most of the time afterwards.
std::size_t next_part(const std::vector<SpedPart>& parts) {
  std::size_t next = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    next = share_after(parts, i) > share_after(parts, next) ? i : next;
  }
  return next;
}

double rest_of(const std::vector<SpedPart>& parts) {
  double rest = 1.0;
  for (const SpedPart& part : parts) {
    rest -= part.share;
  }
  return rest > 1e-9 ? rest : 0.0;
}

Value finite_speedup(double value, Hint hint = Hint::number) {
  return std::isfinite(value) ? Value{value, hint} : Value{};
}

/// The whole's speed-up at other speeds of one part.
double with_speed(std::vector<SpedPart> parts, std::size_t part, double speedup) {
  parts[part].speedup = speedup;
  return whole_speedup(parts);
}

std::vector<double> speeds_around(double asked) {
  std::vector<double> speeds{1.5, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0, 16.0, 20.0, 50.0, 100.0, 1000.0};
  speeds.push_back(asked);
  std::sort(speeds.begin(), speeds.end());
  speeds.erase(std::unique(speeds.begin(), speeds.end()), speeds.end());
  return speeds;
}

LabTable speeds_table(const NamedParts& q, std::size_t next) {
  LabTable table{"at_speeds",
                 {{"speed-up of it", "part_speedup"},
                  {"of the whole", "whole_speedup"},
                  {"of the limit", "of_limit"},
                  {"if its work grows", "scaled_speedup"}},
                 {}};
  const double limit = speedup_limit(q.parts, next);
  for (const double speed : speeds_around(q.parts[next].speedup)) {
    std::vector<SpedPart> parts = q.parts;
    parts[next].speedup = speed;
    const double whole = whole_speedup(parts);
    table.rows.push_back({speed, whole, std::isfinite(limit) ? share(whole / limit) : Value{}, scaled_speedup(parts)});
  }
  return table;
}

LabTable parts_table(const NamedParts& q) {
  LabTable table{"parts",
                 {{"<part", "part"},
                  {"of the time", "time_share"},
                  {"speed-up", "part_speedup"},
                  {"of the time then", "time_share_after"},
                  {"whole, if it took none", "speedup_limit"}},
                 {}};
  for (std::size_t i = 0; i < q.parts.size(); ++i) {
    table.rows.push_back({q.names[i], share(q.parts[i].share), q.parts[i].speedup, share(share_after(q.parts, i)),
                          finite_speedup(speedup_limit(q.parts, i))});
  }
  const double rest = rest_of(q.parts);
  if (rest > 0.0) {
    const double time = time_after(q.parts);
    table.rows.push_back(
        {"the rest, as before", share(rest), 1.0, share(rest / time), finite_speedup(1.0 / (time - rest))});
  }
  return table;
}

std::vector<LabCure> next_steps(const NamedParts& q) {
  const double now = time_after(q.parts);
  std::vector<LabCure> cures;
  for (std::size_t i = 0; i < q.parts.size(); ++i) {
    if (q.parts[i].share > 0.0) {
      const double after = 1.0 / with_speed(q.parts, i, 2.0 * q.parts[i].speedup);
      cures.push_back({q.names[i] + " twice as fast again", after / now,
                       "it has " + percent(share_after(q.parts, i)) + " of the time then"});
    }
  }
  if (const double rest = rest_of(q.parts); rest > 0.0) {
    cures.push_back(
        {"the rest twice as fast", (now - 0.5 * rest) / now, "it has " + percent(rest / now) + " of the time then"});
  }
  std::stable_sort(cures.begin(), cures.end(),
                   [](const LabCure& a, const LabCure& b) { return a.time_ratio < b.time_ratio; });
  return cures;
}

LabChart drawing_of(const NamedParts& q, std::size_t next) {
  LabChart chart{"The whole over the speed of " + q.names[next],
                 {"speed-up of " + q.names[next], Hint::number, true},
                 {"speed-up of the whole", Hint::number, true},
                 {},
                 {}};
  LabLine fixed{"the same work (Amdahl)", LineStyle::solid, {}};
  LabLine grown{"work that grows (Gustafson)", LineStyle::dashed, {}};
  constexpr int steps = 60;
  const double last = std::max(1000.0, 2.0 * q.parts[next].speedup);
  for (int i = 0; i <= steps; ++i) {
    std::vector<SpedPart> parts = q.parts;
    parts[next].speedup = std::pow(last, static_cast<double>(i) / steps);
    fixed.points.push_back({parts[next].speedup, whole_speedup(parts), {}});
    grown.points.push_back({parts[next].speedup, scaled_speedup(parts), {}});
  }
  chart.lines = {std::move(fixed), std::move(grown)};
  if (const double limit = speedup_limit(q.parts, next); std::isfinite(limit)) {
    chart.lines.push_back({"limit", LineStyle::dashed, {{1.0, limit, {}}, {last, limit, {}}}});
  }
  chart.lines.push_back({"asked", LineStyle::points, {{q.parts[next].speedup, whole_speedup(q.parts), "asked"}}});
  return chart;
}

LabAnswer answer(const NamedParts& q) {
  const double whole = whole_speedup(q.parts);
  const double limit = speedup_limit(q.parts);
  const double rest = rest_of(q.parts);
  const std::size_t next = next_part(q.parts);
  LabAnswer a;
  for (std::size_t i = 0; i < q.parts.size(); ++i) {
    a.title += (i == 0 ? "" : ", ") + q.names[i] + ": " + percent(q.parts[i].share) + " of the time at " +
               format_number(q.parts[i].speedup) + "x";
  }
  const double next_share = share_after(q.parts, next);
  const bool rest_next = rest * whole > next_share;
  a.verdict = "The whole runs " + format_number(whole) + "x as fast" +
              (std::isfinite(limit) ? ", of at most " + format_number(limit) + "x however fast the parts become" : "") +
              "; next worth the work is " + (rest_next ? "the rest" : q.names[next]) + ", which has " +
              percent(rest_next ? rest * whole : next_share) + " of the time then.";
  a.figures = {
      {"speed-up", "whole_speedup", whole, format_number(whole) + "x"},
      {"limit", "speedup_limit", finite_speedup(limit), std::isfinite(limit) ? format_number(limit) + "x" : "none"},
      {"time", "time_ratio", share(1.0 / whole)},
      {"of the time then, the rest", "rest_share", share(rest * whole)},
      {"if the work of the parts grows", "scaled_speedup", scaled_speedup(q.parts),
       format_number(scaled_speedup(q.parts)) + "x"}};
  a.tables = {parts_table(q), speeds_table(q, next)};
  a.cures = next_steps(q);
  a.notes = {
      "No number here depends on the GPU: a share that stays where it is bounds the gain on any of them.",
      "Shares are of the time before, measured one after another; parts that overlap in time have no such shares.",
      "The table goes over the speed of " + q.names[next] + " while the others stay as asked."};
  a.sources = {"Amdahl 1967: speed-up 1 / (1 - sum f + sum f / s)",
               "Gustafson 1988: speed-up 1 - sum f + sum f s, where the work of the parts grows until their time is as "
               "before"};
  a.chart = drawing_of(q, next);
  return a;
}

LabQuestion read_amdahl(FormReader& in) {
  return [q = read_parts(in)](const LabBench&) { return answer(q); };
}

}  // namespace

const KernelForm amdahl_form{"amdahl", "share of the time and its speed-up, or --part of each", GpuUse::optional,
                             read_amdahl};

}  // namespace headroom::cli
