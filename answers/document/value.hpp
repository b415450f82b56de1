// SPDX-License-Identifier: Apache-2.0
// An answer as a tree of values that every format is printed from: ordered members, lists, texts, and numbers that know
// how people read them.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/estimate.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace headroom {

/// How people read a number; a tree holds raw SI.
enum class Hint : std::uint8_t {
  number,     ///< three digits
  magnitude,  ///< four digits, with a power of ten where it is far from one; whole ones below a million in full
  count,      ///< in full
  percent,    ///< of a fraction
  change,     ///< the same with its sign
  seconds,
  bytes,
  bytes_per_second,
  flop,
  flop_per_second,
  flop_per_byte,
  usd,
  usd_per_hour,  ///< of dollars a second
  joules,
  watts,
  per_second,  ///< three digits: tokens, requests or samples a second
  per_usd      ///< three digits: what a dollar buys
};

template <class Q>
inline constexpr Hint hint_of = Hint::number;
template <>
inline constexpr Hint hint_of<Seconds> = Hint::seconds;
template <>
inline constexpr Hint hint_of<Bytes> = Hint::bytes;
template <>
inline constexpr Hint hint_of<BytesPerSecond> = Hint::bytes_per_second;
template <>
inline constexpr Hint hint_of<Flops> = Hint::flop;
template <>
inline constexpr Hint hint_of<FlopsPerSecond> = Hint::flop_per_second;
template <>
inline constexpr Hint hint_of<FlopsPerByte> = Hint::flop_per_byte;
template <>
inline constexpr Hint hint_of<Dollars> = Hint::usd;
template <>
inline constexpr Hint hint_of<DollarsPerSecond> = Hint::usd_per_hour;
template <>
inline constexpr Hint hint_of<Joules> = Hint::joules;
template <>
inline constexpr Hint hint_of<Watts> = Hint::watts;
template <>
inline constexpr Hint hint_of<Hertz> = Hint::per_second;

struct Member;

/// An absent value is left out of objects and lists; a null stands there and says that there is none.
class Value {
 public:
  enum class Kind : std::uint8_t { absent, null, boolean, integer, number, text, list, object };

  Value() = default;
  Value(std::nullptr_t) : kind_{Kind::null} {}                                             // NOLINT(*-explicit-*)
  Value(std::same_as<bool> auto value) : kind_{Kind::boolean}, integer_{value ? 1 : 0} {}  // NOLINT(*-explicit-*)
  template <std::integral I>
  requires(!std::same_as<I, bool>) Value(I value)  // NOLINT(*-explicit-*)
      : kind_{Kind::integer}, hint_{Hint::count}, integer_{static_cast<std::int64_t>(value)} {}
  Value(double value, Hint hint = Hint::number) : kind_{Kind::number}, hint_{hint}, number_{value} {}  // NOLINT
  Value(std::string text) : kind_{Kind::text}, text_{std::move(text)} {}                               // NOLINT
  Value(std::string_view text) : Value{std::string{text}} {}                                           // NOLINT
  Value(const char* text) : Value{std::string{text}} {}                                                // NOLINT
  template <int S, int B, int F, int D, int J>
  Value(Quantity<S, B, F, D, J> value) : Value{value.raw(), hint_of<Quantity<S, B, F, D, J>>} {}  // NOLINT
  /// On one line: {"low": ..., "mid": ..., "high": ...}.
  template <class Q>
  Value(const Interval<Q>& value) : Value{interval(value.low, value.mid, value.high)} {}  // NOLINT
  /// Absent where it holds nothing.
  template <class T>
  Value(const std::optional<T>& value) : Value{value ? Value{*value} : Value{}} {}  // NOLINT
  template <class T>
  Value(const std::vector<T>& values) : kind_{Kind::list} {  // NOLINT
    for (const T& value : values) {
      push(value);
    }
  }

