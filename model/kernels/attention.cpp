// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/attention.hpp>
#include <headroom/model/kernels/attention_tiles.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::array formats{
    AttentionFormat{"bf16/bf16", Rate::bf16, 2.0, 2.0},
    AttentionFormat{"bf16/fp8", Rate::bf16, 2.0, 1.0},
    AttentionFormat{"fp8/fp8", Rate::fp8, 1.0, 1.0},
};
constexpr std::array aliases{FormatAlias{"bfloat16/bfloat16", "bf16/bf16"}, FormatAlias{"float16/float16", "bf16/bf16"},
                             FormatAlias{"bfloat16/fp8", "bf16/fp8"}, FormatAlias{"float16/fp8", "bf16/fp8"}};

/// Engines write 16-bit outputs for any type of queries.
constexpr double output_bytes = 2.0;
/// Bytes of an element that a pre-pass reads: the projection's output.
constexpr double activation_bytes = 2.0;
/// Rows of one tensor-core instruction, which a CTA with fewer queries than its tile still computes.
constexpr double least_rows = 16.0;
/// Threads of the kernel that writes a token's keys and values into a paged cache, with one CTA per token.
constexpr double write_threads = 512.0;

// TensorRT-LLM, cpp/tensorrt_llm/kernels/decoderMaskedMultiheadAttention/decoderXQARunner and its constants:
// kMinHistoryTokensPerBlock, kEnableMinBlockFactor, kTargetWaveFactor, and the factor under the root.
constexpr double xqa_block_keys = 128.0;
constexpr double xqa_least_blocks = 4.0;
constexpr double xqa_most_waves = 8.0;
constexpr double xqa_root_factor = 8.0;

// Priors: centre and spread of the 16-bit fits of the nine measured SKUs (engines of July 2026). Integer parameters
// (rows, packing, dispatch) have no slope: a fit tries every value as a start and keeps it.
constexpr std::array<CurveParameter, prefill_parameter_count> prefill_table{{
    {"compute", CurveUnit::share, 0.7, 0.0, 0.05, 1.0},
    {"bandwidth", CurveUnit::share, 0.85, 0.2, 0.05, 1.0},
    {"launch", CurveUnit::seconds, 12e-6, 0.0, 3e-7, 4e-4},
    {"exponential", CurveUnit::seconds, 0.045e-9, 0.7, 1e-12, 2e-9},
    {"cta", CurveUnit::seconds, 2e-6, 1.0, 1e-8, 5e-5},
    {"l2_rate", CurveUnit::share, 2.5, 0.7, 0.2, 50.0},
    {"tail", CurveUnit::share, 0.6, 0.7, 0.01, 1.0},
    {"write", CurveUnit::share, 1.0, 0.5, 0.05, 20.0},
    {"rotate", CurveUnit::share, 0.5, 1.5, 0.001, 20.0},
    {"token", CurveUnit::seconds, 0.3e-6, 1.5, 1e-9, 1e-5},
    {"residency", CurveUnit::share, 0.6, 0.5, 0.01, 3.0},
    {"residency_gain", CurveUnit::share, 3.0, 0.5, 1.0, 20.0},
    {"rows", CurveUnit::share, 128.0, 0.0, 16.0, 256.0},
    {"packing", CurveUnit::share, 1.0, 0.0, 1.0, 3.0},
}};

constexpr std::array<CurveParameter, decode_parameter_count> decode_table{{
    {"bandwidth", CurveUnit::share, 0.9, 0.1, 0.05, 1.0},
    {"launch", CurveUnit::seconds, 9e-6, 0.0, 3e-7, 4e-4},
    {"regroup", CurveUnit::seconds, 0.2e-6, 1.5, 1e-9, 5e-5},
    {"token", CurveUnit::seconds, 2e-6, 1.0, 1e-9, 2e-5},
    {"cta", CurveUnit::seconds, 2e-6, 0.7, 5e-8, 5e-5},
    {"cta_head", CurveUnit::seconds, 2e-6, 0.7, 5e-8, 5e-5},
    {"stream", CurveUnit::share, 3.0, 0.5, 0.1, 50.0},
    {"stream_head", CurveUnit::share, 3.0, 0.5, 0.1, 50.0},
    {"chunk", CurveUnit::share, 256.0, 1.0, 4.0, 1e6},
    {"chunk_head", CurveUnit::share, 256.0, 2.5, 4.0, 1e7},
    {"fill", CurveUnit::share, 0.7, 0.3, 0.1, 4.0},
    {"slots_head", CurveUnit::share, 1.2, 0.4, 0.5, 16.0},
    {"reduce", CurveUnit::seconds, 3e-6, 0.7, 1e-8, 1e-4},
    {"tail", CurveUnit::share, 0.3, 0.7, 0.01, 1.0},
    {"residency", CurveUnit::share, 0.6, 0.5, 0.01, 3.0},
    {"residency_gain", CurveUnit::share, 3.0, 0.5, 1.0, 20.0},
    {"aliased", CurveUnit::share, 1.0, 0.15, 0.5, 1.0},
    {"dispatch", CurveUnit::share, 1.0, 0.0, 1.0, 2.0},
}};

