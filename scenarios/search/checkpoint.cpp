// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/checkpoint.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace headroom {
namespace {

constexpr std::string_view magic = "headroom search checkpoint 2";

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

// Doubles as hexadecimal: they read back bit for bit.
std::string hex(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%a", value);
  return text.data();
}

void write_strategy(std::ostream& out, const Strategy& s) {
  for (const std::int64_t field : {std::int64_t{s.tp},
                                   std::int64_t{s.pp},
                                   std::int64_t{s.vpp},
                                   std::int64_t{s.cp},
                                   std::int64_t{s.ep},
                                   std::int64_t{s.etp},
                                   std::int64_t{s.dp},
                                   std::int64_t{s.micro_batch},
                                   std::int64_t{s.shard_ranks},
                                   std::int64_t{s.zero},
                                   static_cast<std::int64_t>(s.recompute),
                                   std::int64_t{s.recompute_block},
                                   static_cast<std::int64_t>(s.schedule),
                                   static_cast<std::int64_t>(s.cp_form),
                                   std::int64_t{s.first_stage_layers},
                                   std::int64_t{s.last_stage_layers},
                                   std::int64_t{s.sequence_parallel},
                                   std::int64_t{s.cuda_graphs},
                                   std::int64_t{s.overlap_experts},
                                   std::int64_t{s.etp_open},
                                   static_cast<std::int64_t>(s.order)}) {
    out << ' ' << field;
  }
}

void write_candidate(std::ostream& out, const Candidate& c) {
  out << ' ' << c.job << ' ' << hex(c.step.raw()) << ' ' << hex(c.memory.raw()) << ' ' << hex(c.goal);
  for (const double x : c.front) {
    out << ' ' << hex(x);
  }
  write_strategy(out, c.strategy);
}

/// Reads what write_candidate wrote; `good()` tells whether all of it was there.
class Fields {
 public:
  explicit Fields(std::istream& in) : in_{in} {}
  [[nodiscard]] double real_number() {
    std::string word;
    double value = 0.0;
    good_ = good_ && in_ >> word && std::sscanf(word.c_str(), "%la", &value) == 1;
    return value;
  }
  template <class Integer>
  void integer(Integer& field) {
    std::int64_t value = 0;
    good_ = good_ && static_cast<bool>(in_ >> value);
    field = static_cast<Integer>(value);
  }
  [[nodiscard]] bool good() const noexcept { return good_; }

 private:
  std::istream& in_;
  bool good_ = true;
};

Strategy read_strategy(Fields& in) {
  Strategy s;
  in.integer(s.tp);
  in.integer(s.pp);
  in.integer(s.vpp);
  in.integer(s.cp);
  in.integer(s.ep);
  in.integer(s.etp);
  in.integer(s.dp);
  in.integer(s.micro_batch);
  in.integer(s.shard_ranks);
  in.integer(s.zero);
  in.integer(s.recompute);
  in.integer(s.recompute_block);
  in.integer(s.schedule);
  in.integer(s.cp_form);
  in.integer(s.first_stage_layers);
  in.integer(s.last_stage_layers);
  in.integer(s.sequence_parallel);
  in.integer(s.cuda_graphs);
  in.integer(s.overlap_experts);
  in.integer(s.etp_open);
  in.integer(s.order);
  return s;
}

Candidate read_candidate(Fields& in) {
  Candidate c;
  in.integer(c.job);
  c.step = Seconds{in.real_number()};
  c.memory = Bytes{in.real_number()};
  c.goal = in.real_number();
  for (double& x : c.front) {
    x = in.real_number();
  }
  c.strategy = read_strategy(in);
  return c;
}

std::string text_of(std::uint64_t question, const SearchState& s) {
  std::ostringstream out;
  out << magic << "\nsearch " << question << "\nat " << s.job << ' ' << s.layouts << ' ' << s.numbers << "\ncounts "
      << s.counts.priced << ' ' << s.counts.no_room << ' ' << s.counts.broken << ' ' << s.counts.bound_time << ' '
      << s.counts.bound_memory << ' ' << s.counts.too_slow << ' ' << s.counts.too_dear << '\n';
  for (const Candidate& candidate : s.candidates) {
    out << "plan";
    write_candidate(out, candidate);
    out << '\n';
  }
  for (std::size_t i = 0; i < limit_count; ++i) {
    if (s.closest[i].candidate) {
      out << "short " << i << ' ' << hex(s.closest[i].value);
      write_candidate(out, *s.closest[i].candidate);
      out << '\n';
    }
  }
  if (s.broken.candidate) {
    out << "broken " << static_cast<int>(s.broken.rule.verdict) << ' ' << hex(s.broken.rule.broke) << ' '
        << hex(s.broken.rule.limit);
    write_candidate(out, *s.broken.candidate);
    out << '\n';
  }
  for (const DroppedJob& dropped : s.dropped) {
    out << "dropped " << dropped.job << ' ' << dropped.why << '\n';
  }
  return out.str();
}

constexpr std::string_view last_word = "end ";

/// The last line tells that nothing is missing, its sum that nothing was changed.
std::string last_line(std::string_view text) {
  return std::string{last_word} + std::to_string(fingerprint(empty_fingerprint, text.data(), text.size())) + "\n";
}

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw ConfigError{"--checkpoint " + quoted(file) + " " + why};
}

