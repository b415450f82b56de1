// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/reports/focus_bill.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

namespace headroom {
namespace {

/// GPUs behind an item of a bill.
struct HeldGpus {
  std::string gpu;
  double count = 1.0;
};

/// Columns without which a row says no price.
constexpr std::array<std::string_view, 5> focus_needs{"ChargeCategory", "EffectiveCost", "BillingCurrency",
                                                      "PricingQuantity", "PricingUnit"};

std::string lower_case(std::string_view text) {
  std::string small{text};
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return small;
}

/// The class of a provider's region; "any": it states none.
std::string_view region_class(std::string_view region) {
  const std::string name = lower_case(region);
  const auto holds = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](auto word) { return name.find(word) != std::string::npos; });
  };
  if (name.empty() || name == "global") {
    return "any";
  }
  if (holds({"asia", "ap-", "japan", "korea", "india", "australia", "singapore"})) {
    return "asia-pacific";
  }
  if (name.starts_with("eu") || holds({"europe", "france", "germany", "sweden", "norway", "uk", "switzerland"})) {
    return "eu";
  }
  return name.starts_with("us") || name.ends_with("us") || name.ends_with("us2") || name.ends_with("us3") ? "us"
                                                                                                          : "other";
}

/// The market of a pricing category: a price that follows the market is spot's, one by commitment is reserved.
Market market_of(std::string_view category) noexcept {
  return category == "Dynamic" ? Market::spot : category == "Committed" ? Market::reserved : Market::on_demand;
}

struct Charged {
  double cost = 0.0, gpu_hours = 0.0;
  int rows = 0;
};

class FocusReader {
 public:
  FocusReader(const ConfigSource& bill, const FocusRequest& request, const Catalog& catalog)
      : request_{request},
        catalog_{catalog},
        stream_{bill.text},
        csv_{stream_, bill.file, problems_},
        file_{bill.file} {}

  ImportedPrices run() {
    read_instances();
    for (const std::string_view name : focus_needs) {
      if (!csv_.column(name)) {
        problems_.add(file_, {1, 1}, "column " + quoted(name) + " is missing; a bill by FOCUS 1.0 or later has it");
      }
    }
    problems_.throw_if_any();
    while (csv_.next()) {
      read_row();
    }
    if (charged_.empty() && problems_.empty()) {
      problems_.add(file_, {},
                    "no row is the use of a GPU by the hour" + unknown_text("; held by nothing known here: ") +
                        "; say what an instance holds, e.g. --set 'p5.48xlarge=h100-sxm-80gb:8'");
    }
    problems_.throw_if_any();
    return prices();
  }

 private:
  void read_instances() {
    for (const std::string& one : request_.instances) {
      const std::string place = "--set " + one;
      const std::size_t equals = one.find('=');
      const std::size_t colon = one.rfind(':');
      const bool counted = colon != std::string::npos && equals != std::string::npos && colon > equals;
      if (equals == std::string::npos || equals == 0) {
        problems_.add(place, {}, "is no ITEM=GPU:NUMBER, e.g. 'p5.48xlarge=h100-sxm-80gb:8'");
        continue;
      }
      const std::string gpu = one.substr(equals + 1, counted ? colon - equals - 1 : std::string::npos);
      const std::optional<double> count = counted ? whole_real(one.substr(colon + 1)) : std::optional{1.0};
      if (!count || !(*count > 0.0)) {
        problems_.add(place, {}, "the number of GPUs behind ':' must be above 0");
      } else if (const std::optional<std::string> why = catalog_.why_no_device(gpu)) {
        problems_.add(place, {}, *why);
      } else {
        held_.insert_or_assign(one.substr(0, equals), HeldGpus{catalog_.device(gpu).id, *count});
      }
    }
  }

  [[nodiscard]] std::string cell(std::string_view name) const {
    const std::optional<std::size_t> at = csv_.column(name);
    return at ? csv_.fields()[*at] : std::string{};
  }

  std::optional<double> amount(std::string_view name) { return csv_.number(*csv_.column(name)); }