/// Share of a benchmark's operands that its repetitions find in L2.
double hit_of(double bytes, double resident) noexcept {
  if (resident <= 0.0) {
    return 0.0;
  }
  const double full = bytes / resident;
  return std::exp(-full * full);
}

/// Number of keys that the tokens of a call need.
double keys_needed(const AttentionShape& s) noexcept {
  return s.window > 0.0 ? std::min(s.context, s.tokens + s.window - 1.0) : s.context;
}

}  // namespace

std::span<const AttentionFormat> attention_formats() noexcept {
  return formats;
}

const AttentionFormat* find_attention_format(std::string_view name) noexcept {
  return find_format(formats, aliases, name);
}

const std::array<CurveParameter, prefill_parameter_count>& prefill_parameters() noexcept {
  return prefill_table;
}
const std::array<CurveParameter, decode_parameter_count>& decode_parameters() noexcept {
  return decode_table;
}

double attention_pairs(const AttentionShape& s) noexcept {
  if (!s.causal) {
    return s.tokens * s.context;
  }
  // New token i sees prefix + i + 1 keys, at most the window.
  const double prefix = s.context - s.tokens;
  const double growing = s.window > 0.0 ? std::clamp(s.window - prefix, 0.0, s.tokens) : s.tokens;
  return growing * prefix + 0.5 * growing * (growing + 1.0) + (s.tokens - growing) * s.window;
}

Flops attention_flops(const AttentionShape& s) noexcept {
  return Flops{4.0 * s.batch * s.heads * attention_pairs(s) * s.head_dim};
}

Bytes attention_bytes(const AttentionShape& s, const AttentionFormat& format) noexcept {
  const double queries = s.tokens * s.heads * (format.query_bytes + output_bytes);
  return Bytes{s.batch * s.head_dim * (queries + 2.0 * keys_needed(s) * s.kv_heads * format.cache_bytes)};
}

bool attention_in_range(const AttentionShape& s) noexcept {
  return s.head_dim <= 256.0 && s.window == 0.0 && s.heads <= 16.0 * s.kv_heads;
}

// ---- prefill --------------------------------------------------------------------------------------------------------

PrefillModel::PrefillModel(const PrefillCurve& curve,
                           const KernelDevice& device,
                           const AttentionFormat& format,
                           Residency residency) noexcept
    : curve_{curve},
      format_{format},
      units_{device.units},
      rows_{std::exp2(std::round(std::log2(value(PrefillParameter::rows))))},
      packing_{static_cast<int>(std::round(value(PrefillParameter::packing)))},
      flop_time_{1.0 / (value(PrefillParameter::compute) * device.peak.raw())},
      byte_time_{1.0 / (value(PrefillParameter::bandwidth) * device.bandwidth.raw())},
      l2_time_{1.0 / (value(PrefillParameter::l2_rate) * device.bandwidth.raw())},
      resident_{residency == Residency::benchmark ? value(PrefillParameter::residency) * device.l2.raw() : 0.0} {}

