// SPDX-License-Identifier: Apache-2.0
// Every option of every verb, in every form of its question: it is read, or refused by name. Nothing is taken without
// a word and left lying.
#include <headroom/cli/frame/command.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../support/onnx_model.hpp"
#include "run_headroom.hpp"
#include "verbs.hpp"
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headroom;
using namespace headroom::cli;
using namespace headroom::test;

namespace {

namespace fs = std::filesystem;

/// A value that no option can use: no number, no id, no name, no assignment, and a path that leads nowhere.
const std::string nonsense = "/dev/null/zzz";

/// One way to ask a verb that answers; "{S}" is the source tree, "{T}" the scratch folder of fixtures().
struct Question {
  const Verb* verb;
  std::size_t form;  ///< of the verb's table; 0 where it has none
  std::string command;
};

/// Whether the reader of ONNX files was built; verbs that are called in this process find it by its name.
bool reads_onnx() {
  const fs::path library = fs::path{HEADROOM_BINARY}.parent_path() / "libheadroom_onnx.so";
  setenv("HEADROOM_ONNX_LIBRARY", library.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  return fs::exists(library);
}

/// The same of the server.
bool serves_web() {
  const fs::path library = fs::path{HEADROOM_BINARY}.parent_path() / "libheadroom_web.so";
  setenv("HEADROOM_WEB_LIBRARY", library.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  return fs::exists(library);
}

/// What questions are about, made once.
const fs::path& fixtures() {
  static const auto folder = [] {
    auto made = std::make_unique<ScratchFolder>();
    const fs::path& at = made->path();
    fs::create_directory(at / "overlay");
    std::ofstream{at / "cells.csv"} << "hardware.gpus\n8\n";
    std::ofstream{at / "profile.csv"} << "counter,value,unit\nduration,2,ms\ndram_throughput,90,%\n";
    std::ofstream{at / "trace.csv"} << "event,id,bytes\nalloc,a,1 GiB\nfree,a,\n";
    std::ofstream kernels{at / "kernels.csv"};
    kernels << "engine,version,dtype,m,n,k,latency_us\n";
    int row = 0;
    for (const int m : {1, 16, 128, 1024, 4096}) {
      for (const int n : {1024, 4096, 8192}) {
        for (const int k : {1024, 8192}) {
          const double us = 2.5 + 2.0 * m * n * k / 6.0e8 + (2.0 * m * k + 2.0 * n * k) / 2.5e6;
          kernels << "trtllm,1,bf16," << m << ',' << n << ',' << k << ',' << us * (1.0 + 0.01 * (++row % 3)) << '\n';
        }
      }
    }
    std::ofstream{at / "chain.toml"} << "schema = 1\n[[op]]\nkind = \"norm\"\nrows = 1024\ncolumns = 1024\n";
    std::ofstream collectives{at / "collectives.csv"};
    collectives << "nccl_version,op,gpus,dtype,bytes,latency_us\n"
                << "2.29.2,all_reduce,8,half,1048576,40\n2.29.2,all_reduce,8,half,16777216,150\n";
    std::ofstream serving{at / "serving.csv"};
    const std::string columns =
        "id,source,model,params_b,layers,hidden,heads,kv_heads,head_dim,ffn_hidden,vocab,gpu,gpus,tp,pp,dp,"
        "weight_dtype,act_dtype,kv_dtype,isl,osl,concurrency,engine,engine_version,options,metric,value,unit,notes\n";
    serving << columns;
    for (const int concurrency : {1, 4, 16, 64}) {
      serving << "r" << concurrency << ",made,llama3-8b,,,,,,,,,H100-SXM5-80GB,1,1,1,1,bf16,bf16,bf16,1024,128,"
              << concurrency << ",vLLM,0.9.0,scenario=closed,tpot_ms_mean," << 7.0 + 0.05 * concurrency << ",ms,\n";
    }
    std::ofstream power{at / "power.csv"};
    power << columns;
    for (const int concurrency : {1, 8, 64}) {
      power << "w" << concurrency << ",made,llama3-8b,,,,,,,,,H100-SXM5-80GB,1,1,1,1,bf16,bf16,bf16,500,500,"
            << concurrency << ",vLLM,0.11.1,scenario=sustained,power_w_per_gpu," << 440 + concurrency << ",W,\n";
    }
    std::ofstream networks{at / "networks.csv"};
    networks << "id,source,model,gpu,gpus,weight_dtype,act_dtype,isl,concurrency,engine,metric,value,unit,notes\n";
    for (const int batch : {1, 8, 64}) {
      networks << "n" << batch << ",made,resnet-50,A100-SXM4-80GB,1,fp16,fp16,," << batch << ",PyTorch,images_per_s,"
               << 120 * batch / (1.0 + 0.05 * batch) << ",images/s,\n";
    }
    std::ofstream trees{at / "trees.csv"};
    trees << "source,source_ref,workload,config,hardware,metric,value,unit,notes\n";
    for (const char* const size : {"100K,0.8", "1M,1.7", "10M,5.7"}) {
      const std::string text{size};
      const std::size_t comma = text.find(',');
      trees << "made,table,gbdt_train,xgboost; airline dataset; rows=" << text.substr(0, comma) << ",A10,train_time_s"
            << text.substr(comma) << ",s,\n";
    }
    std::ofstream steps{at / "steps.csv"};
    steps << "id,source,model,params_b,algorithm,software,gpu,gpus,colocated,async_staleness,prompts_per_step,"
             "samples_per_prompt,response_tokens_mean,response_tokens_max,rollout_tp,options,metric,value,unit,notes\n";
    for (const char* const metric : {"step_time_s,100", "rollout_time_s,50", "train_time_s,25"}) {
      steps << "s,made,Llama-3.1-8B-Instruct,8.03,GRPO,NeMo RL,H100-SXM5-80GB,16,1,0,64,32,1000,4096,1,," << metric
            << ",s,\n";
    }
    std::ofstream{at / "times.csv"} << "gpus,seconds\n8,10\n16,5.5\n32,3.25\n";
    std::ofstream{at / "serve.sh"} << "vllm serve meta-llama/Meta-Llama-3-8B --tensor-parallel-size 1\n";
    std::ofstream{at / "all_reduce.log"}
        << "#  Rank  0 Pid 1 on h device 0 [0x1b] NVIDIA H100 80GB HBM3\n"
        << "#  Rank  1 Pid 1 on h device 1 [0x43] NVIDIA H100 80GB HBM3\n"
        << "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
        << "     1048576        262144     float     sum      -1    40.0    26.2    45.9      0\n";
    std::ofstream{at / "result.json"} << R"({"completed": 64, "model_id": "llama3-8b", "request_throughput": 2.0,
"output_throughput": 256.0, "total_input_tokens": 65536, "total_output_tokens": 8192, "max_concurrency": 4,
"mean_tpot_ms": 8.0})";
    std::ofstream{at / "vcr.jsonl"} << R"({"prompt_tokens": 8, "output_tokens": 4, "arrival_ms": 0})" << '\n';
    std::ofstream{at / "bill.csv"}
        << "BillingCurrency,ChargeCategory,ChargePeriodEnd,EffectiveCost,PricingQuantity,PricingUnit,SkuId\n"
        << "USD,Usage,2026-10-02T00:00:00Z,16,8,Hours,vm-8\n";
    std::ofstream{at / "mig.yaml"} << "version: v1\nmig-configs:\n  two:\n  - devices: all\n    mig-enabled: true\n"
                                      "    mig-devices:\n      3g.40gb: 2\n";
    std::ofstream{at / "net.onnx", std::ios::binary}
        << OnnxGraph{}.input("x", {1, "seq"}).node("Relu", {"x"}, {"y"}).output("y").file();
    return made;
  }();
  return folder->path();
}

/// Of the rehearsal's device, for what needs samples.
const std::string& sample_folder() {
  static const std::string folder = [] {
    const Run run = run_headroom("calibrate -o '" + (fixtures() / "h200").string() +
                                 "' --simulate scenarios/calibrate/rehearsal.toml --quick --no-fit --only gemm --only "
                                 "copy --dtype bf16");
    REQUIRE(run.code == 0);
    return (fixtures() / "h200").string();
  }();
  return folder;
}

const std::vector<Question>& questions() {
  static const std::string train =
      "--model llama3-8b --gpu h100-sxm-80gb --gpus 8 --tp 2 --micro-batch 1 --recompute full --seq-len 4096 "
      "--global-batch 64";
  static const std::string serve =
      "--model llama3-8b --gpu h100-sxm-80gb --gpus 1 --isl 256 --osl 32 --set traffic.requests=200";
  static const std::string hosts = "{S}/tests/hardware/hosts/l40s-pcie-8.topo.txt --gpu l40s";
  static std::vector<Question> all{
      {&plan_verb, 0, train},
      {&plan_verb, 1, train + " --only memory"},
      {&plan_verb, 2,
       "--model llama3-8b --gpu h100-sxm-80gb --gpus 8 --seq-len 4096 --global-batch 64 --search "
       "cp_form=any"},
      {&plan_verb, 3, "--model llama3-8b --gpu h100-sxm-80gb --gpus 1 --isl 256 --osl 32 --concurrency 4"},
      {&plan_verb, 4,
       "--model llama3-8b --gpu h100-sxm-80gb --gpus 1 --isl 256 --osl 32 --concurrency 4 --only memory"},
      {&plan_verb, 5, serve + " --tp 1 --rate '2 req/s' --set 'slo.ttft_p95=1 s' --threads 1"},
      {&plan_verb, 6,
       "--model llama3-8b --gpu h100-sxm-80gb --gpus 1 --isl 256 --osl 32 --concurrency 1,4 --threads 1"},
      {&plan_verb, 7, "--model perception-2b --gpu h100-sxm-80gb --gpus 8 --global-batch 64"},
      {&plan_verb, 8, "--model perception-2b --gpu h100-sxm-80gb --gpus 8 --global-batch 64 --only memory"},
      {&plan_verb, 9, "{S}/scenarios/cluster/labels-and-stranded.toml"},
      {&plan_verb, 10, "{S}/scenarios/train/llama3-8b-h100-and-a100.toml"},
      {&plan_verb, 11, "{S}/scenarios/serve/llama3-8b-h100-and-l40s.toml --set traffic.requests=400"},
      {&plan_verb, 12, "{S}/scenarios/post_train/qwen3-32b-grpo-64xh100.toml"},
      {&explain_verb, 0, train},
      {&simulate_verb, 0, "{S}/scenarios/serve/llama3-70b-traffic.toml --requests 200"},
      {&compare_verb, 0, "{S}/scenarios/train/llama2-7b-8xa100.toml {S}/scenarios/train/gpt3-175b-selene.toml"},
      {&compare_verb, 1, "{S}/scenarios/train/llama2-7b-8xa100.toml --overlay {T}/overlay"},
      {&compare_verb, 2, "{S}/scenarios/train/llama2-7b-8xa100.toml --harness {T}/cells.csv"},
      {&compare_verb, 3,
       "--model llama3-8b --gpu h100-sxm-80gb --tp 1 --isl 256,512 --osl 32,64 --set-each traffic.requests=200 --rate "
       "'2 "
       "req/s' --set-each 'slo.ttft_p95=1 s'"},
      {&compare_verb, 4, "--model llama3-8b --gpu h100-sxm-80gb --gpus 1 --isl 256,512 --osl 32,64 --concurrency 4"},
      {&compare_verb, 5, "--pipelines {S}/tests/questions/files/gate/pipelines.toml"},
      {&scale_verb, 0, "{S}/scenarios/train/llama2-7b-8xa100.toml --to 16"},
      {&scale_verb, 1, "{S}/scenarios/train/llama2-7b-8xa100.toml --to 16 --format csv"},
      {&scale_verb, 2, "{S}/scenarios/train/llama2-7b-8xa100.toml --measured-speedup 3x --at 8"},
      {&scale_verb, 3, "--measured {T}/times.csv"},
      {&scale_verb, 4, "--law 0.95 --to 64"},
      {&export_verb, 0, "{S}/scenarios/train/llama2-7b-8xa100.toml --to slurm"},
      {&export_verb, 1,
       "--model llama3-8b --gpu h100-sxm-80gb --gpus 8 --seq-len 4096 --global-batch 64 --search cp_form=any --to "
       "megatron"},
      {&export_verb, 2, "--model llama3-8b --gpu h100-sxm-80gb --gpus 1 --isl 256 --osl 32 --concurrency 4 --to vllm"},
      {&export_verb, 3, serve + " --tp 1 --rate '2 req/s' --set 'slo.ttft_p95=1 s' --to kubernetes"},
      {&export_verb, 4,
       "--model llama3-8b --gpu h100-sxm-80gb --gpus 1 --isl 256 --osl 32 --concurrency 1,4 --to vllm"},
      {&export_verb, 5, "{S}/scenarios/sharing/night-and-day.toml --to mig-parted --set sharing.mode=mig"},
      {&export_verb, 6, "{S}/scenarios/cluster/two-teams.toml --to kueue"},
      {&export_verb, 7, "{S}/scenarios/train/llama2-7b-8xa100.toml --to kineto --ranks 1 --steps 2"},
      {&export_verb, 8, "{S}/scenarios/post_train/qwen3-32b-grpo-64xh100.toml --to verl"},
      {&import_verb, 0, "{S}/tests/launch/pretrain.sbatch --gpu h100-sxm-80gb --model llama3-8b"},
      {&import_verb, 1, "{T}/serve.sh --gpu h100-sxm-80gb --isl 256 --osl 32 --concurrency 4 --weights bf16"},
      {&import_verb, 2, "{T}/all_reduce.log --from nccl-tests"},
      {&import_verb, 4, "{T}/result.json --gpu h100-sxm-80gb --weights bf16 --set tp=1 --set engine=vLLM"},
      {&import_verb, 5, "{T}/vcr.jsonl --from vllm-vcr"},
      {&import_verb, 6, "{T}/bill.csv --from focus --set vm-8=h100-sxm-80gb:8"},
      {&import_verb, 7, "{T}/mig.yaml --from mig-parted --gpu a100-sxm-80gb"},
      {&validate_verb, 0, "{S}/scenarios/published/korthikanti_2022.csv"},
      {&catalog_verb, 0, "list nodes"},
      {&catalog_verb, 1, "show h100-sxm-80gb"},
      {&catalog_verb, 2, "diff h100-sxm-80gb h200-sxm-141gb"},
      {&catalog_verb, 3, "lint"},
      {&fabric_verb, 0, "show dgx-h100"},
      {&fabric_verb, 1, "show --topo " + hosts + " --like l40s-pcie-8"},
      {&fabric_verb, 2, "show dgx-h100 --format dot"},
      {&fabric_verb, 3, "show --topo " + hosts + " --like l40s-pcie-8 --format dot"},
      {&fit_verb, 0, "{S}/scenarios/published/korthikanti_2022.csv"},
      {&fit_verb, 1, "{S}/scenarios/published/trtllm_kv_capacity.csv --stack tensorrt-llm"},
      {&fit_verb, 2, "{T}/serving.csv --stack serving --no-left-out"},
      {&fit_verb, 3, "{S}/scenarios/published/torchtitan.csv --stack torchtitan --no-left-out"},
      {&fit_verb, 4, "{T}/kernels.csv --gpu h100-sxm-80gb"},
      {&fit_verb, 5, "{H} --base h200-sxm-141gb"},
      {&fit_verb, 6, "{T}/networks.csv --stack networks --no-left-out"},
      {&fit_verb, 7, "{T}/trees.csv --stack classic --no-left-out"},
      {&fit_verb, 8, "{T}/steps.csv --stack post --no-left-out"},
      {&fit_verb, 9, "{T}/power.csv --stack power --no-left-out"},
      {&op_verb, 0, "gemm --gpu h100-sxm-80gb -m 16 -n 1024 -k 1024"},
      {&op_verb, 0, "attention-decode --gpu h100-sxm-80gb --seq-len 1024 --heads 8"},
      {&op_verb, 0, "attention-training --gpu h100-sxm-80gb --seq-len 1024 --heads 8"},
      {&op_verb, 0, "moe --gpu h100-sxm-80gb --tokens 64 --hidden 1024 --inter 512 --topk 2 --experts 8"},
      {&op_verb, 0, "norm --gpu h100-sxm-80gb --rows 1024 --columns 1024"},
      {&op_verb, 0, "optimizer --gpu h100-sxm-80gb --parameters 1000000"},
      {&op_verb, 0, "{T}/kernels.csv --gpu h100-sxm-80gb"},
      {&kernel_verb, 0, "roof --gpu a100-sxm-80gb --intensity 10 --achieved '1 TFLOP/s'"},
      {&kernel_verb, 0, "roof --gpu a100-sxm-80gb --flop 2e12 --bytes '1 GB' --time 10ms"},
      {&kernel_verb, 1, "occupancy --gpu h100-sxm-80gb --threads 256 --registers 64"},
      {&kernel_verb, 5, "tile --gpu a100-sxm-80gb --tile 128x128x32"},
      {&kernel_verb, 6, "chain --gpu a100-sxm-80gb --ops 3 --elements 1000000"},
      {&kernel_verb, 6, "chain --gpu a100-sxm-80gb --kernels 100"},
      {&kernel_verb, 6, "chain {T}/chain.toml --gpu a100-sxm-80gb"},
      {&kernel_verb, 10, "sync --gpu v100-sxm2-32gb --iterations 100"},
      {&kernel_verb, 8, "numerics --dtype fp16 --least 1e-9 --largest 2"},
      {&kernel_verb, 9, "precision --gpu h100-sxm-80gb --dtype fp8 --kept 0.1"},
      {&kernel_verb, 9, "precision --gpu h100-sxm-80gb --dtype int8 --model llama3.1-8b"},
      {&kernel_verb, 11, "amdahl --fraction 0.95 --speedup 50"},
      {&kernel_verb, 12, "sparsity --gpu a100-sxm-80gb --fraction 0.9"},
      {&collective_verb, 0, "all-reduce --bytes 1GiB --gpu h100-sxm-80gb --nodes 2 --network infiniband"},
      {&collective_verb, 1, "all-reduce --bytes 1GiB --cluster dgx-superpod-h100 --gpus 16"},
      {&collective_verb, 2, "{T}/collectives.csv --gpu h100-sxm-80gb --kind nccl"},
      {&collective_verb, 3, "all-reduce --bytes 1GB --gpus 64 --link '50 GB/s' --latency 5us"},
      {&roofline_verb, 0, "llama3.1-8b --gpu h100-sxm-80gb"},
      {&kernel_verb, 2, "access --layout aos:8 --gpu a100-sxm-80gb --elements 100000"},
      {&kernel_verb, 2, "access --gpu a100-sxm-80gb"},
      {&kernel_verb, 3, "banks --stride 2 --gpu a100-sxm-80gb"},
      {&kernel_verb, 4, "diverge --paths 2"},
      {&kernel_verb, 7, "reuse --working-set 30MB --gpu a100-sxm-80gb"},
      {&kernel_verb, 13, "profile {T}/profile.csv --gpu a100-sxm-80gb"},
      {&replay_verb, 0, "{T}/trace.csv --memory 40GB"},
      {&diagnose_verb, 0, "{S}/scenarios/traces/rank-0.json"},
      {&gate_verb, 0, "{S}/tests/questions/files/gate/baseline.csv {S}/tests/questions/files/gate/slower.csv"},
      {&schema_verb, 0, ""},
      {&schema_verb, 1, "--answer plan"},
      {&schema_verb, 2, "--answers"},
      {&schema_verb, 3, "--openapi"},
      {&schema_verb, 4, "--keys"},
      {&schema_verb, 5, "--python"},
      {&probe_verb, 0, "--output {T}/probed"},
      {&calibrate_verb, 0,
       "--output {T}/calibrated --simulate {S}/scenarios/calibrate/rehearsal.toml --quick --only launch"},
      {&calibrate_verb, 1, "--compare {H} {H}"},
  };
  [[maybe_unused]] static const bool whole = [] {
    if (serves_web()) {
      all.push_back({&web_verb, 0, "--port 0 --workers 1 --stop-after '1 ms'"});
    }
    if (reads_onnx()) {
      all.push_back({&import_verb, 3, "{T}/net.onnx --shape seq=4"});
    }
    return true;
  }();
  return all;
}

std::vector<std::string> words_of(std::string command) {
  for (const auto& [mark, path] : {std::pair{"{S}", std::string{HEADROOM_SOURCE_DIR}}, {"{T}", fixtures().string()}}) {
    for (std::size_t at = command.find(mark); at != std::string::npos; at = command.find(mark, at)) {
      command.replace(at, 3, path);
    }
  }
  for (std::size_t at = command.find("{H}"); at != std::string::npos; at = command.find("{H}", at)) {
    command.replace(at, 3, sample_folder());
  }
  std::vector<std::string> words;
  bool quoted = false;
  bool in_word = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
    }
    if (c == ' ' && !quoted) {
      in_word = false;
    } else if (c != '\'') {
      if (!in_word) {
        words.emplace_back();
        in_word = true;
      }
      words.back() += c;
    }
  }
  return words;
}

