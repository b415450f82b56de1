// SPDX-License-Identifier: Apache-2.0
// The work of one iteration, and where its time goes, by kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headroom {

/// Where the time of an iteration goes.
enum class IterationTerm : std::uint8_t {
  products,           ///< projections, feed-forward, router
  experts,            ///< grouped products, with what is launched around them
  decode_attention,   ///< of sequences that decode
  prefill_attention,  ///< of chunks of prompts
  all_reduce,         ///< of tensor ranks
  exchange,           ///< tokens to the ranks of their experts and back
  passes,             ///< norms, activations, casts: bytes through memory
  head,               ///< language head, its gather over ranks, sampling
  stages,             ///< activations to the next pipeline stage
  gaps,               ///< between kernels, or the host's launches where those bind
  host,               ///< scheduler, input preparation, detokenisation
  scan,               ///< states of recurrent layers over the chunks of prompts
  count
};
inline constexpr std::size_t iteration_term_count = static_cast<std::size_t>(IterationTerm::count);
inline constexpr std::array<std::string_view, iteration_term_count> iteration_term_names{
    "products", "experts",       "decode attention", "prefill attention", "all-reduce", "exchange of experts",
    "passes",   "language head", "pipeline sends",   "launch gaps",       "host",       "prompt scans"};

/// Seconds by kind.
struct IterationTerms {
  std::array<double, iteration_term_count> seconds{};
  /// What the products of decode attention would take at the fp32 peak of the vector units; no part of the total.
  double decode_on_vector_units = 0.0;
  /// Of products and attention what their own bytes at the datasheet's bandwidth and FLOP at the peak take at least.
  double least_products = 0.0, least_decode = 0.0, least_prefill = 0.0;
  /// Of the products' FLOP at the rate that their kernels sustain: no engine's habits shorten it.
  double sustained_products = 0.0;
  /// Of the products those of narrow weights and many rows: all of it from 64 rows on, nothing up to 16.
  double unpacked_products = 0.0;
  /// Of the products what writes packed weights out in 16 bit before a product of more rows.
  double written_out_products = 0.0;
  /// Of the experts what the measured kernels take to start.
  double expert_launches = 0.0;
  /// Of the experts the share of a tile of 64 rows that a mean expert's rows leave empty; nothing from 64 on.
  double unfilled_experts = 0.0;
  [[nodiscard]] constexpr double& operator[](IterationTerm t) noexcept { return seconds[static_cast<std::size_t>(t)]; }
  [[nodiscard]] constexpr double operator[](IterationTerm t) const noexcept {
    return seconds[static_cast<std::size_t>(t)];
  }
  [[nodiscard]] double total() const noexcept;
  /// Twice the same work.
  void double_all() noexcept;
};

/// Work of one iteration. Chunks are alike.
struct IterationMix {
  double decodes = 0.0;       ///< sequences that decode
  double keys = 0.0;          ///< that each of them sees
  double chunks = 0.0;        ///< of prompts
  double chunk_tokens = 0.0;  ///< of each, new
  double chunk_keys = 0.0;    ///< that its last token sees; chunk_tokens at the start of a prompt
  double ending = 0.0;        ///< chunks that end their prompt and give a token
  double queries = 1.0;       ///< tokens of each that decodes: 1, and the draft that is verified beside it
  [[nodiscard]] constexpr double tokens() const noexcept { return decodes * queries + chunks * chunk_tokens; }
};

}  // namespace headroom
