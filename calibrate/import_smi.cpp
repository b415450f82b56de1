// SPDX-License-Identifier: Apache-2.0
// `nvidia-smi -q -x`. Its XML is a tree of elements without mixed content, whose text is all that is asked for: a
// scanner of elements is enough, and the XML library stays where NCCL's topology needs it.
#include <headroom/calibrate/import_samples.hpp>

#include <algorithm>
#include <map>

namespace headroom {
namespace {

/// Text of elements by path below a GPU: "clocks/sm_clock".
using Texts = std::map<std::string, std::string>;

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
    Diagnostics diagnostics;
    const std::string_view before = text_.substr(0, at);
    const auto line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t begin = before.find_last_of('\n');
    diagnostics.add(file_, {line, static_cast<int>(at - (begin == std::string_view::npos ? 0 : begin + 1)) + 1},
                    message);
    diagnostics.throw_if_any();
    throw ConfigError{message};
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
        keep(std::string{before});
      }
      path_.pop_back();
      leaf_ = false;
      return;
    }
    const bool empty = tag.back() == '/';
    const std::string name{tag.substr(0, tag.find_first_of(" \t\r\n/"))};
    if (!empty) {
      path_.push_back(name);
      leaf_ = true;
      if (path_.size() == 2 && name == "gpu") {
        smi_.gpus.emplace_back();
      }
    }
  }

  void keep(const std::string& text) {
    const bool gpu = path_.size() > 2 && path_[1] == "gpu";
    std::string key;
    for (std::size_t i = gpu ? 2 : 1; i < path_.size(); ++i) {
      key += (key.empty() ? "" : "/") + path_[i];
    }
    (gpu ? smi_.gpus.back() : smi_.whole).try_emplace(key, decoded(text));
  }

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  std::vector<std::string> path_;
  bool leaf_ = false;
  Smi smi_;
};

struct Row {
  std::string_view key, path;
};
// What a manifest of samples tells too, under the same names; the second path is that of older drivers.
constexpr std::array rows{
    Row{"name", "product_name"},
    Row{"board", "gpu_part_number"},
    Row{"vbios", "vbios_version"},
    Row{"mig", "mig_mode/current_mig"},
    Row{"ecc", "ecc_mode/current_ecc"},
    Row{"memory", "fb_memory_usage/total"},
    Row{"sm_clock", "clocks/sm_clock"},
    Row{"sm_clock_max", "max_clocks/sm_clock"},
    Row{"memory_clock_max", "max_clocks/mem_clock"},
    Row{"power_limit", "gpu_power_readings/current_power_limit"},
    Row{"power_limit", "power_readings/enforced_power_limit"},
    Row{"power_limit_default", "gpu_power_readings/default_power_limit"},
    Row{"power_limit_default", "power_readings/default_power_limit"},
    Row{"temperature", "temperature/gpu_temp"},
    Row{"pcie_generation", "pci/pci_gpu_link_info/pcie_gen/max_link_gen"},
    Row{"pcie_width", "pci/pci_gpu_link_info/link_widths/max_link_width"},
};

std::string toml_line(std::string_view key, std::string value) {
  std::replace_if(
      value.begin(), value.end(), [](char c) { return c == '"' || c == '\\' || c == '\n'; }, ' ');
  return std::string{key} + " = \"" + value + "\"\n";
}

/// Why it is slow at the moment: children of either element that are "Active".
std::string slowing_of(const Texts& gpu) {
  std::string active;
  for (const auto& [path, value] : gpu) {
    const bool reason = path.starts_with("clocks_event_reasons/") || path.starts_with("clocks_throttle_reasons/");
    if (reason && value == "Active" && !path.ends_with("_gpu_idle")) {
      active += (active.empty() ? "\"" : ", \"") + path.substr(path.find('/') + 1) + "\"";
    }
  }
  return "throttle = [" + active + "]\n";
}

}  // namespace

ImportedSamples import_nvidia_smi(std::string_view text, const std::string& file) {
  const Smi smi = Scanner{text, file}.scan();
  const auto found = [](const Texts& texts, std::string_view path) -> std::string {
    const auto at = texts.find(std::string{path});
    return at == texts.end() || at->second == "N/A" || at->second == "[N/A]" ? std::string{} : at->second;
  };
  ImportedSamples result;
  result.text = "schema = 1\nkind = \"nvidia-smi\"\n";
  result.text += toml_line("driver", found(smi.whole, "driver_version"));
  result.text += toml_line("cuda_driver", found(smi.whole, "cuda_version"));
  for (const Texts& gpu : smi.gpus) {
    result.text += "\n[[gpu]]\n";
    std::string_view last;
    for (const Row& row : rows) {
      const std::string value = found(gpu, row.path);
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
  return result;
}

}  // namespace headroom
