// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/printable.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/infer/call_rates.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/keys/batch_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/root_keys.hpp>
#include <headroom/scenarios/read/batch_reader.hpp>
#include <headroom/scenarios/read/data_reader.hpp>
#include <headroom/scenarios/read/hardware_reader.hpp>
#include <headroom/scenarios/read/job_reader.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/money_reader.hpp>
#include <headroom/scenarios/read/network_model.hpp>

#include <algorithm>
#include <set>
#include <string_view>

namespace headroom {
namespace {

using InferenceKeys = KeyedTable<keys::inference, Kinds::batch>;

class BatchReader {
 public:
  BatchReader(const ConfigValue& root, const std::string& file, const Sources& sources, const NetworkLibrary& networks)
      : root_{root, "", diagnostics_}, sources_{sources}, networks_{networks} {
    s_.data = &sources.data;
    s_.file = file;
  }

  BatchScenario run() {
    require_schema(root_);
    refuse_base(root_);
    s_.name = root_.maybe_text("name").value_or(shown(s_.file));
    static_cast<void>(root_.choice("kind", scenario_kind_names));
    static constexpr const Key& confidence = row_named(keys::root, Kinds::batch, "confidence");
    s_.confidence = maybe_number_at(root_, confidence).value_or(*confidence.usual);
    read_model();
    read_gpus();
    read_inference();
    read_requests();
    read_clients();
    s_.job = read_job(root_, s_.gpus.has_value());
    s_.feed = read_pipeline(root_, s_.pipeline);
    if (s_.feed && s_.pipeline.set && !s_.pipeline.cache && s_.host && s_.host->host_memory) {
      s_.pipeline.cache = s_.host->host_memory->value;
      s_.assumptions.push_back("data.cache = " + format(*s_.pipeline.cache) + " (the memory of " + s_.host->id + ")");
    }
    s_.money = read_money(root_, sources_.catalog, priced_);
    s_.energy = read_energy(root_, s_.money, &s_.node_power);
    if (s_.node_power && !s_.host) {
      s_.assumptions.push_back("energy.node_power is of all " + std::to_string(s_.gpus.value_or(1)) +
                               " GPUs together: the catalog has no node of " + s_.device.id);
    }
    refuse_contradictions();
    root_.finish();
    diagnostics_.throw_if_any();
    return std::move(s_);
  }

 private:
  void read_model() {
    if (!root_.has("model")) {
      return;
    }
    s_.network = read_network_model(root_, s_.file, networks_);
    if (!root_.has("name")) {
      s_.name = s_.network->name;
    }
  }

  void read_gpus() {
    HardwareChoice hardware = read_hardware(root_, sources_, s_.assumptions, true);
    if (root_.has("hardware")) {
      if (ConfigTable table = root_.table("hardware"); table.has("host_memory")) {
        table.problem_at_key("host_memory", "nothing of a call is offloaded; leave 'host_memory' out");
      }
    }
    if (hardware.gpus > 0) {
      s_.gpus = hardware.gpus;
    }
    priced_ = hardware.priced(power_form(sources_.data), false);
    s_.gpus_per_node = hardware.gpus_per_node;
    s_.device = std::move(hardware.device);
    s_.host = std::move(hardware.host);
    s_.power_cap = hardware.power_cap;
  }

