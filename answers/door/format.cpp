// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/evidence/evidence.hpp>
#include <headroom/answers/page/page.hpp>
#include <headroom/answers/views/brief.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_comparison.hpp>
#include <headroom/answers/views/render_fleet_comparison.hpp>
#include <headroom/answers/views/render_scaling.hpp>
#include <headroom/answers/views/render_simulation.hpp>

#include <array>
#include <variant>

namespace headroom {
namespace {

struct Text {
  bool explained;
  const std::string& file;

  std::string operator()(const Plan& plan) const { return explained ? explain_text(plan) : plan_text(plan); }
  std::string operator()(const SearchPlan& plan) const {
    return explained && plan.plan ? taken_text(plan) + "\n" + explain_text(*plan.plan) : search_text(plan, file);
  }
  std::string operator()(const given::Simulated& s) const { return simulation_text(s.scenario, s.simulation); }
  std::string operator()(const Comparison& c) const { return comparison_text(c); }
  std::string operator()(const FleetComparison& c) const { return fleet_comparison_text(c); }
  std::string operator()(const given::Series& s) const { return scaling_text(s.scenario, s.curve); }
  std::string operator()(const given::Speedup& s) const { return speedup_text(s.scenario, s.answer); }
  template <class Given>
  std::string operator()(const Given& answer) const {
    return KindOf<Given>::text(answer, explained);
  }
};

struct DocumentOf {
  Value operator()(const Plan& plan) const { return plan_document(plan); }
  Value operator()(const SearchPlan& plan) const { return search_document(plan); }
  Value operator()(const given::Simulated& s) const { return simulation_document(s.scenario, s.simulation); }
  Value operator()(const Comparison& c) const { return comparison_document(c); }
  Value operator()(const FleetComparison& c) const { return fleet_comparison_document(c); }
  Value operator()(const given::Series& s) const { return scaling_document(s.scenario, s.curve); }
  Value operator()(const given::Speedup& s) const { return speedup_document(s.scenario, s.answer); }
  template <class Given>
  Value operator()(const Given& answer) const {
    return KindOf<Given>::document(answer);
  }
};

struct CsvOf {
  std::string operator()(const given::Series& s) const { return scaling_csv(s.scenario, s.curve); }
  template <class Given>
  std::string operator()(const Given& answer) const {
    if constexpr (requires { KindOf<Given>::csv(answer); }) {
      return KindOf<Given>::csv(answer);
    } else {
      throw ConfigError{
          "csv holds the rows of a series of GPU counts or of a cluster's schedule; this answer has none: take json"};
    }
  }
};

/// The page's names of the answers, in their order.
template <class... Kind>
constexpr std::array<const char*, std::variant_size_v<GivenAnswer>> names_of(KindList<Kind...> /*kinds*/) {
  return {"plan", "search", "simulation", "comparison", "fleets", "scaling", "speedup", Kind::page...};
}
constexpr std::array page_names = names_of(OwnKinds{});

/// What a page shows beside its answer.
struct Beside {
  report::Documents& documents;
  unsigned threads;

  void operator()(const Plan& plan) const { report::add_evidence(documents, plan); }
  void operator()(const SearchPlan& plan) const {
    if (plan.plan) {
      report::add_evidence(documents, *plan.plan);
    }
  }
  template <class Other>
  void operator()(const Other& answer) const {
    if constexpr (requires { KindOf<Other>::add_evidence(documents, answer, threads); }) {
      KindOf<Other>::add_evidence(documents, answer, threads);
    }
  }
};

}  // namespace

std::string to_text(const GivenAnswer& answer, bool explained, const std::string& file) {
  return std::visit(Text{explained, file}, answer);
}

std::string to_brief(const GivenAnswer& answer) {
  return brief_text(document_of(answer), is_time_over(answer));
}

Value document_of(const GivenAnswer& answer) {
  return std::visit(DocumentOf{}, answer);
}

std::string to_csv(const GivenAnswer& answer) {
  return std::visit(CsvOf{}, answer);
}

std::string to_html(const GivenAnswer& answer, unsigned threads) {
  report::require_charts();
  report::Documents documents;
  documents.all.push_back({page_names[answer.index()], document_of(answer)});
  std::visit(Beside{documents, threads}, answer);
  return report::page(documents);
}

}  // namespace headroom
