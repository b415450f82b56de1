// SPDX-License-Identifier: Apache-2.0
// `headroom kernel roof`: which roof stands above a kernel, how far it is, and what each cure would bring.
#include <headroom/cli/laboratory/bench_limits.hpp>
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/laboratory/roof_cures.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

namespace headroom::cli {
namespace {

struct RoofAsked {
  Flops work{1e12};  ///< where an intensity was given, of as many FLOP as one pleases
  Bytes moved{1.0};
  std::optional<FlopsPerSecond> rate;
  std::optional<BytesPerSecond> bandwidth;
  std::optional<Seconds> time;
  bool by_intensity = false;
  GemmFormat format;
};

RoofAsked read_numbers(FormReader& in) {
  RoofAsked q;
  constexpr double most = 1e30;
  q.by_intensity = in.given("--intensity");
  if (q.by_intensity) {
    q.moved = q.work / FlopsPerByte{in.number("--intensity", 1e-9, 1e9)};
    if (in.given("--bytes")) {
      in.problem("--bytes has no part beside --intensity; leave one out, or give --flop with --bytes");
    }
  } else {
    // "2 TFLOP" and 2e12 alike.
    q.work = in.text("--flop").find("FLOP") != std::string::npos ? in.quantity<Flops>("--flop")
                                                                 : Flops{in.number("--flop", 1e-9, most)};
    q.moved = in.quantity<Bytes>("--bytes");
  }
  if (in.given("--achieved")) {
    // A rate in FLOP/s or, as profilers tell it of passes over memory, in bytes/s.
    if (in.text("--achieved").find("FLOP") != std::string::npos) {
      q.rate = in.quantity<FlopsPerSecond>("--achieved");
    } else if (in.text("--achieved").find("/s") == std::string::npos ||
               in.text("--achieved").find("flop") != std::string::npos) {
      in.problem("--achieved " + quoted(in.text("--achieved")) +
                 " needs a rate of FLOP or bytes with its unit, such as \"156 TFLOP/s\" or \"1 TB/s\"");
    } else {
      q.bandwidth = in.quantity<BytesPerSecond>("--achieved");
    }
  }
  q.time = in.quantity_if<Seconds>("--time");
  if (q.time && q.by_intensity) {
    in.problem("--time goes with --flop and --bytes; with --intensity say the rate, --achieved");
  }
  q.format = in.format();
  return q;
}

std::optional<Seconds> time_of(const RoofAsked& q) {
  return q.time        ? q.time
         : q.rate      ? std::optional{q.work / *q.rate}
         : q.bandwidth ? std::optional{q.moved / *q.bandwidth}
                       : std::nullopt;
}

constexpr std::array<std::string_view, 5> cure_changes{
    "as near to its roof as measured kernels come", "products on the tensor path",
    "one pass fewer: fused with its neighbour, half the bytes", "operands of half the bits",
    "operands found in L2 instead of memory"};

/// The same beside a point of the drawing.
constexpr std::array<std::string_view, 5> cure_points{"as measured kernels", "tensor path", "fused", "half the bits",
                                                      "from L2"};

std::string because(RoofCure cure, bool memory_bound, const RoofChances& chances) {
  switch (cure) {
    case RoofCure::best_measured:
      return (memory_bound ? "coalesced and vectorised access, enough bytes in flight: measured passes reach "
                           : "tensor path, aligned shapes, larger tiles, full waves: measured products reach ") +
             percent(chances.reachable) + " of the roof";
    case RoofCure::faster_units: return "its format multiplies at " + format(chances.tensor_peak) + " there";
    case RoofCure::half_the_bytes: return "the slope ends at twice the intensity";
    case RoofCure::narrower:
      return chances.narrower_peak > FlopsPerSecond{}
                 ? "half the bytes, and a peak of " + format(chances.narrower_peak) + "; the numbers must allow it"
                 : "half the bytes; the numbers must allow it";
    case RoofCure::cached:
      return "tiles that fit there, read again before they leave; L2 carries " + format(chances.l2);
  }
  return {};
}

/// The format of half the bits that the SKU multiplies in; nullopt: it has none.
struct NarrowerFormat {
  std::string_view name;
  FlopsPerSecond peak{};
};
std::optional<NarrowerFormat> narrower_format(const Device& device, Rate rate) {
  const auto first_of = [&](std::initializer_list<Rate> rates) -> std::optional<NarrowerFormat> {
    for (const Rate one : rates) {
      if (const auto& peak = device.peak[static_cast<std::size_t>(one)]) {
        return NarrowerFormat{name_of(one), peak->value};
      }
    }
    return std::nullopt;
  };
  switch (rate) {
    case Rate::fp64:
    case Rate::fp64_vector: return first_of({Rate::fp32_vector});
    case Rate::fp32_vector:
    case Rate::tf32: return first_of({Rate::bf16, Rate::fp16});
    case Rate::bf16:
    case Rate::fp16: return first_of({Rate::fp8, Rate::int8});
    default: return first_of({Rate::fp4});
  }
}

LabChart drawing_of(const RoofKernel& kernel, const std::vector<CuredKernel>& cures, BytesPerSecond l2) {
  const double ridge = (kernel.limits.peak / kernel.limits.bandwidth).raw();
  const double intensity = (kernel.work / kernel.moved).raw();
  const double low = 0.1 * std::min(intensity, ridge);
  const double high = 10.0 * std::max(intensity, ridge);
  const double peak = kernel.limits.peak.raw();
  LabChart chart{"The kernel under its roofs",
                 {"FLOP per byte of memory traffic", Hint::number, true},
                 {"FLOP/s", Hint::flop_per_second, true}};
  const auto slope = [&](std::string name, BytesPerSecond bandwidth, LineStyle style) {
    const double turn = peak / bandwidth.raw();
    chart.lines.push_back({std::move(name),
                           style,
                           {{low, std::min(peak, low * bandwidth.raw()), {}}, {turn, peak, {}}, {high, peak, {}}}});
  };
  slope("memory " + format(kernel.limits.bandwidth), kernel.limits.bandwidth, LineStyle::solid);
  slope("L2 " + format(l2), l2, LineStyle::dashed);
  LabLine points{"the kernel", LineStyle::points, {{intensity, (kernel.work / kernel.time).raw(), "now"}}};
  LabLine after{"after a cure", LineStyle::points, {}};
  for (const CuredKernel& cure : cures) {
    after.points.push_back({(cure.work / cure.moved).raw(), (cure.work / cure.time).raw(),
                            std::string{cure_points[static_cast<std::size_t>(cure.cure)]}});
  }
  chart.lines.push_back(std::move(points));
  chart.lines.push_back(std::move(after));
  chart.marks = {{ridge, "ridge"}};
  return chart;
}

LabAnswer answer(const RoofAsked& q, const LabBench& bench) {
  const Device& device = *bench.device;
  RoofKernel kernel{q.work, q.moved, {}, limits_of(device, q.format)};
  const Roofline roofs = roofline(q.work, q.moved, kernel.limits.peak, kernel.limits.bandwidth);
  const std::optional<Seconds> time = time_of(q);
  kernel.time = time.value_or(roofs.time);
  if (kernel.time < 0.999 * roofs.time) {
    throw ConfigError{"the kernel is told to reach " + format(q.work / kernel.time) + ", above its roof of " +
                      format(roofs.attainable) + " at " + format_number(roofs.intensity.raw()) + " FLOP/B on " +
                      device.id +
                      ": bytes that caches serve do not count as traffic with memory, nor do FLOP that a library "
                      "skips; give what a profiler counts at the memory (dram bytes), or the format that it computes "
                      "in with --dtype"};
  }
  const L2Rate l2 = l2_rate(bench, q.format);
  RoofChances chances;
  const std::optional<Sustained> best =
      roofs.memory_bound ? sustained_bandwidth(bench) : sustained_peak(bench, q.format);
  chances.reachable = best ? std::min(best->share, 1.0) : 1.0;
  chances.l2 = l2.rate;
  const std::optional<NarrowerFormat> narrower = narrower_format(device, q.format.rate);
  chances.narrower_peak = narrower ? narrower->peak : FlopsPerSecond{};
  if (q.format.rate == Rate::fp32_vector) {
    const auto& tensor = device.peak[static_cast<std::size_t>(Rate::tf32)];
    chances.tensor_peak = tensor ? tensor->value : FlopsPerSecond{};
  }
  const double share = share_of_roof(kernel);
  const std::string which = roofs.memory_bound ? "the slope of the memory" : "the flat roof of the peak";
  LabAnswer a;
  a.title =
      (q.by_intensity ? format_number(roofs.intensity.raw()) + " FLOP/B" : format(q.work) + ", " + format(q.moved)) +
      ", " + std::string{q.format.name} + ", on " + device.id;
  a.question = {{"dtype", std::string{q.format.name}}};
  if (!q.by_intensity) {
    a.question.push_back({"flop", q.work});
    a.question.push_back({"moved_bytes", q.moved});
  }
  a.verdict = time ? "It stands under " + which + " with " + format_number(1.0 / share) +
                         "x of headroom: " + format(q.work / kernel.time) + " of " + format(roofs.attainable) + "."
                   : "At best it reaches " + format(roofs.attainable) + ", under " + which + ".";
  a.figures = {{"intensity", "intensity_flop_per_byte", roofs.intensity},
               {"ridge", "ridge_flop_per_byte", roofs.ridge},
               {"bound by", "bound", std::string{roofs.memory_bound ? "memory" : "compute"}},
               {"roof", "roof_flop_per_s", roofs.attainable},
               {"peak", "peak_flop_per_s", kernel.limits.peak},
               {"memory", "bandwidth_bytes_per_s", kernel.limits.bandwidth}};
  if (!q.by_intensity) {
    a.figures.push_back({"least time", "roofline_s", roofs.time});
  }
  if (time) {
    a.figures.push_back({"achieved", "achieved_flop_per_s", q.work / kernel.time});
    a.figures.push_back({"of its roof", "of_roof", headroom::share(share)});
    a.figures.push_back({"headroom", "headroom_ratio", 1.0 / share, format_number(1.0 / share) + "x"});
    if (!q.by_intensity) {
      a.figures.push_back({"time", "time_s", kernel.time});
    }
  }
  const std::vector<CuredKernel> cures = roof_cures(kernel, chances);
  for (const CuredKernel& cure : cures) {
    const bool named = cure.cure == RoofCure::narrower && narrower;
    a.cures.push_back({std::string{cure_changes[static_cast<std::size_t>(cure.cure)]} +
                           (named ? ", such as " + std::string{narrower->name} : ""),
                       cure.ratio, because(cure.cure, roofs.memory_bound, chances)});
  }
  if (!time) {
    a.notes.emplace_back(
        "No rate was given; cures are priced for a kernel that touches its roof. --achieved says what "
        "it reaches.");
  }
  a.notes.emplace_back("Each cure is priced alone; a raised roof is reached by the share that the kernel reaches now.");
  a.notes.push_back(best ? "How near measured kernels come: " + best->why + "."
                         : "No measured curve serves this SKU and format: the roof itself is taken for reachable.");
  a.sources = {
      "Williams, Waterman and Patterson 2009 (roofline); peak and bandwidth of the catalog, 'headroom catalog "
      "show " +
          device.id + "'",
      "L2: " + l2.why};
  a.chart = drawing_of(kernel, cures, l2.rate);
  return a;
}

LabQuestion read_roof(FormReader& in) {
  return [q = read_numbers(in)](const LabBench& bench) { return answer(q, bench); };
}

}  // namespace

const KernelForm roof_form{"roof", "FLOP and bytes of the kernel, or --intensity", GpuUse::needed, read_roof};

}  // namespace headroom::cli
