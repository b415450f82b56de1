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

/// Requests that were sent by the publication's own files: this and the next are the facts that replace what a row
/// states.
constexpr std::string_view sent_requests = "sent_requests";
/// Places in the engine by those files, where the row repeats its clients as its batch limit.
constexpr std::string_view launched_places = "launched_places";
constexpr std::string_view launched_version = "launched_version";
/// Which of the engines behind the row's name ran.
constexpr std::string_view launched_engine = "launched_engine";
/// Experts are not cut over the tensor ranks, whatever the cell ep says.
constexpr std::string_view whole_experts = "whole_experts";

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
    NumberFact{"mixed_chunks", 0.0, 1.0},
    NumberFact{"decode_steps", 0.0, 1e6},
    NumberFact{"decode_steps_from", 0.0, 1e6},
    NumberFact{"attention_dp_timeout", 0.0, 1e6},
    NumberFact{"attention_dp_batching", 0.0, 1e6},
    NumberFact{"distinct_prompts", 1.0, 1e9},
    NumberFact{"warmups_per_client", 0.0, 1e6},
    NumberFact{"front_end_processes", 1.0, 1e4},
    NumberFact{"chat_template_ms", 0.0, 1e3},
    NumberFact{"memory_fraction", 0.01, 1.0},
    NumberFact{"max_num_tokens", 1.0, 1e9},
    NumberFact{"max_num_tokens_per_isl", 0.1, 100.0},
    NumberFact{"max_num_tokens_beside", 0.0, 1e6},
    NumberFact{"max_num_tokens_least", 1.0, 1e6},
    NumberFact{"max_num_seqs", 1.0, 1e9},
    NumberFact{"places_taken", 0.0, 1e6},
    NumberFact{"weight_blocks", 0.0, 1.0},
    NumberFact{"launched_places_low", 1.0, 1e9},
    NumberFact{"launched_places_high", 1.0, 1e9},
    NumberFact{"requests_per_place", 0.1, 1e6},
    NumberFact{"set_of_requests", 1.0, 1e9},
    NumberFact{"set_seconds", 1.0, 1e6},
    NumberFact{sent_requests, 1.0, 1e9},
    NumberFact{launched_places, 1.0, 1e9},
    NumberFact{"beams", 1.0, 64.0},
    NumberFact{"top_p", 0.0, 1.0},
    NumberFact{"draft_tokens", 1.0, 64.0},
    NumberFact{"verified_tokens", 1.0, 1024.0},
    NumberFact{"overlap_drafts", 0.0, 1.0},
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
    NumberFact{whole_experts, 1.0, 1.0},
    NumberFact{"prefill_workers", 1.0, 4096.0},
    NumberFact{"prefill_tp", 1.0, 4096.0},
    NumberFact{"prefill_attention_dp", 1.0, 4096.0},
    NumberFact{"prefill_ep", 1.0, 4096.0},
    NumberFact{"decode_workers", 1.0, 4096.0},
    NumberFact{"power_cap_w", 1.0, 1e4},
};
constexpr std::array<std::string_view, 10> text_facts{
    "all_to_all",    "kv_cache",    "lengths",      "engine_version", launched_version,
    launched_engine, "speculative", "draft_method", "quantization",   "scheduler"};

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

/// What a table says of the rows that it holds for.
PublishedLaunch read_conditions(ConfigTable& table) {
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
  launch.from = table.maybe_text("from").value_or("");
  launch.until = table.maybe_text("until").value_or("");
  launch.isl = table.maybe_number("isl", {1.0, 1e7});
  launch.osl = table.maybe_number("osl", {1.0, 1e7});
  launch.tp = read_row_bounds(table, "tp");
  launch.concurrency = read_row_bounds(table, "concurrency");
  if (launch.sources.empty()) {
    table.problem("sources", "a launch names the publications that it holds for");
  }
  return launch;
}

PublishedLaunch read_launch(ConfigTable& table) {
  PublishedLaunch launch = read_conditions(table);
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
  if (launch.facts.empty()) {
    table.problem("id", quoted(launch.id) + " states no fact");
  }
  table.finish();
  return launch;
}

