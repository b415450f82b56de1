// SPDX-License-Identifier: Apache-2.0
// Table of a launch form: each row binds a flag to a scenario key, and one engine reads and writes all rows.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/launch/launch_plan.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::launch {

enum class RowKind : std::uint8_t {
  count,    ///< an integer, equal on both sides
  word,     ///< one of `words`
  yes,      ///< true when the flag is present or true
  no,       ///< false when the flag is present or true
  special,  ///< read and written by a function of the form; the row only declares the name
};

struct LaunchWord {
  std::string_view theirs, ours;
};

struct LaunchRow {
  std::string_view name;  ///< flag or dotted key of the form
  std::string_view key;   ///< scenario key; empty for a special row
  RowKind kind = RowKind::count;
  /// Behaviour of the software without the flag, as TOML text of the key; empty: not known.
  std::string_view absent = {};
  std::span<const LaunchWord> words = {};
};

/// Bounds of counts in a launch file. The scenario reader checks values of scenario keys; these bound the rest.
inline constexpr Range<std::int64_t> any_count{};
inline constexpr Range<std::int64_t> machine_count{1, 10'000'000};  ///< nodes, ranks or copies
inline constexpr Range<std::int64_t> layer_count{1, 65'535};
/// A share of a whole.
inline constexpr Range<double> share{0.0, 1.0};

/// A flag with its value in a file. A bare flag is true; several words of one flag form an array.
struct LaunchItem {
  std::string name;
  ConfigValue value;
};

/// Items of one file. When a name repeats, the last one counts.
class LaunchItems {
 public:
  explicit LaunchItems(std::vector<LaunchItem> items = {}) : items_{std::move(items)} {}
  [[nodiscard]] const ConfigValue* find(std::string_view name) const noexcept;
  [[nodiscard]] bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  /// Appends an item without looking for an earlier one of that name.
  void put(std::string_view name, ConfigValue value) { items_.push_back({std::string{name}, std::move(value)}); }
  [[nodiscard]] const std::vector<LaunchItem>& all() const& noexcept { return items_; }
  const std::vector<LaunchItem>& all() && = delete;  // a loop over a temporary would outlive it

 private:
  std::vector<LaunchItem> items_;
};

/// Leaves of a document, named by their dotted paths.
[[nodiscard]] LaunchItems items_of_document(const ConfigValue& document);

/// The document of items with dotted names.
[[nodiscard]] ConfigValue nested(const LaunchItems& items);

/// What reading one file has brought so far.
struct LaunchReading {
  LaunchPlan plan;
  Diagnostics diagnostics;
  std::vector<std::string> remarks;  ///< lines such as "FILE:LINE: ignored: --lr 3e-4"
  std::string file;
  bool ignore_unknown = false;
  std::map<std::string, std::string, std::less<>> spelled;  ///< the file's spelling of a flag, if not its name
  std::set<std::string, std::less<>> failed;                ///< keys with a wrong flag, not reported again

  void problem(const ConfigValue& at, std::string message);
  void problem(Position at, std::string message) { diagnostics.add(file, at, std::move(message)); }
  void remark(const ConfigValue& at, const std::string& text);
  /// Sets a key stated at `at`. A second, different value is a contradiction and reported with both values.
  void state(std::string_view key, ConfigValue value, const ConfigValue& at);
  /// Sets a key to what the software does when nothing states it.
  void assume(std::string_view key, ConfigValue value);
  [[nodiscard]] bool stated(std::string_view key) const noexcept;
  /// The flag as the file spells it, quoted.
  [[nodiscard]] std::string called(std::string_view name) const;

  /// Integer value of an item within `range`; otherwise reports a problem and returns nullopt.
  std::optional<std::int64_t> count_of(std::string_view name, const ConfigValue& value, Range<std::int64_t> range);
  /// Finite number of an item within `range`; otherwise reports a problem and returns nullopt.
  std::optional<double> number_of(std::string_view name, const ConfigValue& value, Range<double> range = {});
  std::optional<bool> flag_of(std::string_view name, const ConfigValue& value);
  /// One word; an array of equal words counts as one word.
  std::optional<std::string> word_of(std::string_view name, const ConfigValue& value);
  /// An item, where it is there, as the key's integer or switch.
  void take_count(const LaunchItems& items, std::string_view name, std::string_view key, Range<std::int64_t> range);
  void take_flag(const LaunchItems& items, std::string_view name, std::string_view key);
  /// A word of a closed list; a problem that lists it for anything else.
  std::optional<std::string> choice_of(std::string_view name,
                                       const ConfigValue& value,
                                       std::span<const std::string_view> choices);
};

/// Reads every item: rows set their keys, special rows are left to the form, names in `passed` (also below an entry
/// that ends in ".*") do not matter to a scenario and become remarks, all others are errors that suggest the nearest
/// name.
void read_rows(std::span<const LaunchRow> rows,
               std::span<const std::string_view> passed,
               const LaunchItems& items,
               LaunchReading& reading);

/// Sets the software's behaviour for absent flags. Rows of experts and latent attention apply only to networks with
/// them.
void read_absent(std::span<const LaunchRow> rows, const LaunchItems& items, LaunchReading& reading);

/// State of writing one form.
struct LaunchWriting {
  const LaunchPlan& plan;
  bool explicitly = false;  ///< also write what the software does anyway
  LaunchItems items;
  std::set<std::string, std::less<>> covered;  ///< keys that the form expresses
  std::vector<LaunchNote> notes;

  explicit LaunchWriting(const LaunchPlan& of, bool all = false) : plan{of}, explicitly{all} {}
  void put(std::string_view name, ConfigValue value) { items.put(name, std::move(value)); }
  void put_count(std::string_view name, std::int64_t count) { items.put(name, count_value(count)); }
  void put_word(std::string_view name, std::string_view word) { items.put(name, word_value(word)); }
  void put_flag(std::string_view name, bool flag);
  void cover(std::string_view key) { covered.emplace(key); }
  /// Notes a key: "KEY = VALUE (WHY)".
  void note(std::string_view key, const std::string& value, std::string_view why);
  /// Covers the key and notes that its value is not expressed.
  void miss(std::string_view key, std::string_view why);
  /// Notes a key that the form could express but the plan does not have.
  void lack(std::string_view key);
};

/// Writes every row whose key is in the plan.
void write_rows(std::span<const LaunchRow> rows, LaunchWriting& writing);

/// A key that a form cannot express; no note is needed when its value is what the form does anyway.
struct LaunchGap {
  std::string_view key;      ///< a key, or a prefix that ends in '*'
  std::string_view implied;  ///< value that needs no note, as TOML text; empty: none
  std::string_view why;
};
/// Notes every key that is neither covered nor implied by the gaps or by those of every form. `form` names the form
/// where no gap explains the key.
void note_gaps(std::span<const LaunchGap> gaps, std::string_view form, LaunchWriting& writing);

}  // namespace headroom::launch
