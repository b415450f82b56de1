// SPDX-License-Identifier: Apache-2.0
// Networks of ops by id or alias, embedded in the binary and extended by the user's folders (networks/ID.toml).
#pragma once

#include <headroom/core/embedded.hpp>
#include <headroom/model/workload/op_list.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class NetworkLibrary {
 public:
  explicit NetworkLibrary(DataStore store);
  [[nodiscard]] static NetworkLibrary standard();

  /// With `sizes` instead of the file's. ConfigError: unknown id (with the nearest spelling), an unknown size or a
  /// broken file.
  [[nodiscard]] Network find(std::string_view spelling, const NetworkSizes& sizes = {}) const;
  /// The file an id or alias means. ConfigError: unknown.
  [[nodiscard]] DataStore::Entry entry(std::string_view spelling) const;
  [[nodiscard]] bool knows(std::string_view spelling) const;
  /// The document of an entry with its bases merged in.
  [[nodiscard]] ConfigValue tree(const DataStore::Entry& entry) const { return store_.tree("networks", entry); }
  /// The known spelling that a slip most likely means.
  [[nodiscard]] std::optional<std::string> nearest(std::string_view spelling) const;
  [[nodiscard]] std::vector<std::string> ids() const { return store_.ids("networks"); }
  /// `see` of each id, but of files of the user's own that are broken (DataStore::each).
  void each(const std::function<void(const std::string& id)>& see) const { store_.each("networks", see); }

 private:
  DataStore store_;
};

}  // namespace headroom
