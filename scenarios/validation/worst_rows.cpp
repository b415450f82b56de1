// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/measured/training_row.hpp>
#include <headroom/scenarios/validation/worst_rows.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>

namespace headroom {
namespace {

/// Share of the gap's logarithm that a term must close to be named.
constexpr double least_closed = 0.1;

std::string family_of(const ScoredRow& row) {
  const auto method = row.run->options.find("method");
  std::string family;
  for (const std::string& part : {row.source, row.run->gpu, row.run->framework, row.run->arch,
                                  method == row.run->options.end() ? std::string{} : method->second}) {
    family += part + '\x1f';
  }
  return family;
}

double gap(double ratio) {
  return std::abs(std::log(ratio));
}

void find_term(WorstRow& worst, const ScoredRow& row, const TermPredictor& predictor) {
  double least = (1.0 - least_closed) * gap(worst.time);
  for (std::size_t i = 0; i < term_count; ++i) {
    const RowPrediction p = predictor(row, static_cast<Term>(i));
    if (p.status != RowStatus::ok) {
      continue;
    }
    const double left_out = std::pow(p.predicted / row.prediction.predicted, time_sign(row.metric));
    for (const bool twice : {false, true}) {
      const double changed = worst.time * (twice ? 2.0 - left_out : left_out);
      if (changed > 0.0 && gap(changed) < least) {
        least = gap(changed);
        worst.term = static_cast<Term>(i);
        worst.twice = twice;
        worst.changed = changed;
      }
    }
  }
}

}  // namespace

double time_ratio(const ScoredRow& row) noexcept {
  return std::pow(row.prediction.predicted / row.measured, time_sign(row.metric));
}

bool is_time(const ScoredRow& row) noexcept {
  return row.run != nullptr && row.metric != "memory_gib_per_gpu";
}

std::vector<WorstRow> worst_rows(std::span<const ScoredRow> rows, std::size_t count, const TermPredictor& predictor) {
  std::map<std::string, std::size_t> families;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_time(rows[i]) && rows[i].prediction.status == RowStatus::ok) {
      const auto [at, fresh] = families.try_emplace(family_of(rows[i]), i);
      if (!fresh && gap(time_ratio(rows[i])) > gap(time_ratio(rows[at->second]))) {
        at->second = i;
      }
    }
  }
  std::vector<WorstRow> worst;
  worst.reserve(families.size());
  for (const auto& [family, row] : families) {
    const double ratio = time_ratio(rows[row]);
    worst.push_back({row, ratio, std::nullopt, false, ratio});
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [](const WorstRow& a, const WorstRow& b) { return gap(a.time) > gap(b.time); });
  worst.resize(std::min(worst.size(), count));
  for (WorstRow& row : worst) {
    find_term(row, rows[row.row], predictor);
  }
  return worst;
}

TermPredictor shipped_terms(const Sources& sources) {
  using Models = std::array<std::unique_ptr<TrainingRowModel>, term_count>;
  // One model per term, so that shared objects are looked up once.
  return [&sources, models = std::make_shared<Models>()](const ScoredRow& row, Term without) {
    std::unique_ptr<TrainingRowModel>& model = (*models)[static_cast<std::size_t>(without)];
    if (!model) {
      TermSet terms;
      terms.add(without);
      model = std::make_unique<TrainingRowModel>(sources, terms);
    }
    return model->predict(*row.run, row.metric, row.unit);
  };
}

}  // namespace headroom
