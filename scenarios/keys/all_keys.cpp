// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/keys/all_keys.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace headroom {
namespace {

class AllKeys {
 public:
  AllKeys() {
    for (const std::span<const KeyTable> tables :
         std::array{keys_of_root(), keys_of_hardware(), keys_of_training(), keys_of_goodput(), keys_of_strategy(),
                    keys_of_serving(), keys_of_traffic(), keys_of_fleet(), keys_of_money(), keys_of_search()}) {
      for (const KeyTable& table : tables) {
        add(table);
      }
    }
    for (const Key& key : keys_) {
      by_path_.push_back(&key);
    }
    std::stable_sort(by_path_.begin(), by_path_.end(), [](const Key* a, const Key* b) { return a->path < b->path; });
  }

  [[nodiscard]] std::span<const Key> keys() const noexcept { return keys_; }

  [[nodiscard]] const Key* find(std::string_view path, Kinds kind) const noexcept {
    auto at = std::lower_bound(by_path_.begin(), by_path_.end(), path,
                               [](const Key* key, std::string_view wanted) { return key->path < wanted; });
    while (at != by_path_.end() && (*at)->path == path && !meet((*at)->kinds, kind)) {
      ++at;
    }
    return at != by_path_.end() && (*at)->path == path ? *at : nullptr;
  }

 private:
  void add(const KeyTable& table) {
    for (const Key& row : table.rows) {
      Key key = row.of(row.kinds & table.kinds);
      if (!table.path.empty()) {
        paths_.push_back(std::string{table.path} + "." + std::string{row.path});
        key.path = paths_.back();
      }
      keys_.push_back(key);
    }
  }

  std::deque<std::string> paths_;  ///< which the keys name: none moves
  std::vector<Key> keys_;
  std::vector<const Key*> by_path_;
};

const AllKeys& known() {
  static const AllKeys all;
  return all;
}

}  // namespace

std::span<const Key> all_keys() {
  return known().keys();
}

const Key* find_key(std::string_view path, Kinds kind) {
  return known().find(path, kind);
}

const Key& key_of(std::string_view path, Kinds kind) {
  const Key* found = find_key(path, kind);
  if (found == nullptr) {
    throw std::logic_error{"no row of the table of keys has " + std::string{path}};
  }
  return *found;
}

}  // namespace headroom