const Option* option_named(const std::vector<Option>& options, std::string_view name) {
  const auto at = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.name == name; });
  return at == options.end() ? nullptr : &*at;
}

/// A command read by the verb's table, without the options that `instead` states, and with those.
Arguments arguments_of(const Question& question, const std::vector<std::pair<std::string, std::string>>& instead = {}) {
  const std::vector<Option> options = options_of(*question.verb);
  const std::vector<std::string> words = words_of(question.command);
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Option* option = option_named(options, words[i]);
    if (option == nullptr) {
      arguments.add("", words[i]);
      continue;
    }
    const std::string value = option->kind == OptionKind::flag ? "" : words[++i];
    const bool replaced =
        std::any_of(instead.begin(), instead.end(), [&](const auto& other) { return other.first == option->name; });
    if (!replaced) {
      arguments.add(option->name, value);
    }
  }
  for (const auto& [name, value] : instead) {
    arguments.add(name, value);
  }
  return arguments;
}

/// Arguments that know which options a verb has asked for so far, given or not.
class WatchedArguments : public Arguments {
 public:
  explicit WatchedArguments(Arguments arguments) : Arguments{std::move(arguments)} {}
  [[nodiscard]] bool asked(std::string_view name) const { return asked_.contains(name); }

 private:
  [[nodiscard]] const std::vector<std::string>* find(std::string_view name) const override {
    asked_.emplace(name);
    return Arguments::find(name);
  }

