// SPDX-License-Identifier: Apache-2.0
// `headroom kernel numerics`: what a number format holds, which loss scale its range asks for, and what sums lose in
// it.
#include <headroom/cli/laboratory/format_words.hpp>
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/laboratory/loss_scale.hpp>
#include <headroom/model/laboratory/summation.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>

namespace headroom::cli {
namespace {

struct NumericsAsked {
  const StoredFormat* format = nullptr;
  std::optional<double> least, largest, scale, terms;
};

std::optional<double> magnitude_if(FormReader& in, std::string_view option, double low, double high) {
  return in.given(option) ? std::optional{in.number(option, low, high)} : std::nullopt;
}

NumericsAsked read_numerics_asked(FormReader& in) {
  constexpr double tiny = 1e-60;
  constexpr double huge = 1e60;
  constexpr double most_terms = 4503599627370496.0;  // 2^52, so that n + 1 is exact
  NumericsAsked q;
  q.format = &stored_format_of(in, in.text("--dtype", "fp16"));
  q.least = magnitude_if(in, "--least", tiny, huge);
  q.largest = magnitude_if(in, "--largest", tiny, huge);
  q.scale = magnitude_if(in, "--loss-scale", tiny, huge);
  q.terms = magnitude_if(in, "--sum", 1.0, most_terms);
  if (q.terms) {
    q.terms = std::floor(*q.terms);
  }
  const std::string name{q.format->name};
  if (q.scale && !q.least && !q.largest) {
    in.problem("--loss-scale needs --least, --largest or both: what is scaled");
  }
  if (q.least && q.largest && *q.least > *q.largest) {
    in.problem("--least " + general_text(*q.least, 3) + " is above --largest " + general_text(*q.largest, 3));
  }
  if ((q.least || q.largest || q.terms) && q.format->number() == nullptr) {
    in.problem("--dtype " + quoted(name) +
               " holds whole numbers under a scale that whoever quantises chooses: it has no range of its own to scale "
               "into, and its sums are whole (int32); ask for a floating-point format, such as fp16");
  } else if ((q.least || q.largest) && q.format->block > 0) {
    in.problem("--dtype " + quoted(name) + " has a scale for every " + std::to_string(q.format->block) +
               " elements, which does what a loss scale would; ask for its elements, --dtype " +
               std::string{q.format->element});
  }
  return q;
}

/// "2^6" of powers of two, else the number.
std::string scale_text(double scale) {
  const int exponent = std::ilogb(scale);
  return std::ldexp(1.0, exponent) == scale ? "2^" + std::to_string(exponent) : general_text(scale, 4);
}

Value magnitude_value(double value) {
  return std::isfinite(value) ? Value{value, Hint::magnitude} : Value{};
}

/// Where sums stay is whole but in formats that saturate between two whole numbers.
Value whole_or_not(double value) {
  return {value, value == std::floor(value) ? Hint::count : Hint::magnitude};
}

LabTable formats_table() {
  LabTable table{"formats",
                 {{"<format", "format"},
                  {"bits", "bits"},
                  {"exponent", "exponent_bits"},
                  {"mantissa", "mantissa_bits"},
                  {"largest", "largest"},
                  {"smallest normal", "smallest_normal"},
                  {"subnormal", "smallest_subnormal"},
                  {"epsilon", "epsilon"},
                  {"ones stall at", "stalls_at"}},
                 {}};
  for (const StoredFormat& format : stored_formats()) {
    const NumberFormat* const n = format.number();
    const auto of = [&](auto member) { return n != nullptr ? Value{member(*n), Hint::magnitude} : Value{}; };
    table.rows.push_back({format.name, format.bits(), n != nullptr ? Value{n->exponent_bits} : Value{},
                          n != nullptr ? Value{n->mantissa_bits} : Value{}, magnitude_value(format.largest()),
                          of([](const NumberFormat& f) { return f.smallest_normal(); }),
                          of([](const NumberFormat& f) { return f.smallest_subnormal(); }),
                          of([](const NumberFormat& f) { return f.epsilon(); }),
                          n != nullptr ? whole_or_not(stalled_sum(*n)) : Value{}});
  }
  return table;
}

/// Powers of two that keep both ends, if any do.
struct Window {
  std::optional<double> nonzero, subnormal, normal, largest;
  /// From which scale on the least lives, bits lost or not; 1 where no least is asked.
  [[nodiscard]] double from(bool whole) const {
    return (whole ? normal : subnormal).value_or(std::numeric_limits<double>::min());
  }
  [[nodiscard]] double to() const { return largest.value_or(std::numeric_limits<double>::max()); }
  [[nodiscard]] bool serves(bool whole) const { return from(whole) <= to(); }
};

Window window_of(const NumericsAsked& q) {
  const NumberFormat& n = *q.format->number();
  Window w;
  if (q.least) {
    w.nonzero = least_scale_nonzero(n, *q.least);
    w.subnormal = least_scale_subnormal(n, *q.least);
    w.normal = least_scale_normal(n, *q.least);
  }
  if (q.largest) {
    w.largest = largest_scale(n, *q.largest);
  }
  return w;
}

/// "scales from 2^6 to 2^14 keep".
std::string keeping_scales(const Window& w, bool whole) {
  if (w.largest && w.normal && w.from(whole) == w.to()) {
    return "the scale " + scale_text(w.to()) + " alone keeps";
  }
  return "scales " +
         (!w.largest  ? "from " + scale_text(w.from(whole)) + " on"
          : !w.normal ? "up to " + scale_text(w.to())
                      : "from " + scale_text(w.from(whole)) + " to " + scale_text(w.to())) +
         " keep";
}

std::string scaled_sentence(const NumericsAsked& q, const Window& w) {
  const std::string name{q.format->name};
  const NumberFormat& n = *q.format->number();
  std::string told;
  if (q.scale) {
    const bool lost = q.least && fate_of(n, *q.scale * *q.least) == Fate::zero;
    const bool over = q.largest && fate_of(n, *q.scale * *q.largest) == Fate::overflow;
    told = "At a loss scale of " + scale_text(*q.scale) + " " +
           (over && lost ? "the largest overflows " + name + " and the least vanishes"
            : over       ? "the largest overflows " + name
            : lost       ? "the least vanishes in " + name
                         : name + " holds what was asked") +
           "; ";
  }
  if (w.serves(true)) {
    return told + keeping_scales(w, true) + " every bit";
  }
  if (w.serves(false)) {
    return told + keeping_scales(w, false) + " " + name +
           " from losing or overflowing, and none keeps every bit of the least";
  }
  return told + "no scale serves both ends: the least needs " + scale_text(w.from(false)) + ", the largest allows " +
         scale_text(w.to());
}

void add_scaling(const NumericsAsked& q, LabAnswer& a) {
  const NumberFormat& n = *q.format->number();
  const Window w = window_of(q);
  const double scale = q.scale.value_or(1.0);
  if (q.least) {
    a.figures.push_back({"scale that keeps it from rounding to zero", "least_scale_nonzero",
                         magnitude_value(*w.nonzero), scale_text(*w.nonzero)});
    a.figures.push_back({"scale that reaches the smallest subnormal", "least_scale", magnitude_value(*w.subnormal),
                         scale_text(*w.subnormal)});
    a.figures.push_back(
        {"scale that keeps every bit", "least_scale_normal", magnitude_value(*w.normal), scale_text(*w.normal)});
  }
  if (q.largest) {
    a.figures.push_back({"largest scale", "largest_scale", magnitude_value(*w.largest), scale_text(*w.largest)});
  }
  a.figures.push_back({"a scale serves both ends", "scale_exists", w.serves(false)});
  a.figures.push_back({"and keeps every bit", "whole_scale_exists", w.serves(true)});
  if (q.least) {
    const double scaled = scale * *q.least;
    a.figures.push_back({"the least, scaled", "scaled_least", magnitude_value(scaled)});
    a.figures.push_back({"it is", "scaled_least_fate", fate_names[static_cast<std::size_t>(fate_of(n, scaled))]});
    a.figures.push_back({"bits of it left", "significant_bits", significant_bits(n, scaled)});
  }
  if (q.largest) {
    const double scaled = scale * *q.largest;
    a.figures.push_back({"the largest, scaled", "scaled_largest", magnitude_value(scaled)});
    a.figures.push_back({"it is", "scaled_largest_fate", fate_names[static_cast<std::size_t>(fate_of(n, scaled))]});
    a.figures.push_back({"overflows", "overflows", fate_of(n, scaled) == Fate::overflow});
  }
  LabTable table{"scales",
                 {{"<scale", "scale_text"},
                  {"scale", "scale"},
                  {"<the least", "least_fate"},
                  {"bits left", "significant_bits"},
                  {"<the largest", "largest_fate"}},
                 {}};
  const double low = std::min({scale, w.nonzero.value_or(scale), w.largest.value_or(scale)});
  const double high = std::max({scale, w.normal.value_or(scale), w.largest.value_or(scale)});
  constexpr int most_rows = 24;
  const int first = std::ilogb(low) - 1;
  const int last = std::ilogb(high) + 1;
  const int stride = std::max(1, (last - first + most_rows - 1) / most_rows);
  LabChart chart{"The ends of the range over the loss scale",
                 {"loss scale", Hint::magnitude, true},
                 {"magnitude after scaling", Hint::magnitude, true},
                 {},
                 {}};
  LabLine least{"least", LineStyle::solid, {}};
  LabLine largest{"largest", LineStyle::solid, {}};
  LabLine top{"largest of the format", LineStyle::dashed, {}};
  LabLine normal{"smallest normal", LineStyle::dashed, {}};
  LabLine bottom{"smallest subnormal", LineStyle::dashed, {}};
  for (int exponent = first; exponent <= last; exponent += stride) {
    const double s = std::ldexp(1.0, exponent);
    const auto fate = [&](const std::optional<double>& end) {
      return end ? Value{fate_names[static_cast<std::size_t>(fate_of(n, s * *end))]} : Value{};
    };
    table.rows.push_back({scale_text(s), magnitude_value(s), fate(q.least),
                          q.least ? Value{significant_bits(n, s * *q.least)} : Value{}, fate(q.largest)});
    if (q.least) {
      least.points.push_back({s, s * *q.least, {}});
    }
    if (q.largest) {
      largest.points.push_back({s, s * *q.largest, {}});
    }
    top.points.push_back({s, n.largest(), {}});
    normal.points.push_back({s, n.smallest_normal(), {}});
    bottom.points.push_back({s, n.smallest_subnormal(), {}});
  }
  a.tables.push_back(std::move(table));
  chart.lines = {std::move(least), std::move(largest), std::move(top), std::move(normal), std::move(bottom)};
  if (q.scale) {
    chart.marks = {{*q.scale, "asked"}};
  }
  a.chart = std::move(chart);
  const bool holds = (!q.least || fate_of(n, scale * *q.least) == Fate::normal) &&
                     (!q.largest || fate_of(n, scale * *q.largest) != Fate::overflow);
  if (!holds && w.serves(false)) {
    const bool whole = w.serves(true);
    a.cures.push_back({"a loss scale of " + scale_text(w.largest.value_or(w.from(whole))), 0.0,
                       whole ? "the largest that does not overflow; every bit is kept"
                             : "the largest that does not overflow: the most bits of the least"});
  }
  const NumberFormat& bf16 = *find_stored_format("bf16")->number();
  const bool wide = (!q.least || fate_of(bf16, *q.least) == Fate::normal) &&
                    (!q.largest || fate_of(bf16, *q.largest) == Fate::normal);
  if (!holds && wide && q.format->name != "bf16") {
    a.cures.push_back(
        {"bf16, without a loss scale", 0.0, "both ends are normal numbers there, with 8 bits of mantissa"});
  }
  if (!w.serves(true)) {
    a.cures.push_back({"gradients clipped by their norm before they are scaled", 0.0,
                       "a smaller largest value raises the largest scale"});
  }
  a.notes.emplace_back(
      "Rounding is to nearest, ties to even: half of the smallest subnormal becomes zero, anything above it the "
      "smallest "
      "subnormal. Hardware that flushes subnormals to zero needs the scale that keeps every bit.");
  a.notes.emplace_back(
      "Scales are powers of two, which round nothing. Frameworks find theirs while they train: PyTorch's starts at "
      "2^16, "
      "halves at an overflow, whose step is skipped, and doubles after 2,000 steps without one.");
  a.sources.emplace_back("Micikevicius et al. 2018 (mixed precision training), section 3.2: loss scaling");
  a.verdict = scaled_sentence(q, w) + ".";
  a.verdict.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(a.verdict.front())));
}

