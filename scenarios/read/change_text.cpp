// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/scenarios/keys/words.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace headroom {
namespace {

struct KnobRow {
  Knob knob;
  std::string_view path;
  std::span<const std::string_view> words{};  ///< what a number stands for
};

constexpr std::array<KnobRow, static_cast<std::size_t>(Knob::count)> rows{{
    {Knob::model, "model"},
    {Knob::gpu, "hardware.gpu"},
    {Knob::node, "hardware.node"},
    {Knob::cluster, "hardware.cluster"},
    {Knob::gpus, "hardware.gpus"},
    {Knob::power_cap, "hardware.power_cap"},
    {Knob::prices, "money.prices"},
    {Knob::market, "money.market", market_names},
    {Knob::region, "money.region", region_names},
    {Knob::software, "training.software"},
    {Knob::precision, "training.precision", training_precision_names},
    {Knob::seq_len, "training.seq_len"},
    {Knob::global_batch, "training.global_batch"},
    {Knob::method, "training.method", method_names},
    {Knob::fused_loss, "training.fused_loss"},
    {Knob::optimizer, "training.optimizer", optimizer_names},
    {Knob::offload, "training.offload"},
    {Knob::overlap, "training.overlap"},
    {Knob::async_tp, "training.async_tp"},
    {Knob::compile, "training.compile"},
    {Knob::dispatcher, "training.dispatcher", expert_dispatcher_names},
    {Knob::order, "strategy.order", rank_order_names},
    {Knob::tp, "strategy.tp"},
    {Knob::pp, "strategy.pp"},
    {Knob::vpp, "strategy.vpp"},
    {Knob::dp, "strategy.dp"},
    {Knob::cp, "strategy.cp"},
    {Knob::ep, "strategy.ep"},
    {Knob::etp, "strategy.etp"},
    {Knob::micro_batch, "strategy.micro_batch"},
    {Knob::recompute, "strategy.recompute", recompute_names},
    {Knob::recompute_parts, "strategy.recompute_parts"},
    {Knob::recompute_block, "strategy.recompute_block"},
    {Knob::zero, "strategy.zero"},
    {Knob::shard_ranks, "strategy.shard_ranks"},
    {Knob::sequence_parallel, "strategy.sequence_parallel"},
    {Knob::cp_form, "strategy.cp_form", cp_form_names},
    {Knob::schedule, "strategy.schedule", schedule_names},
    {Knob::overlap_experts, "strategy.overlap_experts"},
    {Knob::cuda_graphs, "strategy.cuda_graphs"},
    {Knob::engine, "serving.engine", engine_names},
    {Knob::weights, "serving.weights", served_weight_names},
    {Knob::kv_cache, "serving.kv_cache", precision_names},
    {Knob::memory_fraction, "serving.memory_fraction"},
    {Knob::max_num_seqs, "serving.max_num_seqs"},
    {Knob::max_num_tokens, "serving.max_num_tokens"},
    {Knob::chunked_prefill, "serving.chunked_prefill"},
    {Knob::concurrency, "serving.concurrency"},
    {Knob::priced, ""},
    {Knob::hidden_dp_traffic, ""},
}};
static_assert([] {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].knob) != i) {
      return false;
    }
  }
  return true;
}());

const KnobRow& row_of(Knob knob) noexcept {
  return rows[static_cast<std::size_t>(knob)];
}

std::string_view word_of(Offload what) noexcept {
  return offload_names[static_cast<std::size_t>(what)];
}

ConfigValue value_of(const Change& change) {
  if (const auto* flag = std::get_if<bool>(&change.value)) {
    return flag_value(*flag);
  }
  if (const auto* count = std::get_if<std::int64_t>(&change.value)) {
    const auto& words = row_of(change.knob).words;
    return words.empty() ? count_value(*count) : word_value(words[static_cast<std::size_t>(*count)]);
  }
  if (const auto* share = std::get_if<double>(&change.value)) {
    return number_value(*share);
  }
  if (const auto* text = std::get_if<std::string>(&change.value)) {
    return word_value(*text);
  }
  ConfigValue list;
  list.kind = ConfigValue::Kind::array;
  if (const auto* parts = std::get_if<RecomputeParts>(&change.value)) {
    for (std::size_t i = 0; i < recompute_part_names.size(); ++i) {
      if (parts->has(static_cast<RecomputePart>(i))) {
        list.items.push_back(word_value(recompute_part_names[i]));
      }
    }
    return list;
  }
  for (const Offload what : std::get<std::vector<Offload>>(change.value)) {
    list.items.push_back(word_value(word_of(what)));
  }
  return list;
}

