// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/batch/render_batch.hpp>
#include <headroom/answers/batch/render_job.hpp>
#include <headroom/answers/batch/render_pipeline.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/inference/batch_plan.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::array<std::string_view, told_shares.size()> share_names{"p50", "p95", "p99", "p999"};
constexpr std::array<std::string_view, told_shares.size()> share_words{"p50", "p95", "p99", "p99.9"};

std::string title(const BatchPlan& plan) {
  const BatchScenario& s = plan.scenario;
  std::string text = s.network ? s.network->name : s.name;
  text += " on " + s.device.id;
  if (s.network) {
    text += ", " + s.engine->name + ", " + std::string{name_of(s.precision)};
  }
  return text + "\n";
}

std::string gpus_text(std::int64_t gpus, const BatchScenario& s) {
  return counted(gpus, "GPU") + " (" + s.device.id + ")";
}

std::string promise_text(const BatchScenario& s) {
  return joined(s.promises, [](const BatchPromise& promise) {
    const auto at = std::find(told_shares.begin(), told_shares.end(), promise.share);
    return std::string{share_words[static_cast<std::size_t>(at - told_shares.begin())]} + " " + format(promise.latency);
  });
}

std::string batch_and_window(const BatchTail& tail) {
  return "batches of up to " + std::to_string(tail.max_batch) +
         (tail.window > Seconds{} ? ", a window of " + format(tail.window) : ", no window");
}

/// The verdict first: how many GPUs, how called, whether the promise holds.
std::string online_verdict(const BatchPlan& plan) {
  const BatchScenario& s = plan.scenario;
  const OnlinePlan& online = *plan.online;
  std::string text = online.holds ? "take " : "does not hold: ";
  text += gpus_text(online.gpus, s) + ", " + batch_and_window(online.taken) + "\n";
  if (!online.holds) {
    text += "  " + online.why + "\n";
  }
  if (online.probability) {
    text += (s.promises.empty() ? "deadlines of the classes, which " + percent(most_late) + " may miss"
                                : "promise: " + promise_text(s)) +
            ", kept with probability " + probability_text(*online.probability) + " (asked " +
            probability_text(s.confidence) + ")\n";
  }
  if (!s.gpus && online.holds && online.gpus_at_middle != online.gpus) {
    text += "at the middle of the interval " + counted(online.gpus_at_middle, "GPU") + " would do\n";
  }
  if (!s.gpus && online.holds && online.gpus == 1) {
    text += "one GPU answers all: a second one keeps the promise while the first is down\n";
  }
  return text;
}

std::string online_text(const BatchPlan& plan) {
  const OnlinePlan& online = *plan.online;
  const BatchRequests& requests = *plan.scenario.requests;
  Table table{{"", ""}};
  table.row({online.rate_asked ? "requests/s at most" : "requests/s, mean", format_number(requests.rate)});
  if (requests.peak > 1.0) {
    table.row({"requests/s at the peak", format_number(online.peak_rate)});
  }
  if (online.served) {
    table.row({"through its server", format_number(*online.served)});
  }
  if (online.streams) {
    table.row({online.rate_asked ? "streams at most" : "streams", format_number(*online.streams)});
    table.row({"streams by time alone", format_number(online.capacity / *requests.stream)});
  }
  table.row({"samples/s of all GPUs, full batches", format_count(online.capacity)});
  table.row({"GPUs in calls at the mean", percent(online.mean_utilisation)});
  if (requests.peak > 1.0) {
    table.row({"GPUs in calls at the peak", percent(online.taken.utilisation)});
  }
  table.row({"mean batch at the peak", format_number(online.taken.mean_batch)});
  table.row({"latency, mean", format(online.taken.mean)});
  if (online.beside > Seconds{}) {
    table.row({"of it stages, copies, network", format(online.beside)});
  }
  for (std::size_t i = 0; i < told_shares.size(); ++i) {
    table.row({"latency " + std::string{share_words[i]}, format(online.taken.latency[i])});
  }
  if (online.taken.late > 0.0) {
    table.row({"beyond their deadline", percent(online.taken.late)});
  }
  if (online.per_million) {
    table.row({"$ per million requests", format(*online.per_million)});
    table.row({"$ of all GPUs", format(*online.price)});
  }
  if (online.energy && online.holds) {
    table.row({"energy of a request", format(*online.energy)});
  }
  std::string text = table.text();
  if (online.taken.classes.size() > 1) {
    Table classes{{"class", "p50", "p95", "p99", "late", "dropped"}};
    for (const ClassTail& each : online.taken.classes) {
      classes.row({each.name, format(each.latency[0]), format(each.latency[1]), format(each.latency[2]),
                   percent(each.late), percent(each.dropped)});
    }
    text += "\n" + classes.text();
  }
  const auto settings = [&](const std::vector<BatchTail>& tails, const std::string& what, const auto& name) {
    if (tails.size() < 2) {
      return;
    }
    Table other{{what, "mean batch", "in calls", "p50", "p95", "p99"}};
    for (const BatchTail& tail : tails) {
      other.row({name(tail), format_number(tail.mean_batch), percent(tail.utilisation), format(tail.latency[0]),
                 format(tail.latency[1]), format(tail.latency[2])});
    }
    text += "\n" + other.text();
  };
  settings(online.windows, "window",
           [](const BatchTail& tail) { return tail.window > Seconds{} ? format(tail.window) : std::string{"none"}; });
  settings(online.batches, "max batch", [](const BatchTail& tail) { return std::to_string(tail.max_batch); });
  Table calls{{"samples of a call", "share of calls"}};
  const BatchTail& taken = online.taken;
  double all = 0.0;
  for (const std::int64_t count : taken.batches) {
    all += real(count);
  }
  // Eight rows at most.
  const auto step = std::max<std::size_t>(1, (taken.batches.size() + 7) / 8);
  for (std::size_t low = 0; low < taken.batches.size(); low += step) {
    const std::size_t high = std::min(low + step, taken.batches.size());
    double count = 0.0;
    for (std::size_t b = low; b < high; ++b) {
      count += real(taken.batches[b]);
    }
    calls.row({std::to_string(low + 1) + (high > low + 1 ? " to " + std::to_string(high) : ""), percent(count / all)});
  }
  return text + "\n" + calls.text();
}

