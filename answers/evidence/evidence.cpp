// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/evidence/evidence.hpp>
#include <headroom/answers/views/layer_roofline.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_roofline.hpp>
#include <headroom/answers/views/render_scaling.hpp>

#include <array>

namespace headroom::report {
namespace {

/// Adds a document, or the reason why there is none.
template <class Make>
void add(Documents& documents, std::string_view id, std::string_view what, Make make) {
  try {
    documents.all.push_back({std::string{id}, make()});
  } catch (const ConfigError& error) {
    const auto diagnostics = error.diagnostics();
    documents.left_out.push_back(std::string{what} + ": " +
                                 (diagnostics.empty() ? std::string{error.what()} : diagnostics.front().message));
  }
}

const GemmFormat& format_of(Precision precision) {
  const GemmFormat* const format = find_gemm_format(name_of(precision));
  if (format == nullptr) {
    throw ConfigError{"no kernel of " + std::string{name_of(precision)} + " was measured op by op"};
  }
  return *format;
}

/// The layers as one rank of the plan runs them, but for what the notes say.
RooflineReport roofline_of(const TrainScenario& train, const Strategy& strategy) {
  const GemmFormat& format = format_of(train.work.precision);
  LayerQuestion question;
  question.batch = strategy.micro_batch;
  question.tokens = static_cast<double>(train.work.shape.seq_len) / strategy.cp;
  question.context = question.tokens;
  question.tp = strategy.tp;
  question.weight_bytes = format.weight_bytes;
  std::array questions{question, question};
  questions.back().phase = LayerPhase::backward;
  RooflineReport report =
      layer_roofline(*train.data, train.architecture, train.device, format, question.cache_bytes, questions);
  if (strategy.cp > 1) {
    report.notes.push_back("a rank's share of a sequence stands for itself (cp " + std::to_string(strategy.cp) + ")");
  }
  if (strategy.ep > 1) {
    report.notes.push_back("experts as on a rank that holds all of them (ep " + std::to_string(strategy.ep) + ")");
  }
  return report;
}

RooflineReport roofline_of(const ServeScenario& serve, const ServingEstimate& estimate) {
  const GemmFormat& format = format_of(serve.work.weights);
  LayerQuestion prefill;
  prefill.phase = LayerPhase::prefill;
  prefill.tokens = static_cast<double>(serve.work.isl);
  prefill.context = prefill.tokens;
  prefill.tp = static_cast<double>(serve.work.layout.tp);
  prefill.weight_bytes = format.weight_bytes;
  prefill.cache_bytes = serve.work.kv == Precision::bf16 || serve.work.kv == Precision::fp16 ? 2.0 : 1.0;
  LayerQuestion decode = prefill;
  decode.phase = LayerPhase::decode;
  decode.batch = static_cast<double>(estimate.batch);
  decode.tokens = 1.0;
  decode.context = static_cast<double>(serve.work.isl + serve.work.osl);
  const std::array questions{prefill, decode};
  return layer_roofline(*serve.data, serve.architecture, serve.device, format, prefill.cache_bytes, questions);
}

/// The curve prices the scenario as it stands: beside a level moved by the user's runs, or a step without a term, its
/// point at the plan's own count would be another number.
void require_plain(const Plan& plan) {
  bool whole = true;
  for (std::size_t i = 0; i < term_count; ++i) {
    whole = whole && !plan.without.has(static_cast<Term>(i));
  }
  if (!whole || plan.own_runs) {
    throw ConfigError{std::string{"the plan is priced with "} + (whole ? "runs of yours" : "terms left out") +
                      ", the series would not be"};
  }
}

void add_beside(Documents& documents, const Plan& plan, const ServeScenario& serve) {
  const ServingEstimate& estimate = std::get<ServePlan>(plan.answer).estimate;
  if (estimate.verdict == Verdict::feasible) {
    add(documents, "roofline", "ops of a layer", [&] { return roofline_document(roofline_of(serve, estimate)); });
  }
}

void add_beside(Documents& documents, const Plan& plan, const TrainScenario& train) {
  const auto& answer = std::get<TrainPlan>(plan.answer);
  if (!answer.problems.empty() || answer.step.mid.raw() <= 0.0) {
    return;
  }
  add(documents, "roofline", "ops of a layer", [&] { return roofline_document(roofline_of(train, answer.strategy)); });
  add(documents, "scaling", "other numbers of GPUs", [&] {
    require_plain(plan);
    return scaling_document(plan.scenario, scaling::scaling_curve(plan.scenario, {}));
  });
  if (plan.confidence) {
    add(documents, "accuracy", "past errors",
        [&] { return accuracy_document(step_confidence(plan.scenario.sources->data), plan.confidence->run_class); });
  }
}

}  // namespace

void add_evidence(Documents& documents, const Plan& plan) {
  if (plan.part == PlanPart::all) {
    std::visit([&](const auto& question) { add_beside(documents, plan, question); }, plan.scenario.question);
  }
}

void add_evidence(Documents& documents, const NetworkPlan& plan) {
  if (plan.times) {
    add(documents, "accuracy", "past errors",
        [&] { return accuracy_document(step_confidence(*plan.scenario.data), plan.times->run_class); });
  }
}

Value accuracy_document(const Confidence& table, RunClass asked) {
  Value classes = Value::empty_list();
  for (std::size_t i = 0; i < run_class_count; ++i) {
    const ClassErrors& e = table.classes[i];
    classes.push(object("class"_m = run_class_names[i], "text"_m = run_class_texts[i], "rows"_m = e.rows,
                        "sources"_m = e.sources, "width_50"_m = share(e.width_50), "width_80"_m = share(e.width_80),
                        "width_90"_m = share(e.width_90), "source"_m = e.source));
  }
  return object("schema"_m = "headroom.accuracy/1", "class"_m = run_class_names[static_cast<std::size_t>(asked)],
                "source"_m = table.source, "classes"_m = std::move(classes));
}

}  // namespace headroom::report
