// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>
#include <vector>

namespace headroom {
namespace {

// clang-format off
constexpr std::array prefix_table{
    Prefix{"k", 1e3},  Prefix{"M", 1e6},  Prefix{"G", 1e9},  Prefix{"T", 1e12}, Prefix{"P", 1e15}, Prefix{"E", 1e18},
    Prefix{"Ki", 0x1p10}, Prefix{"Mi", 0x1p20}, Prefix{"Gi", 0x1p30}, Prefix{"Ti", 0x1p40}, Prefix{"Pi", 0x1p50}, Prefix{"Ei", 0x1p60},
    Prefix{"m", 1e-3}, Prefix{"u", 1e-6}, Prefix{"n", 1e-9},
};

constexpr std::array unit_table{
    //   symbol  dimension           factor    large  binary small
    Unit{"B",    {0, 1, 0, 0, 0},    1.0,      true,  true,  false},
    Unit{"b",    {0, 1, 0, 0, 0},    0.125,    true,  true,  false},
    Unit{"FLOP", {0, 0, 1, 0, 0},    1.0,      true,  false, false},
    Unit{"OP",   {0, 0, 1, 0, 0},    1.0,      true,  false, false},
    Unit{"s",    {1, 0, 0, 0, 0},    1.0,      false, false, true},
    Unit{"min",  {1, 0, 0, 0, 0},    60.0,     false, false, false},
    Unit{"h",    {1, 0, 0, 0, 0},    3600.0,   false, false, false},
    Unit{"d",    {1, 0, 0, 0, 0},    86400.0,  false, false, false},
    Unit{"month", {1, 0, 0, 0, 0},   730.0 * 3600.0,   false, false, false},  // a twelfth of a year, as clouds bill
    Unit{"y",    {1, 0, 0, 0, 0},    8760.0 * 3600.0,  false, false, false},
    Unit{"$",    {0, 0, 0, 1, 0},    1.0,      true,  false, false},
    Unit{"J",    {0, 0, 0, 0, 1},    1.0,      true,  false, true},
    Unit{"Wh",   {0, 0, 0, 0, 1},    3600.0,   true,  false, false},
    Unit{"W",    {-1, 0, 0, 0, 1},   1.0,      true,  false, true},
    Unit{"Hz",   {-1, 0, 0, 0, 0},   1.0,      true,  false, false},
    Unit{"req",  {0, 0, 0, 0, 0},    1.0,      true,  false, false},
};
// clang-format on

struct Example {
  Dimension dimension;
  std::string_view text;
};

constexpr std::array examples{
    Example{{0, 1, 0, 0, 0}, "80 GiB"},
    Example{{-1, 1, 0, 0, 0}, "400 Gb/s"},
    Example{{0, 0, 1, 0, 0}, "2 TFLOP"},
    Example{{-1, 0, 1, 0, 0}, "989 TFLOP/s"},
    Example{{1, 0, 0, 0, 0}, "1.5 ms"},
    Example{{0, 0, 0, 1, 0}, "1000 $"},
    Example{{-1, 0, 0, 1, 0}, "2.99 $/h"},
    Example{{0, 0, 0, 0, 1}, "3 kWh"},
    Example{{-1, 0, 0, 0, 1}, "700 W"},
    Example{{-1, 0, 0, 0, 0}, "1830 MHz"},
    Example{{0, 0, 0, 1, -1}, "0.12 $/kWh"},
    Example{{0, -1, 0, 1, 0}, "0.09 $/GB"},
    Example{{-1, -1, 0, 1, 0}, "0.023 $/GB/month"},
};

constexpr Dimension over(Dimension a, Dimension b) {
  return {a.second - b.second, a.byte - b.byte, a.flop - b.flop, a.dollar - b.dollar, a.joule - b.joule};
}

struct Scale {
  Dimension dimension;
  double factor = 1.0;
};

bool takes(const Unit& unit, const Prefix& prefix) {
  if (prefix.symbol.size() == 2) {
    return unit.binary;
  }
  return prefix.factor > 1.0 ? unit.large : unit.small;
}

/// Splits a prefixed unit: "GiB" is a byte times 2^30. Bare units come first: the "m" of "min" is no prefix.
std::optional<Scale> parse_symbol(std::string_view symbol) {
  for (const Unit& unit : unit_table) {
    if (symbol == unit.symbol) {
      return Scale{unit.dimension, unit.factor};
    }
  }
  for (const Unit& unit : unit_table) {
    if (!symbol.ends_with(unit.symbol)) {
      continue;
    }
    const std::string_view front = symbol.substr(0, symbol.size() - unit.symbol.size());
    for (const Prefix& prefix : prefix_table) {
      if (front == prefix.symbol && takes(unit, prefix)) {
        return Scale{unit.dimension, prefix.factor * unit.factor};
      }
    }
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

/// Reads a denominator: a unit, or a window of time such as "8h".
std::optional<Scale> parse_denominator(std::string_view text) {
  const auto [number, length, status] = read_real(text);
  if (status == std::errc::invalid_argument) {
    return parse_symbol(text);
  }
  std::optional<Scale> window = parse_symbol(trimmed(text.substr(length)));
  if (status != std::errc{} || !std::isfinite(number) || number <= 0.0 || !window ||
      window->dimension != dimension_of<Seconds>) {
    return std::nullopt;
  }
  window->factor *= number;
  return window;
}

/// Reads a quotient of units: "TFLOP/s" has one numerator; every further part is a denominator.
std::optional<Scale> parse_unit(std::string_view text) {
  Scale result;
  bool first = true;
  while (true) {
    const std::size_t slash = text.find('/');
    const std::string_view word = trimmed(text.substr(0, slash));
    const std::optional<Scale> part = first ? parse_symbol(word) : parse_denominator(word);
    if (!part) {
      return std::nullopt;
    }
    result.dimension = first ? part->dimension : over(result.dimension, part->dimension);
    result.factor = first ? part->factor : result.factor / part->factor;
    first = false;
    if (slash == std::string_view::npos) {
      return result;
    }
    text.remove_prefix(slash + 1);
  }
}

/// A message for prices in another currency: it is no spelling error, and no exchange rate is invented.
std::string other_currency(std::string_view unit) {
  constexpr std::array<std::string_view, 16> currencies{"EUR",    "GBP",    "JPY",    "CNY",   "RMB", "CHF",
                                                        "INR",    "KRW",    "CAD",    "AUD",   "SEK", "NOK",
                                                        "\u20ac", "\u00a3", "\u00a5", "\u20b9"};
  for (const std::string_view currency : currencies) {
    if (unit.starts_with(currency)) {
      return "; prices are in dollars: convert from " + std::string{currency} +
             " at the rate of the price's date and write \"$\"";
    }
  }
  return {};
}

/// Of the units of that dimension.
std::string unit_suggestion(std::string_view unit, Dimension dimension) {
  if (const std::string currency = other_currency(unit); !currency.empty()) {
    return currency;
  }
  // Common slips come first: the wrong case, or marketing spellings of rates.
  struct Slip {
    std::string_view wrong, right;
  };
  constexpr std::array slips{
      Slip{"GBps", "GB/s"},      Slip{"Gbps", "Gb/s"},       Slip{"TBps", "TB/s"},      Slip{"TFLOPS", "TFLOP/s"},
      Slip{"TFLOPs", "TFLOP/s"}, Slip{"PFLOPS", "PFLOP/s"},  Slip{"GFLOPS", "GFLOP/s"}, Slip{"TOPS", "TOP/s"},
      Slip{"Tflops", "TFLOP/s"}, Slip{"TFLOP/S", "TFLOP/s"}, Slip{"gb", "GB"},          Slip{"gib", "GiB"},
      Slip{"GIB", "GiB"},        Slip{"Gb/S", "Gb/s"},       Slip{"KB", "kB"},          Slip{"KiB/S", "KiB/s"},
      Slip{"USD/h", "$/h"},      Slip{"$/hr", "$/h"},        Slip{"USD", "$"},          Slip{"mhz", "MHz"},
      Slip{"ghz", "GHz"},        Slip{"GHZ", "GHz"},         Slip{"sec", "s"},          Slip{"hours", "h"},
      Slip{"days", "d"},         Slip{"us/s", "us"},         Slip{"Gbit/s", "Gb/s"},    Slip{"G", "GB"},
      Slip{"/s", "req/s"},       Slip{"qps", "req/s"},       Slip{"QPS", "req/s"},      Slip{"queries/s", "req/s"},
      Slip{"steps/s", "req/s"},
  };
  for (const Slip& slip : slips) {
    if (unit == slip.wrong) {
      return "; did you mean '" + std::string{slip.right} + "'?";
    }
  }
  constexpr std::array<std::string_view, 34> known{
      "B",     "kB", "MB", "GB",  "TB",  "KiB", "MiB",     "GiB",     "TiB",   "GB/s", "TB/s", "Gb/s",
      "s",     "ms", "us", "min", "h",   "d",   "TFLOP/s", "PFLOP/s", "$",     "k$",   "M$",   "$/h",
      "$/kWh", "W",  "kW", "kWh", "MHz", "Hz",  "req/s",   "req/min", "req/h", "req/d"};
  std::vector<std::string_view> fitting;
  std::copy_if(known.begin(), known.end(), std::back_inserter(fitting),
               [&](std::string_view k) { return parse_unit(k)->dimension == dimension; });
  return suggestion(unit, fitting);
}

struct Scaled {
  double value;
  std::string_view unit;
};

/// The value in the largest unit of an ascending ladder in which it is at least 1.
Scaled choose(double value, std::span<const Scaled> ladder) {
  Scaled best{value / ladder.front().value, ladder.front().unit};
  for (const Scaled& rung : ladder) {
    // 0.9995 is printed with three digits as 1.00 of the next unit.
    if (std::abs(value) >= 0.9995 * rung.value) {
      best = {value / rung.value, rung.unit};
    }
  }
  return best;
}

std::string scaled_text(double value, std::span<const Scaled> ladder) {
  if (!std::isfinite(value)) {
    return "-";
  }
  const Scaled chosen = value == 0.0 ? Scaled{0.0, ladder.front().unit} : choose(value, ladder);
  return format_number(chosen.value) + " " + std::string{chosen.unit};
}

}  // namespace

std::span<const Prefix> prefixes() noexcept {
  return prefix_table;
}
std::span<const Unit> units() noexcept {
  return unit_table;
}

std::string_view example_of(Dimension dimension) noexcept {
  for (const Example& example : examples) {
    if (example.dimension == dimension) {
      return example.text;
    }
  }
  return "1 s";
}

std::variant<double, TextError> parse_quantity(std::string_view text, Dimension dimension, std::string_view such_as) {
  const std::string example = "e.g. \"" + std::string{such_as.empty() ? example_of(dimension) : such_as} + "\"";
  const std::string_view whole = trimmed(text);
  const auto [number, length, status] = read_real(whole);
  if (status == std::errc::result_out_of_range) {
    return TextError{quoted(text) + " is outside the range of numbers"};
  }
  if (status != std::errc{}) {
    return TextError{quoted(text) + " is not a number with a unit, " + example};
  }
  if (!std::isfinite(number)) {
    return TextError{quoted(text) + " is not a finite number"};
  }
  const std::string_view unit = trimmed(whole.substr(length));
  if (unit.empty()) {
    return TextError{quoted(text) + " needs a unit, " + example};
  }
  const std::optional<Scale> scale = parse_unit(unit);
  if (!scale) {
    return TextError{"unknown unit " + quoted(unit) + " in " + quoted(text) + unit_suggestion(unit, dimension)};
  }
  if (scale->dimension != dimension) {
    return TextError{quoted(text) + " is of another kind; expected " + example};
  }
  const double value = number * scale->factor;
  if (!std::isfinite(value)) {
    return TextError{quoted(text) + " is outside the range of numbers"};
  }
  return value;
}

std::optional<double> parse_short_number(std::string_view text, double thousand) {
  struct Step {
    std::string_view letters;
    int power;
  };
  constexpr std::array steps{Step{"kK", 1}, Step{"M", 2}, Step{"BG", 3}, Step{"T", 4}};
  const std::string_view whole = trimmed(text);
  const auto [number, length, status] = read_real(whole);
  if (status != std::errc{} || !std::isfinite(number)) {
    return std::nullopt;
  }
  std::string_view suffix = trimmed(whole.substr(length));
  if (suffix.size() == 2 && suffix.back() == 'i' && suffix.front() != 'B') {
    thousand = 1024.0;
    suffix.remove_suffix(1);
  }
  for (const Step& step : steps) {
    if (suffix.size() == 1 && step.letters.find(suffix.front()) != std::string_view::npos) {
      const double value = number * std::pow(thousand, step.power);
      return std::isfinite(value) ? std::optional{value} : std::nullopt;
    }
  }
  return std::nullopt;
}

std::string format_number(double value, int digits) {
  if (!std::isfinite(value)) {
    return "-";
  }
  if (value == 0.0) {
    return "0";
  }
  auto exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (exponent >= digits) {
    const double unit = std::pow(10.0, exponent - digits + 1);
    value = std::round(value / unit) * unit;
    exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  }
  const int decimals = std::max(0, digits - 1 - exponent);
  constexpr int most_decimals = 14;  // 1e-12 in three digits; what is smaller has no unit of its own here
  std::array<char, 400> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", std::min(decimals, most_decimals), value);
  std::string text{buffer.data()};
  // Rounding up to the next power of ten leaves one digit too many: 9.996 becomes "10.00".
  if (decimals > 0 && std::abs(std::strtod(buffer.data(), nullptr)) >= std::pow(10.0, exponent + 1)) {
    std::snprintf(buffer.data(), buffer.size(), "%.*f", std::min(decimals - 1, most_decimals), value);
    text = buffer.data();
  }
  const std::size_t point = text.find('.');
  auto at = static_cast<std::ptrdiff_t>(point == std::string::npos ? text.size() : point);
  const std::ptrdiff_t first = text.front() == '-' ? 1 : 0;
  if (at - first > 4) {
    for (at -= 3; at > first; at -= 3) {
      text.insert(static_cast<std::size_t>(at), 1, ' ');
    }
  }
  return text;
}

std::string format_count(double value) {
  if (!std::isfinite(value)) {
    return "-";
  }
  const double rounded = std::round(value);
  const int digits = rounded == 0.0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(rounded)))) + 1;
  return format_number(rounded, digits);
}

