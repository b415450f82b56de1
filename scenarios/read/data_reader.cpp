// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/keys/data_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/read/data_reader.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

using DataKeys = KeyedTable<keys::data, Kinds::all>;
using StageKeys = KeyedTable<keys::data_stage, Kinds::batch>;
constexpr std::size_t most_stages = 64;
constexpr std::string_view network_name = "network";

DataFeed feed_of(DataKeys& table) {
  DataFeed feed;
  feed.stored = table.stated<"sample_bytes">().value_or(Bytes{});
  feed.fed = table.stated<"fed_bytes">().value_or(Bytes{});
  feed.cpu = table.stated<"cpu_time">().value_or(Seconds{});
  feed.workers = static_cast<double>(table.stated<"workers">().value_or(0));
  feed.storage = table.stated<"storage_bandwidth">().value_or(BytesPerSecond{});
  feed.gpu_rate = table.stated<"gpu_rate">().value_or(0.0);
  feed.prefetch = table.get<"prefetch">();
  feed.pinned = table.get<"pinned">();
  if (table.has("cpu_time") && !table.has("workers")) {
    table.problem("cpu_time", "'cpu_time' needs 'workers', the loader processes of a host that have a core each");
  }
  if (table.has("storage_bandwidth") && !table.has("sample_bytes")) {
    table.problem("storage_bandwidth", "'storage_bandwidth' needs 'sample_bytes', what a sample takes in storage");
  }
  return feed;
}

/// Times of a stage and where it runs.
void read_place(StageKeys& table, PipelineStage& stage) {
  stage.time = {table.stated<"cpu_time">(), table.stated<"gpu_time">(), table.stated<"engine_time">()};
  const auto places =
      std::count_if(stage.time.begin(), stage.time.end(), [](const auto& each) { return each.has_value(); });
  const auto stated = table.stated<"on", StagePlace>();
  if (places == 0) {
    table.problem("name",
                  "stage '" + stage.name + "' has no time; state cpu_time, gpu_time or engine_time of a sample");
  } else if (places > 1 && !stated) {
    table.problem("name", "stage '" + stage.name + "' may run in " + std::to_string(places) +
                              " places; say where it does: on = \"cpu\", \"gpu\" or \"engine\"");
  } else if (stated && !stage.time[static_cast<std::size_t>(*stated)]) {
    const std::string place{stage_place_names[static_cast<std::size_t>(*stated)]};
    table.problem("on", "stage '" + stage.name + "' runs on \"" + place + "\", and no time is stated there: add " +
                            place + "_time");
  }
  const auto first =
      std::find_if(stage.time.begin(), stage.time.end(), [](const auto& each) { return each.has_value(); });
  stage.on = stated.value_or(first == stage.time.end() ? StagePlace::cpu
                                                       : static_cast<StagePlace>(first - stage.time.begin()));
  const auto belongs = [&](const char* key, StagePlace place) {
    if (table.has(key) && !stage.time[static_cast<std::size_t>(place)]) {
      table.problem(key, "'" + std::string{key} + "' goes with " +
                             std::string{stage_place_names[static_cast<std::size_t>(place)]} + "_time");
    }
  };
  belongs("cores", StagePlace::cpu);
  belongs("engines", StagePlace::engine);
}

/// Names of `after` as places in the list.
void join_stages(const std::vector<std::vector<std::string>>& after,
                 std::vector<StageKeys>& tables,
                 std::vector<PipelineStage>& stages) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!tables[i].has("after")) {
      if (i > 0) {
        stages[i].after.push_back(i - 1);
      }
      continue;
    }
    for (const std::string& name : after[i]) {
      const auto found =
          std::find_if(stages.begin(), stages.end(), [&](const PipelineStage& stage) { return stage.name == name; });
      if (name == network_name) {
        stages[i].after.push_back(network_of(stages));
      } else if (found != stages.end()) {
        stages[i].after.push_back(static_cast<std::size_t>(found - stages.begin()));
      } else {
        tables[i].problem("after", "no stage is called '" + name + "'; name one of [[data.stage]], or network");
      }
    }
  }
  const std::vector<std::size_t> cycle = cycle_of(stages);
  if (!cycle.empty()) {
    std::string names;
    for (const std::size_t stage : cycle) {
      names += (names.empty() ? "'" : ", '") + stages[stage].name + "'";
    }
    tables[cycle.front()].problem("after", (cycle.size() == 1 ? "stage " + names + " waits for itself"
                                                              : "stages " + names + " wait for each other in a cycle") +
                                               ", so that none can begin; take one of them out of an 'after'");
  }
}

