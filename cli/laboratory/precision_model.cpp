// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/laboratory/bench_limits.hpp>
#include <headroom/cli/laboratory/format_words.hpp>
#include <headroom/cli/laboratory/precision_parts.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/laboratory/fake_quantiser.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

/// Sums over parts: of one role kept or moved, or of all.
struct MapSum {
  double parameters = 0.0, read = 0.0, flop = 0.0, inputs = 0.0;

  void add(const RolePart& part) {
    parameters += part.parameters;
    read += part.read;
    flop += part.flop;
    inputs += part.inputs;
  }
};

struct ModelMap {
  std::array<MapSum, model_role_count> kept, moved;
  MapSum all_kept, all_moved;
};

ModelMap map_of(const PrecisionAsked& q, const Architecture& arch) {
  ModelMap map;
  for (const RolePart& part : role_parts(arch)) {
    const bool kept = is_kept(q.keep, part, arch);
    (kept ? map.kept : map.moved)[static_cast<std::size_t>(part.role)].add(part);
    (kept ? map.all_kept : map.all_moved).add(part);
  }
  return map;
}

Architecture model_of(const PrecisionAsked& q, const LabBench& bench) {
  if (NetworkLibrary{bench.data.files()}.knows(q.model)) {
    throw ConfigError{
        q.model +
        " is a network of ops, whose layers have no roles: --parameters tells its bytes, --kept or --moved "
        "its gain, and --qat with --gpu its training"};
  }
  const Architecture arch = ModelLibrary{bench.data.files()}.find(q.model);
  if (std::max(q.keep.first, q.keep.last) > arch.layers) {
    throw ConfigError{"--keep names " + std::to_string(std::max(q.keep.first, q.keep.last)) + " layers; " + arch.id +
                      " has " + std::to_string(arch.layers)};
  }
  return arch;
}

std::string gigabytes(Bytes bytes) {
  return format_number(bytes.raw() / 1e9) + " GB";
}

/// How near large measured products of a format come to the datasheet; nullopt where nothing was measured.
std::optional<Sustained> reached_in(const LabBench& bench, Precision precision) {
  const GemmFormat* const format = find_gemm_format(name_of(precision));
  return format != nullptr ? sustained_peak(bench, *format) : std::nullopt;
}

LabTable roles_table(const PrecisionAsked& q, const ModelMap& map, double ratio, bool timed) {
  LabTable table{"roles",
                 {{"<role", "role"},
                  {"<format", "format"},
                  {"parameters", "parameters"},
                  {"of the FLOP", "flop_share"},
                  {"of the time then", "time_share"},
                  {"before", "before_bytes"},
                  {"after", "after_bytes"}},
                 {}};
  const double flop = map.all_kept.flop + map.all_moved.flop;
  const double time = map.all_kept.flop + map.all_moved.flop / ratio;
  for (std::size_t i = 0; i < model_role_count; ++i) {
    for (const bool moves : {true, false}) {
      const MapSum& sum = (moves ? map.moved : map.kept)[i];
      if (sum.parameters + sum.flop <= 0.0) {
        continue;
      }
      table.rows.push_back({model_role_names[i], name_of(moves ? q.to : q.from), Value{sum.parameters, Hint::count},
                            share(sum.flop / flop), timed ? share(sum.flop / (moves ? ratio : 1.0) / time) : Value{},
                            Bytes{sum.parameters * q.kept_bytes()},
                            Bytes{sum.parameters * (moves ? q.moved_bytes() : q.kept_bytes())}});
    }
  }
  return table;
}

/// Whether the products of a format read activations in it too, so that something casts them.
bool casts_activations(Precision precision) {
  const Rate rate = row_of(precision).rate;
  return rate == Rate::fp8 || rate == Rate::int8 || rate == Rate::fp4;
}

