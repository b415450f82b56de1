// SPDX-License-Identifier: Apache-2.0
// A fitted overlay as one document: what the page of a fit is drawn from too.
#include <headroom/cli/render/render_calibration.hpp>

#include <array>
#include <string_view>

namespace headroom::cli {
namespace {

Value parameter_value(const FittedGroup& fitted, std::size_t i) {
  constexpr std::array hints{Hint::number, Hint::seconds, Hint::bytes};
  constexpr std::array<std::string_view, 3> units{"share", "s", "bytes"};
  const CurveParameter& p = fitted.problem.parameters[i];
  const FittedParameter& value = fitted.fit.result.parameters[i];
  const std::size_t unit = p.unit == CurveUnit::share ? 0 : p.unit == CurveUnit::bytes ? 2 : 1;
  const bool prior = value.from_prior || (!fitted.problem.fixed.empty() && fitted.problem.fixed[i]);
  return row("name"_m = p.name, "unit"_m = units[unit], "value"_m = Value{value.value, hints[unit]},
             "from_prior"_m = prior, "deviation"_m = when(!prior, share(value.deviation)));
}

/// What was measured and what the curve makes of it; `held_out_error` is that of a curve which never saw its shape.
Value sample_value(const OverlayCurve& curve, std::size_t i) {
  const CurveFit& fit = curve.fitted.fit;
  const Seconds measured = curve.fitted.problem.measured[i];
  return row("sample"_m = i < curve.samples.size() ? curve.samples[i] : std::string{}, "measured_s"_m = measured,
             "fitted_s"_m = measured * (1.0 + fit.fitted_errors[i]), "error"_m = fit.fitted_errors[i],
             "held_out_error"_m = i < fit.held_out_errors.size() ? Value{fit.held_out_errors[i]} : Value{});
}

Value curve_value(const OverlayCurve& curve) {
  const CurveErrors& judged = curve.fitted.judged();
  Value parameters = Value::empty_list();
  for (std::size_t i = 0; i < curve.fitted.problem.parameters.size(); ++i) {
    parameters.push(parameter_value(curve.fitted, i));
  }
  Value samples = Value::empty_list();
  for (std::size_t i = 0; i < curve.fitted.problem.measured.size(); ++i) {
    samples.push(sample_value(curve, i));
  }
  return object("curve"_m = curve_name(curve.fitted.group), "samples"_m = curve.fitted.problem.measured.size(),
                "mape"_m = share(judged.mape), "median_ape"_m = share(judged.median), "bias"_m = share(judged.bias),
                "mape_fitted"_m = share(curve.fitted.fit.fitted.mape), "within_80"_m = share(curve.within80),
                "outliers"_m = curve.outliers.size(),
                curve.slower ? object("slower_than_base"_m = change(*curve.slower), "beside"_m = curve.base) : Value{},
                "parameters"_m = std::move(parameters), "rows"_m = std::move(samples));
}

Value manifest_value(const Manifest& manifest) {
  const auto condition = [](const auto& named) { return row("name"_m = named.first, "value"_m = named.second); };
  return object("date"_m = manifest.date, "headroom"_m = manifest.headroom, "board"_m = manifest.settings.board,
                "conditions"_m = list(conditions_of(manifest), condition), "digest"_m = conditions_digest(manifest),
                "precision"_m = manifest.precision, "complete"_m = manifest.complete, "unmet"_m = manifest.unmet);
}

}  // namespace

Value overlay_document(const Overlay& overlay, const Manifest& manifest) {
  return object("schema"_m = "headroom.overlay/1", "name"_m = manifest.device.name + " as overlay " + overlay.id,
                "id"_m = overlay.id, "base"_m = overlay.base, "source"_m = overlay.source,
                "curves"_m = list(overlay.curves, curve_value),
                "facts"_m = list(overlay.facts,
                                 [](const OverlayFact& fact) {
                                   return row("what"_m = fact.what, "measured"_m = fact.measured, "base"_m = fact.base,
                                              "difference"_m = fact.difference ? change(*fact.difference) : Value{});
                                 }),
                "left_out"_m = overlay.remarks, "manifest"_m = manifest_value(manifest));
}

}  // namespace headroom::cli
