// SPDX-License-Identifier: Apache-2.0
// `headroom op`: one kernel answered, or a file of measured kernels scored against the committed curves.
#include <headroom/calibrate/score_kernels.hpp>
#include <headroom/cli/render.hpp>
#include <headroom/cli/render_op.hpp>
#include <headroom/cli/verb.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/hardware/catalog.hpp>
#include <headroom/model/cost/curve_library.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace headroom::cli {
namespace {

constexpr std::array options{
    Option{"--gpu", OptionKind::one, "ID", "SKU of the catalog"},
    Option{"-m", OptionKind::one, "N", "gemm: rows of the activations (tokens)"},
    Option{"-n", OptionKind::one, "N", "gemm: columns of the weights"},
    Option{"-k", OptionKind::one, "N", "gemm: depth"},
    Option{"--dtype", OptionKind::one, "NAME", "fp32, tf32, fp16, bf16 (default), fp8, fp8_block, int8, int8_wo, ..."},
    Option{"--engine", OptionKind::one, "NAME", "whose kernels: trtllm, vllm, sglang; default the SKU's first"},
    Option{"--curves", OptionKind::one, "ID", "another SKU's curves with this one's datasheet"},
    Option{"--kind", OptionKind::one, "gemm|attention-prefill|attention-decode|moe|quantize",
           "with a file: the kind of kernels, where the columns do not tell"},
    Option{"--budget", OptionKind::one, "FILE", "with a file: TOML with [[bar]]; exit 1 if missed"},
    Option{"--format", OptionKind::one, "text|json|csv", "text (default), json, csv (rows of a file)"},
};

double size_of(const Arguments& arguments, std::string_view option, std::string& missing) {
  if (!arguments.has(option)) {
    missing += (missing.empty() ? "" : ", ") + std::string{option};
    return 1.0;
  }
  const std::string text = arguments.one(option);
  const std::optional<std::int64_t> value = integer_of(text);
  if (!value || *value <= 0 || *value > (std::int64_t{1} << 40)) {
    throw ConfigError{std::string{option} + " " + quoted(text) + " must be a positive integer"};
  }
  return static_cast<double>(*value);
}

const GemmFormat& format_of(const Arguments& arguments) {
  const std::string name = arguments.one("--dtype", "bf16");
  if (const GemmFormat* found = find_gemm_format(name)) {
    return *found;
  }
  std::vector<std::string_view> names;
  std::string listed;
  for (const GemmFormat& format : gemm_formats()) {
    names.push_back(format.name);
    listed += (listed.empty() ? "" : ", ") + std::string{format.name};
  }
  throw ConfigError{"--dtype " + quoted(name) + " is not known" + suggestion(name, names) + "; known are " + listed};
}

Outcome run_gemm(const Arguments& arguments, const Device& device) {
  std::string missing;
  const GemmShape shape{size_of(arguments, "-m", missing), size_of(arguments, "-n", missing),
                        size_of(arguments, "-k", missing)};
  if (!missing.empty()) {
    throw ConfigError{"a gemm needs -m, -n and -k (C[m,n] = A[m,k] B[k,n]); missing: " + missing};
  }
  const GemmFormat& format = format_of(arguments);
  const CurveSet set = find_curve_set(device);
  const GemmAnswer answer = answer_gemm(device, set, format, shape, arguments.one("--engine"));
  return {arguments.one("--format", "text") == "json" ? gemm_json(answer) : gemm_text(answer), "", 0};
}

Outcome score_files(const Arguments& arguments, const Device& device) {
  std::optional<KernelKind> kind;
  if (arguments.has("--kind")) {
    const auto* const at = std::find(kernel_kind_names.begin(), kernel_kind_names.end(), arguments.one("--kind"));
    kind = static_cast<KernelKind>(at - kernel_kind_names.begin());
  }
  std::vector<BudgetBar> bars;
  if (arguments.has("--budget")) {
    const ConfigSource source = read_file(arguments.one("--budget"));
    bars = read_budget(parse_toml(source.text, source.file), source.file);
  }
  const std::vector<KernelFile> files = read_kernel_files(arguments.many(""), kind);
  const Validation validation = score_kernels(files, device);
  Outcome outcome;
  const std::string format = arguments.one("--format", "text");
  outcome.out = format == "json"  ? validation_json(validation)
                : format == "csv" ? validation_csv(validation)
                                  : validation_text(validation) + too_fast_text(faster_than_roofline(files, device));
  for (const std::string& missed : missed_bars(validation, bars)) {
    outcome.err += "headroom: budget missed: " + missed + "\n";
    outcome.code = 1;
  }
  return outcome;
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> what = arguments.many("");
  if (what.empty() || !arguments.has("--gpu")) {
    throw ConfigError{
        "name a kernel or a file of measured kernels, and --gpu; e.g. 'headroom op gemm --gpu "
        "h100-sxm-80gb -m 4096 -n 4096 -k 4096'"};
  }
  const Catalog catalog = Catalog::standard();
  Device device = catalog.device(arguments.one("--gpu"));
  if (arguments.has("--curves")) {
    device.curves = catalog.device(arguments.one("--curves")).id;
  }
  if (what.size() == 1 && what.front() == "gemm") {
    return run_gemm(arguments, device);
  }
  return score_files(arguments, device);
}

constexpr std::string_view examples =
    "  headroom op gemm --gpu h100-sxm-80gb -m 4096 -n 8192 -k 8192\n"
    "  headroom op gemm --gpu a100-sxm-80gb -m 1 -n 28672 -k 8192 --dtype int4_wo --format json\n"
    "  headroom op gemm_mine.csv --kind gemm --gpu h200-sxm-141gb\n";

}  // namespace

const Verb op_verb{"op",
                   "the time of one kernel, what binds it, what would help; or a file of them scored",
                   "gemm|FILE.csv",
                   10000,
                   options,
                   examples,
                   run};

}  // namespace headroom::cli
