// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/keys/foreign_keys.hpp>
#include <headroom/scenarios/keys/key.hpp>
#include <headroom/scenarios/read/job_reader.hpp>
#include <headroom/scenarios/read/network_reader.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/token_job/token_job.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

/// What other questions take and a job of a language model does not.
constexpr std::array foreign{
    ForeignKey{
        "traffic", "",
        "[traffic] is of requests that come when they come, and the prompts of a job lie there; leave it out, or "
        "ask kind 'serve', which sizes a fleet for them"},
    ForeignKey{"slo", "",
               "nobody waits for one answer of a job, so that no latency is promised; state job.deadline, or ask kind "
               "'serve'"},
    ForeignKey{"fleet", "",
               "how many replicas work is the answer to a job; leave [fleet] out, or state hardware.gpus, or ask kind "
               "'serve'"},
    ForeignKey{"requests", "",
               "requests to a language model that come one by one are asked with kind 'serve' and [traffic] rate; kind "
               "'batch' answers its [job] alone"},
    ForeignKey{"clients", "",
               "clients of a language model that each ask again once answered are asked with kind 'serve' and "
               "serving.concurrency; kind 'batch' answers its [job] alone"},
    ForeignKey{"inference", "",
               "[inference] says how other networks are called; a language model is described by [serving] and "
               "[strategy]"},
    ForeignKey{"data", "",
               "[data] is of samples that hosts decode and copy; prompts are text, which no stage of it slows"},
    ForeignKey{"search", "",
               "a job tries layouts and requests in flight by itself where they are left out; state one of them "
               "([strategy], serving.concurrency) or none"},
    ForeignKey{"objective", "",
               "a job takes the most records a second of each GPU; its limits are job.deadline and budget"},
    ForeignKey{"sizes", "", "'sizes' are those that a network of ops names; a language model has none of them"},
    ForeignKey{"hardware", "host_memory", "nothing of a job's replicas is offloaded; leave 'host_memory' out"},
    ForeignKey{"hardware", "host_link", "nothing of a job's replicas goes to their host; leave 'host_link' out"},
    ForeignKey{"strategy", "dp",
               "the number of replicas is the answer to a job; leave 'dp' out, or state hardware.gpus"},
    ForeignKey{
        "serving", "pool",
        "the replicas of a job prefill and decode; leave 'pool' out, or ask kind 'serve' for a pool of one phase"},
    ForeignKey{
        "serving", "distinct_prompts",
        "each record of a job is a prompt of its own; leave 'distinct_prompts' out, and state as job.records the "
        "prompts that differ"},
    ForeignKey{"serving", "prefix_caching",
               "what prompts share is a part of [traffic], kind 'serve'; a job computes every prompt whole"},
    ForeignKey{
        "serving", "preemption_mode",
        "a job has no more requests in flight than the KV cache surely holds, so that none is preempted; leave it "
        "out"},
    ForeignKey{"serving", "kv_offload", "tiers of caches keep what prompts share, a part of [traffic], kind 'serve'"},
    ForeignKey{"money", "api",
               "answers of kind batch hold no offers against each other; ask kind 'serve' beside an API"},
    ForeignKey{"job", "longest_call",
               "an engine runs its requests iteration by iteration, so that no call has a length; bound "
               "serving.concurrency instead"},
};

class TokenJobReader {
 public:
  TokenJobReader(const ConfigValue& document, std::string file, const Sources& sources)
      : document_{document}, file_{std::move(file)}, sources_{sources} {}

