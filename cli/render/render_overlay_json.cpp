// SPDX-License-Identifier: Apache-2.0
// A fitted overlay as one document: what the page of a fit is drawn from too.
#include <headroom/cli/render/render_calibration.hpp>
#include <headroom/core/json_writer.hpp>

#include <array>
#include <string_view>
#include <vector>

namespace headroom::cli {
namespace {

constexpr std::array<std::string_view, 3> unit_names{"share", "s", "bytes"};

std::string_view unit_name(CurveUnit unit) {
  return unit == CurveUnit::share ? unit_names[0] : unit == CurveUnit::bytes ? unit_names[2] : unit_names[1];
}

/// What was measured and what the curve makes of it; `held_out_error` is that of a curve which never saw its shape.
void write_rows(JsonWriter& json, const OverlayCurve& curve) {
  const CurveFit& fit = curve.fitted.fit;
  json.key("rows");
  json.begin_array();
  for (std::size_t i = 0; i < curve.fitted.problem.measured.size(); ++i) {
    const double measured = curve.fitted.problem.measured[i].raw();
    json.compact_next();
    json.begin_object();
    json.member("sample", i < curve.samples.size() ? curve.samples[i] : std::string{});
    json.member("measured_s", measured);
    json.member("fitted_s", measured * (1.0 + fit.fitted_errors[i]));
    json.member("error", fit.fitted_errors[i]);
    if (i < fit.held_out_errors.size()) {
      json.member("held_out_error", fit.held_out_errors[i]);
    }
    json.end_object();
  }
  json.end_array();
}

void write_parameters(JsonWriter& json, const FittedGroup& fitted) {
  json.key("parameters");
  json.begin_array();
  for (std::size_t i = 0; i < fitted.problem.parameters.size(); ++i) {
    const CurveParameter& p = fitted.problem.parameters[i];
    const FittedParameter& value = fitted.fit.result.parameters[i];
    const bool fixed = !fitted.problem.fixed.empty() && fitted.problem.fixed[i];
    json.compact_next();
    json.begin_object();
    json.member("name", p.name);
    json.member("unit", unit_name(p.unit));
    json.member("value", value.value);
    json.member("from_prior", fixed || value.from_prior);
    if (!fixed && !value.from_prior) {
      json.member("deviation", value.deviation);
    }
    json.end_object();
  }
  json.end_array();
}

void write_curve(JsonWriter& json, const OverlayCurve& curve) {
  const CurveErrors& judged = curve.fitted.judged();
  json.begin_object();
  json.member("curve", curve_name(curve.fitted.group));
  json.member("samples", static_cast<std::int64_t>(curve.fitted.problem.measured.size()));
  json.member("mape", judged.mape);
  json.member("median_ape", judged.median);
  json.member("bias", judged.bias);
  json.member("mape_fitted", curve.fitted.fit.fitted.mape);
  json.member("within_80", curve.within80);
  json.member("outliers", static_cast<std::int64_t>(curve.outliers.size()));
  if (curve.slower) {
    json.member("slower_than_base", *curve.slower);
    json.member("beside", curve.base);
  }
  write_parameters(json, curve.fitted);
  write_rows(json, curve);
  json.end_object();
}

void write_facts(JsonWriter& json, const Overlay& overlay) {
  json.key("facts");
  json.begin_array();
  for (const OverlayFact& fact : overlay.facts) {
    json.compact_next();
    json.begin_object();
    json.member("what", fact.what);
    json.member("measured", fact.measured);
    json.member("base", fact.base);
    if (fact.difference) {
      json.member("difference", *fact.difference);
    }
    json.end_object();
  }
  json.end_array();
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key);
  json.begin_array();
  for (const std::string& text : texts) {
    json.text(text);
  }
  json.end_array();
}

void write_manifest(JsonWriter& json, const Manifest& manifest) {
  json.key("manifest");
  json.begin_object();
  json.member("date", manifest.date);
  json.member("headroom", manifest.headroom);
  json.member("board", manifest.settings.board);
  json.key("conditions");
  json.begin_array();
  for (const auto& [name, value] : conditions_of(manifest)) {
    json.compact_next();
    json.begin_object();
    json.member("name", name);
    json.member("value", value);
    json.end_object();
  }
  json.end_array();
  json.member("digest", conditions_digest(manifest));
  if (manifest.precision) {
    json.member("precision", *manifest.precision);
  }
  json.member("complete", manifest.complete);
  write_texts(json, "unmet", manifest.unmet);
  json.end_object();
}

}  // namespace

std::string overlay_json(const Overlay& overlay, const Manifest& manifest) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "headroom.overlay/1");
  json.member("name", manifest.device.name + " as overlay " + overlay.id);
  json.member("id", overlay.id);
  json.member("base", overlay.base);
  json.member("source", overlay.source);
  json.key("curves");
  json.begin_array();
  for (const OverlayCurve& curve : overlay.curves) {
    write_curve(json, curve);
  }
  json.end_array();
  write_facts(json, overlay);
  write_texts(json, "left_out", overlay.remarks);
  write_manifest(json, manifest);
  json.end_object();
  return json.take();
}

}  // namespace headroom::cli
