// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/evidence/evidence.hpp>
#include <headroom/answers/page/page.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_comparison.hpp>
#include <headroom/answers/views/render_fleet.hpp>
#include <headroom/answers/views/render_scaling.hpp>
#include <headroom/answers/views/render_simulation.hpp>

namespace headroom {
namespace {

struct Text {
  bool explained;
  const std::string& file;

  std::string operator()(const Plan& plan) const { return explained ? explain_text(plan) : plan_text(plan); }
  std::string operator()(const NetworkPlan& plan) const {
    return explained ? network_explain_text(plan) : network_plan_text(plan);
  }
  std::string operator()(const FleetPlan& plan) const { return fleet_text(plan); }
  std::string operator()(const SearchPlan& plan) const {
    return explained && plan.plan ? taken_text(plan) + "\n" + explain_text(*plan.plan) : search_text(plan, file);
  }
  std::string operator()(const given::Simulated& s) const { return simulation_text(s.scenario, s.simulation); }
  std::string operator()(const Comparison& c) const { return comparison_text(c); }
  std::string operator()(const given::Series& s) const { return scaling_text(s.scenario, s.curve); }
  std::string operator()(const given::Speedup& s) const { return speedup_text(s.scenario, s.answer); }
};

struct Json {
  std::string operator()(const Plan& plan) const { return plan_json(plan); }
  std::string operator()(const NetworkPlan& plan) const { return network_plan_json(plan); }
  std::string operator()(const FleetPlan& plan) const { return fleet_json(plan); }
  std::string operator()(const SearchPlan& plan) const { return search_json(plan); }
  std::string operator()(const given::Simulated& s) const { return simulation_json(s.scenario, s.simulation); }
  std::string operator()(const Comparison& c) const { return comparison_json(c); }
  std::string operator()(const given::Series& s) const { return scaling_json(s.scenario, s.curve); }
  std::string operator()(const given::Speedup& s) const { return speedup_json(s.scenario, s.answer); }
};

struct Pages {
  unsigned threads;

  report::Documents operator()(const Plan& plan) const { return report::plan_documents(plan); }
  report::Documents operator()(const NetworkPlan& plan) const { return report::network_documents(plan); }
  report::Documents operator()(const FleetPlan& plan) const { return report::fleet_documents(plan, threads); }
  report::Documents operator()(const SearchPlan& plan) const { return report::search_documents(plan); }
  report::Documents operator()(const given::Simulated& s) const {
    return report::simulation_documents(s.scenario, s.simulation);
  }
  report::Documents operator()(const Comparison& c) const {
    return report::one_document("comparison", comparison_json(c));
  }
  report::Documents operator()(const given::Series& s) const {
    return report::one_document("scaling", scaling_json(s.scenario, s.curve));
  }
  report::Documents operator()(const given::Speedup& s) const {
    return report::one_document("speedup", speedup_json(s.scenario, s.answer));
  }
};

}  // namespace

std::string to_text(const GivenAnswer& answer, bool explained, const std::string& file) {
  return std::visit(Text{explained, file}, answer);
}

std::string to_json(const GivenAnswer& answer) {
  return std::visit(Json{}, answer);
}

std::string to_csv(const GivenAnswer& answer) {
  if (const auto* const series = std::get_if<given::Series>(&answer)) {
    return scaling_csv(series->curve);
  }
  throw ConfigError{"csv holds the rows of a series of GPU counts; this answer has none: take json"};
}

std::string to_html(const GivenAnswer& answer, unsigned threads) {
  report::require_charts();
  return report::page(std::visit(Pages{threads}, answer));
}

}  // namespace headroom
