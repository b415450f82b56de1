// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/model_data.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/model_name.hpp>

#include <algorithm>
#include <cstddef>

namespace headroom {
namespace {

/// The ids of which a spelling says a part, word by word: "llama-70b" of llama2-70b and llama3-70b.
std::vector<std::string> ids_of_family(std::string_view spelling, const std::vector<std::string>& ids) {
  const auto words_of = [](std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('-', at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return words;
  };
  const std::string asked = normalised(spelling.substr(spelling.rfind('/') + 1));
  const std::vector<std::string_view> wanted = words_of(asked);
  std::vector<std::string> found;
  for (const std::string& id : ids) {
    const std::vector<std::string_view> words = words_of(id);
    const bool all = std::all_of(wanted.begin() + 1, wanted.end(), [&](std::string_view word) {
      return std::find(words.begin() + 1, words.end(), word) != words.end();
    });
    if (!wanted.front().empty() && words.front().starts_with(wanted.front()) && all) {
      found.push_back(id);
    }
  }
  return found;
}

}  // namespace

ModelLibrary::ModelLibrary(DataStore store) : store_{std::move(store)} {}

ModelLibrary ModelLibrary::standard() {
  return ModelLibrary{ModelData::standard().files()};
}

bool ModelLibrary::knows(std::string_view spelling) const {
  return store_.find("models", spelling).has_value();
}

std::optional<MeantModel> ModelLibrary::meant(std::string_view name) const {
  const ModelName asked = read_model_name(name);
  for (const std::string& known : store_.spellings("models")) {
    if (read_model_name(known).network == asked.network) {
      return MeantModel{entry(known).id, asked.weights};
    }
  }
  return std::nullopt;
}

std::optional<std::string> ModelLibrary::nearest(std::string_view spelling) const {
  const std::optional<std::string> name = nearest_model_name(spelling, store_.spellings("models"));
  return name ? std::optional{entry(*name).id} : std::nullopt;
}

std::string ModelLibrary::suggested(std::string_view spelling) const {
  const std::optional<std::string> id = nearest(spelling);
  return id ? "; did you mean '" + *id + "'?" : std::string{};
}

std::string ModelLibrary::unknown(std::string_view spelling) const {
  if (const std::vector<std::string> family = ids_of_family(spelling, ids()); family.size() > 1) {
    constexpr std::size_t most = 16;
    std::string listed;
    for (std::size_t i = 0; i < std::min(most, family.size()); ++i) {
      listed += (i == 0 ? "" : i + 1 == family.size() ? " and " : ", ") + family[i];
    }
    return "model " + quoted(spelling) + " is a family: it comes as " + listed +
           (family.size() > most
                ? " and " + std::to_string(family.size() - most) + " more ('headroom catalog list models')"
                : "") +
           "; say which";
  }
  if (const std::string_view reason = why_no_preset(spelling); !reason.empty()) {
    return "model " + quoted(spelling) + " is not known: " + std::string{reason};
  }
  return "unknown model " + quoted(spelling) + suggested(spelling) + store_.unreadable_text("models") +
         " (see 'headroom catalog list models')";
}

DataStore::Entry ModelLibrary::entry(std::string_view spelling) const {
  if (std::optional<DataStore::Entry> found = store_.find("models", spelling)) {
    return *std::move(found);
  }
  if (const std::optional<MeantModel> found = meant(spelling)) {
    return entry(found->id);
  }
  throw ConfigError{unknown(spelling)};
}

ConfigValue ModelLibrary::tree(std::string_view spelling) const {
  return store_.tree("models", entry(spelling));
}

Architecture ModelLibrary::find(std::string_view spelling) const {
  const ConfigValue root = tree(spelling);
  Diagnostics diagnostics;
  Architecture architecture = read_architecture(ConfigTable{root, "", diagnostics});
  diagnostics.throw_if_any();
  return architecture;
}

}  // namespace headroom
