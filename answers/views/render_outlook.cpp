// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_outlook.hpp>
#include <headroom/core/date.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/goodput/bad_nodes.hpp>

#include <cmath>

namespace headroom {
namespace {

std::string tokens_text(double tokens) {
  return tokens < 1e9    ? format_number(tokens / 1e6) + " M"
         : tokens < 1e12 ? format_number(tokens / 1e9) + " G"
                         : format_number(tokens / 1e12) + " T";
}

/// "92.6 %  (88.1 to 95.0 %)"
std::string ratio_text(const Interval<double>& ratio) {
  return percent(ratio.mid) + "  (" + format_number(100.0 * ratio.low) + " to " + percent(ratio.high) + ")";
}

/// "5.16 TiB, 2.83 s to write: training waits 2.83 s every 4.15 min (Young 4.18 min, Daly 4.15 min)"
std::string checkpoint_text(const TrainScenario& t, const RunOutlook& o) {
  const goodput::CheckpointTime& save = o.run.save;
  const bool best = !t.long_run->interval && t.long_run->interval_steps == 0;
  const goodput::CheckpointStore& store = t.long_run->store;
  const bool apart = store.writers > 1 && store.per_writer > BytesPerSecond{};
  return format(save.total) +
         (apart ? ", " + format(save.of_writer) + " by each of " + counted(store.writers, "writer") : "") + ", " +
         format(save.write) + " to write" + (save.mode == goodput::SaveMode::asynchronous ? " beside training" : "") +
         "; training waits " + format(o.stall) + " every " + format(o.run.interval) + (best ? ", the best" : "") +
         " (Young " + format(o.young) + ", Daly " + format(o.daly) + ")";
}

/// "training 92.6 %, saves 1.05 %, done again 1.14 %, recovery 5.25 %"
std::string shares_text(const RunOutlook& o) {
  constexpr double visible = 5e-6;
  std::string text;
  const auto add = [&](std::string_view name, double share) {
    if (share >= visible) {
      text += (text.empty() ? "" : ", ") + std::string{name} + " " + percent(share);
    }
  };
  add("training", o.shares.useful);
  add("evaluation", o.evaluation);
  add("saves", o.shares.saving);
  add("done again", o.shares.rework);
  add("recovery", o.shares.recovery);
  add("slower", o.shares.slower);
  add("waiting", o.shares.waiting);
  return text;
}

/// "52.9 days to 53.3 days by chance alone; 300 simulated runs 52.9 days to 53.3 days, mean 0.0042 % off"
std::string chance_text(const RunOutlook& o) {
  std::string text = format(o.completion.low) + " to " + format(o.completion.high) + " by chance alone";
  if (o.simulated) {
    text += "; " + format_count(static_cast<double>(o.runs)) + " simulated runs " +
            format(o.simulated->completion.low) + " to " + format(o.simulated->completion.high) + ", mean " +
            percent(std::abs(o.disagreement()), 2) + " off";
  }
  return text;
}

goodput::BadNodes bad_nodes_of(const TrainScenario& t, const RunOutlook& o) {
  return goodput::bad_nodes(*t.long_run->bad_node, o.run.recovery.hosts, o.completion.mid);
}

/// "12.0 % a day over 128 nodes (0.1 % each), 99.8 % in the run; 7 runs on halves find it"
std::string bad_node_text(const goodput::BadNodes& bad) {
  return percent(bad.of_day) + " a day over " + counted(bad.nodes, "node") + " (" + percent(bad.of_node) + " each), " +
         percent(bad.of_run) + " in the run; " + counted(bad.bisect_runs, "run") + " on halves of them " +
         (bad.bisect_runs == 1 ? "finds" : "find") + " it";
}

Value bad_nodes_value(const goodput::BadNodes& bad) {
  return row("node_chance_per_day"_m = share(bad.of_node), "nodes"_m = bad.nodes,
             "chance_per_day"_m = share(bad.of_day), "chance_of_run"_m = share(bad.of_run),
             "bisect_runs"_m = bad.bisect_runs);
}

std::string run_text(const TrainScenario& t, const RunOutlook& o) {
  Table table{{"", "<"}};
  table.row({"goodput", ratio_text(o.ratio)});
  table.row({"failures", format_number(o.failures) + ", one every " + interval_text(o.mtbf)});
  table.row({"checkpoint", checkpoint_text(t, o)});
  table.row({"time goes to", shares_text(o)});
  table.row({"spread", chance_text(o)});
  if (o.end) {
    table.row({"ends", format_date(o.end->mid) + "  (" + format_date(o.end->low) + " to " + format_date(o.end->high) +
                           "), begun " + format_date(*t.long_run->start)});
  }
  if (t.long_run->bad_node) {
    table.row({"a bad node", bad_node_text(bad_nodes_of(t, o))});
  }
  return "\n" + table.text() + "failure rate: " + t.long_run->rate_source + "\n";
}

std::string target_text(const goodput::Target& target) {
  const goodput::TargetLoss& way = target.way;
  const std::string tokens = tokens_text(way.tokens) + " tokens";
  return "\nloss " + format_number(target.loss, 4) +
         (target.predicted ? " nats a token after the " + tokens : " nats a token takes " + tokens) + ", " +
         format_count(std::ceil(way.steps)) + " steps: " + tokens_text(way.least_tokens) + " at a small batch, " +
         percent(way.tokens / way.least_tokens - 1.0) + " more at this one (critical batch " +
         tokens_text(way.critical) + " tokens" + (way.stated ? "" : ", by a law of the loss") + ")\n" + "  by " +
         target.law_source + "; of its text and tokenizer, passed over once: on other data the loss is another\n";
}

Value checkpoint(const TrainScenario& t, const RunOutlook& o) {
  const bool rated = t.long_run->store.per_writer > BytesPerSecond{};
  return row("bytes"_m = o.run.save.total, "writer_bytes"_m = when(rated, o.run.save.of_writer),
             "write_s"_m = o.run.save.write, "stall_s"_m = o.stall, "interval_s"_m = o.run.interval,
             "young_s"_m = o.young, "daly_s"_m = o.daly);
}

Value shares(const RunOutlook& o) {
  return row("useful"_m = share(o.shares.useful), "saving"_m = share(o.shares.saving),
             "rework"_m = share(o.shares.rework), "recovery"_m = share(o.shares.recovery),
             "slower"_m = share(o.shares.slower), "waiting"_m = share(o.shares.waiting),
             "evaluation"_m = when(o.evaluation > 0.0, share(o.evaluation)));
}

Value goodput_value(const TrainScenario& t, const RunOutlook& o) {
  return object("ratio"_m = share(o.ratio), "mtbf_s"_m = o.mtbf, "failures"_m = o.failures,
                "checkpoint"_m = checkpoint(t, o), "shares"_m = shares(o), "completion_s"_m = o.completion,
                "simulated"_m = o.simulated
                                    ? object("completion_s"_m = o.simulated->completion, "mean_s"_m = o.simulated->mean,
                                             "runs"_m = o.runs, "failures"_m = o.simulated->failures)
                                    : Value{},
                "end_date"_m = o.end ? row("low"_m = format_date(o.end->low), "mid"_m = format_date(o.end->mid),
                                           "high"_m = format_date(o.end->high))
                                     : Value{},
                "bad_nodes"_m = t.long_run->bad_node ? bad_nodes_value(bad_nodes_of(t, o)) : Value{},
                "rate_source"_m = t.long_run->rate_source);
}

Value target_value(const goodput::Target& target) {
  return object("loss"_m = target.loss, "law"_m = target.law, "tokens"_m = target.way.tokens,
                "least_tokens"_m = target.way.least_tokens, "critical_batch_tokens"_m = target.way.critical,
                "steps"_m = target.way.steps);
}

}  // namespace

std::string outlook_text(const TrainScenario& t, const TrainPlan& p) {
  return (p.outlook ? run_text(t, *p.outlook) : std::string{}) + (t.target ? target_text(*t.target) : std::string{});
}

Value outlook(const TrainScenario& t, const TrainPlan& p) {
  return object("calendar_s"_m = when(p.outlook.has_value(), p.calendar),
                "goodput"_m = p.outlook ? goodput_value(t, *p.outlook) : Value{},
                "target"_m = t.target ? target_value(*t.target) : Value{});
}

std::string outlook_table(const scaling::Curve& curve) {
  Table table{{"GPUs", "fails every", "save every", "goodput", "run", "cost"}};
  bool counted = false;
  for (const scaling::Point& point : curve.points) {
    if (!point.answered || !point.train().outlook) {
      continue;
    }
    counted = true;
    const TrainPlan& plan = point.train();
    const RunOutlook& o = *plan.outlook;
    table.row({format_count(static_cast<double>(point.gpus)), format(o.mtbf.mid), format(o.run.interval),
               percent(o.ratio.mid), format(plan.calendar.mid),
               plan.cost.mid > Dollars{} ? format(plan.cost.mid) : std::string{}});
  }
  return counted ? "\n" + table.text() : std::string{};
}

}  // namespace headroom
