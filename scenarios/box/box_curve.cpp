// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/on_threads.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/estimate/spread.hpp>
#include <headroom/scenarios/box/box_curve.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

/// What became of one combination of the axes.
struct Tried {
  std::shared_ptr<const Scenario> scenario;
  std::vector<BoxPoint> points;
  std::string why;       ///< there are none
  bool stopped = false;  ///< before its last load
  std::optional<ConfigError> wrong;
};

Interval<double> scaled(const Interval<double>& interval, double factor) noexcept {
  return {factor * interval.low, factor * interval.mid, factor * interval.high};
}

/// Of the least sure of the promises.
double chance_of(const MeanPromises& promised, const BoxPoint& p) noexcept {
  double least = 1.0;
  const auto hold = [&](const std::optional<Seconds>& limit, const Interval<Seconds>& time) {
    least = limit ? std::min(least, chance_of_at_most(time, *limit)) : least;
  };
  hold(promised.ttft, p.ttft);
  hold(promised.tpot, p.tpot);
  hold(promised.e2e, p.e2e);
  return least;
}

BoxPoint point_of(const Plan& plan, const ServePlan& answer, const MeanPromises& promised) {
  const auto& s = std::get<ServeScenario>(plan.scenario.question);
  BoxPoint p;
  p.device = s.device.id;
  p.layout = s.work.layout;
  p.gpus = s.work.gpus;
  p.replicas = answer.estimate.replicas;
  p.in_flight = s.work.concurrency;
  p.running = answer.running.mid;
  p.tokens_per_s = answer.output_tokens_per_s;
  p.tokens_per_s_per_gpu = scaled(answer.output_tokens_per_s, 1.0 / real(s.work.gpus));
  p.requests_per_s = answer.requests_per_s;
  p.ttft = answer.ttft;
  p.tpot = answer.tpot;
  // A lone token has no gap behind it: its user waits for the first.
  const Interval<Seconds>& gap = p.tpot.mid > Seconds{} ? p.tpot : p.ttft;
  p.tokens_per_s_per_user = {1.0 / gap.high.raw(), 1.0 / gap.mid.raw(), 1.0 / gap.low.raw()};
  // Both ends of both: a slow engine is slow in prompts and in decodes.
  const double gaps = real(s.work.osl - 1);
  p.e2e = {p.ttft.low + gaps * p.tpot.low, p.ttft.mid + gaps * p.tpot.mid, p.ttft.high + gaps * p.tpot.high};
  p.per_million_output_tokens = answer.cost_per_million_output_tokens.mid;
  p.chance = chance_of(promised, p);
  p.keeps = p.chance >= s.confidence;
  return p;
}

/// Loads of a combination: one where the question states it.
std::uint64_t loads_of(const BoxQuestion& q) noexcept {
  return std::max<std::uint64_t>(1, q.loads.size());
}

/// Whether a curve is to end, and how far it is.
class Course {
 public:
  explicit Course(const BoxOptions& options) : options_{options} {}

  /// False: the load is left out, because the curve is stopped and some load has times.
  [[nodiscard]] bool goes_on() const { return options_.stop == nullptr || !options_.stop->load() || !timed_.load(); }
  void count(std::uint64_t loads, bool timed) {
    if (timed) {
      timed_.store(true);
    }
    if (options_.progress != nullptr) {
      options_.progress->priced += loads;
    }
  }

 private:
  const BoxOptions& options_;
  std::atomic<bool> timed_{false};
};

/// One combination at every load.
Tried tried(const BoxQuestion& q, const Changes& axes, Course& course) {
  Tried out;
  const std::uint64_t loads = loads_of(q);
  for (std::size_t i = 0; i < loads; ++i) {
    if (!course.goes_on()) {
      out.stopped = true;
      out.why = out.points.empty() ? "not looked at before the curve was stopped" : "";
      return out;
    }
    Changes changes = axes;
    if (!q.loads.empty()) {
      changes.push_back(q.loads[i]);
    }
    try {
      Plan plan = price_plan(changed(q.base, changes));
      const auto& answer = std::get<ServePlan>(plan.answer);
      out.scenario = out.scenario ? out.scenario : std::make_shared<const Scenario>(plan.scenario);
      if (!answer.times) {
        out.why = !answer.problems.empty() ? answer.problems.front().text
                  : plan.feasible()        ? answer.untimed
                                           : answer.verdict;
        course.count(loads - i, false);
        return out;
      }
      BoxPoint point = point_of(plan, answer, q.promised);
      point.changes = std::move(changes);
      out.points.push_back(std::move(point));
      course.count(1, true);
    } catch (const ConfigError& error) {
      out.why = error.diagnostics().empty() ? std::string{error.what()} : error.diagnostics().front().message;
      out.wrong = error;
      course.count(loads - i, false);
      return out;
    }
  }
  return out;
}

