// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/date.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/workload/parameters.hpp>
#include <headroom/scenarios/goodput/failures.hpp>
#include <headroom/scenarios/goodput/interval.hpp>
#include <headroom/scenarios/keys/goodput_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/read/goodput_reader.hpp>
#include <headroom/scenarios/read/look_up.hpp>

#include <algorithm>

namespace headroom::goodput {
namespace {

using GoodputKeys = KeyedTable<keys::goodput, Kinds::train>;
using TargetKeys = KeyedTable<keys::target, Kinds::train>;

/// "llama3-54-days, meta-rsc-1, ...": published rates of one kind, or of both.
std::string rate_ids(std::optional<FailureScope> scope = std::nullopt) {
  std::string text;
  for (const FailureRate& rate : failure_rates()) {
    if (!scope || rate.scope == *scope) {
      text += (text.empty() ? "" : ", ") + rate.id;
    }
  }
  return text;
}

/// "15 900 to 82 100 h": what jobs were seen to have.
std::string published_hours() {
  const Interval<Hertz> range = failure_range(failure_rates(), FailureScope::job);
  return format_number(1.0 / range.high / hour) + " to " + format_number(1.0 / range.low / hour) + " h";
}

class GoodputReader {
 public:
  GoodputReader(GoodputKeys& table, const JobFacts& job, std::vector<std::string>& assumptions)
      : table_{table}, job_{job}, assumptions_{assumptions} {}

  Question run() {
    question_.file = table_.file();
    question_.at = table_.at();
    if (!job_.asks_run) {
      table_.problem("goodput", "[goodput] speaks of the whole run: state training.tokens, or [target] loss");
    }
    read_failures();
    read_checkpoint();
    read_interval();
    read_recovery();
    read_evaluation();
    read_start();
    question_.seed = static_cast<std::uint64_t>(table_.get<"seed">());
    question_.runs = table_.stated<"runs">();
    question_.bad_node = table_.stated<"bad_node_per_day">();
    table_.finish();
    if (table_.diagnostics().empty()) {
      check_pace();
    }
    return std::move(question_);
  }

 private:
  void assume(std::string_view key, const std::string& text) {
    assumptions_.push_back("goodput." + std::string{key} + text);
  }

  /// A mean time between events; nothing fails all the time.
  template <Literal name>
  std::optional<Seconds> mean_time(const std::string& published) {
    constexpr std::string_view key = GoodputKeys::row<name>.path;
    const ConfigValue* value = table_.value(key);
    if (value != nullptr && value->kind == ConfigValue::Kind::text) {
      const auto parsed = parse_quantity(value->text, dimension_of<Seconds>);
      if (const double* time = std::get_if<double>(&parsed); time != nullptr && !(*time > 0.0)) {
        table_.problem(key, "'" + std::string{key} + "' is " + quoted(value->text) +
                                ": a mean time between failures is above zero; " + published);
        return std::nullopt;
      }
    }
    return table_.stated<name>();
  }

  void read_failures() {
    Question& q = question_;
    const std::optional<std::string> id = table_.stated<"failures">();
    const auto per_gpu = mean_time<"mtbf_per_gpu">("published are " + published_hours() +
                                                   " a GPU (failures = \"ID\": " + rate_ids() + ")");
    const auto of_job = mean_time<"mtbf_job">("leave it out where nothing fails that does not grow with the GPUs");
    const auto preempted = mean_time<"preemptions_every">("spot capacity was seen to last 0.7 to 10.5 h in a zone");
    if (id && table_.has("mtbf_per_gpu")) {
      table_.problem("mtbf_per_gpu", "state 'failures' or 'mtbf_per_gpu', not both");
    } else if (id && *id == "published") {
      q.per_gpu = failure_range(failure_rates(), FailureScope::job);
      add_source("lowest, median and highest of the published rates of jobs (" + rate_ids(FailureScope::job) + ")");
    } else if (id) {
      take_rate(*id);
    } else if (per_gpu) {
      const Hertz rate = 1.0 / *per_gpu;
      q.per_gpu = {rate, rate, rate};
      add_source("mtbf_per_gpu as stated");
    }
    if (of_job) {
      q.per_job += 1.0 / *of_job;
      add_source("mtbf_job as stated");
    }
    if (preempted) {
      q.per_job += 1.0 / *preempted;
      add_source("preemptions as stated");
    }
    const bool none = !id && !table_.has("mtbf_per_gpu");
    if (none && (of_job || preempted)) {
      assume("failures", ": none counted beside what is stated of the job");
    } else if (none && !table_.has("mtbf_job") && !table_.has("preemptions_every")) {
      table_.problem("failures", "[goodput] needs how often something fails: failures = \"ID\" (" + rate_ids() +
                                     "), \"published\" for their range, or mtbf_per_gpu = \"50000 h\"; 'mtbf_job' and "
                                     "'preemptions_every' add what does not grow with the GPUs");
    }
  }