struct Order {
  std::string name;
  const NumberFormat* accumulator;
  double roundings;
  bool compensated;
  std::optional<double> of_ones;
  std::string_view same;  ///< whether it is the same every time
};

std::vector<Order> orders_of(const NumberFormat& n, double terms) {
  const NumberFormat& fp32 = *find_stored_format("fp32")->number();
  constexpr double parts = 8.0;
  constexpr std::string_view always = "yes";
  std::vector<Order> orders{
      {"one after another", &n, running_roundings(terms), false, running_sum_of_ones(n, terms), always},
      {"by halves", &n, pairwise_roundings(terms), false, pairwise_sum_of_ones(n, terms), always},
      {"compensated (Kahan)", &n, running_roundings(terms), true, nearest_value(n, terms), always}};
  if (n.name != "fp32") {
    orders.push_back(
        {"one after another", &fp32, running_roundings(terms), false, running_sum_of_ones(fp32, terms), always});
    orders.push_back({"by halves", &fp32, pairwise_roundings(terms), false, pairwise_sum_of_ones(fp32, terms), always});
  }
  if (terms >= 2.0 * parts) {
    orders.push_back(
        {"split K by 8, then in order", &fp32, split_roundings(terms, parts), false, std::nullopt, always});
    orders.push_back(
        {"split K by 8, then by atomics", &fp32, split_roundings(terms, parts), false, std::nullopt, "no"});
  }
  return orders;
}

