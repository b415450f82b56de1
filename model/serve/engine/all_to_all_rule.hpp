// SPDX-License-Identifier: Apache-2.0
// The layouts in which an engine sends tokens only to the ranks of their experts.
#pragma once

#include <headroom/model/estimate/precision.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The ranks of experts to which a rule applies.
enum class ExchangeOver : std::uint8_t {
  domain,  ///< ranks of one NVLink domain
  hosts,   ///< ranks of several NVLink domains, joined by NICs
};
inline constexpr std::array<std::string_view, 2> exchange_over_names{"domain", "hosts"};

/// A class of layouts in which an engine sends each token only to the ranks of its experts. In all other layouts every
/// rank gathers the tokens of all ranks.
struct AllToAllRule {
  ExchangeOver over = ExchangeOver::hosts;
  /// Applies only to NVLink domains with more GPUs than this, i.e. those that span hosts.
  std::int64_t domain_above = 0;
  bool beyond_top_k = false;  ///< applies only if there are more ranks than experts per token
  std::string activations;    ///< applies only to this format, as kernels spell it; empty: to all
  std::string from;           ///< first release of the engine that has it; empty: all
  /// Measured kernels in their order of execution, for iterations of decodes alone and for those with prompts. "{}"
  /// stands for the format of the activations: bfloat16, fp8, nvfp4.
  std::vector<std::string> decodes, prompts;
  double sms = 0.0;  ///< streaming multiprocessors given to the kernels; 0: as many as they use
  /// The word of the engine's launch that chooses these kernels, and that for replicas of prompts alone; empty: the
  /// engine chooses by itself.
  std::string backend, prompts_backend;
  std::string source;
};

/// Ranks of experts under attention-DP, as rules see them.
struct ExchangeRanks {
  std::int64_t ranks = 1;
  bool over_nics = false;   ///< in several NVLink domains
  std::int64_t domain = 1;  ///< GPUs of a domain
  double top_k = 1.0;       ///< experts of a token
  Precision activations = Precision::bf16;
};

/// The first rule that applies; nullptr: every rank gathers all tokens.
[[nodiscard]] const AllToAllRule* rule_of(std::span<const AllToAllRule> rules, const ExchangeRanks& ranks) noexcept;

/// As the names of measured kernels spell the format of activations.
[[nodiscard]] std::string_view exchange_spelling(Precision activations) noexcept;

}  // namespace headroom
