// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/keys/schema.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

constexpr std::string_view blank = "[ \\t]*";
constexpr std::size_t most_units = 3;

/// Units of one dimension, each with the prefixes that it takes.
struct Family {
  Dimension dimension;
  std::string pattern;
};

void add_alternative(std::string& pattern, const std::string& text) {
  pattern += (pattern.empty() ? "" : "|") + text;
}

std::string pattern_of(const Unit& unit) {
  std::string fronts;
  for (const Prefix& prefix : prefixes()) {
    const bool binary = prefix.symbol.size() == 2;
    if (binary ? unit.binary : prefix.factor > 1.0 ? unit.large : unit.small) {
      add_alternative(fronts, std::string{prefix.symbol});
    }
  }
  const std::string symbol = (unit.symbol == "$" ? "\\" : "") + std::string{unit.symbol};
  return (fronts.empty() ? "" : "(?:" + fronts + ")?") + symbol;
}

std::vector<Family> families() {
  std::vector<Family> found;
  for (const Unit& unit : units()) {
    auto at = std::find_if(found.begin(), found.end(), [&](const Family& f) { return f.dimension == unit.dimension; });
    if (at == found.end()) {
      at = found.insert(found.end(), Family{unit.dimension, ""});
    }
    add_alternative(at->pattern, pattern_of(unit));
  }
  return found;
}

Dimension over(Dimension a, Dimension b) {
  return {a.second - b.second, a.byte - b.byte, a.flop - b.flop, a.dollar - b.dollar, a.joule - b.joule};
}

/// What may stand before a denominator: of a time how many units its window has.
std::string window_of(const Family& family) {
  return family.dimension == dimension_of<Seconds> ? "(?:" + std::string{number_pattern} + std::string{blank} + ")?"
                                                   : std::string{};
}

class UnitPatterns {
 public:
  explicit UnitPatterns(Dimension wanted) : wanted_{wanted} {}

  std::string run() {
    for (const Family& family : families_) {
      extend(family.dimension, {&family}, "(?:" + family.pattern + ")");
    }
    return found_;
  }

 private:
  /// Families once each; requests and frequencies are counted, never divided by.
  void extend(Dimension dimension, const std::vector<const Family*>& taken, const std::string& pattern) {
    if (dimension == wanted_) {
      add_alternative(found_, pattern);
      return;
    }
    if (taken.size() == most_units) {
      return;
    }
    for (const Family& family : families_) {
      const bool counted = family.dimension == Dimension{} || family.dimension == dimension_of<Hertz>;
      if (!counted && std::find(taken.begin(), taken.end(), &family) == taken.end()) {
        std::vector<const Family*> more = taken;
        more.push_back(&family);
        extend(
            over(dimension, family.dimension), more,
            pattern + std::string{blank} + "/" + std::string{blank} + window_of(family) + "(?:" + family.pattern + ")");
      }
    }
  }

  Dimension wanted_;
  std::vector<Family> families_ = families();
  std::string found_;
};

}  // namespace

std::string quantity_pattern(Dimension dimension) {
  return "^" + std::string{blank} + std::string{number_pattern} + std::string{blank} +
         "(?:" + UnitPatterns{dimension}.run() + ")" + std::string{blank} + "$";
}

}  // namespace headroom
