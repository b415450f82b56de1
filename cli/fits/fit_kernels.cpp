// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/value.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/kernels/chosen_curve.hpp>
#include <headroom/calibrate/kernels/collective_problem.hpp>
#include <headroom/calibrate/kernels/curve_problem.hpp>
#include <headroom/calibrate/kernels/curve_text.hpp>
#include <headroom/cli/fits/fit_kernels.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/kernel_files.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/grouped_gemm.hpp>
#include <headroom/model/kernels/memory_ops.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <set>

namespace headroom::cli {
namespace {

/// A fitted curve and its errors.
struct Fitted : FittedGroup {
  CurveErrors outside;  ///< errors of the curve on kernels outside its fitted range
  bool probe_only = false;
};

/// Fewest kernels for a curve: two per parameter; of collectives, most of whose parameters have priors, one.
std::size_t fewest_kernels(KernelKind kind) {
  constexpr std::size_t fewest_calls = 8;
  return kind == KernelKind::moe              ? 2 * moe_parameter_count
         : kind == KernelKind::moe_all_to_all ? moe_exchange_parameter_count
         : is_collective(kind)                ? fewest_calls
                                              : 2 * memory_parameter_count;
}

/// What the fit leaves out, for print.
using Remarks = std::vector<std::string>;

int folds_of(const Arguments& arguments) {
  const std::string text = arguments.one("--cross-validate", "5");
  const std::optional<std::int64_t> folds = integer_of(text);
  if (!folds || *folds < 0 || *folds == 1 || *folds > 100) {
    throw ConfigError{"--cross-validate " + quoted(text) + " must be 0 (none) or 2 to 100 folds"};
  }
  return static_cast<int>(*folds);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 16> text{};
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

// ---- text -----------------------------------------------------------------------------------------------------------

void add_parameters(const Fitted& f, Table& table) {
  for (std::size_t i = 0; i < f.problem.parameters.size(); ++i) {
    const CurveParameter& p = f.problem.parameters[i];
    const FittedParameter& fitted = f.fit.result.parameters[i];
    const bool fixed = !f.problem.fixed.empty() && f.problem.fixed[i];
    table.row({std::string{p.name}, value_text(p, fitted.value), fixed ? "-" : percent_number(fitted.deviation, 2),
               fixed               ? "not used"
               : fitted.from_prior ? "prior"
                                   : "data"});
  }
}

/// The strongest correlations between parameters.
std::string correlations(const Fitted& f) {
  struct Pair {
    std::size_t a, b;
    double value;
  };
  std::vector<Pair> pairs;
  const std::size_t n = f.problem.parameters.size();
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) {
      pairs.push_back({a, b, f.fit.result.correlation[a * n + b]});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& x, const Pair& y) { return std::abs(x.value) > std::abs(y.value); });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, pairs.size()); ++i) {
    text += (i == 0 ? "" : ", ") + std::string{f.problem.parameters[pairs[i].a].name} + " with " +
            std::string{f.problem.parameters[pairs[i].b].name} + " " + format_number(pairs[i].value, 2);
  }
  return text;
}

/// Errors of collectives by ranks or nodes, and by bytes or tokens.
template <class Region>
void add_collective_regions(const Fitted& f, const Region& region) {
  const bool exchange = f.group.kind == KernelKind::moe_all_to_all;
  const std::size_t groups = exchange && f.group.rows.front()->shape[1] > 0.0 ? 1 : 0;
  const std::string name = exchange ? (groups == 1 ? "ep " : "nodes ") : "gpus ";
  for (const double ranks : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
    region(name + format_number(ranks), [&](const KernelRow& r) { return r.shape[groups] == ranks; });
  }
  const std::size_t size = exchange ? 3 : 1;
  constexpr std::array<double, 5> byte_steps{0, 0x1p15, 0x1p20, 0x1p24, 1e15};
  constexpr std::array<std::string_view, 4> byte_names{"below 32 KiB", "to 1 MiB", "to 16 MiB", "from 16 MiB"};
  constexpr std::array<double, 5> token_steps{0, 17, 129, 1025, 1e12};
  constexpr std::array<std::string_view, 4> token_names{"tokens 1 to 16", "17 to 128", "129 to 1024", "above 1024"};
  for (std::size_t i = 0; i < byte_names.size(); ++i) {
    const double low = exchange ? token_steps[i] : byte_steps[i];
    const double high = exchange ? token_steps[i + 1] : byte_steps[i + 1];
    region(std::string{exchange ? token_names[i] : byte_names[i]},
           [&](const KernelRow& r) { return r.shape[size] >= low && r.shape[size] < high; });
  }
}

