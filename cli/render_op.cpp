// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/render_op.hpp>
#include <headroom/cli/table.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/model/cost/roofline.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace headroom::cli {
namespace {

constexpr double more = 1.1;

double padded(double size, int alignment) {
  return std::ceil(size / alignment) * alignment;
}

std::string percent(double share) {
  return format_number(100.0 * share) + " %";
}

std::string sizes(const GemmShape& s) {
  return format_count(s.m) + " x " + format_count(s.n) + " x " + format_count(s.k);
}

/// What changes of device and use would do, dearest effect first.
std::vector<Effect> gemm_effects(
    const GemmCurve& curve, const KernelDevice& limits, const GemmFormat& format, const GemmShape& shape, Seconds now) {
  std::vector<Effect> found;
  const auto device = [&](std::string change, KernelDevice changed) {
    found.push_back({std::move(change), GemmModel{curve, changed, format}.time(shape) / now});
  };
  KernelDevice peak = limits;
  peak.peak *= more;
  device("10 % more peak", peak);
  KernelDevice bandwidth = limits;
  bandwidth.bandwidth *= more;
  device("10 % more bandwidth", bandwidth);
  KernelDevice units = limits;
  units.units = std::round(limits.units * more);
  units.peak *= units.units / limits.units;
  device("10 % more SMs", units);
  GemmShape twice = shape;
  twice.m *= 2.0;
  found.push_back({"twice the rows in one call, per row", 0.5 * (GemmModel{curve, limits, format}.time(twice) / now)});
  std::stable_sort(found.begin(), found.end(), [](const Effect& a, const Effect& b) { return a.time < b.time; });
  return found;
}

}  // namespace

GemmAnswer answer_gemm(const Device& device,
                       const CurveSet& set,
                       const GemmFormat& format,
                       const GemmShape& shape,
                       std::string_view engine) {
  GemmAnswer a;
  a.gpu = device.id;
  a.format = format.name;
  a.shape = shape;
  a.limits = kernel_device(device, format.rate);
  const ChosenCurve<gemm_parameter_count> chosen = choose_gemm(set, device, format, engine);
  a.why = chosen.why;
  const GemmModel model{chosen.curve->values, a.limits, format};
  a.time = model.explain(shape);
  const double factor = 1.0 + chosen.curve->provenance.p90;
  a.low = a.time.total / factor;
  a.high = a.time.total * factor;
  a.work = gemm_flops(shape.m, shape.n, shape.k);
  a.moved = Bytes{shape.n * shape.k * format.weight_bytes + shape.m * shape.k * format.activation_bytes +
                  shape.m * shape.n * format.output_bytes};
  a.roofline = std::max(a.work / a.limits.peak, a.moved / a.limits.bandwidth);
  a.alignment = format.alignment;
  a.padded = gemm_flops(shape.m, padded(shape.n, format.alignment), padded(shape.k, format.alignment));
  a.effects = gemm_effects(chosen.curve->values, a.limits, format, shape, a.time.total);
  return a;
}

std::string gemm_text(const GemmAnswer& a) {
  const GemmTime& t = a.time;
  const FlopsPerSecond rate = a.work / t.total;
  const BytesPerSecond bandwidth = a.moved / t.total;
  std::string text = "gemm " + sizes(a.shape) + ", " + a.format + ", on " + a.gpu + "\n\n";
  Table table{{"", ""}};
  table.left(1);
  table.row({"time", format(t.total) + "  (" + format(a.low) + " to " + format(a.high) + ")"});
  table.row({"bound by", std::string{gemm_bound_names[static_cast<std::size_t>(t.bound)]}});
  table.row({"tiles", std::to_string(t.tile_m) + " x " + std::to_string(t.tile_n) +
                          (t.split > 1 ? ", K split " + std::to_string(t.split) + " ways" : "") + ", " +
                          format_number(t.waves) + " waves over " + format_number(a.limits.units) + " SMs"});
  table.row({"rate", format(rate) + ", " + percent(rate / a.limits.peak) + " of the dense peak"});
  table.row({"bandwidth", format(bandwidth) + ", " + percent(bandwidth / a.limits.bandwidth) + " of the memory's"});
  table.row({"intensity", format_number((a.work / a.moved).raw()) + " FLOP/B, ridge " +
                              format_number((a.limits.peak / a.limits.bandwidth).raw()) + " FLOP/B"});
  table.row({"roofline", format(a.roofline) + ": headroom " + format_number(t.total / a.roofline) + "x"});
  text += table.text(0) + "\n";
  Table parts{{"part", "time"}};
  parts.row({"launch", format(t.launch)});
  if (t.quantise > Seconds{}) {
    parts.row({"quantise activations", format(t.quantise)});
  }
  parts.row({"tiles, alone", format(t.loop)});
  parts.row({"memory, alone", format(t.memory)});
  if (t.split > 1) {
    parts.row({"reduce the split", format(t.reduce)});
  }
  text += parts.text(0) + "\n";
  Table help{{"what would help", "time"}};
  for (const Effect& effect : a.effects) {
    help.row({effect.change, percent(effect.time - 1.0)});
  }
  text += help.text(0);
  if (a.padded > a.work) {
    text += "n and k are not both multiples of " + std::to_string(a.alignment) + ": pad them (" +
            percent(a.padded / a.work - 1.0) + " more FLOP) to stay on the tensor path\n";
  }
  return text + "\ncurve: " + a.why +
         "\noperands come from memory, as in a model's step; a benchmark of one small shape "
         "finds them in L2\n";
}

