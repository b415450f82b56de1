// SPDX-License-Identifier: Apache-2.0
// Power by kind of time, hosts, caps: hand arithmetic on stated parameters, and published systems.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/power/power.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include <array>

using namespace headroom;

namespace {

Device device_of(double tdp, std::optional<double> idle = {}) {
  Device device;
  device.id = "test";
  device.power.tdp = Sourced<Watts>{};
  device.power.tdp->value = Watts{tdp};
  if (idle) {
    device.power.idle = Sourced<Watts>{};
    device.power.idle->value = Watts{*idle};
  }
  return device;
}

/// Round numbers: what the test computes by hand does not hang on the form that ships.
PowerForm round_form() {
  PowerForm form;
  form.activity[static_cast<std::size_t>(Draw::matrix)].value = 1.0;
  form.activity[static_cast<std::size_t>(Draw::memory)].value = 0.8;
  form.activity[static_cast<std::size_t>(Draw::communication)].value = 0.5;
  form.activity[static_cast<std::size_t>(Draw::waiting)].value = 0.1;
  form.idle.value = 0.1;
  form.voltage.value = 0.5;
  form.host_of_rating.value = 0.5;
  form.host_of_tdp.value = 0.25;
  return form;
}

Node node_of(std::int64_t gpus, double watts) {
  Node node;
  node.id = "box";
  node.gpus = gpus;
  node.power = Sourced<Watts>{};
  node.power->value = Watts{watts};
  return node;
}

}  // namespace

TEST_CASE("a GPU draws its idle power and a share of what lies between that and its limit") {
  const GpuPower p = *gpu_power(device_of(500.0), nullptr, std::nullopt, round_form());
  CHECK(p.idle.raw() == doctest::Approx(50.0));  // 10 % of 500
  CHECK(p.of(Draw::matrix).raw() == doctest::Approx(500.0));
  CHECK(p.of(Draw::memory).raw() == doctest::Approx(50.0 + 0.8 * 450.0));
  CHECK(p.of(Draw::communication).raw() == doctest::Approx(50.0 + 0.5 * 450.0));
  CHECK(p.of(Draw::waiting).raw() == doctest::Approx(95.0));
  CHECK(p.least().raw() == doctest::Approx(95.0));
  CHECK(p.host.raw() == doctest::Approx(125.0));  // a quarter of the TDP: no rating is known
  const GpuPower stated = *gpu_power(device_of(500.0, 100.0), nullptr, std::nullopt, round_form());
  CHECK(stated.of(Draw::waiting).raw() == doctest::Approx(100.0 + 0.1 * 400.0));
  CHECK_FALSE(gpu_power(Device{}, nullptr, std::nullopt, round_form()).has_value());
}

TEST_CASE("the host is a share of what the node's rating leaves beside its GPUs") {
  const Node node = node_of(8, 10200.0);
  const GpuPower p = *gpu_power(device_of(700.0), &node, std::nullopt, round_form());
  CHECK(p.host.raw() == doctest::Approx(0.5 * (10200.0 - 5600.0) / 8.0));
  CHECK(p.busy().raw() == doctest::Approx(700.0 + 287.5));
  const Node wrong = node_of(8, 4000.0);  // rated for smaller GPUs
  CHECK(gpu_power(device_of(700.0), &wrong, std::nullopt, round_form())->host.raw() == doctest::Approx(175.0));
}

TEST_CASE("a step's energy is the sum of its terms' times and powers, the user's own level stretches all of it") {
  const GpuPower p = *gpu_power(device_of(500.0), nullptr, std::nullopt, round_form());
  Breakdown time;
  time[Term::gemm] = Seconds{6.0};
  time[Term::elementwise] = Seconds{1.0};
  time[Term::tp_comm] = Seconds{2.0};
  time[Term::bubble] = Seconds{1.0};
  // 6 x 500 + 1 x 410 + 2 x 275 + 1 x 95
  CHECK(gpu_energy(time, p).raw() == doctest::Approx(4055.0));
  time[Term::measured_level] = Seconds{1.0};  // 10 % slower than the model has it
  CHECK(gpu_energy(time, p).raw() == doctest::Approx(1.1 * 4055.0));
  time[Term::measured_level] = Seconds{-2.0};
  CHECK(gpu_energy(time, p).raw() == doctest::Approx(0.8 * 4055.0));
}

