// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/cluster/timeline.hpp>
#include <headroom/answers/markup/drawing.hpp>
#include <headroom/answers/markup/html.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

namespace headroom {
namespace {

using report::Frame;
using report::Place;

constexpr std::size_t most_boxes = 4'000;
constexpr double between_pools = 14.0;
constexpr std::array<std::string_view, 8> tenant_colours{"#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd",
                                                         "#8c564b", "#e377c2", "#17becf", "#bcbd22"};

/// Where a pool's GPUs stand, and how tall one is.
struct Band {
  double top = 0.0, gpu = 0.0, gpus = 0.0, per_node = 1.0;
};

struct Box {
  std::string pool, tenant, job;
  double node = 0.0, first = 0.0, gpus = 0.0, from = 0.0, to = 0.0;
  [[nodiscard]] double area() const noexcept { return gpus * (to - from); }
};

std::vector<Box> boxes_of(const Place& cluster) {
  std::vector<Box> boxes;
  for (const Place& hold : cluster["holds"].items()) {
    boxes.push_back({hold["pool"].text(), hold["tenant"].text(), hold["job"].text(), hold["node"].number(),
                     hold["first_gpu"].number(), hold["gpus"].number(), hold["from_s"].number(),
                     hold["to_s"].number()});
  }
  if (boxes.size() > most_boxes) {
    std::stable_sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.area() > b.area(); });
    boxes.resize(most_boxes);
  }
  return boxes;
}

/// Every pool takes a share of the height by its GPUs, and none less than can be seen.
std::map<std::string, Band> bands_of(const Place& cluster) {
  constexpr double least = 24.0;
  const std::vector<Place> pools = cluster["pools"].items();
  double gpus = 0.0;
  for (const Place& pool : pools) {
    gpus += pool["gpus"].number();
  }
  const auto count = static_cast<double>(pools.size());
  const double free = std::max(0.0, Frame::inner_height - between_pools * (count - 1.0) - least * count);
  std::map<std::string, Band> bands;
  double top = Frame::top;
  for (const Place& pool : pools) {
    Band band;
    band.gpus = pool["gpus"].number();
    band.per_node = pool["gpus_per_node"].number();
    const double height = least + free * band.gpus / gpus;
    band.top = top;
    band.gpu = height / band.gpus;
    top += height + between_pools;
    bands.emplace(pool["name"].text(), band);
  }
  return bands;
}

/// A round step that parts a stretch of time into some six.
double step_of(double seconds) {
  constexpr std::array<double, 22> steps{1,     2,     5,      10,     15,      30,     60,    120,
                                         300,   600,   900,    1800,   3600,    7200,   10800, 21600,
                                         43200, 86400, 172800, 604800, 1209600, 2419200};
  constexpr double wanted = 7.0;
  const auto* const found =
      std::find_if(steps.begin(), steps.end(), [&](double step) { return seconds / step <= wanted; });
  return found == steps.end() ? std::ceil(seconds / wanted / steps.back()) * steps.back() : *found;
}

std::string gpus_text(double gpus) {
  return format_count(gpus) + (gpus == 1.0 ? " GPU" : " GPUs");
}

std::string rectangle(const Box& box, const Band& band, double scale, std::string_view colour) {
  const double x = Frame::left + box.from * scale;
  const double y = band.top + (box.node * band.per_node + box.first) * band.gpu;
  const double width = std::max(0.5, (box.to - box.from) * scale);
  const double height = std::max(0.3, box.gpus * band.gpu);
  const std::string words = box.job + " (" + box.tenant + "): " + gpus_text(box.gpus) + " of " + box.pool + " from " +
                            format(Seconds{box.from}) + " to " + format(Seconds{box.to});
  std::string svg = "<rect x=\"" + report::coordinate(x) + "\" y=\"" + report::coordinate(y) + "\" width=\"" +
                    report::coordinate(width) + "\" height=\"" + report::coordinate(height) + "\" fill=\"" +
                    std::string{colour} + "\" class=\"hold\"><title>" + report::escaped(words) + "</title></rect>\n";
  constexpr double letter = 5.5, line = 11.0;
  if (width > letter * static_cast<double>(box.job.size()) + 4.0 && height > line) {
    svg += report::label(x + 2.0, y + 0.5 * height + 4.0, box.job, "font-size=\"10\" class=\"name\"");
  }
  return svg;
}

}  // namespace

std::string cluster_timeline(const Place& cluster) {
  const std::vector<Box> boxes = boxes_of(cluster);
  double end = 0.0;
  for (const Box& box : boxes) {
    end = std::max(end, box.to);
  }
  if (boxes.empty() || end <= 0.0) {
    return {};
  }
  const std::map<std::string, Band> bands = bands_of(cluster);
  const double scale = Frame::inner_width / end;
  std::string svg;
  const double bottom = Frame::top + Frame::inner_height;
  const double step = step_of(end);
  for (double at = 0.0; at <= end * (1.0 + 1e-9); at += step) {
    const double x = Frame::left + at * scale;
    svg += report::line(x, Frame::top, x, bottom, "class=\"grid\"") +
           report::label(x, bottom + 16.0, at > 0.0 ? format(Seconds{at}) : "0",
                         "text-anchor=\"middle\" font-size=\"10\"");
  }
  for (const auto& [name, band] : bands) {
    svg += "<rect x=\"" + report::coordinate(Frame::left) + "\" y=\"" + report::coordinate(band.top) + "\" width=\"" +
           report::coordinate(Frame::inner_width) + "\" height=\"" + report::coordinate(band.gpu * band.gpus) +
           "\" class=\"pool\"/>\n" +
           report::label(Frame::left - 6.0, band.top + 0.5 * band.gpu * band.gpus, name, "text-anchor=\"end\"") +
           report::label(Frame::left - 6.0, band.top + 0.5 * band.gpu * band.gpus + 13.0, gpus_text(band.gpus),
                         "text-anchor=\"end\" font-size=\"10\"");
  }
  std::vector<std::string> tenants;
  for (const Place& tenant : cluster["tenants"].items()) {
    tenants.push_back(tenant["name"].text());
  }
  const auto colour_of = [&](const std::string& tenant) {
    const auto at = static_cast<std::size_t>(std::find(tenants.begin(), tenants.end(), tenant) - tenants.begin());
    return tenant_colours[at % tenant_colours.size()];
  };
  for (const Box& box : boxes) {
    svg += rectangle(box, bands.at(box.pool), scale, colour_of(box.tenant));
  }
  std::vector<report::LegendEntry> entries;
  for (const std::string& tenant : tenants) {
    entries.push_back({colour_of(tenant), tenant});
  }
  const report::Legend legend = report::legend(entries);
  return report::drawing("GPUs of each pool over time",
                         ".hold{stroke:#fff;stroke-width:.3}.pool{fill:none;stroke:#888}.name{fill:#fff}",
                         svg + legend.svg, legend.below);
}

}  // namespace headroom
