// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/collective_problem.hpp>
#include <headroom/calibrate/kernels/curve_problem.hpp>
#include <headroom/calibrate/kernels/moe_problem.hpp>
#include <headroom/calibrate/samples/probe_plan.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/roofline.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace headroom {
namespace {

/// Starts differ in the latency of the K chain, which is four times longer on Ampere and Ada than on Hopper and later;
/// no other parameter has separate minima.
std::vector<std::vector<double>> gemm_starts() {
  std::vector<std::vector<double>> starts;
  for (const double chain : {1.0e-9, 4.0e-9}) {
    std::vector<double> start = priors_of(gemm_parameters());
    start[static_cast<std::size_t>(GemmParameter::chain)] = chain;
    starts.push_back(std::move(start));
  }
  return starts;
}

GemmShape gemm_shape(const KernelRow& row) {
  return {row.shape[0], row.shape[1], row.shape[2]};
}

Seconds gemm_roofline(const GemmShape& s, const KernelDevice& limits, const GemmFormat& format) {
  const Bytes moved{s.n * s.k * format.weight_bytes + s.m * s.k * format.activation_bytes +
                    s.m * s.n * format.output_bytes};
  return least_time(gemm_flops(s.m, s.n, s.k), moved, limits.peak, limits.bandwidth, limits.l2);
}

CurveProblem gemm_problem(const KernelGroup& group, const Device& device) {
  GemmFormat format = known_format(group);
  format.quantises = format.quantises && benchmark_quantises(group.engine);
  CurveProblem problem;
  problem.parameters = gemm_parameters();
  problem.fixed.assign(problem.parameters.size(), false);
  problem.fixed[static_cast<std::size_t>(GemmParameter::quantise)] = !format.quantises;
  problem.starts = gemm_starts();
  const KernelDevice limits = kernel_device(device, format.rate);
  std::vector<double> copies;       // all that the rows' benchmarks rotate through
  std::vector<std::size_t> copied;  // of each row, among them
  for (const KernelRow* row : group.rows) {
    problem.roofline.push_back(gemm_roofline(gemm_shape(*row), limits, format));
    const double own = row->copies > 0.0 ? row->copies : benchmark_copies(group.engine);
    const auto at = std::find(copies.begin(), copies.end(), own);
    copied.push_back(static_cast<std::size_t>(at - copies.begin()));
    if (at == copies.end()) {
      copies.push_back(own);
    }
  }
  problem.predict = [&group, limits, format, copies = std::move(copies), copied = std::move(copied)](
                        std::span<const double> values, std::span<const std::size_t> which, std::span<double> seconds) {
    GemmCurve curve{};
    std::copy(values.begin(), values.end(), curve.begin());
    std::vector<GemmModel> models;
    models.reserve(copies.size());
    for (const double rotated : copies) {
      models.emplace_back(curve, limits, format, Residency::benchmark, rotated);
    }
    for (std::size_t i = 0; i < which.size(); ++i) {
      seconds[i] = models[copied[which[i]]].time(gemm_shape(*group.rows[which[i]])).raw();
    }
  };
  return problem;
}

// ---- attention ------------------------------------------------------------------------------------------------------

AttentionShape attention_shape(const KernelRow& row, KernelKind kind) {
  AttentionShape s;
  s.batch = row.shape[0];
  s.tokens = kind == KernelKind::decode ? 1.0 : row.shape[1];
  s.context = row.shape[1] + (kind == KernelKind::prefill ? row.shape[6] : 0.0);
  s.heads = row.shape[2];
  s.kv_heads = row.shape[3];
  s.head_dim = row.shape[4];
  s.sharers = kind == KernelKind::decode ? std::max(1.0, row.shape[6]) : 1.0;
  if (kind == KernelKind::training_attention) {
    s.causal = row.shape[5] > 0.0;
  } else {
    s.window = row.shape[5];
  }
  return s;
}

const AttentionFormat& attention_format(const std::string& name) {
  const AttentionFormat* format = find_attention_format(name);
  if (format == nullptr) {
    const std::string known = joined(attention_formats(), [&](const AttentionFormat& f) { return f.name; });
    throw ConfigError{"attention in " + quoted(name) + " (queries/cache) is not known; known are " + known};
  }
  return *format;
}

/// A discrete parameter, which has no slope, and the values to start from; all combinations are tried.
struct Whole {
  std::size_t parameter = 0;
  std::vector<double> values;
};
std::vector<std::vector<double>> whole_starts(std::span<const CurveParameter> parameters,
                                              std::span<const Whole> wholes) {
  std::vector<std::vector<double>> starts{priors_of(parameters)};
  for (const Whole& whole : wholes) {
    std::vector<std::vector<double>> more;
    for (const std::vector<double>& start : starts) {
      for (const double value : whole.values) {
        more.push_back(start);
        more.back()[whole.parameter] = value;
      }
    }
    starts = std::move(more);
  }
  return starts;
}

template <class Model, class Curve>
void set_attention_prediction(CurveProblem& problem, const KernelGroup& group, const Device& device) {
  const AttentionFormat format = attention_format(group.format);
  const KernelDevice limits = kernel_device(device, format.rate);
  std::vector<AttentionShape> shapes;
  for (const KernelRow* row : group.rows) {
    const AttentionShape s = attention_shape(*row, group.kind);
    shapes.push_back(s);
    const Bytes moved = s.sharers > 1.0 ? Bytes{} : attention_bytes(s, format);
    problem.roofline.push_back(least_time(attention_flops(s), moved, limits.peak, limits.bandwidth, limits.l2));
  }
  problem.predict = [shapes = std::move(shapes), limits, format](
                        std::span<const double> values, std::span<const std::size_t> which, std::span<double> seconds) {
    Curve curve{};
    std::copy(values.begin(), values.end(), curve.begin());
    const Model model{curve, limits, format, Residency::benchmark};
    for (std::size_t i = 0; i < which.size(); ++i) {
      seconds[i] = model.time(shapes[which[i]]).raw();
    }
  };
}

CurveProblem prefill_problem(const KernelGroup& group, const Device& device) {
  CurveProblem problem;
  problem.parameters = prefill_parameters();
  const std::array wholes{Whole{static_cast<std::size_t>(PrefillParameter::rows), {64.0, 128.0}},
                          Whole{static_cast<std::size_t>(PrefillParameter::packing), {1.0, 2.0, 3.0}}};
  problem.starts = whole_starts(problem.parameters, wholes);
  set_attention_prediction<PrefillModel, PrefillCurve>(problem, group, device);
  return problem;
}

CurveProblem decode_problem(const KernelGroup& group, const Device& device) {
  CurveProblem problem;
  problem.parameters = decode_parameters();
  // A kernel that never splits is a separate minimum.
  const std::array wholes{Whole{static_cast<std::size_t>(DecodeParameter::dispatch), {1.0, 2.0}},
                          Whole{static_cast<std::size_t>(DecodeParameter::chunk_head), {256.0, 1e5}}};
  problem.starts = whole_starts(problem.parameters, wholes);
  set_attention_prediction<DecodeModel, DecodeCurve>(problem, group, device);
  return problem;
}

/// What the instructions of a pass take whose threads handle 16-bit elements one by one: each element costs so many
/// lanes' instructions, of which a multiprocessor issues four warps' a clock (CUDA C++ Programming Guide, Arithmetic
/// Instructions). 34 an element: vLLM's rotary embeddings, gated activations, norms and writes of the cache on H800
/// reach 7.5 bytes a clock and multiprocessor; nothing of A800 and A40, which keep it, moved the number. 0 where the
/// catalog has no clock.
double issue_time(double elements, const Device& device) {
  constexpr double instructions = 34.0, lanes = 128.0;
  const auto& units = device.compute.units;
  const auto& clock = device.compute.clock;
  return units && clock ? elements * instructions / (lanes * static_cast<double>(units->value) * clock->value.raw())
                        : 0.0;
}

/// Passes over memory by their traffic, whatever their op.
CurveProblem pass_problem(const KernelGroup& group, const Device& device) {
  CurveProblem problem;
  problem.parameters = memory_parameters();
  problem.fixed.assign(problem.parameters.size(), false);
  const KernelDevice limits = kernel_device(device, Rate::bf16);
  std::vector<MemoryOp> passes;
  std::vector<double> issue;
  bool by_row = false;
  for (const KernelRow* row : group.rows) {
    passes.push_back({Bytes{row->shape[0]}, Bytes{row->shape[1]}, row->shape[2]});
    issue.push_back(issue_time(row->shape[3], device));
    by_row = by_row || row->shape[2] > 0.0;
    problem.roofline.push_back(least_time(Flops{}, passes.back().moved(), limits.peak, limits.bandwidth, limits.l2));
  }
  problem.fixed[static_cast<std::size_t>(MemoryParameter::block)] = !by_row;
  predict_passes(problem, std::move(passes), limits, Residency::benchmark);
  problem.predict = [streamed = std::move(problem.predict), issue = std::move(issue)](
                        std::span<const double> values, std::span<const std::size_t> which, std::span<double> seconds) {
    streamed(values, which, seconds);
    const double launch = values[static_cast<std::size_t>(MemoryParameter::launch)];
    for (std::size_t i = 0; i < which.size(); ++i) {
      const double work = seconds[i] - launch;
      const double issued = issue[which[i]];
      seconds[i] = launch + std::cbrt(work * work * work + issued * issued * issued);
    }
  };
  return problem;
}

AttentionPass pass_of(const KernelRow& row) {
  const auto* const at = std::find(attention_pass_names.begin(), attention_pass_names.end(), row.variant);
  if (at == attention_pass_names.end()) {
    throw ConfigError{"pass " + quoted(row.variant) + " must be forward, backward or forward+backward"};
  }
  return static_cast<AttentionPass>(at - attention_pass_names.begin());
}

CurveProblem training_attention_problem(const KernelGroup& group, const Device& device) {
  const AttentionImplementation* implementation = find_attention_implementation(group.engine);
  if (implementation == nullptr) {
    const std::string known =
        joined(attention_implementations(), [&](const AttentionImplementation& i) { return i.name; });
    throw ConfigError{"attention implementation " + quoted(group.engine) + " is not known; known are " + known};
  }
  CurveProblem problem;
  problem.parameters = training_attention_parameters();
  for (std::size_t i = 0; i < problem.parameters.size(); ++i) {
    problem.fixed.push_back(!matters(static_cast<TrainingAttentionParameter>(i), implementation->algorithm));
  }
  struct Call {
    AttentionShape shape;
    AttentionPass pass;
  };
  const KernelDevice limits = kernel_device(device, Rate::bf16);
  std::vector<Call> calls;
  for (const KernelRow* row : group.rows) {
    const AttentionShape s = attention_shape(*row, group.kind);
    calls.push_back({s, pass_of(*row)});
    problem.roofline.push_back(training_attention_flops(s, calls.back().pass) / limits.peak);
  }
  problem.predict = [calls = std::move(calls), limits, algorithm = implementation->algorithm](
                        std::span<const double> values, std::span<const std::size_t> which, std::span<double> seconds) {
    TrainingAttentionCurve curve{};
    std::copy(values.begin(), values.end(), curve.begin());
    const TrainingAttentionModel model{curve, limits, algorithm};
    for (std::size_t i = 0; i < which.size(); ++i) {
      seconds[i] = model.time(calls[which[i]].shape, calls[which[i]].pass).raw();
    }
  };
  return problem;
}

/// Folds of training attention hold out whole sequence lengths, because few kernels are published, and for one head
/// size and mask all lengths lie on one line.
std::uint64_t sequence_fold(const KernelRow& row) {
  return static_cast<std::uint64_t>(std::llround(std::log2(row.shape[1])));
}

bool in_range(KernelKind kind, const KernelRow& row) {
  return (kind != KernelKind::prefill && kind != KernelKind::decode) || attention_in_range(attention_shape(row, kind));
}

/// The model's name of a measured format.
std::string model_format(KernelKind kind, const std::string& format) {
  if (kind == KernelKind::prefill || kind == KernelKind::decode) {
    const AttentionFormat* known = find_attention_format(format);
    return known == nullptr ? format : std::string{known->name};
  }
  if (kind == KernelKind::training_attention) {
    return format == "fp16" || format == "bfloat16" ? "bf16" : format;
  }
  if (kind == KernelKind::gemm || kind == KernelKind::moe) {
    const GemmFormat* known = find_gemm_format(format);
    return known == nullptr ? format : std::string{known->name};
  }
  return format;
}

/// Subdivision of the kernels of one engine, version and format: family and routing for MoE, op for a pass.
std::pair<std::string, std::string> kernel_and_routing(KernelKind kind, const KernelRow& row) {
  const std::size_t comma = row.variant.find(", ");
  if (comma == std::string::npos) {
    return {};
  }
  const std::string first = row.variant.substr(0, comma);
  if (kind == KernelKind::moe) {
    return {moe_family(first), moe_routing_class(std::string_view{row.variant}.substr(comma + 2))};
  }
  return {first, ""};
}

}  // namespace

