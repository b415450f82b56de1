// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/scan.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr double half = 2.0;    ///< bytes of an activation
constexpr double single = 4.0;  ///< bytes of what kernels keep in fp32
/// FLOP of the vector units in the time of an exponential.
constexpr double exponential = 16.0;

double tokens_of(const ScanShape& s) noexcept {
  return s.sequences * s.tokens;
}

ScanNumbers read_scan_numbers(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  static_cast<void>(file);
  constexpr Range<double> share{0.001, 1.0};
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  ScanNumbers numbers;
  numbers.bandwidth = root.number("bandwidth", share);
  numbers.rate = root.number("rate", share);
  numbers.backward = root.number("backward", {0.1, 100.0});
  numbers.mamba2_rate = root.number("mamba2_rate", share);
  numbers.mamba2_backward = root.number("mamba2_backward", {0.1, 100.0});
  numbers.mamba2_vector = root.number("mamba2_vector", {0.0, 1e4});
  numbers.vector_generations = root.texts("mamba2_vector_generations");
  numbers.source = root.text("source");
  root.finish();
  return numbers;
}

}  // namespace

double chunk_of(const ScanShape& s) noexcept {
  if (s.mixer == Mixer::mamba) {
    return 1.0;
  }
  const double usual = s.mixer == Mixer::mamba2 ? 256.0 : 64.0;
  return std::max(1.0, std::min(s.tokens, s.chunk > 0.0 ? s.chunk : usual));
}

Flops scan_flops(const ScanShape& s) noexcept {
  const double q = chunk_of(s);
  switch (s.mixer) {
    case Mixer::mamba2:
      return Flops{2.0 * tokens_of(s) * (s.groups * q * s.key + s.heads * (q * s.value + 2.0 * s.key * s.value))};
    case Mixer::delta_net:
    case Mixer::kda:
      return Flops{2.0 * tokens_of(s) * s.heads *
                   (3.0 * q * s.key + 2.0 * q * s.value + 3.0 * s.key * s.value + q * q / 3.0)};
    default: return {};
  }
}

Bytes scan_bytes(const ScanShape& s) noexcept {
  const double q = chunk_of(s);
  const double state = s.key * s.value / q;  // of a head, its share of a token
  switch (s.mixer) {
    case Mixer::mamba2: {
      const double values = 3.0 * half * s.value;  // read for the state and for the output, which is written
      const double states = (2.0 * single + 2.0 * half) * state;
      const double steps = 6.0 * single;  // dt and its sums over a chunk
      const double shared = 4.0 * half * s.key + 2.0 * single * q;
      return Bytes{tokens_of(s) * (s.heads * (values + states + steps) + s.groups * shared)};
    }
    case Mixer::delta_net: {
      const double keys = 5.0 * half * s.key;  // k of four kernels, q of one
      const double pairs = (2.0 * single + 2.0 * half) * q;
      const double transformed = half * (2.0 * s.key + 6.0 * s.value);  // w; v, u and its corrections, the output
      const double gates = 8.0 * single;
      return Bytes{tokens_of(s) * (s.groups * keys + s.heads * (pairs + transformed + 2.0 * half * state + gates))};
    }
    case Mixer::kda: {
      const double keys = half * 8.0 * s.key;              // q and k of two kernels each; w and decayed k, both ways
      const double decay = (half + 4.0 * single) * s.key;  // its sums written, and read by three kernels
      const double pairs = (2.0 * single + 4.0 * half) * q;
      const double values = half * 6.0 * s.value;
      return Bytes{tokens_of(s) * s.heads * (keys + decay + pairs + values + 2.0 * half * state)};
    }
    default: return Bytes{tokens_of(s) * half * (4.0 * s.value + 2.0 * s.key)};
  }
}

double scan_kernels(Mixer mixer) noexcept {
  switch (mixer) {
    case Mixer::mamba2: return 5.0;
    case Mixer::delta_net: return 6.0;
    case Mixer::kda: return 7.0;
    default: return 1.0;
  }
}

const ScanNumbers& scan_numbers(const ModelData& data) {
  return step_numbers(data, "scan", read_scan_numbers);
}

ScanModel::ScanModel(const ModelData& data, const Device& device, Rate wide)
    : numbers_{scan_numbers(data)},
      flop_time_{1.0 / (numbers_.rate * device.peak_of(wide).raw())},
      byte_time_{1.0 / (numbers_.bandwidth * device.bandwidth().raw())} {
  // A SKU whose vector units nobody states is bound by its bytes.
  const auto& vector = device.peak[static_cast<std::size_t>(Rate::fp32_vector)];
  exponential_time_ = vector ? exponential / vector->value.raw() : 0.0;
  training_flop_time_ = 1.0 / (numbers_.mamba2_rate * device.peak_of(wide).raw());
  const std::vector<std::string>& bound = numbers_.vector_generations;
  if (vector && std::find(bound.begin(), bound.end(), device.generation) != bound.end()) {
    training_byte_time_ = numbers_.mamba2_vector / vector->value.raw();
  }
}

Seconds ScanModel::training_forward(const ScanShape& s) const noexcept {
  const Seconds served = forward(s);
  if (s.mixer != Mixer::mamba2) {
    return served;
  }
  const double trained = std::max(scan_flops(s).raw() * training_flop_time_, scan_bytes(s).raw() * training_byte_time_);
  return std::max(served, Seconds{trained});
}

Seconds ScanModel::backward(const ScanShape& s) const noexcept {
  return (s.mixer == Mixer::mamba2 ? numbers_.mamba2_backward : numbers_.backward) * training_forward(s);
}

Seconds ScanModel::forward(const ScanShape& s) const noexcept {
  const double work =
      s.mixer == Mixer::mamba ? tokens_of(s) * s.key * s.value * exponential_time_ : scan_flops(s).raw() * flop_time_;
  return Seconds{std::max(work, scan_bytes(s).raw() * byte_time_)};
}

}  // namespace headroom