TEST_CASE("under a cap the clock falls until f (1/2 + f/2)^2 is what is left of the dynamic power") {
  // At f = 1/2: 1/2 (3/4)^2 = 9/32 of the dynamic power; at f = 3/5: 3/5 (4/5)^2 = 48/125.
  CHECK(capped_clock(9.0 / 32.0, 0.5) == doctest::Approx(0.5).epsilon(1e-9));
  CHECK(capped_clock(48.0 / 125.0, 0.5) == doctest::Approx(0.6).epsilon(1e-9));
  CHECK(capped_clock(0.125, 0.0) == doctest::Approx(0.5).epsilon(1e-9));  // no voltage to keep: the cube
  CHECK(capped_clock(0.4, 1.0) == doctest::Approx(0.4).epsilon(1e-9));    // no voltage to lower: the clock itself
  CHECK(capped_clock(1.0, 0.5) == 1.0);
  CHECK(capped_clock(7.0, 0.5) == 1.0);

  const Device device = device_of(500.0);  // 50 W idle, 450 dynamic
  CHECK(matrix_clock(device, std::nullopt, round_form()) == 1.0);
  CHECK(matrix_clock(device, Watts{50.0 + 450.0 * 9.0 / 32.0}, round_form()) == doctest::Approx(0.5).epsilon(1e-9));
  CHECK(matrix_clock(device, Watts{600.0}, round_form()) == 1.0);
  const GpuPower p = *gpu_power(device, nullptr, Watts{300.0}, round_form());
  CHECK(p.of(Draw::matrix).raw() == 300.0);
  CHECK(p.of(Draw::memory).raw() == 300.0);
  CHECK(p.of(Draw::communication).raw() == doctest::Approx(275.0));  // below the cap as it is
  // A joule a product: watts over rate fall under the cap.
  CHECK(300.0 / matrix_clock(device, Watts{300.0}, round_form()) < 500.0);
}

TEST_CASE("a lone slice runs at the clock that its card cannot keep, and slices together share the card's power") {
  // 450 W beside the idle power; 100 SMs of 9 W would draw 900 W at the boost clock, so that f (1/2 + f/2)^2 = 1/2.
  Device slice = device_of(500.0 / 4.0);
  slice.compute_capability = "8.0";
  Device::Slice part;
  part.card = "test";
  part.profile = "1g";
  part.per_card = 4;
  part.compute = 0.25;
  part.card_units = 100;
  part.card_tdp = Watts{500.0};
  slice.slice = part;
  PowerForm form = round_form();
  CHECK(slice_clock(slice, 25.0, form) == 1.0);  // nobody measured what an SM draws
  form.units = {{"8.0", {9.0, 9.0, 9.0, "by hand"}}};
  const double together = capped_clock(0.5, 0.5);
  CHECK(slice_clock(slice, 25.0, form) == doctest::Approx(1.0 / together));
  CHECK(slice_clock(slice, 50.0, form) == doctest::Approx(1.0 / together));  // 450 W: just the limit
  CHECK(slice_clock(slice, 100.0, form) == doctest::Approx(1.0));
  CHECK(slice_clock(slice, 75.0, form) == doctest::Approx(capped_clock(2.0 / 3.0, 0.5) / together));
  // All slices of a card are taken to be at work where nobody says how many are.
  CHECK(matrix_clock(slice, std::nullopt, form) == doctest::Approx(1.0));
  CHECK(matrix_clock(slice, std::nullopt, form, 25.0) == doctest::Approx(1.0 / together));
  slice.compute_capability = "9.0";
  CHECK(slice_clock(slice, 25.0, form) == 1.0);
  CHECK(slice_clock(device_of(500.0), 25.0, form) == 1.0);
}

