// SPDX-License-Identifier: Apache-2.0
// Splits the text into words, reads the matrix, then interprets it. The format is that of "topo" in the NVIDIA System
// Management Interface manual; its cells follow nvmlGpuTopologyLevel_t of the NVML reference.
#include <headroom/core/csv.hpp>
#include <headroom/hardware/import/import_topo.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace headroom {
namespace {

struct Word {
  std::string_view text;
  Position at;
};

/// Words between blanks. Escape sequences, which underline the header on a terminal, are skipped.
std::vector<Word> words_of(std::string_view line, int number) {
  std::vector<Word> words;
  std::size_t i = 0;
  const auto blank = [&](std::size_t at) { return line[at] == ' ' || line[at] == '\t' || line[at] == '\r'; };
  while (i < line.size()) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size() - 1) + 1;
    } else if (blank(i)) {
      ++i;
    } else {
      const std::size_t start = i;
      while (i < line.size() && !blank(i) && line[i] != '\x1b') {
        ++i;
      }
      words.push_back({line.substr(start, i - start), {number, static_cast<int>(start) + 1}});
    }
  }
  return words;
}

bool is_gpu(std::string_view name) {
  return name.size() > 3 && name.starts_with("GPU") && integer_of(name.substr(3));
}

/// One cell: a word of the table, or a number of NVLinks.
struct Cell {
  std::string_view word;
  std::int64_t nvlinks = 0;
  Position at;

  [[nodiscard]] bool same_switch() const { return word == "PIX" || word == "PXB"; }
  [[nodiscard]] bool same_numa() const { return same_switch() || word == "PHB" || word == "NODE"; }
};

struct Row {
  std::string_view name;
  Position at;
  std::vector<Cell> cells;
  std::string_view cpus, numa;  ///< affinities of the row; empty if the columns are absent
};

