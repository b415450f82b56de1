// SPDX-License-Identifier: Apache-2.0
// What a run of probes found, in a page: rates beside the datasheet's, the clocks they were reached at.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/calibrate/samples/manifest.hpp>
#include <headroom/cli/render/render_probe.hpp>
#include <headroom/cli/render/render_probe_kinds.hpp>
#include <headroom/cli/render/render_probe_unit.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr double tera = 1e12;
constexpr double giga = 1e9;
constexpr double micro = 1e-6;

std::string share(double rate, std::optional<double> peak) {
  return peak ? format_number(100.0 * rate / *peak) + " %" : "";
}

template <class Q>
std::string or_blank(std::optional<Q> value) {
  return value ? format(*value) : "";
}

/// Samples of one GEMM type: those of the shapes, and the sustained ones.
struct TypeSamples {
  std::vector<const Sample*> shapes, sustained;
};

FlopsPerSecond rate_of(const Sample& sample) {
  return std::get<GemmProbe>(sample.probe).flops() / sample.latency;
}

TypeSamples samples_of(const ProbeRun& run, GemmType type) {
  TypeSamples result;
  for (const Sample& sample : run.samples) {
    const auto* gemm = std::get_if<GemmProbe>(&sample.probe);
    if (gemm != nullptr && gemm->type == type) {
      (gemm->sustained > Seconds{} ? result.sustained : result.shapes).push_back(&sample);
    }
  }
  return result;
}

std::optional<double> peak_of(const Device* device, Rate rate) {
  if (device == nullptr) {
    return std::nullopt;
  }
  const std::optional<Sourced<FlopsPerSecond>>& peak = device->peak[static_cast<std::size_t>(rate)];
  return peak ? std::optional{peak->value.raw()} : std::nullopt;
}

std::string shape_of(const Sample& sample) {
  const auto& p = std::get<GemmProbe>(sample.probe);
  return std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
}

std::string gemm_table(const ProbeRun& run, const Device* device) {
  Table table{{"gemm, cuBLASLt", "shapes", "shortest us", "best TFLOP/s", "of peak", "at m x n x k"}};
  bool any = false;
  for (const GemmTypeRow& row : gemm_types) {
    const TypeSamples samples = samples_of(run, row.type);
    if (samples.shapes.empty()) {
      continue;
    }
    any = true;
    const auto& shapes = samples.shapes;
    const Sample* best = *std::max_element(shapes.begin(), shapes.end(),
                                           [](const Sample* a, const Sample* b) { return rate_of(*a) < rate_of(*b); });
    const Sample* shortest = *std::min_element(
        shapes.begin(), shapes.end(), [](const Sample* a, const Sample* b) { return a->latency < b->latency; });
    const double rate = rate_of(*best).raw();
    table.row({std::string{row.column}, std::to_string(shapes.size()), format_number(shortest->latency.raw() / micro),
               format_number(rate / tera), share(rate, peak_of(device, row.rate)), shape_of(*best)});
  }
  return any ? table.text() + "\n" : "";
}

std::string sustained_table(const ProbeRun& run, const Device* device) {
  Table table{{"gemm, sustained", "for", "first TFLOP/s", "settled TFLOP/s", "of peak", "SM clock", "power"}};
  bool any = false;
  for (const GemmTypeRow& row : gemm_types) {
    for (const Sample* sample : samples_of(run, row.type).sustained) {
      any = true;
      const double rate = rate_of(*sample).raw();
      const double first = (std::get<GemmProbe>(sample->probe).flops() / sample->first).raw();
      table.row({std::string{row.column} + " " + shape_of(*sample), format(sample->lasted), format_number(first / tera),
                 format_number(rate / tera), share(rate, peak_of(device, row.rate)), or_blank(sample->sm_clock),
                 or_blank(sample->power)});
    }
  }
  return any ? table.text() + "\n" : "";
}

std::string copy_table(const ProbeRun& run, const Device* device) {
  std::optional<double> peak;
  if (device != nullptr && device->memory.bandwidth) {
    peak = device->memory.bandwidth->value.raw();
  }
  Table table{{"memory, read + written", "sizes", "shortest us", "best GB/s", "of peak", "at"}};
  bool any = false;
  for (std::size_t op = 0; op < copy_op_names.size(); ++op) {
    std::size_t sizes = 0;
    Seconds shortest{1e300};
    double best = 0.0;
    Bytes at{};
    for (const Sample& sample : run.samples) {
      const auto* copy = std::get_if<CopyProbe>(&sample.probe);
      if (copy == nullptr || static_cast<std::size_t>(copy->op) != op) {
        continue;
      }
      ++sizes;
      shortest = std::min(shortest, sample.latency);
      if (const double rate = (copy->moved() / sample.latency).raw(); rate > best) {
        best = rate;
        at = copy->moved();
      }
    }
    if (sizes > 0) {
      any = true;
      table.row({std::string{copy_op_names[op]}, std::to_string(sizes), format_number(shortest.raw() / micro),
                 format_number(best / giga), share(best, peak), format(at)});
    }
  }
  return any ? table.text() + "\n" : "";
}