  mutable std::set<std::string, std::less<>> asked_;
};

/// The outcome of a command, or why it is refused.
struct Said {
  Outcome outcome;
  std::string refusal;
};
Said say(const Verb& verb, const Arguments& arguments) {
  try {
    check_command(verb, arguments);
    return {verb.run(arguments), ""};
  } catch (const ConfigError& error) {
    return {{}, error.what()};
  }
}

bool has_part(const Question& question, const Option& option) {
  return question.verb->forms.empty() || ((option.forms >> question.form) & 1U) != 0;
}

bool names(const std::string& text, const Option& option) {
  return text.find(option.name == "--output" ? "-o" : option.name) != std::string::npos ||
         text.find(nonsense) != std::string::npos;
}

/// An option that decides which question it is cannot be left over in another.
bool decides(const Verb& verb, std::string_view option) {
  using Names = std::set<std::string_view>;
  const Names deciding = &verb == &plan_verb || &verb == &explain_verb || &verb == &export_verb
                             ? Names{"--objective", "--only", "--isl",      "--osl",   "--concurrency", "--rate",
                                     "--ttft",      "--tpot", "--deadline", "--turns", "--think"}
                         : &verb == &fabric_verb ? Names{"--topo", "--nccl-xml"}
                         : &verb == &scale_verb  ? Names{"--measured-speedup", "--measured", "--law"}
                         : &verb == &compare_verb
                             ? Names{"--overlay",     "--harness", "--pipelines", "--isl",  "--osl",
                                     "--concurrency", "--rate",    "--turns",     "--think"}
                         : &verb == &schema_verb     ? Names{"--answer", "--answers", "--openapi", "--keys", "--python"}
                         : &verb == &fit_verb        ? Names{"--base", "--gpu"}
                         : &verb == &collective_verb ? Names{"--cluster", "--link"}
                         : &verb == &calibrate_verb  ? Names{"--compare"}
                                                     : Names{};
  return deciding.contains(option);
}

