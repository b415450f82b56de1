// SPDX-License-Identifier: Apache-2.0
// `headroom kernel sparsity`: what 2:4 structured sparsity can bring: a peak, fewer bytes, and a gain below both.
#include <headroom/cli/laboratory/format_words.hpp>
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/kernels/tensor_path.hpp>
#include <headroom/model/laboratory/precision_map.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <array>
#include <optional>

namespace headroom::cli {
namespace {

struct SparsityAsked {
  GemmFormat format;
  std::optional<Bytes> weights;
  std::string model;
  std::optional<double> fraction;
};

SparsityAsked read_sparsity_asked(FormReader& in) {
  SparsityAsked q;
  q.format = in.format();
  q.weights = in.quantity_if<Bytes>("--weights");
  q.model = in.text("--model");
  if (in.given("--fraction")) {
    q.fraction = in.number("--fraction", 0.0, 1.0);
  }
  if (q.format.rate == Rate::fp32_vector || q.format.rate == Rate::fp64_vector) {
    in.problem(
        "--dtype " + quoted(q.format.name) +
        " multiplies on vector units, which have no 2:4 sparsity; it is of the tensor path, such as bf16 or tf32");
  }
  if (q.weights && !q.model.empty()) {
    in.problem("--weights has no part beside --model, whose matrices are counted; leave one out");
  }
  return q;
}

struct SparsePeak {
  FlopsPerSecond dense{}, sparse{};
  bool stated = false;  ///< in the catalog
};

/// Sparse tensor cores came with compute capability 8.0 (Mishra et al. 2021, section 3).
bool has_sparse_units(const Device& device) {
  const auto capability = whole_real(device.compute_capability);
  return device.vendor == "nvidia" && capability && *capability >= 8.0;
}

SparsePeak peaks_of(const Device& device, const GemmFormat& format) {
  SparsePeak peaks;
  peaks.dense = rate_of(device, format.rate, format.name);
  // Vendors state fp16 and bf16 together.
  const Rate other = format.rate == Rate::fp16 ? Rate::bf16 : format.rate == Rate::bf16 ? Rate::fp16 : format.rate;
  for (const Rate rate : {format.rate, other}) {
    if (const auto& stated = device.sparse[static_cast<std::size_t>(rate)]) {
      return {peaks.dense, stated->value, true};
    }
  }
  bool any = has_sparse_units(device);
  for (const auto& stated : device.sparse) {
    any = any || stated.has_value();
  }
  if (!any) {
    throw ConfigError{device.id +
                      " has no 2:4 sparsity in the catalog; sparse tensor cores came with compute capability 8.0 "
                      "(A100), so name such a SKU, or leave --gpu out for the bytes alone"};
  }
  peaks.sparse = sparse_peak * peaks.dense;
  return peaks;
}

struct SparseBytes {
  Bytes dense{}, sparse{};  ///< of all weights
  Bytes pruned{};           ///< of those that 2:4 is for, before
};

SparseBytes bytes_of(const SparsityAsked& q, const LabBench& bench) {
  const double ratio = sparse_weights(8.0 * q.format.weight_bytes);
  if (q.weights) {
    return {*q.weights, ratio * *q.weights, *q.weights};
  }
  SparseBytes sum;
  const Architecture arch = ModelLibrary{bench.data.files()}.find(q.model);
  for (const RolePart& part : role_parts(arch)) {
    const bool pruned =
        part.role == ModelRole::attention || part.role == ModelRole::feed_forward || part.role == ModelRole::experts;
    const Bytes bytes{q.format.weight_bytes * part.parameters};
    sum.dense += bytes;
    sum.sparse += pruned ? ratio * bytes : bytes;
    sum.pruned += pruned ? bytes : Bytes{};
  }
  return sum;
}

constexpr std::array sparse_shares{0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0};

LabAnswer answer(const SparsityAsked& q, const LabBench& bench) {
  const double bits = 8.0 * q.format.weight_bytes;
  const double ratio = sparse_weights(bits);
  const double decode = 1.0 / ratio;
  LabAnswer a;
  a.title = "2:4 sparsity of " + std::string{q.format.name} + " weights" +
            (bench.device != nullptr ? ", on " + bench.device->id : "");
  a.question = {{"dtype", std::string{q.format.name}}};
  a.figures = {{"bytes of sparse weights over dense", "bytes_ratio", ratio, format_number(ratio, 4)},
               {"bits of a weight", "bits", bits},
               {"bits of its index", "index_bits", 1.0, "2 for each value that is kept"}};
  std::string peak_words = "at most twice the dense peak";
  double peak_ratio = sparse_peak;
  if (bench.device != nullptr) {
    const SparsePeak peaks = peaks_of(*bench.device, q.format);
    peak_ratio = peaks.sparse / peaks.dense;
    peak_words = "at most " + format(peaks.sparse) + " instead of " + format(peaks.dense);
    a.figures.push_back({"dense peak", "peak_flop_per_s", peaks.dense});
    a.figures.push_back({"sparse peak", "sparse_peak_flop_per_s", peaks.sparse});
    a.notes.push_back(peaks.stated
                          ? "The sparse peak is what the vendor states; it counts the products that are left out."
                          : "The catalog has no sparse peak of this format on this SKU; it is taken for twice "
                            "the dense one.");
  }
  a.figures.push_back({"products at most", "product_speedup", peak_ratio, format_number(peak_ratio) + "x"});
  a.figures.push_back({"bound by memory at most", "memory_speedup", decode, format_number(decode) + "x"});
  std::string bytes_words;
  if (q.weights || !q.model.empty()) {
    const SparseBytes bytes = bytes_of(q, bench);
    const auto gb = [](Bytes weights) { return format_number(weights.raw() / 1e9, 4) + " GB"; };
    a.figures.push_back({"dense weights", "dense_bytes", bytes.dense, gb(bytes.dense)});
    a.figures.push_back({"of them in pruned matrices", "pruned_share", share(bytes.pruned / bytes.dense)});
    a.figures.push_back({"sparse weights", "sparse_bytes", bytes.sparse, gb(bytes.sparse)});
    bytes_words = ", " + gb(bytes.sparse) + " of weights instead of " + gb(bytes.dense);
  }
  std::string gain_words = ", and less end to end: what is no sparse product stays";
  if (q.fraction) {
    const double whole = partial_gain(1.0 - *q.fraction, peak_ratio);
    const double in_decode = partial_gain(1.0 - *q.fraction, decode);
    a.figures.push_back({"of the time in sparse products", "time_share", share(*q.fraction)});
    a.figures.push_back({"end to end at most", "whole_speedup", whole, format_number(whole) + "x"});
    a.figures.push_back(
        {"end to end, bound by memory", "whole_memory_speedup", in_decode, format_number(in_decode) + "x"});
    gain_words = ", and at most " + format_number(whole) + "x end to end with " + percent(*q.fraction) +
                 " of the time in such products, " + format_number(in_decode) + "x where they wait for memory";
  }
  a.verdict = "2:4 sparsity multiplies " + peak_words + bytes_words + gain_words + ".";
  LabTable table{"at_shares",
                 {{"of the time in sparse products", "time_share"},
                  {"whole, bound by products", "whole_speedup"},
                  {"whole, bound by memory", "whole_memory_speedup"}},
                 {}};
  LabLine products{"bound by products", LineStyle::solid, {}};
  LabLine memory{"bound by memory", LineStyle::dashed, {}};
  for (const double f : sparse_shares) {
    table.rows.push_back({share(f), partial_gain(1.0 - f, peak_ratio), partial_gain(1.0 - f, decode)});
  }
  constexpr int steps = 50;
  for (int i = 0; i <= steps; ++i) {
    const double f = static_cast<double>(i) / steps;
    products.points.push_back({f, partial_gain(1.0 - f, peak_ratio), {}});
    memory.points.push_back({f, partial_gain(1.0 - f, decode), {}});
  }
  LabTable widths{"at_widths", {{"bits of a weight", "bits"}, {"bytes, sparse over dense", "bytes_ratio"}}, {}};
  for (const double width : {32.0, 16.0, 8.0, 4.0}) {
    widths.rows.push_back({width, Value{sparse_weights(width), Hint::magnitude}});
  }
  a.tables = {std::move(table), std::move(widths)};
  const double fraction = q.fraction.value_or(1.0);
  if (fraction > 0.0) {
    a.cures = {{"2:4 weights in products that are bound by their peak", 1.0 / partial_gain(1.0 - fraction, peak_ratio),
                "large m, n and k: prefill, training, big batches"},
               {"2:4 weights read by decoding", 1.0 / partial_gain(1.0 - fraction, decode),
                "few tokens at once: bytes bound it, not products"}};
  }
  a.notes.emplace_back(
      "Accuracy is not predicted: half of each four weights becomes zero, and whether the model stands that, after "
      "pruning alone or after training on, shows on its own data.");
  a.notes.emplace_back(
      "These are ceilings. No measured sparse product is in Headroom's data, so that none is taken off for kernels "
      "that "
      "stay below their peak; activations and attention scores stay dense.");
  a.sources = {"Mishra et al. 2021 (2:4 sparse tensor cores): two of four values and two bits of index each",
               "Amdahl 1967"};
  if (bench.device != nullptr) {
    a.sources.push_back("[peak] and [sparse] of the catalog, 'headroom catalog show " + bench.device->id + "'");
  }
  a.chart = LabChart{"Gain of 2:4 sparsity over the share of time in sparse products",
                     {"share of the time", Hint::percent, false},
                     {"speed-up of the whole", Hint::number, false},
                     {std::move(products), std::move(memory)},
                     q.fraction ? std::vector<LabMark>{{*q.fraction, "asked"}} : std::vector<LabMark>{}};
  return a;
}

LabQuestion read_sparsity(FormReader& in) {
  return [q = read_sparsity_asked(in)](const LabBench& bench) { return answer(q, bench); };
}

}  // namespace

const KernelForm sparsity_form{"sparsity", "2:4 sparse weights", GpuUse::optional, read_sparsity};

}  // namespace headroom::cli
