// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/laboratory/amdahl.hpp>
#include <headroom/scenarios/compare/law_curve.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace headroom::scaling {
namespace {

double by_amdahl(double parallel, double workers) noexcept {
  return whole_speedup(std::array{SpedPart{parallel, workers}});
}

LawPoint law_point(double parallel, std::int64_t workers) noexcept {
  const double n = real(workers);
  LawPoint point;
  point.workers = workers;
  point.amdahl = by_amdahl(parallel, n);
  point.gustafson = scaled_speedup(std::array{SpedPart{parallel, n}});
  point.doubling = by_amdahl(parallel, 2.0 * n) / point.amdahl - 1.0;
  return point;
}

void check_measured(const LawRequest& r, std::int64_t at, Diagnostics& diagnostics) {
  const std::string told = "--measured-speedup is " + format_number(*r.measured);
  if (!(*r.measured > 0.0)) {
    diagnostics.add("", {}, told + "; it must be above 0, e.g. 12x");
  } else if (at >= 2 && *r.measured > real(at)) {
    diagnostics.add("", {},
                    told + "x on " + counted(at, "worker") +
                        ": faster than perfect division leaves no share that did not divide; was the run on one short "
                        "of memory?");
  }
  if (at < 2 || at > most_gpus) {
    diagnostics.add("", {},
                    (r.at ? "--at is " : "the largest count of --to is ") + std::to_string(at) +
                        "; a speed-up over one worker is measured on 2 to " + std::to_string(most_gpus));
  }
}

}  // namespace

std::optional<double> first_poor_doubling(double parallel, double least) noexcept {
  const double serial = 1.0 - parallel;
  if (!(serial > 0.0)) {
    return std::nullopt;
  }
  constexpr double rounding = 1e-12;  // at the bound itself the gain is `least`, which is not less
  const double bound = parallel * (1.0 - least) / (2.0 * least * serial);
  return std::max(1.0, std::floor(bound * (1.0 + rounding)) + 1.0);
}

double karp_flatt(const Speedup& measured) noexcept {
  const std::optional<LawFit> fit = fit_amdahl(std::array{measured});
  return fit ? 1.0 - fit->f : 0.0;
}

LawCurve law_curve(LawRequest request) {
  Diagnostics diagnostics;
  if (!(request.parallel >= 0.0 && request.parallel <= 1.0)) {
    diagnostics.add("", {},
                    "--law is " + format_number(request.parallel) +
                        "; the share that divides must be from 0 to 1, or from 0 % to 100 %");
  }
  if (!(request.least > 0.0 && request.least <= 1.0)) {
    diagnostics.add("", {},
                    "--threshold is " + format_number(request.least) + "; it must be above 0, at most 1, e.g. 0.1");
  }
  for (const std::int64_t count : request.counts) {
    if (count < 1 || count > most_gpus) {
      diagnostics.add(
          "", {}, "a count of --to is " + std::to_string(count) + "; each must be 1 to " + std::to_string(most_gpus));
    }
  }
  std::sort(request.counts.begin(), request.counts.end());
  request.counts.erase(std::unique(request.counts.begin(), request.counts.end()), request.counts.end());
  const std::int64_t at = request.at.value_or(request.counts.empty() ? 0 : request.counts.back());
  if (request.measured) {
    check_measured(request, at, diagnostics);
  }
  diagnostics.throw_if_any();

  LawCurve curve;
  for (const std::int64_t count : request.counts) {
    curve.points.push_back(law_point(request.parallel, count));
  }
  if (const double limit = speedup_limit(std::array{SpedPart{request.parallel, 1.0}}); std::isfinite(limit)) {
    curve.limit = limit;
  }
  curve.last_doubling = first_poor_doubling(request.parallel, request.least);
  if (request.measured) {
    curve.measured = MeasuredShare{at, *request.measured, by_amdahl(request.parallel, real(at)),
                                   karp_flatt({real(at), *request.measured})};
  }
  curve.request = std::move(request);
  return curve;
}

}  // namespace headroom::scaling
