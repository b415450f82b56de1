// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/mixed/mixed_words.hpp>
#include <headroom/answers/mixed/render_mixed.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/mixed/mixed_fleet.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headroom {
namespace {

const ServeScenario& served_alike(const MixedFleet& plan) {
  return std::get<ServeScenario>(plan.question.pools.front().alone.question);
}

std::string_view name_of_routing(const RoutedFleet& fleet) {
  return mixed_routing_names[static_cast<std::size_t>(fleet.routing)];
}

std::string time_text(Seconds time) {
  return std::isnan(time.raw()) ? "-" : format(time);
}

std::string kept_text(const RoutedFleet& fleet) {
  if (fleet.overloaded) {
    return "overloaded";
  }
  return fleet.promises.empty() ? "nothing is promised" : fleet.good() ? "keeps every promise" : "misses a promise";
}

std::string fleet_verdict(const MixedFleet& plan) {
  const RoutedFleet& by_rate = plan.routings.front();
  const RoutedFleet& equal = plan.routings.back();
  const RoutedFleet& asked = plan.asked();
  return "the replicas answer " + format_number(by_rate.most.raw()) +
         " requests/s at the most when they are split by rate; with as many to each the " +
         gpu_of(plan.question, equal.first_to_fill) + " saturate first, at " + format_number(equal.most.raw()) +
         " requests/s in all, and " + percent(equal.loss) + " is lost; at " + format_number(plan.offered.raw()) +
         " requests/s the fleet, split " + (asked.routing == MixedRouting::by_rate ? "by rate" : "equally") + ", " +
         (asked.overloaded         ? "is overloaded"
          : asked.promises.empty() ? "keeps up, and nothing is promised"
          : asked.good()           ? "keeps every promise at the middle"
                                   : "misses a promise");
}

std::string served_pools_table(const MixedFleet& plan) {
  Table table{{"pool", "<node", "GPUs", "replicas", "GPUs of one", "<answers at the most, requests/s", "of one replica",
               "weight"}};
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    const ServedPool& pool = plan.pools[i];
    table.row({gpu_of(plan.question, i), node_of(plan.question, i), std::to_string(plan.question.pools[i].gpus),
               std::to_string(pool.replicas), std::to_string(pool.gpus_per_replica),
               format_number(pool.saturation.mid.raw()) + "  (" + format_number(pool.saturation.low.raw()) + " to " +
                   format_number(pool.saturation.high.raw()) + ")",
               format_number(pool.saturation.mid.raw() / real(pool.replicas)), format_number(pool.weight)});
  }
  return table.text();
}

std::string routings_table(const MixedFleet& plan) {
  Table table{{"<requests are split", "<requests of", "share", "requests/s", "load", "TTFT p50", "p95", "p99",
               "TPOT p50", "p95", "p99", "<"}};
  const auto times = [](const TimeSummary& ttft, const TimeSummary& tpot, bool overloaded) {
    const auto text = [&](Seconds time) { return overloaded ? std::string{"-"} : time_text(time); };
    return std::vector<std::string>{text(ttft.p50), text(ttft.p95), text(ttft.p99),
                                    text(tpot.p50), text(tpot.p95), text(tpot.p99)};
  };
  for (const RoutedFleet& fleet : plan.routings) {
    const auto add = [&](std::vector<std::string> cells, std::vector<std::string> timed, const std::string& last) {
      cells.insert(cells.end(), timed.begin(), timed.end());
      cells.push_back(last);
      table.row(std::move(cells));
    };
    for (std::size_t i = 0; i < fleet.pools.size(); ++i) {
      const RoutedPool& pool = fleet.pools[i];
      add({i == 0 ? std::string{name_of_routing(fleet)} : "", gpu_of(plan.question, i), percent(pool.share),
           format_number(pool.offered.raw()), percent(pool.load)},
          times(pool.ttft.mid, pool.tpot.mid, pool.overloaded), pool.overloaded ? "overloaded" : "");
    }
    add({"", "all", "100 %", format_number(plan.offered.raw()), percent(plan.offered / fleet.most)},
        times(fleet.ttft, fleet.tpot, fleet.overloaded), kept_text(fleet));
  }
  return table.text();
}

std::string promise_name(const MixedFleet& plan, const KeptPromise& one) {
  const std::string& of = plan.classes.at(one.service_class);
  return (plan.classes.size() == 1 ? "" : of + ": ") + key_of(one.promise);
}

std::string promises_table(const MixedFleet& plan) {
  const RoutedFleet& asked = plan.asked();
  if (asked.promises.empty()) {
    return {};
  }
  Table table{{"promise, at the middle", "limit", "reached", "<kept"}};
  for (const KeptPromise& one : asked.promises) {
    table.row({promise_name(plan, one), format(one.promise.limit), asked.overloaded ? "-" : time_text(one.reached),
               one.kept && !asked.overloaded ? "yes" : "no"});
  }
  return "\n" + table.text();
}