class Matrix {
 public:
  Matrix(std::string_view text, std::string file, Diagnostics& diagnostics)
      : file_{std::move(file)}, diagnostics_{&diagnostics} {
    read(text);
  }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] bool has_numa() const { return has_numa_; }
  [[nodiscard]] std::string legend(std::string_view name) const {
    const auto found = legend_.find(name);
    return found == legend_.end() ? std::string{name} : found->second;
  }
  [[nodiscard]] const Cell& cell(std::size_t row, std::size_t column) const { return rows_[row].cells[column]; }

 private:
  void problem(Position at, std::string message) { diagnostics_->add(file_, at, std::move(message)); }

  void read(std::string_view text) {
    std::map<std::string_view, Row> read_rows;
    bool past_matrix = false;
    int number = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::vector<Word> words = words_of(text.substr(0, end), ++number);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (words.empty()) {
        continue;
      }
      const std::string_view first = words.front().text;
      past_matrix = past_matrix || first == "Legend:" || (words.size() > 1 && words[1].text == "Legend:");
      if (past_matrix) {
        if (words.size() == 2 && first.ends_with(":")) {
          legend_.emplace(first.substr(0, first.size() - 1), words[1].text);
        }
      } else if (names_.empty()) {
        read_header(words);
      } else {
        read_row(words, read_rows);
      }
    }
    if (names_.empty()) {
      problem({}, "no line names GPU0, GPU1, ...: this is no output of 'nvidia-smi topo -m'");
      return;
    }
    for (const Word& name : names_) {
      const auto found = read_rows.find(name.text);
      if (found == read_rows.end()) {
        problem(name.at, "no row for " + std::string{name.text} + ": copy the whole table");
      } else {
        rows_.push_back(std::move(found->second));
      }
    }
    if (diagnostics_->empty()) {
      check_symmetry();
    }
  }

  void read_header(const std::vector<Word>& words) {
    if (std::none_of(words.begin(), words.end(), [](const Word& w) { return is_gpu(w.text); })) {
      return;
    }
    std::size_t i = 0;
    // The affinity columns have names of two and three words: "CPU Affinity", "NUMA Affinity", "GPU NUMA ID".
    for (; i < words.size() && words[i].text != "CPU" && words[i].text != "NUMA" && words[i].text != "GPU"; ++i) {
      const bool twice =
          std::any_of(names_.begin(), names_.end(), [&](const Word& w) { return w.text == words[i].text; });
      if (twice) {
        problem(words[i].at, "column " + std::string{words[i].text} + " stands twice");
      } else {
        names_.push_back(words[i]);
      }
    }
    const auto says = [&](std::string_view word) {
      return std::any_of(words.begin() + static_cast<std::ptrdiff_t>(i), words.end(),
                         [&](const Word& w) { return w.text == word; });
    };
    has_cpus_ = says("CPU");
    has_numa_ = says("NUMA");
    if (!has_cpus_ && !has_numa_) {
      problem(words.back().at, "the columns 'CPU Affinity' and 'NUMA Affinity' are missing: copy the whole table");
    }
  }

  void read_row(const std::vector<Word>& words, std::map<std::string_view, Row>& rows) {
    const std::string name{words.front().text};
    const bool known = std::any_of(names_.begin(), names_.end(), [&](const Word& w) { return w.text == name; });
    if (!known) {
      problem(words.front().at, "row " + quoted(name) + " has no column of that name");
      return;
    }
    Row row{words.front().text, words.front().at, {}, {}, {}};
    for (std::size_t i = 1; i <= names_.size(); ++i) {
      if (i >= words.size()) {
        problem(words.back().at, "row " + name + " has " + std::to_string(words.size() - 1) +
                                     " cells; the header names " + std::to_string(names_.size()) +
                                     " devices: is the line cut?");
        break;
      }
      row.cells.push_back(read_cell(words[i]));
    }
    const std::size_t past = names_.size() + 1;
    if (has_cpus_ && words.size() > past) {
      row.cpus = words[past].text;
    }
    const std::size_t numa = past + (has_cpus_ ? 1 : 0);
    if (has_numa_ && words.size() > numa) {
      row.numa = words[numa].text;
    }
    if (!rows.emplace(words.front().text, row).second) {
      problem(words.front().at, "row " + name + " stands twice");
    }
  }

  Cell read_cell(const Word& word) {
    if (word.text.starts_with("NV") && word.text.size() > 2) {
      if (const auto links = integer_of(word.text.substr(2)); links && *links > 0 && *links <= 64) {
        return {"NV", *links, word.at};
      }
    }
    if (std::find(topo_words.begin(), topo_words.end(), word.text) == topo_words.end()) {
      problem(word.at,
              quoted(word.text) + " is none of X, NV#, PIX, PXB, PHB, NODE, SYS" + suggestion(word.text, topo_words));
    }
    return {word.text, 0, word.at};
  }

  void check_symmetry() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (cell(i, i).word != "X") {
        problem(cell(i, i).at,
                std::string{rows_[i].name} + " to itself is " + std::string{text_of(cell(i, i))} + ", not X");
      }
      for (std::size_t j = 0; j < i; ++j) {
        const Cell& here = cell(i, j);
        const Cell& there = cell(j, i);
        if (here.word != there.word || here.nvlinks != there.nvlinks || here.word == "X") {
          problem(here.at, std::string{rows_[i].name} + " to " + std::string{rows_[j].name} + " is " + text_of(here) +
                               " here and " + text_of(there) + " in line " + std::to_string(there.at.line));
        } else if (here.nvlinks > 0 && !(is_gpu(rows_[i].name) && is_gpu(rows_[j].name))) {
          problem(here.at,
                  "NVLinks join GPUs, not " + std::string{rows_[i].name} + " and " + std::string{rows_[j].name});
        }
      }
    }
  }

  static std::string text_of(const Cell& cell) {
    return cell.nvlinks > 0 ? "NV" + std::to_string(cell.nvlinks) : std::string{cell.word};
  }

  std::string file_;
  Diagnostics* diagnostics_;
  std::vector<Word> names_;
  std::vector<Row> rows_;
  std::map<std::string_view, std::string> legend_;
  bool has_cpus_ = false, has_numa_ = false;
};

/// Connected components of a symmetric relation: the group number of each device.
template <class Joined>
std::vector<std::size_t> groups(std::size_t count, Joined joined) {
  std::vector<std::size_t> group(count);
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (joined(i, j) && group[i] != group[j]) {
        std::replace(group.begin(), group.end(), std::max(group[i], group[j]), std::min(group[i], group[j]));
      }
    }
  }
  return group;
}

class Reading {
 public:
  Reading(const Matrix& matrix, const Device& device, Diagnostics& diagnostics, FoundHost& host)
      : matrix_{&matrix}, device_{&device}, diagnostics_{&diagnostics}, host_{&host}, count_{matrix.rows().size()} {}

  void take() {
    near_ = groups(count_, [&](std::size_t i, std::size_t j) { return matrix_->cell(i, j).same_numa(); });
    below_ = groups(count_, [&](std::size_t i, std::size_t j) { return matrix_->cell(i, j).same_switch(); });
    take_gpus();
    check_affinities();
    take_switches();
    take_nics();
    take_links();
  }

 private:
  [[nodiscard]] const Row& row(std::size_t i) const { return matrix_->rows()[i]; }

  /// The NUMA node of a GPU: from its column, else one node for each distinct set of CPUs.
  std::int64_t numa_of(std::size_t i) {
    if (matrix_->has_numa()) {
      const std::string_view text = row(i).numa.substr(0, row(i).numa.find_first_of("-,"));
      if (const auto value = integer_of(text); value && *value >= 0 && *value < 4096) {
        return *value;
      }
      if (row(i).numa != "N/A") {
        diagnostics_->add(
            host_->file, row(i).at,
            std::string{row(i).name} + " has NUMA affinity " + quoted(row(i).numa) + "; it must be a number or N/A");
      }
    }
    return cpu_sets_.emplace(row(i).cpus, static_cast<std::int64_t>(cpu_sets_.size())).first->second;
  }

