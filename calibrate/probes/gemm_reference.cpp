// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/gemm_reference.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace headroom::probes {
namespace {

constexpr std::int64_t tile_rows = 128;
constexpr std::int64_t tile_scales = 4;
constexpr std::int64_t tile_bytes = tile_rows * tile_scales;

struct Minifloat {
  unsigned exponent;   ///< bits
  unsigned mantissa;   ///< bits
  bool ieee;           ///< whether the highest exponent holds infinity and NaN
  unsigned no_number;  ///< without `ieee`: the magnitude that is NaN; 0: every code is a number
};
constexpr Minifloat bf16{8, 7, true, 0};
constexpr Minifloat fp16{5, 10, true, 0};
constexpr Minifloat e4m3{4, 3, false, 0x7F};
constexpr Minifloat e5m2{5, 2, true, 0};
constexpr Minifloat e2m1{2, 1, false, 0};

double value_of(unsigned bits, const Minifloat& form) {
  const unsigned magnitude = bits & ((1U << (form.exponent + form.mantissa)) - 1U);
  const unsigned fraction = magnitude & ((1U << form.mantissa) - 1U);
  const auto exponent = static_cast<int>(magnitude >> form.mantissa);
  const int highest = (1 << form.exponent) - 1;
  const int bias = highest / 2;
  const double sign = (bits >> (form.exponent + form.mantissa)) != 0 ? -1.0 : 1.0;
  if (form.ieee && exponent == highest) {
    return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  }
  if (form.no_number != 0 && magnitude == form.no_number) {
    return std::nan("");
  }
  const auto steps = static_cast<int>(form.mantissa);
  const double whole = exponent == 0 ? 0.0 : std::ldexp(1.0, steps);
  return sign * std::ldexp(whole + fraction, (exponent == 0 ? 1 : exponent) - bias - steps);
}

template <class T>
T word_at(const std::vector<unsigned char>& raw, std::int64_t i) {
  T word{};
  std::memcpy(&word, &raw[static_cast<std::size_t>(i) * sizeof(T)], sizeof(T));
  return word;
}

std::int64_t tiles(std::int64_t count, std::int64_t of) noexcept {
  return (count + of - 1) / of;
}

}  // namespace

double decoded(const std::vector<unsigned char>& raw, std::int64_t i, Number number) {
  switch (number) {
    case Number::bf16: return value_of(word_at<std::uint16_t>(raw, i), bf16);
    case Number::fp16: return value_of(word_at<std::uint16_t>(raw, i), fp16);
    case Number::fp32: return static_cast<double>(word_at<float>(raw, i));
    case Number::e4m3: return value_of(word_at<std::uint8_t>(raw, i), e4m3);
    case Number::e5m2: return value_of(word_at<std::uint8_t>(raw, i), e5m2);
    case Number::int8: return word_at<std::int8_t>(raw, i);
    case Number::int32: return word_at<std::int32_t>(raw, i);
    case Number::e2m1: return value_of((word_at<std::uint8_t>(raw, i / 2) >> (i % 2 == 0 ? 0U : 4U)) & 0xFU, e2m1);
  }
  return std::nan("");
}

double decoded_scale(unsigned char code) noexcept {
  return value_of(code & 0x7FU, e4m3);
}

std::int64_t scale_bytes(std::int64_t rows, std::int64_t k) noexcept {
  return tiles(rows, tile_rows) * tiles(k, scaled_block * tile_scales) * tile_bytes;
}

std::int64_t scale_place(std::int64_t row, std::int64_t block, std::int64_t k) noexcept {
  constexpr std::int64_t group = 32;
  const std::int64_t tile = (row / tile_rows * tiles(k, scaled_block * tile_scales)) + (block / tile_scales);
  const std::int64_t within = row % tile_rows;
  return (tile * tile_bytes) + (within % group * 16) + (within / group * tile_scales) + (block % tile_scales);
}

}  // namespace headroom::probes
