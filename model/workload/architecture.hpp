// SPDX-License-Identifier: Apache-2.0
// A network's shape: what its published configuration says, and the parameters that follow from it.
#pragma once

#include <headroom/core/config_reader.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class ArchitectureKind : std::uint8_t { decoder, encoder };
inline constexpr std::array<std::string_view, 2> architecture_kind_names{"decoder", "encoder"};

enum class Norm : std::uint8_t { rmsnorm, layernorm };
inline constexpr std::array<std::string_view, 2> norm_names{"rmsnorm", "layernorm"};

/// Mixture of experts in every layer but the first `dense_layers`.
struct Moe {
  std::int64_t experts = 1;
  std::int64_t top_k = 1;
  std::int64_t expert_ffn_hidden = 1;
  std::int64_t shared_experts = 0;
  std::int64_t dense_layers = 0;
};

struct Architecture {
  std::string id;
  std::string name;
  std::vector<std::string> aliases;
  std::string family;
  std::string source;
  std::string notes;
  ArchitectureKind kind = ArchitectureKind::decoder;
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t ffn_hidden = 1;
  bool gated_mlp = false;
  std::int64_t vocab = 1;
  bool tied_embeddings = false;
  std::int64_t learned_positions = 0;
  bool biases = false;
  bool attention_biases = false;
  Norm norm = Norm::rmsnorm;
  std::int64_t max_seq_len = 0;
  std::optional<Moe> moe;
  double published_parameters = 0.0;  ///< 0: none published
  std::string parameters_source;

  [[nodiscard]] std::int64_t moe_layers() const noexcept { return moe ? layers - moe->dense_layers : 0; }
};

/// Parameters by place, one term a line in the .cpp. Counts are doubles: 1e12 parameters are exact in them.
struct ParameterCount {
  double embedding = 0.0;  ///< token and position tables
  double attention_per_layer = 0.0;
  double norms_per_layer = 0.0;
  double dense_mlp = 0.0;          ///< one dense layer's MLP
  double expert = 0.0;             ///< one expert
  double router_and_shared = 0.0;  ///< one MoE layer's router and shared experts
  double final_norm = 0.0;
  double head = 0.0;    ///< 0 when tied
  double layers = 0.0;  ///< all layers together
  double total = 0.0;
  double active = 0.0;           ///< what one token meets: top-k experts instead of all
  double active_matrices = 0.0;  ///< active weights that multiply: no norms, biases, tables; the head included
};
[[nodiscard]] ParameterCount count_parameters(const Architecture& architecture) noexcept;

/// KV cache of one token over all layers: 2 L g d bytes-per-element (Shazeer 2019; Ainslie et al. 2023 for g < a).
[[nodiscard]] double kv_elements_per_token(const Architecture& architecture) noexcept;

/// Reads a preset or an inline `[model]` table; every problem goes to `diagnostics`, heads against kv_heads included.
[[nodiscard]] Architecture read_architecture(ConfigTable root);

}  // namespace headroom
