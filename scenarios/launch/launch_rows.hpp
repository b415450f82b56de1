// SPDX-License-Identifier: Apache-2.0
// One table a launch form: a row binds a flag to a scenario key, and is read and written by the same engine.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/diagnostic.hpp>
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
  count,    ///< an integer, the same on both sides
  word,     ///< a word of `words`
  yes,      ///< true where the flag is there or true
  no,       ///< false where the flag is there or true
  special,  ///< a function of the form reads and writes it; the row makes the name known
};

struct LaunchWord {
  std::string_view theirs, ours;
};

struct LaunchRow {
  std::string_view name;  ///< the flag or dotted key of the form
  std::string_view key;   ///< the scenario key; empty for a special
  RowKind kind = RowKind::count;
  /// What the software does where the flag is not there, as the key's TOML text; empty: it is not said.
  std::string_view absent = {};
  std::span<const LaunchWord> words = {};
};

/// Bounds of counts in a launch file. What becomes a scenario's key is judged by the scenario's reader, at its place;
/// what only the launch has is judged here.
inline constexpr Range<std::int64_t> any_count{};
inline constexpr Range<std::int64_t> machine_count{1, 10'000'000};  ///< nodes, ranks, copies
inline constexpr Range<std::int64_t> layer_count{1, 65'535};
/// A share of a whole.
inline constexpr Range<double> share{0.0, 1.0};

/// A flag with its value as it stands in a file. A bare flag is true; several words of one flag are an array.
struct LaunchItem {
  std::string name;
  ConfigValue value;
};

/// The items of one file. The last of a name counts.
class LaunchItems {
 public:
  explicit LaunchItems(std::vector<LaunchItem> items = {}) : items_{std::move(items)} {}
  [[nodiscard]] const ConfigValue* find(std::string_view name) const noexcept;
  [[nodiscard]] bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  /// Appends, whatever is there.
  void put(std::string_view name, ConfigValue value) { items_.push_back({std::string{name}, std::move(value)}); }
  [[nodiscard]] const std::vector<LaunchItem>& all() const& noexcept { return items_; }
  const std::vector<LaunchItem>& all() && = delete;  // a loop over a temporary would outlive it

 private:
  std::vector<LaunchItem> items_;
};

/// The leaves of a document by their dotted paths.
[[nodiscard]] LaunchItems items_of_document(const ConfigValue& document);

/// The document of items with dotted names.
[[nodiscard]] ConfigValue nested(const LaunchItems& items);

/// What reading one file has brought so far.
struct LaunchReading {
  LaunchPlan plan;
  Diagnostics diagnostics;
  std::vector<std::string> remarks;  ///< "FILE:LINE: ignored: --lr 3e-4"
  std::string file;
  bool ignore_unknown = false;
  std::map<std::string, std::string, std::less<>> spelled;  ///< how the file calls a flag, where not by its name
  std::set<std::string, std::less<>> failed;  ///< keys whose flag is there and wrong: no further word on them

  void problem(const ConfigValue& at, std::string message);
  void problem(Position at, std::string message) { diagnostics.add(file, at, std::move(message)); }
  void remark(const ConfigValue& at, const std::string& text);
  /// Sets a key as stated at `at`. A second statement with another value is a contradiction, told with both.
  void state(std::string_view key, ConfigValue value, const ConfigValue& at);
  /// Sets a key that nothing states: what the software does.
  void assume(std::string_view key, ConfigValue value);
  [[nodiscard]] bool stated(std::string_view key) const noexcept;
  /// The flag as the file spells it, in quotes.
  [[nodiscard]] std::string called(std::string_view name) const;

  /// The value of an item as an integer within `range`; a problem and nullopt for anything else.
  std::optional<std::int64_t> count_of(std::string_view name, const ConfigValue& value, Range<std::int64_t> range);
  /// The same of a finite number.
  std::optional<double> number_of(std::string_view name, const ConfigValue& value, Range<double> range = {});
  std::optional<bool> flag_of(std::string_view name, const ConfigValue& value);
  /// One word; an array of equal words counts as one.
  std::optional<std::string> word_of(std::string_view name, const ConfigValue& value);
  /// An item, where it is there, as the key's integer or switch.
  void take_count(const LaunchItems& items, std::string_view name, std::string_view key, Range<std::int64_t> range);
  void take_flag(const LaunchItems& items, std::string_view name, std::string_view key);
  /// A word of a closed list; a problem that lists it for anything else.
  std::optional<std::string> choice_of(std::string_view name,
                                       const ConfigValue& value,
                                       std::span<const std::string_view> choices);
};

/// Reads every item: rows set their keys, specials are left to the form, names of `passed` (or below one that ends in
/// ".*") say nothing that a scenario holds and are remarked, anything else is refused with the nearest known name.
void read_rows(std::span<const LaunchRow> rows,
               std::span<const std::string_view> passed,
               const LaunchItems& items,
               LaunchReading& reading);

/// Sets what the software does where a flag is not there. Rows of experts and latent attention count only where the
/// network has them.
void read_absent(std::span<const LaunchRow> rows, const LaunchItems& items, LaunchReading& reading);

/// What writing one form has brought so far.
struct LaunchWriting {
  const LaunchPlan& plan;
  bool explicitly = false;  ///< also what the software does anyway
  LaunchItems items;
  std::set<std::string, std::less<>> covered;  ///< keys that the form says
  std::vector<std::string> notes;              ///< "strategy.vpp = 3 (why)": not expressed

  explicit LaunchWriting(const LaunchPlan& of, bool all = false) : plan{of}, explicitly{all} {}
  void put(std::string_view name, ConfigValue value) { items.put(name, std::move(value)); }
  void put_count(std::string_view name, std::int64_t count) { items.put(name, count_value(count)); }
  void put_word(std::string_view name, std::string_view word) { items.put(name, word_value(word)); }
  void put_flag(std::string_view name, bool flag);
  void cover(std::string_view key) { covered.emplace(key); }
  /// Covers the key and notes its value as not expressed.
  void miss(std::string_view key, std::string_view why);
  /// Notes a key that the form could say and the plan does not know.
  void lack(std::string_view key);
};

/// Writes every row whose key the plan has.
void write_rows(std::span<const LaunchRow> rows, LaunchWriting& writing);

/// A key that a form cannot say: silent where the value is what the form does anyway.
struct LaunchGap {
  std::string_view key;      ///< a key, or a prefix ended by '*'
  std::string_view implied;  ///< TOML text; empty: nothing is
  std::string_view why;
};
/// Notes every key that is neither covered nor implied by the gaps or by those of every form. `form` names the form
/// where no gap explains the key.
void note_gaps(std::span<const LaunchGap> gaps, std::string_view form, LaunchWriting& writing);

}  // namespace headroom::launch
