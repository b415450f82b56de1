// SPDX-License-Identifier: Apache-2.0
// Traces of requests as they are published, and a user's own.
#pragma once

#include <headroom/core/diagnostic.hpp>
#include <headroom/model/serve/load/prompt_prefixes.hpp>
#include <headroom/model/serve/load/request.hpp>

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace headroom {

/// Known by their columns, or as lines of JSON:
/// - azure: TIMESTAMP,ContextTokens,GeneratedTokens[,NumImages] with dates (Azure/AzurePublicDataset; Patel et al.
/// 2024);
/// - burstgpt: Timestamp (seconds),[Session ID,Elapsed time,]Model,Request tokens,Response tokens,Total tokens,Log Type
///   (HPMLL/BurstGPT; Wang et al. 2024);
/// - mooncake: {"timestamp": ms, "input_length", "output_length", "hash_ids": [...]} a line (kvcache-ai/Mooncake; Qin
/// et
///   al. 2025);
/// - own: arrival_s,prompt_tokens,output_tokens[,cached_tokens][,service_class].
enum class TraceForm : std::uint8_t { azure, burstgpt, mooncake, own };

struct RequestTrace {
  TraceForm form = TraceForm::own;
  /// By arrival. Azure's start at the first row, for they are dated; others keep their seconds.
  std::vector<Request> requests;
  PromptPrefixes prefixes;  ///< of hash ids
  std::int64_t failed = 0;  ///< rows of BurstGPT without an answer, left out as its authors advise
};

/// Hash ids of Mooncake stand for 512 tokens each (FAST25-release/README).
inline constexpr std::int64_t mooncake_block_tokens = 512;

/// Reads a trace. Reported, each with its place: unknown and missing columns or keys, cells that are no numbers, times
/// that are negative or before the row above, tokens below 1, times beyond 106 days. `cache_blocks`: room of the prefix
/// cache that hash ids are looked up in, in blocks of 512 tokens; 0: without end.
[[nodiscard]] RequestTrace read_request_trace(std::istream& stream,
                                              const std::string& file,
                                              Diagnostics& diagnostics,
                                              std::int64_t cache_blocks = 0);

/// The same from a file. ConfigError with every problem.
[[nodiscard]] RequestTrace load_request_trace(const std::string& path, std::int64_t cache_blocks = 0);

}  // namespace headroom