  void read_inference() {
    InferenceKeys table = InferenceKeys::or_blank(root_);
    const std::string engine = table.get<"engine">();
    for (const NetworkEngine& each : network_engines(sources_.data)) {
      if (each.id == engine) {
        s_.engine = &each;
      }
    }
    if (s_.engine == nullptr) {
      const auto find = [&](const std::string& id) { return &find_network_engine(sources_.data, id); };
      static_cast<void>(look_up(table, "engine", engine, find));
    } else if (!table.has("engine") && s_.network) {
      s_.assumptions.push_back("inference.engine = " + engine + " (" + s_.engine->name + ")");
    }
    s_.precision = table.get<"precision", Precision>();
    if (!table.has("precision") && s_.network) {
      s_.assumptions.push_back("inference.precision = " + std::string{name_of(s_.precision)});
    }
    refuse_precision(table);
    s_.max_batch = table.stated<"max_batch">();
    s_.window = table.stated<"window">();
    if (table.has("preferred")) {
      s_.preferred = table.integers("preferred");
      if (!std::is_sorted(s_.preferred.begin(), s_.preferred.end())) {
        table.problem("preferred", "'preferred' lists sizes from the smallest to the largest");
      }
      if (s_.max_batch && !s_.preferred.empty() && s_.preferred.back() > *s_.max_batch) {
        table.problem("preferred", "'preferred' has " + std::to_string(s_.preferred.back()) + ", above max_batch " +
                                       std::to_string(*s_.max_batch));
      }
    }
    s_.instances = table.get<"instances">();
    s_.spread = table.get<"spread">();
    s_.deterministic = table.get<"deterministic">();
    s_.memory.weights = table.stated<"weights_memory">();
    s_.memory.sample = table.stated<"sample_memory">();
    s_.memory.workspace = table.stated<"workspace">();
    s_.memory.usable = table.stated<"usable_memory">();
    std::set<std::int64_t> seen;
    for (ConfigTable& each : table.tables("call")) {
      KeyedTable<keys::inference_call, Kinds::batch> call{std::move(each)};
      const MeasuredCall measured{call.get<"batch">(), call.get<"time">()};
      bool elsewhere = false;
      if (const auto gpu = call.stated<"gpu">()) {
        const auto find = [&](const std::string& spelling) { return sources_.catalog.device(spelling).id; };
        const auto id = look_up(call, "gpu", *gpu, find);
        elsewhere = id && *id != s_.device.id;
      }
      call.finish();
      if (elsewhere) {
        continue;
      }
      if (!seen.insert(measured.batch).second) {
        call.problem("batch", "two calls of " + std::to_string(measured.batch) + " samples; keep one");
      }
      s_.calls.push_back(measured);
    }
    std::sort(s_.calls.begin(), s_.calls.end(),
              [](const MeasuredCall& a, const MeasuredCall& b) { return a.batch < b.batch; });
    if (!root_.has("model") && s_.calls.empty()) {
      root_.missing("model",
                    ", a network of the catalog ('headroom catalog list networks'), a TOML file of ops, or "
                    "[[inference.call]] with what was measured");
    }
    table.finish();
  }

  /// A format that the SKU has no units for, or that no network was measured in.
  void refuse_precision(InferenceKeys& table) {
    if (!s_.network || s_.device.id.empty()) {
      return;
    }
    const PrecisionRow& row = row_of(s_.precision);
    const bool narrow = s_.precision == Precision::int4 || row.rate == Rate::fp4;
    if (narrow || !s_.device.peak[static_cast<std::size_t>(row.rate)]) {
      table.problem("precision", narrow ? "no network was measured in " + std::string{row.name} +
                                              ", whose kernels pack two numbers in a byte; int8 and fp8 are the "
                                              "narrowest that are answered"
                                        : s_.device.id + " has no units for " + std::string{row.name} +
                                              "; 'headroom catalog show " + s_.device.id + "' lists its formats");
    }
  }

  void read_requests() {
    auto table = KeyedTable<keys::requests, Kinds::batch>::maybe(root_);
    if (!table) {
      return;
    }
    BatchRequests requests;
    for (ConfigTable& each : table->tables("class")) {
      KeyedTable<keys::requests_class, Kinds::batch> of{std::move(each)};
      BatchClass one;
      one.name = of.get<"name">();
      one.rate = of.get<"rate">().raw();
      one.deadline = of.stated<"deadline">().value_or(Seconds{});
      one.rejects = of.get<"rejects">();
      if (one.rejects && one.deadline <= Seconds{}) {
        of.problem("rejects", "'rejects' needs 'deadline', the time after which a request is dropped");
      }
      if (s_.window && one.deadline > Seconds{} && *s_.window >= one.deadline) {
        of.problem("deadline", "a window of " + format(*s_.window) +
                                   " (inference.window) alone takes the deadline of " + format(one.deadline) +
                                   "; shorten it, or leave it out: it is then chosen");
      }
      of.finish();
      requests.rate += one.rate;
      requests.classes.push_back(std::move(one));
    }
    if (requests.classes.size() > most_classes) {
      table->problem("class", std::to_string(requests.classes.size()) + " classes; at most " +
                                  std::to_string(most_classes) + " are simulated: join those that are promised alike");
    }
    const auto rate = table->stated<"rate">();
    if (requests.classes.empty()) {
      if (!rate && !s_.gpus) {
        table->missing("rate",
                       ", how many requests come, such as \"1e6 req/d\", or [[requests.class]]; or state "
                       "hardware.gpus, and the highest rate is answered");
      }
      requests.rate = rate.value_or(Hertz{}).raw();
      requests.classes.push_back({"requests", requests.rate, {}, false});
    } else if (rate && std::abs(rate->raw() / requests.rate - 1.0) > 1e-9) {
      table->problem("rate", "the classes bring " + format(Hertz{requests.rate}) + " together; leave 'rate' out");
    }
    requests.peak = table->get<"peak">();
    requests.periodic = table->get<"arrivals">() == 1;
    if (const auto stream = table->stated<"stream">()) {
      requests.stream = stream->raw();
    }
    requests.round_trip = table->stated<"round_trip">().value_or(Seconds{});
    requests.simulated = table->get<"simulated">();
    requests.seed = static_cast<std::uint64_t>(table->get<"seed">());
    if (auto slo = KeyedTable<keys::requests_slo, Kinds::batch>::maybe(*table)) {
      s_.promises = read_latencies(*slo);
      if (s_.window && !s_.promises.empty() && *s_.window >= s_.promises.front().latency) {
        const char* key = s_.promises.front().share == 0.5    ? "p50"
                          : s_.promises.front().share == 0.95 ? "p95"
                          : s_.promises.front().share == 0.99 ? "p99"
                                                              : "p999";
        slo->problem(key, "a window of " + format(*s_.window) + " (inference.window) alone takes the " +
                              format(s_.promises.front().latency) +
                              " that are promised; shorten it, or leave it out: it is then chosen");
      }
      slo->finish();
    }
    table->finish();
    if (requests.rate <= 0.0 && s_.promises.empty()) {
      table->problem("slo",
                     "nothing is promised, so that no rate is the highest; state [requests.slo] p99 = \"15 ms\"");
    }
    if (!s_.gpus && s_.promises.empty() &&
        std::none_of(requests.classes.begin(), requests.classes.end(),
                     [](const BatchClass& each) { return each.deadline > Seconds{}; })) {
      root_.problem("requests",
                    "nothing says how many GPUs: state hardware.gpus, or what is promised "
                    "([requests.slo] p95 = \"100 ms\", or a deadline of a class)");
    }
    s_.requests = std::move(requests);
  }

