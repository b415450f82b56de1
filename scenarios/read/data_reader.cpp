// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/keys/read_key.hpp>
#include <headroom/scenarios/read/data_reader.hpp>

namespace headroom {
namespace {

/// A row of the table of keys, for its bounds and words.
const Key& row(std::string_view path) {
  return key_of(path, Kinds::training);
}

}  // namespace

std::optional<DataFeed> read_data_feed(ConfigTable& root) {
  std::optional<ConfigTable> table = root.maybe_table("data");
  if (!table) {
    return std::nullopt;
  }
  DataFeed feed;
  feed.stored = table->maybe_quantity<Bytes>("sample_bytes").value_or(Bytes{});
  feed.fed = table->maybe_quantity<Bytes>("fed_bytes").value_or(Bytes{});
  feed.cpu = table->maybe_quantity<Seconds>("cpu_time").value_or(Seconds{});
  feed.workers = static_cast<double>(maybe_integer_at(*table, row("data.workers")).value_or(0));
  feed.storage = table->maybe_quantity<BytesPerSecond>("storage_bandwidth").value_or(BytesPerSecond{});
  feed.prefetch = maybe_integer_at(*table, row("data.prefetch")).value_or(feed.prefetch);
  feed.pinned = table->maybe_boolean("pinned").value_or(true);
  if (table->has("cpu_time") && !table->has("workers")) {
    table->problem("cpu_time", "'cpu_time' needs 'workers', the loader processes of a host that have a core each");
  }
  if (table->has("storage_bandwidth") && !table->has("sample_bytes")) {
    table->problem("storage_bandwidth", "'storage_bandwidth' needs 'sample_bytes', what a sample takes in storage");
  }
  table->finish();
  return feed;
}

}  // namespace headroom