/// One line behind its first word. False when it is none.
bool read_line(const std::string& word, std::istringstream& line, SearchState& s) {
  Fields in{line};
  if (word == "at") {
    line >> s.job >> s.layouts >> s.numbers;
    return !line.fail();
  }
  if (word == "counts") {
    SearchCounts& c = s.counts;
    line >> c.priced >> c.no_room >> c.broken >> c.bound_time >> c.bound_memory >> c.too_slow >> c.too_dear;
    return !line.fail();
  }
  if (word == "plan") {
    s.candidates.push_back(read_candidate(in));
  } else if (word == "short") {
    std::size_t limit = limit_count;
    in.integer(limit);
    if (limit >= limit_count) {
      return false;
    }
    s.closest[limit].value = in.real_number();
    s.closest[limit].candidate = read_candidate(in);
  } else if (word == "broken") {
    in.integer(s.broken.rule.verdict);
    s.broken.rule.broke = in.real_number();
    s.broken.rule.limit = in.real_number();
    s.broken.candidate = read_candidate(in);
  } else if (word == "dropped") {
    DroppedJob dropped;
    in.integer(dropped.job);
    std::getline(line >> std::ws, dropped.why);
    s.dropped.push_back(dropped);
  } else {
    return false;
  }
  return in.good();
}

}  // namespace

std::uint64_t fingerprint(std::uint64_t so_far, const void* bytes, std::size_t size) noexcept {
  constexpr std::uint64_t prime = 1099511628211ULL;
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < size; ++i) {
    so_far = (so_far ^ at[i]) * prime;
  }
  return so_far;
}

std::uint64_t fingerprint(const SearchQuestion& q) {
  std::uint64_t sum = empty_fingerprint;
  add(sum, q.base);
  for (std::size_t i = 0; i < strategy_axis_count; ++i) {
    const AxisValues& axis = q.axes.strategy[static_cast<StrategyAxis>(i)];
    add(sum, std::string{axis.free ? "free" : "fixed"} + (axis.any ? " any" : ""));
    for (const std::int32_t value : axis.values) {
      add(sum, std::to_string(value));
    }
  }
  for (const JobAxis& axis : q.axes.jobs) {
    add(sum, axis.key);
    for (const std::string& value : axis.values) {
      add(sum, value);
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

void write_checkpoint(const std::string& file, std::uint64_t question, const SearchState& state) {
  const std::string beside = file + ".part";
  {
    std::ofstream stream{beside, std::ios::binary};
    const std::string text = text_of(question, state);
    stream << text << last_line(text);
    stream.close();
    if (!stream) {
      refuse(file, "cannot be written");
    }
  }
  std::error_code failed;
  std::filesystem::rename(beside, file, failed);
  if (failed) {
    refuse(file, "cannot be written: " + failed.message());
  }
}

std::optional<SearchState> read_checkpoint(const std::string& file, std::uint64_t question) {
  std::error_code status;
  if (!std::filesystem::exists(file, status)) {
    return std::nullopt;
  }
  const std::string whole = read_file(file).text;
  if (!whole.starts_with(std::string{magic} + "\n")) {
    refuse(file, "is no checkpoint of a search; name another file or remove it");
  }
  const std::size_t end = whole.rfind("\n" + std::string{last_word});
  if (end == std::string::npos || whole.back() != '\n') {
    refuse(file, "is cut off; remove it to search anew");
  }
  if (whole.substr(end + 1) != last_line(std::string_view{whole}.substr(0, end + 1))) {
    refuse(file, "is damaged; remove it to search anew");
  }
  std::istringstream text{whole.substr(magic.size() + 1, end - magic.size())};
  SearchState state;
  std::uint64_t written_for = 0;
  std::string line;
  for (int number = 2; std::getline(text, line); ++number) {
    std::istringstream words{line};
    std::string word;
    words >> word;
    const bool read = word == "search" ? static_cast<bool>(words >> written_for) : read_line(word, words, state);
    if (!read) {
      refuse(file, "is damaged at line " + std::to_string(number) + "; remove it to search anew");
    }
    if (word == "search" && written_for != question) {
      refuse(file, "is of another search (other scenario, axes or objective); name another file or remove it");
    }
  }
  return state;
}

}  // namespace headroom