Value times_value(const TimeSummary& times, bool there) {
  return when(there && !std::isnan(times.mean.raw()),
              row("mean"_m = times.mean, "p50"_m = times.p50, "p95"_m = times.p95, "p99"_m = times.p99));
}

Value routing_value(const MixedFleet& plan, const RoutedFleet& fleet) {
  Value pools = Value::empty_list();
  for (std::size_t i = 0; i < fleet.pools.size(); ++i) {
    const RoutedPool& pool = fleet.pools[i];
    const auto p95 = [&](const IntervalSummary& times) {
      return when(!pool.overloaded, Interval<Seconds>{times.low.p95, times.mid.p95, times.high.p95});
    };
    pools.push(object("gpu"_m = gpu_of(plan.question, i), "share"_m = share(pool.share),
                      "offered_requests_per_s"_m = pool.offered, "load_share"_m = share(pool.load),
                      "overloaded"_m = pool.overloaded, "keeps_promises"_m = pool.keeps,
                      "ttft_s"_m = times_value(pool.ttft.mid, !pool.overloaded),
                      "tpot_s"_m = times_value(pool.tpot.mid, !pool.overloaded),
                      "e2e_s"_m = times_value(pool.e2e.mid, !pool.overloaded), "ttft_p95_s"_m = p95(pool.ttft),
                      "tpot_p95_s"_m = p95(pool.tpot)));
  }
  return object(
      "routing"_m = name_of_routing(fleet), "most_requests_per_s"_m = fleet.most, "loss_share"_m = share(fleet.loss),
      "first_to_saturate_gpu"_m = gpu_of(plan.question, fleet.first_to_fill), "overloaded"_m = fleet.overloaded,
      "keeps_promises"_m = fleet.good(), "ttft_s"_m = times_value(fleet.ttft, !fleet.overloaded),
      "tpot_s"_m = times_value(fleet.tpot, !fleet.overloaded), "e2e_s"_m = times_value(fleet.e2e, !fleet.overloaded),
      "pools"_m = std::move(pools),
      "promises"_m = list(fleet.promises,
                          [&](const KeptPromise& one) {
                            return row(
                                "promise"_m = promise_name(plan, one), "limit_s"_m = one.promise.limit,
                                "reached_s"_m = when(!fleet.overloaded && !std::isnan(one.reached.raw()), one.reached),
                                "kept"_m = one.kept && !fleet.overloaded);
                          }),
      "usd_per_million_output_tokens"_m = fleet.per_million_outputs);
}

}  // namespace

std::string mixed_fleet_text(const MixedFleet& plan) {
  const ServeScenario& s = served_alike(plan);
  std::string text = s.architecture.name + " on " + pools_text(plan.question) + " by " +
                     std::string{engine_titles[static_cast<std::size_t>(s.engine.engine)]} + ", weights " +
                     std::string{name_of(s.work.weights)} + "; " + format_number(plan.offered.raw()) +
                     " requests/s\n\n" + fleet_verdict(plan) + "\n\n" + served_pools_table(plan) + "\n" +
                     routings_table(plan) + promises_table(plan);
  if (const auto price = plan.question.price()) {
    text += "\n" + format(*price) + " for all GPUs" +
            (plan.asked().per_million_outputs
                 ? ": " + format(*plan.asked().per_million_outputs) + " per million output tokens at this load"
                 : std::string{}) +
            "\n";
  }
  return text + "times: " + plan.times_source + "\n" + mixed_notes_text(plan.question, plan.notes);
}

Value mixed_fleet_document(const MixedFleet& plan) {
  const ServeScenario& s = served_alike(plan);
  Value pools = Value::empty_list();
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    const ServedPool& pool = plan.pools[i];
    pools.push(object(pool_value(plan.question, i), "replicas"_m = pool.replicas,
                      "gpus_per_replica"_m = pool.gpus_per_replica, "saturation_requests_per_s"_m = pool.saturation,
                      "weight"_m = pool.weight));
  }
  return object(
      "schema"_m = "headroom.mixed_fleet/1", "name"_m = plan.question.name, "model"_m = s.architecture.id,
      "engine"_m = engine_titles[static_cast<std::size_t>(s.engine.engine)],
      "weights"_m = std::string{name_of(s.work.weights)}, "feasible"_m = plan.asked().good(),
      "verdict_text"_m = fleet_verdict(plan), "gpus"_m = plan.question.gpus, "offered_requests_per_s"_m = plan.offered,
      "together_requests_per_s"_m = plan.together, "asked_routing"_m = name_of_routing(plan.asked()),
      "pools"_m = std::move(pools),
      "routings"_m = list(plan.routings, [&](const RoutedFleet& fleet) { return routing_value(plan, fleet); }),
      "price_usd_per_s"_m = plan.question.price(), "times_source"_m = plan.times_source, "notes"_m = plan.notes,
      "assumed"_m = plan.question.assumptions);
}

}  // namespace headroom
