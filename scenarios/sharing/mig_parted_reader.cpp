// SPDX-License-Identifier: Apache-2.0
// Fields: NVIDIA/mig-parted, README and examples/config.yaml, version v1.
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/core/yaml/yaml_reader.hpp>
#include <headroom/scenarios/sharing/mig_parted_reader.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

using Kind = ConfigValue::Kind;

constexpr std::int64_t most_slices = 64;  ///< of one form on one card; no card has as many

/// "all", or "[0, 1]"; with a filter behind it.
std::string devices_text(const ConfigValue& entry, const std::string& file, Diagnostics& problems) {
  const ConfigValue* const devices = entry.find("devices");
  std::string text;
  if (devices == nullptr) {
    problems.add(file, entry.at, "'devices' is missing; it is 'all' or a list of indices");
  } else if (devices->kind == Kind::array) {
    for (const ConfigValue& index : devices->items) {
      text += (text.empty() ? "[" : ", ") + std::to_string(index.integer);
    }
    text += "]";
  } else {
    text = devices->kind == Kind::integer ? "[" + std::to_string(devices->integer) + "]" : devices->text;
  }
  if (entry.find("device-filter") != nullptr) {
    text += ", of a filtered kind";
  }
  return text;
}

void read_entry(const std::string& name,
                const ConfigValue& entry,
                const std::string& file,
                std::vector<MigLayout>& layouts,
                Diagnostics& problems) {
  if (entry.kind != Kind::table) {
    problems.add(file, entry.at,
                 "an entry of " + quoted(name) + " is " + std::string{kind_name(entry.kind)} +
                     "; it must have 'devices' and 'mig-enabled'");
    return;
  }
  MigLayout layout{name, devices_text(entry, file, problems), {}};
  const ConfigValue* const enabled = entry.find("mig-enabled");
  if (enabled == nullptr || enabled->kind != Kind::boolean) {
    problems.add(file, enabled == nullptr ? entry.at : enabled->at, "'mig-enabled' must be true or false");
  }
  const ConfigValue* const slices = entry.find("mig-devices");
  if (slices != nullptr && slices->kind != Kind::table && slices->kind != Kind::null) {
    problems.add(file, slices->at, "'mig-devices' must hold profiles with their numbers, as '\"1g.10gb\": 7'");
  }
  for (const ConfigEntry& slice : slices == nullptr ? ConfigEntries{} : slices->entries) {
    if (slice.value.kind != Kind::integer || slice.value.integer < 1 || slice.value.integer > most_slices) {
      problems.add(file, slice.value.at,
                   "the number of " + quoted(slice.key) + " must be 1 to " + std::to_string(most_slices));
      continue;
    }
    layout.profiles.insert(layout.profiles.end(), static_cast<std::size_t>(slice.value.integer), slice.key);
  }
  if (enabled != nullptr && enabled->boolean && layout.profiles.empty() && problems.empty()) {
    problems.add(file, entry.at, "'mig-enabled' is true and 'mig-devices' holds no profile");
  }
  layouts.push_back(std::move(layout));
}

/// The layout that is asked for; nullptr with a problem.
const MigLayout* chosen(const std::vector<MigLayout>& layouts,
                        const std::string& name,
                        const std::string& file,
                        Diagnostics& problems) {
  std::vector<const MigLayout*> cuts;
  std::vector<std::string_view> names;
  for (const MigLayout& layout : layouts) {
    if (!layout.profiles.empty() && (name.empty() || layout.name == name)) {
      cuts.push_back(&layout);
    }
    names.push_back(layout.name);
  }
  const auto list = [&] {
    std::string text;
    for (const std::string_view one : names) {
      text += (text.empty() ? "" : ", ") + shown(one);
    }
    return text;
  };
  if (cuts.empty()) {
    problems.add(file, {},
                 name.empty() ? "no configuration cuts a card into slices"
                              : "there is no configuration " + quoted(name) + " that cuts a card" +
                                    suggestion(name, names) + " (" + list() + ")");
    return nullptr;
  }
  if (name.empty() &&
      std::any_of(cuts.begin(), cuts.end(), [&](const MigLayout* l) { return l->name != cuts.front()->name; })) {
    problems.add(file, {}, "several configurations cut cards; name one with --name: " + list());
    return nullptr;
  }
  return cuts.front();
}

}  // namespace

