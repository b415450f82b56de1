// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/curve_reader.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <functional>
#include <iterator>

namespace headroom {
namespace {

/// The curve of one engine and format; an empty engine means the first in the set.
template <std::size_t N>
const FittedCurve<N>* look_up(const std::vector<FittedCurve<N>>& curves,
                              std::string_view engine,
                              std::string_view format) {
  const auto found = std::find_if(curves.begin(), curves.end(), [&](const FittedCurve<N>& c) {
    return c.provenance.format == format && (engine.empty() || c.provenance.engine == engine);
  });
  return found == curves.end() ? nullptr : &*found;
}

/// "trtllm 1.3.0rc20 bf16 kernels of h100-sxm-80gb, 5.4 % off when held out"
std::string described(const CurveProvenance& p, const Device& device, std::string_view format) {
  std::string text =
      p.engine + " " + p.version + " " + (p.kernel.empty() ? "" : p.kernel + " ") + p.format + " kernels of " + p.sku;
  if (p.sku != device.id) {
    text += " with the datasheet of " + device.id + " (no kernel of its own was measured)";
  } else {
    text += ", " + percent(p.mape, 2) + " off when held out";
  }
  if (p.format != format) {
    text += "; none in " + std::string{format} + " was measured";
  }
  return text;
}

template <std::size_t N>
[[noreturn]] void none_serves(const std::vector<FittedCurve<N>>& curves,
                              std::string_view what,
                              std::string_view wanted,
                              const CurveSet& set) {
  std::string known;
  for (const FittedCurve<N>& curve : curves) {
    const CurveProvenance& p = curve.provenance;
    known += (known.empty() ? "" : ", ") + p.engine + " " + (p.kernel.empty() ? "" : p.kernel + " ") + p.format +
             (p.routing.empty() ? "" : " " + p.routing);
  }
  throw ConfigError{"no " + std::string{what} + " curve of " + set.id + " is for " + std::string{wanted} +
                    "; there are " + (known.empty() ? "none" : known)};
}

/// The substitute for an unmeasured format: one with weights of the same width, else 16 bit at the format's own rate.
std::string_view stand_in(std::string_view format) {
  if (format == "fp16" || format == "tf32" || format == "fp32" || format == "int8_wo" || format == "int4_wo") {
    return "bf16";
  }
  return format == "int8" || format == "fp8_block" ? "fp8" : std::string_view{};
}

/// The nearest measured types of queries and cache; the cache's own type is tried first.
template <std::size_t N>
ChosenCurve<N> choose_attention(const std::vector<FittedCurve<N>>& curves,
                                std::string_view what,
                                const CurveSet& set,
                                const Device& device,
                                const AttentionFormat& format,
                                std::string_view engine) {
  const std::array<std::string_view, 3> order{format.name, format.cache_bytes < 2.0 ? "bf16/fp8" : "bf16/bf16",
                                              "bf16/bf16"};
  for (const std::string_view name : order) {
    if (const FittedCurve<N>* found = look_up(curves, engine, name)) {
      return {found, described(found->provenance, device, format.name)};
    }
  }
  none_serves(curves, what, std::string{format.name} + (engine.empty() ? "" : " of engine " + quoted(engine)), set);
}
/// Training attention was published for two SKUs; sets without it use these kernels.
constexpr std::string_view training_attention_of = "h100-sxm-80gb";
// Probes of the device come last: published kernels are closer to what a stack runs.
constexpr std::array<std::string_view, 3> newest_first{"flash3", "flash2", "cudnn"};

template <class Function>
void for_each_provenance(CurveSet& set, Function&& function) {
  const auto all = [&](auto& curves) {
    for (auto& curve : curves) {
      function(curve.provenance);
    }
  };
  all(set.gemm);
  all(set.prefill);
  all(set.decode);
  all(set.training_attention);
  all(set.moe);
  all(set.memory);
}

/// Appends the curves of a base after the set's own, so that the own ones are found first.
void append(CurveSet& set, CurveSet&& base) {
  const auto add = [](auto& to, auto& from) { std::move(from.begin(), from.end(), std::back_inserter(to)); };
  add(set.gemm, base.gemm);
  add(set.prefill, base.prefill);
  add(set.decode, base.decode);
  add(set.training_attention, base.training_attention);
  add(set.moe, base.moe);
  add(set.memory, base.memory);
}

CurveSet read_entry(const DataStore::Entry& entry) {
  Diagnostics diagnostics;
  CurveSet set = read_curve_set(parse_toml(entry.text, entry.file), entry.file, diagnostics);
  diagnostics.throw_if_any();
  return set;
}

/// The pass that represents unmeasured ones: it reads and writes every element once.
constexpr std::string_view plain_pass = "scale_matrix";
/// The probe's pass that does the same.
constexpr std::string_view copy_pass = "copy";

}  // namespace

double benchmark_copies(std::string_view engine) noexcept {
  // The benchmarks rotate 5 weight copies for TensorRT-LLM and 6 for vLLM; the cublaslt probe never finds one in L2.
  return engine == "vllm" ? 6.0 : engine == "cublaslt" ? 1e6 : 5.0;
}

bool benchmark_quantises(std::string_view engine) noexcept {
  return engine != "cublaslt";
}

CurveSet read_curve_set(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  CurveSet set;
  set.id = root.text("id");
  set.file = file;
  set.gemm = read_curves(root, "gemm", gemm_parameters());
  set.prefill = read_curves(root, "attention-prefill", prefill_parameters());
  set.decode = read_curves(root, "attention-decode", decode_parameters());
  set.training_attention = read_curves(root, "attention-training", training_attention_parameters());
  set.moe = read_curves(root, "moe", moe_parameters());
  set.memory = read_curves(root, "memory", memory_parameters());
  set.base = root.maybe_text("base").value_or("");
  set.generation = root.maybe_text("generation").value_or("");
  root.finish();
  for_each_provenance(set, [&](CurveProvenance& p) { p.sku = set.id; });
  return set;
}

CurveSet load_curve_set(const ModelData& data, const Device& device) {
  if (device.curves.empty()) {
    throw ConfigError{device.id + " names no kernel curves and no kernel of its generation (" + device.generation +
                      ") was measured; borrow a set with --curves ID or curves = \"ID\" in an overlay of the SKU, or "
                      "measure one with "
                      "'headroom probe'"};
  }
  const DataStore& store = data.files();
  const std::optional<DataStore::Entry> entry = store.find("curves", device.curves);
  if (!entry) {
    const std::vector<std::string> ids = store.ids("curves");
    const std::vector<std::string_view> known{ids.begin(), ids.end()};
    throw ConfigError{device.id + " names the kernel curves " + quoted(device.curves) + ", which do not exist" +
                      suggestion(device.curves, known)};
  }
  std::optional<CurveSet> set;
  store.follow_bases("curves", *entry, "set of kernel curves", [&](const DataStore::Entry& each) {
    CurveSet read = read_entry(each);
    std::string base = read.base;
    set ? append(*set, std::move(read)) : static_cast<void>(set = std::move(read));
    return base;
  });
  return std::move(*set);
}

const CurveSet& find_curve_set(const ModelData& data, const Device& device) {
  return data.once(device.curves, [&] { return load_curve_set(data, device); });
}

ChosenCurve<gemm_parameter_count> choose_gemm(const CurveSet& set,
                                              const Device& device,
                                              const GemmFormat& format,
                                              std::string_view engine) {
  const FittedGemm* found = look_up(set.gemm, engine, format.name);
  if (found == nullptr) {
    found = look_up(set.gemm, engine, stand_in(format.name));
  }
  if (found == nullptr) {
    none_serves(set.gemm, "GEMM", std::string{format.name} + (engine.empty() ? "" : " of engine " + quoted(engine)),
                set);
  }
  return {found, described(found->provenance, device, format.name)};
}

ChosenCurve<prefill_parameter_count> choose_prefill(const CurveSet& set,
                                                    const Device& device,
                                                    const AttentionFormat& format,
                                                    std::string_view engine) {
  return choose_attention(set.prefill, "prefill attention", set, device, format, engine);
}

ChosenCurve<decode_parameter_count> choose_decode(const CurveSet& set,
                                                  const Device& device,
                                                  const AttentionFormat& format,
                                                  std::string_view engine) {
  return choose_attention(set.decode, "decode attention", set, device, format, engine);
}

const CurveSet& training_attention_set(const ModelData& data, const Device& device) {
  if (!device.curves.empty()) {
    if (const CurveSet& own = find_curve_set(data, device); !own.training_attention.empty()) {
      return own;
    }
  }
  Device lender = device;
  lender.curves = training_attention_of;
  return find_curve_set(data, lender);
}

const AttentionImplementation& newest_training_attention(const CurveSet& set) {
  for (const std::string_view name : newest_first) {
    const auto& curves = set.training_attention;
    if (std::any_of(curves.begin(), curves.end(), [&](const auto& c) { return c.provenance.engine == name; })) {
      return *find_attention_implementation(name);
    }
  }
  throw ConfigError{"no fused attention of training is among the curves of " + set.id};
}

ChosenCurve<training_attention_parameter_count> choose_training_attention(
    const CurveSet& set, const Device& device, const AttentionImplementation& implementation) {
  const FittedTrainingAttention* found = look_up(set.training_attention, implementation.name, "bf16");
  if (found == nullptr) {
    none_serves(set.training_attention, "training attention", implementation.name, set);
  }
  return {found, described(found->provenance, device, "bf16")};
}

ChosenCurve<moe_parameter_count> choose_moe(const CurveSet& set,
                                            const Device& device,
                                            const GemmFormat& format,
                                            Routing routing,
                                            std::string_view engine,
                                            std::string_view kernel) {
  const bool law = routing == Routing::power_law;
  const auto find = [&](std::string_view wanted, std::string_view kind) -> const FittedMoe* {
    const auto at = std::find_if(set.moe.begin(), set.moe.end(), [&](const FittedMoe& c) {
      const CurveProvenance& p = c.provenance;
      return p.format == wanted && p.routing == kind && (engine.empty() || p.engine == engine) &&
             (kernel.empty() || p.kernel == kernel);
    });
    return at == set.moe.end() ? nullptr : &*at;
  };
  for (const std::string_view wanted : {format.name, stand_in(format.name)}) {
    for (const bool other : {false, true}) {
      const std::string_view kind = law != other ? "power-law" : "balanced";
      if (const FittedMoe* found = find(wanted, kind); found != nullptr) {
        std::string why = described(found->provenance, device, format.name);
        why += other ? "; measured with " + std::string{kind} + " routing alone" : "";
        return {found, std::move(why)};
      }
    }
  }
  none_serves(set.moe, "MoE",
              std::string{format.name} + (engine.empty() ? "" : " of engine " + quoted(engine)) +
                  (kernel.empty() ? "" : " by kernel " + quoted(kernel)),
              set);
}

ChosenMemory choose_memory(const CurveSet& set,
                           const Device& device,
                           std::string_view kernel,
                           std::string_view engine) {
  for (const std::string_view wanted : {kernel, plain_pass}) {
    const auto at = std::find_if(set.memory.begin(), set.memory.end(), [&](const FittedMemory& c) {
      const std::string& measured = c.provenance.kernel;
      return (measured == wanted || (wanted == plain_pass && measured == copy_pass)) &&
             (engine.empty() || c.provenance.engine == engine);
    });
    if (at != set.memory.end()) {
      std::string why = described(at->provenance, device, at->provenance.format);
      why += wanted == kernel || (kernel == plain_pass && at->provenance.kernel == copy_pass)
                 ? ""
                 : "; no " + std::string{kernel} + " was measured";
      return {at->values, at->provenance.engine, at->provenance.p90, std::move(why)};
    }
  }
  const auto products = std::find_if(set.gemm.begin(), set.gemm.end(), [&](const FittedGemm& c) {
    return engine.empty() || c.provenance.engine == engine;
  });
  if (products == set.gemm.end()) {
    none_serves(set.memory, "memory", std::string{kernel} + (engine.empty() ? "" : " of engine " + quoted(engine)),
                set);
  }
  const FittedGemm& gemm = *products;
  ChosenMemory chosen;
  chosen.engine = gemm.provenance.engine;
  chosen.p90 = gemm.provenance.p90;
  for (std::size_t i = 0; i < memory_parameter_count; ++i) {
    chosen.values[i] = memory_parameters()[i].prior;
  }
  const auto take = [&](MemoryParameter to, GemmParameter from) {
    chosen.values[static_cast<std::size_t>(to)] = gemm.values[static_cast<std::size_t>(from)];
  };
  take(MemoryParameter::launch, GemmParameter::launch);
  take(MemoryParameter::bandwidth, GemmParameter::bandwidth);
  chosen.why = "launch and bandwidth of " + described(gemm.provenance, device, gemm.provenance.format) +
               " (matrix products; no memory-bound pass was measured)";
  return chosen;
}

KernelDevice kernel_device(const Device& device, Rate rate) {
  std::string missing;
  const auto note = [&](bool known, std::string_view name) {
    missing += known ? "" : (missing.empty() ? "" : ", ") + std::string{name};
  };
  const auto& units = device.compute.units;
  const auto& l2 = device.memory.l2;
  note(device.memory.bandwidth.has_value(), "memory.bandwidth");
  note(units.has_value(), "compute.units");
  note(l2.has_value(), "memory.l2");
  if (!missing.empty() || !units || !l2) {
    throw ConfigError{device.id + " lacks " + missing + " in the catalog; state them in an overlay of it"};
  }
  return {device.peak_of(rate), device.bandwidth(), static_cast<double>(units->value), l2->value};
}

}  // namespace headroom
