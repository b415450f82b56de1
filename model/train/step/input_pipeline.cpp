// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/step/input_pipeline.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

double per_second(BytesPerSecond rate, Bytes sample) {
  return rate.raw() > 0.0 && sample.raw() > 0.0 ? rate.raw() / sample.raw() : unlimited;
}

}  // namespace

InputRate input_rate(const InputPipeline& p) noexcept {
  InputRate answer;
  auto& rates = answer.samples_per_second;
  const auto at = [&](InputStage stage) -> double& { return rates[static_cast<std::size_t>(stage)]; };
  at(InputStage::storage) = per_second(p.storage, p.stored);
  at(InputStage::decode) = p.cpu.raw() > 0.0 ? p.cores / p.cpu.raw() : unlimited;
  at(InputStage::copy) = per_second(p.copy, p.fed);
  at(InputStage::gpu) = p.gpu_samples > 0.0 ? p.gpu_samples : unlimited;
  const double device = at(InputStage::gpu);
  if (!p.overlapped_copy) {
    // The device takes a sample only after its copy: both times add up.
    const double both = 1.0 / (1.0 / at(InputStage::copy) + 1.0 / device);
    at(InputStage::copy) = at(InputStage::gpu) = both;
  }
  const auto slowest = std::min_element(rates.begin(), rates.end());
  answer.binds = static_cast<InputStage>(slowest - rates.begin());
  answer.rate = *slowest;
  answer.gpu_utilisation = answer.rate / device;
  answer.cores_needed = device * p.cpu.raw();
  answer.storage_needed = BytesPerSecond{device * p.stored.raw()};
  answer.copy_needed = BytesPerSecond{device * p.fed.raw()};
  return answer;
}

FedStep feed_step(const DataFeed& feed, double samples, BytesPerSecond copy, Seconds by_plan) noexcept {
  const Seconds busy = feed.gpu_rate > 0.0 ? Seconds{samples / feed.gpu_rate} : by_plan;
  InputPipeline pipeline{feed.stored, feed.fed, feed.cpu, feed.workers, feed.storage, copy};
  pipeline.gpu_samples = busy.raw() > 0.0 ? samples / busy.raw() : 0.0;
  pipeline.overlapped_copy = feed.pinned;
  FedStep step;
  step.input = input_rate(pipeline);
  const auto& rates = step.input.samples_per_second;
  if (feed.prefetch == 0) {
    const double loaded = std::min(rates[static_cast<std::size_t>(InputStage::storage)],
                                   rates[static_cast<std::size_t>(InputStage::decode)]);
    step.exposed = Seconds{samples / loaded + samples / per_second(copy, feed.fed)};
  } else if (step.input.binds != InputStage::gpu || !feed.pinned) {
    step.exposed = std::max(Seconds{}, Seconds{samples / step.input.rate} - busy);
  }
  return step;
}

}  // namespace headroom
