// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/serving_errors.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace headroom {
namespace {

constexpr std::size_t least_rows = 40;
constexpr std::size_t least_publications =
    3;  ///< of a stack's queues: two tell next to nothing of how far a third lies
constexpr double least_factor = 0.01;
constexpr double told_by_all = 3.0;    ///< publications that centre and level of all stacks count as, in one stack's
constexpr double told_by_class = 6.0;  ///< runs that the class counts as, in the factor of a SKU or format
constexpr std::string_view any_stack = "any";
constexpr std::array<double, 2> factor_bounds{0.7, 1.6};

ServingQuantity quantity_of(const FittedServingRun& run) noexcept {
  const std::string_view metric = run.row->metric;
  const ServingQuantity steady = metric.starts_with("ttft") || metric.starts_with("e2e") ? ServingQuantity::ttft
                                 : metric.starts_with("tpot")                            ? ServingQuantity::tpot
                                                                                         : ServingQuantity::rate;
  return run.queue ? in_queue(steady) : steady;
}

/// What is left of ln(measured / predicted) beyond the reach of the engine's speed (model's beside_reach): squares of
/// both add up.
double beyond_reach(double residual, const QueueReach& reach) noexcept {
  const double end = std::log(residual < 0.0 ? reach.low : reach.high);
  return std::copysign(std::sqrt(std::max(0.0, residual * residual - end * end)), residual);
}

double residual(const FittedServingRun& run) noexcept {
  return beyond_reach(std::isfinite(run.left_out) ? -run.left_out : -run.fitted, run.reach);
}

/// What a tenth of Student's t with so many degrees of freedom (>= 1) lies above, to 2 % from two on (Abramowitz and
/// Stegun 1964, equation 26.7.5).
double student_tenth(double freedom) noexcept {
  const double z = 1.2816;  // of the standard normal
  const double cube = z * z * z;
  return z + (cube + z) / (4.0 * freedom) + (5.0 * cube * z * z + 16.0 * cube + 3.0 * z) / (96.0 * freedom * freedom);
}

struct Gathered {
  std::map<std::string, std::vector<double>> publications;  ///< residuals by publication and stack
  std::set<std::string> sources;
  std::vector<double> sizes, left_out;
  std::size_t rows = 0;
};

/// What a class's rows say by themselves.
struct Spread {
  double centre = 0.0, level = 0.0;
  double low = 0.0, high = 0.0;  ///< tenth and ninetieth percentile around the publications' medians
  double publications = 0.0;
};

Spread spread_of(const Gathered& g) {
  Spread s;
  s.publications = static_cast<double>(g.publications.size());
  std::vector<double> medians;
  std::vector<double> weights;
  std::vector<double> around;
  std::vector<double> around_weights;
  double sum = 0.0;
  for (const auto& [name, values] : g.publications) {
    medians.push_back(median(values));
    weights.push_back(std::sqrt(static_cast<double>(values.size())));
    sum += weights.back();
    s.centre += weights.back() * medians.back();
    for (const double value : values) {
      around.push_back(value - medians.back());
      around_weights.push_back(1.0 / weights.back());
    }
  }
  s.centre /= sum;
  s.low = std::min(0.0, weighted_quantile(around, around_weights, 0.1));
  s.high = std::max(0.0, weighted_quantile(around, around_weights, 0.9));
  if (medians.size() > 1) {
    double square = 0.0;
    for (std::size_t i = 0; i < medians.size(); ++i) {
      square += weights[i] / sum * std::pow(medians[i] - s.centre, 2);
    }
    s.level = std::sqrt(square * s.publications / (s.publications - 1.0));
  }
  return s;
}

ServingErrors errors_of(std::string_view stack,
                        ServingQuantity quantity,
                        bool experts,
                        const Gathered& g,
                        const Spread& s,
                        double level,
                        double freedom) {
  ServingErrors e;
  e.stack = stack;
  e.quantity = quantity;
  e.experts = experts;
  e.rows = static_cast<std::int64_t>(g.rows);
  e.sources = static_cast<std::int64_t>(g.sources.size());
  const double reach = student_tenth(std::max(1.0, freedom)) * level * std::sqrt(1.0 + 1.0 / s.publications);
  e.low = std::clamp(std::exp(s.centre - std::hypot(s.low, reach)), least_factor, 1.0);
  e.high = std::clamp(std::exp(s.centre + std::hypot(s.high, reach)), 1.0, 1.0 / least_factor);
  e.level = level;
  e.median = median(g.sizes);
  e.left_out_median = g.left_out.empty() ? 0.0 : median(g.left_out);
  return e;
}

using Kind = std::pair<ServingQuantity, bool>;

/// Half widths that rows of one SKU, or of one format, take up, and how many runs told it.
struct Stretch {
  std::vector<double> values, weights;
  std::set<std::string> runs;
};

std::vector<WidthFactor> factors_of(const std::map<std::string, Stretch>& all) {
  std::vector<double> values;
  std::vector<double> weights;
  for (const auto& [name, stretch] : all) {
    values.insert(values.end(), stretch.values.begin(), stretch.values.end());
    weights.insert(weights.end(), stretch.weights.begin(), stretch.weights.end());
  }
  const double usual = values.empty() ? 1.0 : std::max(0.05, weighted_quantile(values, weights, 0.8));
  std::vector<WidthFactor> factors;
  for (const auto& [name, stretch] : all) {
    const double n = static_cast<double>(stretch.runs.size());
    const double taken = std::max(0.05, weighted_quantile(stretch.values, stretch.weights, 0.8)) / usual;
    const double factor = std::exp(n / (n + told_by_class) * std::log(taken));
    factors.push_back({name, std::clamp(factor, factor_bounds[0], factor_bounds[1]),
                       static_cast<std::int64_t>(stretch.values.size())});
  }
  return factors;
}

/// The factors of all names that `name` gives the runs, the widths of `confidence` taken as they are.
std::vector<WidthFactor> factors_by(const ServingFit& fit,
                                    std::string_view without,
                                    const ServingConfidence& confidence,
                                    const std::string FittedServingRun::*name) {
  std::map<std::string, Stretch> all;
  for (const FittedServingRun& run : fit.runs) {
    if (run.row->source == without || run.offered || (run.*name).empty()) {
      continue;
    }
    const ServingErrors e = confidence.of(run.stack, quantity_of(run), run.experts, run.sku, run.weights);
    const double low = std::log(e.low);
    const double high = std::log(e.high);
    Stretch& stretch = all[run.*name];
    stretch.values.push_back(std::abs(residual(run) - 0.5 * (low + high)) / std::max(1e-3, 0.5 * (high - low)));
    stretch.weights.push_back(run.weight);
    stretch.runs.insert(run.row->source + "/" + run.row->serving.model + "/" + run.stack);
  }
  return factors_of(all);
}

}  // namespace

