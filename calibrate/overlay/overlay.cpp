// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/copy_problem.hpp>
#include <headroom/calibrate/measure/unit_comparison.hpp>
#include <headroom/calibrate/overlay/overlay.hpp>
#include <headroom/calibrate/overlay/overlay_collectives.hpp>
#include <headroom/calibrate/probe/probed_layer.hpp>
#include <headroom/calibrate/samples/probe_plan.hpp>
#include <headroom/calibrate/samples/spread.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace headroom {
namespace {

constexpr int folds = 5;
/// Fewest products for a curve: twice its free parameters.
constexpr std::size_t fewest_products = 8;
constexpr std::size_t fewest_copies = 6;
constexpr std::string_view copy_op = "copy";

/// Bytes without an exponent, for TOML.
std::string bytes_text(Bytes value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f B", value.raw());
  return text.data();
}

/// Text of a driver, made safe for a TOML string.
std::string plain(std::string text) {
  for (char& c : text) {
    c = c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return text;
}

std::string day_of(const Manifest& manifest) {
  return manifest.date.substr(0, 10);
}

std::string source_of(const Manifest& m) {
  std::string text = "headroom calibrate on " + m.device.name + ", " + day_of(m);
  text += m.settings.board.empty() ? "" : ", board " + m.settings.board;
  text += m.settings.driver.empty() ? "" : ", driver " + m.settings.driver;
  text += ", CUDA " + m.device.cuda_runtime + ", cuBLASLt " + m.device.cublaslt;
  text += m.device.nccl.empty() ? "" : ", NCCL " + m.device.nccl;
  text += m.settings.power_limit ? ", power limit " + format(*m.settings.power_limit) : "";
  return plain(text + ", conditions " + conditions_digest(m));
}

std::string kernel_name(const KernelGroup& group, std::size_t i) {
  std::string text = group.format;
  const std::span<const std::string_view> columns = shape_columns(group.kind);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    text += (c == 0 ? " " : ", ") + std::string{columns[c]} + " " + format_number(group.rows[i]->shape[c], 6);
  }
  return text;
}

/// Kernels whose errors stand out from the other residuals.
std::vector<std::string> far_off(const FittedGroup& fitted) {
  std::vector<double> logs;
  for (const double error : fitted.fit.fitted_errors) {
    logs.push_back(std::log1p(std::max(error, -0.999)));
  }
  const std::vector<bool> odd = outliers_of(logs);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < odd.size(); ++i) {
    if (odd[i] && i < fitted.group.rows.size()) {
      names.push_back(kernel_name(fitted.group, i));
    }
  }
  return names;
}

double within80(const FittedGroup& fitted) {
  std::vector<double> sizes;
  for (const double error : fitted.judged_errors()) {
    sizes.push_back(std::abs(error));
  }
  return quantile(sizes, 0.8);
}

/// Throws ConfigError with the probes that a curve still needs and how to run them.
[[noreturn]] void too_few(const SampleSet& set,
                          const std::string& what,
                          std::size_t found,
                          std::size_t needed,
                          const std::string& names,
                          const std::string& options) {
  throw ConfigError{set.folder + ": " + std::to_string(found) + " of " + what + " cannot be fitted, at least " +
                    std::to_string(needed) + " are needed; measure " + names + " with 'headroom calibrate -o " +
                    set.folder + " --resume" + options + "'"};
}

/// Names of up to three shapes that were not measured.
std::string missing_shapes(const KernelGroup& group) {
  std::string names;
  int left = 3;
  for (const ProbeShape& s : probe_shapes()) {
    const bool known = std::any_of(group.rows.begin(), group.rows.end(), [&](const KernelRow* r) {
      return r->shape[0] == static_cast<double>(s.m) && r->shape[1] == static_cast<double>(s.n) &&
             r->shape[2] == static_cast<double>(s.k);
    });
    if (!known && left-- > 0) {
      names += (names.empty() ? "gemm " : ", gemm ") + group.format + " " + std::to_string(s.m) + "x" +
               std::to_string(s.n) + "x" + std::to_string(s.k);
    }
  }
  return names + " and more";
}

void check_enough(const SampleSet& set, const KernelGroup& group) {
  if (group.kind == KernelKind::gemm && group.rows.size() < fewest_products) {
    too_few(set, "48 products in " + group.format, group.rows.size(), fewest_products, missing_shapes(group),
            " --only gemm --dtype " + group.format);
  }
}