std::string format(Seconds value) {
  constexpr std::array ladder{Scaled{1e-9, "ns"}, Scaled{1e-6, "us"}, Scaled{1e-3, "ms"},
                              Scaled{1.0, "s"},   Scaled{3600, "h"},  Scaled{2.0 * 86400, "days"}};
  if (std::abs(value.raw()) >= 2.0 * 86400) {
    return format_number(value / day) + " days";
  }
  return scaled_text(value.raw(), std::span{ladder}.first(5));
}

std::string format(Bytes value) {
  constexpr std::array ladder{Scaled{1.0, "B"},      Scaled{0x1p10, "KiB"}, Scaled{0x1p20, "MiB"},
                              Scaled{0x1p30, "GiB"}, Scaled{0x1p40, "TiB"}, Scaled{0x1p50, "PiB"}};
  return scaled_text(value.raw(), ladder);
}

std::string format(BytesPerSecond value) {
  constexpr std::array ladder{Scaled{1.0, "B/s"},  Scaled{1e3, "kB/s"},  Scaled{1e6, "MB/s"},
                              Scaled{1e9, "GB/s"}, Scaled{1e12, "TB/s"}, Scaled{1e15, "PB/s"}};
  return scaled_text(value.raw(), ladder);
}

std::string format(Flops value) {
  constexpr std::array ladder{Scaled{1.0, "FLOP"},   Scaled{1e6, "MFLOP"},  Scaled{1e9, "GFLOP"},
                              Scaled{1e12, "TFLOP"}, Scaled{1e15, "PFLOP"}, Scaled{1e18, "EFLOP"}};
  return scaled_text(value.raw(), ladder);
}

