// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

constexpr Range<double> width_range{0.001, 10.0};
constexpr Range<double> deviation_range{0.001, 3.0};

bool lists(const std::vector<std::string>& list, std::string_view word) noexcept {
  return std::find(list.begin(), list.end(), word) != list.end();
}

ClassErrors read_class(ConfigTable table) {
  ClassErrors c;
  c.rows = table.integer("rows");
  c.sources = table.integer("sources");
  c.width_50 = table.number("width_50", width_range);
  c.width_80 = table.number("width_80", width_range);
  c.width_90 = table.number("width_90", width_range);
  c.level = table.number("level", deviation_range);
  c.shape = table.number("shape", deviation_range);
  c.source = table.maybe_text("source").value_or("");
  const bool complete = table.has("width_50") && table.has("width_80") && table.has("width_90");
  if (complete && (c.width_50 > c.width_80 || c.width_80 > c.width_90)) {
    table.problem("width_80", "width_50, width_80 and width_90 must not fall: they are quantiles of the same errors");
  }
  if (table.has("rows") && table.has("sources") && c.sources > c.rows) {
    table.problem("sources", "'sources' is above 'rows'; a source has at least one");
  }
  table.finish();
  return c;
}

MeasuredRange read_range(ConfigTable& table, std::string_view key) {
  const std::vector<std::int64_t> ends = table.integers(key);
  if (ends.size() != 2 || ends[0] < 1 || ends[0] > ends[1]) {
    if (table.has(key)) {
      table.problem(key, "'" + std::string{key} + "' must be [smallest, largest] of what was measured");
    }
    return {};
  }
  return {ends[0], ends[1]};
}

void read_precisions(ConfigTable table, MeasuredGround& ground) {
  for (const std::string_view generation : table.keys()) {
    std::vector<std::string> recipes = table.texts(generation);
    for (const std::string& recipe : recipes) {
      const auto& known = training_precision_names;
      if (std::find(known.begin(), known.end(), recipe) == known.end()) {
        const std::vector<std::string_view> words{known.begin(), known.end()};
        table.problem(generation, quoted(recipe) + " is no training recipe" + suggestion(recipe, words));
      }
    }
    ground.precisions.emplace(generation, std::move(recipes));
  }
  table.finish();
}

MeasuredGround read_ground(ConfigTable table) {
  MeasuredGround ground;
  ground.skus = table.texts("skus");
  ground.same_kernels = table.texts("same_kernels");
  ground.software = table.texts("software");
  ground.gpus = table.integer("gpus");
  ground.hidden = read_range(table, "hidden");
  ground.seq_len = read_range(table, "seq_len");
  ground.source = table.text("source");
  read_precisions(table.table("precisions"), ground);
  table.finish();
  return ground;
}

}  // namespace

Confidence read_confidence(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  static_cast<void>(file);
  require_schema(root);
  static_cast<void>(root.text("id"));
  Confidence confidence;
  confidence.source = root.text("source");
  ConfigTable classes = root.table("class");
  for (std::size_t i = 0; i < run_class_count; ++i) {
    confidence.classes[i] = read_class(classes.table(run_class_names[i]));
  }
  classes.finish();
  confidence.measured = read_ground(root.table("measured"));
  root.finish();
  return confidence;
}

const Confidence& step_confidence(const ModelData& data) {
  return step_numbers(data, "confidence", read_confidence);
}

RunClass class_of(const Device& device,
                  const Architecture& architecture,
                  bool adapters,
                  const MeasuredGround& measured) noexcept {
  if (device.curves != device.id && !lists(measured.same_kernels, device.id)) {
    return RunClass::other_kernels;
  }
  if (adapters) {
    return RunClass::adapters;
  }
  return architecture.moe ? RunClass::experts : RunClass::dense;
}

StepKind kind_of(RunClass run_class) noexcept {
  switch (run_class) {
    case RunClass::dense: return StepKind::dense;
    case RunClass::adapters: return StepKind::adapters;
    default: return StepKind::experts;
  }
}

ClassErrors errors_of(const Confidence& confidence,
                      RunClass run_class,
                      const StepPosterior& posterior,
                      const StepUnknown& unknown) {
  ClassErrors errors = confidence[run_class];
  if (run_class == RunClass::other_kernels) {
    return errors;
  }
  const StepVariance variance = posterior.variance(unknown);
  const DeviationQuantiles& q = posterior.quantiles_of(unknown.kind);
  const double deviation = std::sqrt(variance.total());
  errors.width_50 = std::expm1(q.half * deviation);
  errors.width_80 = std::expm1(q.eighty * deviation);
  errors.width_90 = std::expm1(q.ninety * deviation);
  // The same factor as the 80 % width has over a normal distribution's.
  constexpr double z80 = 1.2815515655446004;
  const double scale = q.eighty / z80;
  errors.shape = scale * std::sqrt(variance.shape);
  errors.level = scale * std::sqrt(variance.total() - variance.shape);
  return errors;
}

ClassErrors wide_errors(const Confidence& confidence, const ClassErrors& own) {
  const ClassErrors& wide = confidence[RunClass::wide_experts];
  ClassErrors errors = own;
  errors.source += "; " + wide.source;
  const auto widen = [&](double ClassErrors::*number) { errors.*number = std::max(errors.*number, wide.*number); };
  widen(&ClassErrors::width_50);
  widen(&ClassErrors::width_80);
  widen(&ClassErrors::width_90);
  widen(&ClassErrors::level);
  widen(&ClassErrors::shape);
  return errors;
}

ClassErrors errors_beside(const ClassErrors& own, const ClassErrors& other) noexcept {
  ClassErrors errors = own;
  for (double ClassErrors::*width : {&ClassErrors::width_50, &ClassErrors::width_80, &ClassErrors::width_90}) {
    errors.*width = std::expm1(std::hypot(std::log1p(own.*width), std::log1p(other.*width)));
  }
  errors.level = std::hypot(own.level, other.level);
  errors.shape = std::hypot(own.shape, other.shape);
  return errors;
}

ClassErrors errors_beside_runs(const ClassErrors& own,
                               RunClass run_class,
                               const StepPosterior& posterior,
                               bool of_job) {
  ClassErrors errors = own;
  if (run_class == RunClass::other_kernels || posterior.shape <= 0.0) {
    return errors;
  }
  const double noise = of_job ? posterior.run_noise(kind_of(run_class)) / posterior.shape : 1.0;
  errors.shape *= noise * std::sqrt(1.0 - posterior.alike);
  errors.level = std::sqrt(own.level * own.level + own.shape * own.shape - errors.shape * errors.shape);
  return errors;
}

RunClass widest_class(const Confidence& confidence) noexcept {
  static_assert(static_cast<std::size_t>(RunClass::other_kernels) + 2 == run_class_count);
  static_assert(static_cast<std::size_t>(RunClass::wide_experts) + 1 == run_class_count);
  const auto* const widest =
      std::max_element(confidence.classes.begin(), confidence.classes.end() - 2,
                       [](const ClassErrors& a, const ClassErrors& b) { return a.width_80 < b.width_80; });
  return static_cast<RunClass>(widest - confidence.classes.begin());
}

}  // namespace headroom