  TokenJob run() {
    refuse_foreign(document_, foreign, root_);
    const bool gpus_stated = states("hardware", "gpus");
    std::optional<BatchJob> job = read_job(root_, gpus_stated);
    if (!root_.has("job")) {
      root_.missing("job",
                    ", the prompts that are to be answered: [job] records = 1e7, deadline = \"8 h\"; what replicas of "
                    "a language model do at full load, kind 'serve' says");
    }
    TokenJob asked;
    asked.layout_open = !states("strategy", "tp") && !states("strategy", "pp") && !states("strategy", "ep");
    asked.load_open = !states("serving", "concurrency");
    ConfigValue served = as_serving();
    try {
      asked.replica = read_scenario(served, file_, sources_);
    } catch (const ConfigError& error) {
      diagnostics_.add(error);
    }
    diagnostics_.throw_if_any();
    asked.job = *std::move(job);
    refuse_unpriced_budget(root_, asked.job, asked.replica.money);
    tell_job_money(root_, asked.replica.money, asked.assumptions);
    if (states("energy", "rack_power")) {
      asked.assumptions.emplace_back("energy.rack_power has no effect: racks of replicas are not counted");
    }
    if (states("serving", "chunked_prefill")) {
      asked.assumptions.emplace_back(
          "serving.chunked_prefill has no effect on the rates: of a full replica prompts take the same share of the "
          "time whole or in parts");
    }
    if (gpus_stated) {
      take_gpus(asked);
    }
    diagnostics_.throw_if_any();
    asked.replica.document = std::make_shared<const ConfigValue>(of_one_replica(std::move(served)));
    return asked;
  }

 private:
  [[nodiscard]] bool states(std::string_view table, std::string_view key) const {
    return headroom::states(document_, table, key);
  }

  /// The same document as a question of kind serve about replicas under a fixed load.
  [[nodiscard]] ConfigValue as_serving() const {
    ConfigValue served = without_foreign(document_, foreign);
    erase_key(served, "job");
    served.find("kind")->text = "serve";
    if (ConfigValue* const serving = served.find("serving"); is_table(serving) && !states("serving", "concurrency")) {
      serving->entries.emplace_back("concurrency", count_value(1));
    }
    return served;
  }

  /// Without the number of GPUs, which each layout has of its own, and without what moves nothing of a job.
  [[nodiscard]] static ConfigValue of_one_replica(ConfigValue served) {
    erase_key(*served.find("hardware"), "gpus");
    if (ConfigValue* const money = served.find("money")) {
      for (const std::string_view key : {"against", "storage", "egress", "what_if"}) {
        erase_key(*money, key);
      }
    }
    return served;
  }

  void take_gpus(TokenJob& asked) {
    asked.gpus = asked.serve().work.gpus;
    const std::int64_t ranks = asked.serve().work.layout.gpus();
    if (!asked.layout_open && *asked.gpus % ranks != 0) {
      const std::int64_t more = (*asked.gpus / ranks + 1) * ranks;
      ConfigTable{*document_.find("hardware"), "hardware", diagnostics_}.problem(
          "gpus", std::to_string(*asked.gpus) + " GPUs are no whole number of replicas of " + std::to_string(ranks) +
                      "; use " + (*asked.gpus > ranks ? std::to_string(more - ranks) + " or " : "") +
                      std::to_string(more));
    }
  }

  const ConfigValue& document_;
  std::string file_;
  const Sources& sources_;
  Diagnostics diagnostics_;
  ConfigTable root_{document_, "", diagnostics_};
};

}  // namespace

bool asks_for_token_job(const ConfigValue& root, const ModelLibrary& models, const NetworkLibrary& networks) {
  const ConfigValue* const kind = root.find("kind");
  const ConfigValue* const model = root.find("model");
  if (kind == nullptr || !meet(kinds_of_word(kind->text), Kinds::token_job) || model == nullptr ||
      names_network(*model, models, networks)) {
    return false;
  }
  // An unknown name is a language model's where it is near one, and where [serving] describes it.
  return model->kind == ConfigValue::Kind::table || root.find("serving") != nullptr || models.knows(model->text) ||
         model->text.ends_with(".json") || models.meant(model->text) || models.nearest(model->text);
}

TokenJob read_token_job(const ConfigValue& root, const std::string& file, const Sources& sources) {
  return TokenJobReader{root, file, sources}.run();
}

}  // namespace headroom
