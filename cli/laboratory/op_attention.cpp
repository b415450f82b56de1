// SPDX-License-Identifier: Apache-2.0
// `headroom op attention-prefill`, `attention-decode` and `attention-training`.
#include <headroom/cli/render/op_answer.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace headroom::cli {
namespace {

constexpr std::array<std::string_view, 2> query_types{"bf16", "fp8"};
constexpr std::array<std::string_view, 2> cache_types{"bf16", "fp8"};

std::string_view name_of(AttentionBound bound) noexcept {
  return attention_bound_names[static_cast<std::size_t>(bound)];
}

std::string heads_of(const AttentionShape& s) {
  return format_count(s.heads) + " heads over " + format_count(s.kv_heads) + " of keys and values, width " +
         format_count(s.head_dim) + (s.window > 0.0 ? ", window " + format_count(s.window) : "") +
         (s.causal ? "" : ", not causal");
}

std::vector<Member> fields_of(const AttentionShape& s) {
  return {{"batch", s.batch},       {"tokens", s.tokens},     {"context", s.context}, {"heads", s.heads},
          {"kv_heads", s.kv_heads}, {"head_dim", s.head_dim}, {"window", s.window},   {"causal", s.causal}};
}

/// Reads the sizes that all three kinds share.
AttentionShape read_heads(FormReader& in) {
  AttentionShape s;
  s.batch = in.size_or("--batch", 1.0);
  s.context = in.size("--seq-len");
  s.tokens = s.context;
  s.heads = in.size("--heads");
  s.kv_heads = in.size_or("--kv-heads", s.heads);
  s.head_dim = in.size_or("--head-dim", 128.0);
  if (in.good() && std::fmod(s.heads, s.kv_heads) != 0.0) {
    in.problem("--heads " + format_count(s.heads) + " must be a multiple of --kv-heads " + format_count(s.kv_heads));
  }
  return s;
}

const AttentionFormat& read_format(FormReader& in) {
  const std::size_t query = in.choice("--dtype", query_types, query_types.front());
  const std::size_t cache = in.choice("--kv-dtype", cache_types, query_types[query]);
  if (query > cache) {
    in.problem("--dtype fp8 reads an fp8 cache: leave out --kv-dtype bf16");
  }
  const AttentionFormat* found =
      find_attention_format(std::string{query_types[query]} + "/" + std::string{cache_types[cache]});
  return found == nullptr ? attention_formats().front() : *found;
}

/// Common part of the answers: shape, work and traffic.
OpAnswer begin(const AttentionShape& s, std::string_view dtype, const KernelDevice& limits) {
  OpAnswer a;
  a.limits = limits;
  a.question = fields_of(s);
  a.question.insert(a.question.begin(), Member{"dtype", std::string{dtype}});
  a.title = (s.batch > 1.0 ? format_count(s.batch) + " sequences of " : std::string{}) +
            (s.tokens == s.context ? format_count(s.tokens) + " tokens, "
             : s.tokens > 1.0 ? format_count(s.tokens) + " tokens behind " + format_count(s.context - s.tokens) + ", "
                              : format_count(s.context) + " keys, ") +
            heads_of(s) + ", " + std::string{dtype};
  return a;
}

void note_range(OpAnswer& a, const AttentionShape& s) {
  if (!attention_in_range(s)) {
    a.notes.emplace_back(
        "beyond what the fit stands on: head_dim up to 256, no window, up to 16 query heads a KV head");
  }
}

/// What prompts and new tokens have in common: the times of `chosen` in `t`, and what would change them.
template <class Model, class Chosen, class Time>
OpAnswer begin_inference(const Device& device,
                         const AttentionShape& s,
                         const AttentionFormat& format,
                         const Chosen& chosen,
                         const std::string& call,
                         Time& t) {
  OpAnswer a = begin(s, format.name, kernel_device(device, format.rate));
  a.why = chosen.why;
  const Model model{chosen.curve->values, a.limits, format};
  t = model.explain(s);
  a.time = t.total;
  a.launch = t.launch;
  a.bound = name_of(t.bound);
  a.work = attention_flops(s);
  a.moved = attention_bytes(s, format);
  add_device_effects(a, [&](const KernelDevice& limits) {
    return Model{chosen.curve->values, limits, format}.time(s);
  });
  AttentionShape twice = s;
  twice.batch *= 2.0;
  add_effect(a, "twice the sequences in one " + call + ", per sequence", 0.5 * model.time(twice));
  note_range(a, s);
  return a;
}

// ---- prefill --------------------------------------------------------------------------------------------------------

OpAnswer answer_prefill(const ModelData& data,
                        const Device& device,
                        const AttentionShape& s,
                        const AttentionFormat& format,
                        const std::string& engine) {
  const CurveSet& set = find_curve_set(data, device);
  const auto chosen = choose_prefill(set, device, format, engine);
  PrefillTime t;
  OpAnswer a = begin_inference<PrefillModel>(device, s, format, chosen, "call", t);
  a.rows.emplace_back("CTAs", format_number(t.rows) + " query rows each, " + format_number(t.waves) + " waves over " +
                                  format_number(a.limits.units) + " SMs");
  a.details = {{"query_rows", t.rows}, {"waves", t.waves}};
  a.parts = {{"launch", "launch_s", t.launch},
             {"cache write, rotation", "prepass_s", t.prepass},
             {"CTAs' starts and ends", "fixed_s", t.fixed},
             {"blocks of keys, alone", "loop_s", t.loop},
             {"memory, alone", "memory_s", t.memory}};
  finish(a, chosen.curve->provenance.p90);
  return a;
}

OpQuestion read_prefill(FormReader& in) {
  AttentionShape s = read_heads(in);
  s.context += in.count_or("--prefix", 0.0);
  s.window = in.count_or("--window", 0.0);
  s.causal = !in.flag("--no-causal");
  if (in.good() && !s.causal && (s.window > 0.0 || s.context > s.tokens)) {
    in.problem("--no-causal has neither --window nor --prefix: every token sees all of them");
  }
  return [s, format = read_format(in), engine = in.text("--engine")](const ModelData& data, const Device& device) {
    return answer_prefill(data, device, s, format, engine);
  };
}

// ---- decode ---------------------------------------------------------------------------------------------------------

OpAnswer answer_decode(const ModelData& data,
                       const Device& device,
                       const AttentionShape& s,
                       const AttentionFormat& format,
                       const std::string& engine) {
  const CurveSet& set = find_curve_set(data, device);
  const auto chosen = choose_decode(set, device, format, engine);
  DecodeTime t;
  OpAnswer a = begin_inference<DecodeModel>(device, s, format, chosen, "step", t);
  a.rows.emplace_back("CTAs", std::string{t.grouped ? "one a KV head" : "one a query head"} +
                                  (t.split > 1.0 ? ", keys split " + format_number(t.split) + " ways" : "") + ", " +
                                  format_number(t.waves) + " waves over " + format_number(a.limits.units) + " SMs");
  a.details = {{"key_splits", t.split}, {"waves", t.waves}, {"grouped", t.grouped}};
  a.parts = {{"launch, cache write", "launch_s", t.launch},
             {"CTAs, alone", "loop_s", t.loop},
             {"memory, alone", "memory_s", t.memory},
             {"reduce the split", "reduce_s", t.reduce}};
  if (format.cache_bytes > 1.0) {
    const AttentionFormat& narrow = *find_attention_format("bf16/fp8");
    const auto other = choose_decode(set, device, narrow, engine);
    add_effect(a, "fp8 cache", DecodeModel{other.curve->values, a.limits, narrow}.time(s));
  }
  finish(a, chosen.curve->provenance.p90);
  return a;
}

OpQuestion read_decode(FormReader& in) {
  AttentionShape s = read_heads(in);
  s.tokens = 1.0;
  s.window = in.count_or("--window", 0.0);
  return [s, format = read_format(in), engine = in.text("--engine")](const ModelData& data, const Device& device) {
    return answer_decode(data, device, s, format, engine);
  };
}

// ---- training -------------------------------------------------------------------------------------------------------

struct TrainingQuestion {
  AttentionShape shape;
  AttentionPass pass = AttentionPass::forward;
  std::optional<AttentionImplementation> implementation;  ///< absent: the newest measured one
};

/// Bytes of queries, keys, values and output; backward moves them twice, with their gradients.
Bytes training_bytes(const AttentionShape& s, AttentionPass pass) {
  const double times = pass == AttentionPass::forward ? 1.0 : pass == AttentionPass::backward ? 2.0 : 3.0;
  return times * attention_bytes(s, *find_attention_format("bf16/bf16"));
}

AttentionBound training_bound(const TrainingAttentionTime& t) noexcept {
  if (t.memory > std::max({t.compute, t.softmax, t.fixed})) {
    return AttentionBound::memory;
  }
  if (t.fixed > std::max(t.compute, t.softmax)) {
    return AttentionBound::latency;
  }
  return t.softmax > t.compute ? AttentionBound::softmax : AttentionBound::compute;
}

OpAnswer answer_training(const ModelData& data, const Device& device, const TrainingQuestion& q) {
  static_cast<void>(find_curve_set(data, device));  // a SKU without curves borrows none
  const CurveSet& set = training_attention_set(data, device);
  const AttentionImplementation implementation = q.implementation ? *q.implementation : newest_training_attention(set);
  OpAnswer a = begin(q.shape, "bf16", kernel_device(device, Rate::bf16));
  const std::string_view pass = attention_pass_names[static_cast<std::size_t>(q.pass)];
  a.title += ", " + std::string{implementation.name} + " " + std::string{pass};
  a.question.push_back({"implementation", std::string{implementation.name}});
  a.question.push_back({"pass", std::string{pass}});
  const auto chosen = choose_training_attention(set, device, implementation);
  a.why = chosen.why;
  const AttentionAlgorithm algorithm = implementation.algorithm;
  const TrainingAttentionModel model{chosen.curve->values, a.limits, algorithm};
  const TrainingAttentionTime t = model.explain(q.shape, q.pass);
  a.time = t.total;
  a.bound = name_of(training_bound(t));
  a.work = training_attention_flops(q.shape, q.pass);
  a.moved = training_bytes(q.shape, q.pass);
  const Bytes kept = training_attention_memory(q.shape, algorithm);
  a.rows.emplace_back("keeps", format(kept) + " between forward and backward beside its inputs and output");
  a.details = {{"kept_bytes", kept}};
  if (kept > device.visible_capacity().value) {
    a.notes.push_back("out of memory: what is kept is more than the " + format(device.visible_capacity().value) +
                      " of a GPU; the time is that of a device that held it");
  }
  a.parts = {{"products, alone", "compute_s", t.compute},
             {"exponentials, alone", "softmax_s", t.softmax},
             {"tiles' starts and ends", "fixed_s", t.fixed},
             {"passes over written scores", "memory_s", t.memory}};
  add_device_effects(a, [&](const KernelDevice& limits) {
    return TrainingAttentionModel{chosen.curve->values, limits, algorithm}.time(q.shape, q.pass);
  });
  for (const FittedTrainingAttention& other : set.training_attention) {
    const AttentionImplementation* i = find_attention_implementation(other.provenance.engine);
    if (i != nullptr && i->name != implementation.name) {
      const TrainingAttentionModel there{other.values, a.limits, i->algorithm};
      add_effect(a, std::string{i->name} + " instead", there.time(q.shape, q.pass));
    }
  }
  a.notes.emplace_back(
      "FLOP as FlashAttention's benchmarks count them: a causal mask halves the pairs, backward is 2.5 "
      "times forward; launches are not in the published times");
  finish(a, chosen.curve->provenance.p90);
  return a;
}

OpQuestion read_training(FormReader& in) {
  TrainingQuestion q;
  q.shape = read_heads(in);
  q.shape.causal = !in.flag("--no-causal");
  q.pass = static_cast<AttentionPass>(in.choice("--pass", attention_pass_names, attention_pass_names.back()));
  const std::string engine = in.text("--engine");
  if (const AttentionImplementation* found = find_attention_implementation(engine)) {
    q.implementation = *found;
  } else if (!engine.empty()) {
    std::vector<std::string_view> names;
    for (const AttentionImplementation& i : attention_implementations()) {
      names.push_back(i.name);
    }
    in.problem("--engine " + quoted(engine) + " is no implementation of attention in training" +
               suggestion(engine, names) + "; known are " + listed(names));
  }
  return [q](const ModelData& data, const Device& device) { return answer_training(data, device, q); };
}

constexpr std::array kinds{
    OpKind{"attention-prefill", "new tokens of each sequence, and query heads", read_prefill},
    OpKind{"attention-decode", "keys that a sequence's new token sees, itself included, and query heads", read_decode},
    OpKind{"attention-training", "tokens of each sequence, and query heads", read_training},
};

}  // namespace

std::span<const OpKind> attention_kinds() noexcept {
  return kinds;
}

}  // namespace headroom::cli
