// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/kernels/tile_menu.hpp>

#include <algorithm>
#include <span>

namespace headroom {
namespace {

/// Numbers of parts into which K may be split. Parts below min_depth elements are not worth a CTA.
constexpr std::array<int, 8> splits{2, 3, 4, 6, 8, 12, 16, 32};
constexpr double min_depth = 64.0;
/// A split fills the idle SMs of the last wave; with more waves than this the gain is too small to search for.
constexpr double most_waves_split = 8.0;
/// Lowers a bound so that floating-point rounding can never make it exceed the value that it bounds.
constexpr double rounded_down = 1.0 - 1e-12;

// Bytes include block scales: fp8_block a float per 128 activations (and per 128 x 128 weights), nvfp4 a byte per 16,
// mxfp4 and mxfp8 a byte per 32 (OCP Microscaling Formats 1.0, 2023).
constexpr std::array formats{
    GemmFormat{"fp32", Rate::fp32_vector, 4.0, 4.0, 4.0, false, 1},
    GemmFormat{"tf32", Rate::tf32, 4.0, 4.0, 4.0, false, 4},
    GemmFormat{"fp16", Rate::fp16, 2.0, 2.0, 2.0, false, 8},
    GemmFormat{"bf16", Rate::bf16, 2.0, 2.0, 2.0, false, 8},
    GemmFormat{"fp8", Rate::fp8, 1.0, 1.0, 2.0, true, 16},
    GemmFormat{"fp8_block", Rate::fp8, 1.0, 1.0 + 4.0 / 128.0, 2.0, true, 16},
    GemmFormat{"int8", Rate::int8, 1.0, 1.0, 2.0, true, 16},
    GemmFormat{"int8_wo", Rate::fp16, 1.0, 2.0, 2.0, false, 16},
    GemmFormat{"int4_wo", Rate::fp16, 0.5, 2.0, 2.0, false, 32},
    GemmFormat{"nvfp4", Rate::fp4, 0.5625, 0.5625, 2.0, true, 32},
    GemmFormat{"w4a16_mxfp4", Rate::bf16, 0.53125, 2.0, 2.0, false, 32},
    GemmFormat{"w4a8_mxfp4_mxfp8", Rate::fp8, 0.53125, 1.03125, 2.0, true, 32},
};
constexpr std::array aliases{FormatAlias{"bfloat16", "bf16"}, FormatAlias{"float16", "fp16"},
                             FormatAlias{"half", "fp16"},     FormatAlias{"float32", "fp32"},
                             FormatAlias{"sq", "int8"},       FormatAlias{"fp8_e4m3", "fp8"}};

// Priors: centre and spread of the 16-bit fits of the nine measured SKUs (engines of July 2026).
constexpr std::array<CurveParameter, gemm_parameter_count> parameter_table{{
    {"compute", CurveUnit::share, 0.85, 0.0, 0.05, 1.0},
    {"bandwidth", CurveUnit::share, 0.80, 0.0, 0.05, 1.0},
    {"launch", CurveUnit::seconds, 2.3e-6, 0.0, 3e-7, 4e-4},
    {"chain", CurveUnit::seconds, 1.2e-9, 0.0, 5e-11, 5e-8},
    {"fill", CurveUnit::share, 175.0, 0.4, 1.0, 5000.0},
    {"split", CurveUnit::seconds, 2.8e-6, 0.3, 1e-7, 1e-3},
    {"l2_rate", CurveUnit::share, 6.0, 0.5, 1.0, 50.0},
    {"wave", CurveUnit::share, 0.25, 0.7, 0.01, 1.0},
    {"write", CurveUnit::share, 1.0, 0.2, 0.3, 2.0},
    {"droop", CurveUnit::share, 0.15, 1.0, 0.001, 1.0},
    {"droop_time", CurveUnit::seconds, 1e-3, 1.5, 1e-5, 1.0},
    {"residency", CurveUnit::share, 0.6, 0.5, 0.01, 3.0},
    {"residency_gain", CurveUnit::share, 4.0, 0.5, 1.0, 20.0},
    {"quantise", CurveUnit::share, 1.0, 0.7, 0.01, 20.0},
}};

}  // namespace

std::span<const GemmFormat> gemm_formats() noexcept {
  return formats;
}

const GemmFormat* find_gemm_format(std::string_view name) noexcept {
  return find_format(formats, aliases, name);
}

const std::array<CurveParameter, gemm_parameter_count>& gemm_parameters() noexcept {
  return parameter_table;
}

GemmModel::GemmModel(const GemmCurve& curve,
                     const KernelDevice& device,
                     const GemmFormat& format,
                     Residency residency,
                     double copies) noexcept
    : curve_{curve},
      format_{format},
      units_{device.units},
      flop_time_{1.0 / (value(GemmParameter::compute) * device.peak.raw())},
      inverse_write_{1.0 / value(GemmParameter::write)},
      byte_time_{1.0 / (value(GemmParameter::bandwidth) * device.bandwidth.raw())},
      chain4_{fourth(value(GemmParameter::chain) * format.weight_bytes / 2.0)},
      resident_{residency == Residency::benchmark ? value(GemmParameter::residency) * device.l2.raw() : 0.0},
      copies_{copies} {
  static_assert(tile_menu.size() == tile_count);
  const double l2_time = 1.0 / (value(GemmParameter::l2_rate) * device.bandwidth.raw());
  for (std::size_t i = 0; i < tile_count; ++i) {
    Tile& tile = tiles_[i];
    tile.m = tile_menu[i][0];
    tile.n = tile_menu[i][1];
    tile.inverse_m = 1.0 / tile.m;
    tile.inverse_n = 1.0 / tile.n;
    tile.compute4 = fourth(2.0 * tile.m * tile.n * units_ * flop_time_);
    tile.l2 = (tile.m * format.activation_bytes + tile.n * format.weight_bytes) * l2_time;
  }
}

double GemmModel::memory_time(const GemmShape& s, double& hit) const noexcept {
  const double weights = s.n * s.k * format_.weight_bytes;
  const double activations = s.m * s.k * format_.activation_bytes;
  const double output = s.m * s.n * format_.output_bytes;
  const double time = (weights + activations + output * inverse_write_) * byte_time_;
  if (resident_ <= 0.0) {
    hit = 0.0;
    return time;
  }
  const double fill = (copies_ * weights + activations + output) / resident_;
  hit = std::exp(-fill * fill);
  return time * (1.0 - hit + hit / value(GemmParameter::residency_gain));
}

GemmModel::Found GemmModel::evaluate(const GemmShape& s) const noexcept {
  double hit = 0.0;
  const double memory = memory_time(s, hit);
  Found best = search(s, memory);
  best.hit = hit;
  return best;
}

Seconds GemmModel::time(const GemmShape& shape, Bytes moved) const noexcept {
  return search(shape, moved.raw() * byte_time_).total;
}

GemmModel::Found GemmModel::search(const GemmShape& s, double memory) const noexcept {
  Found best;
  best.tile = tiles_.data();
  best.memory = memory;
  // Unsplit tiles differ only in their loop, compared as fourth powers to avoid roots.
  double least4 = HUGE_VAL;
  for (const Tile& tile : tiles_) {
    const double ctas = round_up(s.m * tile.inverse_m) * round_up(s.n * tile.inverse_n);
    const double loop4 = loop4_of(tile, ctas, s.k);
    if (loop4 < least4) {
      least4 = loop4;
      best.tile = &tile;
      best.waves = ctas / units_;
    }
  }
  best.loop = drooped(fourth_root(least4));
  double least = norm3(best.loop, best.memory);
  // A split adds a reduction, so one that does not shorten the loop cannot win.
  for (const Tile& tile : tiles_) {
    const double grid = round_up(s.m * tile.inverse_m) * round_up(s.n * tile.inverse_n);
    for (const int split : splits) {
      const double ctas = grid * split;
      const double depth = s.k / split;
      if (depth < min_depth || ctas > most_waves_split * units_) {
        break;
      }
      // Loop and memory together take at least the memory time, and a wider split reduces more: the roots are skipped
      // where this bound decides.
      const double reduce = value(GemmParameter::split) + 2.0 * split * s.m * s.n * byte_time_;
      if (rounded_down * best.memory + reduce >= least) {
        break;
      }
      const double loop4 = loop4_of(tile, ctas, depth);
      if (loop4 >= least4) {
        continue;
      }
      const double loop = drooped(fourth_root(loop4));
      if (rounded_down * loop + reduce >= least) {
        continue;
      }
      const double time = norm3(loop, best.memory) + reduce;
      if (time < least) {
        least = time;
        least4 = loop4;
        best.loop = loop;
        best.reduce = reduce;
        best.tile = &tile;
        best.split = split;
        best.waves = ctas / units_;
      }
    }
  }
  best.total = Seconds{value(GemmParameter::launch) + quantise_time(s) + least};
  return best;
}

double GemmModel::loop4_of(const Tile& tile, double ctas, double depth) const noexcept {
  const double w = turns(ctas / units_, value(GemmParameter::wave));
  const double u4 = tile.compute4 + fourth(std::min(ctas, units_) * tile.l2) + chain4_;
  return fourth(w * (depth + value(GemmParameter::fill))) * u4;
}

double GemmModel::drooped(double loop) const noexcept {
  return loop * (1.0 + value(GemmParameter::droop) * loop / (loop + value(GemmParameter::droop_time)));
}

double GemmModel::quantise_time(const GemmShape& s) const noexcept {
  return format_.quantises ? value(GemmParameter::quantise) * 3.0 * s.m * s.k * byte_time_ : 0.0;
}

GemmTime GemmModel::explain(const GemmShape& shape, Bytes moved) const noexcept {
  return described(search(shape, moved.raw() * byte_time_), shape);
}

GemmTime GemmModel::described(const Found& found, const GemmShape& s) const noexcept {
  GemmTime t;
  t.total = found.total;
  t.launch = Seconds{value(GemmParameter::launch)};
  t.quantise = Seconds{quantise_time(s)};
  t.loop = Seconds{found.loop};
  t.memory = Seconds{found.memory};
  t.reduce = Seconds{found.reduce};
  t.tile_m = static_cast<int>(found.tile->m);
  t.tile_n = static_cast<int>(found.tile->n);
  t.split = found.split;
  t.waves = found.waves;
  t.hit = found.hit;
  if (t.launch + t.reduce > std::max(t.loop, t.memory)) {
    t.bound = GemmBound::launch;
  } else if (t.memory > t.loop) {
    t.bound = GemmBound::memory;
  } else {
    const double l2 = fourth(std::min(found.waves, 1.0) * units_ * found.tile->l2);
    const double most = std::max({found.tile->compute4, l2, chain4_});
    t.bound = most == found.tile->compute4 ? GemmBound::compute : most == l2 ? GemmBound::l2 : GemmBound::latency;
  }
  return t;
}

Seconds GemmModel::sustained(const GemmShape& s) const noexcept {
  return Seconds{drooped(2.0 * s.m * s.n * s.k * flop_time_)};
}

Seconds GemmModel::bound(const GemmShape& s) const noexcept {
  double hit = 0.0;
  const double memory = memory_time(s, hit);
  return Seconds{value(GemmParameter::launch) + norm3(2.0 * s.m * s.n * s.k * flop_time_, memory)};
}

}  // namespace headroom
