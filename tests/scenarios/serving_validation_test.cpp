// SPDX-License-Identifier: Apache-2.0
// Measured serving rows: what is predicted, what is refused, and what the model may not see.
#include <headroom/scenarios/measured/serving_row.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <sstream>

using namespace headroom;
using headroom::test::sources;

namespace {

/// Cells of a row; those that tests change have names.
struct Row {
  std::string id = "k", source = "S", parameters = "8.03", kv_heads = "8", gpu = "H100-SXM5-80GB", gpus = "1", tp = "1",
              weights = "bf16", kv = "bf16", batch, engine = "TensorRT-LLM",
              options = "memory_fraction=0.8;max_seq_len=9192;max_num_tokens=8192", metric = "max_concurrent_sequences",
              value = "43", notes;
  [[nodiscard]] std::string text() const {
    return id + "," + source + ",,Llama-3.1-8B," + parameters + ",32,4096,32," + kv_heads + ",128,14336,128256,,,," +
           gpu + "," + gpus + "," + tp + ",1,,1," + weights + "," + weights + "," + kv + ",4096,4096,,," + batch + "," +
           engine + ",," + options + "," + metric + "," + value + ",sequences," + notes + "\n";
  }
};

ScoredRow scored(const Row& row) {
  std::istringstream stream{
      "id,source,source_ref,model,params_b,layers,hidden,heads,kv_heads,head_dim,ffn_hidden,vocab,experts,top_k,"
      "moe_ffn,gpu,gpus,tp,pp,ep,dp,weight_dtype,act_dtype,kv_dtype,isl,osl,concurrency,request_rate,max_batch,engine,"
      "engine_version,options,metric,value,unit,notes\n" +
      row.text()};
  Diagnostics diagnostics;
  const std::vector<RunFile> files{read_runs(stream, "s.csv", diagnostics)};
  diagnostics.throw_if_any();
  const Validation v = validate(files, ValidationScope{}, sources());
  REQUIRE(v.rows.size() == 1);
  return v.rows[0];
}

RowPrediction predicted(const Row& row) {
  return scored(row).prediction;
}

}  // namespace

TEST_CASE("a measured KV capacity is met within one sequence, inside an interval of at least one either way") {
  const RowPrediction p = predicted({});
  REQUIRE(p.status == RowStatus::ok);
  CHECK(p.predicted >= 42);
  CHECK(p.predicted <= 44);
  CHECK(p.low <= p.predicted - 1);
  CHECK(p.high >= p.predicted + 1);
  // roofline: (79.18 GiB - 16.06 GB of weights) / (9216 tokens x 128 KiB)
  CHECK(p.roofline == doctest::Approx((79.18 * 0x1p30 - 16.06e9) / (9216.0 * 131072)).epsilon(1e-3));
}

TEST_CASE("id, source and notes do not reach the model") {
  Row other;
  other.id = "another";
  other.source = "T";
  other.notes = "implied KV pool 999 GiB";
  other.value = "7";
  CHECK(predicted(other).predicted == predicted({}).predicted);
}

TEST_CASE("rows in doubt are rejected, and so are cells that are no sizes") {
  Row row;
  row.notes = "ODD looks like a typo";
  CHECK(predicted(row).status == RowStatus::rejected);
  row = {};
  row.kv_heads = "8.5";
  CHECK(predicted(row).why == "'kv_heads' is '8.5', no integer");
  row = {};
  row.tp = "0";
  CHECK(predicted(row).status == RowStatus::rejected);
  row = {};
  row.options = "memory_fraction=80";
  CHECK(predicted(row).why == "options: 'memory_fraction' is '80'");
}

TEST_CASE("what cannot be computed is unsupported with the reason") {
  Row row;
  row.kv_heads = "";
  CHECK(predicted(row).why == "not published: kv_heads (MLA is not in the columns)");
  row = {};
  row.engine = "LMDeploy";
  CHECK(predicted(row).why == "engine 'LMDeploy' is none of vLLM, TensorRT-LLM, SGLang");
  row = {};
  row.metric = "requests_per_s";
  CHECK(predicted(row).status == RowStatus::unsupported);
  row = {};
  row.tp = "3";
  row.gpus = "3";
  CHECK(predicted(row).why == "32 heads do not divide by tp 3");
  row = {};
  row.gpu = "H9000";
  CHECK(predicted(row).status == RowStatus::unsupported);
}

TEST_CASE("attention-DP rows without ep spread over their tensor ranks, which a network without experts cannot") {
  Row row;
  row.options += ";attention_dp=1";
  CHECK(predicted(row).status == RowStatus::ok);  // one GPU is one group
  row.gpus = row.tp = "8";
  CHECK(predicted(row).status == RowStatus::unsupported);
  CHECK(predicted(row).why == "ep 8 on a model without experts");
  row.options = Row{}.options + ";attention_dp=0";
  CHECK(predicted(row).status == RowStatus::ok);
}

TEST_CASE("replicas add up, a published batch limit caps each of them, and an fp8 cache holds twice as much") {
  const double one = predicted({}).predicted;
  Row row;
  row.gpus = "4";
  CHECK(predicted(row).predicted == 4 * one);
  row.batch = "8";
  CHECK(predicted(row).predicted == 32);
  row = {};
  row.kv = "fp8";
  CHECK(predicted(row).predicted >= 2 * one);
  CHECK(predicted(row).predicted <= 2 * one + 1);
}

TEST_CASE("gating and tied tables follow from the published parameter count") {
  ServingConfiguration run;
  run.layers = 32;
  run.hidden = 4096;
  run.heads = 32;
  run.kv_heads = 8;
  run.head_dim = 128;
  run.ffn_hidden = 14336;
  run.vocab = 128256;
  run.params_b = 8.03;
  CHECK(architecture_of(run).gated_mlp);
  CHECK_FALSE(architecture_of(run).tied_embeddings);
  run.params_b = 7.50;  // one table of 0.525e9 less
  CHECK(architecture_of(run).tied_embeddings);
  run.params_b = 6.15;  // 32 x 4096 x 14336 = 1.88e9 less
  CHECK_FALSE(architecture_of(run).gated_mlp);
  CHECK_FALSE(architecture_of(run).tied_embeddings);
}
