// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/verbs/export_reports.hpp>
#include <headroom/core/date.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/reports/focus_bill.hpp>
#include <headroom/scenarios/reports/plan_reports.hpp>

#include <algorithm>
#include <array>
#include <variant>

namespace headroom::cli {
namespace {

constexpr std::array<std::string_view, 3> report_forms{"llm-d", "mlperf-endpoints", "focus"};
constexpr double seconds_of_hour = 3600.0;

ExportedLaunch result_of(const ServedResult& result, std::string_view form) {
  return form == "llm-d" ? benchmark_report(result) : endpoints_summary(result);
}

/// Hours of serving that are billed.
double billed_hours(const Arguments& arguments) {
  constexpr double month = 730.0;  // 8760 hours of a year over 12
  constexpr double most = 876'000.0;
  if (!arguments.has("--hours")) {
    return month;
  }
  const std::optional<double> hours = whole_real(arguments.one("--hours"));
  if (!hours || !(*hours > 0.0) || *hours > most) {
    throw ConfigError{"--hours is " + quoted(arguments.one("--hours")) +
                      "; it must be above 0 and at most 876000, a century"};
  }
  return *hours;
}

void require_day(const std::string& start) {
  if (!parse_date(start)) {
    throw ConfigError{"--start is " + quoted(start) +
                      "; it must be the first day of the charge, e.g. --start 2026-12-01"};
  }
}

ExportedLaunch served_bill(
    const Scenario& scenario, const ServeScenario& serve, double gpus, const Bill& bill, const Arguments& arguments) {
  const BilledUse use{scenario.name, serve.device.id, gpus, billed_hours(arguments), arguments.one("--start")};
  return focus_rows(use, scenario.money, bill);
}

}  // namespace

bool is_report_form(std::string_view form) noexcept {
  return std::find(report_forms.begin(), report_forms.end(), form) != report_forms.end();
}

ExportedLaunch report_of(const Plan& plan, const Arguments& arguments) {
  const std::string form = arguments.one("--to");
  if (const auto* const serve = std::get_if<ServeScenario>(&plan.scenario.question)) {
    return form != "focus" ? result_of(served_result(plan), form)
                           : served_bill(plan.scenario, *serve, static_cast<double>(serve->work.gpus),
                                         std::get<ServePlan>(plan.answer).bill, arguments);
  }
  if (form != "focus") {
    throw ConfigError{"form " + quoted(form) +
                      " is a result of serving, and the scenario asks for training; --to focus "
                      "writes its bill"};
  }
  require_day(arguments.one("--start"));
  const auto& train = std::get<TrainPlan>(plan.answer);
  const double hours = train.calendar.mid.raw() / seconds_of_hour;
  if (!(hours > 0.0)) {
    throw ConfigError{"the training has no end, so that nothing is billed; state training.tokens, or --tokens 15e12"};
  }
  const auto& question = std::get<TrainScenario>(plan.scenario.question);
  return focus_rows(
      {plan.scenario.name, question.device.id, train.gpu_hours.mid / hours, hours, arguments.one("--start")},
      plan.scenario.money, train.bill);
}

ExportedLaunch report_of(const FleetPlan& plan, const Arguments& arguments) {
  const std::string form = arguments.one("--to");
  if (form != "focus") {
    return result_of(served_result(plan), form);
  }
  const FleetOption& option = plan.options.front();
  return served_bill(*option.scenario, option.question(), static_cast<double>(option.gpus), plan.bill, arguments);
}

}  // namespace headroom::cli
