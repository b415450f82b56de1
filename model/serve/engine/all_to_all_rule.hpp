// SPDX-License-Identifier: Apache-2.0
// In which layouts an engine sends tokens to the ranks of their experts alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Which ranks of experts a rule of an engine is about.
enum class ExchangeOver : std::uint8_t {
  domain,  ///< those of one NVLink domain
  hosts,   ///< those of several, which meet over NICs
};
inline constexpr std::array<std::string_view, 2> exchange_over_names{"domain", "hosts"};

/// Layouts in which an engine sends each token to the ranks of its experts alone. In all others every rank gathers
/// the tokens of all.
struct AllToAllRule {
  ExchangeOver over = ExchangeOver::hosts;
  std::int64_t domain_above = 0;  ///< in NVLink domains of more GPUs alone: those that span hosts
  bool beyond_top_k = false;      ///< only with more ranks than a token has experts
  /// Measured kernels in the order in which they run, of iterations of decodes alone and of those with prompts. "{}"
  /// stands for the format of the activations: bfloat16, fp8, nvfp4.
  std::vector<std::string> decodes, prompts;
  double sms = 0.0;  ///< streaming multiprocessors that they are given; 0: as many as they take
  std::string source;
};

}  // namespace headroom
