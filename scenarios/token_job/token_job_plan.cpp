// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/inference/job_time.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/token_job/token_job_plan.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

std::string reason_of(const ConfigError& error) {
  return error.diagnostics().empty() ? std::string{error.what()} : error.diagnostics().front().message;
}

/// Ranks of a replica.
struct Ranks {
  std::int64_t tp = 1, pp = 1, ep = 1;
};

/// The best of what was tried.
struct Best {
  double rate_per_gpu = 0.0;
  Changes changes;
};

class ReplicaChoice {
 public:
  explicit ReplicaChoice(const TokenJob& job) : job_{job} {}

  /// The stated layout; else powers of two of tensor ranks within a host, and stages where none of these fits.
  void run() {
    if (!job_.layout_open) {
      try_layout(std::nullopt);
      return;
    }
    const ServeScenario& s = job_.serve();
    const std::int64_t host = s.host ? s.host->gpus : 8;
    std::int64_t widest = 1;
    for (std::int64_t tp = 1; tp <= host; tp *= 2) {
      try_ranks(tp, 1);
      widest = tp;
    }
    for (std::int64_t pp = 2; best.rate_per_gpu <= 0.0 && !fits_ && widest * pp <= most_replica_gpus; pp *= 2) {
      try_ranks(widest, pp);
    }
  }

  /// The least replica that surely holds the model, whatever is stated of ranks and GPUs; empty: there is none.
  [[nodiscard]] Changes least() const {
    const ServeScenario& s = job_.serve();
    const std::int64_t host = s.host ? s.host->gpus : 8;
    for (std::int64_t gpus = 1; gpus <= most_replica_gpus; gpus *= 2) {
      std::int64_t tp = gpus;
      while (tp > host) {
        tp /= 2;
      }
      Changes changes = changes_to({tp, gpus / tp, 1});
      if (holds(changes)) {
        if (job_.layout_open) {  // what is blank is 1 already
          std::erase_if(changes, [](const Change& each) {
            return (each.knob == Knob::pp || each.knob == Knob::ep) && each == Change{each.knob, 1};
          });
        }
        return changes;
      }
    }
    return {};
  }

  /// The narrower weights that serving's plan names, where they alone let the last misfit hold the model.
  [[nodiscard]] Changes narrower() const {
    if (!misfit_) {
      return {};
    }
    const Plan plan = make_plan(changed(job_.replica, *misfit_), false, PlanPart::memory);
    for (const Change& change : std::get<ServePlan>(plan.answer).changes_of_weights) {
      Changes with = *misfit_;
      with.push_back(change);
      if (change.knob == Knob::weights && holds(with)) {
        return {change};
      }
    }
    return {};
  }

  std::vector<TriedReplica> tried;
  Best best;
  std::string why;
  std::optional<ConfigError> wrong;  ///< of the first layout that cannot be read or priced
  bool answered = false;             ///< some layout can

 private:
  [[nodiscard]] static Changes changes_to(const Ranks& ranks) {
    return {{Knob::tp, ranks.tp}, {Knob::pp, ranks.pp}, {Knob::ep, ranks.ep}, {Knob::gpus, ranks.tp * ranks.pp}};
  }
  [[nodiscard]] bool holds(const Changes& changes) const {
    try {
      return std::get<ServePlan>(make_plan(changed(job_.replica, changes), false, PlanPart::memory).answer)
                 .estimate.verdict == Verdict::feasible;
    } catch (const ConfigError&) {  // ranks that break a rule hold nothing
      return false;
    }
  }

  void try_ranks(std::int64_t tp, std::int64_t pp) {
    if (job_.gpus && *job_.gpus % (tp * pp) != 0) {
      return;  // GPUs would be left over
    }
    try_layout(Ranks{tp, pp, 1});
    if (job_.serve().architecture.moe && tp > 1) {
      try_layout(Ranks{tp, pp, tp});
    }
  }

