// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr double most_of_tdp = 1.5;  ///< boards are sold with limits up to about this factor above their default
constexpr Range<double> share{0.0, 1.0};

RangedNumber read_number(ConfigTable& parent, std::string_view key, Range<double> range) {
  ConfigTable table = parent.table(key);
  RangedNumber number;
  number.value = table.number("value", range);
  number.low = table.maybe_number("low", range).value_or(number.value);
  number.high = table.maybe_number("high", range).value_or(number.value);
  number.source = table.text("source");
  if (number.low > number.value || number.value > number.high) {
    table.problem("value", quoted(key) + " needs low <= value <= high");
  }
  table.finish();
  return number;
}

Watts idle_of(const Device& device, const PowerForm& form) noexcept {
  return device.power.idle ? device.power.idle->value : form.idle.value * device.power.tdp->value;
}

struct HostPower {
  Watts per_gpu;
  std::string source;
};

/// Power of a node without its GPUs. A rating below its GPUs' TDP belongs to another SKU.
HostPower host_of(Watts tdp, const Node* node, const PowerForm& form) {
  const Watts beside = node != nullptr && node->power ? node->power->value / real(node->gpus) - tdp : Watts{};
  if (beside > Watts{}) {
    return {form.host_of_rating.value * beside,
            percent(form.host_of_rating.value, 2) + " of what the rating of " + node->id + " leaves beside its GPUs"};
  }
  return {form.host_of_tdp.value * tdp,
          percent(form.host_of_tdp.value, 2) + " of the GPUs' TDP, for the catalog has no rating of the node"};
}

/// Dynamic power under a cap over dynamic power without it, for work that draws the limit.
double dynamic_share(Watts tdp, Watts idle, std::optional<Watts> cap) noexcept {
  return cap ? (*cap - idle) / (tdp - idle) : 1.0;
}

}  // namespace

PowerForm read_power_form(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  static_cast<void>(file);
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  PowerForm form;
  form.source = root.text("source");
  ConfigTable activity = root.table("activity");
  for (std::size_t i = 0; i < draw_count; ++i) {
    form.activity[i] = read_number(activity, draw_names[i], share);
  }
  activity.finish();
  ConfigTable gpu = root.table("gpu");
  form.idle = read_number(gpu, "idle", {0.0, 0.9});
  form.voltage = read_number(gpu, "voltage", share);
  gpu.finish();
  for (ConfigTable& silicon : root.tables("silicon")) {
    form.units.push_back({silicon.text("compute_capability"), read_number(silicon, "watts_of_unit", {0.0, 100.0})});
    silicon.finish();
  }
  ConfigTable host = root.table("host");
  form.host_of_rating = read_number(host, "of_rating", share);
  form.host_of_tdp = read_number(host, "of_tdp", {0.0, 2.0});
  host.finish();
  ConfigTable interval = root.table("interval");
  const RangedNumber width = read_number(interval, "width", {0.0, 10.0});
  form.width = width.value;
  form.width_source = width.source;
  interval.finish();
  ConfigTable serving = root.table("serving");
  form.serving_active = read_number(serving, "active", share);
  form.serving_reading = read_number(serving, "reading", {0.0, 1e4});
  form.serving_arithmetic = read_number(serving, "arithmetic", {0.0, 1e3});
  form.serving_experts = read_number(serving, "scaled_experts", share);
  form.serving_width = read_number(serving, "width", {0.0, 10.0}).value;
  serving.finish();
  root.finish();
  return form;
}

const PowerForm& power_form(const ModelData& data) {
  return step_numbers(data, "power", read_power_form);
}

std::optional<GpuPower> gpu_power(const Device& device,
                                  const Node* node,
                                  std::optional<Watts> cap,
                                  const PowerForm& form) {
  if (!device.power.tdp) {
    return std::nullopt;
  }
  GpuPower power;
  power.tdp = device.power.tdp->value;
  power.width = form.width;
  power.idle = idle_of(device, form);
  power.cap = cap ? std::optional{std::min(*cap, power.tdp)} : std::nullopt;  // a cap above the TDP has no effect
  power.idle_source =
      device.power.idle ? device.power.idle->source : percent(form.idle.value, 2) + " of the TDP: " + form.idle.source;
  for (std::size_t i = 0; i < draw_count; ++i) {
    const Watts uncapped = power.idle + form.activity[i].value * (power.tdp - power.idle);
    power.draw[i] = power.cap ? std::min(uncapped, *power.cap) : uncapped;
  }
  HostPower host = host_of(power.tdp, node, form);
  power.host = host.per_gpu;
  power.host_source = std::move(host.source);
  return power;
}

