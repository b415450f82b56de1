// SPDX-License-Identifier: Apache-2.0
// Arguments of the network's sizes that map to more than one key.
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/launch/megatron_core.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

constexpr std::array mla_rows{
    LaunchRow{"--q-lora-rank", "model.mla.q_rank", RowKind::count, "0"},
    LaunchRow{"--kv-lora-rank", "model.mla.kv_rank", RowKind::count, "32"},
    LaunchRow{"--qk-head-dim", "model.mla.nope_dim", RowKind::count, "128"},
    LaunchRow{"--qk-pos-emb-head-dim", "model.mla.rope_dim", RowKind::count, "64"},
    LaunchRow{"--v-head-dim", "model.mla.value_dim", RowKind::count, "128"},
};

// ---- layer patterns

std::string sum_of(const std::vector<std::pair<int, std::size_t>>& runs) {
  const auto term = [](const std::pair<int, std::size_t>& run) {
    return "[" + std::to_string(run.first) + "]*" + std::to_string(run.second);
  };
  return "(" + joined(runs, term, "+") + ")";
}

std::vector<std::pair<int, std::size_t>> runs_of(const std::vector<int>& layers, std::size_t many) {
  std::vector<std::pair<int, std::size_t>> runs;
  for (std::size_t i = 0; i < many; ++i) {
    if (!runs.empty() && runs.back().first == layers[i]) {
      ++runs.back().second;
    } else {
      runs.emplace_back(layers[i], 1);
    }
  }
  return runs;
}

/// Parser of lists of integers, sums, and products with an integer: `([0]*3+[1]*58)`, `([1]*3+[0]*1)*3`.
class Pattern {
 public:
  explicit Pattern(std::string_view text) : text_{text} {}
  /// False for any other expression, and for more layers than any network has.
  bool read(std::vector<int>& layers) { return sum(layers) && at_ == text_.size(); }

 private:
  static constexpr std::size_t longest = 65535;

