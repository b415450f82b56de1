// SPDX-License-Identifier: Apache-2.0
// The list of a layer's ops: the same weights however it is laid out, shared by ranks as they say.
#include <headroom/model/workload/layer_ops.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace headroom;

namespace {

LayerWeights weights_of(const LayerOps& ops) {
  LayerWeights sum;
  for (const LayerOp& op : ops) {
    const double alike = op.kind == LayerOpKind::experts ? op.count : 1.0;
    sum.shared += alike * op.weights.shared;
    sum.whole += op.weights.whole;
    sum.small += alike * op.weights.small;
  }
  return sum;
}

}  // namespace

TEST_CASE("a layer holds the same weights laid out for training and for serving, on one rank and on many") {
  const ModelLibrary models = ModelLibrary::standard();
  for (const char* id : {"llama3.1-8b", "deepseek-v3.2", "deepseek-v2-lite", "mixtral-8x7b", "qwen3-next-80b-a3b",
                         "granite-4.0-h-small", "mamba-1.4b", "gpt-oss-20b"}) {
    CAPTURE(std::string{id});
    const Architecture arch = models.find(id);
    for (const CountedBlock& counted : distinct_blocks(arch)) {
      const LayerWeights training = weights_of(layer_ops(arch, counted.block, LayerForm::training));
      const LayerWeights serving = weights_of(layer_ops(arch, counted.block, LayerForm::serving, 4.0));
      CHECK(training.shared == serving.shared);
      CHECK(training.whole == serving.whole);
      CHECK(training.small == serving.small);
      const BlockParameters p = block_parameters(arch, counted.block);
      CHECK(p.total() - p.norms == training.shared + training.whole + training.small);
    }
  }
}

TEST_CASE("plain products multiply by the weights that they hold, a rank by its share of them") {
  const Architecture arch = ModelLibrary::standard().find("llama3.1-8b");
  const LayerOps whole = layer_ops(arch, arch.blocks().front(), LayerForm::training);
  const LayerOps rank = layer_ops(arch, arch.blocks().front(), LayerForm::training, 8.0);
  const LayerOp* of_rank = rank.begin();
  for (const LayerOp& op : whole) {
    if (op.kind == LayerOpKind::product) {
      CAPTURE(std::string{op.name});
      CHECK(op.n * op.k == op.weights.shared);
      CHECK(of_rank->n * of_rank->k == op.weights.shared / 8.0);
    }
    ++of_rank;
  }
}

TEST_CASE("decoding absorbs the up-projections of latents, prompts form keys and values again") {
  const Architecture arch = ModelLibrary::standard().find("deepseek-v3");
  double heads_of_keys = 0.0;
  for (const LayerOp& op : layer_ops(arch, arch.blocks().front(), LayerForm::serving, 8.0)) {
    if (op.kind == LayerOpKind::attention) {
      CHECK(op.kv_heads == (op.tokens == LayerTokens::decodes ? 1.0 : 16.0));
      CHECK(op.cached == (op.tokens == LayerTokens::decodes ? 576.0 : 0.0));
      heads_of_keys += op.kv_heads;
    }
  }
  CHECK(heads_of_keys == 17.0);
}

TEST_CASE("key-value heads fewer than ranks are held by each of them") {
  const Architecture arch = ModelLibrary::standard().find("llama3.1-8b");  // 8 key-value heads
  const LayerOps ops = layer_ops(arch, arch.blocks().front(), LayerForm::serving, 16.0);
  const LayerOp* attention = ops.find(LayerOpKind::attention);
  REQUIRE(attention != nullptr);
  CHECK(attention->heads == 2.0);
  CHECK(attention->kv_heads == 1.0);
  CHECK(ops.find(LayerOpKind::scan) == nullptr);
}

TEST_CASE("a norm over all heads of queries and keys: tensor ranks that serve reduce one sum of each") {
  const ModelLibrary models = ModelLibrary::standard();
  const Architecture& arch = models.find("minimax-m2");
  const auto sums = [&](LayerForm form, double tp) {
    std::vector<LayerOp> found;
    for (const LayerOp& op : layer_ops(arch, arch.blocks().front(), form, tp)) {
      if (op.kind == LayerOpKind::reduction && op.width > 0.0) {
        found.push_back(op);
      }
    }
    return found;
  };
  const std::vector<LayerOp> split = sums(LayerForm::serving, 4.0);
  REQUIRE(split.size() == 1);
  CHECK(split.front().width == 2.0);
  CHECK(split.front().input == (48.0 + 8.0) / 4.0 * 128.0);
  CHECK(sums(LayerForm::serving, 1.0).empty());
  CHECK(sums(LayerForm::training, 4.0).empty());
}