/// What an option goes with, from its table.
std::vector<std::pair<std::string, std::string>> companions(const Option& option) {
  if (option.beside.empty()) {
    return {};
  }
  const std::size_t space = option.beside.find(' ');
  return {{std::string{option.beside.substr(0, space)},
           space == std::string_view::npos ? "tp=8" : std::string{option.beside.substr(space + 1)}}};
}

}  // namespace

TEST_CASE("options: every form of every verb is among the questions below") {
  for (const Verb* verb : all_verbs()) {
    CAPTURE(verb->name);
    std::set<std::size_t> asked;
    for (const Question& question : questions()) {
      if (question.verb == verb) {
        asked.insert(question.form);
      }
    }
    if (verb == &explain_verb || verb == &catalog_verb) {  // the first has plan's table, the second one option
      CHECK(!asked.empty());
    } else {
      const bool left_out = (verb == &import_verb && !reads_onnx()) || (verb == &web_verb && !serves_web());
      const std::size_t unread = left_out ? 1 : 0;
      CHECK(asked.size() + unread == std::max<std::size_t>(1, verb->forms.size()));
    }
  }
}

TEST_CASE(
    "options: each question is answered, looks at its flags and choices, and is written differently in each format") {
  for (const Question& question : questions()) {
    CAPTURE(question.verb->name);
    CAPTURE(question.command);
    const WatchedArguments asked{arguments_of(question)};
    const Said base = say(*question.verb, asked);
    CHECK(base.refusal == "");
    CHECK((base.outcome.code == 0 || base.outcome.code == 1 || question.verb == &probe_verb));
    for (const Option& option : options_of(*question.verb)) {
      const bool chosen = option.kind == OptionKind::flag || option.value.find('|') != std::string_view::npos;
      if (chosen && has_part(question, option) && option.name != "--format" && question.verb != &op_verb) {
        CAPTURE(option.name);
        CHECK(asked.asked(option.name));
      }
    }
    const std::vector<Option> options = options_of(*question.verb);
    const Option* format = option_named(options, "--format");
    if (format == nullptr || !has_part(question, *format)) {
      continue;
    }
    std::set<std::string> written;
    for (const std::string& name : choices_of(format->value)) {
      CAPTURE(name);
      const Said said = say(*question.verb, arguments_of(question, {{"--format", name}}));
      if (said.refusal.empty()) {
        CHECK(written.insert(said.outcome.out).second);
      } else {
        CHECK((said.refusal.find("--format " + name) != std::string::npos ||
               said.refusal.find("libjs-chart.js") != std::string::npos));
      }
    }
    CHECK(!written.empty());
  }
}