  void take_rate(const std::string& id) {
    const auto rate = look_up(table_, "failures", id, [](const std::string& s) -> FailureRate {
      try {
        return failure_rate(s);
      } catch (const ConfigError& error) {
        throw ConfigError{std::string{error.diagnostics().front().message} + "; \"published\" takes their range"};
      }
    });
    if (rate) {
      question_.per_gpu = rate->per_gpu;
      add_source(rate->name + " (" + rate->source + ")");
      if (rate->scope == FailureScope::gpu) {
        assume("failures", " = " + rate->id + " counts failures of GPUs alone: software and network are not in");
      }
    }
  }

  void add_source(const std::string& text) {
    std::string& source = question_.rate_source;
    source += (source.empty() ? "" : "; ") + text;
  }

  void read_checkpoint() {
    CheckpointStore& store = question_.store;
    store.ranks = job_.gpus;
    store.storage = table_.stated<"checkpoint_store">().value_or(BytesPerSecond{});
    store.per_writer = table_.stated<"checkpoint_writer">().value_or(BytesPerSecond{});
    if (!table_.has("checkpoint_store") && !table_.has("checkpoint_writer")) {
      table_.problem("checkpoint_store",
                     "[goodput] needs where checkpoints go: 'checkpoint_store', what the file system takes from all "
                     "writers together, e.g. \"100 GB/s\" (BLOOM 57 GB/s, Llama 3 2 TB/s), or 'checkpoint_writer', "
                     "what one of them writes, e.g. \"2 GB/s\"");
    } else if (!table_.has("checkpoint_store")) {
      assume("checkpoint_store", ": not stated, taken not to bind");
    }
    const auto writers = table_.stated<"writers">();
    store.writers = writers.value_or(job_.gpus);
    if (writers && !table_.has("checkpoint_writer")) {
      table_.problem("writers", "'writers' means something with 'checkpoint_writer' only, the rate of one of them");
    } else if (!table_.has("writers") && table_.has("checkpoint_writer")) {
      assume("writers", " = " + format_count(real(job_.gpus)) + " (every rank writes its share)");
    }
    read_save_mode(store);
    const auto stated = table_.stated<"checkpoint">();
    question_.checkpoint = stated.value_or(job_.states);
    if (!table_.has("checkpoint")) {
      assume("checkpoint", " = " + format(job_.states) + " (weights and optimizer states, " +
                               format_number(job_.bytes_per_parameter) + " bytes a parameter)");
    }
  }

  void read_save_mode(CheckpointStore& store) {
    store.mode = table_.get<"asynchronous">() ? SaveMode::asynchronous : SaveMode::synchronous;
    store.copy = table_.stated<"copy">().value_or(BytesPerSecond{});
    if (!table_.has("asynchronous")) {
      assume("asynchronous", " = false (training waits until a checkpoint is written)");
    }
    if (store.mode == SaveMode::synchronous || table_.has("copy")) {
      return;
    }
    if (job_.host_link) {
      store.copy = *job_.host_link;
      assume("copy", " = " + format(store.copy) + " a GPU (its link to the host)");
    } else {
      table_.problem("copy", "an asynchronous save stalls for its copy to the host, and the link of " + job_.gpu +
                                 " to one is not known: state the rate of one GPU, e.g. copy = \"25 GB/s\"");
    }
  }

  void read_interval() {
    const ConfigValue* value = table_.value("interval");
    if (const ConfigValue* in_steps = table_.value("interval_steps")) {
      question_.at = in_steps->at;  // what only the step's time shows is wrong with these
      question_.file = in_steps->file ? *in_steps->file : question_.file;
    }
    const auto steps = table_.stated<"interval_steps">();
    question_.interval_steps = steps.value_or(0);
    const bool best = value != nullptr && value->kind == ConfigValue::Kind::text && value->text == "best";
    if (value != nullptr && !best) {
      question_.interval = table_.stated<"interval">();
    }
    if (value != nullptr && table_.has("interval_steps")) {
      table_.problem("interval_steps", "state 'interval' or 'interval_steps', not both");
    }
  }