  void take_gpus() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (is_gpu(row(i).name)) {
        gpus_.push_back(i);
        FoundHost::Gpu gpu;
        gpu.name = row(i).name;
        gpu.at = row(i).at;
        gpu.numa = numa_of(i);
        host_->gpus.push_back(std::move(gpu));
      }
    }
  }

  void check_affinities() {
    for (std::size_t a = 0; a < gpus_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const Cell& cell = matrix_->cell(gpus_[a], gpus_[b]);
        if (cell.same_numa() && host_->gpus[a].numa != host_->gpus[b].numa) {
          diagnostics_->add(host_->file, cell.at,
                            host_->gpus[a].name + " and " + host_->gpus[b].name + " are " + std::string{cell.word} +
                                ", on one NUMA node, but their affinities differ");
        }
      }
    }
  }

  /// A group joined by PIX and PXB that holds a GPU is a PCIe switch; NICs alone are the ports of one card.
  void take_switches() {
    for (std::size_t a = 0; a < gpus_.size(); ++a) {
      const std::size_t group = below_[gpus_[a]];
      if (std::count(below_.begin(), below_.end(), group) < 2) {
        continue;
      }
      const auto [place, fresh] = switches_.emplace(group, std::ssize(host_->switches));
      if (fresh) {
        host_->switches.push_back({host_->gpus[a].numa, std::nullopt});
      }
      host_->gpus[a].pcie_switch = place->second;
    }
  }

  void take_nics() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (is_gpu(row(i).name)) {
        continue;
      }
      FoundHost::Nic nic;
      nic.name = matrix_->legend(row(i).name);
      nic.at = row(i).at;
      for (std::size_t a = 0; a < gpus_.size() && !nic.numa; ++a) {
        if (near_[gpus_[a]] == near_[i]) {
          nic.numa = host_->gpus[a].numa;
        }
      }
      if (const auto found = switches_.find(below_[i]); found != switches_.end()) {
        nic.pcie_switch = found->second;
      }
      host_->nics.push_back(std::move(nic));
    }
  }

  /// In a switched host every pair shows all links of a GPU, so that the cells sum to more links than it has.
  void take_links() {
    std::vector<std::int64_t> sum(gpus_.size(), 0), most(gpus_.size(), 0);
    for (std::size_t a = 0; a < gpus_.size(); ++a) {
      for (const std::size_t peer : gpus_) {
        const std::int64_t links = matrix_->cell(gpus_[a], peer).nvlinks;
        sum[a] += links;
        most[a] = std::max(most[a], links);
      }
    }
    const std::int64_t has = device_->scale_up.links ? device_->scale_up.links->value : 0;
    const bool by_topology = device_->scale_up.topology == LinkTopology::fabric_switch && gpus_.size() == 2;
    const bool switched = std::any_of(sum.begin(), sum.end(), [&](std::int64_t s) { return has > 0 && s > has; }) ||
                          (by_topology && most.front() == has && has > 0);
    for (std::size_t a = 0; a < gpus_.size(); ++a) {
      if (switched) {
        host_->gpus[a].switch_links = most[a];
      }
      for (std::size_t b = 0; b < a; ++b) {
        const Cell& cell = matrix_->cell(gpus_[a], gpus_[b]);
        if (!switched && cell.nvlinks > 0) {
          host_->links.push_back(
              {static_cast<std::int64_t>(b), static_cast<std::int64_t>(a), LinkKind::nvlink, cell.nvlinks, cell.at});
        } else if (switched && most[a] > 0 && most[b] > 0 && cell.nvlinks != std::min(most[a], most[b])) {
          diagnostics_->add(host_->file, cell.at,
                            host_->gpus[a].name + " and " + host_->gpus[b].name + " share " +
                                std::to_string(cell.nvlinks) + " NVLinks where the switches give " +
                                std::to_string(std::min(most[a], most[b])));
        }
      }
    }
  }

  const Matrix* matrix_;
  const Device* device_;
  Diagnostics* diagnostics_;
  FoundHost* host_;
  std::size_t count_;
  std::vector<std::size_t> gpus_, near_, below_;
  std::map<std::size_t, std::int64_t> switches_;
  std::map<std::string_view, std::int64_t> cpu_sets_;
};

}  // namespace

NodeWiring import_topo(std::string_view text, const std::string& file, const Device& device, const HostFacts& facts) {
  Diagnostics diagnostics;
  FoundHost host;
  host.file = file;
  host.name = file;
  const Matrix matrix{text, file, diagnostics};
  diagnostics.throw_if_any();  // missing cells cannot be compared
  Reading{matrix, device, diagnostics, host}.take();
  NodeWiring wiring = wire(host, device, facts, diagnostics);
  diagnostics.throw_if_any();
  return wiring;
}

}  // namespace headroom