void check_true(const SampleSet& set, const FittedGroup& fitted, const Device& base) {
  for (std::size_t i = 0; i < fitted.group.rows.size(); ++i) {
    constexpr double tolerance = 1.05;  // allows clocks above the datasheet's
    if (tolerance * fitted.problem.measured[i] < fitted.problem.roofline[i]) {
      throw ConfigError{set.folder + ": " + kernel_name(fitted.group, i) + " took " +
                        format(fitted.problem.measured[i]) + "; the datasheet of " + base.id + " allows no less than " +
                        format(fitted.problem.roofline[i]) +
                        ": its timer did not wait, its operands were cached, or --base is another SKU"};
    }
  }
}

/// Compares measured times with the base's own curve for the same kernels.
template <class Chosen, class Problem>
void beside(OverlayCurve& curve, const Chosen& chosen, const Problem& problem) {
  std::vector<std::size_t> all(problem.measured.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  std::vector<double> seconds(all.size());
  problem.predict(chosen, all, seconds);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ratios.push_back(problem.measured[i].raw() / seconds[i]);
  }
  curve.slower = median(ratios) - 1.0;
}

const CurveSet* set_of(const ModelData& data, const Device& base) {
  return base.curves.empty() ? nullptr : &find_curve_set(data, base);
}

void beside_base(OverlayCurve& curve, const CurveSet* set, const Device& base) {
  if (!set) {
    return;
  }
  const KernelGroup& group = curve.fitted.group;
  try {
    if (group.kind == KernelKind::gemm) {
      const auto chosen = choose_gemm(*set, base, known_format(group));
      curve.base = chosen.why;
      beside(curve, std::span<const double>{chosen.curve->values}, curve.fitted.problem);
    } else if (group.kind == KernelKind::quantize && group.kernel == copy_op) {
      const ChosenMemory chosen = choose_memory(*set, base);
      curve.base = chosen.why;
      beside(curve, std::span<const double>{chosen.values}, curve.fitted.problem);
    }
  } catch (const ConfigError&) {
    curve.base.clear();  // the base has no such curve to compare with
  }
}

/// Why a group of kernels is kept but not fitted; empty when it is fitted.
std::string unused(const KernelGroup& group, const Device& base, const CurveSet* curves) {
  constexpr std::size_t fewest_attention = 8;
  if (group.kind == KernelKind::gemm) {
    const GemmFormat* format = find_gemm_format(group.format);
    if (format == nullptr) {
      return "products in " + group.format + ": no plan computes in it; their samples are kept and told, not fitted";
    }
    if (!base.peak[static_cast<std::size_t>(format->rate)]) {
      return "products in " + group.format + ": the catalog has no such peak of " + base.id +
             "; state it in an overlay of it first";
    }
    return "";
  }
  const bool decode = group.kind == KernelKind::decode;
  if (!decode && group.kind != KernelKind::training_attention) {
    return "";
  }
  const std::string what = decode ? "decode attention" : "attention of training";
  if (group.rows.size() < fewest_attention) {
    return what + ": " + std::to_string(group.rows.size()) + " samples are too few for a curve of their own, which " +
           std::to_string(fewest_attention) + " make";
  }
  if (decode && curves && !curves->decode.empty()) {
    return what + ": " + base.id +
           " has curves of the kernels that engines run; those of the probe's plain kernel are kept, not fitted";
  }
  return "";
}

void fit_kernels(const ModelData& data,
                 const SampleSet& set,
                 const Device& base,
                 const Node* node,
                 const CurveSet* curves,
                 Overlay& overlay) {
  std::vector<KernelGroup> groups = group_kernels(set.kernels);
  overlay.curves.reserve(groups.size() + 1);  // reserved, because a problem refers to its group and neither may move
  for (KernelGroup& group : groups) {
    if (group.kind == KernelKind::nccl) {
      fit_collective(data, set, std::move(group), base, node, overlay);
      continue;
    }
    check_enough(set, group);
    if (std::string why = unused(group, base, curves); !why.empty()) {
      overlay.remarks.push_back(std::move(why));
      continue;
    }
    FittedGroup& fitted = overlay.curves.emplace_back().fitted;
    fitted.group = std::move(group);
    fitted.folds = folds;
    fitted.problem = curve_problem(data, fitted.group, base, node);
    check_true(set, fitted, base);
    fitted.fit = fit_curve(fitted.problem, folds);
  }
}

