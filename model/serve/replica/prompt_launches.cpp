// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/scan.hpp>
#include <headroom/model/serve/replica/prompt_launches.hpp>

namespace headroom {
namespace {

constexpr double kernels_of_attention = 2.0;  // the cache's writing and attention; rotation is a pass
constexpr double kernels_of_latents = 5.0;    // two norms, rotation, copies of keys and of values
constexpr double query_key_norms = 2.0;
constexpr double kernels_of_experts = 9.0;  // 2 select, 3 sort, 2 products, activation, sum
constexpr double rounded_expert_inputs = 2.0;

double kernels_of(const LayerOp& op, const LaunchedForm& form) noexcept {
  switch (op.kind) {
    case LayerOpKind::product: return form.narrow && op.part != LayerPart::router ? 2.0 : 1.0;
    case LayerOpKind::experts: return kernels_of_experts + (form.narrow_experts ? rounded_expert_inputs : 0.0);
    case LayerOpKind::attention: return kernels_of_attention;
    case LayerOpKind::scan: return scan_kernels(op.mixer);
    case LayerOpKind::activation: return 1.0;
    case LayerOpKind::pass: return op.stored > 0.0 || op.of_mixer ? 1.0 : 0.0;  // the others are the norms
    case LayerOpKind::reduction: return form.reduced ? 1.0 : 0.0;
    case LayerOpKind::exchange: return form.exchanged ? 1.0 : 0.0;
  }
  return 0.0;
}

}  // namespace

double launched_kernels(const Architecture& architecture,
                        const LayerOps& ops,
                        double norms,
                        const LaunchedForm& form) noexcept {
  double kernels = norms;
  for (const LayerOp& op : ops) {
    if (op.tokens == LayerTokens::decodes) {
      continue;
    }
    kernels += kernels_of(op, form);
    kernels += op.kind == LayerOpKind::product && op.from_latent ? kernels_of_latents : 0.0;
    kernels += op.kind == LayerOpKind::attention && architecture.qk_norm != QkNorm::none ? query_key_norms : 0.0;
  }
  return kernels;
}

}  // namespace headroom