PrefillTime PrefillModel::explain(const AttentionShape& s) const noexcept {
  using P = PrefillParameter;
  const double group = s.heads / s.kv_heads;
  const bool packs = packing_ == 3 || (packing_ == 2 && s.tokens == 1.0);
  const double rows = packs ? s.tokens * group : s.tokens;
  const double tile = std::min(rows_, least_rows * std::ceil(rows / least_rows));
  const double tiles = std::ceil(rows / tile);
  const double heads = s.batch * (packs ? s.kv_heads : s.heads);
  const double ctas = heads * tiles;
  const double x = ctas / units_;
  const AttentionBlocks blocks = attention_blocks(s, tiles, packs ? tile / group : tile);

  const double compute = 4.0 * tile * block_keys * s.head_dim * units_ * flop_time_;
  const double softmax = value(P::exponential) * tile * block_keys;
  const double l2 = std::min(ctas, units_) * 2.0 * block_keys * s.head_dim * format_.cache_bytes * l2_time_;
  const double inner = norm3(compute, softmax);
  const double block = norm4(inner, l2, 0.0);
  const double longest = block * blocks.last;
  const double mean = block * heads * blocks.all / units_;
  const double tail = value(P::tail);
  const double loop = x <= 1.0 ? longest : std::max(longest, mean) + tail * std::min(longest, mean) * (1.0 - 1.0 / x);

  const double elements = s.batch * s.tokens * s.head_dim;
  const double written = elements * 2.0 * s.kv_heads * (activation_bytes + format_.cache_bytes);
  const double rotated = elements * s.heads * 2.0 * activation_bytes;
  const double gain = value(P::residency_gain);
  const auto time_of = [&](double bytes, double& hit) {
    hit = hit_of(bytes, resident_);
    return bytes * (1.0 - hit + hit / gain) * byte_time_;
  };
  PrefillTime t;
  double prepass_hit = 0.0;
  const double writers = s.batch * s.tokens * std::min(s.kv_heads * s.head_dim, write_threads) / write_threads;
  t.prepass = Seconds{time_of(value(P::write) * written + value(P::rotate) * rotated, prepass_hit) +
                      value(P::token) * writers / units_};
  t.launch = Seconds{value(P::launch)};
  t.fixed = Seconds{value(P::cta) * waves_of(x, tail)};
  t.loop = Seconds{loop};
  t.memory = Seconds{time_of(attention_bytes(s, format_).raw(), t.hit)};
  t.total = t.launch + t.prepass + t.fixed + Seconds{norm3(loop, t.memory.raw())};
  t.rows = tile;
  t.waves = x;
  if (t.launch + t.prepass > std::max(t.fixed, std::max(t.loop, t.memory))) {
    t.bound = AttentionBound::launch;
  } else if (t.memory > std::max(t.loop, t.fixed)) {
    t.bound = AttentionBound::memory;
  } else if (t.fixed > t.loop) {
    t.bound = AttentionBound::latency;
  } else {
    t.bound = l2 > inner ? AttentionBound::l2 : softmax > compute ? AttentionBound::softmax : AttentionBound::compute;
  }
  return t;
}

Seconds PrefillModel::bound(const AttentionShape& s) const noexcept {
  const double bytes = attention_bytes(s, format_).raw();
  const double hit = hit_of(bytes, resident_);
  const double memory = bytes * (1.0 - hit + hit / value(PrefillParameter::residency_gain)) * byte_time_;
  return Seconds{value(PrefillParameter::launch) + std::max(attention_flops(s).raw() * flop_time_, memory)};
}

// ---- decode ---------------------------------------------------------------------------------------------------------

DecodeModel::DecodeModel(const DecodeCurve& curve,
                         const KernelDevice& device,
                         const AttentionFormat& format,
                         Residency residency) noexcept
    : curve_{curve},
      format_{format},
      units_{device.units},
      dispatch_{static_cast<int>(std::round(value(DecodeParameter::dispatch)))},
      flop_time_{1.0 / device.peak.raw()},
      byte_time_{1.0 / (value(DecodeParameter::bandwidth) * device.bandwidth.raw())},
      stream_time_{device.units / device.bandwidth.raw()},
      resident_{residency == Residency::benchmark ? value(DecodeParameter::residency) * device.l2.raw() : 0.0},
      read_{residency == Residency::benchmark ? value(DecodeParameter::aliased) : 1.0} {}