ServingConfidence confidence_of_serving_fit(const ServingFit& fit, std::string_view without) {
  std::map<std::pair<std::string, Kind>, Gathered> groups;
  for (const FittedServingRun& run : fit.runs) {
    if (run.row->source == without || run.offered) {
      continue;
    }
    const Kind kind{quantity_of(run), run.experts};
    for (const std::string& stack : {run.stack, std::string{any_stack}}) {
      if (stack == any_stack && !fit.only.empty()) {
        continue;  // rows of a few stacks do not represent all
      }
      Gathered& g = groups[{stack, kind}];
      g.publications[run.row->source + "/" + run.stack].push_back(residual(run));
      g.sources.insert(run.row->source);
      g.sizes.push_back(std::abs(std::expm1(run.fitted)));
      ++g.rows;
      if (std::isfinite(run.left_out)) {
        g.left_out.push_back(std::abs(std::expm1(run.left_out)));
      }
    }
  }
  const ServingConfidence before{fit.classes};
  const auto spread_of_all = [&](const Kind& kind) {
    const auto all = groups.find({std::string{any_stack}, kind});
    if (all != groups.end()) {
      return spread_of(all->second);
    }
    const auto told = std::find_if(fit.classes.begin(), fit.classes.end(), [&](const ServingErrors& e) {
      return e.stack == any_stack && e.quantity == kind.first && e.experts == kind.second;
    });
    Spread s;
    if (told != fit.classes.end()) {
      s.level = told->level;
      s.centre = 0.5 * std::log(told->low * told->high);
    }
    return s;
  };
  std::vector<ServingErrors> classes;
  for (const auto& [key, g] : groups) {
    const auto& [stack, kind] = key;
    const bool queues = kind.first == in_queue(kind.first);
    if (stack != any_stack && (g.rows < least_rows || (queues && g.publications.size() < least_publications))) {
      continue;
    }
    Spread s = spread_of(g);
    const double own = s.publications - 1.0;
    const Spread all = spread_of_all(kind);
    const bool shares = stack != any_stack;
    const double freedom = own + (shares ? told_by_all : 0.0);
    const double level =
        shares ? std::sqrt((own * s.level * s.level + told_by_all * all.level * all.level) / freedom) : s.level;
    if (shares) {
      s.centre = (s.publications * s.centre + told_by_all * all.centre) / (s.publications + told_by_all);
    }
    classes.push_back(errors_of(stack, kind.first, kind.second, g, s, level, freedom));
  }
  // Classes without rows in this fit keep their errors.
  for (const ServingErrors& e : fit.classes) {
    const bool told = std::any_of(classes.begin(), classes.end(), [&](const ServingErrors& o) {
      return o.stack == e.stack && o.quantity == e.quantity && o.experts == e.experts;
    });
    if (!told && (e.stack == any_stack || !fit.only.empty())) {
      classes.push_back(e);
    }
  }
  if (!fit.only.empty()) {
    return ServingConfidence{std::move(classes), fit.skus, fit.formats};
  }
  std::vector<WidthFactor> skus = factors_by(fit, without, ServingConfidence{classes, {}, {}}, &FittedServingRun::sku);
  std::vector<WidthFactor> formats =
      factors_by(fit, without, ServingConfidence{classes, skus, {}}, &FittedServingRun::weights);
  return ServingConfidence{std::move(classes), std::move(skus), std::move(formats)};
}