/// Marks the points that no other has more of both rates than, and lists them from the most tokens/s per user on.
std::vector<std::size_t> find_front(std::vector<BoxPoint>& points) {
  std::vector<std::size_t> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double of_a = points[a].tokens_per_s_per_user.mid;
    const double of_b = points[b].tokens_per_s_per_user.mid;
    return of_a != of_b ? of_a > of_b : points[a].tokens_per_s_per_gpu.mid > points[b].tokens_per_s_per_gpu.mid;
  });
  std::vector<std::size_t> front;
  double most = 0.0;
  for (const std::size_t i : order) {
    if (points[i].tokens_per_s_per_gpu.mid > most) {
      most = points[i].tokens_per_s_per_gpu.mid;
      points[i].front = true;
      front.push_back(i);
    }
  }
  return front;
}

/// Of those that keep the promises with a probability the most requests/s, of equals the fewest in flight.
std::optional<std::size_t> most_requests(const std::vector<BoxPoint>& points, double probability) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const BoxPoint& p = points[i];
    if (p.chance < probability) {
      continue;
    }
    const auto better = [&](const BoxPoint& than) {
      return p.requests_per_s.mid != than.requests_per_s.mid ? p.requests_per_s.mid > than.requests_per_s.mid
                                                             : p.in_flight < than.in_flight;
    };
    if (!best || better(points[*best])) {
      best = i;
    }
  }
  return best;
}

/// Of points none of which keeps the promises the likeliest to, of equals the one that takes the least times its
/// limits.
std::optional<std::size_t> nearest_of(const std::vector<BoxPoint>& points, const MeanPromises& promised) {
  const auto over = [&](const BoxPoint& p) {
    double most = 0.0;
    const auto take = [&](const std::optional<Seconds>& limit, const Interval<Seconds>& time) {
      most = limit ? std::max(most, time.mid / *limit) : most;
    };
    take(promised.ttft, p.ttft);
    take(promised.tpot, p.tpot);
    take(promised.e2e, p.e2e);
    return most;
  };
  const auto nearest = std::min_element(points.begin(), points.end(), [&](const BoxPoint& a, const BoxPoint& b) {
    return a.chance != b.chance ? a.chance > b.chance : over(a) < over(b);
  });
  return nearest == points.end() ? std::nullopt : std::optional{static_cast<std::size_t>(nearest - points.begin())};
}

/// What would let the first of the combinations that break no rule hold the model.
void add_way_out(BoxCurve& curve, const BoxQuestion& q) {
  for (const BoxDropped& dropped : curve.dropped) {
    try {
      Changes changes = dropped.changes;
      if (!q.loads.empty()) {
        changes.push_back(q.loads.front());
      }
      const Plan plan = make_plan(changed(q.base, changes), false);
      const auto& answer = std::get<ServePlan>(plan.answer);
      if (answer.problems.empty() && !plan.feasible()) {
        curve.way_out = answer.changes;
        curve.way_out_of_weights = answer.changes_of_weights;
        return;
      }
    } catch (const ConfigError&) {  // told where it was left out
      continue;
    }
  }
}

}  // namespace

BoxCurve box_curve(const BoxQuestion& q, const BoxOptions& options) {
  BoxCurve curve;
  curve.promised = q.promised;
  curve.combinations = q.combinations();
  std::vector<Tried> all(static_cast<std::size_t>(curve.combinations));
  if (options.progress != nullptr) {
    options.progress->loads = curve.combinations * loads_of(q);
  }
  Course course{options};
  on_threads(thread_count(options.threads), all.size(),
             [&](std::size_t i) { all[i] = tried(q, combination(q.axes, i), course); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    curve.question = curve.question ? curve.question : all[i].scenario;
    curve.complete = curve.complete && !all[i].stopped;
    if (!all[i].why.empty()) {
      curve.dropped.push_back({combination(q.axes, i), all[i].why});
    }
    for (BoxPoint& point : all[i].points) {
      curve.points.push_back(std::move(point));
    }
  }
  if (!curve.question) {
    throw all.front().wrong.value_or(ConfigError{"no combination of [search] can be read"});
  }
  curve.front = find_front(curve.points);
  const double confidence = std::get<ServeScenario>(curve.question->question).confidence;
  curve.taken = most_requests(curve.points, q.promised.any() ? confidence : 0.0);
  const std::optional<std::size_t> middle = most_requests(curve.points, q.promised.any() ? 0.5 : 0.0);
  curve.at_middle = middle == curve.taken ? std::nullopt : middle;
  if (curve.taken) {
    curve.plan = make_plan(changed(q.base, curve.points[*curve.taken].changes), false);
  } else {
    curve.nearest = nearest_of(curve.points, q.promised);
  }
  if (curve.points.empty() && curve.complete) {
    add_way_out(curve, q);
  }
  return curve;
}

}  // namespace headroom