void add_casts(const PrecisionAsked& q, const LabBench& bench, const ModelMap& map, LabAnswer& a) {
  const Device& device = *bench.device;
  const FlopsPerSecond slow = rate_of(device, row_of(q.from).rate, name_of(q.from));
  const FlopsPerSecond fast = rate_of(device, row_of(q.to).rate, name_of(q.to));
  const Flops kept{map.all_kept.flop};
  const Flops moved{map.all_moved.flop};
  const std::optional<Sustained> memory = sustained_bandwidth(bench);
  const BytesPerSecond bandwidth =
      (memory ? std::min(1.0, memory->share) : 1.0) * kernel_device(device, row_of(q.from).rate).bandwidth;
  const Seconds before = (kept + moved) / slow;
  const Seconds products = kept / slow + moved / fast;
  const Seconds casts = Bytes{map.all_moved.inputs * (row_of(q.from).weight_bytes + stored_bytes(q.to))} / bandwidth;
  a.figures.push_back({"casts of activations over products", "cast_share", share(casts / products)});
  a.figures.push_back({"speed-up with passes that cast", "cast_speedup", before / (products + casts),
                       format_number(before / (products + casts)) + "x"});
  a.cures.push_back({"casts fused into the passes before (norm, activation)", products / (products + casts),
                     "each input of a product is read in " + std::string{name_of(q.from)} + " and written in " +
                         std::string{name_of(q.to)} + " otherwise"});
  a.notes.push_back(memory ? "Casts run as near to the memory's bandwidth as measured passes: " + memory->why + "."
                           : "Casts run at the memory's bandwidth: nothing was measured on this SKU.");
  const std::optional<Sustained> of_slow = reached_in(bench, q.from);
  const std::optional<Sustained> of_fast = reached_in(bench, q.to);
  if (of_slow && of_fast) {
    const double measured =
        ((kept + moved) / (of_slow->share * slow)) / (kept / (of_slow->share * slow) + moved / (of_fast->share * fast));
    a.figures.push_back({"with products as measured", "measured_speedup", measured, format_number(measured) + "x"});
    a.notes.push_back("Measured products of 8,192 a side reach " + percent(of_slow->share) + " of the peak in " +
                      std::string{name_of(q.from)} + " and " + percent(of_fast->share) + " in " +
                      std::string{name_of(q.to)} + " (" + of_fast->why + "), where their casts count with them.");
  }
}

void add_calibration(const PrecisionAsked& q, const LabBench& bench, double flop, LabAnswer& a) {
  constexpr double tokens = 128.0 * 2048.0;
  const std::optional<Sustained> reached = reached_in(bench, q.from);
  const FlopsPerSecond rate =
      (reached ? reached->share : 1.0) * rate_of(*bench.device, row_of(q.from).rate, name_of(q.from));
  a.figures.push_back(
      {"calibration, 128 sequences of 2 048 tokens forward", "calibration_s", Flops{tokens * flop} / rate});
  a.notes.emplace_back(
      "Calibration after training is forward passes over a few samples, and statistics of each tensor; methods that "
      "solve for weights, such as GPTQ, and calibrators that keep histograms on the host take longer.");
}

LabChart drawing_of(const LabTable& roles) {
  LabChart chart{"Bytes of each role", {"part", Hint::count, false}, {"bytes", Hint::bytes, true}, {}, {}};
  LabLine before{"before", LineStyle::points, {}};
  LabLine after{"after", LineStyle::points, {}};
  double at = 1.0;
  for (const std::vector<Value>& row : roles.rows) {
    before.points.push_back({at, row[5].number(), row[0].text() + ", " + row[1].text()});
    after.points.push_back({at, row[6].number(), {}});
    at += 1.0;
  }
  chart.lines = {std::move(before), std::move(after)};
  return chart;
}

}  // namespace