/// Errors by the first size of the shape (m, batch, tokens) and by measured time.
void add_regions(const Fitted& f, Table& table) {
  const std::vector<double>& errors = f.judged_errors();
  const auto region = [&](const std::string& name, auto&& inside) {
    std::vector<double> some;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (inside(*f.group.rows[i])) {
        some.push_back(errors[i]);
      }
    }
    if (!some.empty()) {
      const CurveErrors e = curve_errors(some);
      table.row({name, std::to_string(e.n), percent_number(e.mape), percent_number(e.median), percent_number(e.p90),
                 percent_number(e.bias)});
    }
  };
  if (is_collective(f.group.kind)) {
    add_collective_regions(f, region);
    return;
  }
  const std::string first{shape_columns(f.group.kind).front()};
  constexpr std::array<double, 5> sizes{1, 17, 129, 1025, 1e12};
  constexpr std::array<std::string_view, 4> size_names{" 1 to 16", " 17 to 128", " 129 to 1024", " above 1024"};
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    region(first + std::string{size_names[i]},
           [&](const KernelRow& r) { return r.shape[0] >= sizes[i] && r.shape[0] < sizes[i + 1]; });
  }
  constexpr std::array<double, 5> times{0, 1e-5, 1e-4, 1e-3, 1e12};
  constexpr std::array<std::string_view, 4> time_names{"below 10 us", "10 to 100 us", "0.1 to 1 ms", "above 1 ms"};
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    region(std::string{time_names[i]},
           [&](const KernelRow& r) { return r.latency.raw() >= times[i] && r.latency.raw() < times[i + 1]; });
  }
}

/// Time-weighted errors on typical products of a model: large weights, a decode batch and a prefill chunk.
std::string weighted_by_time(const Fitted& f) {
  if (f.group.kind != KernelKind::gemm) {
    return {};
  }
  const std::vector<double>& errors = f.judged_errors();
  double off = 0.0;
  double all = 0.0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const auto& [m, n, k] = std::array{f.group.rows[i]->shape[0], f.group.rows[i]->shape[1], f.group.rows[i]->shape[2]};
    if (n >= 1024.0 && k >= 1024.0 && (m == 64.0 || m == 4096.0)) {
      off += std::abs(errors[i]) * f.group.rows[i]->latency.raw();
      all += f.group.rows[i]->latency.raw();
    }
  }
  return all > 0.0 ? "  weighted by time, n and k from 1024, m 64 and 4096: " + percent_number(off / all) + " %\n" : "";
}

std::string group_name(const KernelGroup& g) {
  return std::string{kernel_kind_names[static_cast<std::size_t>(g.kind)]} + " " + g.engine + " " + g.version + " " +
         g.format + (g.kernel.empty() ? "" : " " + g.kernel) + (g.routing.empty() ? "" : " " + g.routing) +
         (g.op.empty() ? "" : ", calls of " + g.op);
}

std::string text_of(const Fitted& f) {
  const CurveErrors& e = f.judged();
  std::string text = group_name(f.group) + ": " + std::to_string(f.group.rows.size()) + " kernels" +
                     (f.probe_only ? ", fitted on the probe's shapes alone, judged on the others" : "") + "\n";
  text += (f.fit.held_out.n > 0 ? "held out" : "fitted") + std::string{": mape "} + percent_number(e.mape) +
          " %, median " + percent_number(e.median) + " %, p90 " + percent_number(e.p90) + " %, bias " +
          percent_number(e.bias) + " %; on the kernels fitted " + percent_number(f.fit.fitted.mape) + " %\n";
  if (f.outside.n > 0) {
    text += "  beyond the range fitted (head_dim above 256, a window, more than 16 query heads a KV head): " +
            std::to_string(f.outside.n) + " kernels, mape " + percent_number(f.outside.mape) + " %, median " +
            percent_number(f.outside.median) + " %, bias " + percent_number(f.outside.bias) + " %\n";
  }
  Table parameters{{"parameter", "value", "+- %", "from"}};
  add_parameters(f, parameters);
  text += "\n" + parameters.text(2) + "  most correlated: " + correlations(f) + "\n\n";
  Table regions{{"region", "n", "mape %", "median %", "p90 %", "bias %"}};
  add_regions(f, regions);
  return text + regions.text(2) + weighted_by_time(f) + "\n";
}

// ---- TOML and JSON --------------------------------------------------------------------------------------------------

Value errors_value(const CurveErrors& e) {
  return row("n"_m = e.n, "mape"_m = share(e.mape), "median_ape"_m = share(e.median), "p90_ape"_m = share(e.p90),
             "bias"_m = change(e.bias));
}

Value fitted_value(const Fitted& f) {
  Value parameters = Value::empty_list();
  for (std::size_t i = 0; i < f.problem.parameters.size(); ++i) {
    const FittedParameter& p = f.fit.result.parameters[i];
    parameters.push(row("name"_m = f.problem.parameters[i].name, "value"_m = p.value, "log_deviation"_m = p.deviation,
                        "from_prior"_m = p.from_prior));
  }
  return object("kind"_m = kernel_kind_names[static_cast<std::size_t>(f.group.kind)], "engine"_m = f.group.engine,
                "version"_m = f.group.version, "format"_m = f.group.format,
                "kernel"_m = when(!f.group.kernel.empty(), f.group.kernel),
                "routing"_m = when(!f.group.routing.empty(), f.group.routing),
                "op"_m = when(!f.group.op.empty(), f.group.op), "rows"_m = f.group.rows.size(),
                "probe_only"_m = f.probe_only, "fitted"_m = errors_value(f.fit.fitted),
                "held_out"_m = errors_value(f.fit.held_out), "outside"_m = errors_value(f.outside),
                "parameters"_m = std::move(parameters));
}

