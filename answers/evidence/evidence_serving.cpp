// SPDX-License-Identifier: Apache-2.0
// A fleet at other rates.
#include <headroom/answers/evidence/evidence.hpp>
#include <headroom/core/on_threads.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace headroom::report {
namespace {

/// Of the saturation; close to it times rise steeply.
constexpr std::array shares{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0};

/// What is simulated of an option: the fleet, or one of the equal cells that the answer is of.
struct Cell {
  ServeScenario question;
  std::int64_t replicas = 1, prefill_replicas = 0;
};

Cell cell_of(const FleetOption& option) {
  Cell cell{option.question(), option.sized->replicas / option.cells, option.sized->prefill_replicas / option.cells};
  FleetQuestion fleet = *cell.question.fleet;
  if (fleet.prefill) {
    fleet.prefill->replicas = cell.prefill_replicas;
  }
  cell.question.fleet = std::make_shared<const FleetQuestion>(fleet);
  cell.question.traffic = std::make_shared<const ServingTraffic>(cell.question.traffic->part(1.0 / real(option.cells)));
  return cell;
}

struct Point {
  double rate = 0.0;  ///< requests/s of the whole fleet
  bool asked = false;
  ServingMetrics metrics;
};

/// The asked rate among them where the fleet is not slower.
std::vector<Point> points_of(double asked, double saturation) {
  std::vector<Point> points;
  for (const double share : shares) {
    points.push_back({share * saturation, false, {}});
  }
  if (asked <= saturation) {
    points.push_back({asked, true, {}});
  }
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.rate < b.rate; });
  return points;
}

Value load_document(const FleetOption& option, const std::vector<Point>& points) {
  const double saturation = option.sized->saturation.raw();
  return object("schema"_m = "headroom.load/1", "asked_requests_per_s"_m = option.question().traffic->rate(),
                "knee_requests_per_s"_m = option.sized->knee, "saturation_requests_per_s"_m = per_second(saturation),
                "points"_m = list(points, [&](const Point& p) {
                  const RequestMetrics& all = p.metrics.all;
                  return row("rate_requests_per_s"_m = per_second(p.rate), "load_share"_m = share(p.rate / saturation),
                             "asked"_m = p.asked, "ttft_p50_s"_m = all.ttft.p50, "ttft_p95_s"_m = all.ttft.p95,
                             "tpot_p50_s"_m = all.tpot.p50, "tpot_p95_s"_m = all.tpot.p95,
                             "good_share"_m = share(all.good_share), "busy_share"_m = share(p.metrics.pool.busy),
                             "kv_mean_share"_m = share(p.metrics.pool.kv_mean),
                             "batch_mean"_m = p.metrics.pool.batch_mean);
                }));
}

Value simulated_load(const FleetOption& option, unsigned threads) {
  const Cell cell = cell_of(option);
  const double asked = option.question().traffic->rate().raw();
  std::vector<Point> points = points_of(asked, option.sized->saturation.raw());
  on_threads(thread_count(threads), points.size(), [&](std::size_t i) {
    points[i].metrics =
        simulate_fleet(cell.question, *option.served, cell.replicas, cell.prefill_replicas, points[i].rate / asked);
  });
  return load_document(option, points);
}

}  // namespace

void add_evidence(Documents& documents, const FleetPlan& plan, unsigned threads) {
  if (plan.options.empty() || !plan.options.front().sized || plan.options.front().sized->saturation.raw() <= 0.0) {
    return;
  }
  try {
    documents.all.push_back({"load", simulated_load(plan.options.front(), threads)});
  } catch (const ConfigError& error) {
    documents.left_out.push_back(std::string{"other rates: "} + error.what());
  }
}

}  // namespace headroom::report
