// SPDX-License-Identifier: Apache-2.0
// Importer of `nvidia-smi -q -x`. Its XML has no mixed content, so a scanner of elements suffices and no XML library is
// needed.
#include <headroom/calibrate/import/import_numbers.hpp>
#include <headroom/calibrate/import/import_samples.hpp>
#include <headroom/core/printable.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

namespace headroom {
namespace {

/// Text of an element, with its place.
struct Told {
  std::string text;
  Position at;
};
/// Elements by their path below a GPU: "clocks/sm_clock".
using Texts = std::map<std::string, Told>;

struct Smi {
  Texts whole;
  std::vector<Texts> gpus;
};

std::string decoded(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> entities{
      {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}}};
  for (const auto& [entity, character] : entities) {
    for (std::size_t at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1)) {
      text.replace(at, entity.size(), character);
    }
  }
  return text;
}

class Scanner {
 public:
  Scanner(std::string_view text, std::string file) : text_{text}, file_{std::move(file)} {}

  Smi scan() {
    while (at_ < text_.size()) {
      const std::size_t open = text_.find('<', at_);
      if (open == std::string_view::npos) {
        break;
      }
      const std::size_t close = text_.find('>', open);
      if (close == std::string_view::npos) {
        fail(open, "an element has no end: the file was cut");
      }
      const std::string_view before = text_.substr(at_, open - at_);
      at_ = close + 1;
      element(text_.substr(open + 1, close - open - 1), before, open);
    }
    if (!path_.empty()) {
      fail(text_.size(), "<" + path_.back() + "> has no end: the file was cut");
    }
    if (smi_.gpus.empty()) {
      fail(0, "no <gpu>: this is not what 'nvidia-smi -q -x' writes");
    }
    return std::move(smi_);
  }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    throw ConfigError{{Diagnostic{file_, place(at), message}}};
  }

  /// Place of an offset. Counts lines from the previous call, because offsets come in order of the file.
  [[nodiscard]] Position place(std::size_t at) const {
    if (at < counted_) {
      counted_ = line_begin_ = 0;
      line_ = 1;
    }
    for (; counted_ < at; ++counted_) {
      if (text_[counted_] == '\n') {
        ++line_;
        line_begin_ = counted_ + 1;
      }
    }
    return {line_, static_cast<int>(at - line_begin_) + 1};
  }

  void element(std::string_view tag, std::string_view before, std::size_t at) {
    if (tag.empty() || tag.front() == '?' || tag.front() == '!') {
      return;
    }
    if (tag.front() == '/') {
      if (path_.empty() || path_.back() != tag.substr(1)) {
        fail(at,
             "</" + std::string{tag.substr(1)} + "> closes " + (path_.empty() ? "nothing" : "<" + path_.back() + ">"));
      }
      if (leaf_) {
        keep(before);
      }
      path_.pop_back();
      leaf_ = false;
      return;
    }
    const bool empty = tag.back() == '/';
    const std::string name{tag.substr(0, tag.find_first_of(" \t\r\n/"))};
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_name)) {
      fail(at, quoted("<" + name) + " begins no element: the file was cut, or is no XML");
    }
    if (!empty) {
      path_.push_back(name);
      leaf_ = true;
      if (path_.size() == 2 && name == "gpu") {
        smi_.gpus.emplace_back();
      }
    }
  }

  /// Characters of the element names that nvidia-smi writes, a subset of XML's.
  static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  }

  void keep(std::string_view text) {
    const bool gpu = path_.size() > 2 && path_[1] == "gpu";
    std::string key;
    for (std::size_t i = gpu ? 2 : 1; i < path_.size(); ++i) {
      key += (key.empty() ? "" : "/") + path_[i];
    }
    const auto at = static_cast<std::size_t>(text.data() - text_.data());
    (gpu ? smi_.gpus.back() : smi_.whole).try_emplace(key, Told{decoded(std::string{text}), place(at)});
  }

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  mutable std::size_t counted_ = 0, line_begin_ = 0;
  mutable int line_ = 1;
  std::vector<std::string> path_;
  bool leaf_ = false;
  Smi smi_;
};

/// Content of an element, in the unit that nvidia-smi prints.
enum class Holds : std::uint8_t { text, memory, clock, limit, celsius, generation, lanes };

