// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/training_keys.hpp>
#include <headroom/scenarios/read/data_reader.hpp>

namespace headroom {

std::optional<DataFeed> read_data_feed(ConfigTable& root) {
  auto table = KeyedTable<keys::data, Kinds::all>::maybe(root);
  if (!table) {
    return std::nullopt;
  }
  DataFeed feed;
  feed.stored = table->stated<"sample_bytes">().value_or(Bytes{});
  feed.fed = table->stated<"fed_bytes">().value_or(Bytes{});
  feed.cpu = table->stated<"cpu_time">().value_or(Seconds{});
  feed.workers = static_cast<double>(table->stated<"workers">().value_or(0));
  feed.storage = table->stated<"storage_bandwidth">().value_or(BytesPerSecond{});
  feed.gpu_rate = table->stated<"gpu_rate">().value_or(0.0);
  feed.prefetch = table->get<"prefetch">();
  feed.pinned = table->get<"pinned">();
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
