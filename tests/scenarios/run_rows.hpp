// SPDX-License-Identifier: Apache-2.0
// Training rows of the size of Llama 3 8B, with some cells exchanged.
#pragma once

#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::test {

inline constexpr std::string_view run_header =
    "id,source,source_ref,model,arch,layers,hidden,heads,kv_heads,head_dim,ffn_hidden,gated_mlp,vocab,tied_embeddings,"
    "seq_len,experts,top_k,moe_ffn,shared_experts,dense_layers,params_b,gpu,gpus,gpus_per_node,intra_link,"
    "inter_gbps_per_gpu,dp,tp,pp,vpp,cp,ep,seq_parallel,zero,micro_batch,global_batch,precision,recompute,flash_attn,"
    "framework,options,metric,value,unit,notes\n";

struct RunCells {
  std::string id = "a", seq_len = "8192", experts{}, gpu = "H100-SXM5-80GB", gpus = "64", dp = "32", tp = "2";
  std::string micro_batch = "1", global_batch = "128", precision = "bf16", framework = "Megatron-Core", options{};
  std::string metric = "step_time_s", value = "3", notes{};
};

inline std::string run_row(const RunCells& c) {
  const bool moe = !c.experts.empty();
  return c.id + ",mine,,m," + (moe ? "moe" : "dense") + ",32,4096,32,8,128,14336,1,128256,0," + c.seq_len + "," +
         c.experts + "," + (moe ? "2,14336,0,0" : ",,,") + ",8," + c.gpu + "," + c.gpus + ",8,,400," + c.dp + "," +
         c.tp + ",1,1,1,1,1,1," + c.micro_batch + "," + c.global_batch + "," + c.precision + ",none,1," + c.framework +
         "," + c.options + "," + c.metric + "," + c.value + ",u," + c.notes + "\n";
}

inline RunFile run_file(const std::string& rows, const std::string& name = "mine.csv") {
  std::istringstream stream{std::string{run_header} + rows};
  Diagnostics diagnostics;
  RunFile file = read_runs(stream, name, diagnostics);
  diagnostics.throw_if_any();
  return file;
}

inline const Sources& run_sources() {
  static const Sources standard = Sources::standard();
  return standard;
}

/// The plan beside those rows: the same job, software and SKU.
inline Scenario run_scenario(std::vector<std::string> more = {}) {
  std::vector<std::string> keys{"kind=train",
                                "model=llama3-8b",
                                "hardware.gpu=h100-sxm-80gb",
                                "hardware.gpus=64",
                                "training.seq_len=8192",
                                "training.global_batch=128",
                                "training.precision=bf16",
                                "training.software=megatron-core",
                                "strategy.tp=2",
                                "strategy.micro_batch=1",
                                "strategy.recompute=none"};
  keys.insert(keys.end(), more.begin(), more.end());
  return scenario_from_overrides(keys, run_sources());
}

}  // namespace headroom::test
