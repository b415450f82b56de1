// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/json_members.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_outlook.hpp>
#include <headroom/core/date.hpp>
#include <headroom/core/number_words.hpp>

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
  return format(save.total) + ", " + format(save.write) + " to write" +
         (save.mode == goodput::SaveMode::asynchronous ? " beside training" : "") + "; training waits " +
         format(o.stall) + " every " + format(o.run.interval) + (best ? ", the best" : "") + " (Young " +
         format(o.young) + ", Daly " + format(o.daly) + ")";
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

std::string run_text(const TrainScenario& t, const RunOutlook& o) {
  Table table{{"", ""}};
  table.left(1);
  table.row({"goodput", ratio_text(o.ratio)});
  table.row({"failures", format_number(o.failures) + ", one every " + interval_text(o.mtbf)});
  table.row({"checkpoint", checkpoint_text(t, o)});
  table.row({"time goes to", shares_text(o)});
  table.row({"spread", chance_text(o)});
  if (o.end) {
    table.row({"ends", format_date(o.end->mid) + "  (" + format_date(o.end->low) + " to " + format_date(o.end->high) +
                           "), begun " + format_date(*t.long_run->start)});
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

void goodput_member(JsonWriter& json, const TrainScenario& t, const RunOutlook& o) {
  json.key("goodput");
  json.begin_object();
  interval(json, "ratio", o.ratio);
  interval(json, "mtbf_s", o.mtbf);
  json.member("failures", o.failures);
  json.key("checkpoint");
  json.compact_next();
  json.begin_object();
  json.member("bytes", o.run.save.total.raw());
  json.member("write_s", o.run.save.write.raw());
  json.member("stall_s", o.stall.raw());
  json.member("interval_s", o.run.interval.raw());
  json.member("young_s", o.young.raw());
  json.member("daly_s", o.daly.raw());
  json.end_object();
  json.key("shares");
  json.compact_next();
  json.begin_object();
  json.member("useful", o.shares.useful);
  json.member("saving", o.shares.saving);
  json.member("rework", o.shares.rework);
  json.member("recovery", o.shares.recovery);
  json.member("slower", o.shares.slower);
  json.member("waiting", o.shares.waiting);
  if (o.evaluation > 0.0) {
    json.member("evaluation", o.evaluation);
  }
  json.end_object();
  interval(json, "completion_s", o.completion);
  if (o.simulated) {
    json.key("simulated");
    json.begin_object();
    interval(json, "completion_s", o.simulated->completion);
    json.member("mean_s", o.simulated->mean.raw());
    json.member("runs", o.runs);
    json.member("failures", o.simulated->failures);
    json.end_object();
  }
  if (o.end) {
    json.key("end_date");
    json.compact_next();
    json.begin_object();
    json.member("low", std::string_view{format_date(o.end->low)});
    json.member("mid", std::string_view{format_date(o.end->mid)});
    json.member("high", std::string_view{format_date(o.end->high)});
    json.end_object();
  }
  json.member("rate_source", std::string_view{t.long_run->rate_source});
  json.end_object();
}

void target_member(JsonWriter& json, const goodput::Target& target) {
  json.key("target");
  json.begin_object();
  json.member("loss", target.loss);
  json.member("law", std::string_view{target.law});
  json.member("tokens", target.way.tokens);
  json.member("least_tokens", target.way.least_tokens);
  json.member("critical_batch_tokens", target.way.critical);
  json.member("steps", target.way.steps);
  json.end_object();
}

}  // namespace

std::string outlook_text(const TrainScenario& t, const TrainPlan& p) {
  return (p.outlook ? run_text(t, *p.outlook) : std::string{}) + (t.target ? target_text(*t.target) : std::string{});
}

void outlook_members(JsonWriter& json, const TrainScenario& t, const TrainPlan& p) {
  if (p.outlook) {
    interval(json, "calendar_s", p.calendar);
    goodput_member(json, t, *p.outlook);
  }
  if (t.target) {
    target_member(json, *t.target);
  }
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