TEST_CASE("options: one without a part in a question is refused by name, with the questions that it goes with") {
  for (const Question& question : questions()) {
    CAPTURE(question.verb->name);
    CAPTURE(question.command);
    for (const Option& option : options_of(*question.verb)) {
      if (has_part(question, option) || decides(*question.verb, option.name)) {
        continue;
      }
      CAPTURE(option.name);
      const std::string good = option.kind == OptionKind::flag                    ? ""
                               : option.value.find('|') != std::string_view::npos ? choices_of(option.value).front()
                                                                                  : "1";
      const Said said = say(*question.verb, arguments_of(question, {{std::string{option.name}, good}}));
      CHECK(said.refusal.find(std::string{option.name} + " has no part in ") != std::string::npos);
    }
  }
}

TEST_CASE("options: one with a part is read, for it refuses nonsense") {
  for (const Question& question : questions()) {
    CAPTURE(question.verb->name);
    CAPTURE(question.command);
    for (const Option& option : options_of(*question.verb)) {
      const bool free = option.value == "TEXT";  // any text will do
      const bool chosen = option.kind == OptionKind::flag || option.value.find('|') != std::string_view::npos;
      if (!has_part(question, option) || chosen || free ||
          (question.verb == &fabric_verb && decides(*question.verb, option.name))) {
        continue;
      }
      CAPTURE(option.name);
      std::vector<std::pair<std::string, std::string>> instead = companions(option);
      instead.emplace_back(std::string{option.name}, nonsense);
      const Said said = say(*question.verb, arguments_of(question, instead));
      CHECK_MESSAGE(names(said.refusal, option), said.refusal);
    }
  }
}

