// SPDX-License-Identifier: Apache-2.0
// The time of a serving engine's attention kernels, including what the engine launches around each: prefill (tiles of
// queries over blocks of keys) and decode (one query per sequence over its cache).
#pragma once

#include <headroom/model/kernels/curve.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace headroom {

/// Element types of the queries, which set the arithmetic rate, and of the cache; sizes in bytes per element.
struct AttentionFormat {
  std::string_view name;  ///< "bf16/fp8": queries / cache
  Rate rate = Rate::bf16;
  double query_bytes = 2.0;
  double cache_bytes = 2.0;
};
/// nullptr if the name is unknown. "bfloat16" and "float16" mean bf16.
[[nodiscard]] const AttentionFormat* find_attention_format(std::string_view name) noexcept;
[[nodiscard]] std::span<const AttentionFormat> attention_formats() noexcept;

/// Sizes of one attention call. Every sequence of the batch has `tokens` new tokens that see `context` keys including
/// their own: context = tokens without a cached prefix, tokens = 1 in decode.
struct AttentionShape {
  double batch = 1.0;
  double tokens = 1.0;
  double context = 1.0;
  double heads = 1.0;  ///< query heads; a multiple of kv_heads
  double kv_heads = 1.0;
  double head_dim = 128.0;
  double window = 0.0;  ///< most keys that a token sees; 0: all
  bool causal = true;
  double sharers = 1.0;  ///< sequences of the batch that read one cache, the first from memory and the others from L2
};

/// Pairs of query and key that a call computes per head: tokens x context without the masked ones.
[[nodiscard]] double attention_pairs(const AttentionShape& shape) noexcept;
/// FLOP of the scores and their product with the values: 4 batch heads pairs head_dim.
[[nodiscard]] Flops attention_flops(const AttentionShape& shape) noexcept;
/// Bytes of queries, keys, values and output, each moved once.
[[nodiscard]] Bytes attention_bytes(const AttentionShape& shape, const AttentionFormat& format) noexcept;
/// Shapes covered by the fits: head_dim up to 256, no window, up to 16 query heads per KV head.
[[nodiscard]] bool attention_in_range(const AttentionShape& shape) noexcept;

// ---- prefill --------------------------------------------------------------------------------------------------------

enum class PrefillParameter : std::uint8_t {
  compute,         ///< share of the dense peak that the tensor cores sustain inside a block
  bandwidth,       ///< share of the memory's bandwidth
  launch,          ///< time of all graph nodes of one call
  exponential,     ///< an SM's time per score for exponentials, maxima and sums, beside the tensor cores
  cta,             ///< fixed time of one CTA: queries in, output out
  l2_rate,         ///< L2-to-SM bandwidth over memory bandwidth, for keys and values
  tail,            ///< weight of the last, partly filled wave
  write,           ///< passes over the new keys and values before the kernel (cache write)
  rotate,          ///< passes over the queries before the kernel (rotary embedding, copy)
  token,           ///< time of one token's cache-writing CTA of 512 threads
  residency,       ///< share of L2 that holds a benchmark's operands
  residency_gain,  ///< bandwidth of operands found in L2 over memory bandwidth
  rows,            ///< query rows of a CTA, a power of two; fewer, down to 16, for shorter sequences
  packing,         ///< query heads of one KV head share a CTA: 1 never, 2 for steps of one token, 3 always
  count
};
inline constexpr std::size_t prefill_parameter_count = static_cast<std::size_t>(PrefillParameter::count);
using PrefillCurve = std::array<double, prefill_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, prefill_parameter_count>& prefill_parameters() noexcept;

enum class AttentionBound : std::uint8_t { launch, compute, softmax, l2, latency, memory };
inline constexpr std::array<std::string_view, 6> attention_bound_names{"launch",   "compute", "softmax",
                                                                       "L2 to SM", "latency", "memory"};

