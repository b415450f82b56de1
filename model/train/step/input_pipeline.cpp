// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/step/input_pipeline.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

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

FedStep feed_step(const DataFeed& feed, double samples, BytesPerSecond copy, Seconds busy) noexcept {
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

LoaderStalls simulate_loader(const LoaderQueue& queue, std::int64_t steps, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  // Lognormal of mean 1 (Johnson, Kotz and Balakrishnan 1994, chapter 14).
  const double sigma = std::sqrt(std::log1p(queue.cv * queue.cv));
  const auto draw = [&] {
    // Box and Muller 1958: the standard library's normal distribution differs between implementations.
    const double u = (static_cast<double>(random() >> 11U) + 0.5) * 0x1p-53;
    const double v = static_cast<double>(random() >> 11U) * 0x1p-53;
    const double normal = std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
    return queue.load.raw() * std::exp(sigma * normal - sigma * sigma / 2.0);
  };
  const std::int64_t workers = std::max<std::int64_t>(queue.workers, 1);
  const std::int64_t ahead = workers * std::max<std::int64_t>(queue.prefetch, 1);
  std::vector<double> worker_free(static_cast<std::size_t>(workers), 0.0);
  std::vector<double> taken(static_cast<std::size_t>(ahead), 0.0);  // when the device took batch b, by b mod ahead
  const std::int64_t warm = 2 * ahead;
  double gpu_free = 0.0, start_of_count = 0.0;
  std::int64_t stalled = 0;
  for (std::int64_t b = 0; b < warm + steps; ++b) {
    double& free = worker_free[static_cast<std::size_t>(b % workers)];
    const double begun = std::max(free, taken[static_cast<std::size_t>(b % ahead)]);
    free = begun + draw();
    const double start = std::max(gpu_free, free);
    if (b == warm) {
      start_of_count = gpu_free;
    }
    stalled += b >= warm && start > gpu_free * (1.0 + 1e-12) ? 1 : 0;
    taken[static_cast<std::size_t>(b % ahead)] = start;
    gpu_free = start + queue.gpu.raw();
  }
  const double step = (gpu_free - start_of_count) / static_cast<double>(steps);
  return {queue.gpu.raw() / step, Seconds{step}, static_cast<double>(stalled) / static_cast<double>(steps)};
}

}  // namespace headroom