Watts serving_power(const GpuPower& power, const ServingUse& use, const PowerForm& form) noexcept {
  constexpr double picojoule = 1e-12;
  const double active = form.serving_active.value + use.scaled_experts * form.serving_experts.value;
  const double dynamic =
      use.read.raw() * form.serving_reading.value + use.multiplied.raw() * form.serving_arithmetic.value;
  const Watts drawn = power.idle + active * (power.tdp - power.idle) + Watts{picojoule * dynamic};
  return std::min(drawn, power.cap.value_or(power.tdp));
}

std::string why_no_cap(const Device& device, Watts cap, const PowerForm& form) {
  if (!device.power.tdp) {
    return "the catalog has no power of " + device.id +
           ", so that a cap says nothing; add [power] tdp to a SKU of your own";
  }
  const Watts tdp = device.power.tdp->value;
  const Watts idle = idle_of(device, form);
  const std::string range = "; " + device.id + " can be capped between its idle " + format(idle) + " and " +
                            format_number(most_of_tdp, 2) + " x its TDP of " + format(tdp);
  if (cap <= idle) {
    return format(cap) + " is no more than the GPU draws with nothing to do" + range;
  }
  return cap > most_of_tdp * tdp ? format(cap) + " is far above what the board can take" + range : std::string{};
}

double capped_clock(double dynamic, double voltage) noexcept {
  if (dynamic >= 1.0) {
    return 1.0;
  }
  double low = 0.0;
  double high = 1.0;
  constexpr int halvings = 60;  // enough to reach the last bit
  for (int i = 0; i < halvings; ++i) {
    const double clock = 0.5 * (low + high);
    const double volts = voltage + (1.0 - voltage) * clock;
    (clock * volts * volts < dynamic ? low : high) = clock;
  }
  return high;
}

double slice_clock(const Device& device, double busy, const PowerForm& form) {
  const auto drawn = std::find_if(form.units.begin(), form.units.end(),
                                  [&](const UnitDraw& draw) { return draw.capability == device.compute_capability; });
  if (!device.slice || !device.slice->card_tdp || drawn == form.units.end()) {
    return 1.0;
  }
  const Watts limit = *device.slice->card_tdp;
  const Watts idle = device.slice->card_idle.value_or(form.idle.value * limit);
  const auto clock = [&](double units) {
    return capped_clock((limit - idle) / Watts{units * drawn->watts.value}, form.voltage.value);
  };
  return clock(busy) / clock(real(device.slice->card_units));
}

double matrix_clock(const Device& device, std::optional<Watts> cap, const PowerForm& form, std::optional<double> busy) {
  if (device.slice) {
    Device whole = device;
    whole.slice.reset();
    const double all = real(device.slice->per_card) * device.slice->compute * real(device.slice->card_units);
    return slice_clock(device, busy.value_or(all), form) * matrix_clock(whole, cap, form);
  }
  if (!cap || !device.power.tdp) {
    return 1.0;
  }
  const Watts tdp = device.power.tdp->value;
  const Watts idle = idle_of(device, form);
  const double activity = form.activity[static_cast<std::size_t>(Draw::matrix)].value;
  return capped_clock(dynamic_share(tdp, idle, cap) / activity, form.voltage.value);
}

Joules gpu_energy(const Breakdown& time, const GpuPower& power) noexcept {
  Joules energy{};
  Seconds priced{};
  for (std::size_t i = 0; i < term_count; ++i) {
    const Term term = static_cast<Term>(i);
    if (term != Term::measured_level) {
      energy += time.exposed[i] * power.of(draw_of(term));
      priced += time.exposed[i];
    }
  }
  return priced > Seconds{} ? time.total() / priced * energy : energy;
}

}  // namespace headroom