struct PrefillTime {
  Seconds total{};
  Seconds launch{};
  Seconds prepass{};  ///< cache write, rotation, and latency of the cache-writing CTAs
  Seconds fixed{};    ///< starts and ends of the CTAs
  Seconds loop{};     ///< blocks of keys
  Seconds memory{};
  double rows = 0.0;   ///< query rows of a CTA
  double waves = 0.0;  ///< CTAs over SMs
  double hit = 0.0;    ///< share of the operands found in L2; 0 outside a benchmark
  AttentionBound bound = AttentionBound::launch;
};

class PrefillModel {
 public:
  PrefillModel(const PrefillCurve& curve,
               const KernelDevice& device,
               const AttentionFormat& format,
               Residency residency = Residency::memory) noexcept;

  /// T = launch + prepass + fixed + norm3(loop, memory). A CTA takes M query rows of one head, or of all query heads of
  /// one KV head, over blocks of 64 keys up to its diagonal. P is the peak, B the memory bandwidth, c the bytes of a
  /// cache element:
  /// @code
  /// u       = norm4(norm3(4 M 64 d SM / (compute P), exponential M 64), min(CTAs, SM) 2 64 d c / (l2_rate B))
  /// longest = u x blocks of the last CTA,  mean = u x all blocks / SM
  /// loop    = longest up to one wave x = CTAs / SM, else max(longest, mean) + tail min(longest, mean) (1 - 1 / x)
  /// fixed   = cta (1 up to one wave, else x + tail (ceil(x) - x))
  /// prepass = (write (2 + c) 2 b s kv d + rotate 4 b s h d) / (bandwidth B) + token b s min(kv d, 512) / (512 SM)
  /// memory  = attention_bytes / (bandwidth B)
  /// @endcode
  /// Blocks and online softmax: Dao et al. 2022 and Dao 2023 (FlashAttention-2). Exponentials beside the tensor cores:
  /// Shah et al. 2024 (FlashAttention-3, section 3.1). CTA cost, longest CTA, prepass: fitted to measured kernels.
  [[nodiscard]] Seconds time(const AttentionShape& shape) const noexcept { return explain(shape).total; }
  [[nodiscard]] PrefillTime explain(const AttentionShape& shape) const noexcept;

  /// launch + max(FLOP / (compute P), bytes / (bandwidth B)). Never above time().
  [[nodiscard]] Seconds bound(const AttentionShape& shape) const noexcept;

 private:
  [[nodiscard]] double value(PrefillParameter p) const noexcept { return curve_[static_cast<std::size_t>(p)]; }

  PrefillCurve curve_;
  AttentionFormat format_;
  double units_ = 1.0;
  double rows_ = 128.0;
  int packing_ = 1;
  double flop_time_ = 0.0;
  double byte_time_ = 0.0;
  double l2_time_ = 0.0;   ///< time of one byte from L2, s
  double resident_ = 0.0;  ///< bytes of L2 that a benchmark fills; 0: off
};

// ---- decode ---------------------------------------------------------------------------------------------------------

enum class DecodeParameter : std::uint8_t {
  bandwidth,       ///< share of the memory's bandwidth
  launch,          ///< time of all graph nodes of one call
  regroup,         ///< time of the nodes that group the query heads of one KV head
  token,           ///< time of one token's cache-writing CTA of 512 threads
  cta,             ///< fixed time of a CTA that serves all query heads of one KV head
  cta_head,        ///< fixed time of a CTA that serves one query head
  stream,          ///< bandwidth of one CTA over an SM's share of the memory bandwidth
  stream_head,     ///< `stream` of a kernel with one query head per CTA
  chunk,           ///< fewest keys of one split
  chunk_head,      ///< `chunk` of a kernel with one query head per CTA; huge: never split
  fill,            ///< waves that splitting aims at
  slots_head,      ///< CTAs of one query head that an SM holds
  reduce,          ///< time of the reduction after a split
  tail,            ///< weight of the last, partly filled wave
  residency,       ///< share of L2 that holds a benchmark's cache
  residency_gain,  ///< bandwidth of a cache found in L2 over memory bandwidth
  aliased,         ///< share of the cache that a benchmark reads; below 1 if keys and values share memory
  dispatch,        ///< 1: one kernel that fills the SMs; 2: XQA or MMHA by TensorRT-LLM's rule
  count
};
inline constexpr std::size_t decode_parameter_count = static_cast<std::size_t>(DecodeParameter::count);
using DecodeCurve = std::array<double, decode_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, decode_parameter_count>& decode_parameters() noexcept;

