// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/convolution.hpp>

#include <cmath>

namespace headroom {
namespace {

double product(const std::array<double, 3>& sizes) noexcept {
  return sizes[0] * sizes[1] * sizes[2];
}

}  // namespace

std::array<double, 3> ConvShape::out() const noexcept {
  std::array<double, 3> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double reach = in[i] + 2.0 * padding[i] - dilation[i] * (kernel[i] - 1.0) - 1.0;
    sizes[i] = std::floor(reach / stride[i]) + 1.0;
  }
  return sizes;
}

Flops conv_flops(const ConvShape& s) noexcept {
  const double taps = s.in_channels / s.groups * product(s.kernel);
  return Flops{2.0 * s.batch * product(s.out()) * s.out_channels * taps};
}

GemmShape conv_gemm(const ConvShape& s, ConvPass pass) noexcept {
  const double out = product(s.out());
  const double in = product(s.in);
  const double taps = product(s.kernel);
  const double from = s.in_channels / s.groups;
  const double to = s.out_channels / s.groups;
  switch (pass) {
    case ConvPass::forward: return {s.groups * s.batch * out, to, from * taps};
    case ConvPass::data_gradient: return {s.groups * s.batch * in, from, to * taps * out / in};
    case ConvPass::weight_gradient: return {s.out_channels, from * taps, s.batch * out};
  }
  return {};
}

Bytes conv_bytes(const ConvShape& s, double bytes_per_element) noexcept {
  const double input = s.batch * s.in_channels * product(s.in);
  const double output = s.batch * s.out_channels * product(s.out());
  const double weights = s.out_channels * s.in_channels / s.groups * product(s.kernel);
  return Bytes{bytes_per_element * (input + output + weights)};
}

ConvShape conv_padded(const ConvShape& shape, const GemmFormat& format) noexcept {
  ConvShape padded = shape;
  const bool depthwise = shape.groups > 1.0 && shape.in_channels == shape.groups;
  if (!depthwise) {
    const double step = format.alignment;
    const auto up = [&](double channels) { return std::ceil(channels / shape.groups / step) * step * shape.groups; };
    padded.in_channels = up(shape.in_channels);
    padded.out_channels = up(shape.out_channels);
  }
  return padded;
}

Seconds conv_time(const GemmModel& model, const GemmFormat& format, const ConvShape& shape, ConvPass pass) noexcept {
  const ConvShape padded = conv_padded(shape, format);
  return model.time(conv_gemm(padded, pass), conv_bytes(padded, format.activation_bytes));
}

GemmTime conv_explain(const GemmModel& model,
                      const GemmFormat& format,
                      const ConvShape& shape,
                      ConvPass pass) noexcept {
  const ConvShape padded = conv_padded(shape, format);
  return model.explain(conv_gemm(padded, pass), conv_bytes(padded, format.activation_bytes));
}

}  // namespace headroom