std::string job_verdict(const BatchPlan& plan) {
  const BatchScenario& s = plan.scenario;
  return job_verdict_text({*s.job, *plan.job,
                           gpus_text(plan.job->gpus, s) + ", batches of " + std::to_string(plan.job->batch),
                           s.gpus.has_value(), s.confidence});
}

std::string job_text(const BatchPlan& plan) {
  const JobPlan& job = *plan.job;
  Table table{{"", ""}};
  add_records(table, *plan.scenario.job, job);
  table.row({"records/s of one GPU", format_count(job.rate)});
  add_times(table, job);
  add_cost(table, job);
  add_energy(table, job);
  return table.text();
}

std::string calls_text(const BatchPlan& plan) {
  const bool roofs = plan.scenario.network.has_value();
  Table table{roofs ? std::vector<std::string>{"batch", "call", "samples/s", "memory", "roof", "of it", "<"}
                    : std::vector<std::string>{"batch", "call", "samples/s", "memory", "<"}};
  for (const CallPoint& point : plan.book.points) {
    std::vector<std::string> cells{std::to_string(point.batch), format(point.time), format_count(point.rate),
                                   format(point.memory)};
    if (roofs) {
      cells.push_back(point.roof ? format(*point.roof) : "");
      cells.push_back(point.roof ? percent(*point.roof / point.time) : "");
    }
    cells.emplace_back(!point.fits ? "does not fit" : point.measured ? "measured" : "");
    table.row(std::move(cells));
  }
  return table.text();
}

/// Of a search: each way, the one taken first.
std::string choices_text(const BatchPlan& plan) {
  if (plan.choices.empty()) {
    return {};
  }
  Table table{{"GPU", "<engine", "<precision", "copies", "GPUs", "$/M", "samples/$", "roof/s", "<"}};
  for (const BatchChoice& each : plan.choices) {
    table.row({each.gpu, each.engine, each.precision, std::to_string(each.instances),
               each.gpus > 0 ? std::to_string(each.gpus) : "", each.per_million ? format(*each.per_million) : "",
               each.per_dollar ? format_count(*each.per_dollar) : "", each.roof > 0.0 ? format_count(each.roof) : "",
               each.holds ? "holds" : "does not hold"});
  }
  std::string text =
      "\n" + table.text() + "  $/M: of a million samples; roof/s: samples of one GPU that no kernels exceed\n";
  for (const BatchChoice& each : plan.choices) {
    if (!each.holds && !each.why.empty()) {
      text += "  " + each.gpu + ": " + each.why + "\n";
    }
  }
  return text;
}