void add_sum(const NumericsAsked& q, LabAnswer& a) {
  const NumberFormat& n = *q.format->number();
  const double terms = *q.terms;
  const double stall = stalled_sum(n);
  const double u = unit_roundoff(n);
  LabTable table{"orders",
                 {{"<order", "order"},
                  {"<in", "accumulator"},
                  {"roundings", "roundings"},
                  {"error at most", "error_bound"},
                  {"likely", "likely_error"},
                  {"sum of ones", "sum_of_ones"},
                  {"<repeats", "repeats"}},
                 {}};
  for (const Order& order : orders_of(n, terms)) {
    const double unit = unit_roundoff(*order.accumulator);
    const std::optional<double> bound =
        order.compensated ? compensated_bound(terms, unit) : error_bound(order.roundings, unit);
    table.rows.push_back(
        {order.name, order.accumulator->name, order.compensated ? Value{} : Value{order.roundings, Hint::count},
         bound ? magnitude_value(*bound) : Value{},
         order.compensated ? (bound ? magnitude_value(unit) : Value{})
                           : magnitude_value(likely_error(order.roundings, unit)),
         order.of_ones && std::isfinite(*order.of_ones) ? Value{*order.of_ones, Hint::count} : Value{}, order.same});
  }
  a.tables.push_back(std::move(table));
  const double ones = running_sum_of_ones(n, terms);
  a.figures.push_back({"terms", "terms", Value{terms, Hint::count}});
  a.figures.push_back({"unit roundoff u", "unit_roundoff", magnitude_value(u)});
  a.figures.push_back({"a running sum of ones stalls at", "stalls_at", whole_or_not(stall)});
  a.figures.push_back({"sum of so many ones", "sum_of_ones", whole_or_not(ones)});
  a.figures.push_back(
      {"roundings one after another", "running_roundings", Value{running_roundings(terms), Hint::count}});
  a.figures.push_back({"roundings by halves", "pairwise_roundings", Value{pairwise_roundings(terms), Hint::count}});
  const std::string counted_ones = format_count(terms) + (terms == 1.0 ? " one" : " ones");
  const std::string verdict =
      ones < terms ? "A running sum of " + counted_ones + " in " + std::string{q.format->name} + " stalls at " +
                         format_count(stall) + "; by halves " + format_count(pairwise_roundings(terms)) +
                         " roundings reach a term instead of " + format_count(running_roundings(terms))
                   : "A running sum of " + counted_ones + " in " + std::string{q.format->name} +
                         " is exact; of other numbers it is off by at most " + format_count(running_roundings(terms)) +
                         " u, by halves by " + format_count(pairwise_roundings(terms)) + " u";
  a.verdict = a.verdict.empty() ? verdict + "." : a.verdict + " " + verdict + ".";
  if (q.format->name != "fp32") {
    a.cures.push_back({"an fp32 accumulator", 0.0, "u is 2^-24 there, and ones add up to 2^24"});
  }
  a.cures.push_back({"sums by halves, or in blocks", 0.0, "log2 n roundings instead of n - 1 at the same additions"});
  if (compensated_bound(terms, u)) {
    a.cures.push_back({"compensated sums (Kahan)", 0.0, "2 u and n u^2, at four additions a term"});
  }
  a.notes.emplace_back(
      "Errors are relative to the sum of magnitudes. k roundings err by at most k u / (1 - k u), u half of epsilon; no "
      "bound stands where k u reaches 1. A bound told in epsilons in place of u (n eps, log2(n) eps) is twice as "
      "wide.");
  a.notes.emplace_back(
      "Tensor cores add products of 16 and 8 bits in fp32, a tile's depth one after another. Likely is sqrt(k) u, for "
      "roundings that are independent and have mean zero; those of stalled sums are neither. Atomics add "
      "in the order of arrival, so that the last bits differ from run to run; a fixed order of the same blocks does "
      "not.");
  a.sources.emplace_back("Higham 2002 (Accuracy and Stability, second edition), equations 4.4, 4.6 and 4.8, lemma 3.1");
  a.sources.emplace_back("Higham and Mary 2019 (a probabilistic bound)");
  if (q.format->rate == Rate::fp8) {
    a.notes.emplace_back(
        "Hopper's tensor cores keep about 14 bits of a sum of fp8 products; libraries add partial sums to fp32 every "
        "128 "
        "terms (DeepSeek-AI 2024, DeepSeek-V3, section 3.3.2).");
  }
  if (!a.chart) {
    LabChart chart{"Error of a sum by order, in " + std::string{q.format->name},
                   {"terms", Hint::magnitude, true},
                   {"relative error at most", Hint::magnitude, true},
                   {},
                   {}};
    LabLine running{"one after another", LineStyle::solid, {}};
    LabLine halves{"by halves", LineStyle::solid, {}};
    LabLine wide{"one after another into fp32", LineStyle::dashed, {}};
    const auto draw = [](LabLine& line, double count, std::optional<double> bound) {
      if (bound && *bound <= 1.0) {
        line.points.push_back({count, *bound, {}});
      }
    };
    const double wide_unit = unit_roundoff(*find_stored_format("fp32")->number());
    for (double count = 2.0; count <= 4.0 * std::max(terms, 1024.0); count *= 2.0) {
      draw(running, count, error_bound(running_roundings(count), u));
      draw(halves, count, error_bound(pairwise_roundings(count), u));
      draw(wide, count, error_bound(running_roundings(count), wide_unit));
    }
    chart.lines = {std::move(running), std::move(halves), std::move(wide)};
    chart.marks = {{terms, "asked"}, {stall, "ones stall"}};
    a.chart = std::move(chart);
  }
}

