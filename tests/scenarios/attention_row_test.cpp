// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/measured/words/attention_row.hpp>

#include <doctest/doctest.h>

#include <sstream>

using namespace headroom;

namespace {

/// The prediction of one row in words.
RowPrediction predict(const std::string& config, const std::string& hardware, const std::string& metric) {
  std::istringstream stream{
      "source,source_ref,workload,config,hardware,metric,value,unit,notes\nx,y,attention_kernel," + config + "," +
      hardware + "," + metric + ",1,-,\n"};
  Diagnostics diagnostics;
  const RunFile file = read_runs(stream, "rows.csv", diagnostics);
  diagnostics.throw_if_any();
  AttentionRowModel model{test::sources().catalog, test::sources().data};
  REQUIRE(file.rows.size() == 1);
  REQUIRE(AttentionRowModel::means(file, file.rows.front()));
  return model.predict(file, file.rows.front());
}

}  // namespace

TEST_CASE("attention rows: words state the kernel, its pass and its sizes, the benchmark's totals fill the rest") {
  std::string why;
  const WrittenAttention w =
      written_attention("FlashAttention-2; fwd+bwd; head_dim=64; seqlen=512; causal=1; batch*seqlen=16k", why);
  REQUIRE(w.implementation != nullptr);
  CHECK(w.implementation->name == "flash2");
  CHECK(w.pass == AttentionPass::both);
  CHECK(w.shape.batch == 32.0);
  CHECK(w.shape.tokens == 512.0);
  CHECK(w.shape.heads == 32.0);
  CHECK(w.shape.causal);
  const WrittenAttention stated = written_attention("cuDNN; fwd; head_dim=128; heads=8; seqlen=1024; causal=0", why);
  CHECK(stated.shape.heads == 8.0);
  CHECK_FALSE(stated.shape.causal);
}

TEST_CASE("attention rows: what the words leave open is named") {
  std::string why;
  CHECK(written_attention("FlashAttention-2; head_dim=64; causal=1", why).implementation == nullptr);
  CHECK(why == "not published: the pass (fwd, bwd, fwd+bwd), seqlen");
  CHECK(written_attention("LightningBolt; fwd; head_dim=64; seqlen=512; causal=1", why).implementation == nullptr);
  CHECK(why.find("'LightningBolt'") != std::string::npos);
  CHECK(predict("FlashAttention-2; fwd; head_dim=64; seqlen=512; causal=1", "Hopper (not named)", "tflops").why ==
        "hardware 'Hopper (not named)' is no GPU that network-workloads.toml names");
}

TEST_CASE(
    "attention rows: long sequences run faster than short ones, below the peak, and scores that are kept do not fit") {
  const auto rate = [](const std::string& length) {
    const RowPrediction row =
        predict("FlashAttention-3; fwd; head_dim=128; seqlen=" + length + "; causal=1", "H100 80GB SXM5", "tflops");
    REQUIRE(row.status == RowStatus::ok);
    CHECK(row.low < row.predicted);
    CHECK(row.predicted < row.high);
    CHECK(row.predicted < row.roofline);
    return row.predicted;
  };
  CHECK(rate("16384") > 1.2 * rate("512"));
  const std::string sizes = "fwd+bwd; head_dim=64; seqlen=16384; causal=0";
  CHECK(predict("PyTorch; " + sizes, "A100 80GB SXM4", "oom").predicted == 1.0);
  CHECK(predict("FlashAttention-2; " + sizes, "A100 80GB SXM4", "oom").predicted == 0.0);
}