  /// A time that somebody has to have seen.
  template <Literal name>
  Seconds seen_time(const std::string& what, const std::string& published) {
    constexpr std::string_view key = GoodputKeys::row<name>.path;
    if (!table_.has(key)) {
      table_.problem(key, "[goodput] needs '" + std::string{key} + "', " + what + "; " + published);
      return {};
    }
    return table_.stated<name>().value_or(Seconds{});
  }

  void read_recovery() {
    Recovery& r = question_.recovery;
    r.detection = seen_time<"detection">(
        "the time until somebody knows of a failure",
        "published: within 10 min with the diagnosis (MegaScale); \"0 s\" where 'restart' holds it");
    r.restart =
        seen_time<"restart">("the time from there until training goes on",
                             "published: back at the crash point within 15 min in all (MegaScale), 11 min (63 nodes of "
                             "B200, median)");
    r.hosts = (job_.gpus + job_.gpus_per_node - 1) / job_.gpus_per_node;
    r.repair = table_.stated<"repair">().value_or(Seconds{});
    r.swap_share = table_.get<"swap_share">();
    r.spares = table_.get<"spares">();
    r.may_miss = table_.maybe_integer("may_miss", {0, std::max<std::int64_t>(0, r.hosts - 1)}).value_or(0);
    r.kept = table_.stated<"kept">();
    if (r.kept && *r.kept <= 0.0) {
      table_.problem("kept", "'kept' is 0: a job that keeps nothing with a host missing waits; leave out 'may_miss'");
    }
    if (table_.has("kept") && r.may_miss == 0) {
      table_.problem("kept", "'kept' means something with 'may_miss' only, the hosts that the run goes on without");
    }
    if (!table_.has("repair")) {
      for (const std::string_view key : {"swap_share", "spares", "may_miss"}) {
        if (table_.has(key)) {
          table_.problem(key, "'" + std::string{key} +
                                  "' means something with 'repair' only, the time until a host that is taken away is "
                                  "back, e.g. \"24 h\"");
        }
      }
      assume("repair", ": not stated; another host is there at once");
      return;
    }
    if (!table_.has("swap_share")) {
      assume("swap_share", " = 1 (every failure takes its host away)");
    }
    if (!table_.has("spares") && !table_.has("may_miss")) {
      assume("spares", " = 0, goodput.may_miss = 0 (the run waits for every repair)");
    }
  }

  void read_evaluation() {
    question_.evaluation = table_.stated<"evaluation">().value_or(Seconds{});
    question_.evaluation_every = table_.stated<"evaluation_every">().value_or(0);
    if (table_.has("evaluation") != table_.has("evaluation_every")) {
      table_.problem(table_.has("evaluation") ? "evaluation" : "evaluation_every",
                     "'evaluation', the time of a pause, and 'evaluation_every', the steps between two, go together "
                     "(BLOOM: 12 min every 1000 steps)");
    }
  }

  /// TOML has dates of its own, without quotes: those of all other keys are texts, and so is this.
  void read_start() {
    const ConfigValue* start = table_.value("start");
    if (start == nullptr) {
      return;
    }
    const bool text = start->kind == ConfigValue::Kind::text;
    question_.start = text ? parse_date(start->text) : std::nullopt;
    if (!question_.start) {
      table_.problem("start", "'start' is " + (text ? quoted(start->text) + ", not a date" : "no date in quotes") +
                                  " like \"2027-01-31\"");
    }
  }

  /// A job that gets ahead at the middle of the rate and at its high end. Steps between saves are judged with the
  /// step's time.
  void check_pace() {
    Run run;
    run.work = Seconds{1e15};  // of any length: a run shorter than the interval is no harder
    run.recovery = question_.recovery;
    try {
      run.save = checkpoint_time(question_.checkpoint, question_.store);
      run.interval = best_interval(run.save, job_mtbf(question_.per_gpu.mid, real(job_.gpus), question_.per_job));
      run.interval = question_.interval.value_or(run.interval);
      for (const Hertz rate : {question_.per_gpu.mid, question_.per_gpu.high}) {
        run.mtbf = job_mtbf(rate, real(job_.gpus), question_.per_job);
        const std::vector<RunProblem> problems = run_problems(run);
        for (const RunProblem& problem : problems) {
          table_.problem(problem.key, problem.text);
        }
        if (!problems.empty()) {
          return;
        }
        static_cast<void>(pace_of(run));
      }
    } catch (const ConfigError& error) {
      for (const Diagnostic& problem : error.diagnostics()) {
        table_.problem("repair", problem.message);
      }
    }
  }

