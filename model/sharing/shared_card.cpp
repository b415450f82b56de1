// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/sharing/shared_card.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace headroom {
namespace {

constexpr Range<double> any_width{0.0, 10.0};

SharingForm::Errors read_errors(ConfigTable& table) {
  SharingForm::Errors errors;
  errors.width = table.number("width", any_width);
  errors.mean_error = table.number("mean_error", any_width);
  errors.rows = table.integer("rows", not_negative);
  return errors;
}

SharingForm read_sharing_form(const ConfigValue& document, const std::string& /*file*/, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  SharingForm form;
  ConfigTable context = root.table("context");
  ConfigTable process = context.table("process");
  form.process = process.quantity<Bytes>("value");
  form.process_source = process.text("source");
  process.finish();
  context.finish();
  ConfigTable mps = root.table("mps");
  form.mps = read_errors(mps);
  form.mps.source = mps.text("source");
  mps.finish();
  ConfigTable turns = root.table("time_slice");
  form.time_slice = read_errors(turns);
  form.most_in_turn = turns.number("most", Range<double>{1.0, 100.0});
  form.time_slice.source = turns.text("source");
  turns.finish();
  ConfigTable mig = root.table("mig");
  form.mig = read_errors(mig);
  ConfigTable unit = mig.table("unit");
  form.unit = unit.quantity<Watts>("value");
  form.capabilities = unit.texts("capabilities");
  form.mig.source = unit.text("source");
  unit.finish();
  mig.finish();
  root.finish();
  return form;
}

/// sum_k k! c_k of prod_j (1 - b_j + b_j x), without the process at `left_out`.
double normalisation(std::span<const double> busy, std::size_t left_out) {
  std::vector<double> coefficients{1.0};
  for (std::size_t j = 0; j < busy.size(); ++j) {
    if (j == left_out) {
      continue;
    }
    coefficients.push_back(0.0);
    for (std::size_t k = coefficients.size(); k-- > 0;) {
      coefficients[k] = (1.0 - busy[j]) * coefficients[k] + (k > 0 ? busy[j] * coefficients[k - 1] : 0.0);
    }
  }
  double sum = 0.0, factorial = 1.0;
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    factorial *= k > 0 ? real(static_cast<std::int64_t>(k)) : 1.0;
    sum += factorial * coefficients[k];
  }
  return sum;
}

}  // namespace

const SharingForm& sharing_form(const ModelData& data) {
  return step_numbers(data, "sharing", read_sharing_form);
}

std::vector<double> mps_speeds(std::span<const double> busy) {
  const double all = normalisation(busy, busy.size());
  std::vector<double> speeds(busy.size());
  for (std::size_t i = 0; i < busy.size(); ++i) {
    speeds[i] = normalisation(busy, i) / all;
  }
  return speeds;
}

double sharing_bound(double busy, double processes) noexcept {
  return std::min(processes, 1.0 / busy);
}

std::vector<double> time_slice_speeds(std::span<const double> busy) {
  return std::vector<double>(busy.size(), busy.empty() ? 1.0 : 1.0 / real(static_cast<std::int64_t>(busy.size())));
}

std::vector<double> shared_speeds(CardSharing sharing, std::span<const double> busy) {
  switch (sharing) {
    case CardSharing::time_slice: return time_slice_speeds(busy);
    case CardSharing::mps: return mps_speeds(busy);
    case CardSharing::none:
    case CardSharing::mig: break;
  }
  return std::vector<double>(busy.size(), 1.0);
}

double slice_stretch(double busy, double share) noexcept {
  return 1.0 - busy + busy / share;
}

std::optional<double> clock_of_all_slices(
    const Device& card, double units, std::optional<Watts> cap, const SharingForm& form, const PowerForm& power) {
  const bool fitted =
      std::find(form.capabilities.begin(), form.capabilities.end(), card.compute_capability) != form.capabilities.end();
  const std::optional<GpuPower> drawn = gpu_power(card, nullptr, cap, power);
  if (!fitted || !drawn || units <= 0.0) {
    return std::nullopt;
  }
  const Watts left = std::min(cap.value_or(drawn->tdp), drawn->tdp) - drawn->idle;
  return capped_clock(left / (units * form.unit), power.voltage.value);
}

}  // namespace headroom
