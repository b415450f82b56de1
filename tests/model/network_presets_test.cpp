// SPDX-License-Identifier: Apache-2.0
// The networks that ship, against figures as their papers and model libraries print them.
#include <headroom/model/train/network/network_step.hpp>
#include <headroom/model/workload/network_library.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>

using namespace headroom;

namespace {

const NetworkLibrary& networks() {
  static const NetworkLibrary library = NetworkLibrary::standard();
  return library;
}

/// Millions of parameters and multiply-adds of a published table; 0: it states none.
struct Published {
  std::string_view id;
  double parameters = 0.0;
  double multiply_adds = 0.0;
};

// torchvision's tables of weights ("params", "GFLOPS", which count a multiply-add once).
constexpr std::array torchvision{Published{"resnet-18", 11.690, 1814},
                                 Published{"resnet-34", 21.798, 3664},
                                 Published{"resnet-50", 25.557, 4089},
                                 Published{"resnet-101", 44.549, 7801},
                                 Published{"resnet-152", 60.193, 11514},
                                 Published{"efficientnet-b0", 5.289, 386},
                                 Published{"efficientnet-b3", 12.233, 1827},
                                 Published{"efficientnet-b4", 19.342, 4394},
                                 Published{"efficientnet-v2-s", 21.458, 8366},
                                 Published{"mobilenet-v3-large", 5.483, 217},
                                 Published{"vit-base-patch16-224", 86.568, 17564},
                                 Published{"swin-base-patch4-window7-224", 87.768, 15431},
                                 Published{"convnext-base", 88.591, 15355},
                                 Published{"mask-rcnn-resnet50-fpn", 44.401, 0}};

// timm's results of models ("param_count", "gmacs").
constexpr std::array timm{
    Published{"resnext101-32x4d", 44.18, 8010},          Published{"se-resnext101-32x4d", 48.96, 8020},
    Published{"vit-small-patch16-224", 22.05, 4610},     Published{"vit-large-patch14-224", 304.20, 81080},
    Published{"vit-base-patch14-dinov2", 86.58, 151710}, Published{"deit3-base-patch16-224", 86.59, 17580},
    Published{"eva02-large-patch14-224", 303.27, 81150}};

// Papers and benchmarks' own tables.
constexpr std::array papers{Published{"ssd-mobilenet-v1", 6.91, 1235},  // Reddi et al. 2020, table I
                            Published{"ssd-resnet34-1200", 0, 216500},  // the same
                            Published{"efficientdet-d0", 3.9, 2500},    // Tan et al. 2020, table 2
                            Published{"yolo11l", 25.3, 43450},          // Ultralytics
                            Published{"unet-medical", 31.03, 0},        // Ronneberger et al. 2015
                            Published{"unet-industrial", 1.825, 0},     // DeepLearningExamples
                            Published{"jasper-10x5", 333, 0},           // DeepLearningExamples
                            Published{"quartznet-15x5", 18.9, 0},       // Kriman et al. 2020, table 2
                            Published{"gpunet-0", 11.9, 0},             // Wang et al. 2022
                            Published{"gpunet-1", 12.7, 0},
                            Published{"gpunet-2", 25.8, 0},
                            Published{"electra-base-squad", 110, 0},   // Clark et al. 2020, table 1
                            Published{"electra-large-squad", 335, 0},  // the same, table 8
                            Published{"bert-dist-6l-768d", 67.0, 0},   // Jiao et al. 2020, table 1
                            Published{"transformer-big", 210, 0},      // Ott et al. 2018
                            Published{"hunyuan-dit-v1.2", 1500, 0}};   // Li et al. 2024

// Sizes of the weights as Hugging Face counts them.
constexpr std::array weights{Published{"bert-base-pretraining", 110.106, 0},
                             Published{"bert-large-pretraining", 336.226, 0},
                             Published{"bart-large", 406.29, 0},
                             Published{"wav2vec2-base", 94.396, 0},
                             Published{"wav2vec2-large", 315.462, 0},
                             Published{"whisper-large-v3", 1543.49, 0},
                             Published{"clip-vit-large-patch14", 427.617, 0},
                             Published{"sdxl-unet", 2567.464, 0},
                             Published{"flux.1-dev", 11901.408, 0},
                             Published{"stable-diffusion-3.5-large", 8056.628, 0},
                             Published{"stable-diffusion-3.5-medium", 2243, 0},
                             Published{"pixart-sigma-xl-2", 610.9, 0},
                             Published{"sana1.5-1.6b", 1604, 0},
                             Published{"sana1.5-4.8b", 4720, 0},
                             Published{"cogvideox-2b", 1693, 0},
                             Published{"cogvideox1.5-5b", 5570, 0},
                             Published{"hunyuan-video", 12821, 0},
                             Published{"wan2.1-t2v-1.3b", 1418.997, 0},
                             Published{"wan2.1-t2v-14b", 14288.492, 0},
                             Published{"wan2.2-t2v-a14b", 14288.492, 0}};

template <class Table>
void check(const Table& table) {
  for (const Published& row : table) {
    CAPTURE(row.id);
    const Network net = networks().find(row.id);
    if (row.parameters > 0.0) {
      CHECK(net.parameters / 1e6 == doctest::Approx(row.parameters).epsilon(0.02));
    }
    if (row.multiply_adds > 0.0) {
      CHECK(net.product_flops().raw() / 2e6 == doctest::Approx(row.multiply_adds).epsilon(0.02));
    }
  }
}

}  // namespace