std::string deterministic_text(const DeterministicCost& cost) {
  return "\ndeterministic: " + format_count(real(cost.products)) + " of " + format_count(real(cost.of_products)) +
         " products would split their sums over blocks that add in any order; without that a call of " +
         std::to_string(cost.batch) + " takes " + percent(cost.share) + " more, the most of all batches told\n";
}

std::string rack_text(const RackPlan& rack) {
  return "\na node draws " + format(rack.node) + (rack.measured ? ", as measured" : " at its GPUs' limit") +
         (rack.nodes > 0 ? "; a rack feeds " + counted(rack.nodes, "node") : "") + "\n";
}

std::string parts_text(const BatchPlan& plan) {
  Table table{{"batch", "products", "passes", "gaps", "waits for host", "call", "launches"}};
  for (const CallPoint& point : plan.book.points) {
    if (point.parts) {
      const CallTime& t = *point.parts;
      table.row({std::to_string(point.batch), format(t.products), format(t.passes), format(t.gaps), format(t.waited),
                 format(t.call), format_count(t.launches)});
    }
  }
  return "\n" + table.text() + "  docs/networks.md has the equations\n";
}

Value tail_value(const BatchTail& tail) {
  Value value = object("max_batch"_m = tail.max_batch, "window_s"_m = tail.window, "mean_batch"_m = tail.mean_batch,
                       "utilisation"_m = share(tail.utilisation), "latency_mean_s"_m = tail.mean);
  for (std::size_t i = 0; i < told_shares.size(); ++i) {
    value.add({"latency_" + std::string{share_names[i]} + "_s", tail.latency[i]});
  }
  return value;
}

Value online_value(const OnlinePlan& online) {
  return object(
      "gpus"_m = online.gpus, "gpus_at_middle"_m = online.gpus_at_middle, "rate_asked"_m = online.rate_asked,
      "holds"_m = online.holds, "why"_m = online.why,
      "probability"_m = online.probability ? share(*online.probability) : Value{nullptr},
      "peak_requests_per_s"_m = per_second(online.peak_rate), "capacity_samples_per_s"_m = per_second(online.capacity),
      "mean_utilisation"_m = share(online.mean_utilisation), "late"_m = share(online.taken.late),
      "dropped"_m = share(online.taken.dropped), "taken"_m = tail_value(online.taken),
      "classes"_m = list(online.taken.classes,
                         [](const ClassTail& each) {
                           return row("name"_m = each.name, "latency_p50_s"_m = each.latency[0],
                                      "latency_p95_s"_m = each.latency[1], "latency_p99_s"_m = each.latency[2],
                                      "latency_p999_s"_m = each.latency[3], "late"_m = share(each.late),
                                      "dropped"_m = share(each.dropped));
                         }),
      "calls_by_batch"_m = list(online.taken.batches, [](std::int64_t count) { return Value{count}; }),
      "windows"_m = list(online.windows, tail_value), "batches"_m = list(online.batches, tail_value),
      "served_requests_per_s"_m = online.served ? per_second(*online.served) : Value{nullptr},
      "streams"_m = online.streams ? Value{*online.streams} : Value{nullptr}, "beside_s"_m = online.beside,
      "usd_per_million_requests"_m = online.per_million, "price_usd_per_s"_m = online.price,
      "energy_j_per_request"_m = online.energy);
}

}  // namespace

std::string batch_text(const BatchPlan& plan, bool explained) {
  std::string text = title(plan);
  if (plan.book.points.empty() || !plan.book.points.front().fits) {
    text += "does not fit: one sample needs " + format(plan.book.points.front().memory) + " of " +
            format(plan.scenario.device.visible_capacity().value) + "\n";
    return text + "\n" + calls_text(plan);
  }
  if (plan.online) {
    text += online_verdict(plan) + "\n" + online_text(plan);
  }
  if (plan.closed) {
    const ClosedLoop& loop = plan.closed->loop;
    Table table{{"clients in a loop", ""}};
    table.row({"samples/s", format_count(loop.rate)});
    table.row({"samples of a call", format_number(loop.batch)});
    table.row({"latency, mean", format(loop.mean)});
    table.row({"latency p95", format(loop.p95)});
    table.row({"latency p99", format(loop.p99)});
    text += "\n" + table.text();
  }
  if (plan.job) {
    text += (plan.online || plan.closed ? "\n" : "") + job_verdict(plan) + "\n" + job_text(plan);
  }
  if (plan.rack) {
    text += rack_text(*plan.rack);
  }
  text += choices_text(plan);
  if (plan.data) {
    text += pipeline_text(*plan.data, plan.scenario);
  }
  text += "\n" + calls_text(plan);
  if (plan.book.deterministic) {
    text += deterministic_text(*plan.book.deterministic);
  }
  if (explained) {
    text += parts_text(plan);
  }
  std::vector<std::string> notes = plan.scenario.assumptions;
  notes.insert(notes.end(), plan.book.notes.begin(), plan.book.notes.end());
  if (plan.job) {
    notes.insert(notes.end(), plan.job->notes.begin(), plan.job->notes.end());
  }
  if (plan.online && plan.online->gpus > 1) {
    notes.emplace_back("each GPU has a queue of its own and an even share of the requests");
  }
  return text + assumed_text(notes) + "\nconfidence: calls lie within +/- " + percent_number(plan.book.width) +
         " % in 8 of 10 cases: " + plan.book.width_source + "\n";
}