  void try_layout(std::optional<Ranks> ranks) {
    const std::int64_t gpus = ranks ? ranks->tp * ranks->pp : job_.serve().work.layout.gpus();
    const Changes changes = ranks ? changes_to(*ranks) : Changes{{Knob::gpus, gpus}};
    TriedReplica row;
    row.layout = job_.serve().work.layout;
    if (ranks) {
      row.layout.tp = ranks->tp;
      row.layout.pp = ranks->pp;
      row.layout.ep = ranks->ep;
    }
    row.in_flight = job_.serve().work.concurrency;
    try {
      const Plan memory = make_plan(changed(job_.replica, changes), false, PlanPart::memory);
      const auto& answer = std::get<ServePlan>(memory.answer);
      if (!answer.problems.empty()) {
        row.why = answer.problems.front().text;
      } else if (!memory.feasible() || answer.estimate.verdict != Verdict::feasible) {
        row.why = answer.verdict;
        misfit_ = changes;
      }
      answered = answered || !row.why.empty();
      if (row.why.empty()) {
        fits_ = true;
        for (const std::int64_t load : loads_of(memory, answer)) {
          if (!try_load(row, changes, load, gpus)) {
            break;
          }
        }
        return;
      }
    } catch (const ConfigError& error) {
      row.why = reason_of(error);
      wrong = wrong ? wrong : error;
    }
    why = row.why;
    tried.push_back(std::move(row));
  }

  /// Requests in flight: the stated number, else powers of two up to what surely runs at once, and that itself. A
  /// replica works on one chunk at a time.
  [[nodiscard]] std::vector<std::int64_t> loads_of(const Plan& memory, const ServePlan& answer) const {
    if (!job_.load_open) {
      return {job_.serve().work.concurrency};
    }
    const ServingWorkload& work = std::get<ServeScenario>(memory.scenario.question).work;
    std::int64_t most = work.max_num_seqs * work.layout.attention_groups();
    if (answer.estimate.memory.bounded()) {
      most = std::min(most, answer.estimate.memory.capacity_low);
    }
    const double chunk = std::min(real(job_.job.chunk), job_.job.records);
    most = std::max<std::int64_t>(1, std::min(most, static_cast<std::int64_t>(std::min(chunk, 1e9))));
    std::vector<std::int64_t> loads;
    for (std::int64_t load = 1; load < most; load *= 2) {
      loads.push_back(load);
    }
    loads.push_back(most);
    return loads;
  }

  /// Whether it has times, without which more in flight have none either.
  bool try_load(TriedReplica row, Changes changes, std::int64_t load, std::int64_t gpus) {
    changes.push_back({Knob::concurrency, load});
    row.in_flight = load;
    try {
      const Plan plan = price_plan(changed(job_.replica, changes));
      const auto& answer = std::get<ServePlan>(plan.answer);
      row.fits = plan.feasible();
      answered = true;
      if (answer.times) {
        row.rate_per_gpu = answer.requests_per_s.mid / real(gpus);
      } else {
        row.why = answer.untimed.empty() ? answer.verdict : answer.untimed;
      }
    } catch (const ConfigError& error) {
      row.why = reason_of(error);
      wrong = wrong ? wrong : error;
    }
    if (row.rate_per_gpu > best.rate_per_gpu) {
      best = {row.rate_per_gpu, std::move(changes)};
    }
    why = row.why.empty() ? why : row.why;
    tried.push_back(std::move(row));
    return tried.back().rate_per_gpu > 0.0;
  }

  const TokenJob& job_;
  bool fits_ = false;              ///< some layout does
  std::optional<Changes> misfit_;  ///< the last layout that obeys the rules and does not hold the model
};

/// Standard deviation of the logarithm on one side of the middle, an end of the interval of 80 %.
double sigma_of(double more, double less) noexcept {
  return less > 0.0 ? std::max(0.0, std::log(more / less)) / normal_quantile(0.9) : 0.0;
}

std::string layout_text(const ServingLayout& layout) {
  return "tp " + std::to_string(layout.tp) + ", pp " + std::to_string(layout.pp) +
         (layout.ep > 1 ? ", ep " + std::to_string(layout.ep) : "");
}

/// What is said of a choice, as of any key that is left out.
void tell_choice(const TokenJob& job, const ServeScenario& taken, std::vector<std::string>& assumptions) {
  const std::string why = " (chosen: the most records a second of each GPU among those that surely fit)";
  if (job.layout_open) {
    assumptions.push_back("strategy: " + layout_text(taken.work.layout) + why);
  }
  if (job.load_open) {
    assumptions.push_back("serving.concurrency = " + std::to_string(taken.work.concurrency) + " in each replica" + why);
  }
}