struct Row {
  std::string_view key, path;
  Holds holds = Holds::text;
};
// Fields of a manifest of samples, under the same names; the second path is that of older drivers.
constexpr std::array rows{
    Row{"name", "product_name"},
    Row{"board", "gpu_part_number"},
    Row{"vbios", "vbios_version"},
    Row{"mig", "mig_mode/current_mig"},
    Row{"ecc", "ecc_mode/current_ecc"},
    Row{"memory", "fb_memory_usage/total", Holds::memory},
    Row{"sm_clock", "clocks/sm_clock", Holds::clock},
    Row{"sm_clock_max", "max_clocks/sm_clock", Holds::clock},
    Row{"memory_clock_max", "max_clocks/mem_clock", Holds::clock},
    Row{"power_limit", "gpu_power_readings/current_power_limit", Holds::limit},
    Row{"power_limit", "power_readings/enforced_power_limit", Holds::limit},
    Row{"power_limit_default", "gpu_power_readings/default_power_limit", Holds::limit},
    Row{"power_limit_default", "power_readings/default_power_limit", Holds::limit},
    Row{"temperature", "temperature/gpu_temp", Holds::celsius},
    Row{"pcie_generation", "pci/pci_gpu_link_info/pcie_gen/max_link_gen", Holds::generation},
    Row{"pcie_width", "pci/pci_gpu_link_info/link_widths/max_link_width", Holds::lanes},
};

/// Words that stand for a missing value.
constexpr std::array<std::string_view, 8> untold{"N/A",
                                                 "[N/A]",
                                                 "Not Supported",
                                                 "[Not Supported]",
                                                 "Unknown Error",
                                                 "[Unknown Error]",
                                                 "Insufficient Permissions",
                                                 "Requested functionality has been deprecated"};

/// Unit of a number and generous bounds for it.
struct SmiRange {
  Holds holds;
  std::string_view unit;
  double low, high;
};
constexpr std::array ranges{
    SmiRange{Holds::memory, " MiB", 1, 1 << 24}, SmiRange{Holds::clock, " MHz", 0, 1e5},
    SmiRange{Holds::limit, " W", 1, 1e5},        SmiRange{Holds::celsius, " C", -100, 200},
    SmiRange{Holds::generation, "", 1, 16},      SmiRange{Holds::lanes, "x", 1, 64},
};

/// Problem of a text, for print; empty when there is none.
std::string wrong_text(std::string_view text, Holds holds) {
  const auto range = std::find_if(ranges.begin(), ranges.end(), [&](const SmiRange& r) { return r.holds == holds; });
  if (range == ranges.end()) {
    const auto character = first_unprintable(text);
    return character ? "must be one line of printable text, without " + quoted(*character) : std::string{};
  }
  const std::optional<double> number =
      text.ends_with(range->unit) ? number_in(text.substr(0, text.size() - range->unit.size())) : std::nullopt;
  if (number && *number >= range->low && *number <= range->high) {
    return {};
  }
  const auto bound = [&](double value) { return std::to_string(std::llround(value)) + std::string{range->unit}; };
  return "must be " + bound(range->low) + " to " + bound(range->high);
}

std::string toml_line(std::string_view key, std::string value) {
  std::replace_if(
      value.begin(), value.end(), [](char c) { return c == '"' || c == '\\'; }, ' ');
  return std::string{key} + " = \"" + value + "\"\n";
}

/// Reasons for reduced clocks: children of either element that are "Active".
std::string slowing_of(const Texts& gpu) {
  std::string active;
  for (const auto& [path, told] : gpu) {
    const bool reason = path.starts_with("clocks_event_reasons/") || path.starts_with("clocks_throttle_reasons/");
    if (reason && told.text == "Active" && !path.ends_with("_gpu_idle")) {
      active += (active.empty() ? "\"" : ", \"") + path.substr(path.find('/') + 1) + "\"";
    }
  }
  return "throttle = [" + active + "]\n";
}

}  // namespace

ImportedSamples import_nvidia_smi(std::string_view text, const std::string& file) {
  const Smi smi = Scanner{text, file}.scan();
  Diagnostics diagnostics;
  const auto found = [&](const Texts& texts, std::string_view path, Holds holds = Holds::text) -> std::string {
    const auto told = texts.find(std::string{path});
    if (told == texts.end() || std::find(untold.begin(), untold.end(), told->second.text) != untold.end()) {
      return {};
    }
    if (const std::string wrong = wrong_text(told->second.text, holds); !wrong.empty()) {
      diagnostics.add(file, told->second.at,
                      "<" + std::string{path} + "> is " + quoted(told->second.text) + "; it " + wrong);
      return {};
    }
    return told->second.text;
  };
  ImportedSamples result;
  result.text = "schema = 1\nkind = \"nvidia-smi\"\n";
  result.text += toml_line("driver", found(smi.whole, "driver_version"));
  result.text += toml_line("cuda_driver", found(smi.whole, "cuda_version"));
  for (const Texts& gpu : smi.gpus) {
    result.text += "\n[[gpu]]\n";
    std::string_view last;
    for (const Row& row : rows) {
      const std::string value = found(gpu, row.path, row.holds);
      if (!value.empty() && row.key != last) {
        result.text += toml_line(row.key, value);
        last = row.key;
      }
    }
    result.text += slowing_of(gpu);
    if (found(gpu, "mig_mode/current_mig") == "Enabled") {
      result.remarks.push_back(found(gpu, "product_name") + ": MIG is on; a slice is no SKU");
    }
  }
  diagnostics.throw_if_any();
  return result;
}

}  // namespace headroom
