// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/replica/replica_kernels.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

/// Activations of this format are scaled by groups of 128 of their own values (DeepSeek-AI 2024, DeepSeek-V3, section
/// 3.3.2), a launch of its own before each product that no engine fuses away, and that its benchmarks hold.
constexpr std::string_view scaled_by_groups = "fp8_block";

/// A launch above which the host launched the kernels of a benchmark one by one; in a replayed graph, as engines run
/// them, kernels of products start within 2 to 15 us.
constexpr double host_launch = 30e-6;

/// The curve itself, or in place of one that the host launched another engine's of the format that starts soonest.
const FittedGemm& shortest_launch(const CurveSet& set, const FittedGemm& curve) {
  constexpr auto launch = static_cast<std::size_t>(GemmParameter::launch);
  const FittedGemm* found = &curve;
  for (const FittedGemm& c : set.gemm) {
    const bool sooner = c.values[launch] < found->values[launch];
    found = curve.values[launch] > host_launch && c.provenance.format == curve.provenance.format && sooner ? &c : found;
  }
  return *found;
}

/// Kernels that TensorRT-LLM's generator writes (its backend TRTLLM of experts) are its own, whoever measured them:
/// FlashInfer ships them to vLLM and SGLang (flashinfer-ai/flashinfer, trtllm_fused_moe).
constexpr std::string_view generator = "trtllm", generated = "trtllm-gen";

constexpr auto moe_launch = static_cast<std::size_t>(MoeParameter::launch);

/// The shortest chain of launches around an engine's grouped products, scaled by groups or not as the curve's own.
/// Benchmarks of some families launch host work and casts with them that a replayed graph does not hold.
double least_launch(const CurveSet& set, const CurveProvenance& curve) {
  double least = std::numeric_limits<double>::max();
  for (const FittedMoe& c : set.moe) {
    const CurveProvenance& p = c.provenance;
    const bool alike = (p.format == scaled_by_groups) == (curve.format == scaled_by_groups);
    least = p.engine == curve.engine && alike ? std::min(least, c.values[moe_launch]) : least;
  }
  return least;
}

/// The one family that the engine's release ran in a format, where it was measured; empty: any.
std::string_view only_family(const CurveSet& set,
                             const Device& device,
                             const EngineKernels& kernels,
                             std::string_view format) {
  for (const ExpertFamily& family : kernels.families) {
    const bool measured = std::any_of(set.moe.begin(), set.moe.end(), [&](const FittedMoe& c) {
      const CurveProvenance& p = c.provenance;
      return p.engine == kernels.curves && p.format == format && p.kernel == family.kernel;
    });
    if (family.format == format && family.generation == device.generation && measured) {
      return family.kernel;
    }
  }
  return {};
}

}  // namespace

GemmModel product_model(const CurveSet& set,
                        const Device& device,
                        const std::string& engine,
                        const GemmFormat& format,
                        const GemmFormat& wide,
                        std::vector<std::string>& sources,
                        bool& borrowed) {
  auto chosen = of_engine(engine, [&](std::string_view e) { return choose_gemm(set, device, format, e); });
  borrowed = chosen.curve->provenance.format != format.name;
  constexpr auto launch = static_cast<std::size_t>(GemmParameter::launch);
  if (format.name == scaled_by_groups && !borrowed) {
    const FittedGemm& graph = shortest_launch(set, *chosen.curve);
    if (&graph != chosen.curve) {
      chosen.why = graph.provenance.engine + " " + graph.provenance.version + " " + graph.provenance.format +
                   " kernels of " + graph.provenance.sku + ": the host launches those measured with " + engine;
      chosen.curve = &graph;
    }
  }
  GemmCurve curve = chosen.curve->values;
  if (format.name != scaled_by_groups) {
    // Benchmarks of narrow products launch the cast of their activations too; an engine fuses it into the pass before.
    const auto plain = of_engine(engine, [&](std::string_view e) { return choose_gemm(set, device, wide, e); });
    curve[launch] = std::min(curve[launch], plain.curve->values[launch]);
  }
  sources.push_back("products: " + chosen.why);
  return GemmModel{curve, kernel_device(device, format.rate), format};
}

