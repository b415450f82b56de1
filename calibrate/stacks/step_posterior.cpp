// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/step_posterior.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace headroom {
namespace {

constexpr double longest_residual = 0.3;  ///< a residual counts no more in the runs' deviation

std::string_view table_of(StepScope scope) noexcept {
  return scope == StepScope::physics ? "physics" : scope == StepScope::level ? "level" : "stack";
}

/// Value below which the share lies, of pairs of value and weight.
double weighted_quantile(std::vector<std::pair<double, double>> pairs, double share) {
  std::sort(pairs.begin(), pairs.end());
  double all = 0.0;
  for (const auto& [value, weight] : pairs) {
    all += weight;
  }
  double sum = 0.0;
  for (const auto& [value, weight] : pairs) {
    sum += weight;
    if (sum >= share * all) {
      return value;
    }
  }
  return pairs.empty() ? 0.0 : pairs.back().first;
}

}  // namespace

PosteriorMaker::PosteriorMaker(const StepKnobs& knobs, std::vector<std::string> stacks, std::vector<WeighedRun> runs)
    : knobs_{knobs}, stacks_{std::move(stacks)}, runs_{std::move(runs)} {
  for (const StepKnob& knob : knobs_.all()) {
    std::string name = std::string{table_of(knob.scope)} + "." + knob.key;
    const auto found = std::find(keys_.begin(), keys_.end(), name);
    key_of_knob_.push_back(static_cast<std::size_t>(found - keys_.begin()));
    if (found == keys_.end()) {
      keys_.push_back(std::move(name));
    }
    frame_.effects.push_back({knob.scope, knob.id, knob.key});
  }
  frame_.keys = keys_;
  for (const std::string& stack : stacks_) {
    std::array<std::vector<std::ptrdiff_t>, 2> effects;
    for (const bool experts : {false, true}) {
      std::vector<std::ptrdiff_t>& of_kind = effects[experts ? 1 : 0];
      of_kind.assign(keys_.size(), -1);
      for (const std::size_t knob : knobs_.behind({stack, "", "", experts})) {
        const StepScope scope = knobs_.all()[knob].scope;
        if (scope == StepScope::stack || scope == StepScope::experts) {
          of_kind[key_of_knob_[knob]] = static_cast<std::ptrdiff_t>(knob);
        }
      }
    }
    frame_.owners[stack] = std::move(effects);
  }
  std::array<std::array<double, 2>, step_kind_names.size()> weights{};
  for (auto& kind : frame_.sensitivity) {
    kind.fill(PairTable{keys_.size()});
  }
  double residuals = 0.0;
  double all = 0.0;
  for (const WeighedRun& run : runs_) {
    const auto kind = static_cast<std::size_t>(run.kind);
    const std::size_t hosts = run.hosts ? 1 : 0;
    PairTable& mean = frame_.sensitivity[kind][hosts];
    for (std::size_t a = 0; a < run.behind.size(); ++a) {
      for (std::size_t b = 0; b < run.behind.size(); ++b) {
        mean(key_of_knob_[run.behind[a]], key_of_knob_[run.behind[b]]) +=
            run.weight * run.derivative[a] * run.derivative[b];
      }
    }
    weights[kind][hosts] += run.weight;
    const double residual = std::min(std::abs(run.residual), longest_residual);
    residuals += run.weight * residual * residual;
    all += run.weight;
  }
  for (std::size_t kind = 0; kind < weights.size(); ++kind) {
    for (std::size_t hosts = 0; hosts < 2; ++hosts) {
      for (double& entry : frame_.sensitivity[kind][hosts].entries) {
        entry = weights[kind][hosts] > 0.0 ? entry / weights[kind][hosts] : 0.0;
      }
    }
  }
  frame_.shape = all > 0.0 ? std::sqrt(residuals / all) : 0.0;
}

StepPosterior PosteriorMaker::of(const HierarchicalResult& result, const std::vector<bool>& out) const {
  StepPosterior posterior = frame_;
  const std::size_t n = knobs_.all().size();
  posterior.covariance = PairTable{n};
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      posterior.covariance(a, b) = result.covariance(a, b);
    }
  }
  posterior.level = result.level;
  posterior.own.assign(keys_.size(), 0.0);
  for (std::size_t knob = 0; knob < n; ++knob) {
    const StepKnob& k = knobs_.all()[knob];
    if (k.parent >= 0) {
      posterior.own[key_of_knob_[knob]] = result.width[knob];
    }
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (out.empty() || !out[i]) {
      const StepOwner& owner = runs_[i].owner;
      posterior.seen.insert(owner.stack + (runs_[i].kind == StepKind::experts ? ".moe" : ""));
      posterior.seen.insert(owner.sku);
    }
  }
  return posterior;
}

StepUnknown PosteriorMaker::unknown(std::size_t run) const {
  const WeighedRun& r = runs_[run];
  return {r.kind, r.hosts, {r.owner.stack}, r.owner.sku, r.owner.generation};
}

std::vector<double> PosteriorMaker::derivatives(std::size_t run) const {
  const WeighedRun& r = runs_[run];
  std::vector<double> by_key(keys_.size(), 0.0);
  for (std::size_t i = 0; i < r.behind.size(); ++i) {
    by_key[key_of_knob_[r.behind[i]]] += r.derivative[i];
  }
  return by_key;
}

void set_quantiles(std::span<const ScaledError> errors, StepPosterior& posterior) {
  constexpr std::size_t fewest_sources = 3;
  for (std::size_t kind = 0; kind < step_kind_names.size(); ++kind) {
    const auto counts = [&](const ScaledError& e) { return static_cast<std::size_t>(e.kind) == kind; };
    std::set<std::string> sources;
    for (const ScaledError& e : errors) {
      if (counts(e)) {
        sources.insert(e.source);
      }
    }
    const bool own = sources.size() >= fewest_sources;
    std::map<std::size_t, double> members;
    for (const ScaledError& e : errors) {
      members[e.family] += own && !counts(e) ? 0.0 : 1.0;
    }
    std::vector<std::pair<double, double>> pairs;
    DeviationQuantiles& q = posterior.quantiles[kind];
    q.rows = 0;
    for (const ScaledError& e : errors) {
      if (!own || counts(e)) {
        pairs.emplace_back(e.ratio, 1.0 / members[e.family]);
      }
      q.rows += counts(e) ? 1 : 0;
    }
    q.sources = static_cast<std::int64_t>(sources.size());
    if (!pairs.empty()) {
      q.half = weighted_quantile(pairs, 0.5);
      q.eighty = weighted_quantile(pairs, 0.8);
      q.ninety = weighted_quantile(pairs, 0.9);
    }
  }
}

}  // namespace headroom
