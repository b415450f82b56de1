// SPDX-License-Identifier: Apache-2.0
// Rows that describe one attention kernel in words ("FlashAttention-2; fwd; head_dim=64; seqlen=512; causal=0; ...").
#pragma once

#include <headroom/model/kernels/attention_training.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <string>
#include <string_view>

namespace headroom {

class ModelData;

/// An attention kernel as FlashAttention's benchmarks state it: 16-bit operands, every sequence as long as its keys.
struct WrittenAttention {
  const AttentionImplementation* implementation = nullptr;
  AttentionPass pass = AttentionPass::forward;
  AttentionShape shape;
};

/// The kernel that a row's config means. Blank, FlashAttention's benchmarks set 16,384 tokens a call and 2,048 elements
/// for all heads. `implementation` is nullptr, with the reason, where the words say too little.
[[nodiscard]] WrittenAttention written_attention(std::string_view config, std::string& why);

/// Predicts rows of attention kernels from the curves of training attention.
class AttentionRowModel {
 public:
  AttentionRowModel(const Catalog& catalog, const ModelData& data) : data_{data}, devices_{catalog} {}

  /// Whether the row measures an attention kernel.
  [[nodiscard]] static bool means(const RunFile& file, const RunRow& row);
  /// TFLOP/s (training_attention_flops()), or whether what the kernel keeps exceeds the GPU's memory ("oom").
  [[nodiscard]] RowPrediction predict(const RunFile& file, const RunRow& row);

 private:
  const ModelData& data_;
  RowDevices devices_;
};

}  // namespace headroom