  /// Properties of the SKU's price: JSON, which a bill may also leave blank.
  ConfigValue details() {
    const std::string text = cell("SkuPriceDetails");
    if (text.empty() || text == "null" || text == "{}") {
      return {};
    }
    try {
      return parse_json(text, file_);
    } catch (const ConfigError&) {
      problems_.add(file_, csv_.at(*csv_.column("SkuPriceDetails")), "'SkuPriceDetails' is no JSON object");
      return {};
    }
  }

  /// The names by which a row may be known, the one that says most first.
  std::vector<std::string> names_of(const ConfigValue& details) const {
    std::vector<std::string> names;
    if (const ConfigValue* const type = details.find("InstanceType"); type != nullptr) {
      names.push_back(type->text);
    }
    for (const std::string_view column :
         {"ResourceId", "SkuId", "SkuPriceId", "SkuMeter", "ResourceName", "ServiceName"}) {
      names.push_back(cell(column));
    }
    std::erase(names, std::string{});
    return names;
  }

  /// What a name holds by the catalog; kept, for bills repeat it.
  const std::optional<HeldGpus>& by_catalog(const std::string& name) {
    const auto [at, fresh] = known_.try_emplace(name);
    if (fresh && !catalog_.why_no_device(name)) {
      at->second = HeldGpus{catalog_.device(name).id, 1.0};
    } else if (fresh) {
      try {
        const Node& node = catalog_.node(name);
        at->second = HeldGpus{node.gpu, static_cast<double>(node.gpus)};
      } catch (const ConfigError&) {  // no node type of that name
      }
    }
    return at->second;
  }

  std::optional<HeldGpus> held_by(const std::vector<std::string>& names, const ConfigValue& details) {
    for (const std::string& name : names) {
      if (const auto found = held_.find(name); found != held_.end()) {
        return found->second;
      }
    }
    if (const ConfigValue* const type = details.find("InstanceType"); type != nullptr && !type->text.empty()) {
      if (std::optional<HeldGpus> held = by_catalog(type->text)) {
        const ConfigValue* const count = details.find("GpuCount");
        if (count != nullptr && count->kind == ConfigValue::Kind::integer && count->integer > 0) {
          held->count = static_cast<double>(count->integer);
        }
        return held;
      }
    }
    return std::nullopt;
  }

  void read_row() {
    const std::string category = cell("ChargeCategory");
    if (category != "Usage" || cell("ChargeClass") == "Correction") {
      ++left_out_[category == "Usage" ? "corrections" : "charges of category " + shown(category)];
      return;
    }
    const std::string unit = lower_case(cell("PricingUnit"));
    const bool of_gpu = unit == "gpu-hours" || unit == "gpu-hour";
    if (!of_gpu && unit != "hours" && unit != "hour" && unit != "hrs" && unit != "1 hour" && unit != "instance-hours") {
      ++left_out_["charges that are not by the hour"];
      return;
    }
    const ConfigValue sku = details();
    const std::vector<std::string> names = names_of(sku);
    const std::optional<HeldGpus> held = held_by(names, sku);
    if (!held) {
      const ConfigValue* const count = sku.find("GpuCount");
      if (count != nullptr && (count->integer > 0 || count->number > 0.0) && !names.empty()) {
        unknown_[names.front()] += 1;
      }
      ++left_out_["charges of what holds no GPU that is known"];
      return;
    }
    const std::optional<double> cost = amount("EffectiveCost");
    const std::optional<double> quantity = amount("PricingQuantity");
    if (const std::string currency = cell("BillingCurrency"); currency != "USD") {
      problems_.add(file_, csv_.at(*csv_.column("BillingCurrency")),
                    "'BillingCurrency' is " + quoted(currency) + "; prices here are in USD: convert the bill first");
      return;
    }
    if (!cost || !quantity || !(*quantity > 0.0) || !(*cost >= 0.0)) {
      ++left_out_["rows of GPUs without a cost or a quantity"];
      return;
    }
    Charged& sum =
        charged_[{held->gpu, market_of(cell("PricingCategory")), std::string{region_class(cell("RegionId"))}}];
    sum.cost += *cost;
    sum.gpu_hours += *quantity * (of_gpu ? 1.0 : held->count);
    ++sum.rows;
    widen(cell("ChargePeriodStart"), cell("ChargePeriodEnd"));
    provider_ = provider_.empty() ? cell("ProviderName") : provider_;
  }