namespace {

/// A row that its fit had not seen.
struct UnseenRow {
  ServingQuantity quantity = ServingQuantity::tpot;
  std::string_view source;
  double stretch = 0.0;  ///< factor on the logarithms of low and high at which the interval just holds it
};

std::vector<UnseenRow> unseen_rows(const ServingFit& fit) {
  std::set<std::string> sources;
  for (const FittedServingRun& run : fit.runs) {
    sources.insert(run.row->source);
  }
  std::vector<UnseenRow> rows;
  for (const std::string& source : sources) {
    const ServingConfidence others = confidence_of_serving_fit(fit, source);
    for (const FittedServingRun& run : fit.runs) {
      if (run.row->source != source || run.offered || !std::isfinite(run.left_out)) {
        continue;
      }
      const ServingQuantity quantity = quantity_of(run);
      const ServingErrors e = others.of(run.stack, quantity, run.experts, run.sku, run.weights);
      const double ratio = beyond_reach(-run.left_out, run.reach);
      const double end = std::log(ratio < 0.0 ? e.low : e.high);
      rows.push_back({quantity, run.row->source, ratio / (end == 0.0 ? std::copysign(1e-3, ratio) : end)});
    }
  }
  return rows;
}

/// The factor on the logarithms of a quantity's widths at which they hold `promised` of the unseen rows, but for those
/// of the publication `without`; 1 where fewer than three publications tell it. Below 1 it is taken as far as their
/// number allows: what a few publications do not need a next one may.
double promised_stretch(const std::vector<UnseenRow>& rows, ServingQuantity quantity, std::string_view without) {
  constexpr double promised = 0.8;
  constexpr std::size_t least_sources = 3;
  constexpr std::array<double, 2> bounds{0.4, 2.0};
  std::vector<double> stretches;
  std::set<std::string_view> sources;
  for (const UnseenRow& row : rows) {
    if (row.quantity == quantity && row.source != without) {
      stretches.push_back(row.stretch);
      sources.insert(row.source);
    }
  }
  if (sources.size() < least_sources) {
    return 1.0;
  }
  const double factor = std::clamp(quantile(stretches, promised), bounds[0], bounds[1]);
  const auto n = static_cast<double>(sources.size());
  return factor < 1.0 ? std::pow(factor, n / (n + told_by_all)) : factor;
}

}  // namespace

ServingConfidence promised_confidence(const ServingFit& fit) {
  ServingConfidence confidence = confidence_of_serving_fit(fit);
  const std::vector<UnseenRow> rows = unseen_rows(fit);
  std::vector<ServingErrors> classes = confidence.classes();
  for (ServingErrors& e : classes) {
    const double factor = promised_stretch(rows, e.quantity, {});
    e.low = std::clamp(std::pow(e.low, factor), least_factor, 1.0);
    e.high = std::clamp(std::pow(e.high, factor), 1.0, 1.0 / least_factor);
  }
  return ServingConfidence{std::move(classes), confidence.skus(), confidence.formats()};
}

std::vector<LeftOutCoverage> left_out_coverage(const ServingFit& fit) {
  const std::vector<UnseenRow> rows = unseen_rows(fit);
  std::map<ServingQuantity, std::map<std::string_view, LeftOutCoverage::Publication>> by_quantity;
  std::map<std::pair<ServingQuantity, std::string_view>, double> factors;
  for (const UnseenRow& row : rows) {
    const auto [factor, fresh] = factors.try_emplace({row.quantity, row.source}, 1.0);
    if (fresh) {
      factor->second = promised_stretch(rows, row.quantity, row.source);
    }
    LeftOutCoverage::Publication& publication = by_quantity[row.quantity][row.source];
    ++publication.rows;
    publication.inside += row.stretch <= factor->second ? 1.0 : 0.0;
  }
  std::vector<LeftOutCoverage> all;
  for (auto& [quantity, publications] : by_quantity) {
    LeftOutCoverage c;
    c.quantity = quantity;
    c.sources = static_cast<std::int64_t>(publications.size());
    for (auto& [source, publication] : publications) {
      c.rows += publication.rows;
      c.inside += publication.inside;
      publication.source = source;
      publication.inside /= static_cast<double>(publication.rows);
      c.publications.push_back(publication);
    }
    c.inside /= static_cast<double>(c.rows);
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace headroom
