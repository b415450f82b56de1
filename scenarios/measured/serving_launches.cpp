// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real_text.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/serving_launches.hpp>
#include <headroom/scenarios/measured/serving_place.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

/// Requests that were sent by the publication's own files: the one fact that replaces what a row states.
constexpr std::string_view sent_requests = "sent_requests";

/// A fact that is a number; the name is that of the row's option or cell.
struct NumberFact {
  std::string_view key;
  double low, high;
};
constexpr std::array number_facts{
    NumberFact{"range_ratio", 0.01, 1.0},
    NumberFact{"stream_interval", 1.0, 1e6},
    NumberFact{"recv_interval", 1.0, 1e6},
    NumberFact{"batch_wait", 0.0, 1e6},
    NumberFact{"batch_wait_share", 0.0, 1.0},
    NumberFact{"decode_steps", 0.0, 1e6},
    NumberFact{"decode_steps_from", 0.0, 1e6},
    NumberFact{"attention_dp_timeout", 0.0, 1e6},
    NumberFact{"attention_dp_batching", 0.0, 1e6},
    NumberFact{"distinct_prompts", 1.0, 1e9},
    NumberFact{"front_end_processes", 1.0, 1e4},
    NumberFact{"memory_fraction", 0.01, 1.0},
    NumberFact{"max_num_tokens", 1.0, 1e9},
    NumberFact{"max_num_tokens_per_isl", 0.1, 100.0},
    NumberFact{"max_num_tokens_beside", 0.0, 1e6},
    NumberFact{"max_num_seqs", 1.0, 1e9},
    NumberFact{"set_of_requests", 1.0, 1e9},
    NumberFact{"set_seconds", 1.0, 1e6},
    NumberFact{sent_requests, 1.0, 1e9},
    NumberFact{"beams", 1.0, 64.0},
    NumberFact{"draft_tokens", 1.0, 64.0},
    NumberFact{"prompt_tokens", 1.0, 1e7},
    NumberFact{"prompt_tokens_low", 1.0, 1e7},
    NumberFact{"prompt_tokens_high", 1.0, 1e7},
    NumberFact{"output_tokens", 1.0, 1e7},
    NumberFact{"ttft_p99_ms", 1.0, 1e7},
    NumberFact{"tpot_p99_ms", 0.1, 1e6},
    NumberFact{"e2e_p99_ms", 1.0, 1e7},
    NumberFact{"token_gaps", 0.0, 1.0},
    NumberFact{"chunked_prefill", 0.0, 1.0},
    NumberFact{"eplb", 0.0, 1.0},
    NumberFact{"two_batch_overlap", 0.0, 1.0},
    NumberFact{"redundant_experts", 0.0, 1e6},
    NumberFact{"tensor_ranks", 1.0, 4096.0},
    NumberFact{"power_cap_w", 1.0, 1e4},
};
constexpr std::array<std::string_view, 5> text_facts{"kv_cache", "lengths", "engine_version", "speculative",
                                                     "quantization"};

std::optional<std::array<std::int64_t, 2>> read_row_bounds(ConfigTable& table, std::string_view key) {
  if (!table.has(key)) {
    return std::nullopt;
  }
  const std::vector<std::int64_t> read = table.integers(key);
  if (read.size() != 2 || read[0] < 1 || read[0] > read[1]) {
    table.problem(key, "takes two numbers, the lower one first, as [1, 15]");
    return std::nullopt;
  }
  return std::array<std::int64_t, 2>{read[0], read[1]};
}

PublishedLaunch read_launch(ConfigTable& table) {
  PublishedLaunch launch;
  launch.id = table.text("id");
  launch.source = table.text("source");
  launch.sources = table.texts("sources");
  launch.refs = table.texts("refs");
  launch.engines = table.texts("engines");
  launch.models = table.texts("models");
  launch.gpus = table.texts("gpus");
  launch.weights = table.texts("weights");
  launch.versions = table.texts("versions");
  launch.scenario = table.maybe_text("scenario").value_or("");
  launch.isl = table.maybe_number("isl", {1.0, 1e7});
  launch.osl = table.maybe_number("osl", {1.0, 1e7});
  launch.tp = read_row_bounds(table, "tp");
  launch.concurrency = read_row_bounds(table, "concurrency");
  for (const NumberFact& fact : number_facts) {
    if (const std::optional<double> value = table.maybe_number(fact.key, {fact.low, fact.high})) {
      launch.facts.emplace_back(fact.key, shortest_text(*value));
    }
  }
  for (const std::string_view key : text_facts) {
    if (std::optional<std::string> value = table.maybe_text(key)) {
      launch.facts.emplace_back(key, std::move(*value));
    }
  }
  if (launch.sources.empty()) {
    table.problem("sources", "a launch names the publications that it holds for");
  }
  if (launch.facts.empty()) {
    table.problem("id", quoted(launch.id) + " states no fact");
  }
  table.finish();
  return launch;
}

bool among(const std::vector<std::string>& names, std::string_view cell) {
  return names.empty() || std::find(names.begin(), names.end(), cell) != names.end();
}

bool begins_with_one(const std::vector<std::string>& names, std::string_view cell) {
  return names.empty() ||
         std::any_of(names.begin(), names.end(), [&](const std::string& name) { return cell.starts_with(name); });
}

bool within(const std::optional<std::array<std::int64_t, 2>>& bounds, std::optional<double> value) {
  return !bounds ||
         (value && static_cast<double>((*bounds)[0]) <= *value && *value <= static_cast<double>((*bounds)[1]));
}

