// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/batch_keys.hpp>
#include <headroom/scenarios/keys/classic_keys.hpp>
#include <headroom/scenarios/keys/cluster_keys.hpp>
#include <headroom/scenarios/keys/data_keys.hpp>
#include <headroom/scenarios/keys/fleet_keys.hpp>
#include <headroom/scenarios/keys/goodput_keys.hpp>
#include <headroom/scenarios/keys/hardware_keys.hpp>
#include <headroom/scenarios/keys/money_keys.hpp>
#include <headroom/scenarios/keys/post_train_keys.hpp>
#include <headroom/scenarios/keys/root_keys.hpp>
#include <headroom/scenarios/keys/search_keys.hpp>
#include <headroom/scenarios/keys/serving_keys.hpp>
#include <headroom/scenarios/keys/sharing_keys.hpp>
#include <headroom/scenarios/keys/strategy_keys.hpp>
#include <headroom/scenarios/keys/traffic_keys.hpp>
#include <headroom/scenarios/keys/training_keys.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace headroom {
namespace {

/// In the order in which people write them.
constexpr std::array tables{keys::root,
                            keys::hardware,
                            keys::hardware_pool,
                            keys::training,
                            keys::strategy,
                            keys::data,
                            keys::data_stage,
                            keys::goodput,
                            keys::target,
                            keys::sweep,
                            keys::serving,
                            keys::speculative,
                            keys::kv_offload,
                            keys::cpu_tier,
                            keys::disk_tier,
                            keys::remote_tier,
                            keys::traffic,
                            keys::prompt,
                            keys::output,
                            keys::prefix,
                            keys::over_time,
                            keys::retries,
                            keys::traffic_class,
                            keys::class_prompt,
                            keys::class_output,
                            keys::class_prefix,
                            keys::class_slo,
                            keys::slo,
                            keys::inference,
                            keys::inference_call,
                            keys::requests,
                            keys::requests_class,
                            keys::requests_slo,
                            keys::clients,
                            keys::job,
                            keys::sharing,
                            keys::tenant,
                            keys::tenant_slo,
                            keys::classic_host,
                            keys::trees,
                            keys::kmeans,
                            keys::vectors,
                            keys::selection,
                            keys::grouping,
                            keys::recommender,
                            keys::video,
                            keys::simulator,
                            keys::control,
                            keys::units,
                            keys::fleet,
                            keys::prefix_routing,
                            keys::prefill,
                            keys::fleet_failures,
                            keys::autoscale,
                            keys::money,
                            keys::against,
                            keys::owned,
                            keys::storage,
                            keys::egress,
                            keys::api,
                            keys::energy,
                            keys::search_of_training,
                            keys::search_of_fleets,
                            keys::search_of_batch,
                            keys::search_offer,
                            keys::objective,
                            keys::pool,
                            keys::cluster_tenant,
                            keys::cluster_job,
                            keys::job_on,
                            keys::policy,
                            keys::rollout,
                            keys::post_train,
                            keys::pools,
                            keys::stage};

class AllKeys {
 public:
  AllKeys() {
    for (const KeyTable& table : tables) {
      for (const Key& row : table.rows) {
        Key key = row.of(row.kinds & table.kinds);
        if (!table.path.empty()) {
          paths_.push_back(std::string{table.path} + "." + std::string{row.path});
          key.path = paths_.back();
        }
        keys_.push_back(key);
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
  std::deque<std::string> paths_;  ///< which the keys name: none moves
  std::vector<Key> keys_;
  std::vector<const Key*> by_path_;
};

const AllKeys& known() {
  static const AllKeys all;
  return all;
}

}  // namespace

std::span<const KeyTable> all_key_tables() noexcept {
  return tables;
}

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

std::string blank_text(const Key& key) {
  if (!key.blank.empty() || !key.usual) {
    return std::string{key.blank};
  }
  switch (key.type) {
    case KeyType::boolean: return *key.usual != 0.0 ? "true" : "false";
    case KeyType::choice:
    case KeyType::text: return std::string{key.choices[static_cast<std::size_t>(*key.usual)]};
    case KeyType::percentage: return shortest_text(*key.usual) + " %";
    case KeyType::quantity: return bound_text(*key.usual, key.dimension);
    default: return shortest_text(*key.usual);
  }
}

std::string bound_text(double value, Dimension dimension) {
  if (dimension == dimension_of<Seconds>) {
    return format(Seconds{value});
  }
  if (dimension == dimension_of<Bytes>) {
    return format(Bytes{value});
  }
  if (dimension == dimension_of<BytesPerSecond>) {
    return format(BytesPerSecond{value});
  }
  if (dimension == dimension_of<Dollars>) {
    return format(Dollars{value});
  }
  if (dimension == dimension_of<DollarsPerSecond>) {
    return format(DollarsPerSecond{value});
  }
  if (dimension == dimension_of<DollarsPerJoule>) {
    return format_number(value * 3.6e6) + " $/kWh";
  }
  if (dimension == dimension_of<DollarsPerByte>) {
    return format(DollarsPerByte{value});
  }
  if (dimension == dimension_of<DollarsPerByteSecond>) {
    return format(DollarsPerByteSecond{value});
  }
  if (dimension == dimension_of<Watts>) {
    return format(Watts{value});
  }
  return dimension == dimension_of<Hertz> ? format_number(value) + " req/s" : format_number(value);
}

}  // namespace headroom