void add_model_map(const PrecisionAsked& q, const LabBench& bench, LabAnswer& a) {
  const Architecture arch = model_of(q, bench);
  const ModelMap map = map_of(q, arch);
  const std::optional<double> ratio = products_ratio(q, bench);
  const double flop = map.all_kept.flop + map.all_moved.flop;
  const double parameters = map.all_kept.parameters + map.all_moved.parameters;
  const Bytes before{parameters * q.kept_bytes()};
  const Bytes after{map.all_kept.parameters * q.kept_bytes() + map.all_moved.parameters * q.moved_bytes()};
  const Bytes read_before{(map.all_kept.read + map.all_moved.read) * q.kept_bytes()};
  const Bytes read_after{map.all_kept.read * q.kept_bytes() + map.all_moved.read * q.moved_bytes()};
  const double in_memory = read_before / read_after;
  a.figures.push_back({"parameters", "parameters", Value{parameters, Hint::count}});
  a.figures.push_back(
      {"bits of a weight that moves", "bits", 8.0 * q.moved_bytes(), format_number(8.0 * q.moved_bytes(), 5)});
  a.figures.push_back({"weights before", "before_bytes", before, gigabytes(before)});
  a.figures.push_back({"weights after", "after_bytes", after, gigabytes(after)});
  a.figures.push_back({"of the FLOP it moves", "moved_share", share(map.all_moved.flop / flop)});
  a.figures.push_back(
      {"bound by memory (decoding)", "memory_speedup", in_memory, format_number(in_memory) + "x as fast"});
  std::string gain;
  if (ratio) {
    const double whole = flop / (map.all_kept.flop + map.all_moved.flop / *ratio);
    a.figures.push_back({"speed-up of what moves", "part_speedup", *ratio, format_number(*ratio) + "x"});
    a.figures.push_back(
        {"bound by products (prefill, training)", "whole_speedup", whole, format_number(whole) + "x as fast"});
    gain = ", and multiplies " + format_number(whole) + "x as fast";
  }
  if (bench.device != nullptr) {
    const BytesPerSecond bandwidth = kernel_device(*bench.device, row_of(q.from).rate).bandwidth;
    a.figures.push_back({"weights read for one token before", "before_decode_s", read_before / bandwidth});
    a.figures.push_back({"and after", "after_decode_s", read_after / bandwidth});
    if (casts_activations(q.to) && map.all_moved.flop > 0.0) {
      add_casts(q, bench, map, a);
    }
    add_calibration(q, bench, flop, a);
  }
  a.verdict = arch.id + " takes " + gigabytes(after) + " instead of " + gigabytes(before) + gain +
              "; decoding, which reads weights, gains " + format_number(in_memory) + "x.";
  LabTable roles = roles_table(q, map, ratio.value_or(1.0), ratio.has_value());
  a.chart = drawing_of(roles);
  a.tables.push_back(std::move(roles));
  a.notes.emplace_back(
      "Norms and biases keep their format in any case; --keep names what else does. Scores of attention, the KV cache "
      "and optimizer states are not in these numbers. Decoding reads top-k experts, and one row of a table that is not "
      "tied to the head.");
  a.notes.emplace_back("Accuracy is not predicted; check it on your own data with these parts kept and without.");
  a.sources.push_back("parameters and FLOP by layer: " + arch.source);
}

