// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/scenarios/measured/words/attention_row.hpp>
#include <headroom/scenarios/measured/words/config_words.hpp>
#include <headroom/scenarios/measured/words/workload_row.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

/// Dao 2023 (FlashAttention-2), section 4.1: batches of 16k tokens in all, and a model width of 2,048.
constexpr double benchmark_tokens = 16384.0;
constexpr double benchmark_width = 2048.0;

constexpr std::array<std::pair<std::string_view, AttentionPass>, 3> passes{
    {{"fwd", AttentionPass::forward}, {"bwd", AttentionPass::backward}, {"fwd+bwd", AttentionPass::both}}};

}  // namespace

WrittenAttention written_attention(std::string_view config, std::string& why) {
  const std::vector<std::string> parts = parts_of(config);
  WrittenAttention written;
  const AttentionImplementation* const implementation =
      parts.empty() ? nullptr : find_attention_implementation(parts.front());
  if (implementation == nullptr) {
    why = "no attention kernel by the name of '" + (parts.empty() ? std::string{} : parts.front()) + "' was measured";
    return written;
  }
  const auto* const pass =
      std::find_if(passes.begin(), passes.end(), [&](const auto& each) { return has_word(parts, each.first); });
  const std::optional<double> tokens = number_in(parts, "seqlen=", "");
  const std::optional<double> width = number_in(parts, "head_dim=", "");
  const std::optional<double> causal = number_in(parts, "causal=", "");
  if (pass == passes.end() || !tokens || !width || !causal || *tokens < 1.0 || *width < 1.0) {
    why = "not published: " + blank_cells({{pass != passes.end(), "the pass (fwd, bwd, fwd+bwd)"},
                                           {tokens && *tokens >= 1.0, "seqlen"},
                                           {width && *width >= 1.0, "head_dim"},
                                           {causal.has_value(), "causal"}});
    return written;
  }
  const double heads = number_in(parts, "heads=", "").value_or(benchmark_width / *width);
  written.pass = pass->second;
  written.shape = {
      std::max(benchmark_tokens / *tokens, 1.0), *tokens, *tokens, heads, heads, *width, 0.0, *causal > 0.0};
  written.implementation = implementation;
  return written;
}

bool AttentionRowModel::means(const RunFile& file, const RunRow& row) {
  return cell(file, row, "workload") == "attention_kernel";
}

RowPrediction AttentionRowModel::predict(const RunFile& file, const RunRow& row) {
  const bool rate = row.metric == "tflops";
  if (!rate && row.metric != "oom") {
    return unsupported("metric " + row.metric + " of an attention kernel is not answered");
  }
  std::string why;
  const WrittenAttention written = written_attention(cell(file, row, "config").value_or(""), why);
  if (written.implementation == nullptr) {
    return unsupported(why);
  }
  const std::string hardware = cell(file, row, "hardware").value_or("");
  const Device* const found = written_device(data_, devices_, hardware, why);
  if (found == nullptr) {
    return unsupported(why);
  }
  const Device& device = *found;
  RowPrediction answer;
  answer.status = RowStatus::ok;
  if (!rate) {
    const Bytes kept = training_attention_memory(written.shape, written.implementation->algorithm);
    answer.predicted = answer.low = answer.high = kept > device.visible_capacity().value ? 1.0 : 0.0;
    return answer;
  }
  try {
    const CurveSet& set = training_attention_set(data_, device);
    const auto chosen = choose_training_attention(set, device, *written.implementation);
    const KernelDevice limits = kernel_device(device, Rate::bf16);
    const TrainingAttentionModel model{chosen.curve->values, limits, written.implementation->algorithm};
    const Flops work = training_attention_flops(written.shape, written.pass);
    const double width = chosen.curve->provenance.p90;
    answer.predicted = (work / model.time(written.shape, written.pass)).raw() / 1e12;
    answer.low = answer.predicted / (1.0 + width);
    answer.high = answer.predicted * (1.0 + width);
    answer.roofline = limits.peak.raw() / 1e12;
    answer.assumed = chosen.curve->provenance.engine == written.implementation->name ? "" : chosen.why;
    return answer;
  } catch (const ConfigError& error) {
    return unsupported(error);
  }
}

}  // namespace headroom
