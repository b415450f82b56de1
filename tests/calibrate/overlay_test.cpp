// SPDX-License-Identifier: Apache-2.0
// From samples to an overlay of the catalog: known constants come back, and what cannot be fitted is refused by name.
#include <headroom/calibrate/overlay/overlay.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "simulated.hpp"
#include <algorithm>
#include <filesystem>

using namespace headroom;
using namespace headroom::test;

namespace {

const Device& h200() {
  static const Catalog catalog = Catalog::standard();
  return catalog.device("h200-sxm-141gb");
}

struct Measured {
  ScratchFolder folder;
  std::shared_ptr<SimulatedProber> prober;
  SampleSet set;
};

/// Calibrates bf16 products and copies of a simulated device.
std::unique_ptr<Measured> measured(const std::string& more,
                                   bool gemm = true,
                                   bool copy = true,
                                   std::uint64_t seed = 11) {
  auto result = std::make_unique<Measured>();
  SimulatedDevice device = simulated(more);
  device.seed = seed;
  result->prober = std::make_shared<SimulatedProber>(std::move(device), Seconds{});
  const std::string folder = result->folder.path().string();
  SampleJournal journal{folder};
  const ProbePlan plan = bf16_and_copies(*result->prober, gemm, copy);
  const Calibration calibration =
      calibrate(result->prober, result->prober, &h200(), plan, {}, journal, nullptr, nullptr);
  result->set = sample_set_of(calibration, *result->prober, folder);
  return result;
}

std::string refusal(const SampleSet& set, const Device& base) {
  try {
    static_cast<void>(make_overlay(ModelData::standard(), set, base, nullptr, base.id));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

double value(const Overlay& overlay, std::size_t curve, std::string_view name) {
  const FittedGroup& fitted = overlay.curves[curve].fitted;
  for (std::size_t i = 0; i < fitted.problem.parameters.size(); ++i) {
    if (fitted.problem.parameters[i].name == name) {
      return fitted.fit.result.parameters[i].value;
    }
  }
  return 0.0;
}

}  // namespace

TEST_CASE("constants come back within 2 % under 3 % of noise and 5 % of outliers") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const auto m = measured("[noise]\nspread = 0.03\noutliers = 0.05\noutlier_factor = 3.0\n", true, true, seed);
    const Overlay overlay = make_overlay(ModelData::standard(), m->set, h200(), nullptr, "h200-sxm-141gb");
    REQUIRE(overlay.curves.size() == 2);
    CHECK(value(overlay, 0, "compute") == doctest::Approx(0.80).epsilon(0.02));
    CHECK(value(overlay, 0, "bandwidth") == doctest::Approx(0.84).epsilon(0.02));
    CHECK(value(overlay, 0, "launch") * 1e6 == doctest::Approx(2.5).epsilon(0.02));
    CHECK(value(overlay, 0, "chain") * 1e9 == doctest::Approx(1.3).epsilon(0.02));
    CHECK(value(overlay, 1, "bandwidth") == doctest::Approx(0.90).epsilon(0.02));
    CHECK(value(overlay, 1, "launch") * 1e6 == doctest::Approx(2.1).epsilon(0.02));
    CHECK(overlay.curves[0].within80 < 0.03);
  }
}

TEST_CASE("an overlay says where its numbers come from, how sure they are and what the base says instead") {
  const auto m = measured("");
  const Overlay overlay = make_overlay(ModelData::standard(), m->set, h200(), nullptr, "h200-rack-7");
  CHECK(says(overlay.gpu_toml, "base = \"h200-sxm-141gb\""));
  CHECK(says(overlay.gpu_toml, "curves = \"h200-rack-7\""));
  CHECK(says(overlay.gpu_toml, "driver 580.82.07"));
  CHECK(says(overlay.gpu_toml, ("conditions " + conditions_digest(m->set.manifest)).c_str()));
  CHECK(says(overlay.curves_toml, "base = \"h200-sxm-141gb\""));
  const auto bandwidth = std::find_if(overlay.facts.begin(), overlay.facts.end(),
                                      [](const OverlayFact& f) { return f.what == "memory bandwidth, copy"; });
  REQUIRE(bandwidth != overlay.facts.end());
  CHECK(bandwidth->difference.value_or(0.0) == doctest::Approx(-0.10).epsilon(0.01));  // 0.90 of the datasheet
  CHECK(bandwidth->base == "4.80 TB/s");
  CHECK(overlay.curves[0].slower.has_value());
  const std::vector<FolderFile> files = overlay_files(overlay);
  REQUIRE(files.size() == 3);
  CHECK(files[0].first == "gpus/h200-rack-7.toml");
  CHECK(files[1].first == "curves/h200-rack-7.toml");
  CHECK(files[2].first == "collectives/h200-rack-7.toml");
}

