// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/door/job_cost.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace headroom {
namespace {

JobCost nowhere(std::string why) {
  JobCost cost;
  cost.why = why.empty() ? "it does not fit" : std::move(why);
  return cost;
}

JobCost takes(std::int64_t gpus, std::optional<Seconds> time, std::string basis) {
  JobCost cost;
  cost.gpus = gpus;
  cost.time = time && *time > Seconds{} ? time : std::nullopt;
  cost.basis = cost.time ? std::move(basis) : std::string{};
  return cost;
}

/// What an answer takes. Times of training are those that GPUs are held for at the middle of the interval; of a job of
/// records those within which 80 % of runs end.
struct CostOf {
  JobCost operator()(const Plan& plan) const {
    if (const auto* const train = std::get_if<TrainPlan>(&plan.answer)) {
      return plan.feasible()
                 ? takes(static_cast<std::int64_t>(std::get<TrainScenario>(plan.scenario.question).gpus_held() + 0.5),
                         train->calendar.mid, "the middle of the plan's interval")
                 : nowhere(train->problems.empty() ? train->verdict : train->problems.front().text);
    }
    const auto& serve = std::get<ServePlan>(plan.answer);
    return plan.feasible() ? takes(std::get<ServeScenario>(plan.scenario.question).work.gpus, std::nullopt, "")
                           : nowhere(serve.problems.empty() ? serve.verdict : serve.problems.front().text);
  }
  JobCost operator()(const SearchPlan& search) const {
    if (search.plan) {
      return (*this)(*search.plan);
    }
    return nowhere(search.emptied.empty() ? "its search finds no plan" : search.emptied.front());
  }
  JobCost operator()(const NetworkPlan& plan) const {
    if (!plan.feasible()) {
      return nowhere(plan.problems.empty()
                         ? "it takes " + format(plan.total()) + " of a GPU that has " + format(plan.capacity)
                         : plan.problems.front());
    }
    if (!plan.times) {
      return nowhere(plan.untimed);
    }
    return takes(plan.scenario.gpus, plan.times->duration.mid, "the middle of the plan's interval");
  }
  JobCost operator()(const FleetPlan& plan) const {
    return plan.feasible() ? takes(plan.options.front().gpus, std::nullopt, "")
                           : nowhere("no fleet of this SKU keeps what is promised");
  }
  JobCost operator()(const BoxCurve& curve) const {
    return curve.taken ? takes(curve.points[*curve.taken].gpus, std::nullopt, "")
                       : nowhere("no layout of these GPUs keeps what is promised");
  }
  JobCost operator()(const BatchPlan& plan) const {
    if (!plan.feasible()) {
      return nowhere(plan.job && !plan.job->why.empty()         ? plan.job->why
                     : plan.online && !plan.online->why.empty() ? plan.online->why
                                                                : "no call of it fits this SKU");
    }
    if (plan.job) {
      return job(*plan.job);
    }
    return plan.online ? takes(plan.online->gpus, std::nullopt, "") : takes(1, std::nullopt, "");
  }
  JobCost operator()(const TokenJobPlan& plan) const {
    return plan.feasible() ? job(*plan.job) : nowhere(plan.job ? plan.job->why : plan.why);
  }
  template <class Other>
  JobCost operator()(const Other& /*answer*/) const {
    return nowhere("its answer says nothing of GPUs and time");
  }

 private:
  static JobCost job(const JobPlan& plan) { return takes(plan.gpus, plan.time[1], "80 % of runs end within it"); }
};

/// Whether an answer says when the work ends.
struct Ends {
  bool operator()(const asked::OnePlan& q) const { return std::holds_alternative<TrainScenario>(q.scenario.question); }
  bool operator()(const asked::BatchRun& q) const {
    return std::any_of(q.candidates.begin(), q.candidates.end(),
                       [](const BatchCandidate& each) { return each.scenario && each.scenario->job; });
  }
  bool operator()(const asked::FleetSize& /*q*/) const { return false; }
  bool operator()(const BoxQuestion& /*q*/) const { return false; }
  template <class Other>
  bool operator()(const Other& /*q*/) const {
    return true;
  }
};

class PricedQuestion : public JobQuestion {
 public:
  explicit PricedQuestion(AskedQuestion question) : question_{std::move(question)} {}

  [[nodiscard]] bool ends() const override { return std::visit(Ends{}, question_); }
  [[nodiscard]] JobCost cost() const override {
    AnswerOptions options;
    options.beside = false;
    return std::visit(CostOf{}, answer_of(question_, options));
  }

 private:
  AskedQuestion question_;
};

}  // namespace

QuestionReader job_reader(const QuestionLibrary& library) {
  return [&library](ConfigValue document, const std::string& file) {
    return std::make_shared<const PricedQuestion>(read_question(std::move(document), file, library));
  };
}

}  // namespace headroom