std::vector<PipelineStage> read_stages(DataKeys& table) {
  std::vector<PipelineStage> stages;
  std::vector<StageKeys> tables;
  std::vector<std::vector<std::string>> after;
  for (ConfigTable& each : table.tables("stage")) {
    StageKeys& of = tables.emplace_back(std::move(each));
    PipelineStage stage;
    stage.name = of.get<"name">();
    read_place(of, stage);
    stage.share = of.get<"share">();
    stage.cores = static_cast<double>(of.stated<"cores">().value_or(0));
    stage.engines = static_cast<double>(of.get<"engines">());
    stage.output = of.stated<"output">().value_or(Bytes{});
    after.push_back(of.has("after") ? of.texts("after") : std::vector<std::string>{});
    const bool twice =
        std::any_of(stages.begin(), stages.end(), [&](const PipelineStage& other) { return other.name == stage.name; });
    if (twice || stage.name == network_name) {
      of.problem("name", twice ? "two stages are called '" + stage.name + "'; give one another name"
                               : std::string{"'network' is the call itself; give the stage another name"});
    }
    stages.push_back(std::move(stage));
  }
  if (stages.size() > most_stages) {
    table.problem("stage", std::to_string(stages.size()) + " stages; at most " + std::to_string(most_stages) +
                               " are followed: join those that run on one place");
    stages.clear();
    return stages;
  }
  join_stages(after, tables, stages);
  for (StageKeys& of : tables) {
    of.finish();
  }
  return stages;
}

void refuse_contradictions(DataKeys& table, const DataFeed& feed, const PipelineQuestion& asked) {
  const auto needs = [&](const char* key, const char* other, const char* what) {
    if (table.has(key) && !table.has(other)) {
      table.problem(key, "'" + std::string{key} + "' needs '" + other + "', " + what);
    }
  };
  needs("spread", "workers", "the loader processes of a host that have a core each");
  needs("shard_bytes", "sample_bytes", "what a sample takes in storage");
  needs("iops", "sample_bytes", "what a sample takes in storage");
  needs("set_bytes", "sample_bytes", "what a sample takes in storage");
  needs("memory_bandwidth", "sample_bytes", "what a sample takes in storage");
  needs("pageable_link", "fed_bytes", "what a sample takes on its way to the GPU");
  needs("copies", "fed_bytes", "what a sample takes on its way to the GPU");
  needs("host_links", "fed_bytes", "what a sample takes on its way to the GPU");
  needs("copy_latency", "fed_bytes", "what a sample takes on its way to the GPU");
  needs("cache", "set_bytes", "the size of what is cached");
  needs("cache_bandwidth", "set_bytes", "the size of what is cached");
  if (asked.copies > 1 && !table.has("copy_latency")) {
    table.problem("copies", "'copies' needs 'copy_latency', the time of a copy without bytes, such as \"10 us\"");
  }
  if (asked.shard && feed.stored > Bytes{} && *asked.shard < feed.stored) {
    table.problem("shard_bytes", "a shard of " + format(*asked.shard) + " holds no sample of " + format(feed.stored) +
                                     " (sample_bytes); state a larger one, or leave it out");
  }
  const bool on_cores = std::any_of(asked.stages.begin(), asked.stages.end(),
                                    [](const PipelineStage& stage) { return stage.on == StagePlace::cpu; });
  if (asked.direct && (feed.cpu > Seconds{} || on_cores)) {
    table.problem("direct", "'direct' goes past the host, and cores of it work on samples (" +
                                std::string{feed.cpu > Seconds{} ? "cpu_time" : "[[data.stage]]"} +
                                "); move them to the GPU, or leave 'direct' out");
  }
  if (!asked.stages.empty() && feed.fed > Bytes{}) {
    table.problem("fed_bytes", "what crosses to the GPU is the 'output' of a [[data.stage]]; leave 'fed_bytes' out");
  }
}

}  // namespace

std::optional<DataFeed> read_data_feed(ConfigTable& root) {
  auto table = DataKeys::maybe(root);
  if (!table) {
    return std::nullopt;
  }
  const DataFeed feed = feed_of(*table);
  table->finish();
  return feed;
}

std::optional<DataFeed> read_pipeline(ConfigTable& root, PipelineQuestion& asked) {
  auto table = DataKeys::maybe(root);
  if (!table) {
    return std::nullopt;
  }
  const DataFeed feed = feed_of(*table);
  asked.spread = table->get<"spread">();
  asked.pageable_link = table->stated<"pageable_link">();
  asked.copies = table->get<"copies">();
  asked.copy_latency = table->stated<"copy_latency">().value_or(Seconds{});
  asked.host_links = table->stated<"host_links">();
  asked.set = table->stated<"set_bytes">();
  asked.cache = table->stated<"cache">();
  asked.cache_bandwidth = table->stated<"cache_bandwidth">();
  asked.epochs = table->get<"epochs">();
  asked.shard = table->stated<"shard_bytes">();
  asked.iops = table->stated<"iops">();
  asked.direct = table->get<"direct">();
  asked.memory_bandwidth = table->stated<"memory_bandwidth">();
  asked.result = table->stated<"result_bytes">().value_or(Bytes{});
  asked.stages = read_stages(*table);
  refuse_contradictions(*table, feed, asked);
  table->finish();
  return feed;
}

}  // namespace headroom