void fit_copies(const SampleSet& set, const Device& base, Overlay& overlay) {
  std::vector<CopyRow> rows;
  std::copy_if(set.copies.begin(), set.copies.end(), std::back_inserter(rows),
               [](const CopyRow& row) { return row.op == copy_op; });
  if (set.copies.empty()) {
    overlay.remarks.emplace_back("no copies were measured: passes over memory stay the base's");
    return;
  }
  if (rows.size() < fewest_copies) {
    too_few(set, "21 copies", rows.size(), fewest_copies, "copy 4096 B to copy 4294967296 B", " --only copy");
  }
  OverlayCurve curve;
  KernelGroup& group = curve.fitted.group;
  group.kind = KernelKind::quantize;
  group.engine = "headroom";
  group.version = set.manifest.headroom;
  group.format = "fp32";
  group.kernel = copy_op;
  curve.fitted.folds = folds;
  std::vector<PassRow> reductions;
  std::copy_if(set.passes.begin(), set.passes.end(), std::back_inserter(reductions),
               [](const PassRow& row) { return row.probe.op == PassOp::reduce; });
  for (const CopyRow& row : rows) {
    curve.samples.push_back("copy, " + format(Bytes{static_cast<double>(row.bytes)}) + " read and written");
  }
  for (const PassRow& row : reductions) {
    curve.samples.push_back(name_of(row.probe));
  }
  curve.fitted.problem = copy_problem(rows, base, reductions);
  curve.fitted.fit = fit_curve(curve.fitted.problem, folds);
  overlay.curves.push_back(std::move(curve));
}

// ---- facts ----------------------------------------------------------------------------------------------------------

template <class Q>
OverlayFact fact(std::string what, Q measured, std::optional<Q> base, const std::string& at = "") {
  OverlayFact result{std::move(what), format(measured) + at, base ? format(*base) : "", std::nullopt};
  if (base) {
    result.difference = measured.raw() / base->raw() - 1.0;
  }
  return result;
}

template <class Q>
std::optional<Q> value_of(const std::optional<Sourced<Q>>& sourced) {
  return sourced ? std::optional{sourced->value} : std::nullopt;
}

void memory_facts(const SampleSet& set, const Device& base, Overlay& overlay) {
  std::map<std::string, std::pair<BytesPerSecond, std::int64_t>> best;
  for (const CopyRow& row : set.copies) {
    const BytesPerSecond rate = Bytes{static_cast<double>(row.bytes)} / row.latency;
    auto& at = best[row.op];
    if (rate > at.first) {
      at = {rate, row.bytes};
    }
  }
  for (const auto& [op, rate] : best) {
    overlay.facts.push_back(fact("memory bandwidth, " + op, rate.first, value_of(base.memory.bandwidth),
                                 " at " + format(Bytes{static_cast<double>(rate.second)})));
  }
}

std::optional<FlopsPerSecond> peak_of(const Device& base, const std::string& dtype) {
  const GemmFormat* format = find_gemm_format(dtype);
  return format == nullptr ? std::nullopt : value_of(base.peak[static_cast<std::size_t>(format->rate)]);
}

void product_facts(const SampleSet& set, const Device& base, Overlay& overlay) {
  std::map<std::string, FlopsPerSecond> best, sustained;
  for (const KernelFile& file : set.kernels) {
    for (const KernelRow& row : file.rows) {
      if (file.kind == KernelKind::gemm) {
        FlopsPerSecond& at = best[row.format];
        at = std::max(at, Flops{2.0 * row.shape[0] * row.shape[1] * row.shape[2]} / row.latency);
      }
    }
  }
  for (const SustainedRow& row : set.sustained) {
    const auto flops =
        2.0 * static_cast<double>(row.gemm.m) * static_cast<double>(row.gemm.n) * static_cast<double>(row.gemm.k);
    FlopsPerSecond& at = sustained[row.gemm.dtype];
    at = std::max(at, Flops{flops} / row.gemm.latency);
  }
  for (const auto& [dtype, rate] : best) {
    overlay.facts.push_back(fact(dtype + " product, best", rate, peak_of(base, dtype)));
  }
  for (const auto& [dtype, rate] : sustained) {
    overlay.facts.push_back(fact(dtype + " product, sustained", rate, peak_of(base, dtype)));
  }
}

