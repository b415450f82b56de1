// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/batch_search/batch_search_reader.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/search_keys.hpp>
#include <headroom/scenarios/read/batch_reader.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace headroom {
namespace {

constexpr std::size_t most_candidates = 256;

struct Axis {
  std::string name, table, key;
  std::vector<ConfigValue> values;
};

[[nodiscard]] ConfigValue& table_at(ConfigValue& root, const std::string& name) {
  if (root.find(name) == nullptr) {
    root.entries.emplace_back(name, ConfigValue{});
  }
  return *root.find(name);
}

void set_at(ConfigValue& root, const std::string& table, const std::string& key, const ConfigValue& value) {
  ConfigValue& in = table_at(root, table);
  if (ConfigValue* old = in.find(key)) {
    *old = value;
  } else {
    in.entries.emplace_back(key, value);
  }
}

class SearchReader {
 public:
  SearchReader(const ConfigValue& root, const std::string& file, const Sources& sources, const NetworkLibrary& networks)
      : document_{root}, file_{file}, sources_{sources}, networks_{networks}, root_{root, "", diagnostics_} {}

  [[nodiscard]] std::vector<BatchCandidate> run() {
    read_table();
    diagnostics_.throw_if_any();
    document_.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "search"; });
    std::vector<BatchCandidate> candidates;
    combine(0, document_, candidates);
    if (refused_ && std::none_of(candidates.begin(), candidates.end(),
                                 [](const BatchCandidate& each) { return each.scenario.has_value(); })) {
      throw ConfigError{*refused_};
    }
    return candidates;
  }

 private:
  void read_table() {
    ConfigTable table = root_.table("search");
    const auto axis = [&](const char* name, const char* in, const char* key) {
      const ConfigValue* const stated = table.value(name);
      if (stated == nullptr) {
        return;
      }
      Axis freed{name, in, key, {}};
      if (stated->kind == ConfigValue::Kind::text && stated->text == "any" && freed.name == "gpu") {
        static_cast<void>(table.text(name));
        for (const std::string& id : sources_.catalog.store().ids("gpus")) {
          freed.values.push_back(word_value(id));
        }
      } else if (stated->kind == ConfigValue::Kind::array) {
        if (freed.name == "instances") {
          static_cast<void>(table.integers(name));
        } else {
          static_cast<void>(table.texts(name));
        }
        freed.values = stated->items;
      } else {
        table.problem(name, freed.name == "gpu" ? "'gpu' lists SKUs, such as [\"t4\", \"l4\"], or is \"any\""
                                                : "'" + freed.name + "' is a list of what to try");
        return;
      }
      if (freed.values.empty()) {
        table.problem(name, "the list of '" + freed.name + "' is empty; state what to try, or leave it out");
      }
      if (const ConfigValue* other = root_.value(in); other != nullptr && other->find(key) != nullptr) {
        table.problem(name,
                      "'" + freed.name + "' is searched and stated (" + in + "." + key + "); keep one of the two");
      }
      axes_.push_back(std::move(freed));
    };
    axis("gpu", "hardware", "gpu");
    axis("engine", "inference", "engine");
    axis("precision", "inference", "precision");
    axis("instances", "inference", "instances");
    for (ConfigTable& each : table.tables("offer")) {
      KeyedTable<keys::search_offer, Kinds::batch> offer{std::move(each)};
      const std::string gpu = offer.get<"gpu">();
      static_cast<void>(offer.get<"price">());
      static_cast<void>(offer.stated<"date">());
      if (const ConfigValue* price = offer.value("price"); price != nullptr) {
        try {
          offers_[sources_.catalog.device(gpu).id] = {*price,
                                                      offer.value("date") ? *offer.value("date") : ConfigValue{}};
        } catch (const ConfigError& error) {
          offer.problem("gpu", error.diagnostics().front().message);
        }
      }
      offer.finish();
    }
    if (const ConfigValue* money = root_.value("money"); money != nullptr && !offers_.empty()) {
      for (const char* const key : {"price", "prices"}) {
        if (money->find(key) != nullptr) {
          table.problem("offer",
                        std::string{"[[search.offer]] and money."} + key + " both say what a GPU costs; keep one");
        }
      }
    }
    table.finish();
    std::size_t all = 1;
    for (const Axis& each : axes_) {
      all *= std::max<std::size_t>(each.values.size(), 1);
    }
    if (axes_.empty()) {
      root_.problem("search", "[search] lists nothing to choose from: gpu, engine, precision or instances");
    } else if (all > most_candidates) {
      root_.problem("search", std::to_string(all) + " combinations; at most " + std::to_string(most_candidates) +
                                  " are planned: shorten the lists");
    }
  }

  void combine(std::size_t at, const ConfigValue& document, std::vector<BatchCandidate>& candidates) {
    if (at < axes_.size()) {
      for (const ConfigValue& value : axes_[at].values) {
        ConfigValue next = document;
        set_at(next, axes_[at].table, axes_[at].key, value);
        combine(at + 1, next, candidates);
      }
      return;
    }
    candidates.push_back(candidate_of(document));
  }

  [[nodiscard]] BatchCandidate candidate_of(ConfigValue document) {
    BatchCandidate one;
    const auto word = [&](const char* table, const char* key) {
      const ConfigValue* const in = document.find(table);
      const ConfigValue* const value = in == nullptr ? nullptr : in->find(key);
      return value == nullptr ? std::string{} : value->text;
    };
    one.gpu = word("hardware", "gpu");
    one.engine = word("inference", "engine");
    one.precision = word("inference", "precision");
    if (!offers_.empty() && !sources_.catalog.why_no_device(one.gpu)) {
      one.gpu = sources_.catalog.device(one.gpu).id;
      const auto offer = offers_.find(one.gpu);
      if (offer != offers_.end()) {
        set_at(document, "money", "price", offer->second.price);
        if (offer->second.date.kind == ConfigValue::Kind::text) {
          set_at(document, "money", "date", offer->second.date);
        }
      } else {
        document.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "money"; });
      }
    }
    try {
      one.scenario = read_batch_scenario(document, file_, sources_, networks_);
      one.gpu = one.scenario->device.id;
      one.engine = one.scenario->network ? one.scenario->engine->id : "";
      one.precision = one.scenario->network ? std::string{name_of(one.scenario->precision)} : "";
      one.instances = one.scenario->instances;
    } catch (const ConfigError& error) {
      one.why = error.diagnostics().empty() ? std::string{error.what()} : error.diagnostics().front().message;
      if (!refused_) {
        refused_ = error;
      }
    }
    return one;
  }

  ConfigValue document_;
  const std::string& file_;
  const Sources& sources_;
  const NetworkLibrary& networks_;
  Diagnostics diagnostics_;
  ConfigTable root_;
  std::vector<Axis> axes_;
  struct Offer {
    ConfigValue price, date;
  };
  std::map<std::string, Offer> offers_;
  std::optional<ConfigError> refused_;
};

}  // namespace

std::vector<BatchCandidate> read_batch_search(const ConfigValue& root,
                                              const std::string& file,
                                              const Sources& sources,
                                              const NetworkLibrary& networks) {
  return SearchReader{root, file, sources, networks}.run();
}

}  // namespace headroom