TEST_CASE("the draw of an A100's SM tells what a lone slice of an A30 gains, within 3 %") {
  const Catalog catalog = Catalog::of({});
  const PowerForm& form = power_form(test::model_data());
  // MLPerf inference v2.0, closed, NVIDIA: BERT-99 offline, one 1g.6gb of an A30 502 of the card's 1,695 samples/s. Its
  // products take all but the whole of the time: the rate over a quarter of the card's is the clock.
  const double measured = 502.0 / (1695.0 / 4.0);
  CHECK(slice_clock(catalog.device("a30/1g.6gb"), 14.0, form) == doctest::Approx(measured).epsilon(0.03));
  // Four at work draw what the card draws.
  CHECK(slice_clock(catalog.device("a30/1g.6gb"), 56.0, form) == doctest::Approx(1.0));
}

TEST_CASE("the cap law on published pairs of the same system with and without a cap, compute-bound, within 4 %") {
  // MLPerf inference, offline: power_limit of closed/NVIDIA/configs, throughput over that of the uncapped submission.
  struct Pair {
    const char* system;
    double tdp, cap, throughput;
  };
  const std::array pairs{Pair{"v1.1 8 x A100 PCIe 40 GB, ResNet-50", 250.0, 175.0, 211436.0 / 265138.0},
                         Pair{"v2.0 8 x A100 PCIe 80 GB, ResNet-50", 300.0, 175.0, 211065.0 / 293451.0},
                         Pair{"v2.1 8 x A100 PCIe 80 GB, ResNet-50", 300.0, 195.0, 252721.0 / 316342.0},
                         Pair{"v3.0 8 x H100 PCIe 80 GB, RetinaNet", 350.0, 215.0, 5975.0 / 7975.0}};
  for (const Pair& pair : pairs) {
    CAPTURE(pair.system);
    CHECK(matrix_clock(device_of(pair.tdp), Watts{pair.cap}, power_form(test::model_data())) ==
          doctest::Approx(pair.throughput).epsilon(0.04));
  }
}

TEST_CASE("node power of published systems under a cap lies within the interval that the form states") {
  // MLPerf inference, offline, mean wall power of closed/NVIDIA/results; power_limit of closed/NVIDIA/configs.
  struct System {
    const char* name;
    double gpus, tdp, cap, rating, measured;  ///< W; rating 0: not known
  };
  const std::array systems{System{"v2.0 8 x A100 PCIe 80 GB", 8, 300, 175, 0, 1860.6},
                           System{"v2.0 4 x A100 PCIe 80 GB, Arm", 4, 300, 175, 0, 997.0},
                           System{"v2.0 8 x A100 SXM 80 GB, Arm", 8, 400, 250, 0, 2815.2},
                           System{"v2.0 DGX Station, 4 x A100 SXM", 4, 400, 225, 0, 1131.8},
                           System{"v2.1 8 x A100 PCIe 80 GB", 8, 300, 195, 0, 2068.3},
                           System{"v2.1 DGX A100", 8, 400, 250, 6500, 3082.3},
                           System{"v3.0 8 x A100 PCIe 80 GB", 8, 300, 195, 0, 2049.7},
                           System{"v3.0 8 x H100 PCIe 80 GB, ResNet-50", 8, 350, 215, 0, 2219.6},
                           System{"v3.0 8 x H100 PCIe 80 GB, RetinaNet", 8, 350, 215, 0, 2253.3},
                           System{"H100 HGX, the most it drew (Latif et al. 2024)", 8, 700, 700, 10200, 8450.0}};
  const double width = power_form(test::model_data()).width;
  for (const System& system : systems) {
    CAPTURE(system.name);
    const Node node = node_of(static_cast<std::int64_t>(system.gpus), system.rating);
    const Node* const rated = system.rating > 0.0 ? &node : nullptr;
    const GpuPower p = *gpu_power(device_of(system.tdp), rated, Watts{system.cap}, power_form(test::model_data()));
    const double predicted = system.gpus * p.busy().raw();
    CHECK(predicted < (1.0 + width) * system.measured);
    CHECK(predicted > system.measured / (1.0 + width));
  }
}

