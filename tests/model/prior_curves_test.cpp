// SPDX-License-Identifier: Apache-2.0
// Kernels and collectives of SKUs that nobody measured: means of the measured generations on the SKU's own datasheet.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/collectives/prior_collectives.hpp>
#include <headroom/model/kernels/prior_curves.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using test::near;

namespace {

const Catalog& catalog() {
  static const Catalog standard = Catalog::standard();
  return standard;
}

double launch_of(const CurveSet& set, std::string_view engine, std::string_view format) {
  const auto found = std::find_if(set.gemm.begin(), set.gemm.end(), [&](const FittedGemm& c) {
    return c.provenance.engine == engine && c.provenance.format == format;
  });
  REQUIRE(found != set.gemm.end());
  return found->values[static_cast<std::size_t>(GemmParameter::launch)];
}

double mean_launch(std::initializer_list<std::initializer_list<std::string_view>> generations) {
  double sum = 0.0;
  for (const auto& skus : generations) {
    double own = 0.0;
    for (const std::string_view sku : skus) {
      own += std::log(launch_of(find_curve_set(test::model_data(), catalog().device(std::string{sku})), "vllm", "fp8"));
    }
    sum += own / static_cast<double>(skus.size());
  }
  return std::exp(sum / static_cast<double>(generations.size()));
}

}  // namespace

TEST_CASE("kernels that nobody measured are the mean of the measured generations, each of which counts once") {
  const CurveSet prior = prior_curve_set(test::model_data());
  CHECK(launch_of(prior, "vllm", "fp8") == near(mean_launch({{"h100-sxm-80gb", "h200-sxm-141gb"},
                                                             {"b200-sxm-180gb", "gb200-nvl72", "rtx-pro-6000-server"},
                                                             {"b300-sxm-288gb", "gb300-nvl72"},
                                                             {"l40s"}}),
                                                1e-9));
  const std::vector<std::string> hopper{"hopper"};
  CHECK(
      launch_of(prior_curve_set(test::model_data(), hopper), "vllm", "fp8") ==
      near(mean_launch(
               {{"b200-sxm-180gb", "gb200-nvl72", "rtx-pro-6000-server"}, {"b300-sxm-288gb", "gb300-nvl72"}, {"l40s"}}),
           1e-9));
  const Device& amd = catalog().device("mi300x");
  const CurveSet& set = curve_set_or_prior(test::model_data(), amd);
  CHECK(choose_gemm(set, amd, *find_gemm_format("fp8"), "vllm").why.find("generations") != std::string::npos);
  CHECK_THROWS_AS(static_cast<void>(find_curve_set(test::model_data(), amd)),
                  ConfigError);  // asked for after the mean too
  CHECK(&curve_set_or_prior(test::model_data(), catalog().device("h100-sxm-80gb")) ==
        &find_curve_set(test::model_data(), catalog().device("h100-sxm-80gb")));
}

TEST_CASE("a matrix engine larger than any measured unit counts as several") {
  CHECK(with_measured_units(catalog().device("gaudi3")).compute.units->value == 8 * 131072 / 8192);
  for (const char* same : {"mi300x", "h100-sxm-80gb", "b200-sxm-180gb"}) {
    const Device& device = catalog().device(same);
    CHECK(with_measured_units(device).compute.units->value == device.compute.units->value);
  }
}

TEST_CASE("ranks of a full mesh reach the links to each other and no more") {
  const Device& amd = catalog().device("mi300x");
  const Node* const node = catalog().reference_node(amd);
  const auto view = [&](std::int64_t ranks) { return mesh_view(amd, node, hosts_view(amd, node, ranks)); };
  CHECK(view(2).inside_ring.raw() == near(64e9, 1e-9));
  CHECK(view(4).inside_ring.raw() == near(192e9, 1e-9));
  CHECK(view(8).inside_ring.raw() == near(448e9, 1e-9));
  CHECK(view(8).inside_pair.raw() == near(64e9, 1e-9));
  const ChosenCollectives chosen = collectives_or_prior(test::model_data(), amd, hosts_view(amd, node, 8));
  CHECK(chosen.why.find("nobody measured") != std::string::npos);
  // the same links and bytes in two ranks take longer than in eight, of which each sends to seven
  const GroupView few = view(2);
  const GroupView many = view(8);
  const Bytes bytes{64e6};
  const NetworkCurve none{};
  CHECK(GroupCollectives(chosen.curves(), none, few).time(Collective::all_reduce, bytes).time >
        GroupCollectives(chosen.curves(), none, many).time(Collective::all_reduce, bytes).time);
  // measured SKUs keep theirs
  const Device& own = catalog().device("h200-sxm-141gb");
  const GroupView nvlink = hosts_view(own, catalog().reference_node(own), 8);
  CHECK(mesh_view(own, catalog().reference_node(own), nvlink).inside_ring == nvlink.inside_ring);
  CHECK(collectives_or_prior(test::model_data(), own, nvlink).why ==
        choose_collectives(test::model_data(), own, nvlink).why);
}

TEST_CASE(
    "a SKU with neither kernels nor runs of its own is as wide as other generations were off, another vendor's wider") {
  const UnmeasuredErrors& unmeasured = unmeasured_errors(test::model_data());
  const ServingConfidence& confidence = serving_confidence(test::model_data());
  for (const bool experts : {false, true}) {
    for (std::size_t i = 0; i < serving_quantity_names.size(); ++i) {
      const ServingErrors& own = confidence.of("vllm", static_cast<ServingQuantity>(i), experts);
      for (const char* measured : {"h100-sxm-80gb", "b200-sxm-180gb", "rtx-4090", "a100-sxm-40gb"}) {
        const ServingErrors same = of_unmeasured(own, catalog().device(measured), unmeasured);
        CHECK(same.low == own.low);
        CHECK(same.high == own.high);
        CHECK(same.text() == own.text());
      }
      const ServingErrors lent = of_unmeasured(own, catalog().device("rtx-5090"), unmeasured);
      CHECK(lent.low <= own.low);
      CHECK(lent.high >= own.high);
      CHECK(lent.text().find("nobody measured kernels of rtx-5090") != std::string::npos);
      const ServingErrors amd = of_unmeasured(own, catalog().device("mi300x"), unmeasured);
      CHECK(amd.low <= lent.low);
      CHECK(amd.high >= lent.high);
      CHECK(amd.high / amd.low > 2.0);
      CHECK(amd.class_low == own.low);
    }
  }
}
