// SPDX-License-Identifier: Apache-2.0
// What feeds a GPU: workers, copies, and how often the host waits for the device.
#include <headroom/model/train/step/input_pipeline.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace headroom {
namespace {

double needed_cores(double milliseconds) {
  InputPipeline p;
  p.cpu = Seconds{milliseconds * 1e-3};
  p.cores = 1e9;
  p.gpu_samples = 16621.0;
  return input_rate(p).cores_needed;
}

TEST_CASE("ResNet-50 on eight A100 takes 16,621 images a second") {
  CHECK(needed_cores(0.608) == doctest::Approx(10.1).epsilon(0.005));  // TurboJPEG
  CHECK(needed_cores(1.39) == doctest::Approx(23.1).epsilon(0.005));   // OpenCV
  InputPipeline p;
  p.stored = Bytes{17.2e3};
  p.cpu = Seconds{1.39e-3};
  p.cores = 16.0;
  p.storage = BytesPerSecond{1e9};
  p.gpu_samples = 16621.0;
  const InputRate rate = input_rate(p);
  CHECK(rate.storage_needed.raw() / 1e6 == doctest::Approx(286.0).epsilon(0.002));
  CHECK(rate.binds == InputStage::decode);
  CHECK(rate.rate == doctest::Approx(16.0 / 1.39e-3));
  CHECK(rate.gpu_utilisation == doctest::Approx(16.0 / 23.1).epsilon(0.005));
  p.storage = BytesPerSecond{100e6};
  CHECK(input_rate(p).binds == InputStage::storage);
  p.cores = 32.0;
  p.storage = BytesPerSecond{1e9};
  CHECK(input_rate(p).binds == InputStage::gpu);
  CHECK(input_rate(p).gpu_utilisation == doctest::Approx(1.0));
}

TEST_CASE("two buffers hide a copy of 6 ms behind 10 ms of work, pageable memory does not") {
  InputPipeline p;
  p.fed = Bytes{6e6};
  p.copy = BytesPerSecond{1e9};
  p.gpu_samples = 100.0;
  CHECK(input_rate(p).rate == doctest::Approx(100.0));
  p.overlapped_copy = false;
  CHECK(input_rate(p).rate == doctest::Approx(1.0 / 16e-3));
  CHECK(input_rate(p).gpu_utilisation == doctest::Approx(10.0 / 16.0));
}

TEST_CASE("256 images in fp32 are 154 MB: a step waits 13.4 ms for them pinned at 11.5 GB/s, 28.0 pageable at 5.5") {
  DataFeed feed;
  feed.fed = Bytes{3.0 * 224 * 224 * 4};
  const auto waits = [&](double rate, bool pinned) {
    feed.pinned = pinned;
    return feed_step(feed, 256.0, BytesPerSecond{rate}, Seconds{20e-3});
  };
  CHECK(waits(5.5e9, false).exposed.raw() * 1e3 == doctest::Approx(28.0).epsilon(0.002));
  CHECK(waits(11.5e9, false).exposed.raw() * 1e3 == doctest::Approx(13.4).epsilon(0.002));
  // Beside 20 ms of compute the fast copy hides, of the slow one 8 ms show.
  CHECK(waits(11.5e9, true).exposed.raw() == 0.0);
  CHECK(waits(5.5e9, true).exposed.raw() * 1e3 == doctest::Approx(8.0).epsilon(0.01));
  CHECK(waits(5.5e9, true).input.binds == InputStage::copy);
  CHECK(waits(5.5e9, true).input.copy_needed.raw() * 20e-3 == doctest::Approx(154e6).epsilon(0.002));
  feed.fed = feed.fed / 4.0;  // one byte a value
  CHECK(waits(5.5e9, true).input.binds == InputStage::gpu);
  CHECK(waits(5.5e9, false).exposed.raw() * 1e3 == doctest::Approx(7.0).epsilon(0.002));
}

}  // namespace
}  // namespace headroom