TEST_CASE("parameters and multiply-adds of networks lie within 2 % of what is published") {
  check(torchvision);
  check(timm);
  check(papers);
  check(weights);
}

TEST_CASE("BERT at 128 tokens makes 22.5 and 79 GFLOP, its products alone") {
  // Jiao et al. 2020, table 1; Clark et al. 2020, table 8.
  const NetworkSizes tokens{{"tokens", 128}};
  CHECK(networks().find("bert-base-squad", tokens).product_flops().raw() == doctest::Approx(22.5e9).epsilon(0.02));
  CHECK(networks().find("bert-large-squad", tokens).product_flops().raw() == doctest::Approx(79e9).epsilon(0.02));
  CHECK(networks().find("bert-dist-6l-768d", tokens).product_flops().raw() == doctest::Approx(11.3e9).epsilon(0.02));
}

TEST_CASE("the U-Net of SDXL makes 2.98 T multiply-adds without the products of its attention") {
  // Profilers of modules print 2.98 T: they leave attention's products out.
  double sum = 0.0;
  const Network net = networks().find("sdxl-unet");
  for (const Stage& stage : net.stages) {
    for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
      const Op& op = net.ops[i];
      const bool counts = multiplies(op.kind) && op.kind != OpKind::attention;
      sum += counts ? static_cast<double>(stage.repeat) * op.forward.raw() / 2.0 : 0.0;
    }
  }
  CHECK(sum == doctest::Approx(2.98e12).epsilon(0.02));
}

TEST_CASE("every network that ships reads, and at the sizes that its published count is of") {
  std::size_t count = 0;
  networks().each([&](const std::string& id) {
    CAPTURE(id);
    const Network net = networks().find(id);
    CHECK(net.parameters > 0.0);
    CHECK(net.product_flops() > Flops{});
    CHECK(net.product_flops() <= net.forward);
    const ConfigValue tree = networks().tree(networks().entry(id));
    if (const ConfigValue* published = tree.find("multiply_adds"); published != nullptr) {
      NetworkSizes sizes;
      if (const ConfigValue* at = published->find("at"); at != nullptr) {
        for (const ConfigEntry& entry : at->entries) {
          sizes.emplace(entry.key, entry.value.integer);
        }
      }
      CHECK_NOTHROW(static_cast<void>(networks().find(id, sizes)));
    }
    ++count;
  });
  CHECK(count >= 88);
}

TEST_CASE("products of every op make its forward FLOP") {
  for (const std::string_view id : {"swin-base-patch4-window7-224", "rnnt", "nnunet-3d", "tft-electricity", "yolo11l",
                                    "se-resnext101-32x4d", "transformer-xl-base"}) {
    CAPTURE(id);
    for (const Op& op : networks().find(id).ops) {
      double flops = 0.0;
      for (const OpProduct& p : products_of(op)) {
        flops += 2.0 * p.m * p.n * p.k * p.groups * p.count;
      }
      CAPTURE(op.name);
      CHECK((multiplies(op.kind) ? flops == op.forward.raw() : flops == 0.0));
    }
  }
}

TEST_CASE("another size changes what follows from it: an image of twice the side has four times the products") {
  const double usual = networks().find("resnet-50").product_flops().raw();
  const double fully_connected = 2.0 * 2048 * 1000;
  const double twice = networks().find("resnet-50", {{"resolution", 448}}).product_flops().raw();
  CHECK(twice - fully_connected == 4.0 * (usual - fully_connected));
  CHECK_THROWS_WITH_AS(static_cast<void>(networks().find("resnet-50", {{"tokens", 448}})),
                       doctest::Contains("has no size 'tokens'; it has resolution"), ConfigError);
}

TEST_CASE("training refuses ops that no kernel describes, each with why") {
  const auto refused = [](std::string_view id, std::string_view part) {
    for (const std::string& why : ops_without_kernels(networks().find(id))) {
      if (why.find(part) != std::string::npos) {
        return true;
      }
    }
    return false;
  };
  CHECK(ops_without_kernels(networks().find("resnet-50")).empty());
  CHECK(ops_without_kernels(networks().find("swin-base-patch4-window7-224")).empty());
  CHECK(refused("efficientnet-b0", "depthwise convolution"));
  CHECK(refused("nnunet-3d", "transposed convolution"));
  CHECK(refused("rnnt", "recurrent layer"));
  CHECK(refused("transformer-xl-base", "product of two activations"));
}