std::string format(FlopsPerSecond value) {
  constexpr std::array ladder{Scaled{1.0, "FLOP/s"},   Scaled{1e6, "MFLOP/s"},  Scaled{1e9, "GFLOP/s"},
                              Scaled{1e12, "TFLOP/s"}, Scaled{1e15, "PFLOP/s"}, Scaled{1e18, "EFLOP/s"}};
  return scaled_text(value.raw(), ladder);
}

std::string format(Dollars value) {
  constexpr std::array ladder{Scaled{1.0, "$"}, Scaled{1e6, "M$"}, Scaled{1e9, "G$"}};
  return scaled_text(value.raw(), ladder);
}

std::string format(DollarsPerSecond value) {
  return format_number(value.raw() * 3600.0) + " $/h";
}

std::string format(DollarsPerJoule value) {
  return format_number(value.raw() * 3.6e6) + " $/kWh";
}

std::string format(DollarsPerByte value) {
  return format_number(value.raw() * 1e9) + " $/GB";
}

std::string format(DollarsPerByteSecond value) {
  return format_number(value.raw() * 1e9 * common_year.raw() / 12.0) + " $/GB/month";
}

std::string format(Joules value) {
  constexpr std::array ladder{Scaled{1.0, "J"}, Scaled{3600.0, "Wh"}, Scaled{3.6e6, "kWh"}, Scaled{3.6e9, "MWh"},
                              Scaled{3.6e12, "GWh"}};
  return scaled_text(value.raw(), ladder);
}

std::string format(Watts value) {
  constexpr std::array ladder{Scaled{1.0, "W"}, Scaled{1e3, "kW"}, Scaled{1e6, "MW"}};
  return scaled_text(value.raw(), ladder);
}

std::string format(Hertz value) {
  constexpr std::array ladder{Scaled{1.0, "Hz"}, Scaled{1e3, "kHz"}, Scaled{1e6, "MHz"}, Scaled{1e9, "GHz"}};
  return scaled_text(value.raw(), ladder);
}

}  // namespace headroom
