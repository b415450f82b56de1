// SPDX-License-Identifier: Apache-2.0
// The documents of a fleet and of a simulation.
#include <headroom/answers/evidence/evidence.hpp>
#include <headroom/answers/views/render_fleet.hpp>
#include <headroom/answers/views/render_simulation.hpp>
#include <headroom/core/json_writer.hpp>
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

std::string load_json(const FleetOption& option, const std::vector<Point>& points) {
  const double saturation = option.sized->saturation.raw();
  JsonWriter json;
  json.begin_object();
  json.member("schema", "headroom.load/1");
  json.member("asked_req_per_s", option.question().traffic->rate().raw());
  json.member("knee_req_per_s", option.sized->knee.raw());
  json.member("saturation_req_per_s", saturation);
  json.key("points");
  json.begin_array();
  for (const Point& p : points) {
    const RequestMetrics& all = p.metrics.all;
    json.compact_next();
    json.begin_object();
    json.member("rate_req_per_s", p.rate);
    json.member("load_share", p.rate / saturation);
    json.member("asked", p.asked);
    json.member("ttft_p50_s", all.ttft.p50.raw());
    json.member("ttft_p95_s", all.ttft.p95.raw());
    json.member("tpot_p50_s", all.tpot.p50.raw());
    json.member("tpot_p95_s", all.tpot.p95.raw());
    json.member("good_share", all.good_share);
    json.member("busy_share", p.metrics.pool.busy);
    json.member("kv_mean_share", p.metrics.pool.kv_mean);
    json.member("batch_mean", p.metrics.pool.batch_mean);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

std::string simulated_load(const FleetOption& option, unsigned threads) {
  const Cell cell = cell_of(option);
  const double asked = option.question().traffic->rate().raw();
  std::vector<Point> points = points_of(asked, option.sized->saturation.raw());
  on_threads(thread_count(threads), points.size(), [&](std::size_t i) {
    points[i].metrics =
        simulate_fleet(cell.question, *option.served, cell.replicas, cell.prefill_replicas, points[i].rate / asked);
  });
  return load_json(option, points);
}

}  // namespace

Documents fleet_documents(const FleetPlan& plan, unsigned threads) {
  Documents documents;
  documents.all.push_back(document_of("fleet", fleet_json(plan)));
  if (!plan.options.empty() && plan.options.front().sized && plan.options.front().sized->saturation.raw() > 0.0) {
    try {
      documents.all.push_back(document_of("load", simulated_load(plan.options.front(), threads)));
    } catch (const ConfigError& error) {
      documents.left_out.push_back(std::string{"other rates: "} + error.what());
    }
  }
  return documents;
}

Documents simulation_documents(const Scenario& scenario, const ServingSimulation& simulation) {
  Documents documents;
  documents.all.push_back(document_of("simulation", simulation_json(scenario, simulation)));
  return documents;
}

}  // namespace headroom::report
