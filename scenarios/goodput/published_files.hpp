// SPDX-License-Identifier: Apache-2.0
// Published numbers that ship as one file each: all of a kind, and one by its id.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/embedded.hpp>
#include <headroom/core/number_words.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_goodput() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace goodput {

/// Every file of a kind, each read by `read(document, name, diagnostics)`.
template <class T>
[[nodiscard]] std::vector<T> read_published(std::string_view kind,
                                            T (*read)(const ConfigValue&, const std::string&, Diagnostics&)) {
  std::vector<T> all;
  Diagnostics diagnostics;
  for (const EmbeddedFile& file : embedded::embedded_goodput().files) {
    if (file.kind == kind) {
      const std::string name{file.name};
      all.push_back(read(parse_toml(file.text, name), name, diagnostics));
    }
  }
  diagnostics.throw_if_any();
  return all;
}

/// The one of that id. ConfigError with the known ids for another; `what`: "loss law".
template <class T>
[[nodiscard]] const T& published(const std::vector<T>& all, std::string_view id, const std::string& what) {
  std::vector<std::string_view> ids;
  for (const T& each : all) {
    if (each.id == id) {
      return each;
    }
    ids.emplace_back(each.id);
  }
  throw ConfigError{"unknown " + what + " " + quoted(id) + suggestion(id, ids) + "; known: " + listed(ids)};
}

}  // namespace goodput
}  // namespace headroom