  void widen(const std::string& start, const std::string& end) {
    first_ = first_.empty() || (!start.empty() && start < first_) ? start.substr(0, 10) : first_;
    last_ = std::max(last_, end.substr(0, 10));
  }

  [[nodiscard]] std::string unknown_text(const std::string& before) const {
    std::string list;
    for (const auto& [name, rows] : unknown_) {
      list += (list.empty() ? "" : ", ") + shown(name) + " (" + std::to_string(rows) + (rows == 1 ? " row)" : " rows)");
    }
    return list.empty() ? list : before + list;
  }

  ImportedPrices prices() {
    ImportedPrices result;
    const std::string month = last_.size() >= 7 ? last_.substr(0, 7) : std::string{"undated"};
    if (month == "undated") {
      throw ConfigError{{Diagnostic{
          file_, {1, 1}, "no row of a GPU states its period (ChargePeriodEnd), and a price list has a date"}}};
    }
    result.toml = "schema = 1\nid = " + toml_string(request_.id) +
                  "\nname = " + toml_string("Own bill, " + first_ + " to " + last_) +
                  "\nprovider = " + toml_string(provider_.empty() ? "own" : lower_case(provider_)) +
                  "\ndate = " + toml_string(month) + "\n\n[sources]\n";
    std::string offers;
    int number = 0;
    for (const auto& [key, sum] : charged_) {
      const auto& [gpu, market, region] = key;
      const std::string tag = "B" + std::to_string(++number);
      if (!(sum.cost > 0.0)) {
        result.remarks.push_back(shown(file_) + ": " + gpu + " was charged nothing (" + std::to_string(sum.rows) +
                                 " rows)");
        continue;
      }
      result.toml += tag + " = " +
                     toml_string("FOCUS bill " + shown(file_) + ": " + std::to_string(sum.rows) +
                                 (sum.rows == 1 ? " row, " : " rows, ") + general_text(sum.cost, 8) +
                                 " USD of effective cost over " + general_text(sum.gpu_hours, 8) + " GPU-hours") +
                     "\n";
      offers += "\n[[offer]]\ngpu = " + toml_string(gpu) +
                "\nmarket = " + toml_string(market_names[static_cast<std::size_t>(market)]) +
                "\nregion = " + toml_string(region) + "\nprice = { value = \"" +
                general_text(sum.cost / sum.gpu_hours, 8) + " $/h\", source = \"" + tag + "\" }\n";
    }
    result.toml += offers;
    for (const auto& [why, rows] : left_out_) {
      result.remarks.push_back(shown(file_) + ": left out " + std::to_string(rows) +
                               (rows == 1 ? " row, " : " rows, ") + why);
    }
    if (!unknown_.empty()) {
      result.remarks.push_back(shown(file_) + unknown_text(": GPUs of a type that is not known: ") +
                               "; say what each holds with --set 'TYPE=GPU:NUMBER'");
    }
    return result;
  }

  const FocusRequest& request_;
  const Catalog& catalog_;
  Diagnostics problems_;
  std::istringstream stream_;
  CsvReader csv_;
  std::string file_;
  std::map<std::string, HeldGpus, std::less<>> held_;
  std::map<std::string, std::optional<HeldGpus>, std::less<>> known_;
  std::map<std::tuple<std::string, Market, std::string>, Charged> charged_;
  std::map<std::string, int> left_out_, unknown_;
  std::string first_, last_, provider_;
};

}  // namespace

ImportedPrices import_focus_bill(const ConfigSource& bill, const FocusRequest& request, const Catalog& catalog) {
  return FocusReader{bill, request, catalog}.run();
}

}  // namespace headroom