std::vector<ExpertKernels> expert_models(const CurveSet& set,
                                         const Device& device,
                                         const EngineKernels& kernels,
                                         const std::vector<const GemmFormat*>& formats,
                                         const GemmFormat& half,
                                         std::vector<std::string>& sources,
                                         bool& borrowed) {
  const std::string_view wanted = kernels.routing.kind == Routing::power_law ? "power-law" : "balanced";
  std::vector<ExpertKernels> models;
  const auto gather = [&](std::string_view engine, const GemmFormat& measured, const GemmFormat& format,
                          std::string_view kernel = {}) {
    const std::string_view only = !kernel.empty()  ? kernel
                                  : engine.empty() ? ""
                                                   : only_family(set, device, kernels, measured.name);
    for (const FittedMoe& c : set.moe) {
      const CurveProvenance& p = c.provenance;
      const bool twin =
          p.routing != wanted && std::any_of(set.moe.begin(), set.moe.end(), [&](const FittedMoe& other) {
            const CurveProvenance& o = other.provenance;
            return o.routing == wanted && o.engine == p.engine && o.format == p.format && o.kernel == p.kernel;
          });
      const bool other = !only.empty() && p.kernel != only;
      if (p.format == measured.name && (engine.empty() || p.engine == engine) && !twin && !other) {
        MoeCurve curve = c.values;
        curve[moe_launch] = std::min(curve[moe_launch], least_launch(set, p));
        models.push_back({MoeModel{curve, kernel_device(device, format.rate), format}, curve[moe_launch]});
        sources.push_back("experts: " + p.engine + " " + p.version + " " + p.kernel + " " + p.format + " kernels of " +
                          p.sku);
      }
    }
  };
  for (const std::string_view engine : {std::string_view{kernels.curves}, std::string_view{}}) {
    for (const GemmFormat* format : formats) {
      gather(engine, *format, *format);
      if (engine == generator) {
        gather({}, *format, *format, generated);
      }
      if (format->name == scaled_by_groups && format == formats.front() && !models.empty()) {
        break;  // kernels of one scale a tensor cannot read blocks of them
      }
    }
    if (!models.empty()) {
      return models;
    }
  }
  if (formats.front()->name == "int4_wo") {
    // The one kernel for 4-bit weights of either kind (Frantar et al. 2024, Marlin); measured with mxfp4.
    gather("", *find_gemm_format("w4a16_mxfp4"), *formats.front(), "marlin");
    if (!models.empty()) {
      return models;
    }
  }
  borrowed = true;
  gather("", half, *formats.front());
  if (models.empty()) {
    throw ConfigError{"no layer of experts was measured on the SKU whose curves serve " + device.id};
  }
  return models;
}

double board_factor(const ModelData& data, const Device& sku) {
  const StepParameters& step = step_parameters(data);
  return sku.curves.empty() ? 1.0 : std::max(1.0, step.levels.board_factor(sku, step.physics.power_clock));
}

Device with_lower_peaks(const Device& sku, double slower) {
  Device limited = sku;
  for (auto& peak : limited.peak) {
    if (peak) {
      peak->value = (1.0 / slower) * peak->value;
    }
  }
  return limited;
}

double vector_peak_of(const Device& device) noexcept {
  const auto& peak = device.peak[static_cast<std::size_t>(Rate::fp32_vector)];
  return peak ? peak->value.raw() : HUGE_VAL;
}

AttentionKernels read_attention_kernels(const ConfigValue& document,
                                        const std::string& /*file*/,
                                        Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  AttentionKernels all;
  for (ConfigTable& table : root.tables("mixed")) {
    all.mixed.push_back({table.text("engine"), table.text("generation")});
    static_cast<void>(table.text("source"));
    table.finish();
  }
  for (ConfigTable& table : root.tables("sinks")) {
    all.sinks.push_back(
        {table.text("engine"), table.text("generation"), static_cast<double>(table.integer("rows", {16, 256}))});
    static_cast<void>(table.text("source"));
    table.finish();
  }
  root.finish();
  return all;
}

const AttentionKernels& attention_kernels(const ModelData& data) {
  return step_numbers(data, "serve-attention", read_attention_kernels);
}

bool attention_is_mixed(const ModelData& data,
                        const std::string& engine,
                        const Device& device,
                        const Architecture& arch,
                        std::vector<std::string>& sources) {
  const std::vector<MixedAttention>& rules = attention_kernels(data).mixed;
  const bool mixed =
      !arch.sinks && !arch.mla && std::any_of(rules.begin(), rules.end(), [&](const MixedAttention& one) {
        return one.engine == engine && one.generation == device.generation;
      });
  if (mixed) {
    sources.emplace_back("decodes beside prompts: in the prompts' call, the cache read by each query head");
  }
  return mixed;
}

PrefillCurve prefill_of(PrefillCurve curve,
                        const ModelData& data,
                        const std::string& engine,
                        const Device& device,
                        const Architecture& arch,
                        std::vector<std::string>& sources) {
  constexpr double always = 3.0;  // of PrefillParameter::packing
  for (const SinkAttention& one : attention_kernels(data).sinks) {
    if (arch.sinks && one.engine == engine && one.generation == device.generation) {
      curve[static_cast<std::size_t>(PrefillParameter::rows)] = one.rows;
      curve[static_cast<std::size_t>(PrefillParameter::packing)] = always;
      sources.push_back("prompts with sinks: in blocks of " + std::to_string(std::lround(one.rows)) + " rows");
    }
  }
  return curve;
}

}  // namespace headroom
