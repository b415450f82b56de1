// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/hardware/catalog/mig_slice.hpp>

namespace headroom {
namespace {

/// Reads a number at the beginning and what must follow it; false where either is not there.
bool take(std::string_view& text, double& value, std::string_view then) {
  const RealRead read = read_real(text);
  value = read.value;
  text.remove_prefix(read.length);
  if (!read.good() || !text.starts_with(then)) {
    return false;
  }
  text.remove_prefix(then.size());
  return true;
}

}  // namespace

std::optional<MigSpelling> mig_spelling(std::string_view gpu) {
  constexpr std::string_view begin = "MIG:", open = " (";
  const std::size_t at = gpu.find(open);
  if (!gpu.starts_with(begin) || at == std::string_view::npos) {
    return std::nullopt;
  }
  MigSpelling slice;
  slice.card = gpu.substr(begin.size(), at - begin.size());
  std::string_view rest = gpu.substr(at + open.size());
  const bool read =
      take(rest, slice.slices, "x") && take(rest, slice.compute, "g.") && take(rest, slice.gigabytes, "gb");
  return read && slice.slices >= 1.0 && slice.compute >= 1.0 && slice.gigabytes > 0.0 ? std::optional{slice}
                                                                                      : std::nullopt;
}

std::optional<Device> mig_slice(const Device& card, const MigSpelling& slice, double clock) {
  constexpr double sms_of_slice = 14.0;
  if (card.compute_capability != "8.0" || !card.compute.units || !card.memory.marketed) {
    return std::nullopt;
  }
  const double compute = slice.compute * sms_of_slice / real(card.compute.units->value);
  const double memory = slice.gigabytes * 1e9 / card.memory.marketed->value.raw();
  Device device = card;
  device.id += "-mig-" + std::to_string(static_cast<int>(slice.compute)) + "g";
  device.compute.units->value = static_cast<std::int64_t>(slice.compute * sms_of_slice);
  for (auto& rate : device.peak) {
    if (rate) {
      rate->value = compute * clock * rate->value;
    }
  }
  for (std::optional<Sourced<Bytes>>* size : {&device.memory.marketed, &device.memory.usable, &device.memory.visible}) {
    if (*size) {
      (*size)->value = memory * (*size)->value;
    }
  }
  if (device.memory.bandwidth) {
    device.memory.bandwidth->value = memory * device.memory.bandwidth->value;
  }
  return device;
}

}  // namespace headroom
