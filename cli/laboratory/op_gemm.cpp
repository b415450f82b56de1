// SPDX-License-Identifier: Apache-2.0
// `headroom op gemm` and `op convolution`: a product, and a product with an operand that is never stored.
#include <headroom/cli/render/op_answer.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/convolution.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/kernels/tensor_path.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace headroom::cli {
namespace {

std::string cross(std::span<const double> sizes) {
  const std::string text = joined(
      sizes, [&](const double size) { return format_count(size); }, " x ");
  return text;
}

/// Sizes in the options' spelling: "224x224".
std::string extents(std::span<const double> sizes) {
  const std::string text = joined(
      sizes, [&](const double size) { return std::to_string(static_cast<std::int64_t>(size)); }, "x");
  return text;
}

/// Copies the parts of a product's time.
void take_time(OpAnswer& a, const GemmTime& t) {
  a.time = t.total;
  a.launch = t.launch;
  a.bound = gemm_bound_names[static_cast<std::size_t>(t.bound)];
  a.rows.emplace_back("tiles", std::to_string(t.tile_m) + " x " + std::to_string(t.tile_n) +
                                   (t.split > 1 ? ", K split " + std::to_string(t.split) + " ways" : "") + ", " +
                                   format_number(t.waves) + " waves over " + format_number(a.limits.units) + " SMs");
  a.details.push_back({"tile_m", static_cast<double>(t.tile_m)});
  a.details.push_back({"tile_n", static_cast<double>(t.tile_n)});
  a.details.push_back({"split_k", static_cast<double>(t.split)});
  a.details.push_back({"waves", t.waves});
  a.parts = {{"launch", "launch_s", t.launch},
             {"quantise activations", "quantise_s", t.quantise},
             {"tiles, alone", "loop_s", t.loop},
             {"memory, alone", "memory_s", t.memory},
             {"reduce the split", "reduce_s", t.reduce}};
}

/// With tiles that take so many times as long, as far as memory does not hide it.
Seconds slowed(const GemmTime& t, double tiles) {
  return std::max(t.total, t.launch + tiles * t.loop);
}

OpAnswer answer_gemm(const ModelData& data,
                     const Device& device,
                     const GemmFormat& format,
                     const GemmShape& shape,
                     const std::string& engine) {
  const CurveSet& set = find_curve_set(data, device);
  OpAnswer a;
  a.title = cross(std::array{shape.m, shape.n, shape.k}) + ", " + std::string{format.name};
  a.question = {{"dtype", std::string{format.name}}, {"m", shape.m}, {"n", shape.n}, {"k", shape.k}};
  a.limits = kernel_device(device, format.rate);
  const auto chosen = choose_gemm(set, device, format, engine);
  a.why = chosen.why;
  const GemmModel model{chosen.curve->values, a.limits, format};
  a.work = gemm_flops(shape.m, shape.n, shape.k);
  a.moved = Bytes{shape.n * shape.k * format.weight_bytes + shape.m * shape.k * format.activation_bytes +
                  shape.m * shape.n * format.output_bytes};
  a.written = Bytes{shape.m * shape.n * format.output_bytes};
  const UnalignedTiles off = unaligned_tiles(shape, format);
  const GemmTime aligned = model.explain(shape);
  take_time(a, aligned);
  a.time = slowed(aligned, off.mid);
  if (off.mid > 1.0) {
    a.parts.push_back({"tiles of rows as they are, alone", "unaligned_loop_s", off.mid * aligned.loop});
  }
  add_device_effects(a, [&](const KernelDevice& limits) {
    return slowed(GemmModel{chosen.curve->values, limits, format}.explain(shape), off.mid);
  });
  add_effect(a, "twice the rows in one call, per row",
             0.5 * slowed(model.explain({2.0 * shape.m, shape.n, shape.k}), off.mid));
  const TensorPath path = tensor_path(shape, format);
  a.details.push_back({"padded_flop", path.work * a.work});
  if (path.work > 1.0) {
    const std::string multiples = "multiples of " + std::to_string(format.alignment);
    add_effect(a, "n and k padded to " + multiples, aligned.total);
    a.details.push_back({"padded_s", aligned.total});
    a.notes.push_back("n and k are not both " + multiples + ": padded (" + percent(path.work - 1.0) +
                      " more FLOP) it takes " + headroom::format(aligned.total) +
                      (off.mid > 1.0
                           ? "; as it is rows start at multiples of " + std::to_string(off.bytes) +
                                 " bytes instead of 16, and its tiles take " + format_number(off.mid, 2) +
                                 " times as long (" + format_number(off.low, 2) + " to " + format_number(off.high, 2) +
                                 ", by seven published products of odd k on an H100; no other SKU was measured)"
                           : "; libraries pad it or refuse it as it is"));
  }
  a.notes.emplace_back(
      "operands come from memory, as in a model's step; a benchmark of one small shape finds them in L2");
  const double p90 = chosen.curve->provenance.p90;
  finish(a, p90);
  a.low = slowed(aligned, off.low) / (1.0 + p90);
  a.high = slowed(aligned, off.high) * (1.0 + p90);
  return a;
}

OpQuestion read_gemm(FormReader& in) {
  const GemmShape shape{in.size("-m"), in.size("-n"), in.size("-k")};
  return [shape, format = in.format(), engine = in.text("--engine")](const ModelData& data, const Device& device) {
    return answer_gemm(data, device, format, shape, engine);
  };
}

struct ConvQuestion {
  ConvShape shape;
  std::size_t dimensions = 2;
  ConvPass pass = ConvPass::forward;
  GemmFormat format;
  std::string engine;
};

std::string padding_note(const ConvShape& shape, const ConvShape& padded, const GemmFormat& format) {
  return "channels are padded to multiples of " + std::to_string(format.alignment) +
         " in each group: " + format_count(shape.in_channels) + " in become " + format_count(padded.in_channels) +
         ", " + format_count(shape.out_channels) + " out " + format_count(padded.out_channels) + " (" +
         percent(conv_flops(padded) / conv_flops(shape) - 1.0) + " more FLOP)";
}

OpAnswer answer_convolution(const ModelData& data, const Device& device, const ConvQuestion& q) {
  const CurveSet& set = find_curve_set(data, device);
  const std::array<double, 3> out = q.shape.out();
  const auto used = [&](const std::array<double, 3>& sizes) { return std::span{sizes}.first(q.dimensions); };
  OpAnswer a;
  a.title = std::string{conv_pass_names[static_cast<std::size_t>(q.pass)]} + ", " + format_count(q.shape.batch) +
            " images, " + format_count(q.shape.in_channels) + " channels of " + cross(used(q.shape.in)) + " to " +
            format_count(q.shape.out_channels) + " of " + cross(used(out)) + ", kernel " + cross(used(q.shape.kernel)) +
            ", " + std::string{q.format.name};
  a.question = {{"dtype", std::string{q.format.name}},
                {"pass", std::string{conv_pass_names[static_cast<std::size_t>(q.pass)]}},
                {"batch", q.shape.batch},
                {"in_channels", q.shape.in_channels},
                {"out_channels", q.shape.out_channels},
                {"in", extents(used(q.shape.in))},
                {"kernel_size", extents(used(q.shape.kernel))},
                {"stride", extents(used(q.shape.stride))},
                {"padding", extents(used(q.shape.padding))},
                {"dilation", extents(used(q.shape.dilation))},
                {"groups", q.shape.groups}};
  a.limits = kernel_device(device, q.format.rate);
  const auto chosen = choose_gemm(set, device, q.format, q.engine);
  a.why = chosen.why + "; no convolution was measured";
  const GemmModel model{chosen.curve->values, a.limits, q.format};
  a.work = conv_flops(q.shape);
  a.moved = conv_bytes(q.shape, q.format.activation_bytes);
  if (q.pass == ConvPass::forward) {
    a.written = Bytes{q.shape.batch * q.shape.out_channels * out[0] * out[1] * out[2] * q.format.output_bytes};
  }
  const ConvShape padded = conv_padded(q.shape, q.format);
  const GemmShape product = conv_gemm(padded, q.pass);
  a.rows.emplace_back("product", cross(std::array{product.m, product.n, product.k}));
  a.details = {{"m", product.m}, {"n", product.n}, {"k", product.k}, {"padded_flop", conv_flops(padded)}};
  take_time(a, conv_explain(model, q.format, q.shape, q.pass));
  add_device_effects(a, [&](const KernelDevice& limits) {
    return conv_time(GemmModel{chosen.curve->values, limits, q.format}, q.format, q.shape, q.pass);
  });
  ConvShape twice = q.shape;
  twice.batch *= 2.0;
  add_effect(a, "twice the images in one call, per image", 0.5 * conv_time(model, q.format, twice, q.pass));
  if (conv_flops(padded) > a.work) {
    a.notes.push_back(padding_note(q.shape, padded, q.format));
  }
  a.notes.emplace_back("an implicit product priced by the curve of stored ones: treat it as that, at best");
  finish(a, chosen.curve->provenance.p90);
  return a;
}

void check_convolution(FormReader& in, const ConvQuestion& q) {
  if (!in.good()) {
    return;
  }
  if (std::fmod(q.shape.in_channels, q.shape.groups) != 0.0 || std::fmod(q.shape.out_channels, q.shape.groups) != 0.0) {
    in.problem("--groups " + format_count(q.shape.groups) + " must divide --in-channels " +
               format_count(q.shape.in_channels) + " and --out-channels " + format_count(q.shape.out_channels));
  }
  const std::array<double, 3> out = q.shape.out();
  if (std::any_of(out.begin(), out.end(), [](double size) { return size < 1.0; })) {
    in.problem("--kernel-size " + extents(std::span{q.shape.kernel}.first(q.dimensions)) +
               ", dilated, is larger than --in with --padding on both sides");
  }
}

OpQuestion read_convolution(FormReader& in) {
  ConvQuestion q;
  q.shape.batch = in.size_or("--batch", 1.0);
  q.shape.in_channels = in.size("--in-channels");
  q.shape.out_channels = in.size("--out-channels");
  in.need("--in");
  in.need("--kernel-size");
  const std::vector<double> sizes = in.extents("--in", 0, 1.0, 1.0);
  q.dimensions = sizes.size();
  const auto take = [&](std::array<double, 3>& to, std::string_view option, double least, double otherwise) {
    const std::vector<double> found = in.extents(option, q.dimensions, least, otherwise);
    std::copy(found.begin(), found.end(), to.begin());
  };
  std::copy(sizes.begin(), sizes.end(), q.shape.in.begin());
  take(q.shape.kernel, "--kernel-size", 1.0, 1.0);
  take(q.shape.stride, "--stride", 1.0, 1.0);
  take(q.shape.padding, "--padding", 0.0, 0.0);
  take(q.shape.dilation, "--dilation", 1.0, 1.0);
  q.shape.groups = in.size_or("--groups", 1.0);
  q.pass = static_cast<ConvPass>(in.choice("--pass", conv_pass_names, conv_pass_names.front()));
  q.format = in.format();
  q.engine = in.text("--engine");
  check_convolution(in, q);
  return [q](const ModelData& data, const Device& device) { return answer_convolution(data, device, q); };
}

constexpr std::array gemm_table{
    OpKind{"gemm", "C[m,n] = A[m,k] B[k,n]", read_gemm, Fusable::product},
    OpKind{"convolution", "channels, and sizes such as 224x224 and 3x3", read_convolution, Fusable::product},
};

}  // namespace

std::span<const OpKind> gemm_kinds() noexcept {
  return gemm_table;
}

}  // namespace headroom::cli
