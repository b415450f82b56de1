// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/architecture.hpp>

namespace headroom {
namespace {

double as_double(std::int64_t count) noexcept {
  return static_cast<double>(count);
}

void read_moe(ConfigTable table, Architecture& architecture) {
  Moe moe;
  moe.experts = table.integer("experts");
  moe.top_k = table.integer("top_k");
  moe.expert_ffn_hidden = table.integer("expert_ffn_hidden");
  moe.shared_experts = table.maybe_integer("shared_experts", not_negative).value_or(0);
  moe.dense_layers = table.maybe_integer("dense_layers", not_negative).value_or(0);
  if (moe.top_k > moe.experts) {
    table.problem("top_k", "'top_k' is " + std::to_string(moe.top_k) + ", more than the " +
                               std::to_string(moe.experts) + " experts");
  }
  if (moe.dense_layers > architecture.layers) {
    table.problem("dense_layers", "'dense_layers' is " + std::to_string(moe.dense_layers) + ", more than the " +
                                      std::to_string(architecture.layers) + " layers");
  }
  table.finish();
  architecture.moe = moe;
}

}  // namespace

ParameterCount count_parameters(const Architecture& arch) noexcept {
  const double h = as_double(arch.hidden);
  const double q = as_double(arch.heads * arch.head_dim);
  const double kv = as_double(arch.kv_heads * arch.head_dim);
  const double matrices_of_mlp = arch.gated_mlp ? 3.0 : 2.0;
  const double norm = arch.norm == Norm::layernorm ? 2.0 * h : h;
  const bool qkv_bias = arch.biases || arch.attention_biases;

  ParameterCount count;
  count.embedding = as_double(arch.vocab) * h                  // token table
                    + as_double(arch.learned_positions) * h;   // position table
  const double attention_matrices = h * q                      // query
                                    + 2.0 * h * kv             // key and value
                                    + q * h;                   // output
  count.attention_per_layer = attention_matrices               //
                              + (qkv_bias ? q + 2.0 * kv : 0)  //
                              + (arch.biases ? h : 0.0);
  count.norms_per_layer = 2.0 * norm;
  const auto mlp = [&](double f, bool biased) {
    return matrices_of_mlp * h * f + (biased ? (matrices_of_mlp - 1.0) * f + h : 0.0);
  };
  count.dense_mlp = mlp(as_double(arch.ffn_hidden), arch.biases);
  count.final_norm = norm;
  count.head = arch.tied_embeddings ? 0.0 : as_double(arch.vocab) * h;

  const double moe_layers = as_double(arch.moe_layers());
  const double dense_layers = as_double(arch.layers) - moe_layers;
  double experts_held = 0.0;
  double experts_met = 0.0;
  if (arch.moe) {
    count.expert = mlp(as_double(arch.moe->expert_ffn_hidden), arch.biases);
    count.router_and_shared = h * as_double(arch.moe->experts) + as_double(arch.moe->shared_experts) * count.expert;
    experts_held = as_double(arch.moe->experts) * count.expert;
    experts_met = as_double(arch.moe->top_k) * count.expert;
  }
  const double every_layer = as_double(arch.layers) * (count.attention_per_layer + count.norms_per_layer);
  const double dense = dense_layers * count.dense_mlp;
  const double routed = moe_layers * count.router_and_shared;
  count.layers = every_layer + dense + routed + moe_layers * experts_held;
  count.total = count.embedding + count.layers + count.final_norm + count.head;
  count.active = count.total - moe_layers * (experts_held - experts_met);

  const double mlp_matrices = matrices_of_mlp * h * as_double(arch.ffn_hidden);
  const double expert_matrices = arch.moe ? matrices_of_mlp * h * as_double(arch.moe->expert_ffn_hidden) *
                                                    as_double(arch.moe->top_k + arch.moe->shared_experts) +
                                                h * as_double(arch.moe->experts)
                                          : 0.0;
  count.active_matrices = as_double(arch.layers) * attention_matrices  //
                          + dense_layers * mlp_matrices                //
                          + moe_layers * expert_matrices               //
                          + as_double(arch.vocab) * h;                 // the head multiplies even when it is tied
  return count;
}

double kv_elements_per_token(const Architecture& arch) noexcept {
  return 2.0 * as_double(arch.layers) * as_double(arch.kv_heads) * as_double(arch.head_dim);
}

Architecture read_architecture(ConfigTable root) {
  Architecture arch;
  require_schema(root);
  static_cast<void>(root.value("base"));
  arch.id = root.text("id");
  arch.name = root.maybe_text("name").value_or(arch.id);
  arch.aliases = root.texts("aliases");
  arch.family = root.maybe_text("family").value_or("");
  arch.source = root.text("source");
  arch.notes = root.maybe_text("notes").value_or("");
  arch.kind = static_cast<ArchitectureKind>(root.maybe_choice("kind", architecture_kind_names).value_or(0));
  arch.layers = root.integer("layers");
  arch.hidden = root.integer("hidden");
  arch.heads = root.integer("heads");
  arch.kv_heads = root.maybe_integer("kv_heads").value_or(arch.heads);
  arch.ffn_hidden = root.integer("ffn_hidden");
  arch.gated_mlp = root.boolean("gated_mlp");
  arch.vocab = root.integer("vocab");
  arch.tied_embeddings = root.boolean("tied_embeddings");
  arch.learned_positions = root.maybe_integer("learned_positions", not_negative).value_or(0);
  arch.biases = root.maybe_boolean("biases").value_or(false);
  arch.attention_biases = root.maybe_boolean("attention_biases").value_or(arch.biases);
  arch.norm = static_cast<Norm>(root.maybe_choice("norm", norm_names).value_or(0));
  arch.max_seq_len = root.maybe_integer("max_seq_len").value_or(0);
  if (const auto head_dim = root.maybe_integer("head_dim")) {
    arch.head_dim = *head_dim;
  } else if (arch.hidden % arch.heads == 0) {
    arch.head_dim = arch.hidden / arch.heads;
  } else if (root.has("heads") && !root.has("head_dim")) {
    root.problem("heads", "'hidden' " + std::to_string(arch.hidden) + " does not divide by 'heads' " +
                              std::to_string(arch.heads) + "; state 'head_dim'");
  }
  if (arch.heads % arch.kv_heads != 0) {
    root.problem("kv_heads", "'heads' " + std::to_string(arch.heads) + " does not divide by 'kv_heads' " +
                                 std::to_string(arch.kv_heads));
  }
  if (auto published = root.maybe_table("parameters")) {
    arch.published_parameters = static_cast<double>(published->integer("value"));
    arch.parameters_source = published->text("source");
    published->finish();
  }
  if (auto moe = root.maybe_table("moe")) {
    read_moe(*moe, arch);
  }
  root.finish();
  return arch;
}

}  // namespace headroom
