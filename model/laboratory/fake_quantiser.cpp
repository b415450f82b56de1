// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/laboratory/fake_quantiser.hpp>

#include <algorithm>

namespace headroom {
namespace {

template <class See>
void each_op(const Network& network, See see) {
  for (const Stage& stage : network.stages) {
    for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
      see(network.ops[i], real(stage.repeat), stage.per_sample);
    }
  }
}

bool is_quantised(const Op& op) noexcept {
  return multiplies(op.kind) || op.kind == OpKind::pool || (op.kind == OpKind::elementwise && op.sizes.operands > 1.0);
}

}  // namespace

Bytes quantiser_traffic(QuantiserForm form, double bytes) noexcept {
  return Bytes{form == QuantiserForm::fused ? 5.0 * bytes : 13.0 * bytes + 2.0};
}

QuantisedElements quantised_elements(const Network& network) noexcept {
  QuantisedElements sum;
  each_op(network, [&](const Op& op, double repeat, double passes) {
    if (is_quantised(op)) {
      sum.activations += repeat * passes * op.input_elements;
      sum.weights += multiplies(op.kind) ? repeat * op.weight_elements : 0.0;
    }
  });
  return sum;
}

Seconds plain_sample_time(const Network& network,
                          FlopsPerSecond peak,
                          BytesPerSecond bandwidth,
                          double bytes) noexcept {
  Seconds time{};
  each_op(network, [&](const Op& op, double repeat, double passes) {
    const double in = op.input_elements;
    const double out = op.output_elements;
    const Bytes there{bytes * (in + out)};
    const Bytes back{bytes * (multiplies(op.kind) ? 2.0 * in + 2.0 * out : 2.0 * in + out)};
    time += repeat * passes *
            (std::max(op.forward / peak, there / bandwidth) + std::max(op.backward / peak, back / bandwidth));
  });
  return time;
}

}  // namespace headroom