/// Highest bandwidth of each op of passes and transfers, over the bytes it must move.
void pass_facts(const SampleSet& set, const Device& base, Overlay& overlay) {
  struct Best {
    BytesPerSecond rate{};
    std::string at;
  };
  std::map<std::string, Best> passes, transfers;
  const auto take = [](Best& best, Bytes bytes, Seconds latency, Bytes size) {
    if (const BytesPerSecond rate = bytes / latency; rate > best.rate) {
      best = {rate, " at " + format(size)};
    }
  };
  for (const PassRow& row : set.passes) {
    const std::string op{pass_op_names[static_cast<std::size_t>(row.probe.op)]};
    take(passes[op], Bytes{static_cast<double>(row.probe.moved())}, row.latency,
         Bytes{static_cast<double>(row.probe.array_bytes)});
  }
  for (const TransferRow& row : set.transfers) {
    const Bytes bytes{static_cast<double>(row.bytes)};
    take(transfers[row.op], bytes, row.latency, bytes);
  }
  for (const auto& [op, best] : passes) {
    overlay.facts.push_back(fact("memory bandwidth, " + op, best.rate, value_of(base.memory.bandwidth), best.at));
  }
  for (const auto& [op, best] : transfers) {
    const std::optional<BytesPerSecond> link = value_of(base.pcie.rate);
    const bool of_host = op.find("peer") == std::string::npos && op.find("both") == std::string::npos;
    overlay.facts.push_back(fact("transfer, " + op, best.rate, of_host ? link : std::nullopt, best.at));
  }
  if (!set.passes.empty()) {
    overlay.remarks.emplace_back(
        "passes over memory: reduce gives the time of a row's CTA; the other ops are told beside the datasheet, not "
        "fitted");
  }
}

/// What a layer's kernels do a second, one after another: arithmetic of a pass, reads of a decode iteration.
void layer_facts(const SampleSet& set, const Device& base, Overlay& overlay) {
  for (const LayerRow& row : set.layers) {
    const std::string at = " in " + format(row.latency);
    overlay.facts.push_back(
        is_decode(row.probe.op)
            ? fact(name_of(row.probe), read_bytes_of(row.probe) / row.latency, value_of(base.memory.bandwidth), at)
            : fact(name_of(row.probe), flops_of(row.probe) / row.latency, peak_of(base, "bfloat16"), at));
  }
}

/// Habits of an SM beside what the closed forms make of the simplest of each.
void unit_facts(const SampleSet& set, Overlay& overlay) {
  std::vector<UnitTiming> timings;
  for (const UnitRow& row : set.units) {
    timings.push_back({row.probe, row.latency});
  }
  for (const UnitComparison& c : compared_with_laws(timings)) {
    overlay.facts.push_back({name_of(c.measured.probe), format(c.measured.time),
                             c.formula ? format(*c.formula) + " by the formula" : "",
                             c.formula ? std::optional{c.measured.time / *c.formula - 1.0} : std::nullopt});
  }
}

/// Fits a launch of n kernels: latency of each is first / n + each.
void launch_facts(const SampleSet& set, Overlay& overlay) {
  std::map<std::string, std::vector<const LaunchRow*>> ops;
  for (const LaunchRow& row : set.launches) {
    ops[row.op].push_back(&row);
  }
  for (auto& [op, rows] : ops) {
    std::sort(rows.begin(), rows.end(), [](const LaunchRow* a, const LaunchRow* b) { return a->count < b->count; });
    overlay.facts.push_back({"launch, " + op,
                             format(rows.back()->latency) + " each of " + std::to_string(rows.back()->count) + ", " +
                                 format(rows.front()->latency) + " of " + std::to_string(rows.front()->count),
                             "", std::nullopt});
  }
}

void device_facts(const Manifest& m, const Device& base, Overlay& overlay) {
  const auto& units = base.compute.units;
  if (!units || units->value != m.device.sms) {
    overlay.facts.push_back(
        {"SMs", std::to_string(m.device.sms), units ? std::to_string(units->value) : "",
         units ? std::optional{static_cast<double>(m.device.sms) / static_cast<double>(units->value) - 1.0}
               : std::nullopt});
  }
  if (m.device.l2 > Bytes{} && (!base.memory.l2 || base.memory.l2->value != m.device.l2)) {
    overlay.facts.push_back(fact("L2", m.device.l2, value_of(base.memory.l2)));
  }
  overlay.facts.push_back(
      fact("memory that a program sees", m.device.memory, std::optional{base.visible_capacity().value}));
}