std::vector<MigLayout> read_mig_parted(const ConfigSource& source) {
  const ConfigValue root = parse_yaml(source.text, source.file);
  Diagnostics problems;
  std::vector<MigLayout> layouts;
  const ConfigValue* const version = root.find("version");
  if (version == nullptr || version->text != "v1") {
    problems.add(source.file, version == nullptr ? root.at : version->at, "'version' must be v1");
  }
  const ConfigValue* const configs = root.find("mig-configs");
  if (configs == nullptr || configs->kind != Kind::table) {
    problems.add(source.file, root.at,
                 "'mig-configs' is missing; a file of nvidia-mig-parted holds configurations by name");
  }
  for (const ConfigEntry& config : configs == nullptr ? ConfigEntries{} : configs->entries) {
    if (config.value.kind != Kind::array) {
      problems.add(source.file, config.value.at, quoted(config.key) + " must be a list of entries");
    }
    for (const ConfigValue& entry : config.value.items) {
      read_entry(config.key, entry, source.file, layouts, problems);
    }
  }
  problems.throw_if_any();
  return layouts;
}

ImportedSlices sharing_of_slices(const ConfigSource& source,
                                 const std::string& name,
                                 const Device& card,
                                 const PartitionScheme& scheme,
                                 Bytes context) {
  const std::vector<MigLayout> layouts = read_mig_parted(source);
  Diagnostics problems;
  const MigLayout* const layout = chosen(layouts, name, source.file, problems);
  problems.throw_if_any();
  std::vector<const PartitionProfile*> profiles;
  std::vector<std::string_view> known;
  for (const PartitionProfile& profile : scheme.profiles) {
    known.push_back(profile.name);
  }
  for (const std::string& slice : layout->profiles) {
    profiles.push_back(scheme.find(slice));
    if (profiles.back() == nullptr) {
      problems.add(source.file, {},
                   card.name + " has no profile " + quoted(slice) + suggestion(slice, known) + "; it has " +
                       scheme.profiles_text());
    }
  }
  problems.throw_if_any();
  if (const SlicePlaces places = place_slices(scheme, profiles); !places.possible()) {
    throw ConfigError{{Diagnostic{source.file, {}, "configuration " + quoted(layout->name) + ": " + places.why}}};
  }
  ImportedSlices imported;
  imported.toml = "# imported from " + shown(source.file) + " (mig-parted), configuration " + shown(layout->name) +
                  ": state what each tenant runs\nschema = 1\nkind = \"sharing\"\nname = " +
                  toml_string(layout->name + " on " + card.name) + "\n\n[hardware]\ngpu = " + toml_string(card.id) +
                  "\n\n[sharing]\nmode = \"mig\"\npack = \"tight\"\n";
  constexpr double mebi = 1048576.0;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const double room = (partition_memory(card, scheme, *profiles[i]) - context).raw();
    imported.toml += "\n[[tenant]]\nname = \"slice-" + std::to_string(i + 1) + "\"  # " + profiles[i]->name +
                     "\nbusy = 1.0\nisolation = \"memory\"\nmemory = \"" + general_text(std::floor(room / mebi), 9) +
                     " MiB\"\n";
  }
  imported.remarks.push_back(
      shown(source.file) +
      ": tenants fill the memory of their slices and are always busy; state busy, rate, call and "
      "slo of each, or a smaller memory");
  for (const MigLayout& other : layouts) {
    if (other.name == layout->name && &other != layout) {
      imported.remarks.push_back(shown(source.file) + ": " + shown(layout->name) + " also has an entry for devices " +
                                 shown(other.devices) + ", which is left out");
    }
  }
  return imported;
}

}  // namespace headroom
