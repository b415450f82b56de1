// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/drawing.hpp>
#include <headroom/answers/markup/html.hpp>
#include <headroom/answers/post_training/phase_timeline.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/post_training/step_phases.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace headroom {
namespace {

using report::Frame;
using report::Place;

constexpr std::array<std::string_view, phase_count> phase_colours{"#1f77b4", "#bcbd22", "#17becf", "#9467bd", "#e377c2",
                                                                  "#ff7f0e", "#2ca02c", "#8c564b", "#7f7f7f"};

std::string_view colour_of_phase(const std::string& phase) {
  const auto* const at = std::find(phase_names.begin(), phase_names.end(), phase);
  return phase_colours[at == phase_names.end() ? phase_count - 1 : static_cast<std::size_t>(at - phase_names.begin())];
}

}  // namespace

std::string phase_timeline(const Place& answer) {
  const std::vector<Place> events = answer["timeline"].items();
  double end = 0.0;
  bool two_pools = false;
  for (const Place& event : events) {
    end = std::max(end, event["to_s"].number());
    two_pools = two_pools || event["pool"].text() == "train";
  }
  if (end <= 0.0) {
    return {};
  }
  constexpr double gap = 20.0;
  const double height = two_pools ? 0.5 * (Frame::inner_height - gap) : Frame::inner_height;
  const double scale = Frame::inner_width / end;
  std::string svg;
  std::vector<report::LegendEntry> entries;
  for (const Place& event : events) {
    const std::string phase = event["phase"].text();
    const double from = event["from_s"].number(), time = event["to_s"].number() - from;
    const double top = Frame::top + (event["pool"].text() == "train" ? height + gap : 0.0);
    svg +=
        "<rect x=\"" + report::coordinate(Frame::left + from * scale) + "\" y=\"" + report::coordinate(top) +
        "\" width=\"" + report::coordinate(std::max(0.5, time * scale)) + "\" height=\"" + report::coordinate(height) +
        "\" fill=\"" + std::string{colour_of_phase(phase)} + "\" class=\"phase\"><title>" +
        report::escaped(phase + ": " + format(Seconds{time}) + " from " + format(Seconds{from})) + "</title></rect>\n";
    const auto* const name = std::find(phase_names.begin(), phase_names.end(), phase);
    const bool fresh =
        std::none_of(entries.begin(), entries.end(), [&](const auto& each) { return each.name == phase; });
    if (fresh && name != phase_names.end()) {
      entries.push_back({colour_of_phase(phase), *name});
    }
  }
  svg +=
      report::label(Frame::left - 6.0, Frame::top + 0.5 * height, two_pools ? "rollout" : "all", "text-anchor=\"end\"");
  if (two_pools) {
    svg += report::label(Frame::left - 6.0, Frame::top + 1.5 * height + gap, "train", "text-anchor=\"end\"");
  }
  for (int step = 0; step <= 3; ++step) {
    const double x = Frame::left + Frame::inner_width * step / 3.0;
    svg += report::line(x, Frame::top, x, Frame::top + Frame::inner_height, "class=\"grid\"") +
           report::label(x, Frame::top + Frame::inner_height + 16.0, step > 0 ? format(Seconds{end * step / 3.0}) : "0",
                         "text-anchor=\"middle\" font-size=\"10\"");
  }
  const report::Legend legend = report::legend(entries);
  return report::drawing("Phases of three steps", ".phase{stroke:#fff;stroke-width:.5}", svg + legend.svg,
                         legend.below);
}

}  // namespace headroom