struct DecodeTime {
  Seconds total{};
  Seconds launch{};  ///< launch, regrouping and cache write
  Seconds loop{};    ///< waves of CTAs, each at its own stream rate
  Seconds memory{};
  Seconds reduce{};
  double split = 1.0;
  double waves = 0.0;
  double hit = 0.0;
  bool grouped = true;  ///< one CTA serves all query heads of a KV head
  AttentionBound bound = AttentionBound::launch;
};

class DecodeModel {
 public:
  DecodeModel(const DecodeCurve& curve,
              const KernelDevice& device,
              const AttentionFormat& format,
              Residency residency = Residency::memory) noexcept;

  /// Time of one decode call on L cached keys, with P the peak, B the memory bandwidth and q = `tokens`:
  /// @code
  /// T         = launch + [grouped and kv > 1] regroup + token b q min(kv d, 512) / (512 SM) + reduction
  ///             + norm3(loop, memory)
  /// loop      = w(x) (cta + 2 L/S d c SM / (stream B)),  x = CTAs S / (SM slots),
  ///             w(x) = 1 up to one wave, else x + tail (ceil(x) - x)
  /// memory    = max(bytes / (bandwidth B), FLOP / P)
  /// reduction = reduce (1 - 1 / S) + 8 b q h S d / (bandwidth B) for S > 1 splits
  /// @endcode
  /// q is 1 in plain decode. The q queries that verify a draft read the cache of their sequence once, like further
  /// query heads of a group: bytes of the cache once, queries, outputs and FLOP q times (kernels were measured with one
  /// query). One CTA serves one KV head with all its query heads, or one query head that has its own keys. Splits fill
  /// the SMs, S = min(fill SM slots / CTAs, L / chunk), if that is faster than no split (Dao et al. 2023,
  /// Flash-Decoding). With dispatch 2 the rules of TensorRT-LLM's DecoderXQARunner apply: XQA if 4 b kv max(1, L / 128)
  /// >= SM, with min(L / 128, sqrt(8 L / 128)) splits but at most eight waves; else one query head per CTA (MMHA).
  [[nodiscard]] Seconds time(const AttentionShape& shape) const noexcept { return explain(shape).total; }
  [[nodiscard]] DecodeTime explain(const AttentionShape& shape) const noexcept;

  /// launch + max(FLOP / P, bytes / (bandwidth B)). Never above time().
  [[nodiscard]] Seconds bound(const AttentionShape& shape) const noexcept;

 private:
  struct Split {
    double loop = 0.0;
    double reduce = 0.0;
    double waves = 0.0;
    double total = HUGE_VAL;
  };
  [[nodiscard]] double value(DecodeParameter p) const noexcept { return curve_[static_cast<std::size_t>(p)]; }
  [[nodiscard]] double memory_time(const AttentionShape& shape, double keys, double& hit) const noexcept;
  [[nodiscard]] Split at_split(
      const AttentionShape& shape, double keys, double split, double memory, bool grouped) const noexcept;

  DecodeCurve curve_;
  AttentionFormat format_;
  double units_ = 1.0;
  int dispatch_ = 1;
  double flop_time_ = 0.0;  ///< time of one FLOP at the peak, s
  double byte_time_ = 0.0;
  double stream_time_ = 0.0;  ///< time of one byte at an SM's share of the bandwidth, s
  double resident_ = 0.0;     ///< bytes of L2 that a benchmark fills; 0: off
  double read_ = 1.0;         ///< share of the cache that is read
};

}  // namespace headroom