LabChart drawing_of_formats() {
  LabChart chart{"Range and spacing of number formats",
                 {"epsilon", Hint::magnitude, true},
                 {"largest", Hint::magnitude, true},
                 {},
                 {}};
  LabLine points{"format", LineStyle::points, {}};
  for (const NumberFormat& format : number_formats) {
    if (format.sign_bits > 0) {
      points.points.push_back({format.epsilon(), format.largest(), std::string{format.name}});
    }
  }
  std::sort(points.points.begin(), points.points.end(), [](const LabPoint& a, const LabPoint& b) { return a.x < b.x; });
  chart.lines = {std::move(points)};
  return chart;
}

LabAnswer answer(const NumericsAsked& q, const LabBench& bench) {
  const StoredFormat& format = *q.format;
  LabAnswer a;
  a.title = std::string{format.name} + (bench.device != nullptr ? ", on " + bench.device->id : "");
  a.question = {{"dtype", format.name}, {"least", q.least}, {"largest_asked", q.largest}, {"loss_scale", q.scale}};
  a.figures = {{"bits", "bits", format.bits()}, {"largest", "largest", magnitude_value(format.largest())}};
  if (const NumberFormat* const n = format.number()) {
    a.figures.push_back({"exponent bits", "exponent_bits", n->exponent_bits});
    a.figures.push_back({"mantissa bits", "mantissa_bits", n->mantissa_bits});
    a.figures.push_back({"smallest normal", "smallest_normal", magnitude_value(n->smallest_normal())});
    a.figures.push_back({"smallest subnormal", "smallest_subnormal", magnitude_value(n->smallest_subnormal())});
    a.figures.push_back({"epsilon", "epsilon", magnitude_value(n->epsilon())});
  }
  if (bench.device != nullptr) {
    a.figures.push_back({"multiplies at", "peak_flop_per_s", rate_of(*bench.device, format)});
  }
  if (q.least || q.largest) {
    add_scaling(q, a);
  }
  if (q.terms) {
    add_sum(q, a);
  }
  if (a.verdict.empty()) {
    const NumberFormat* const n = format.number();
    a.verdict = std::string{format.name} +
                (n != nullptr ? " holds magnitudes from " + general_text(n->smallest_subnormal(), 3) + " to " +
                                    general_text(n->largest(), 5) + " with a spacing of " +
                                    general_text(n->epsilon(), 3) + " at 1"
                              : " holds whole numbers to " + format_count(format.largest()) + ", times a scale") +
                (format.block > 0 ? ", times a scale for every " + std::to_string(format.block) : "") + ".";
  }
  a.tables.push_back(formats_table());
  if (bench.device != nullptr) {
    a.sources.emplace_back("peaks of the catalog, 'headroom catalog show " + bench.device->id + "'");
  }
  a.sources.emplace_back(
      "IEEE 754-2019 (fp32, fp16); NVIDIA A100 whitepaper (tf32); Kalamkar et al. 2019 (bf16); Micikevicius et al. "
      "2022, "
      "table 1 (e5m2, e4m3); Rouhani et al. 2023, table 1 (e3m2, e2m3, e2m1, mx: an e8m0 scale for 32); NVIDIA "
      "Blackwell "
      "(nvfp4: an e4m3 scale for 16)");
  if (!a.chart) {
    a.chart = drawing_of_formats();
  }
  return a;
}

LabQuestion read_numerics(FormReader& in) {
  return [q = read_numerics_asked(in)](const LabBench& bench) { return answer(q, bench); };
}

}  // namespace

const KernelForm numerics_form{"numerics", "a number format", GpuUse::optional, read_numerics};

}  // namespace headroom::cli