  bool accept(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }
  bool integer(std::size_t& number) {
    accept('\0');
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    return read.ec == std::errc{} && number <= longest;
  }
  bool sum(std::vector<int>& layers) {
    do {
      std::vector<int> term;
      if (!product(term) || layers.size() + term.size() > longest) {
        return false;
      }
      layers.insert(layers.end(), term.begin(), term.end());
    } while (accept('+'));
    return true;
  }
  bool product(std::vector<int>& layers) {
    if (++depth_ > 64 || !factor(layers)) {
      return false;
    }
    --depth_;
    while (accept('*')) {
      std::size_t times = 0;
      if (!integer(times) || layers.size() * times > longest) {
        return false;
      }
      const std::vector<int> once = layers;
      layers.clear();
      for (; times > 0; --times) {
        layers.insert(layers.end(), once.begin(), once.end());
      }
    }
    return true;
  }
  bool factor(std::vector<int>& layers) {
    if (accept('(')) {
      return sum(layers) && accept(')');
    }
    if (!accept('[')) {
      return false;
    }
    do {
      std::size_t kind = 0;
      if (!integer(kind)) {
        return false;
      }
      layers.push_back(static_cast<int>(kind));
    } while (accept(','));
    return accept(']');
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// Kinds of layers with experts in every `every`-th layer from layer `dense` on.
std::vector<int> expert_layers(std::int64_t layers, std::int64_t dense, std::int64_t every) {
  std::vector<int> kinds;
  for (std::int64_t i = 0; i < layers; ++i) {
    kinds.push_back(i >= dense && (i + 1) % std::max<std::int64_t>(every, 1) == 0 ? 1 : 0);
  }
  return kinds;
}

/// Candidates for the number of dense layers and the period of expert layers, from the first two expert layers.
std::vector<std::pair<std::int64_t, std::int64_t>> likely_placements(const std::vector<int>& kinds) {
  const auto first = std::find(kinds.begin(), kinds.end(), 1);
  if (first == kinds.end()) {
    return {};
  }
  const std::int64_t dense = first - kinds.begin();
  const auto second = std::find(first + 1, kinds.end(), 1);
  const std::int64_t period = second == kinds.end() ? dense + 1 : second - first;
  return {{dense, 1}, {0, period}, {std::max<std::int64_t>(0, dense - period + 1), period}};
}

void read_expert_layers(const ConfigValue& value, LaunchReading& reading) {
  const std::int64_t layers = reading.plan.count("model.layers", 0);
  const std::vector<int> kinds = layers_of_pattern(value, layers, reading);
  if (kinds.empty()) {
    return;
  }
  for (const auto& [dense, every] : likely_placements(kinds)) {
    if (expert_layers(layers, dense, every) == kinds) {
      reading.state("model.moe.dense_layers", count_value(dense), value);
      return reading.state("model.moe.every", count_value(every), value);
    }
  }
  // Megatron-LM's N puts experts in the first of every N layers and ours in the last: equal in number, shifted in
  // place.
  const auto experts = static_cast<std::int64_t>(std::count(kinds.begin(), kinds.end(), 1));
  if (experts > 0 && layers % experts == 0 && kinds == [&] {
        std::vector<int> first = expert_layers(layers, 0, layers / experts);
        std::rotate(first.begin(), first.begin() + (layers / experts - 1), first.end());
        return first;
      }()) {
    reading.remark(value, "experts taken in the last of every " + std::to_string(layers / experts) +
                              " layers instead of the first: as many");
    return reading.state("model.moe.every", count_value(layers / experts), value);
  }
  reading.problem(value, "no scenario key says this placement of experts; write the network as [[model.variant]]");
}

/// "[0,0,1]", for Hydra, which does not know products.
std::string layer_list(const std::vector<int>& kinds) {
  return "[" +
         joined(
             kinds, [](int kind) { return std::to_string(kind); }, ",") +
         "]";
}

void write_experts(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  if (!plan.has("model.moe.experts")) {
    return;
  }
  writing.put("--moe-ffn-hidden-size", *plan.find("model.moe.expert_ffn_hidden"));
  const std::int64_t dense = plan.count("model.moe.dense_layers", 0);
  const std::int64_t every = plan.count("model.moe.every", 1);
  if (dense > 0 || every > 1) {
    const std::vector<int> kinds = expert_layers(plan.count("model.layers", 0), dense, every);
    writing.put_word("--moe-layer-freq", writing.explicitly ? layer_list(kinds) : layer_pattern(kinds));
  }
  writing.put_flag("--moe-grouped-gemm", true);
  const std::string dispatcher = plan.word("training.dispatcher", "alltoall");
  writing.put_word("--moe-token-dispatcher-type", dispatcher == "alltoall" ? "alltoall" : "flex");
  if (dispatcher != "alltoall") {
    writing.put_word("--moe-flex-dispatcher-backend", dispatcher);
  }
  writing.cover("training.dispatcher");
  if (const std::string launch = plan.word("training.expert_launch", "eager"); launch == "eager") {
    writing.cover("training.expert_launch");
  } else {
    writing.miss("training.expert_launch",
                 launch == "partial-graphs"
                     ? "pass --cuda-graph-impl transformer_engine --cuda-graph-scope attn moe_router moe_preprocess"
                 : launch == "full-graphs"
                     ? "pass --cuda-graph-impl local --cuda-graph-scope full_iteration"
                     : "pass --moe-expert-capacity-factor and --moe-pad-expert-input-to-capacity");
  }
  for (const std::string_view key : {"model.moe.expert_ffn_hidden", "model.moe.dense_layers", "model.moe.every"}) {
    writing.cover(key);
  }
}

void write_latent_attention(LaunchWriting& writing) {
  if (!writing.plan.has("model.mla.kv_rank")) {
    return;
  }
  writing.put_flag("--multi-latent-attention", true);
  LaunchWriting rows{writing.plan, true};
  write_rows(mla_rows, rows);
  for (const LaunchItem& item : rows.items.all()) {
    if (item.name != "--q-lora-rank" || item.value.integer > 0) {
      writing.put(item.name, item.value);
    }
  }
  writing.covered.merge(rows.covered);
}

/// Learned positions are a table of that length. For rotary positions the length is the longest sequence.
void write_positions(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t learned = plan.count("model.learned_positions", 0);
  const std::string positions = plan.word("model.positions", "rope");
  writing.put_word("--position-embedding-type", learned > 0            ? "learned_absolute"
                                                : positions == "alibi" ? "none"
                                                                       : positions);
  writing.put_count(
      "--max-position-embeddings",
      learned > 0 ? learned : std::max(plan.count("model.max_seq_len", 0), plan.count("training.seq_len", 0)));
  writing.cover("model.learned_positions");
  writing.cover("model.max_seq_len");
}

void write_attention(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t heads = plan.count("model.heads", 0);
  const std::int64_t groups = plan.count("model.kv_heads", heads);
  if (groups != heads || writing.explicitly) {
    writing.put_flag("--group-query-attention", true);
    writing.put_count("--num-query-groups", groups);
  }
  writing.cover("model.kv_heads");
  if (plan.flag("model.attention_biases")) {
    writing.put_flag("--add-qkv-bias", true);
    writing.cover("model.attention_biases");
  }
  if (plan.word("model.qk_norm", "none") == "head") {
    writing.put_flag("--qk-layernorm", true);
    writing.cover("model.qk_norm");
  }
  if (const std::int64_t window = plan.count("model.window", 0); window > 0) {
    // Hydra, which reads the explicit form, takes an unquoted comma for a parameter sweep.
    const std::string sides = std::to_string(window) + ",0";
    writing.put_word("--window-size", writing.explicitly ? "[" + sides + "]" : sides);
    writing.cover("model.window");
  }
  if (const std::int64_t every = plan.count("model.full_every", 0); every > 0) {
    writing.put_count("--window-attn-skip-freq", every);
    writing.cover("model.full_every");
  }
}

/// Bounds for tokens of a sequence. A preset needs no sequence, so no scenario reader checks it.
constexpr Range<std::int64_t> longest{1, std::int64_t{1} << 30};

void read_positions(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const ConfigValue* type = items.find("--position-embedding-type");
  const ConfigValue* length = items.find("--max-position-embeddings");
  constexpr std::array<std::string_view, 5> types{"rope", "learned_absolute", "mrope", "relative", "none"};
  std::optional<std::string> word;
  if (type != nullptr) {
    word = reading.choice_of("--position-embedding-type", *type, types);
    if (!word) {
      return;
    }
  } else if (items.has("--use-rotary-position-embeddings")) {
    word = "rope";
  }
  if (length == nullptr || (!word && absent == Absent::is_unsaid)) {
    return;
  }
  const bool learned = word.value_or("learned_absolute") == "learned_absolute";
  if (const auto count = reading.count_of("--max-position-embeddings", *length, learned ? any_count : longest)) {
    reading.state(learned ? "model.learned_positions" : "model.max_seq_len", count_value(*count), *length);
  }
}

/// Reads a window "W,0" or "(W, 0)": tokens before and after.
void read_window(const LaunchItems& items, LaunchReading& reading) {
  const ConfigValue* size = items.find("--window-size");
  if (size == nullptr) {
    return;
  }
  const std::optional<std::string> word = reading.word_of("--window-size", *size);
  if (!word) {
    return;
  }
  std::int64_t behind = 0;
  const char* start = word->data() + std::min(word->find_first_not_of("([ "), word->size());
  const auto read = std::from_chars(start, word->data() + word->size(), behind);
  if (read.ec != std::errc{} || read.ptr == word->data() + word->size() || *read.ptr != ',' || behind < 1) {
    return reading.problem(
        *size, reading.called("--window-size") + " is " + quoted(*word) + "; it must be W,0: tokens behind and ahead");
  }
  reading.state("model.window", count_value(behind), *size);
  reading.take_count(items, "--window-attn-skip-freq", "model.full_every", any_count);
}

void read_attention(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const ConfigValue* groups = items.find("--num-query-groups");
  const ConfigValue* grouped = items.find("--group-query-attention");
  if (groups != nullptr && (grouped != nullptr || absent == Absent::is_unsaid)) {
    if (const auto count = reading.count_of("--num-query-groups", *groups, any_count)) {
      reading.state("model.kv_heads", count_value(*count), *groups);
    }
  } else if (grouped != nullptr) {
    reading.state("model.kv_heads", count_value(1), *grouped);  // default of the flag
  } else if (groups != nullptr) {
    reading.remark(*groups, "ignored: --num-query-groups without --group-query-attention");
  }
  for (const auto& [name, key, value] : {std::tuple{"--add-qkv-bias", "model.attention_biases", flag_value(true)},
                                         std::tuple{"--qk-layernorm", "model.qk_norm", word_value("head")}}) {
    const ConfigValue* item = items.find(name);
    if (item != nullptr && reading.flag_of(name, *item).value_or(false)) {
      reading.state(key, value, *item);
    }
  }
  read_window(items, reading);
}

void read_latent_attention(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  const ConfigValue* flag = items.find("--multi-latent-attention");
  if (flag == nullptr || !reading.flag_of("--multi-latent-attention", *flag).value_or(false)) {
    return;
  }
  for (const LaunchRow& row : mla_rows) {
    const ConfigValue* item = items.find(row.name);
    const bool none = item != nullptr && item->kind == Kind::null;
    if (item != nullptr && !none) {
      if (const auto count = reading.count_of(row.name, *item, any_count)) {
        reading.state(row.key, count_value(*count), *item);
      }
    }
  }
  if (absent == Absent::is_default) {
    read_absent(mla_rows, items, reading);
  }
}

/// Assumes Megatron-LM's default FFN width: 4 h, or with a gate two thirds of it in multiples of 64.
void assume_widths(LaunchReading& reading) {
  const std::int64_t hidden = reading.plan.count("model.hidden", 0);
  if (hidden > 0 && hidden <= std::int64_t{1} << 30) {  // larger widths are refused elsewhere
    const bool gated = reading.plan.flag("model.gated_mlp");
    reading.assume("model.ffn_hidden", count_value(gated ? hidden * 8 / 3 / 64 * 64 : 4 * hidden));
  }
}

/// What exchanges tokens with their experts (megatron/training/arguments.py). Its oldest form, a gather of all tokens,
/// is priced as the collective.
void read_dispatcher(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  constexpr std::array<std::string_view, 3> types{"allgather", "alltoall", "flex"};
  constexpr std::array<std::string_view, 2> backends{"deepep", "hybridep"};
  const ConfigValue* const type = items.find("--moe-token-dispatcher-type");
  const ConfigValue* const backend = items.find("--moe-flex-dispatcher-backend");
  const auto named = type != nullptr ? reading.choice_of("--moe-token-dispatcher-type", *type, types) : std::nullopt;
  if (named == "flex") {
    const auto sends = backend != nullptr ? reading.choice_of("--moe-flex-dispatcher-backend", *backend, backends)
                                          : std::optional<std::string>{"deepep"};
    if (sends) {
      reading.state("training.dispatcher", word_value(*sends), backend != nullptr ? *backend : *type);
    }
  } else if (named) {
    reading.state("training.dispatcher", word_value("alltoall"), *type);
  } else if (type == nullptr && absent == Absent::is_default) {
    reading.assume("training.dispatcher", word_value("alltoall"));
  }
  if (absent == Absent::is_default && !items.has("--cuda-graph-impl") && !is_on(items, "--enable-cuda-graph") &&
      !is_on(items, "--external-cuda-graph")) {
    reading.assume("training.expert_launch", word_value("eager"));
  }
}

void read_experts(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  if (!reading.plan.has("model.moe.experts")) {
    return;
  }
  if (const ConfigValue* width = items.find("--moe-ffn-hidden-size")) {
    if (const auto count = reading.count_of("--moe-ffn-hidden-size", *width, any_count)) {
      reading.state("model.moe.expert_ffn_hidden", count_value(*count), *width);
    }
  } else if (const ConfigValue* ffn = reading.plan.find("model.ffn_hidden");
             ffn != nullptr && absent == Absent::is_default) {
    reading.assume("model.moe.expert_ffn_hidden", count_value(ffn->integer));
  }
  if (const ConfigValue* pattern = items.find("--moe-layer-freq")) {
    read_expert_layers(*pattern, reading);
  }
  read_dispatcher(items, absent, reading);
}

}  // namespace

std::string layer_pattern(const std::vector<int>& layers) {
  const std::size_t n = layers.size();
  for (std::size_t period = 1; 2 * period <= n; ++period) {
    const bool repeats = n % period == 0 &&
                         std::equal(layers.begin() + static_cast<std::ptrdiff_t>(period), layers.end(), layers.begin());
    if (repeats && runs_of(layers, period).size() > 1) {
      return sum_of(runs_of(layers, period)) + "*" + std::to_string(n / period);
    }
  }
  return sum_of(runs_of(layers, n));
}

std::vector<int> layers_of_pattern(const ConfigValue& value, std::int64_t layers, LaunchReading& reading) {
  if (layers < 1 || layers > 65535) {
    return {};  // a problem of its own
  }
  const auto many = static_cast<std::size_t>(layers);
  if (value.kind == Kind::array) {
    std::vector<int> kinds;
    for (const ConfigValue& item : value.items) {
      kinds.push_back(item.kind == Kind::integer && item.integer != 0 ? 1 : 0);
    }
    if (kinds.size() == many) {
      return kinds;
    }
  }
  const std::string text = value.kind == Kind::text ? value.text : value_text(value);
  std::size_t every = 0;
  const auto number = std::from_chars(text.data(), text.data() + text.size(), every);
  std::vector<int> kinds;
  if (number.ec == std::errc{} && number.ptr == text.data() + text.size()) {
    for (std::size_t i = 0; i < many && every > 0; ++i) {
      kinds.push_back(i % every == 0 ? 1 : 0);
    }
  } else if (!Pattern{text}.read(kinds)) {
    kinds.clear();
  }
  if (kinds.size() == many) {
    return kinds;
  }
  reading.problem(value, kinds.empty() ? quoted(text) + " is no pattern of layers such as '([0]*3+[1]*58)'"
                                       : quoted(text) + " stands for " + std::to_string(kinds.size()) +
                                             " layers; the network has " + std::to_string(layers));
  return {};
}

void write_megatron_network(LaunchWriting& writing) {
  writing.put_flag("--swiglu", writing.plan.flag("model.gated_mlp"));
  writing.cover("model.gated_mlp");
  write_attention(writing);
  write_positions(writing);
  if (const std::int64_t modules = writing.plan.count("model.mtp_layers", 0); modules > 0) {
    writing.put_count("--mtp-num-layers", modules);
    writing.cover("model.mtp_layers");
  }
  write_experts(writing);
  write_latent_attention(writing);
}

void read_megatron_network(const LaunchItems& items, Absent absent, LaunchReading& reading) {
  for (const std::string_view name : {"--swiglu", "--quick-geglu"}) {
    if (const ConfigValue* gate = items.find(name)) {
      if (const auto flag = reading.flag_of(name, *gate)) {
        reading.state("model.gated_mlp", flag_value(*flag), *gate);
      }
    }
  }
  read_attention(items, absent, reading);
  read_positions(items, absent, reading);
  if (const ConfigValue* modules = items.find("--mtp-num-layers"); modules != nullptr && modules->kind != Kind::null) {
    if (const auto count = reading.count_of("--mtp-num-layers", *modules, any_count)) {
      reading.state("model.mtp_layers", count_value(*count), *modules);
    }
  }
  read_latent_attention(items, absent, reading);
  if (absent == Absent::is_default) {
    reading.assume("model.gated_mlp", flag_value(false));
    assume_widths(reading);
  }
  read_experts(items, absent, reading);
}

}  // namespace headroom::launch