TEST_CASE("options: a value is one, and given once") {
  for (const Verb* verb : all_verbs()) {
    CAPTURE(verb->name);
    for (const Option& option : options_of(*verb)) {
      if (option.kind == OptionKind::flag) {
        continue;
      }
      CAPTURE(option.name);
      const std::string name{option.name == "--output" ? "-o" : option.name};
      Arguments empty;
      empty.add(option.name, "");
      CHECK(say(*verb, empty).refusal.find("option '" + name + "' needs a value") != std::string::npos);
      Arguments twice;
      twice.add(option.name, "a");
      twice.add(option.name, "b");
      const std::string refusal = say(*verb, twice).refusal;
      CHECK((refusal.find("option '" + name + "' is given twice, 'a' and 'b'") != std::string::npos) ==
            (option.kind == OptionKind::one));
    }
  }
}

TEST_CASE("options: one that another leaves without a part is refused beside it") {
  const struct {
    const Verb* verb;
    const char *command, *refusal;
  } cases[] = {
      {&fit_verb, "{T}/kernels.csv --gpu h100-sxm-80gb --probe-shapes --cross-validate 3",
       "--cross-validate has no part beside --probe-shapes"},
      {&fit_verb, "{T}/kernels.csv --gpu h100-sxm-80gb --source mine", "--source has no part without --format toml"},
      {&fabric_verb, "show dgx-h100 --order tp-cp-ep-dp-pp", "--order has no part without --strategy"},
      {&calibrate_verb, "--simulate {S}/scenarios/calibrate/rehearsal.toml --device 1",
       "--device has no part beside --simulate"},
      {&calibrate_verb, "--no-fit --id x", "--id has no part beside --no-fit"},
      {&roofline_verb, "llama3.1-8b --gpu h100-sxm-80gb --phase forward --cache fp8",
       "--cache has no part in the phases of training"},
      {&validate_verb, "{S}/scenarios/published/nemo.csv --format csv --weight-by source", "--weight-by weighs rows"},
      {&catalog_verb, "list gpus more", "unexpected argument 'more'"},
      {&catalog_verb, "lint more", "unexpected argument 'more'"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.command);
    CHECK(say(*c.verb, arguments_of({c.verb, 0, c.command})).refusal.find(c.refusal) != std::string::npos);
  }
}