constexpr std::size_t deployment_cells = 14;  ///< numbers of a deployment in the file

PublishedDeployments read_deployments(ConfigTable& table) {
  PublishedDeployments read;
  read.rows = read_conditions(table);
  const std::vector<std::int64_t> cells = table.integers("deployments");
  if (cells.empty() || cells.size() % deployment_cells != 0) {
    table.problem("deployments",
                  "takes 14 numbers a deployment: isl, osl, clients; workers, ranks, ep, attention-DP (0 or 1) of the "
                  "prefilling and of the decoding pool; drafts; experts with their copies; places of a decoding rank");
    return read;
  }
  for (std::size_t i = 0; i < cells.size(); i += deployment_cells) {
    const std::int64_t* at = cells.data() + i;
    const bool counts = std::all_of(at, at + 6, [](std::int64_t n) { return n >= 1; }) &&
                        std::all_of(at + 7, at + 10, [](std::int64_t n) { return n >= 1; });
    const bool flags = (at[6] == 0 || at[6] == 1) && (at[10] == 0 || at[10] == 1);
    if (!counts || !flags || at[11] < -1 || at[11] > 16 || at[12] < 0 || at[13] < 0) {
      table.problem("deployments",
                    "number " + std::to_string(i / deployment_cells + 1) +
                        " has a count below 1, a flag that is neither 0 nor 1, or drafts beyond -1 to 16");
    }
    read.deployments.push_back({at[0],
                                at[1],
                                at[2],
                                {at[3], at[4], at[5], at[6] == 1},
                                {at[7], at[8], at[9], at[10] == 1},
                                at[11],
                                at[12],
                                at[13]});
  }
  table.finish();
  return read;
}

bool among(const std::vector<std::string>& names, std::string_view cell) {
  return names.empty() || std::find(names.begin(), names.end(), cell) != names.end();
}

bool begins_with_one(const std::vector<std::string>& names, std::string_view cell) {
  return names.empty() ||
         std::any_of(names.begin(), names.end(), [&](const std::string& name) { return cell.starts_with(name); });
}

/// The day of a row as its notes have it, "measured 2026-02-13"; empty where they do not say.
std::string_view day_of(std::string_view notes) noexcept {
  constexpr std::string_view measured = "measured ";
  constexpr std::size_t day = 10;  // of ISO 8601
  const std::size_t at = notes.find(measured);
  return at == std::string_view::npos ? std::string_view{} : notes.substr(at + measured.size(), day);
}

/// Whether a row's day lies within bounds in ISO 8601, which sort as text; a row without a day lies within any.
bool on_days(std::string_view day, const std::string& from, const std::string& until) noexcept {
  return day.empty() || ((from.empty() || day >= from) && (until.empty() || day <= until));
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
  if (key == launched_places) {
    run.max_batch = static_cast<std::int64_t>(whole_real(value).value_or(1.0));
    return "max_num_seqs " + value;
  }
  if (key == whole_experts) {
    const std::int64_t before = std::exchange(run.ep, run.tp).value_or(1);
    return before == run.ep ? std::string{} : "ep " + std::to_string(run.ep.value_or(1)) + ", of whole experts";
  }
  if (key == launched_engine) {
    run.engine = value;
    return "engine " + value;
  }
  if (key == launched_version) {
    const std::string before = std::exchange(run.engine_version, value);
    return before == value ? std::string{} : "engine_version " + value + " in place of the row's " + quoted(before);
  }
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

/// Places that the engine keeps for itself are none for requests.
void take_places(ServingConfiguration& run) {
  if (const std::optional<double> taken = row_number(run, "places_taken"); taken && run.max_batch) {
    run.max_batch = std::max<std::int64_t>(1, *run.max_batch - std::llround(*taken));
  }
}

/// Requests that a client sent for each place in the engine.
void fill_requests(ServingConfiguration& run) {
  if (const std::optional<double> per = row_number(run, "requests_per_place"); per && run.max_batch) {
    fill(run, "requests", std::to_string(std::llround(*per * static_cast<double>(*run.max_batch))));
  }
}

/// Chunks that a launch states by the prompts' length.
void fill_chunk(ServingConfiguration& run) {
  const std::optional<double> per = row_number(run, "max_num_tokens_per_isl");
  const std::optional<double> beside = row_number(run, "max_num_tokens_beside");
  if (run.isl && per) {
    fill(run, "max_num_tokens", std::to_string(std::llround(*per * *run.isl)));
  } else if (run.isl && beside) {
    // What one prompt and the decodes take, and no less than the launch says: by default TensorRT-LLM's own limit.
    const double least = row_number(run, "max_num_tokens_least").value_or(8192.0);
    const double needed = *run.isl + run.concurrency.value_or(0.0) + *beside;
    fill(run, "max_num_tokens", std::to_string(std::llround(std::max(least, needed))));
  }
}

}  // namespace

