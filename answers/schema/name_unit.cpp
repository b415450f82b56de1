// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/schema/name_unit.hpp>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

/// A word for a unit, and the hints of numbers in it and in it a second.
struct UnitWord {
  std::string_view word;
  Hint plain, per_second;
};
constexpr std::array unit_words{
    UnitWord{"s", Hint::seconds, Hint::seconds},
    UnitWord{"bytes", Hint::bytes, Hint::bytes_per_second},
    UnitWord{"flop", Hint::flop, Hint::flop_per_second},
    UnitWord{"usd", Hint::usd, Hint::usd_per_hour},
    UnitWord{"j", Hint::joules, Hint::watts},
    UnitWord{"w", Hint::watts, Hint::watts},
};

const UnitWord* find_unit(std::string_view word) noexcept {
  const auto* const found =
      std::find_if(unit_words.begin(), unit_words.end(), [&](const UnitWord& unit) { return unit.word == word; });
  return found == unit_words.end() ? nullptr : found;
}

/// Whether the rest of a name behind a word is a denominator that begins with this one: "_per_s", "_per_s_per_gpu".
bool is_per(std::string_view rest, std::string_view denominator) noexcept {
  constexpr std::string_view per = "_per_";
  if (!rest.starts_with(per) || !rest.substr(per.size()).starts_with(denominator)) {
    return false;
  }
  const std::string_view after = rest.substr(per.size() + denominator.size());
  return after.empty() || after.starts_with("_");
}

}  // namespace

std::optional<NameUnit> name_unit(std::string_view name) noexcept {
  // From the last word to the first: the unit is the last that is one, and is no denominator.
  for (std::size_t end = name.size(); end > 0;) {
    const std::size_t before = name.rfind('_', end - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view rest = name.substr(end);
    const bool divides = name.substr(0, begin).ends_with("per_");
    if (!divides && (rest.empty() || rest.starts_with("_per_"))) {
      if (const UnitWord* const unit = find_unit(name.substr(begin, end - begin))) {
        const Hint hint = is_per(rest, "s")                                   ? unit->per_second
                          : unit->plain == Hint::flop && is_per(rest, "byte") ? Hint::flop_per_byte
                                                                              : unit->plain;
        return NameUnit{hint, name.substr(begin)};
      }
      if (is_per(rest, "s")) {
        return NameUnit{Hint::per_second, name.substr(begin)};
      }
      if (is_per(rest, "usd")) {
        return NameUnit{Hint::per_usd, name.substr(begin)};
      }
    }
    end = before == std::string_view::npos ? 0 : before;
  }
  return std::nullopt;
}

bool has_unit(Hint hint) noexcept {
  return hint != Hint::number && hint != Hint::magnitude && hint != Hint::count && hint != Hint::percent &&
         hint != Hint::change;
}

}  // namespace headroom