std::string gemm_json(const GemmAnswer& a) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "headroom.op/1");
  json.member("kind", "gemm");
  json.member("gpu", std::string_view{a.gpu});
  json.member("dtype", std::string_view{a.format});
  json.member("m", a.shape.m);
  json.member("n", a.shape.n);
  json.member("k", a.shape.k);
  json.member("time_s", a.time.total.raw());
  json.member("low_s", a.low.raw());
  json.member("high_s", a.high.raw());
  json.member("bound", gemm_bound_names[static_cast<std::size_t>(a.time.bound)]);
  json.member("tile_m", a.time.tile_m);
  json.member("tile_n", a.time.tile_n);
  json.member("split_k", a.time.split);
  json.member("waves", a.time.waves);
  json.member("launch_s", a.time.launch.raw());
  json.member("quantise_s", a.time.quantise.raw());
  json.member("loop_s", a.time.loop.raw());
  json.member("memory_s", a.time.memory.raw());
  json.member("reduce_s", a.time.reduce.raw());
  json.member("flop", a.work.raw());
  json.member("moved_bytes", a.moved.raw());
  json.member("of_peak", (a.work / a.time.total) / a.limits.peak);
  json.member("of_bandwidth", (a.moved / a.time.total) / a.limits.bandwidth);
  json.member("roofline_s", a.roofline.raw());
  json.member("padded_flop", a.padded.raw());
  json.key("helps");
  json.begin_array();
  for (const Effect& effect : a.effects) {
    json.compact_next();
    json.begin_object();
    json.member("change", std::string_view{effect.change});
    json.member("time_ratio", effect.time);
    json.end_object();
  }
  json.end_array();
  json.member("curve", std::string_view{a.why});
  json.end_object();
  return json.take();
}

std::vector<KernelFile> read_kernel_files(const std::vector<std::string>& paths, std::optional<KernelKind> kind) {
  Diagnostics diagnostics;
  std::vector<KernelFile> files;
  for (const std::string& path : paths) {
    std::error_code status;
    std::ifstream stream{path, std::ios::binary};
    if (std::filesystem::is_directory(path, status)) {
      diagnostics.add(path, {}, "is a folder, not a file");
    } else if (!stream) {
      diagnostics.add(path, {}, std::filesystem::exists(path, status) ? "cannot be read" : "no such file");
    } else {
      files.push_back(read_kernel_rows(stream, path, kind, diagnostics));
    }
  }
  diagnostics.throw_if_any();
  return files;
}

std::string too_fast_text(const std::vector<TooFast>& kernels) {
  if (kernels.empty()) {
    return {};
  }
  constexpr std::size_t shown = 5;
  std::string text = "\n" + std::to_string(kernels.size()) + " kernels are faster than the datasheet allows\n";
  Table table{{"kernel", "engine", "format", "measured us", "least us"}};
  for (std::size_t i = 0; i < std::min(shown, kernels.size()); ++i) {
    const TooFast& k = kernels[i];
    table.row({k.id, k.engine, k.format, format_number(k.measured_us, 4), format_number(k.roofline_us, 4)});
  }
  return text + table.text(0);
}

}  // namespace headroom::cli
