// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/fingerprint.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/search/checkpoint.hpp>
#include <headroom/scenarios/search/side_file.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

namespace headroom {
namespace {

/// The first line: what a part of one begins with too, and the number of its form.
std::string magic() {
  return std::string{first_words(SideFile::part)} + "5";
}

void add(std::uint64_t& sum, std::string_view text) {
  sum = fingerprint(sum, text.data(), text.size());
  sum = fingerprint(sum, "\n", 1);
}

/// Keys, kinds and values of a document, without their places.
void add(std::uint64_t& sum, const ConfigValue& value) {
  add(sum, std::to_string(static_cast<int>(value.kind)));
  add(sum, value.boolean ? "true" : "false");
  add(sum, std::to_string(value.integer));
  sum = fingerprint(sum, &value.number, sizeof value.number);
  add(sum, value.text);
  for (const ConfigValue& item : value.items) {
    add(sum, item);
  }
  for (const ConfigEntry& entry : value.entries) {
    add(sum, entry.key);
    add(sum, entry.value);
  }
}

/// Sections, each headed by the jobs it is of, and their findings.
std::string text_of(std::uint64_t question, const SearchState& s) {
  std::ostringstream out;
  out << magic() << "\nsearch " << question << "\nmerged " << s.merged_jobs << '\n';
  write_findings(out, s.merged);
  for (const auto& [turn, findings] : s.done) {
    out << "done " << turn << '\n';
    write_findings(out, findings);
  }
  for (const auto& [turn, progress] : s.begun) {
    out << "begun " << turn << ' ' << progress.layouts << ' ' << progress.numbers << '\n';
    write_findings(out, progress.findings);
  }
  return out.str();
}

constexpr std::string_view last_word = "end ";

/// The last line tells that nothing is missing, its sum that nothing was changed.
std::string last_line(std::string_view text) {
  return std::string{last_word} + std::to_string(fingerprint(empty_fingerprint, text.data(), text.size())) + "\n";
}

/// Reads a checkpoint's lines; findings belong to the section above them.
class StateReader {
 public:
  /// One line behind its first word. False when it is none.
  bool line(const std::string& word, std::istream& rest) {
    std::uint64_t turn = 0;
    if (word == "search") {
      return static_cast<bool>(rest >> question_);
    }
    if (word == "merged") {
      section_ = &state_.merged;
      return static_cast<bool>(rest >> state_.merged_jobs);
    }
    if (word == "done") {
      rest >> turn;
      section_ = &state_.done[turn];
      return static_cast<bool>(rest);
    }
    if (word == "begun") {
      rest >> turn;
      JobProgress& progress = state_.begun[turn];
      section_ = &progress.findings;
      return static_cast<bool>(rest >> progress.layouts >> progress.numbers);
    }
    return section_ != nullptr && read_finding(word, rest, *section_);
  }
  [[nodiscard]] std::uint64_t question() const noexcept { return question_; }
  [[nodiscard]] SearchState take(const SearchQuestion& question) {
    complete(state_.merged, question);
    for (auto& [turn, findings] : state_.done) {
      complete(findings, question);
    }
    for (auto& [turn, progress] : state_.begun) {
      complete(progress.findings, question);
    }
    return std::move(state_);
  }

 private:
  SearchState state_;
  Findings* section_ = nullptr;  ///< maps keep the addresses of what they hold
  std::uint64_t question_ = 0;
};

}  // namespace

std::uint64_t fingerprint(const SearchQuestion& q) {
  std::uint64_t sum = empty_fingerprint;
  add(sum, *q.base.document);
  for (std::size_t i = 0; i < strategy_axis_count; ++i) {
    const AxisValues& axis = q.axes.strategy[static_cast<StrategyAxis>(i)];
    add(sum, std::string{axis.free ? "free" : "fixed"} + (axis.any ? " any" : ""));
    for (const std::int32_t value : axis.values) {
      add(sum, std::to_string(value));
    }
  }
  for (const JobAxis& axis : q.axes.jobs) {
    add(sum, path_of(axis.knob));
    for (const Change& value : axis.values) {
      add(sum, value_text_of(value));
    }
  }
  for (std::size_t term = 0; term < term_count; ++term) {
    add(sum, q.without.has(static_cast<Term>(term)) ? "without" : "with");
  }
  const Objective& o = q.objective;
  add(sum, std::to_string(static_cast<int>(o.minimize)) + " " + std::to_string(o.plans));
  for (const Goal goal : o.pareto) {
    add(sum, std::to_string(static_cast<int>(goal)));
  }
  for (const double number : {o.simplicity, o.memory_margin, o.deadline ? o.deadline->raw() : -1.0,
                              o.budget ? o.budget->raw() : -1.0, static_cast<double>(o.gpus_on_hand.value_or(-1))}) {
    sum = fingerprint(sum, &number, sizeof number);
  }
  return sum;
}

std::string checkpoint_text(std::uint64_t question, const SearchState& state) {
  std::string text = text_of(question, state);
  text += last_line(text);
  return text;
}

void write_checkpoint(const std::string& file, std::string_view text) {
  const std::string target = behind_links(file);
  // The same name every time: one that is killed while it writes leaves one file.
  const std::string beside = side_file(file, SideFile::part);
  const int descriptor = open_side_file(file, SideFile::part);
  const bool whole = rewrite(descriptor, text);
  const int error = errno;
  if (close(descriptor) != 0 || !whole) {
    refuse_checkpoint(file, std::string{"cannot be written: "} + std::strerror(whole ? errno : error));
  }
  std::error_code failed;
  std::filesystem::rename(beside, target, failed);
  if (failed) {
    refuse_checkpoint(file, "cannot be written: " + failed.message());
  }
}

std::optional<SearchState> read_checkpoint(const std::string& file, const SearchQuestion& question) {
  std::error_code status;
  if (!std::filesystem::exists(file, status)) {
    return std::nullopt;
  }
  const std::string whole = read_file(file).text;
  if (!whole.starts_with(magic() + "\n")) {
    refuse_checkpoint(file, "is no checkpoint of a search; name another file or remove it");
  }
  const std::size_t end = whole.rfind("\n" + std::string{last_word});
  if (end == std::string::npos || whole.back() != '\n') {
    refuse_checkpoint(file, "is cut off; remove it to search anew");
  }
  if (whole.substr(end + 1) != last_line(std::string_view{whole}.substr(0, end + 1))) {
    refuse_checkpoint(file, "is damaged; remove it to search anew");
  }
  std::istringstream text{whole.substr(magic().size() + 1, end - magic().size())};
  StateReader reader;
  std::string line;
  for (int number = 2; std::getline(text, line); ++number) {
    std::istringstream words{line};
    std::string word;
    words >> word;
    if (!reader.line(word, words)) {
      refuse_checkpoint(file, "is damaged at line " + std::to_string(number) + "; remove it to search anew");
    }
    if (word == "search" && reader.question() != fingerprint(question)) {
      refuse_checkpoint(file,
                        "is of another search (other scenario, axes or objective); name another file or remove it");
    }
  }
  return reader.take(question);
}

std::string other_numbers(const std::string& file) {
  return "--checkpoint " + quoted(file) +
         " was written with other numbers of the model or the catalog; remove it to search anew";
}

}  // namespace headroom