// ---- text -----------------------------------------------------------------------------------------------------------

std::string gpu_text(const SampleSet& set, const Device& base, const Overlay& overlay) {
  const ProbeDevice& device = set.manifest.device;
  std::string text = "schema = 1\nid = \"" + overlay.id + "\"\nbase = \"" + base.id + "\"\n";
  text += overlay.curves.empty() ? "" : "curves = \"" + overlay.id + "\"\n";
  text += "notes = \"Measured: " + overlay.source + "\"\n\n[sources]\nPROBE = \"" + overlay.source + "\"\n";
  const auto& units = base.compute.units;
  if (!units || units->value != device.sms) {
    text += "\n[compute]\nunits = { value = " + std::to_string(device.sms) + ", source = \"PROBE\" }\n";
  }
  text += "\n[memory]\nvisible = { value = \"" + bytes_text(device.memory) + "\", source = \"PROBE\" }\n";
  if (device.l2 > Bytes{} && (!base.memory.l2 || base.memory.l2->value != device.l2)) {
    text += "l2 = { value = \"" + bytes_text(device.l2) + "\", source = \"PROBE\" }\n";
  }
  return text;
}

std::string curves_text(const SampleSet& set, const Device& base, const Overlay& overlay) {
  if (overlay.curves.empty()) {
    return "";
  }
  std::string text = "schema = 1\nid = \"" + overlay.id + "\"\n";
  text += base.curves.empty() ? "" : "base = \"" + base.curves + "\"\n";
  for (const OverlayCurve& curve : overlay.curves) {
    if (!is_collective(curve.fitted.group.kind)) {
      text += "\n" + curve_toml(curve.fitted, overlay.source, day_of(set.manifest));
    }
  }
  return text;
}

}  // namespace

Overlay make_overlay(
    const ModelData& data, const SampleSet& set, const Device& base, const Node* node, const std::string& id) {
  const std::int64_t capability = set.manifest.device.capability;
  const std::string stated = base.compute_capability;
  const std::string measured = std::to_string(capability / 10) + "." + std::to_string(capability % 10);
  if (!stated.empty() && stated != measured) {
    throw ConfigError{set.folder + ": " + set.manifest.device.name + " has compute capability " + measured + ", " +
                      base.id + " " + stated + "; name a base of its own generation"};
  }
  Overlay overlay;
  overlay.id = id;
  overlay.base = base.id;
  overlay.source = source_of(set.manifest);
  const CurveSet* const curves = set_of(data, base);
  fit_kernels(data, set, base, node, curves, overlay);
  fit_copies(set, base, overlay);
  if (overlay.curves.empty()) {
    throw ConfigError{set.folder +
                      ": nothing to fit: neither products nor copies nor collectives; measure gemm and copy with "
                      "'headroom calibrate -o " +
                      set.folder + " --resume'"};
  }
  for (OverlayCurve& curve : overlay.curves) {
    for (std::size_t i = 0; i < curve.fitted.group.rows.size(); ++i) {
      curve.samples.push_back(kernel_name(curve.fitted.group, i));
    }
    curve.within80 = within80(curve.fitted);
    curve.outliers = far_off(curve.fitted);
    if (is_collective(curve.fitted.group.kind)) {
      beside_base_collective(data, curve, base);
    } else {
      beside_base(curve, curves, base);
    }
  }
  memory_facts(set, base, overlay);
  product_facts(set, base, overlay);
  pass_facts(set, base, overlay);
  launch_facts(set, overlay);
  layer_facts(set, base, overlay);
  unit_facts(set, overlay);
  collective_facts(data, set, base, node, overlay);
  device_facts(set.manifest, base, overlay);
  overlay.gpu_toml = gpu_text(set, base, overlay);
  overlay.curves_toml = curves_text(set, base, overlay);
  overlay.collectives_toml = collectives_text(data, set, base, overlay);
  return overlay;
}

std::vector<FolderFile> overlay_files(const Overlay& overlay) {
  std::vector<FolderFile> files{{"gpus/" + overlay.id + ".toml", overlay.gpu_toml}};
  if (!overlay.curves_toml.empty()) {
    files.emplace_back("curves/" + overlay.id + ".toml", overlay.curves_toml);
  }
  if (!overlay.collectives_toml.empty()) {
    files.emplace_back("collectives/" + overlay.id + ".toml", overlay.collectives_toml);
  }
  return files;
}

}  // namespace headroom
