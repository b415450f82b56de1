// SPDX-License-Identifier: Apache-2.0
// Parts of models by role against their published counts, and what fake quantisers move.
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/laboratory/fake_quantiser.hpp>
#include <headroom/model/laboratory/precision_map.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include <array>

using namespace headroom;
using headroom::test::near;

namespace {

double sum_of(const std::vector<RolePart>& parts, double RolePart::*member, int role = -1) {
  double sum = 0.0;
  for (const RolePart& part : parts) {
    sum += role < 0 || part.role == static_cast<ModelRole>(role) ? part.*member : 0.0;
  }
  return sum;
}

double sum_of(const std::vector<RolePart>& parts, double RolePart::*member, ModelRole role) {
  return sum_of(parts, member, static_cast<int>(role));
}

}  // namespace

TEST_CASE("parts add up to every model's parameters, and their products to its active matrices") {
  const ModelLibrary library = ModelLibrary::standard();
  library.each([&](const std::string& id) {
    CAPTURE(id);
    const Architecture arch = library.find(id);
    const ParameterCount counted = count_parameters(arch);
    const std::vector<RolePart> parts = role_parts(arch);
    CHECK(sum_of(parts, &RolePart::parameters) == near(counted.total, 1e-12));
    if (!arch.patches && !arch.pooler && !arch.mlm_head) {
      CHECK(sum_of(parts, &RolePart::flop) == near(2.0 * counted.active_matrices, 1e-12));
    }
  });
}

TEST_CASE("Llama 3.1 8B: table and head of 128256 x 4096, attention 41.9M and feed-forward 176M a layer") {
  const std::vector<RolePart> parts = role_parts(ModelLibrary::standard().find("llama3.1-8b"));
  CHECK(sum_of(parts, &RolePart::parameters, ModelRole::embedding) == 128256.0 * 4096.0);
  CHECK(sum_of(parts, &RolePart::parameters, ModelRole::head) == 128256.0 * 4096.0);
  CHECK(sum_of(parts, &RolePart::parameters, ModelRole::attention) ==
        32.0 * (2.0 * 4096.0 * 4096.0 + 2.0 * 4096.0 * 1024.0));
  CHECK(sum_of(parts, &RolePart::parameters, ModelRole::feed_forward) == 32.0 * 3.0 * 4096.0 * 14336.0);
  CHECK(sum_of(parts, &RolePart::parameters, ModelRole::norms) == 65.0 * 4096.0);
  CHECK(sum_of(parts, &RolePart::read, ModelRole::embedding) == 4096.0);
  // qkv and the output projection read 4096 each, gate and up 4096 together, down 14336.
  CHECK(sum_of(parts, &RolePart::inputs, ModelRole::attention) == 32.0 * 8192.0);
  CHECK(sum_of(parts, &RolePart::inputs, ModelRole::feed_forward) == 32.0 * (4096.0 + 14336.0));
}

TEST_CASE("layers from either end are kept, norms always, and a tied table with its head") {
  const ModelLibrary library = ModelLibrary::standard();
  const Architecture llama = library.find("llama3.1-8b");
  KeptParts kept;
  kept.first = 1;
  kept.last = 2;
  for (const RolePart& part : role_parts(llama)) {
    CAPTURE(part.layer);
    const bool end = part.layer == 0 || part.layer >= 30;
    CHECK(is_kept(kept, part, llama) == (end || part.role == ModelRole::norms));
  }
  const Architecture tied = library.find("llama3.2-1b");
  REQUIRE(tied.tied_embeddings);
  KeptParts head;
  head.roles[static_cast<std::size_t>(ModelRole::head)] = true;
  for (const RolePart& part : role_parts(tied)) {
    const bool end = part.role == ModelRole::embedding || part.role == ModelRole::head;
    CHECK(is_kept(head, part, tied) == (end || part.role == ModelRole::norms));
  }
}

TEST_CASE("a fake quantiser of four bytes moves 20 bytes fused and 54 op by op") {
  CHECK(quantiser_traffic(QuantiserForm::fused, 4.0).raw() == 20.0);
  CHECK(quantiser_traffic(QuantiserForm::by_ops, 4.0).raw() == 54.0);
}

// NVIDIA DeepLearningExamples (commit 729963dd, PyTorch EfficientNet, "QAT Training performance"): eight V100 with 32
// GB, int8 quantisers of a toolkit that works op by op, against fp32.
TEST_CASE("the published int8 training of EfficientNet lies between fused quantisers and 5 % below those op by op") {
  const Device& v100 = test::catalog().device("v100-sxm2-32gb");
  const FlopsPerSecond peak = v100.peak[static_cast<std::size_t>(Rate::fp32_vector)]->value;
  const BytesPerSecond bandwidth = v100.memory.bandwidth->value;
  struct Row {
    std::string_view model;
    double batch, published;
  };
  for (const Row& row :
       {Row{"efficientnet-b0", 128.0, 2644.62 / 3798.0}, Row{"efficientnet-b4", 32.0, 310.41 / 666.0}}) {
    CAPTURE(row.model);
    const Network network = NetworkLibrary::standard().find(row.model);
    const QuantisedElements quantised = quantised_elements(network);
    const Seconds plain = plain_sample_time(network, peak, bandwidth, 4.0);
    const auto ratio = [&](QuantiserForm form) {
      const Bytes moved = (quantised.activations + quantised.weights / row.batch) * quantiser_traffic(form, 4.0);
      return plain / (plain + moved / bandwidth);
    };
    MESSAGE(row.model, ": ", ratio(QuantiserForm::by_ops), " to ", ratio(QuantiserForm::fused), ", published ",
            row.published);
    CHECK(row.published <= ratio(QuantiserForm::fused));
    CHECK(row.published >= 0.95 * ratio(QuantiserForm::by_ops));
  }
}