std::string launch_table(const ProbeRun& run) {
  std::vector<std::int64_t> counts;
  for (const Sample& sample : run.samples) {
    const auto* launch = std::get_if<LaunchProbe>(&sample.probe);
    if (launch != nullptr && std::find(counts.begin(), counts.end(), launch->count) == counts.end()) {
      counts.push_back(launch->count);
    }
  }
  if (counts.empty()) {
    return "";
  }
  std::vector<std::string> header{"empty kernels, us each"};
  for (const std::int64_t count : counts) {
    header.push_back("n = " + std::to_string(count));
  }
  std::vector<std::vector<std::string>> rows(launch_op_names.size(), std::vector<std::string>(header.size()));
  for (const Sample& sample : run.samples) {
    if (const auto* launch = std::get_if<LaunchProbe>(&sample.probe)) {
      const auto column = 1 + (std::find(counts.begin(), counts.end(), launch->count) - counts.begin());
      rows[static_cast<std::size_t>(launch->op)][static_cast<std::size_t>(column)] =
          format_number(sample.latency.raw() / micro);
    }
  }
  Table table{header};
  for (std::size_t op = 0; op < rows.size(); ++op) {
    rows[op].front() = launch_op_names[op];
    table.row(std::move(rows[op]));
  }
  return table.text() + "\n";
}

std::string conditions(const Manifest& manifest, const ProbeRun& run) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (run.before.sm_clock && run.after.sm_clock) {
    add("SM clock " + format(*run.before.sm_clock) + " before, " + format(*run.after.sm_clock) + " after" +
        (manifest.settings.sm_clock_max ? ", " + format(*manifest.settings.sm_clock_max) + " at most" : ""));
  }
  if (manifest.settings.power_limit) {
    add("power limit " + format(*manifest.settings.power_limit));
  }
  if (run.before.temperature_celsius && run.after.temperature_celsius) {
    add(std::to_string(*run.before.temperature_celsius) + " to " + std::to_string(*run.after.temperature_celsius) +
        " C");
  }
  if (run.sustained_throttle != 0) {
    std::string reasons;
    for (const std::string& name : throttle_names(run.sustained_throttle)) {
      reasons += " " + name;
    }
    add("throttled while sustained:" + reasons);
  }
  return text.empty() ? "" : text + "\n";
}

/// Each reason once, with how many probes it kept away.
std::string skipped_lines(const ProbeRun& run) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const Skipped& skipped : run.skipped) {
    const auto found =
        std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.first == skipped.why; });
    auto& probes = found == reasons.end() ? reasons.emplace_back(skipped.why, std::vector<std::string>{}) : *found;
    probes.second.push_back(skipped.probe);
  }
  std::string text;
  for (const auto& [why, probes] : reasons) {
    text += "skipped " + probes.front() +
            (probes.size() > 1 ? " and " + std::to_string(probes.size() - 1) + " more" : "") + ": " + why + "\n";
  }
  return text;
}

}  // namespace

std::string probe_text(const Manifest& manifest, const ProbeRun& run, const Device* device) {
  const ProbeDevice& d = manifest.device;
  std::string text = d.name + (device != nullptr ? " (" + device->id + ")" : "") + ", " + std::to_string(d.sms) +
                     " SMs, L2 " + format(d.l2) + ", " + format(d.memory);
  text += manifest.settings.driver.empty() ? "" : ", driver " + manifest.settings.driver;
  text += ", CUDA " + d.cuda_runtime + ", cuBLASLt " + d.cublaslt + "\n" + conditions(manifest, run);
  text += std::to_string(run.samples.size()) + " samples, " + std::to_string(run.skipped.size()) + " skipped, in " +
          format(run.lasted) + "; each is the median of " + std::to_string(manifest.effort.repeats) + " spans\n\n";
  text += gemm_table(run, device) + sustained_table(run, device) + copy_table(run, device) + launch_table(run) +
          kinds_table(run) + unit_table(run) + collective_samples_text(run);
  if (device == nullptr) {
    text += "the catalog does not know " + quoted(d.name) + ": no shares of a datasheet peak\n";
  }
  return text + skipped_lines(run);
}

}  // namespace headroom::cli