const GemmFormat& known_format(const KernelGroup& group) {
  const GemmFormat* format = find_gemm_format(group.format);
  if (format == nullptr) {
    const std::string known = joined(gemm_formats(), [&](const GemmFormat& f) { return f.name; });
    throw ConfigError{"format " + quoted(group.format) + " is not known; known are " + known};
  }
  return *format;
}

std::vector<KernelGroup> group_kernels(std::span<const KernelFile> files) {
  using Key = std::tuple<KernelKind, std::string, std::string, std::string, std::string, std::string, std::string>;
  std::map<Key, KernelGroup> groups;
  for (const KernelFile& file : files) {
    for (const KernelRow& row : file.rows) {
      const std::string format = model_format(file.kind, row.format);
      const auto [kernel, routing] = kernel_and_routing(file.kind, row);
      const std::string op = row.eager ? row.op : "";
      KernelGroup& group = groups[{file.kind, row.engine, format, kernel, routing, row.version, op}];
      group.kind = file.kind;
      group.engine = row.engine;
      group.version = row.version;
      group.format = format;
      group.kernel = kernel;
      group.routing = routing;
      group.op = op;
      group.profiled = !row.op.empty();
      (in_range(file.kind, row) ? group.rows : group.outside).push_back(&row);
    }
  }
  const std::vector<std::array<double, 4>> gateless = gateless_models(files);
  std::vector<KernelGroup> sorted;
  sorted.reserve(groups.size());
  for (auto& [key, group] : groups) {
    if (group.kind == KernelKind::moe) {
      group.gateless = gateless;
    }
    sorted.push_back(std::move(group));
  }
  return sorted;
}

