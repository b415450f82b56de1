// SPDX-License-Identifier: Apache-2.0
// Traces of requests: the published formats and our own.
#pragma once

#include <headroom/core/diagnostic.hpp>
#include <headroom/model/serve/load/prompt_prefixes.hpp>
#include <headroom/model/serve/load/request.hpp>

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace headroom {

/// Formats, recognised by their columns or as lines of JSON:
/// - azure: TIMESTAMP,ContextTokens,GeneratedTokens[,NumImages] with dates (Azure/AzurePublicDataset; Patel et al.
/// 2024);
/// - burstgpt: Timestamp (seconds),[Session ID,Elapsed time,]Model,Request tokens,Response tokens,Total tokens,Log Type
///   (HPMLL/BurstGPT; Wang et al. 2024);
/// - mooncake: {"timestamp": ms, "input_length", "output_length", "hash_ids": [...]} per line (kvcache-ai/Mooncake; Qin
///   et al. 2025);
/// - own: arrival_s,prompt_tokens,output_tokens[,cached_tokens][,service_class].
enum class TraceForm : std::uint8_t { azure, burstgpt, mooncake, own };

struct RequestTrace {
  TraceForm form = TraceForm::own;
  /// Requests by arrival. Azure's dated rows start at time 0; the other formats keep their seconds.
  std::vector<Request> requests;
  PromptPrefixes prefixes;  ///< shared prefixes, from the hash ids
  std::int64_t failed = 0;  ///< BurstGPT rows without an answer, left out as its authors advise
};

/// Tokens per hash id of a Mooncake trace (its FAST25-release/README).
inline constexpr std::int64_t mooncake_block_tokens = 512;

/// Reads a trace. Reports with their places: unknown and missing columns or keys, cells that are not numbers, negative
/// or decreasing times, token counts below 1, times beyond 106 days. `cache_blocks`: capacity, in blocks of 512 tokens,
/// of the prefix cache that hash ids are looked up in; 0: unlimited.
[[nodiscard]] RequestTrace read_request_trace(std::istream& stream,
                                              const std::string& file,
                                              Diagnostics& diagnostics,
                                              std::int64_t cache_blocks = 0);

/// Reads a trace from a file. Throws ConfigError with every problem.
[[nodiscard]] RequestTrace load_request_trace(const std::string& path, std::int64_t cache_blocks = 0);

}  // namespace headroom