Value batch_document(const BatchPlan& plan) {
  const BatchScenario& s = plan.scenario;
  return object(
      "schema"_m = "headroom.batch/1", "kind"_m = "batch", "name"_m = s.name,
      "model"_m = s.network ? Value{s.network->id} : Value{}, "gpu"_m = s.device.id,
      "precision"_m = s.network ? Value{std::string{name_of(s.precision)}} : Value{},
      "engine"_m = s.network ? Value{s.engine->id} : Value{}, "verdict"_m = plan.feasible() ? "feasible" : "infeasible",
      "asked_probability"_m = share(s.confidence), "call_width"_m = share(plan.book.width),
      "call_width_source"_m = plan.book.width_source,
      "calls"_m = list(plan.book.points,
                       [&](const CallPoint& point) {
                         const double low = 1.0 / (1.0 + plan.book.width), high = 1.0 + plan.book.width;
                         const Interval<Seconds> time{low * point.time, point.time, high * point.time};
                         const Interval<double> rate{low * point.rate, point.rate, high * point.rate};
                         return row("batch"_m = point.batch, "time_s"_m = time, "samples_per_s"_m = per_second(rate),
                                    "roofline_s"_m = point.roof, "memory_bytes"_m = point.memory, "fits"_m = point.fits,
                                    "measured"_m = point.measured);
                       }),
      "binds"_m = plan.binds, "requests"_m = plan.online ? online_value(*plan.online) : Value{},
      "clients"_m = plan.closed
                        ? object("samples_per_s"_m = per_second(plan.closed->loop.rate),
                                 "batch"_m = plan.closed->loop.batch, "latency_mean_s"_m = plan.closed->loop.mean,
                                 "latency_p95_s"_m = plan.closed->loop.p95, "latency_p99_s"_m = plan.closed->loop.p99)
                        : Value{},
      "job"_m = plan.job ? job_value(*plan.job) : Value{},
      "deterministic"_m = plan.book.deterministic ? object("batch"_m = plan.book.deterministic->batch,
                                                           "share"_m = share(plan.book.deterministic->share),
                                                           "products"_m = plan.book.deterministic->products,
                                                           "of_products"_m = plan.book.deterministic->of_products)
                                                  : Value{},
      "pipeline"_m = plan.data ? pipeline_value(*plan.data) : Value{},
      "rack"_m = plan.rack ? object("node_power_w"_m = plan.rack->node, "measured"_m = plan.rack->measured,
                                    "nodes"_m = plan.rack->nodes > 0 ? Value{plan.rack->nodes} : Value{nullptr})
                           : Value{},
      "choices"_m = plan.choices.empty()
                        ? Value{}
                        : list(plan.choices,
                               [](const BatchChoice& each) {
                                 return row(
                                     "gpu"_m = each.gpu, "engine"_m = each.engine, "precision"_m = each.precision,
                                     "instances"_m = each.instances, "gpus"_m = each.gpus, "holds"_m = each.holds,
                                     "why"_m = each.why, "usd_per_million_samples"_m = each.per_million,
                                     "samples_per_usd"_m = each.per_dollar ? Value{*each.per_dollar} : Value{nullptr},
                                     "roofline_samples_per_s"_m =
                                         each.roof > 0.0 ? per_second(each.roof) : Value{nullptr});
                               }),
      "assumptions"_m = s.assumptions, "notes"_m = plan.book.notes);
}

}  // namespace headroom
