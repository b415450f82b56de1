// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/findings.hpp>
#include <headroom/scenarios/search/search_job.hpp>

#include <cstdio>
#include <istream>
#include <ostream>

namespace headroom {
namespace {

void write_strategy(std::ostream& out, const Strategy& s) {
  for_each_strategy_field([&](const auto& field) { out << ' ' << static_cast<std::int64_t>(field.of(s)); });
  out << ' ' << s.etp_open << ' ' << s.stages_open << ' ' << static_cast<std::int64_t>(s.parts.bits());
}

void write_candidate(std::ostream& out, const Candidate& c) {
  out << ' ' << c.job << ' ' << exact_text(c.step.raw()) << ' ' << exact_text(c.memory.raw()) << ' '
      << exact_text(c.goal) << ' ' << exact_text(c.time.raw()) << ' ' << exact_text(c.spent) << ' '
      << exact_text(c.strain);
  for (const double x : c.front) {
    out << ' ' << exact_text(x);
  }
  write_strategy(out, c.strategy);
}

/// Reads what write_candidate wrote; `good()` tells whether all of it was there.
class Fields {
 public:
  explicit Fields(std::istream& in) : in_{in} {}
  [[nodiscard]] double real_number() {
    double value = 0.0;
    good_ = good_ && read_exact(in_, value);
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
  for_each_strategy_field([&](const auto& field) { in.integer(field.of(s)); });
  in.integer(s.etp_open);
  in.integer(s.stages_open);
  std::uint8_t parts = 0;
  in.integer(parts);
  s.parts = RecomputeParts::of_bits(parts);
  return s;
}

Candidate read_candidate(Fields& in) {
  Candidate c;
  in.integer(c.job);
  c.step = Seconds{in.real_number()};
  c.memory = Bytes{in.real_number()};
  c.goal = in.real_number();
  c.time = Seconds{in.real_number()};
  c.spent = in.real_number();
  c.strain = in.real_number();
  for (double& x : c.front) {
    x = in.real_number();
  }
  c.strategy = read_strategy(in);
  return c;
}

}  // namespace

std::string exact_text(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%a", value);
  return text.data();
}

bool read_exact(std::istream& in, double& value) {
  std::string word;
  return in >> word && std::sscanf(word.c_str(), "%la", &value) == 1;
}

Findings findings_of(const Incumbents& found, std::optional<std::uint64_t> job) {
  Findings findings;
  const auto wanted = [&](const Candidate& candidate) { return !job || candidate.job == *job; };
  for (const Candidate& candidate : found.all()) {
    if (wanted(candidate)) {
      findings.candidates.push_back(candidate);
    }
  }
  for (std::size_t i = 0; i < limit_count; ++i) {
    const Closest& closest = found.closest()[i];
    if (closest.candidate && wanted(*closest.candidate)) {
      findings.closest[i] = closest;
    }
  }
  return findings;
}

void merge_into(Incumbents& found, const Findings& findings) {
  for (const Candidate& candidate : findings.candidates) {
    found.consider(candidate);
  }
  for (std::size_t i = 0; i < limit_count; ++i) {
    if (findings.closest[i].candidate) {
      found.fell_short(static_cast<Limit>(i), *findings.closest[i].candidate, findings.closest[i].value);
    }
  }
}

void keep_plainer(BrokenExample& example, const BrokenExample& other) {
  if (other.candidate && (!example.candidate || better(*other.candidate, *example.candidate))) {
    example = other;
  }
}

void add(Findings& sum, const Findings& findings) {
  sum.candidates.insert(sum.candidates.end(), findings.candidates.begin(), findings.candidates.end());
  for (std::size_t i = 0; i < limit_count; ++i) {
    const Closest& other = findings.closest[i];
    Closest& closest = sum.closest[i];
    const bool nearer =
        other.candidate && (!closest.candidate || other.value < closest.value ||
                            (other.value == closest.value && better(*other.candidate, *closest.candidate)));
    if (nearer) {
      closest = other;
    }
  }
  sum.counts += findings.counts;
  keep_plainer(sum.broken, findings.broken);
  sum.dropped.insert(sum.dropped.end(), findings.dropped.begin(), findings.dropped.end());
}

void write_findings(std::ostream& out, const Findings& f) {
  const SearchCounts& c = f.counts;
  out << "counts " << c.priced << ' ' << c.no_room << ' ' << c.broken << ' ' << c.bound_time << ' ' << c.bound_memory
      << ' ' << c.too_slow << ' ' << c.too_dear << '\n';
  for (const Candidate& candidate : f.candidates) {
    out << "plan";
    write_candidate(out, candidate);
    out << '\n';
  }
  for (std::size_t i = 0; i < limit_count; ++i) {
    if (f.closest[i].candidate) {
      out << "short " << i << ' ' << exact_text(f.closest[i].value);
      write_candidate(out, *f.closest[i].candidate);
      out << '\n';
    }
  }
  if (f.broken.candidate) {
    out << "broken " << static_cast<int>(f.broken.rule.verdict) << ' ' << exact_text(f.broken.rule.broke) << ' '
        << exact_text(f.broken.rule.limit);
    write_candidate(out, *f.broken.candidate);
    out << '\n';
  }
  for (const DroppedJob& dropped : f.dropped) {
    out << "dropped " << dropped.job << ' ' << dropped.why << '\n';
  }
}

bool read_finding(const std::string& word, std::istream& line, Findings& f) {
  Fields in{line};
  if (word == "counts") {
    SearchCounts& c = f.counts;
    line >> c.priced >> c.no_room >> c.broken >> c.bound_time >> c.bound_memory >> c.too_slow >> c.too_dear;
    return !line.fail();
  }
  if (word == "plan") {
    f.candidates.push_back(read_candidate(in));
  } else if (word == "short") {
    std::size_t limit = limit_count;
    in.integer(limit);
    if (limit >= limit_count) {
      return false;
    }
    f.closest[limit].value = in.real_number();
    f.closest[limit].candidate = read_candidate(in);
  } else if (word == "broken") {
    in.integer(f.broken.rule.verdict);
    f.broken.rule.broke = in.real_number();
    f.broken.rule.limit = in.real_number();
    f.broken.candidate = read_candidate(in);
  } else if (word == "dropped") {
    DroppedJob dropped;
    in.integer(dropped.job);
    std::getline(line >> std::ws, dropped.why);
    f.dropped.push_back(dropped);
  } else {
    return false;
  }
  return in.good();
}

void complete(Findings& findings, const SearchQuestion& question) {
  for (Candidate& candidate : findings.candidates) {
    candidate.rental = rental_of(question, candidate.job);
  }
  for (Closest& closest : findings.closest) {
    if (closest.candidate) {
      closest.candidate->rental = rental_of(question, closest.candidate->job);
    }
  }
  if (findings.broken.candidate) {
    findings.broken.candidate->rental = rental_of(question, findings.broken.candidate->job);
  }
  for (DroppedJob& dropped : findings.dropped) {
    dropped.changes = changes_of(question, dropped.job);
  }
}

}  // namespace headroom
