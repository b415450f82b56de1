// SPDX-License-Identifier: Apache-2.0
// The bars of attention that a file of one kind of kernel does not hold: published training kernels, fitted with whole
// sequence lengths held out, and the curves of one SKU on another's kernels. Prints a table; exit 1 when a bar is
// missed.
#include <headroom/calibrate/kernels/curve_problem.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include "support/model_data.hpp"
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

using namespace headroom;

namespace {

constexpr double training_bar = 0.12;
constexpr double borrowed_bar = 0.10;
/// Tokens of every call and width of all heads in FlashAttention's benchmarks.
constexpr double tokens = 16384.0;
constexpr double width = 2048.0;

/// "FlashAttention-2; fwd+bwd; head_dim=64; seqlen=512; causal=0; ..."
struct Config {
  std::string implementation, pass;
  std::map<std::string, double> sizes;
};
Config config_of(const std::string& text) {
  Config config;
  std::istringstream parts{text};
  std::string part;
  for (int i = 0; std::getline(parts, part, ';'); ++i) {
    part.erase(0, part.find_first_not_of(' '));
    const std::size_t equals = part.find('=');
    if (i == 0) {
      config.implementation = part;
    } else if (i == 1) {
      config.pass = part;
    } else if (equals != std::string::npos && part.find(' ') == std::string::npos) {
      config.sizes[part.substr(0, equals)] = std::stod(part.substr(equals + 1));
    }
  }
  return config;
}

/// The published attention kernels of one GPU, as `headroom fit` reads them.
KernelFile training_kernels(const std::string& path, const std::string& hardware) {
  const std::map<std::string, std::string> passes{
      {"fwd", "forward"}, {"bwd", "backward"}, {"fwd+bwd", "forward+backward"}};
  std::ifstream stream{path, std::ios::binary};
  Diagnostics diagnostics;
  CsvReader csv{stream, path, diagnostics};
  KernelFile file{path, KernelKind::training_attention, {}};
  const std::size_t workload = csv.column("workload").value();
  const std::size_t where = csv.column("hardware").value();
  const std::size_t what = csv.column("config").value();
  const std::size_t metric = csv.column("metric").value();
  const std::size_t value = csv.column("value").value();
  while (csv.next()) {
    const std::vector<std::string>& fields = csv.fields();
    if (fields[workload] != "attention_kernel" || fields[metric] != "tflops" || fields[where].find(hardware) != 0) {
      continue;
    }
    const Config config = config_of(fields[what]);
    const AttentionImplementation* implementation = find_attention_implementation(config.implementation);
    const auto pass = passes.find(config.pass);
    if (implementation == nullptr || pass == passes.end() || config.sizes.count("causal") == 0) {
      continue;
    }
    const double sequence = config.sizes.at("seqlen");
    const double dim = config.sizes.at("head_dim");
    const double heads = width / dim;
    const AttentionShape s{
        tokens / sequence, sequence, sequence, heads, heads, dim, 0.0, config.sizes.at("causal") > 0.0};
    const auto* const at = std::find(attention_pass_names.begin(), attention_pass_names.end(), pass->second);
    const auto of = static_cast<AttentionPass>(at - attention_pass_names.begin());
    KernelRow row;
    row.engine = implementation->name;
    row.version = "published";
    row.format = "bf16";
    row.variant = pass->second;
    row.shape = {s.batch, sequence, heads, heads, dim, s.causal ? 1.0 : 0.0};
    row.latency = training_attention_flops(s, of) / FlopsPerSecond{*csv.number(value) * 1e12};
    file.rows.push_back(row);
  }
  return file;
}

void print_csv(const KernelFile& file) {
  std::printf("engine,version,pass,dtype,batch,seq,heads,kv_heads,head_dim,causal,latency_us\n");
  for (const KernelRow& r : file.rows) {
    std::printf("%s,%s,%s,%s,%g,%g,%g,%g,%g,%g,%.6g\n", r.engine.c_str(), r.version.c_str(), r.variant.c_str(),
                r.format.c_str(), r.shape[0], r.shape[1], r.shape[2], r.shape[3], r.shape[4], r.shape[5],
                r.latency.raw() * 1e6);
  }
}

bool report(const std::string& name, const CurveErrors& e, double bar) {
  std::printf("%-44s n %3zu  mape %4.1f  median %4.1f  bias %+5.1f %%%s\n", name.c_str(), e.n, 100.0 * e.mape,
              100.0 * e.median, 100.0 * e.bias, e.mape > bar ? "  MISSED" : "");
  return e.mape <= bar;
}

bool training_holds(const KernelFile& file, const Device& device) {
  bool holds = true;
  std::vector<double> all;
  for (const KernelGroup& group : group_kernels(std::span{&file, 1})) {
    const CurveFit fit = fit_curve(curve_problem(test::model_data(), group, device), 5);
    holds = report(device.id + " " + group.engine + ", lengths held out", fit.held_out, training_bar) && holds;
    all.insert(all.end(), fit.held_out_errors.begin(), fit.held_out_errors.end());
  }
  return report(device.id + " training attention", curve_errors(all), training_bar) && holds && !all.empty();
}

/// The committed decode curve of `owner` on the kernels of `device`.
bool borrowed_holds(const std::string& path, const Device& owner, const Device& device) {
  std::ifstream stream{path, std::ios::binary};
  Diagnostics diagnostics;
  const KernelFile file = read_kernel_rows(stream, path, KernelKind::decode, diagnostics);
  diagnostics.throw_if_any();
  for (const KernelGroup& group : group_kernels(std::span{&file, 1})) {
    if (group.engine != "vllm" || group.format != "bf16/bf16") {
      continue;
    }
    const CurveSet set = find_curve_set(test::model_data(), owner);
    const auto chosen = choose_decode(set, device, *find_attention_format(group.format), "vllm");
    const CurveProblem problem = curve_problem(test::model_data(), group, device);
    std::vector<std::size_t> which(group.rows.size());
    std::iota(which.begin(), which.end(), std::size_t{0});
    std::vector<double> errors(which.size());
    problem.predict(chosen.curve->values, which, errors);
    for (std::size_t i = 0; i < errors.size(); ++i) {
      errors[i] = errors[i] / group.rows[i]->latency.raw() - 1.0;
    }
    return report(owner.id + " vllm decode on " + device.id, curve_errors(errors), borrowed_bar);
  }
  return false;
}

bool readable(const std::string& path) {
  return std::ifstream{path}.good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "attention_truth TRUTH_DIR SILICON_DIR [--csv A100|H100]\n");
    return 2;
  }
  const std::string published = std::string{argv[1]} + "/other_workloads.csv";
  const std::string decode = std::string{argv[2]} + "/attn_generation_h200_sxm.csv";
  if (!readable(published) || !readable(decode)) {
    std::printf("Skipped: no measured rows at %s and %s\n", argv[1], argv[2]);
    return 0;
  }
  if (argc == 5) {
    print_csv(training_kernels(published, argv[4]));
    return 0;
  }
  const Catalog catalog = Catalog::standard();
  const Device& a100 = catalog.device("a100-sxm-80gb");
  const Device& h100 = catalog.device("h100-sxm-80gb");
  bool holds = training_holds(training_kernels(published, "A100"), a100);
  holds = training_holds(training_kernels(published, "H100"), h100) && holds;
  holds = borrowed_holds(decode, h100, catalog.device("h200-sxm-141gb")) && holds;
  return holds ? 0 : 1;
}
