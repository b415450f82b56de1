// SPDX-License-Identifier: Apache-2.0
// Steps of training of networks: the update, accumulation, the exchange of gradients.
#include <headroom/model/infer/training_step.hpp>
#include <headroom/model/workload/network_library.hpp>

#include <doctest/doctest.h>

using namespace headroom;

namespace {

CallDevice plain_device() {
  CallDevice device;
  device.bandwidth = BytesPerSecond{1e12};
  device.bandwidth_share = 0.5;
  return device;
}

CallPhysics plain_physics() {
  CallPhysics physics;
  physics.update_bytes = 30.0;
  physics.update_tensor = Seconds{1e-6};
  physics.exchange_tensor = Seconds{2e-6};
  physics.straggler = 0.01;
  return physics;
}

TrainingStep plain_step() {
  TrainingStep step;
  step.trained = {1e9, 100.0, 0.0};
  return step;
}

double seconds(const TrainingStep& step, const NetworkEngine& engine = {}) {
  return training_step_time(step, Seconds{0.1}, plain_device(), plain_physics(), engine).raw();
}

}  // namespace

TEST_CASE("training step: an update moves 30 bytes a parameter, once for all calls that accumulate") {
  TrainingStep step = plain_step();
  const double update = 30e9 / 0.5e12 + 100 * 1e-6;
  CHECK(seconds(step) == doctest::Approx(0.1 + update));
  step.calls = 8.0;
  CHECK(seconds(step) == doctest::Approx(0.8 + update));
}

TEST_CASE("training step: ranks exchange gradients by message and tensor, and wait for the slowest") {
  TrainingStep step = plain_step();
  step.exchange = Seconds{0.02};
  step.sparse = Seconds{0.001};
  const double alone = 0.1 + 30e9 / 0.5e12 + 1e-4;
  CHECK(seconds(step) == doctest::Approx(alone));  // one rank has nobody to wait for
  step.ranks = 16.0;
  step.hosts = 4.0;
  step.calls = 2.0;
  const double exchange = 0.02 + 100 * 2e-6 * (1.0 + 0.5 * 2.0);
  CHECK(seconds(step) == doctest::Approx((alone + 0.1 + 2 * 0.001 + exchange) * (1.0 + 0.01 * 4.0)));
}

TEST_CASE("training step: an exchange hides beside two thirds of a call, and buckets stand for tensors") {
  TrainingStep step = plain_step();
  step.ranks = 2.0;
  step.exchange = Seconds{0.05};
  NetworkEngine engine;
  engine.exchange_hidden = 0.8;
  const double bare = seconds(step);
  const double exchange = 0.05 + 100 * 2e-6;
  CHECK(seconds(step, engine) == doctest::Approx(bare - 0.8 * exchange * 1.01));
  step.exchange = Seconds{0.5};
  CHECK(seconds(step, engine) == doctest::Approx(seconds(step) - 0.1 * 2.0 / 3.0 * 1.01));
  engine.exchange_hidden = 0.0;
  engine.buckets = true;
  // 2 GB of gradients are 80 buckets, not 100 tensors.
  CHECK(seconds(step) - seconds(step, engine) == doctest::Approx(20 * 3e-6 * 1.01));
  const double whole = seconds(step, engine);
  engine.sharded_update = true;
  CHECK(whole - seconds(step, engine) == doctest::Approx(0.5 * 30e9 / 0.5e12 * 1.01));
}

TEST_CASE("training step: embedding bags are looked up sparsely, all else is updated and exchanged") {
  const NetworkLibrary networks = NetworkLibrary::standard();
  const TrainedTensors vision = trained_tensors(networks.find("resnet-50"));
  CHECK(vision.parameters == doctest::Approx(networks.find("resnet-50").parameters));
  CHECK(vision.sparse == 0.0);
  CHECK(vision.tensors > 150.0);
  CHECK(vision.tensors < 170.0);  // torchvision counts 161
  const Network ranking = networks.find("dlrm-dcnv2");
  const TrainedTensors ranks = trained_tensors(ranking);
  CHECK(ranks.parameters < 0.01 * ranking.parameters);
  CHECK(ranks.sparse == doctest::Approx(26.0 * 128.0));
}
