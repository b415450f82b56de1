// SPDX-License-Identifier: Apache-2.0
// Words of a scenario that no floor below has as names of its own: rows of keys list them, readers take them by their
// place here.
#pragma once

#include <headroom/model/estimate/precision.hpp>
#include <headroom/scenarios/keys/key.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace headroom {

inline constexpr std::array<std::string_view, kind_words.size()> scenario_kind_names = [] {
  std::array<std::string_view, kind_words.size()> names;
  std::transform(kind_words.begin(), kind_words.end(), names.begin(), [](const KindWord& known) { return known.word; });
  return names;
}();

/// Who starts next: in the order of scheduler::Order.
inline constexpr std::array<std::string_view, 4> queue_order_names{"fifo", "backfill", "fair", "shortest"};

/// Gaps between requests: of many clients, and of clocks.
inline constexpr std::array<std::string_view, 2> request_arrival_names{"poisson", "periodic"};

/// How tenants share a card: any of them, or as CardSharing names it.
inline constexpr std::array<std::string_view, 5> sharing_mode_names{"any", "none", "time-slice", "mps", "mig"};
/// What slices of a card leave to others: in the order of SlicePack.
inline constexpr std::array<std::string_view, 2> slice_pack_names{"whole", "tight"};
inline constexpr std::array<std::string_view, 2> tenant_kind_names{"serving", "training"};

/// Libraries of boosted trees, and of recommenders what they do and how they step: in the order of classic::Optimizer.
inline constexpr std::array<std::string_view, 4> tree_library_names{"xgboost", "lightgbm", "catboost", "h2o"};
inline constexpr std::array<std::string_view, 2> recommender_mode_names{"train", "serve"};
inline constexpr std::array<std::string_view, 3> recommender_optimizer_names{"sgd", "adagrad", "adam"};

/// What frames are encoded in: none, or one of the codecs that encoders have.
inline constexpr std::array<std::string_view, 4> video_encode_names{"none", "h264", "hevc", "av1"};

/// Bytes of a gradient: 4 and 2.
inline constexpr std::array<std::string_view, 2> gradient_names{"fp32", "bf16"};

/// Formats of what is kept or sent: 16 and 8 bit.
inline constexpr std::array<std::string_view, 2> narrow_or_wide_names{"bf16", "fp8"};

/// What may be kept in host memory, and where its bytes go.
inline constexpr std::array<std::string_view, 3> offload_names{"optimizer", "activations", "parameters"};
inline constexpr std::array<std::string_view, 2> offload_target_names{"host", "nvme"};
/// The same as one value of an axis.
inline constexpr std::array<std::string_view, 4> offload_axis_names{"none", "optimizer", "activations",
                                                                    "optimizer+activations"};

/// Segments of a network of ops.
inline constexpr std::array<std::string_view, 2> segment_recompute_names{"none", "full"};

/// The interval between saves that loses the least.
inline constexpr std::array<std::string_view, 1> best_interval_names{"best"};

/// Less is better: in the order of Goal.
inline constexpr std::array<std::string_view, 7> goal_names{"step-time", "time", "cost",  "energy",
                                                            "gpu-hours", "gpus", "memory"};

/// Formats an engine keeps its KV cache in.
inline constexpr std::array<std::string_view, 6> kv_cache_names{"bf16", "fp16", "fp32", "fp8", "int8", "nvfp4"};

/// Formats of weights as scenarios name them: those of precision.hpp in their order, then checkpoints' names for 4-bit
/// integers that are unpacked on the way (Lin et al. 2024, AWQ; Frantar et al. 2023, GPTQ).
inline constexpr std::array<std::string_view, precision_count + 2> served_weight_names{
    "fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "mxfp4", "int8", "int4", "awq", "gptq"};

/// What becomes of a sequence whose blocks are wanted: in the order of Eviction.
inline constexpr std::array<std::string_view, 2> preemption_names{"recompute", "swap"};

/// Who drafts, as vLLM's speculative_config spells it (vllm/config/speculative.py).
inline constexpr std::array<std::string_view, 6> speculation_method_names{"draft_model", "ngram",  "eagle",
                                                                          "eagle3",      "medusa", "mtp"};

/// How the rate of requests changes over time.
inline constexpr std::array<std::string_view, 3> rate_curve_names{"constant", "diurnal", "bursts"};

}  // namespace headroom