  void read_clients() {
    if (auto table = KeyedTable<keys::clients, Kinds::batch>::maybe(root_)) {
      s_.clients = BatchClients{table->get<"clients">(), table->get<"samples">(),
                                table->stated<"round_trip">().value_or(Seconds{})};
      const std::int64_t most = s_.max_batch.value_or(s_.network || s_.calls.empty() ? 4'096 : s_.calls.back().batch);
      if (s_.clients->samples > most) {
        table->problem("samples", std::to_string(s_.clients->samples) + " samples of a request are more than the " +
                                      std::to_string(most) + " that a call takes; ask for fewer at a time");
      }
      table->finish();
    }
  }

  void refuse_contradictions() {
    if (s_.job) {
      refuse_unpriced_budget(root_, *s_.job, s_.money);
    }
    for (const std::string_view key : {"serving", "strategy"}) {
      if (root_.value(key) != nullptr) {
        root_.problem_at_key(key, "[" + std::string{key} +
                                      "] describes replicas of a language model; how a network is "
                                      "called stands in [inference]");
      }
    }
    note_without_effect();
  }

  /// Keys that are read and move nothing of what is asked.
  void note_without_effect() {
    const auto note = [&](const char* table, const char* key, bool idle, const std::string& why) {
      const ConfigValue* const stated = root_.value(table);
      if (idle && stated != nullptr && stated->find(key) != nullptr) {
        s_.assumptions.push_back(std::string{table} + "." + key + " has no effect: " + why);
      }
    };
    for (const char* const key : {"window", "preferred", "spread"}) {
      note("inference", key, !s_.requests, "no requests come one by one");
    }
    note("inference", "instances", !s_.requests, "copies share a GPU's time; they take more of its memory alone");
    for (const char* const key : {"engine", "precision", "deterministic"}) {
      note("inference", key, !s_.network, "the calls are stated, and no model");
    }
    tell_job_money(root_, s_.money, s_.assumptions);
    note("data", "prefetch", s_.pipeline.spread <= 0.0, "loads do not spread (data.spread): samples are there in time");
    note("hardware", "power_cap", !s_.network && !s_.calls.empty(),
         "stated calls are as they were measured; energy alone is capped");
    note("hardware", "host_link", !s_.feed || (s_.feed->fed <= Bytes{} && s_.pipeline.stages.empty()),
         "no samples are copied ([data] fed_bytes)");
    note("hardware", "gpus", s_.clients && !s_.requests && !s_.job, "the clients stand before one GPU");
  }

  static constexpr std::size_t most_classes = 64;

  Diagnostics diagnostics_;
  ConfigTable root_;
  const Sources& sources_;
  const NetworkLibrary& networks_;
  PricedHardware priced_;
  BatchScenario s_;
};

}  // namespace

BatchScenario read_batch_scenario(const ConfigValue& root,
                                  const std::string& file,
                                  const Sources& sources,
                                  const NetworkLibrary& networks) {
  return BatchReader{root, file, sources, networks}.run();
}

}  // namespace headroom
