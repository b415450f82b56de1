// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/attention_reference.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace headroom::probes {
namespace {

double dot(const float* a, const float* b, std::int64_t count) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

double scale_of(std::int64_t width) {
  return 1.0 / std::sqrt(static_cast<double>(width));
}

/// Softmax of the first `seen` keys, and the logarithm of its divisor.
struct Shares {
  std::vector<double> of;
  double log_sum = 0.0;
};

Shares shares_of(const float* query, const Rows& keys, std::int64_t seen) {
  Shares shares;
  double highest = -std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < seen; ++j) {
    shares.of.push_back(scale_of(keys.width) * dot(query, keys.at(j), keys.width));
    highest = std::max(highest, shares.of.back());
  }
  double sum = 0.0;
  for (double& score : shares.of) {
    score = std::exp(score - highest);
    sum += score;
  }
  for (double& share : shares.of) {
    share /= sum;
  }
  shares.log_sum = highest + std::log(sum);
  return shares;
}

void add(std::vector<double>& to, double factor, const float* row) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] += factor * static_cast<double>(row[i]);
  }
}

}  // namespace

std::vector<float> from_bf16(const std::vector<std::uint16_t>& raw) {
  std::vector<float> numbers;
  numbers.reserve(raw.size());
  for (const std::uint16_t half : raw) {
    const std::uint32_t wide = std::uint32_t{half} << 16U;
    float value = 0.0F;
    std::memcpy(&value, &wide, sizeof(value));
    numbers.push_back(value);
  }
  return numbers;
}

AttendedRow attended(const float* query, const Rows& keys, const Rows& values, std::int64_t seen) {
  const Shares shares = shares_of(query, keys, seen);
  AttendedRow row;
  row.log_sum = shares.log_sum;
  row.output.assign(static_cast<std::size_t>(values.width), 0.0);
  for (std::int64_t j = 0; j < seen; ++j) {
    add(row.output, shares.of[static_cast<std::size_t>(j)], values.at(j));
  }
  return row;
}

std::vector<double> query_gradient(
    const float* query, const float* dout, const Rows& keys, const Rows& values, std::int64_t seen) {
  const Shares shares = shares_of(query, keys, seen);
  std::vector<double> dshares;
  double mean = 0.0;
  for (std::int64_t j = 0; j < seen; ++j) {
    dshares.push_back(dot(dout, values.at(j), values.width));
    mean += shares.of[static_cast<std::size_t>(j)] * dshares.back();
  }
  std::vector<double> gradient(static_cast<std::size_t>(keys.width), 0.0);
  for (std::int64_t j = 0; j < seen; ++j) {
    const auto at = static_cast<std::size_t>(j);
    add(gradient, scale_of(keys.width) * shares.of[at] * (dshares[at] - mean), keys.at(j));
  }
  return gradient;
}

KeyGradients key_gradients(const std::vector<ForwardHead>& heads,
                           const float* key,
                           const float* value,
                           std::int64_t first_query) {
  KeyGradients gradients;
  for (const ForwardHead& head : heads) {
    const std::int64_t width = head.queries.width;
    gradients.key.resize(static_cast<std::size_t>(width), 0.0);
    gradients.value.resize(static_cast<std::size_t>(width), 0.0);
    for (std::int64_t i = first_query; i < head.queries.count(); ++i) {
      const float* dout = head.douts.at(i);
      const double score = scale_of(width) * dot(head.queries.at(i), key, width);
      const double share = std::exp(score - static_cast<double>(head.log_sums[static_cast<std::size_t>(i)]));
      const double mean = dot(dout, head.outputs.at(i), width);
      add(gradients.value, share, dout);
      add(gradients.key, scale_of(width) * share * (dot(dout, value, width) - mean), head.queries.at(i));
    }
  }
  return gradients;
}

double relative_error(const std::vector<float>& got, const std::vector<double>& right) {
  double difference = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double value = i < got.size() ? static_cast<double>(got[i]) : std::nan("");
    difference += (value - right[i]) * (value - right[i]);
    size += right[i] * right[i];
  }
  return difference == 0.0 ? 0.0 : std::sqrt(difference / size);
}

}  // namespace headroom::probes
