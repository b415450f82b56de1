// SPDX-License-Identifier: Apache-2.0
// The fit finds the constants that made the rows, and refuses rows that cannot tell them.
#include <headroom/calibrate/stacks/fit_serving_memory.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/measured/serving_row.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <sstream>

using namespace headroom;
using headroom::test::sources;

namespace {

constexpr const char* header =
    "id,source,model,params_b,layers,hidden,heads,kv_heads,head_dim,ffn_hidden,vocab,gpu,gpus,tp,pp,dp,weight_dtype,"
    "kv_dtype,isl,osl,engine,options,metric,value,unit,notes\n";

std::string row(std::int64_t tp, bool narrow, std::int64_t tokens, const std::string& value) {
  const std::string n = std::to_string(tp);
  return "r,S,m,8.03,32,4096,32,8,128,14336,128256,H100-SXM5-80GB," + n + "," + n + ",1,1," +
         (narrow ? "fp8" : "bf16") +
         ",bf16,2048,2048,TensorRT-LLM,memory_fraction=0.8;max_seq_len=512;max_num_tokens=" + std::to_string(tokens) +
         ",max_concurrent_sequences," + value + ",sequences,\n";
}

std::vector<RunFile> parsed(const std::string& text) {
  std::istringstream stream{header + text};
  Diagnostics diagnostics;
  std::vector<RunFile> files{read_runs(stream, "s.csv", diagnostics)};
  diagnostics.throw_if_any();
  return files;
}

/// Rows whose values are what a stack with known constants holds.
std::string made_rows(double quantised, double framework, double per_doubling) {
  ServingStack stack = find_serving_stack(test::model_data(), Engine::tensorrt_llm);
  stack.memory.quantised_bytes = quantised;
  stack.memory.framework = Bytes{framework * 0x1p30};
  stack.memory.framework_per_doubling = Bytes{per_doubling * 0x1p30};
  ServingRowModel model{sources()};
  model.set_stack(stack);
  std::string text;
  for (const std::int64_t tp : {1, 2, 4}) {
    for (const bool narrow : {false, true}) {
      for (const std::int64_t tokens : {4096, 16384}) {
        const std::vector<RunFile> asked = parsed(row(tp, narrow, tokens, "1"));
        const RowPrediction p = model.predict(asked[0].rows[0].serving, "max_concurrent_sequences", "sequences");
        text += row(tp, narrow, tokens, std::to_string(static_cast<std::int64_t>(p.predicted)));
      }
    }
  }
  return text;
}

}  // namespace

TEST_CASE("constants that made the rows are found again, to what whole sequences can tell") {
  const ServingMemoryFit fit = fit_serving_memory(parsed(made_rows(15.0, 3.5, 0.5)), Engine::tensorrt_llm, sources());
  CHECK(fit.constants.quantised_bytes == doctest::Approx(15.0).epsilon(0.05));
  CHECK(fit.constants.framework.raw() / 0x1p30 == doctest::Approx(3.5).epsilon(0.02));
  CHECK(fit.constants.framework_per_doubling.raw() / 0x1p30 == doctest::Approx(0.5).epsilon(0.1));
  REQUIRE(fit.groups.front().name == "all");
  CHECK(fit.groups.front().fitted.n == 12);
  CHECK(fit.groups.front().fitted.within_one == 12);
}

TEST_CASE("too few rows, and rows of one tp or without quantised weights, cannot be fitted") {
  const auto fit = [](const std::string& text) {
    return fit_serving_memory(parsed(text), Engine::tensorrt_llm, sources());
  };
  CHECK_THROWS_AS(fit(row(1, true, 4096, "400")), ConfigError);
  std::string same;
  for (int i = 0; i < 12; ++i) {
    same += row(1, true, 4096, "400");
  }
  CHECK_THROWS_AS(fit(same), ConfigError);
  CHECK_THROWS_AS(fit_serving_memory(parsed(made_rows(15.0, 3.5, 0.5)), Engine::vllm, sources()), ConfigError);
}