std::string text_of_value(const ConfigValue& value, std::string_view quote) {
  switch (value.kind) {
    case ConfigValue::Kind::boolean: return value.boolean ? "true" : "false";
    case ConfigValue::Kind::integer: return std::to_string(value.integer);
    case ConfigValue::Kind::number: return format_number(value.number, 2);
    case ConfigValue::Kind::text: return std::string{quote} + value.text + std::string{quote};
    default: break;
  }
  std::string items;
  for (const ConfigValue& item : value.items) {
    items += (items.empty() ? "" : ", ") + text_of_value(item, quote);
  }
  return "[" + items + "]";
}

}  // namespace

std::string_view path_of(Knob knob) noexcept {
  return row_of(knob).path;
}

std::string_view name_of(Knob knob) noexcept {
  const std::string_view path = path_of(knob);
  return path.substr(path.find('.') + 1);
}

std::string text_of(const Change& change) {
  if (change.knob == Knob::priced) {
    return std::get<bool>(change.value) ? "with prices" : "without prices";
  }
  if (change.knob == Knob::hidden_dp_traffic) {
    return "the software's overlap of data-parallel traffic = " + percent(std::get<double>(change.value), 2);
  }
  return std::string{path_of(change.knob)} + " = " + value_text_of(change);
}

std::vector<std::string> texts_of(std::span<const Change> changes) {
  std::vector<std::string> texts;
  texts.reserve(changes.size());
  for (const Change& change : changes) {
    texts.push_back(text_of(change));
  }
  return texts;
}

std::string value_text_of(const Change& change) {
  return text_of_value(value_of(change), "\"");
}

std::string bare_value_of(const Change& change) {
  return text_of_value(value_of(change), "");
}

Word word_of(const Change& change) {
  std::string name{name_of(change.knob)};
  std::replace(name.begin(), name.end(), '_', ' ');
  return {name_of(change.knob), name + " " + bare_value_of(change)};
}

std::string override_of(const Change& change) {
  return std::string{path_of(change.knob)} + "=" + bare_value_of(change);
}

Change change_to(Knob knob, const std::string& text) {
  const auto& words = row_of(knob).words;
  const auto found = std::find(words.begin(), words.end(), text);
  return found != words.end() ? Change{knob, found - words.begin()} : Change{knob, text};
}

bool is_no_word(const Change& change) noexcept {
  return !row_of(change.knob).words.empty() && std::holds_alternative<std::string>(change.value);
}

std::span<const std::string_view> words_of(Knob knob) noexcept {
  return row_of(knob).words;
}

std::string place_of(const Change& change) {
  return "--set " + override_of(change);
}

void put(const Change& change, ConfigValue& root) {
  ConfigValue value = value_of(change);
  value.file = std::make_shared<const std::string>(place_of(change));
  for (ConfigValue& item : value.items) {
    item.file = value.file;
  }
  const std::string_view path = path_of(change.knob);
  const std::size_t dot = path.find('.');
  ConfigValue* table = &root;
  if (dot != std::string_view::npos) {
    const std::string name{path.substr(0, dot)};
    table = root.find(name);
    if (table == nullptr) {
      ConfigValue fresh;
      fresh.file = root.file;  // what it lacks is missing from the document
      table = &root.entries.emplace_back(name, std::move(fresh)).value;
    } else if (table->kind != ConfigValue::Kind::table) {
      Diagnostics diagnostics;
      diagnostics.add("--set", {}, quoted(override_of(change)) + ": " + quoted(name) + " is no table");
      diagnostics.throw_if_any();
    }
  }
  const std::string_view key = name_of(change.knob);
  if (ConfigValue* old = table->find(key)) {
    *old = std::move(value);
  } else {
    table->entries.emplace_back(std::string{key}, std::move(value));
  }
}

}  // namespace headroom