CurveProblem curve_problem(const ModelData& data, const KernelGroup& group, const Device& device, const Node* node) {
  CurveProblem problem;
  switch (group.kind) {
    case KernelKind::gemm: problem = gemm_problem(group, device); break;
    case KernelKind::prefill: problem = prefill_problem(group, device); break;
    case KernelKind::decode: problem = decode_problem(group, device); break;
    case KernelKind::training_attention: problem = training_attention_problem(group, device); break;
    case KernelKind::moe: problem = moe_problem(group, device); break;
    case KernelKind::quantize: problem = quantise_problem(group, device); break;
    case KernelKind::pass: problem = pass_problem(group, device); break;
    case KernelKind::nccl: problem = nccl_problem(data, group, device, node); break;
    case KernelKind::custom_all_reduce: problem = custom_all_reduce_problem(data, group, device, node); break;
    case KernelKind::moe_all_to_all: problem = moe_all_to_all_problem(group, device, node); break;
    case KernelKind::count:
      throw ConfigError{"kernels of kind " + std::string{kernel_kind_names[static_cast<std::size_t>(group.kind)]} +
                        " cannot be fitted yet"};
  }
  for (const KernelRow* row : group.rows) {
    problem.measured.push_back(row->latency);
    problem.shapes.push_back(group.kind == KernelKind::training_attention ? sequence_fold(*row) : shape_hash(*row));
  }
  return problem;
}