  GoodputKeys& table_;
  const JobFacts& job_;
  std::vector<std::string>& assumptions_;
  Question question_;
};

/// The loss at which so many tokens are what the way takes. Between the loss of a batch far below the critical one and
/// where the law of the critical batch, which falls with the loss, asks for more than there are.
std::optional<double> loss_of_tokens(
    const LossLaw& law, double parameters, double batch, double tokens, std::optional<double> critical) {
  const double floor = law.floor(parameters);
  const auto needs = [&](double above) { return way_to_loss(law, parameters, floor + above, batch, critical).tokens; };
  double low = law.loss(parameters, tokens) - floor, high = low;
  constexpr int doublings = 20;
  for (int i = 0; needs(high) > tokens; ++i, high *= 1.1) {
    if (i > 8 * doublings) {
      return std::nullopt;
    }
  }
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = (low + high) / 2.0;
    (needs(middle) > tokens ? low : high) = middle;
  }
  return floor + high;
}

class TargetReader {
 public:
  TargetReader(TargetKeys& table, const TargetFacts& facts, std::vector<std::string>& assumptions)
      : table_{table}, facts_{facts}, assumptions_{assumptions} {}

  Target run() {
    loss_ = table_.stated<"loss">();
    critical_ = table_.stated<"critical_batch">();
    const auto law =
        look_up(table_, "law", table_.get<"law">(), [](const std::string& s) -> LossLaw { return loss_law(s); });
    refuse_misuse();
    table_.finish();
    Target target;
    if (!law || !table_.diagnostics().empty()) {
      return target;
    }
    target.law = law->id;
    target.law_source = law->source;
    target.parameters = count_parameters(*facts_.architecture).total;
    target.predicted = !loss_;
    if (!table_.has("law")) {
      assumptions_.push_back("target.law = " + law->id + " (" + law->source + ")");
    }
    try {
      settle(*law, target);
    } catch (const ConfigError& error) {
      table_.problem("loss", error.diagnostics().front().message);
    }
    return target;
  }

 private:
  void refuse_misuse() {
    if (table_.has("loss") && facts_.tokens > 0.0) {
      table_.problem("loss",
                     "'loss' says how many tokens the run takes, and training.tokens states them: leave one out");
    } else if (!table_.has("loss") && facts_.tokens <= 0.0) {
      table_.problem("loss",
                     "[target] needs 'loss', nats a token that the run is to reach, or training.tokens, whose loss it "
                     "then tells");
    }
    const Architecture& arch = *facts_.architecture;
    const std::string instead = "; the law is of dense language models trained in full: state training.tokens instead";
    if (arch.moe) {
      table_.problem("law", "'" + arch.id + "' has experts" + instead);
    } else if (arch.patches) {
      table_.problem("law", "'" + arch.id + "' reads images" + instead);
    } else if (!facts_.full) {
      table_.problem("law", "adapters alone are trained" + instead);
    }
  }

  void settle(const LossLaw& law, Target& target) {
    if (loss_) {
      target.loss = *loss_;
      target.way = way_to_loss(law, target.parameters, target.loss, facts_.batch_tokens, critical_);
      return;
    }
    const auto loss = loss_of_tokens(law, target.parameters, facts_.batch_tokens, facts_.tokens, critical_);
    if (!loss) {
      throw ConfigError{"a batch of " + format_count(facts_.batch_tokens) +
                        " tokens is so far above the critical one that so few tokens reach no loss of the law: state "
                        "'critical_batch' as measured, or a smaller batch"};
    }
    target.loss = *loss;
    target.way = way_to_loss(law, target.parameters, target.loss, facts_.batch_tokens, critical_);
    target.way.tokens = facts_.tokens;
    target.way.steps = facts_.tokens / facts_.batch_tokens;
  }

  TargetKeys& table_;
  const TargetFacts& facts_;
  std::vector<std::string>& assumptions_;
  std::optional<double> loss_, critical_;
};

}  // namespace

std::optional<Question> read_goodput(ConfigTable& root, const JobFacts& job, std::vector<std::string>& assumptions) {
  auto table = GoodputKeys::maybe(root);
  return table ? std::optional{GoodputReader{*table, job, assumptions}.run()} : std::nullopt;
}

std::optional<Target> read_target(ConfigTable& root, const TargetFacts& facts, std::vector<std::string>& assumptions) {
  auto table = TargetKeys::maybe(root);
  return table ? std::optional{TargetReader{*table, facts, assumptions}.run()} : std::nullopt;
}

}  // namespace headroom::goodput