TEST_CASE("the catalog reads the overlay, and its curves stand before those of the base") {
  const auto m = measured("");
  const ScratchFolder data;
  for (const char* id : {"h200-sxm-141gb", "h200-rack-7"}) {
    CAPTURE(id);
    for (const auto& [name, text] : overlay_files(make_overlay(ModelData::standard(), m->set, h200(), nullptr, id))) {
      std::filesystem::create_directories((data.path() / name).parent_path());
      std::ofstream{data.path() / name} << text;
    }
    setenv("HEADROOM_DATA_DIR", data.path().c_str(), 1);
    const Catalog catalog = Catalog::standard();
    const Device& device = catalog.device(id);
    CHECK(device.curves == id);
    CHECK(device.memory.bandwidth->value == BytesPerSecond{4.8e12});  // the base's datasheet
    const CurveSet set = find_curve_set(ModelData::standard(), device);
    unsetenv("HEADROOM_DATA_DIR");
    const auto chosen = choose_gemm(set, device, *find_gemm_format("bf16"));
    CHECK(chosen.curve->provenance.engine == "cublaslt");
    CHECK(chosen.curve->values[static_cast<std::size_t>(GemmParameter::compute)] == doctest::Approx(0.8).epsilon(0.01));
    CHECK(choose_gemm(set, device, *find_gemm_format("fp8")).curve->provenance.engine == "trtllm");
    CHECK(says(choose_memory(set, device).why, "copy"));
    CHECK_FALSE(set.decode.empty());
  }
}

TEST_CASE("too few samples are refused, and the probes that are missing are named") {
  auto m = measured("", true, false);
  SampleSet& set = m->set;
  REQUIRE(set.kernels.size() == 1);
  set.kernels[0].rows.resize(7);
  const std::string why = refusal(set, h200());
  CHECK(says(why, "7 of 48 products in bf16 cannot be fitted, at least 8 are needed"));
  CHECK(says(why, "measure gemm bf16 16x256x2048"));
  CHECK(says(why, "--resume --only gemm --dtype bf16"));
  set.kernels.clear();
  CHECK(says(refusal(set, h200()), "nothing to fit"));
  SampleSet copies = measured("", false, true)->set;
  copies.copies.resize(23);  // memcpy first, then two of copy
  CHECK(says(refusal(copies, h200()), "2 of 21 copies cannot be fitted"));
}

TEST_CASE("samples that no such device could have run, or of another generation, are refused") {
  const auto m = measured("", true, false);
  SampleSet fast = m->set;
  fast.kernels[0].rows.back().latency = Seconds{1e-6};
  CHECK(says(refusal(fast, h200()), "its timer did not wait"));
  const Catalog catalog = Catalog::standard();
  CHECK(says(refusal(m->set, catalog.device("a100-sxm-80gb")), "has compute capability 9.0, a100-sxm-80gb 8.0"));
}

TEST_CASE("folders of two devices are not fitted together, cut and missing files are told with their place") {
  const auto a = measured("", false, true);
  const auto b = measured("", false, true);
  const std::string path_a = a->folder.path().string();
  const std::string path_b = b->folder.path().string();
  CHECK(read_sample_folders({path_a, path_b}).copies.size() == 2 * 63);
  std::string manifest = read_text(path_b + "/manifest.toml");
  manifest.replace(manifest.find("51301a7e"), 8, "00000000");
  std::ofstream{path_b + "/manifest.toml"} << manifest;
  CHECK_THROWS_WITH_AS(
      read_sample_folders({path_a, path_b}),
      doctest::Contains("are not of one device under one set of conditions: mark 51301a7e and 00000000"), ConfigError);
  std::string copies = read_text(path_a + "/copy.csv");
  copies.resize(copies.size() - 3);
  std::ofstream{path_a + "/copy.csv"} << copies;
  CHECK_THROWS_WITH_AS(read_sample_folder(path_a),
                       doctest::Contains("copy.csv:64:1: error: the file ends inside a line"), ConfigError);
  std::filesystem::remove(path_a + "/copy.csv");
  CHECK_THROWS_WITH_AS(read_sample_folder(path_a), doctest::Contains("names 'copy.csv', which is not beside it"),
                       ConfigError);
}
