// SPDX-License-Identifier: Apache-2.0
// Files of measured kernels: recognised by their columns, refused with every problem at once.
#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <sstream>

using namespace headroom;
using headroom::test::near;

namespace {

KernelFile read(const std::string& text, const std::string& path, std::string* problems = nullptr) {
  std::istringstream stream{text};
  Diagnostics diagnostics;
  KernelFile file = read_kernel_rows(stream, path, std::nullopt, diagnostics);
  if (problems != nullptr) {
    for (const Diagnostic& problem : diagnostics.sorted()) {
      *problems += problem.text() + "\n";
    }
  } else {
    diagnostics.throw_if_any();
  }
  return file;
}

const std::string gemm_header = "engine,version,dtype,m,n,k,latency_us\n";
const std::string attention_header =
    "engine,version,attn_dtype,kv_dtype,batch,seq,heads,kv_heads,head_dim,window,latency_us\n";

}  // namespace

TEST_CASE("a file's kind follows from its columns, of attention from its name") {
  const KernelFile gemm = read(gemm_header + "trtllm,1,bfloat16,16,32,64,2.5\r\n", "x.csv");
  CHECK(gemm.kind == KernelKind::gemm);
  REQUIRE(gemm.rows.size() == 1);
  CHECK(gemm.rows[0].shape[2] == 64.0);
  CHECK(gemm.rows[0].latency.raw() == near(2.5e-6));
  CHECK(gemm.rows[0].line == 2);
  const std::string row = "vllm,1,bfloat16,fp8,1,128,32,8,128,0,20\n";
  CHECK(read(attention_header + row, "attn_context_x.csv").kind == KernelKind::prefill);
  const KernelFile decode = read(attention_header + row, "a/generation.csv");
  CHECK(decode.kind == KernelKind::decode);
  CHECK(decode.rows[0].format == "bfloat16/fp8");
  CHECK_THROWS_WITH_AS(read(attention_header + row, "attention.csv"), doctest::Contains("--kind attention-prefill"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(read("a,b,c\n1,2,3\n", "x.csv"), doctest::Contains("no kind of kernel"), ConfigError);
}

TEST_CASE("every bad cell is told with its place, and good rows are kept") {
  std::string problems;
  const KernelFile file = read(gemm_header + "trtllm,1,bf16,0,32,64,2.5\n" + "trtllm,1,bf16,16,32,64,-1\n" +
                                   "trtllm,1,bf16,16,,64,2.5\n" + "trtllm,1,bf16,16,32,64,2.5\n",
                               "x.csv", &problems);
  CHECK(file.rows.size() == 1);
  CHECK(problems.find("x.csv:2:15") != std::string::npos);
  CHECK(problems.find("'latency_us' must be positive") != std::string::npos);
  CHECK(problems.find("'n' is empty") != std::string::npos);
}

TEST_CASE("one kernel with two times is an error, with nearly the same time it is not") {
  const std::string once = "trtllm,1,bf16,16,32,64,2.5\n";
  CHECK_THROWS_WITH_AS(read(gemm_header + once + "trtllm,1,bf16,16,32,64,3.5\n", "x.csv"),
                       doctest::Contains("kernel of line 2 again"), ConfigError);
  CHECK(read(gemm_header + once + "trtllm,1,bf16,16,32,64,2.6\n", "x.csv").rows.size() == 2);
  CHECK(read(gemm_header + once + "vllm,1,bf16,16,32,64,3.5\n", "x.csv").rows.size() == 2);
}

TEST_CASE("folds depend on the shape alone") {
  const KernelFile file = read(gemm_header +
                                   "trtllm,1,bf16,16,32,64,2.5\nvllm,2,fp8,16,32,64,9\n"
                                   "trtllm,1,bf16,32,16,64,2.5\n",
                               "x.csv");
  CHECK(shape_hash(file.rows[0]) == shape_hash(file.rows[1]));
  CHECK(shape_hash(file.rows[0]) != shape_hash(file.rows[2]));
}