KernelGroup outside_of(const KernelGroup& group) {
  KernelGroup outside = group;
  outside.rows = group.outside;
  outside.outside.clear();
  return outside;
}

std::vector<std::size_t> probe_kernels(const KernelGroup& group) {
  std::vector<std::size_t> which;
  if (group.kind != KernelKind::gemm) {
    return which;
  }
  const std::vector<ProbeShape> shapes = probe_shapes();
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const GemmShape at = gemm_shape(*group.rows[i]);
    const auto same = [&](const ProbeShape& s) {
      return at.m == static_cast<double>(s.m) && at.n == static_cast<double>(s.n) && at.k == static_cast<double>(s.k);
    };
    if (std::any_of(shapes.begin(), shapes.end(), same)) {
      which.push_back(i);
    }
  }
  return which;
}

std::vector<double> priors_of(std::span<const CurveParameter> parameters) {
  std::vector<double> values;
  values.reserve(parameters.size());
  for (const CurveParameter& p : parameters) {
    values.push_back(p.prior);
  }
  return values;
}

void predict_passes(CurveProblem& problem,
                    std::vector<MemoryOp> passes,
                    const KernelDevice& limits,
                    Residency residency) {
  problem.predict = [passes = std::move(passes), limits, residency](
                        std::span<const double> values, std::span<const std::size_t> which, std::span<double> seconds) {
    MemoryCurve curve{};
    std::copy(values.begin(), values.end(), curve.begin());
    const MemoryModel model{curve, limits, residency};
    for (std::size_t i = 0; i < which.size(); ++i) {
      seconds[i] = model.time(passes[which[i]]).raw();
    }
  };
}

}  // namespace headroom