bool PublishedLaunch::holds(const RunRow& row) const {
  const ServingConfiguration& run = row.serving;
  const bool here = refs.empty() || std::any_of(refs.begin(), refs.end(), [&](const std::string& ref) {
                      return row.source_ref.find(ref) != std::string::npos || row.notes.find(ref) != std::string::npos;
                    });
  const std::optional<double> ranks = run.tp ? std::optional{static_cast<double>(*run.tp)} : std::nullopt;
  return here && on_days(day_of(row.notes), from, until) && begins_with_one(sources, row.source) &&
         among(engines, run.engine) && begins_with_one(models, run.model) && among(gpus, run.gpu) &&
         among(weights, run.weight_dtype) && among(versions, run.engine_version) &&
         (scenario.empty() || row_option(run, "scenario") == scenario) && (!isl || run.isl == isl) &&
         (!osl || run.osl == osl) && within(tp, ranks) && within(concurrency, run.concurrency);
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

std::vector<PublishedDeployments> read_published_deployments(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  std::vector<PublishedDeployments> all;
  for (ConfigTable& table : root.tables("configuration")) {
    all.push_back(read_deployments(table));
  }
  root.finish();
  return all;
}

const std::vector<PublishedDeployments>& published_deployments(const ModelData& data) {
  return step_numbers(data, "serve-deployments", read_published_deployments);
}

bool PublishedDeployment::agrees(const ServingConfiguration& run) const {
  const auto stated = [&](std::string_view key) {
    return static_cast<std::int64_t>(row_number(run, key).value_or(1.0));
  };
  const std::int64_t decodes = stated("decode_tp"), prompts = stated("prefill_tp");
  const std::int64_t all = prefill.gpus() + decode.gpus();
  return (decodes == decode.ranks && (prompts == prefill.ranks || prompts == 1)) ||
         (decodes == all && prompts == all) || (decodes == 1 && prompts == 1);
}

ServingConfiguration PublishedDeployment::deployed(const ServingConfiguration& run) const {
  ServingConfiguration row = run;
  const auto state = [&row](const std::string& pool, const PublishedPool& as) {
    const std::int64_t groups = as.attention_dp ? as.ranks : 1;
    const auto set = [&](const std::string& key, std::int64_t value) {
      row.options[pool + key] = std::to_string(value);
    };
    set("workers", as.workers);
    set("tp", as.ranks / groups);
    set("pp", 1);
    set("attention_dp", groups);
    set("ep", as.ep);
    set("moe_tp", as.ranks / std::min(as.ep, as.ranks));
  };
  state("prefill_", prefill);
  state("decode_", decode);
  row.tp = decode.attention_dp ? 1 : decode.ranks;
  row.pp = 1;
  row.ep = decode.ep;
  row.dp = decode.attention_dp ? decode.ranks : 1;
  row.gpus.reset();
  row.options.erase("attention_dp");
  if (drafts != 0) {
    row.options["speculative"] = "mtp";
  }
  launch(row);
  if (drafts > 0) {
    row.options["draft_tokens"] = std::to_string(drafts);
  }
  return row;
}

void PublishedDeployment::launch(ServingConfiguration& run) const {
  if (slots > 0) {
    run.options.try_emplace("eplb", "1");
    run.options.try_emplace("redundant_experts",
                            std::to_string(std::max<std::int64_t>(0, slots - run.experts.value_or(slots))));
  }
  if (batch > 0) {
    run.options.try_emplace("decode_places", std::to_string(batch * (decode.attention_dp ? decode.ranks : 1)));
  }
}

bool PublishedDeployment::is_of(const ServingConfiguration& run) const {
  const auto same = [&](const std::string& pool, const PublishedPool& as) {
    const auto stated = [&](std::string_view key) {
      return static_cast<std::int64_t>(row_number(run, pool + std::string{key}).value_or(1.0));
    };
    return stated("workers") == as.workers && stated("tp") * stated("attention_dp") == as.ranks &&
           (as.ranks == 1 || (stated("attention_dp") > 1) == as.attention_dp);
  };
  return drafts == 0 && same("prefill_", prefill) && same("decode_", decode);
}

namespace {

/// A deployment as *assumed* tells it: "prefilling 2 x 4, decoding 1 x 8 (attention-DP) ranks, 3 drafts".
std::string deployment_text(const PublishedDeployment& d) {
  const auto pool = [](const PublishedPool& p) {
    return std::to_string(p.workers) + " x " + std::to_string(p.ranks) + (p.attention_dp ? " (attention-DP)" : "");
  };
  const auto count = [](std::int64_t n, const char* of) {
    return n > 0 ? ", " + std::to_string(n) + of : std::string{};
  };
  return "prefilling " + pool(d.prefill) + ", decoding " + pool(d.decode) + " ranks" +
         (d.drafts < 0 ? ", drafts" : count(d.drafts, " drafts")) + count(d.batch, " places of a decoding rank") +
         count(d.slots, " experts with their copies");
}

/// The row as that deployment; one that states its workers takes what its cells do not say.
LaunchedRow as_deployed(const LaunchedRow& filled, const PublishedDeployment& d, const std::string& id, bool whole) {
  LaunchedRow row = filled;
  if (whole) {
    d.launch(row.run);
  } else {
    row.run = d.deployed(filled.run);
    row.open_drafts = d.drafts < 0;
  }
  row.assumed += (filled.assumed.empty() ? "" : ", ") + deployment_text(d) + " (" + id + ")";
  return row;
}

}  // namespace

std::vector<LaunchedRow> deployments_of(const RunRow& row,
                                        const LaunchedRow& filled,
                                        const std::vector<PublishedDeployments>& published) {
  const ServingConfiguration& run = row.serving;
  std::vector<LaunchedRow> all;
  if (!run.disaggregated || !row_option(run, "pool").empty() || !run.isl || !run.osl || !run.concurrency) {
    return all;
  }
  const bool whole = row_number(run, "decode_workers") && row_number(run, "prefill_workers");
  const double stated_ep = row_number(run, "prefill_ep").value_or(1.0);
  bool exact = false;
  for (const PublishedDeployments& one : published) {
    if (!one.rows.holds(row)) {
      continue;
    }
    for (const PublishedDeployment& d : one.deployments) {
      const bool loaded = static_cast<double>(d.isl) == *run.isl && static_cast<double>(d.osl) == *run.osl &&
                          static_cast<double>(d.clients) == *run.concurrency;
      if (!loaded || !(whole ? d.is_of(run) : d.agrees(run))) {
        continue;
      }
      // A row whose ep is that of a deployment's prefilling pool is no other's.
      const bool nearer = static_cast<double>(d.prefill.ep) == stated_ep;
      if (nearer && !exact) {
        all.clear();
      }
      if (nearer || !exact) {
        all.push_back(as_deployed(filled, d, one.rows.id, whole));
      }
      exact = exact || nearer;
    }
  }
  return all;
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
  fill_requests(filled.run);
  take_places(filled.run);
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
  if (const auto low = row_number(run, "launched_places_low"), high = row_number(run, "launched_places_high");
      low && high && *low > *high) {
    return "options: 'launched_places_low' is above 'launched_places_high'";
  }
  return {};
}

}  // namespace headroom