TEST_CASE("caps that cannot be are refused with what can") {
  const Device device = device_of(700.0, 70.0);
  CHECK(why_no_cap(device, Watts{500.0}, power_form(test::model_data())).empty());
  CHECK(why_no_cap(device, Watts{1050.0}, power_form(test::model_data())).empty());
  CHECK(why_no_cap(device, Watts{70.0}, power_form(test::model_data()))
            .find("no more than the GPU draws with nothing to do") != std::string::npos);
  CHECK(why_no_cap(device, Watts{1051.0}, power_form(test::model_data())).find("1.5 x its TDP of 700 W") !=
        std::string::npos);
  CHECK(why_no_cap(Device{}, Watts{500.0}, power_form(test::model_data())).find("no power") != std::string::npos);
}

TEST_CASE("the form that ships: an H100 on its DGX draws 700 W in products and 139 W waiting") {
  const Catalog catalog = Catalog::standard();
  const Device& h100 = catalog.device("h100-sxm-80gb");
  const GpuPower p = *gpu_power(h100, &catalog.node("dgx-h100"), std::nullopt, power_form(test::model_data()));
  CHECK(p.idle.raw() == 70.0);
  CHECK(p.of(Draw::matrix).raw() == doctest::Approx(700.0));
  CHECK(p.of(Draw::memory).raw() == doctest::Approx(70.0 + 0.88 * 630.0));
  CHECK(p.of(Draw::waiting).raw() == doctest::Approx(139.3));
  CHECK(p.host.raw() == doctest::Approx(0.45 * 4600.0 / 8.0));
  CHECK(power_form(test::model_data()).width_source.find("MLPerf") != std::string::npos);
}

TEST_CASE(
    "a GPU that serves: what it reads and multiplies beside what it draws whatever it does, never above a limit") {
  PowerForm form = round_form();
  form.serving_active.value = 0.4;
  form.serving_reading.value = 50.0;    // pJ a byte: 100 W at 2 TB/s
  form.serving_arithmetic.value = 0.5;  // pJ a FLOP: 50 W at 100 TFLOP/s
  form.serving_experts.value = 0.2;
  const GpuPower p = *gpu_power(device_of(500.0), nullptr, std::nullopt, form);
  const auto use = [](double bytes, double flops, double experts) {
    return ServingUse{BytesPerSecond{bytes}, FlopsPerSecond{flops}, experts};
  };
  CHECK(serving_power(p, use(0.0, 0.0, 0.0), form).raw() == doctest::Approx(50.0 + 0.4 * 450.0));
  CHECK(serving_power(p, use(2e12, 0.0, 0.0), form).raw() == doctest::Approx(50.0 + 0.4 * 450.0 + 100.0));
  CHECK(serving_power(p, use(0.0, 1e14, 0.0), form).raw() == doctest::Approx(50.0 + 0.4 * 450.0 + 50.0));
  CHECK(serving_power(p, use(1e12, 1e14, 0.5), form).raw() ==
        doctest::Approx(50.0 + (0.4 + 0.5 * 0.2) * 450.0 + 50.0 + 50.0));
  CHECK(serving_power(p, use(4e12, 9e14, 0.0), form) == p.tdp);
  const GpuPower capped = *gpu_power(device_of(500.0), nullptr, Watts{300.0}, form);
  CHECK(serving_power(capped, use(2e12, 0.0, 0.0), form).raw() == doctest::Approx(300.0));
}

TEST_CASE(
    "the form that ships: a GPU that serves draws more than one that waits, and all of H100's limit at its peak") {
  const PowerForm& form = power_form(test::model_data());
  const Catalog catalog = Catalog::standard();
  const GpuPower h100 = *gpu_power(catalog.device("h100-sxm-80gb"), nullptr, std::nullopt, form);
  CHECK(serving_power(h100, {}, form) > h100.of(Draw::waiting));
  // Reading at 3.35 TB/s draws less than training's passes over memory, which also compute.
  const ServingUse reads{BytesPerSecond{3.35e12}, {}, 0.0};
  CHECK(serving_power(h100, reads, form) < h100.of(Draw::memory));
  CHECK(serving_power(h100, {{}, FlopsPerSecond{989e12}, 0.0}, form) == h100.tdp);
  CHECK(form.serving_width > 0.0);
}
