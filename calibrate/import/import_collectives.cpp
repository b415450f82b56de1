// SPDX-License-Identifier: Apache-2.0
// Importer of nccl-tests and rccl-tests. Their table changed over the years (a column root, errors instead of #wrong),
// so cells are located by its header.
#include <headroom/calibrate/import/import_numbers.hpp>
#include <headroom/calibrate/import/import_samples.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/printable.hpp>

#include <algorithm>
#include <optional>
#include <sstream>

namespace headroom {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 50U;

constexpr std::array<std::string_view, 8> ops{"all_reduce", "all_gather", "reduce_scatter", "alltoall",
                                              "broadcast",  "sendrecv",   "reduce",         "gather"};

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream{line};
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

/// "23102" as "2.31.2", "2708" (before 2.9) as "2.7.8".
std::string version_of(const std::string& code) {
  const std::optional<std::int64_t> value = integer_of(code);
  if (!value || *value < 1000) {
    return code;
  }
  const std::int64_t base = *value >= 10000 ? 10000 : 1000;
  return std::to_string(*value / base) + "." + std::to_string(*value % base / 100) + "." + std::to_string(*value % 100);
}

/// First op that a text names; reduce_scatter precedes reduce in the list, because it contains it.
std::string op_in(std::string_view text) {
  for (const std::string_view op : ops) {
    if (text.find(op) != std::string_view::npos) {
      return std::string{op};
    }
  }
  return {};
}

/// State of reading one log.
class Log {
 public:
  explicit Log(std::string file) : file_{std::move(file)}, op_{op_in(file_.substr(file_.find_last_of('/') + 1))} {}

  void line(const std::string& text, int number) {
    const std::vector<std::string> words = words_of(text);
    if (words.empty()) {
      return;
    }
    if (words.front().front() == '#') {
      comment(text, words);
    } else if (number_in(words.front())) {
      row(words, number);
    }
  }

  ImportedSamples take() {
    if (rows_ == 0 && diagnostics_.empty()) {
      diagnostics_.add(file_, {}, "no row of a table of nccl-tests or rccl-tests (size, count, type, ..., time)");
    }
    if (rows_ > 0 && op_.empty()) {
      diagnostics_.add(file_, {},
                       "does not say which collective it is; put its name into the file's, such as "
                       "all_reduce.log");
    }
    if (rows_ > 0 && ranks_ == 0) {
      diagnostics_.add(file_, {}, "does not list its ranks ('# Rank 0 ...'): how many GPUs took part is not known");
    }
    diagnostics_.throw_if_any();
    ImportedSamples result;
    result.text = "nccl_version,op,gpus,dtype,bytes,latency_us\n";
    for (const std::string& row : cells_) {
      result.text += csv_field(version_) + "," + op_ + "," + std::to_string(ranks_) + "," + row;
    }
    if (version_ == "unknown") {
      result.remarks.emplace_back(
          "the log tells no version of the library: 'unknown'; NCCL_DEBUG=VERSION makes it tell");
    }
    return result;
  }

 private:
  void comment(const std::string& text, const std::vector<std::string>& words) {
    const auto after = [&](const std::string& key) -> std::string {
      const std::size_t at = text.find(key);
      return at == std::string::npos
                 ? std::string{}
                 : text.substr(at + key.size(), text.find_first_of(" +\r", at + key.size()) - at - key.size());
    };
    if (const std::string code = after("nccl-library="); !code.empty()) {
      version_ = shown(version_of(code));
    }
    if (const std::string version = after("CCL version "); !version.empty()) {
      version_ = shown(version);
    }
    if (text.find("Collective test starting") != std::string::npos) {
      op_ = op_in(text);
    }
    ranks_ += words.size() > 2 && words[1] == "Rank" && number_in(words[2]) ? 1 : 0;
    const auto names = [&](std::string_view word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (names("size") && names("type") && names("time")) {
      header_.assign(words.begin() + 1, words.end());
    }
  }

  [[nodiscard]] std::size_t column(std::string_view name) const {
    return static_cast<std::size_t>(std::find(header_.begin(), header_.end(), name) - header_.begin());
  }

  void row(const std::vector<std::string>& words, int number) {
    if (header_.empty()) {
      return;  // numbers of another program above the table
    }
    const std::size_t time = column("time");
    if (words.size() < header_.size()) {
      diagnostics_.add(file_, {number, 1},
                       "the row has " + std::to_string(words.size()) + " cells, the table " +
                           std::to_string(header_.size()) + ": the log was cut");
      return;
    }
    const std::optional<std::int64_t> bytes = integer_of(words[column("size")]);
    if (!bytes || *bytes < 0 || *bytes > most_bytes) {
      diagnostics_.add(file_, {number, 1},
                       "size " + quoted(words[column("size")]) + " must be a whole number of bytes, from 0 to " +
                           std::to_string(most_bytes));
      return;
    }
    if (const std::string wrong = wrong_number(words[time], printed_microseconds); !wrong.empty()) {
      return diagnostics_.add(file_, {number, 1}, wrong);
    }
    const std::string& type = words[column("type")];
    if (const auto character = first_unprintable(type)) {
      return diagnostics_.add(file_, {number, 1}, "type " + quoted(type) + " is no word without " + quoted(*character));
    }
    const std::size_t wrong = column("#wrong");
    if (wrong < header_.size()) {
      const std::optional<double> count = number_in(words[wrong]);
      if (count && *count > 0.0) {
        diagnostics_.add(file_, {number, 1}, words[wrong] + " results are wrong: such a run measures nothing");
        return;
      }
    }
    if (*bytes > 0) {
      cells_.push_back(csv_field(type) + "," + std::to_string(*bytes) + "," + words[time] + "\n");
      ++rows_;
    }
  }

  std::string file_;
  std::string op_;
  std::string version_ = "unknown";
  std::vector<std::string> header_;
  std::vector<std::string> cells_;
  int ranks_ = 0;
  std::size_t rows_ = 0;
  Diagnostics diagnostics_;
};

}  // namespace

ImportedSamples import_collective_log(std::string_view text, const std::string& file) {
  Log log{file};
  std::istringstream stream{std::string{text}};
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    log.line(line, ++number);
  }
  return log.take();
}

}  // namespace headroom
