// SPDX-License-Identifier: Apache-2.0
// Parameter counts of every preset against the published ones.
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <doctest/doctest.h>

using namespace headroom;

TEST_CASE("the counts of safetensors indexes are met to the parameter") {
  const ModelLibrary models = ModelLibrary::standard();
  CHECK(count_parameters(models.find("llama2-7b")).total == 6738415616.0);
  CHECK(count_parameters(models.find("llama2-70b")).total == 68976648192.0);
  CHECK(count_parameters(models.find("llama3-8b")).total == 8030261248.0);
  CHECK(count_parameters(models.find("llama3-70b")).total == 70553706496.0);
}

TEST_CASE("presets resolve by the spellings of the field") {
  const ModelLibrary models = ModelLibrary::standard();
  CHECK(models.find("Meta-Llama-3-70B").id == "llama3-70b");
  CHECK_THROWS_WITH_AS(
      models.find("lama3-70b"),
      "error: unknown model 'lama3-70b'; did you mean 'llama3-70b'? (see 'headroom catalog list models')", ConfigError);
}

TEST_CASE("a mixture of experts meets only its top-k experts") {
  Architecture arch;
  arch.layers = 2;
  arch.hidden = 8;
  arch.heads = 2;
  arch.kv_heads = 2;
  arch.head_dim = 4;
  arch.ffn_hidden = 32;
  arch.gated_mlp = true;
  arch.vocab = 16;
  arch.moe = Moe{.experts = 4, .top_k = 2, .expert_ffn_hidden = 16};
  const ParameterCount count = count_parameters(arch);
  const double expert = 3 * 8 * 16;
  CHECK(block_parameters(arch, arch.blocks().front()).expert == expert);
  CHECK(count.total - count.active == 2 * (4 - 2) * expert);  // layers x idle experts
  CHECK(count.layers == 2 * (4 * 8 * 8 + 2 * 8 + 8 * 4 + 4 * expert));
}