/// Errors of the fitted curve on kernels outside its range.
CurveErrors errors_outside(const ModelData& data, const Fitted& f, const Device& device) {
  const KernelGroup group = outside_of(f.group);
  if (group.rows.empty()) {
    return {};
  }
  const CurveProblem problem =
      group.op.empty() ? curve_problem(data, group, device, nullptr) : call_problem(data, group, device);
  std::vector<std::size_t> all(group.rows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<double> errors(all.size());
  problem.predict(f.fit.values(), all, errors);
  for (std::size_t i = 0; i < all.size(); ++i) {
    errors[i] = errors[i] / group.rows[i]->latency.raw() - 1.0;
  }
  return curve_errors(errors);
}

std::vector<Fitted> fit_all(const ModelData& data,
                            const Arguments& arguments,
                            const std::vector<KernelFile>& files,
                            const Device& device,
                            const Node* node,
                            Remarks& left_out) {
  const int folds = folds_of(arguments);
  std::vector<Fitted> all;
  std::set<std::string> others;
  for (KernelGroup& group : group_kernels(files)) {
    if ((arguments.has("--engine") && arguments.one("--engine") != group.engine) ||
        (arguments.has("--dtype") && arguments.one("--dtype") != group.format)) {
      others.insert(group.engine + " in " + group.format);
      continue;
    }
    const bool any = !group.op.empty() || (group.kind == KernelKind::gemm && !group.profiled);
    if (!any && group.rows.size() < fewest_kernels(group.kind)) {
      left_out.push_back(group_name(group) + ": " + std::to_string(group.rows.size()) + " kernels are too few to fit");
      continue;
    }
    const bool probe_only = arguments.has("--probe-shapes");
    if (!group.rows.empty()) {
      all.push_back({{std::move(group), {}, {}, probe_only ? 0 : folds}, {}, probe_only});
    }
  }
  for (Fitted& f : all) {
    f.problem = f.group.op.empty() ? curve_problem(data, f.group, device, node) : call_problem(data, f.group, device);
    if (f.probe_only) {
      const std::vector<std::size_t> probes = probe_kernels(f.group);
      if (probes.empty()) {
        throw ConfigError{group_name(f.group) + ": none of the kernels has a shape of the probe"};
      }
      f.fit = fit_curve(f.problem, 0, probes);
    } else {
      f.fit = fit_curve(f.problem, f.folds);
    }
    f.outside = errors_outside(data, f, device);
  }
  for (const KernelFile& file : files) {
    if (file.below_noise > 0) {
      left_out.push_back(file.path + ": " + std::to_string(file.below_noise) +
                         " passes measured as a difference that came out as zero, below its noise");
    }
  }
  for (std::string& remark : passed_over(files)) {
    left_out.push_back(std::move(remark));
  }
  if (all.empty()) {
    std::string asked;
    for (const std::string_view option : {"--engine", "--dtype"}) {
      asked += arguments.has(option) ? " " + std::string{option} + " " + quoted(arguments.one(option)) : "";
    }
    std::string rows;
    for (const std::string& other : others) {
      rows += (rows.empty() ? "; the files have " : ", ") + other;
    }
    throw ConfigError{"no kernel is left to fit" + (asked.empty() ? std::string{} : " with" + asked) + rows};
  }
  return all;
}

}  // namespace

Outcome fit_kernels(const Arguments& arguments) {
  const Catalog catalog = own_catalog();
  const Device& device = catalog.device(arguments.one("--gpu"));
  const std::vector<KernelFile> files = read_kernel_files(arguments, device.id);
  Remarks left_out;
  const std::vector<Fitted> all =
      fit_all(own_model_data(), arguments, files, device, catalog.reference_node(device), left_out);
  const std::string format = arguments.one("--format", "text");
  if (const DocumentFormat* const as_document = document_format(arguments)) {
    const Value document = object("schema"_m = "headroom.fit/1", "gpu"_m = device.id,
                                  "curves"_m = list(all, fitted_value), "left_out"_m = left_out);
    return {as_document->print(document), "", 0};
  }
  std::string text = format == "toml" ? "schema = 1\nid = \"" + device.id + "\"\n" : "";
  for (const Fitted& f : all) {
    if (format == "toml" && !f.group.op.empty()) {
      continue;  // a host's time is of no curve
    }
    text += format == "toml" ? "\n" + curve_toml(f, arguments.one("--source", "own kernels"), today()) : text_of(f);
  }
  for (const std::string& remark : left_out) {
    text += (format == "toml" ? "# left out: " : "left out: ") + remark + "\n";
  }
  return {text, "", 0};
}

}  // namespace headroom::cli