double DecodeModel::memory_time(const AttentionShape& s, double keys, double& hit) const noexcept {
  const double cache = 2.0 * read_ * s.kv_heads * keys * format_.cache_bytes;
  // The query, its output, and the new key and value, read and written.
  const double rest = s.heads * (format_.query_bytes + output_bytes) + 4.0 * s.kv_heads * format_.cache_bytes;
  const double bytes = s.batch * s.head_dim * (cache / s.sharers + s.tokens * rest);
  const double again = s.batch * s.head_dim * cache * (1.0 - 1.0 / s.sharers);
  const double gain = value(DecodeParameter::residency_gain);
  hit = hit_of(bytes, resident_);
  const double stream = (bytes * (1.0 - hit + hit / gain) + again / gain) * byte_time_;
  return std::max(stream, 4.0 * s.batch * s.tokens * s.heads * keys * s.head_dim * flop_time_);
}

DecodeModel::Split DecodeModel::at_split(
    const AttentionShape& s, double keys, double split, double memory, bool grouped) const noexcept {
  using P = DecodeParameter;
  const double slots = grouped ? units_ : units_ * value(P::slots_head);
  const double stream = value(grouped ? P::stream : P::stream_head);
  Split at;
  at.waves = s.batch * (grouped ? s.kv_heads : s.heads) * split / slots;
  const double alone = 2.0 * keys / split * s.head_dim * format_.cache_bytes * stream_time_ / stream;
  at.loop = waves_of(at.waves, value(P::tail)) * (value(grouped ? P::cta : P::cta_head) + alone);
  if (split > 1.0) {
    // Partial outputs are written and read in 32 bits.
    const double outputs = s.batch * s.tokens * s.heads * split * s.head_dim;
    at.reduce = value(P::reduce) * (1.0 - 1.0 / split) + 8.0 * outputs * byte_time_;
  }
  at.total = at.reduce + norm3(at.loop, memory);
  return at;
}

DecodeTime DecodeModel::explain(const AttentionShape& s) const noexcept {
  using P = DecodeParameter;
  const double keys = keys_needed(s);
  DecodeTime t;
  const double memory = memory_time(s, keys, t.hit);
  const double xqa_blocks = std::floor(keys / xqa_block_keys);
  t.grouped = s.heads > s.kv_heads;
  if (dispatch_ == 2 && xqa_least_blocks * s.batch * s.kv_heads * std::max(1.0, xqa_blocks) < units_) {
    t.grouped = false;
  }
  Split best;
  if (dispatch_ == 2 && t.grouped) {
    t.split = std::max(1.0, std::min(xqa_blocks, std::round(std::sqrt(xqa_root_factor * xqa_blocks))));
    const double waves = s.batch * s.kv_heads * t.split / units_;
    if (waves > xqa_most_waves) {
      t.split = std::max(1.0, std::floor(t.split * xqa_most_waves / waves));
    }
    best = at_split(s, keys, t.split, memory, true);
  } else {
    const double slots = t.grouped ? units_ : units_ * value(P::slots_head);
    const double ctas = s.batch * (t.grouped ? s.kv_heads : s.heads);
    t.split = std::min(value(P::fill) * slots / ctas, keys / value(t.grouped ? P::chunk : P::chunk_head));
    best = at_split(s, keys, 1.0, memory, t.grouped);
    const Split split = t.split > 1.0 ? at_split(s, keys, t.split, memory, t.grouped) : best;
    if (split.total < best.total) {
      best = split;
    } else {
      t.split = 1.0;
    }
  }
  const double writers = s.batch * s.tokens * std::min(s.kv_heads * s.head_dim, write_threads) / write_threads;
  t.launch = Seconds{value(P::launch) + value(P::token) * writers / units_ +
                     (t.grouped && s.kv_heads > 1.0 ? value(P::regroup) : 0.0)};
  t.loop = Seconds{best.loop};
  t.memory = Seconds{memory};
  t.reduce = Seconds{best.reduce};
  t.total = t.launch + Seconds{best.total};
  t.waves = best.waves;
  t.bound = t.launch + t.reduce > std::max(t.loop, t.memory) ? AttentionBound::launch
            : t.memory > t.loop                              ? AttentionBound::memory
                                                             : AttentionBound::latency;
  return t;
}

Seconds DecodeModel::bound(const AttentionShape& s) const noexcept {
  double hit = 0.0;
  return Seconds{value(DecodeParameter::launch) + memory_time(s, keys_needed(s), hit)};
}

}  // namespace headroom