  /// An object of members in their order; a member without a key is an object whose members stand in its place.
  [[nodiscard]] static Value object_of(Member* first, std::size_t count);
  [[nodiscard]] static Value empty_list();
  void push(Value item);
  void add(Member member);
  /// A container on one line, and all within it.
  [[nodiscard]] Value on_one_line() &&;
  [[nodiscard]] Value as(Hint hint) &&;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] Hint hint() const noexcept { return hint_; }
  [[nodiscard]] bool one_line() const noexcept { return one_line_; }
  [[nodiscard]] bool is_true() const noexcept { return kind_ == Kind::boolean && integer_ != 0; }
  /// Neither absent nor null, nor a number that is none.
  [[nodiscard]] bool there() const noexcept;
  /// A finite one.
  [[nodiscard]] bool is_number() const noexcept;
  /// Of numbers and integers; else 0.
  [[nodiscard]] double number() const noexcept {
    return kind_ == Kind::integer ? static_cast<double>(integer_) : number_;
  }
  [[nodiscard]] std::int64_t integer() const noexcept { return integer_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Of lists and objects; items have no keys.
  [[nodiscard]] const std::vector<Member>& members() const noexcept { return members_; }
  /// The member of an object; nullptr where there is none.
  [[nodiscard]] const Value* find(std::string_view key) const noexcept;

 private:
  template <class Q>
  static Value interval(const Q& low, const Q& mid, const Q& high);

  Kind kind_ = Kind::absent;
  Hint hint_ = Hint::number;
  bool one_line_ = false;
  std::int64_t integer_ = 0;
  double number_ = 0.0;
  std::string text_;
  std::vector<Member> members_;
};

struct Member {
  Member() = default;
  Member(std::string name, Value held) : key{std::move(name)}, value{std::move(held)} {}
  /// Members of an object, to stand among others.
  Member(Value members) : value{std::move(members)} {}  // NOLINT(*-explicit-*)

  std::string key;
  Value value;
};

/// "tokens"_m = 1e12: a member.
struct MemberName {
  std::string_view name;
  Member operator=(Value value) const { return {std::string{name}, std::move(value)}; }  // NOLINT(misc-*)
};
inline namespace member_names {
constexpr MemberName operator""_m(const char* name, std::size_t size) noexcept {
  return {{name, size}};
}
}  // namespace member_names

template <std::convertible_to<Member>... Members>
[[nodiscard]] Value object(Members&&... members) {
  std::array<Member, sizeof...(Members)> all{Member{std::forward<Members>(members)}...};
  return Value::object_of(all.data(), all.size());
}

/// An object on one line: of a table, a row.
template <std::convertible_to<Member>... Members>
[[nodiscard]] Value row(Members&&... members) {
  return object(std::forward<Members>(members)...).on_one_line();
}

/// What `item` makes of each.
template <class Range, class Item>
[[nodiscard]] Value list(const Range& range, Item item) {
  Value values = Value::empty_list();
  for (const auto& one : range) {
    values.push(item(one));
  }
  return values;
}

/// The values under their names, those that are `shown`.
template <class Names, class Values, class Shown>
[[nodiscard]] Value named(const Names& names, const Values& values, Shown shown) {
  Value terms = object();
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (shown(values[i])) {
      terms.add({std::string{names[i]}, values[i]});
    }
  }
  return terms;
}

/// Absent unless `there`.
[[nodiscard]] inline Value when(bool there, Value value) {
  return there ? std::move(value) : Value{};
}

/// Null instead of an absent value, and of an empty text.
[[nodiscard]] Value or_null(Value value);

/// A fraction that people read in percent, one that they read with its sign, one with its interval.
[[nodiscard]] inline Value share(double fraction) {
  return {fraction, Hint::percent};
}
[[nodiscard]] inline Value change(double fraction) {
  return {fraction, Hint::change};
}
[[nodiscard]] inline Value share(const Interval<double>& fraction) {
  return Value{fraction}.as(Hint::percent);
}

/// A rate in whatever is counted, a number or an interval of them.
[[nodiscard]] inline Value per_second(Value value) {
  return std::move(value).as(Hint::per_second);
}
[[nodiscard]] inline Value per_usd(Value value) {
  return std::move(value).as(Hint::per_usd);
}

template <class Q>
Value Value::interval(const Q& low, const Q& mid, const Q& high) {
  return row(Member{"low", low}, Member{"mid", mid}, Member{"high", high});
}

}  // namespace headroom
