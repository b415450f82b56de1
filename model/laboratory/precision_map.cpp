// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/laboratory/precision_map.hpp>
#include <headroom/model/workload/layer_ops.hpp>
#include <headroom/model/workload/parameters.hpp>

namespace headroom {
namespace {

ModelRole role_of(LayerPart part) noexcept {
  switch (part) {
    case LayerPart::mixer: return ModelRole::attention;
    case LayerPart::router: return ModelRole::router;
    case LayerPart::experts: return ModelRole::experts;
    case LayerPart::dense:
    case LayerPart::shared: break;
  }
  return ModelRole::feed_forward;
}

/// Elements of one token that an op's products read.
double inputs_of(const LayerOp& op) noexcept {
  switch (op.kind) {
    case LayerOpKind::product: return op.rows * op.k;
    case LayerOpKind::experts: return op.top_k * (op.input + op.width);
    default: return 0.0;
  }
}

void add_layer(std::vector<RolePart>& parts, const Architecture& arch, const Block& block, std::int64_t layer) {
  std::array<RolePart, model_role_count> roles;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    roles[i].role = static_cast<ModelRole>(i);
    roles[i].layer = layer;
  }
  RolePart& norms = roles[static_cast<std::size_t>(ModelRole::norms)];
  norms.parameters = norms.read = block_parameters(arch, block).norms;
  for (const LayerOp& op : layer_ops(arch, block, LayerForm::training)) {
    const bool routed = op.kind == LayerOpKind::experts;
    const double held = routed ? op.count : 1.0;
    const double met = routed ? op.top_k : 1.0;
    const double matrices = op.weights.shared + op.weights.whole;
    RolePart& part = roles[static_cast<std::size_t>(role_of(op.part))];
    part.parameters += held * matrices;
    part.read += met * matrices;
    part.flop += 2.0 * met * matrices;
    part.inputs += inputs_of(op);
    norms.parameters += held * op.weights.small;
    norms.read += met * op.weights.small;
  }
  for (const RolePart& part : roles) {
    if (part.parameters > 0.0) {
      parts.push_back(part);
    }
  }
}

}  // namespace

std::vector<RolePart> role_parts(const Architecture& arch) {
  const ParameterCount counted = count_parameters(arch);
  const double hidden = real(arch.hidden);
  std::vector<RolePart> parts;
  parts.push_back({ModelRole::embedding, -1, counted.embedding, arch.patches ? counted.embedding : hidden, 0.0, 0.0});
  std::int64_t layer = 0;
  for (const Block& block : arch.blocks()) {
    add_layer(parts, arch, block, layer++);
  }
  if (counted.final_norm > 0.0) {
    parts.push_back({ModelRole::norms, -1, counted.final_norm, counted.final_norm, 0.0, 0.0});
  }
  const double table = arch.patches ? 0.0 : real(arch.vocab) * hidden;
  const double read = arch.tied_embeddings ? table + counted.head : counted.head;
  if (read > 0.0) {
    parts.push_back({ModelRole::head, -1, counted.head, read, 2.0 * (table > 0.0 ? table : counted.head), hidden});
  }
  return parts;
}

bool is_kept(const KeptParts& kept, const RolePart& part, const Architecture& arch) noexcept {
  const auto keeps = [&](ModelRole role) { return kept.roles[static_cast<std::size_t>(role)]; };
  const bool end = part.role == ModelRole::embedding || part.role == ModelRole::head;
  if (end && arch.tied_embeddings) {
    return keeps(ModelRole::embedding) || keeps(ModelRole::head);
  }
  const bool layer_kept = part.layer >= 0 && (part.layer < kept.first || part.layer >= arch.layers - kept.last);
  return part.role == ModelRole::norms || keeps(part.role) || layer_kept;
}

}  // namespace headroom