void add_quantised_training(const PrecisionAsked& q, const LabBench& bench, LabAnswer& a) {
  const Device& device = *bench.device;
  const double bytes = row_of(q.from).weight_bytes;
  const FlopsPerSecond peak = rate_of(device, row_of(q.from).rate, name_of(q.from));
  const BytesPerSecond bandwidth = kernel_device(device, row_of(q.from).rate).bandwidth;
  const NetworkLibrary networks{bench.data.files()};
  const bool is_network = networks.knows(q.model);
  Seconds plain{};
  QuantisedElements quantised;
  const double batch = q.batch.value_or(is_network ? 32.0 : 8192.0);
  if (is_network) {
    const Network network = networks.find(q.model);
    quantised = quantised_elements(network);
    plain = plain_sample_time(network, peak, bandwidth, bytes);
  } else {
    const ModelMap map = map_of(q, model_of(q, bench));
    constexpr double passes = 3.0;  // forward, and two products backward
    quantised = {map.all_moved.inputs, map.all_moved.parameters};
    plain = Flops{passes * (map.all_kept.flop + map.all_moved.flop)} / peak;
  }
  const auto extra = [&](QuantiserForm form, double of) {
    return (quantised.activations + quantised.weights / of) * quantiser_traffic(form, bytes) / bandwidth;
  };
  const auto ratio = [&](QuantiserForm form, double of) { return plain / (plain + extra(form, of)); };
  const double fused = ratio(QuantiserForm::fused, batch);
  const double by_ops = ratio(QuantiserForm::by_ops, batch);
  a.figures.push_back({is_network ? "samples of a step" : "tokens of a step", "batch", Value{batch, Hint::count}});
  a.figures.push_back({"step without quantisers, of one at the roofs", "plain_s", plain});
  a.figures.push_back({"quantised of one, elements", "quantised_elements", Value{quantised.activations, Hint::count}});
  a.figures.push_back({"quantisers, one kernel each way", "fused_quantisers_s", extra(QuantiserForm::fused, batch)});
  a.figures.push_back({"quantisers op by op", "quantisers_s", extra(QuantiserForm::by_ops, batch)});
  a.figures.push_back(
      {"throughput with fused quantisers", "fused_throughput_ratio", fused, format_number(fused) + "x"});
  a.figures.push_back({"throughput with quantisers op by op", "throughput_ratio", by_ops, format_number(by_ops) + "x"});
  a.verdict = "A training step with fake quantisers of " + std::string{name_of(q.to)} + " runs at " +
              format_number(by_ops) + "x to " + format_number(fused) + "x of the throughput in " +
              std::string{name_of(q.from)} + ", by how well its quantisers are fused.";
  a.cures.push_back(
      {"fused quantisers instead of op by op", by_ops / fused, "5 b bytes an element instead of 13 b + 2"});
  a.cures.push_back({"calibration after training, without any training step", 0.0,
                     "forward passes over a few hundred samples; try it first, train only where accuracy falls short"});
  LabTable batches{"at_batches",
                   {{is_network ? "samples" : "tokens", "batch"},
                    {"fused", "fused_throughput_ratio"},
                    {"op by op", "throughput_ratio"}},
                   {}};
  LabLine line_fused{"fused", LineStyle::solid, {}};
  LabLine line_ops{"op by op", LineStyle::solid, {}};
  std::vector<double> sizes{batch};
  for (double size = is_network ? 1.0 : 256.0; size <= (is_network ? 512.0 : 131072.0); size *= 4.0) {
    sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const double size : sizes) {
    batches.rows.push_back(
        {Value{size, Hint::count}, ratio(QuantiserForm::fused, size), ratio(QuantiserForm::by_ops, size)});
    line_fused.points.push_back({size, ratio(QuantiserForm::fused, size), {}});
    line_ops.points.push_back({size, ratio(QuantiserForm::by_ops, size), {}});
  }
  a.tables.push_back(std::move(batches));
  // Images per second of eight V100 with 32 GB, int8 quantisers against fp32.
  a.tables.push_back(
      {"published",
       {{"<model", "model"},
        {"throughput", "throughput_ratio"},
        {"with quantisers", "quantised_samples_per_s"},
        {"without", "plain_samples_per_s"},
        {"calibration", "calibration_samples_per_s"}},
       {{"efficientnet-b0", 2644.62 / 3798.0, per_second(2644.62), per_second(3798.0), per_second(14.71)},
        {"efficientnet-b4", 310.41 / 666.0, per_second(310.41), per_second(666.0), per_second(1.85)}}});
  a.chart = LabChart{"Throughput with fake quantisers over that without",
                     {is_network ? "samples of a step" : "tokens of a step", Hint::number, true},
                     {"throughput ratio", Hint::number, false},
                     {std::move(line_fused), std::move(line_ops)},
                     {{batch, "asked"}}};
  a.notes.emplace_back(
      "Products stay in the wide format; a fake quantiser rounds each of their inputs, and weights once a step. Its "
      "passes run at the memory's bandwidth. Quantisers that wait for the host, or small batches, take longer.");
  a.notes.emplace_back(
      "Step and quantisers are both at their roofs: software that is slower at both alike has the same ratio.");
  a.sources.emplace_back("Jacob et al. 2018 (fake quantisers); Bengio et al. 2013 (gradients straight through)");
  a.sources.emplace_back(
      "published: NVIDIA DeepLearningExamples, commit 729963dd, PyTorch EfficientNet, QAT training performance on "
      "eight "
      "V100 with 32 GB");
}

}  // namespace headroom::cli