/// Watts of a replica whose GPUs work a share of the time.
std::optional<Watts> power_of(const ServePlan& answer, double busy, double gpus) {
  if (!answer.energy) {
    return std::nullopt;
  }
  const PlanEnergy& energy = *answer.energy;
  return energy.pue.value_or(1.0) * gpus * (busy * energy.gpu + (1.0 - busy) * energy.model.idle + energy.model.host);
}

void size(TokenJobPlan& plan) {
  const TokenJob& asked = plan.question;
  const ServePlan& served = plan.served();
  const Interval<double>& rate = served.requests_per_s;
  const std::int64_t gpus = plan.serve().work.layout.gpus();
  const std::string name = gpus > 1 ? "replica of " + std::to_string(gpus) + " GPUs" : "GPU";
  JobUnit unit;
  unit.called = asked.job.utilisation * rate.mid;
  unit.slow = sigma_of(rate.mid, rate.low);
  unit.fast = sigma_of(rate.high, rate.mid);
  unit.gpus = gpus;
  unit.name = name;
  JobPlan job = size_job({asked.job, asked.gpus, plan.serve().confidence, asked.replica.money.price}, unit);
  job.busy = asked.job.utilisation;
  if (const auto watts = power_of(served, job.busy, real(job.gpus))) {
    job.energy = *watts * job.time[0];
  }
  plan.notes.insert(plan.notes.end(), job.notes.begin(), job.notes.end());
  // The last round of chunks is whole for every replica.
  const double chunk = std::min(real(asked.job.chunk), asked.job.records);
  const double rounds = std::ceil(std::ceil(asked.job.records / chunk) / real(job.units));
  const double more = rounds * chunk * real(job.units) / asked.job.records;
  if (more > 1.05 && real(job.units) * chunk < asked.job.records) {
    plan.notes.push_back("a replica answers " + counted(static_cast<std::int64_t>(rounds), "chunk") + " of " +
                         format_count(chunk) + " records, " + percent(more - 1.0, 2) +
                         " more than an even share; smaller chunks (job.chunk) share evenly");
  }
  plan.job = std::move(job);
}

}  // namespace

const ServeScenario& TokenJobPlan::serve() const {
  return replica ? std::get<ServeScenario>(replica->scenario.question) : question.serve();
}

double TokenJobPlan::tokens_of_record() const {
  return served().output_tokens_per_s.mid / served().requests_per_s.mid;
}

std::optional<Dollars> TokenJobPlan::per_million_output_tokens() const {
  return job->per_million ? std::optional{1.0 / tokens_of_record() * *job->per_million} : std::nullopt;
}

TokenJobPlan plan_token_job(TokenJob question, bool explain) {
  TokenJobPlan plan;
  plan.question = std::move(question);
  const TokenJob& asked = plan.question;
  ReplicaChoice choice{asked};
  choice.run();
  plan.tried = std::move(choice.tried);
  plan.assumptions = asked.assumptions;
  if (choice.best.rate_per_gpu <= 0.0) {
    if (!choice.answered && choice.wrong) {
      throw *choice.wrong;
    }
    plan.why = choice.why;
    if (plan.tried.empty()) {
      plan.why = "no power of two of ranks divides " + counted(*asked.gpus, "GPU");
    }
    if (std::none_of(plan.tried.begin(), plan.tried.end(), [](const TriedReplica& each) { return each.fits; })) {
      plan.way_out = choice.least();
      plan.way_out_of_weights = choice.narrower();
    }
    return plan;
  }
  plan.replica = make_plan(changed(asked.replica, choice.best.changes), explain);
  tell_choice(asked, plan.serve(), plan.assumptions);
  plan.assumptions.insert(plan.assumptions.end(), plan.replica->scenario.assumptions.begin(),
                          plan.replica->scenario.assumptions.end());
  // The plan's notes begin with what was assumed of the question.
  plan.notes.assign(
      plan.replica->notes.begin() + static_cast<std::ptrdiff_t>(plan.replica->scenario.assumptions.size()),
      plan.replica->notes.end());
  plan.interval_source = serving_errors(plan.serve(), ServingQuantity::rate).text();
  size(plan);
  return plan;
}

}  // namespace headroom