/// Gives a cell that is blank the fact's value; whether it was blank.
bool fill(ServingConfiguration& run, const std::string& key, const std::string& value) {
  const auto number = [&](std::optional<double>& cell) {
    const bool blank = !cell;
    cell = blank ? whole_real(value) : cell;
    return blank;
  };
  if (key == "prompt_tokens") {
    return number(run.isl);
  }
  if (key == "output_tokens") {
    return number(run.osl);
  }
  if (key == "kv_cache") {
    const bool blank = run.kv_dtype.empty();
    run.kv_dtype = blank ? value : run.kv_dtype;
    return blank;
  }
  if (key == "engine_version") {
    const bool blank = run.engine_version.empty();
    run.engine_version = blank ? value : run.engine_version;
    return blank;
  }
  const auto count = [&](std::optional<std::int64_t>& cell) {
    const bool blank = !cell;
    cell = blank ? static_cast<std::int64_t>(whole_real(value).value_or(1.0)) : cell;
    return blank;
  };
  if (key == "max_num_seqs") {
    return count(run.max_batch);
  }
  if (key == "tensor_ranks") {
    return count(run.tp);
  }
  return run.options.try_emplace(key, value).second;
}

/// What is told of the fact, where it says something that the row does not.
std::string fact_of(ServingConfiguration& run, const std::string& key, const std::string& value) {
  if (key != sent_requests) {
    return fill(run, key, value) ? key + " " + value : std::string{};
  }
  std::string& stated = run.options["requests"];
  if (stated == value) {
    return {};
  }
  const std::string before = std::exchange(stated, value);
  return "requests " + value + (before.empty() ? "" : " in place of the row's " + before);
}

/// Chunks that a launch states by the prompts' length.
void fill_chunk(ServingConfiguration& run) {
  const std::optional<double> per = row_number(run, "max_num_tokens_per_isl");
  const std::optional<double> beside = row_number(run, "max_num_tokens_beside");
  if (run.isl && per) {
    fill(run, "max_num_tokens", std::to_string(std::llround(*per * *run.isl)));
  } else if (run.isl && beside) {
    // TensorRT-LLM's default, or what one prompt and the decodes take.
    const double needed = *run.isl + run.concurrency.value_or(0.0) + *beside;
    fill(run, "max_num_tokens", std::to_string(std::llround(std::max(8192.0, needed))));
  }
}

}  // namespace

bool PublishedLaunch::holds(const RunRow& row) const {
  const ServingConfiguration& run = row.serving;
  const bool here = refs.empty() || std::any_of(refs.begin(), refs.end(), [&](const std::string& ref) {
                      return row.source_ref.find(ref) != std::string::npos || row.notes.find(ref) != std::string::npos;
                    });
  const std::optional<double> ranks = run.tp ? std::optional{static_cast<double>(*run.tp)} : std::nullopt;
  return here && begins_with_one(sources, row.source) && among(engines, run.engine) &&
         begins_with_one(models, run.model) && among(gpus, run.gpu) && among(weights, run.weight_dtype) &&
         among(versions, run.engine_version) && (scenario.empty() || row_option(run, "scenario") == scenario) &&
         (!isl || run.isl == isl) && (!osl || run.osl == osl) && within(tp, ranks) &&
         within(concurrency, run.concurrency);
}

std::string_view PublishedLaunches::refusal(std::string_view engine) const noexcept {
  const auto found = std::find_if(refused.begin(), refused.end(), [&](const RefusedEngine& one) {
    return std::find(one.engines.begin(), one.engines.end(), engine) != one.engines.end();
  });
  return found == refused.end() ? std::string_view{} : std::string_view{found->why};
}

PublishedLaunches read_published_launches(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  PublishedLaunches all;
  for (ConfigTable& table : root.tables("launch")) {
    all.launches.push_back(read_launch(table));
  }
  for (ConfigTable& table : root.tables("refused")) {
    RefusedEngine refused{table.texts("engines"), table.text("why")};
    table.finish();
    all.refused.push_back(std::move(refused));
  }
  root.finish();
  return all;
}

const PublishedLaunches& published_launches(const ModelData& data) {
  return step_numbers(data, "serve-launches", read_published_launches);
}

LaunchedRow launched(const RunRow& row, const PublishedLaunches& launches) {
  LaunchedRow filled{row.serving, {}};
  std::string ids;
  for (const PublishedLaunch& launch : launches.launches) {
    if (!launch.holds(row)) {
      continue;
    }
    bool used = false;
    for (const auto& [key, value] : launch.facts) {
      if (const std::string told = fact_of(filled.run, key, value); !told.empty()) {
        filled.assumed += (filled.assumed.empty() ? "" : ", ") + told;
        used = true;
      }
    }
    if (used) {
      ids += (ids.empty() ? "" : "; ") + launch.id;
    }
  }
  fill_chunk(filled.run);
  if (!ids.empty()) {
    filled.assumed += " (" + ids + ")";
  }
  return filled;
}

std::string contradiction(const ServingConfiguration& run) {
  const double stream = row_number(run, "stream_interval").value_or(1.0);
  if (run.osl && stream > *run.osl) {
    return "options: 'stream_interval' is " + shortest_text(stream) + ", above the answer's " +
           shortest_text(*run.osl) + " tokens: nothing is streamed before the end";
  }
  const std::string caching = row_option(run, "prefix_caching");
  if (caching == "0" && row_number(run, "distinct_prompts")) {
    return "options: 'distinct_prompts' goes without 'prefix_caching=0': prompts that no cache keeps are all new";
  }
  if (const auto low = row_number(run, "prompt_tokens_low"), high = row_number(run, "prompt_tokens_high");
      low && high && *low > *high) {
    return "options: 'prompt_tokens_low' is above 'prompt_tokens_high'";
  }
  return {};
}

}  // namespace headroom
