// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/work_words.hpp>

#include <algorithm>
#include <cctype>
#include <string>

namespace headroom {
namespace {

template <std::size_t N>
bool holds_any(std::string_view text, const std::string_view (&words)[N]) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string lower_of(std::string_view text) {
  constexpr std::size_t most = 160;
  std::string lower{text.substr(0, most)};
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

}  // namespace

WorkUse use_of(std::string_view kernel, std::string_view op) {
  const std::string name = lower_of(kernel);
  constexpr std::string_view attention[] = {"flash", "fmha", "attention", "mha_"};
  constexpr std::string_view product[] = {"gemm", "nvjet", "cutlass", "xmma", "cijk_", "wgmma", "conv", "_mm_"};
  constexpr std::string_view pass[] = {"elementwise", "norm", "softmax",      "triton_poi", "triton_red", "triton_per",
                                       "reduce",      "adam", "multi_tensor", "copy",       "dropout",    "gelu",
                                       "silu",        "fill", "cat",          "index",      "embedding"};
  if (holds_any(name, attention)) {
    return WorkUse::attention;
  }
  if (holds_any(name, product)) {
    return WorkUse::product;
  }
  if (holds_any(name, pass)) {
    return WorkUse::pass;
  }
  const std::string called = lower_of(op);
  constexpr std::string_view product_ops[] = {"::mm", "addmm", "bmm", "matmul", "linear", "_scaled_mm", "conv"};
  constexpr std::string_view pass_ops[] = {"norm", "softmax", "add", "mul",  "gelu", "silu",     "relu",  "dropout",
                                           "div",  "sub",     "sum", "mean", "copy", "to",       "adamw", "exp",
                                           "sqrt", "pow",     "cat", "fill", "zero", "embedding"};
  return holds_any(called, attention)     ? WorkUse::attention
         : holds_any(called, product_ops) ? WorkUse::product
         : holds_any(called, pass_ops)    ? WorkUse::pass
                                          : WorkUse::other;
}

bool goes_to_host(std::string_view copy) {
  return copy.find("DtoH") != std::string_view::npos || copy.find("DeviceToHost") != std::string_view::npos ||
         copy.find("Device -> P") != std::string_view::npos;
}

bool is_memory_call(std::string_view call) {
  constexpr std::string_view words[] = {"cudaMalloc", "cudaFree",   "hipMalloc",   "hipFree",
                                        "cuMemMap",   "cuMemUnmap", "cuMemCreate", "cuMemRelease"};
  constexpr std::string_view host[] = {"Host", "Async"};
  return holds_any(call, words) && !holds_any(call, host);
}

}  // namespace headroom
