// SPDX-License-Identifier: Apache-2.0
// What programs read: every member of every answer stands in its table, errors and lists are documents too.
#include <headroom/answers/schema/answer_schema.hpp>
#include <headroom/answers/wire/request.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>

#include "../answer_walk.hpp"
#include "../read_value.hpp"
#include "../support/says.hpp"
#include "run_headroom.hpp"
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headroom;
using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view as_json = " --format json";

/// Commands of the corpus that ask for JSON, and others that have what those lack.
std::vector<std::string> questions() {
  std::vector<std::string> all{
      "explain scenarios/train/llama2-7b-8xa100.toml",
      "validate",
      "compare scenarios/serve/llama3-70b.toml scenarios/serve/llama3-70b-speculative.toml",
      "fabric show dgx-1v",
      "plan --model llama3-70b --gpu h100-sxm-80gb --gpus 8 --isl 1024 --osl 256 --concurrency '1..64 x2' --set "
      "'slo.tpot_mean=30 ms'",
      "plan --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --seq-len 8192 --global-batch 1024 --search tp=any "
      "--search pp=any --tokens 1e11 --set money.price='2.99 $/h' --set objective.deadline='30 d' --set "
      "objective.budget='1 M$' --threads 1",
      "plan scenarios/train/llama3-70b-512xh100.toml --set strategy.tp=3",
      "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 8 --pp 4 --micro-batch 1 --recompute full --seq-len 4096 "
      "--global-batch 64 --software torchtitan --set strategy.local_batch=8",
      "plan --model llama3-70b --gpu mi355x --gpus 8 --tp 8 --isl 1024 --osl 256 --concurrency 64",
      "plan --model resnet-50 --gpu a100-sxm-80gb --gpus 8 --global-batch 1024 --price '2 $/h' --set "
      "training.samples=1e8 --set 'training.measured_time=3 h'",
      "plan --model llama3-70b --gpu h100-sxm-80gb --isl 1024 --osl 256 --rate '12 req/s' --set 'slo.ttft_p95=1 ms' "
      "--threads 1",
      "op softmax-cross-entropy --gpu h100-sxm-80gb --rows 8192 --columns 32000",
      "op embedding --gpu h100-sxm-80gb --rows 8192 --columns 4096",
      "op norm --gpu h100-sxm-80gb --rows 8192 --columns 8192",
      "op convolution --gpu h100-sxm-80gb --in-channels 64 --out-channels 64 --in 56x56 --kernel-size 3",
      "op quantize --gpu h100-sxm-80gb --rows 8192 --columns 8192",
      "op elementwise --gpu h100-sxm-80gb --elements 100000000",
      "op attention-decode --gpu h200-sxm-141gb --batch 64 --seq-len 8192 --heads 8 --kv-heads 1",
      "op attention-training --gpu h100-sxm-80gb --seq-len 4096 --heads 32",
      "op optimizer --gpu h100-sxm-80gb --parameters 1000000000",
      "op moe --gpu h100-sxm-80gb --tokens 512 --hidden 7168 --inter 2048 --topk 8 --experts 256 --ep 8",
      "plan scenarios/train/llama3-70b-512xh100.toml --set training.gradient_format=fp8 --set "
      "'training.bucket_bytes=25 "
      "MiB' --set training.checkpoint_form=full --set strategy.zero=1",
      "collective all-reduce --bytes '1 GiB' --gpu h100-sxm-80gb --nodes 4 --network infiniband --registered --sharp",
      "collective all-to-all --bytes '1 GiB' --gpu h100-sxm-80gb --nodes 4 --network infiniband --pxn on",
      "collective all-reduce --bytes '1 GB' --gpus 64 --per-node 8 --link '50 GB/s' --latency 5us --inside '450 GB/s' "
      "--inside-latency 2us --algorithm all --count 4 --bucket any --backward 100ms --compress topk:0.01",
      "collective all-reduce --bytes '1 GB' --gpus 64 --link '50 GB/s' --latency 5us --compress bf16",
      "kernel diverge --gpu a100-sxm-80gb --paths 2 --time 1ms --elements 1e8",
      "kernel profile tests/cli/kernel_profile.csv --gpu a100-sxm-80gb",
      "diagnose scenarios/traces/rank-0.json scenarios/traces/rank-1.json",
      "diagnose tests/questions/files/telemetry/one-product.json",
      "diagnose tests/questions/files/telemetry/throttled.csv tests/questions/files/telemetry/two-gpus.csv "
      "tests/questions/files/telemetry/two-gpus-processes.csv",
      "diagnose tests/questions/files/telemetry/memory-bound.txt tests/questions/files/telemetry/one-block.prom "
      "tests/questions/files/telemetry/copies.csv "
      "tests/questions/files/telemetry/fp16-v100.log",
      "diagnose tests/questions/files/telemetry/idle-spikes.csv tests/questions/files/telemetry/periodic-spikes.csv "
      "tests/questions/files/telemetry/engines.prom tests/questions/files/telemetry/jobs.txt",
      "diagnose tests/questions/files/ranks/dead/nccl_trace_rank_0 tests/questions/files/ranks/dead/nccl_trace_rank_1",
      "diagnose tests/questions/files/ranks/memory.pickle tests/questions/files/ranks/memory.raw.json",
      "diagnose tests/questions/files/ranks/nccl.log tests/questions/files/ranks/kernel.log",
      "diagnose tests/questions/files/steps/breakdown.csv --against scenarios/train/llama2-7b-8xa100.toml",
      "diagnose tests/questions/files/loads/vllm-saturated.json tests/questions/files/loads/vllm-client.json "
      "tests/questions/files/loads/vllm-client.json tests/questions/files/loads/mllog.log "
      "tests/questions/files/loads/iterations.log",
      "diagnose tests/questions/files/loads/vllm-client.json --against scenarios/serve/llama3-70b.toml",
      "diagnose tests/questions/files/loads/vllm-client.json --against scenarios/serve/llama3-70b.toml --set "
      "serving.concurrency=1",
      "gate tests/questions/files/gate/baseline.csv tests/questions/files/gate/slower.csv",
      "compare --pipelines tests/questions/files/gate/pipelines.toml",
      "plan scenarios/train/llama3-405b-54-days.toml --set goodput.bad_node_per_day=0.001 --set training.sync_every=10 "
      "--set 'training.host_dispatch=50 ms' --set training.rank_spread=0.02 --set training.slow_rank=0.01 --set "
      "'hardware.clock=1.6 GHz'",
      "diagnose scenarios/traces/rank-0.json --before scenarios/traces/rank-1.json",
      "kernel roof --gpu a100-sxm-80gb --flop 2e12 --bytes '1 GB' --time 10ms",
      "kernel occupancy --gpu h100-sxm-80gb --threads 256 --registers 64 --shared '16 KiB' --carve-out '100 KiB' "
      "--cluster 2 --bulk '16 KiB' --blocks 1000 --spilled '64 B' --latency '600 ns'",
      "kernel occupancy --gpu b200-sxm-180gb --threads 128 --registers 64 --tensor-memory 128",
      "kernel access --gpu a100-sxm-80gb --layout aos:8 --elements 1e8",
      "kernel access --gpu a100-sxm-80gb --layout random",
      "kernel access --gpu a100-sxm-80gb --stride 2 --offset '4 B'",
      "kernel banks --gpu a100-sxm-80gb --tile 32x32 --bytes '1 GB'",
      "kernel banks --gpu a100-sxm-80gb --stride 2",
      "kernel diverge --gpu a100-sxm-80gb --paths 2 --time 1ms --elements 1e8",
      "kernel diverge --gpu a100-sxm-80gb --probability 0.01 --lengths 1,3 --time 1ms",
      "kernel tile --gpu a100-sxm-80gb --tile 64x64x32 --matrix 4096x4096x4096",
      "kernel chain --gpu a100-sxm-80gb --ops 3 --elements 1e8 --sync-every 1",
      "kernel chain --gpu a100-sxm-80gb --kernels 100",
      "kernel reuse --gpu a100-sxm-80gb --working-set '30 MB'",
      "kernel sync --gpu v100-sxm2-32gb --iterations 100 --blocks 80",
      "kernel numerics --dtype fp16 --least 1e-9 --largest 2 --loss-scale 65536 --sum 1e6 --gpu t4",
      "kernel precision --gpu h100-sxm-80gb --dtype fp8 --kept 0.1",
      "kernel precision --dtype int4 --parameters 70e9 --group 128 --zero-points",
      "kernel precision --gpu h100-sxm-80gb --dtype fp8 --model llama3.1-8b --keep embedding,head,first:1",
      "kernel precision --gpu v100-sxm2-32gb --dtype int8 --from fp32 --model efficientnet-b0 --qat --batch 128",
      "kernel amdahl --part matmul:0.6:8 --part load:0.25:2",
      "kernel sparsity --gpu a100-sxm-80gb --weights '140 GB' --fraction 0.9",
      "collective all-reduce --bytes \"1 GiB\" --gpu h100-sxm-80gb --measured-busbw \"12 GB/s\"",
      "scale scenarios/train/llama3-70b-512xh100.toml --budget \"15 M$\"",
      "scale --law 0.95 --to 64 --measured-speedup 12x",
      "plan scenarios/train/llama3-8b-h100-and-a100.toml",
      // No whole number of micro-batches for each rank, and no batch for a pool by itself.
      "plan scenarios/train/llama3-8b-h100-and-a100.toml --global-batch 500",
      "plan scenarios/serve/llama3-8b-h100-and-l40s.toml --set traffic.requests=400",
      "scale --law 1 --to 1,8",
      "compare --model llama3-8b --gpu h100-sxm-80gb --isl 512 --osl 128 --rate '10 req/s' --price '2 $/h' --tp 1,2 "
      "--set-each traffic.requests=200",
      "plan --model mixtral-8x7b --gpu h100-sxm-80gb --gpus 8 --seq-len 4096 --global-batch 64 --tp 1 --pp 1 --ep 8 "
      "--set training.expert_launch=static-shapes --set training.expert_capacity=1.5 --set training.rank_capacity=1.5",
      // A value of each list has no answer: the model has 8192 positions.
      "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 1 --tp 1 --isl 1k,4k,128k --osl 128 --concurrency 8",
      "compare --model llama3-8b --gpu h100-sxm-80gb --isl 512,128k --osl 128 --rate '10 req/s' --price '2 $/h' --tp 1 "
      "--set-each traffic.requests=200",
      "plan --model llama3-8b --gpu h100-sxm-80gb --isl 512 --osl 128 --rate '10 req/s' --tp 1 --turns 4 --think '20 "
      "s' "
      "--set traffic.requests=200",
      "simulate scenarios/serve/llama3-70b-traffic.toml --requests 200 --set traffic.turns=4 --set 'traffic.think=60 "
      "s'",
      // The second of three runs contradicts the others.
      "plan scenarios/train/llama3-70b-512xh100.toml --set training.software=nanotron --runs tests/cli/own_runs.csv",
      "plan scenarios/batch/1m-images-a-day.toml --set clients.clients=8",
      "plan --model llama3-8b --gpu a100-sxm-80gb --gpus 1 --tp 1 --isl 512 --osl 128 --concurrency 64 --set "
      "serving.weights=int4 --set serving.quantization=gptq",
      "plan scenarios/batch/500m-records-overnight.toml",
      "plan scenarios/batch/image-pipeline.toml",
      "plan scenarios/batch/cheapest-gpu.toml",
      "plan scenarios/batch/video-streams.toml",
      "plan scenarios/batch/500m-records-overnight.toml --set 'data.sample_bytes=150 kB' --set 'data.fed_bytes=150 kB' "
      "--set 'data.set_bytes=6 GB' --set data.copies=8 --set 'data.copy_latency=10 us' --set 'data.pageable_link=5 "
      "GB/s' --set data.host_links=2 --set hardware.gpus=1 --set 'requests.slo.p99=100 ms'",
      "plan scenarios/batch/10m-prompts-overnight.toml",
      "plan scenarios/classic/trees-10m.toml",
      "plan scenarios/classic/billion-vectors.toml --set 'units.rate=100000 req/s' --set 'units.price=22021.90 $'",
      "plan scenarios/classic/recommender-113b.toml --set recommender.mode=serve",
      "plan tests/cli/classic_grouping.toml",
      "plan scenarios/classic/cameras-l4.toml",
      "plan scenarios/classic/humanoid-4xl40.toml",
      "plan scenarios/classic/pi0-loop.toml",
      "plan scenarios/cluster/two-teams.toml",
      "plan tests/cli/cluster_refusals.toml",
      "plan scenarios/cluster/labels-and-stranded.toml --set policy.order=fifo",
      "plan scenarios/post_train/qwen3-32b-grpo-64xh100.toml",
      "plan scenarios/post_train/humanoid-stages.toml",
      "plan scenarios/post_train/humanoid-stages.toml --set post_train.demand=1e9 --set hardware.gpus=8",
      "plan scenarios/sharing/night-and-day.toml",
      "plan tests/cli/sharing_engine.toml",
      "plan scenarios/sharing/night-and-day.toml --set sharing.mode=mig",
      "plan --model llama3.1-70b --gpu h100-sxm-80gb --gpus 1 --isl 1000 --osl 100 --set kind=batch --set "
      "job.records=1e7",
      "catalog list",
      "catalog show h100-sxm-80gb",
      "catalog diff h100-sxm-80gb h200-sxm-141gb",
      "catalog lint",
      "plan nobody.toml",
  };
  for (std::string& question : all) {
    question += as_json;
  }
  std::istringstream corpus{read_text(fs::path{HEADROOM_SOURCE_DIR} / "tests/corpus/questions.txt")};
  for (std::string line; std::getline(corpus, line);) {
    if (!line.starts_with("#") && line.find(as_json) != std::string::npos) {
      all.push_back(line);
    }
  }
  return all;
}

/// The documents of a golden transcript's commands that ask for JSON.
std::vector<std::string> documents_of(const std::string& transcript) {
  std::vector<std::string> all;
  std::istringstream lines{transcript};
  bool asks = false;
  bool within = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("$ headroom ")) {
      asks = line.find(as_json) != std::string::npos;
    } else if (asks && !within && line == "{") {
      within = true;
      all.emplace_back("{\n");
    } else if (within) {
      all.back() += line + "\n";
      within = line != "}";
    }
  }
  return all;
}

/// Rows that no question here has an answer to: rare plans, and answers to calibrations.
constexpr std::array<std::string_view, 89> seldom{
    "plan:batch_change/warm_up_steps",
    "plan:data",
    "plan:data/binds",
    "plan:data/copy_needed_bytes_per_s",
    "plan:data/cores_needed",
    "plan:data/exposed_s",
    "plan:data/storage_needed_bytes_per_s",
    "plan:double_quant",
    "plan:most_output_tokens_per_s",
    "plan:most_requests_per_s",
    "plan:offloaded/node_capacity_bytes",
    "plan:prompt_alone_at_least_s",
    "plan:rates_bound_by",
    "plan:strategy/cuda_graphs",
    "plan:strategy/order",
    "plan:tpot_at_least_s",
    "plan:untimed",
    "search:at_middle",
    "search:middle_text",
    "search:space/jobs_not_searched/assignments",
    "search:space/jobs_not_searched/why",
    "fleet:autoscaling/cold_start_parts",
    "fleet:autoscaling/cold_start_parts/of_whole_share",
    "fleet:autoscaling/cold_start_parts/part",
    "fleet:autoscaling/cold_start_parts/time_s",
    "fleet:no_help_reason/at_s",
    "fleet:no_help_reason/before_requests_per_s",
    "fleet:no_help_reason/cold_start_s",
    "fleet:no_help_reason/enough_replicas",
    "fleet:no_help_reason/length_s",
    "fleet:no_help_reason/peak_requests_per_s",
    "fleet:no_help_reason/probability",
    "fleet:no_help_reason/refused_share",
    "fleet:no_help_reason/serving_replicas",
    "fleet:no_help_reason/stated_replicas",
    "fleet:no_help_reason/warm_replicas",
    "fleet:no_help_reason/warm_replicas_for_wait",
    "fleet:options/prefill_tp",
    "fleet:pools_apart/why",
    "fleet:way_out",
    "box:at_middle",
    "box:nearest",
    "box:way_out",
    "box:e2e_mean_limit_s",
    "box:ttft_mean_limit_s",
    "simulate:prefill_pool",
    "simulate:retries",
    "simulate:retries/attempts_mean",
    "simulate:retries/attempts_per_s",
    "simulate:retries/backoff_mean_s",
    "simulate:retries/given_up_share",
    "simulate:retries/settles_attempts_per_s",
    "simulate:retries/storm",
    "compare:plans/calendar_s",
    "compare:plans/goodput",
    "compare:plans/other_kernels",
    "compare:plans/untimed",
    "validate:sweeps/groups/group",
    "validate:sweeps/groups/kendall_tau",
    "validate:sweeps/groups/kendall_tau_median",
    "validate:sweeps/groups/pairs",
    "validate:sweeps/groups/regret_median",
    "validate:sweeps/groups/regret_p90",
    "validate:sweeps/groups/strategies",
    "validate:sweeps/groups/sweeps",
    "validate:sweeps/sweeps/best",
    "validate:sweeps/sweeps/global_batch",
    "validate:sweeps/sweeps/gpu",
    "validate:sweeps/sweeps/gpus",
    "validate:sweeps/sweeps/kendall_tau",
    "validate:sweeps/sweeps/model",
    "validate:sweeps/sweeps/pairs",
    "validate:sweeps/sweeps/picked",
    "validate:sweeps/sweeps/precision",
    "validate:sweeps/sweeps/regret",
    "validate:sweeps/sweeps/seq_len",
    "validate:sweeps/sweeps/source",
    "validate:sweeps/sweeps/strategies",
    "error:errors/file",
    "error:errors/line",
    "error:errors/column",
    "error:errors/key",
    "lint:findings/line",
    "lint:findings/column",
    "lint:findings/excused",
    "lint:findings/check",
    "lint:findings/file",
    "lint:findings/message",
    "cluster:holds_left_out",
};
constexpr std::array<std::string_view, 5> of_calibrations{"harness", "fit", "overlay", "gate", "measured_scale"};

bool is_seldom(const AnswerSchema& answer, const AnswerMember& member) {
  const std::string row = std::string{answer.name} + ":" + std::string{member.path};
  return std::find(seldom.begin(), seldom.end(), row) != seldom.end() ||
         std::find(of_calibrations.begin(), of_calibrations.end(), answer.name) != of_calibrations.end();
}

std::string text_at(const Value& value, std::string_view key) {
  const Value* const found = value.find(key);
  return found == nullptr ? std::string{} : found->text();
}

std::int64_t number_at(const Value& value, std::string_view key) {
  const Value* const found = value.find(key);
  return found == nullptr ? -1 : found->integer();
}

/// The problems of a document as stderr tells them.
std::string told(const Value& document) {
  std::string text;
  const Value* const errors = document.find("errors");
  REQUIRE(errors != nullptr);
  for (const Member& item : errors->members()) {
    const Value& error = item.value;
    const bool placed = error.find("line") != nullptr;
    const Diagnostic problem{text_at(error, "file"),
                             {placed ? static_cast<int>(number_at(error, "line")) : 0,
                              placed ? static_cast<int>(number_at(error, "column")) : 0},
                             text_at(error, "message")};
    text += (problem.file.empty() ? "headroom: " : "") + problem.text() + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("answers: every member of every answer stands in its table with its type, and every row in an answer") {
  MemberWalk walk;
  for (const std::string& question : questions()) {
    CAPTURE(question);
    const Run run = run_headroom(question);
    CHECK(run.out.starts_with("{\n"));
    walk.see(read_value(run.out));
  }
  for (const auto& entry : fs::directory_iterator{fs::path{HEADROOM_SOURCE_DIR} / "tests/golden"}) {
    for (const std::string& document : documents_of(read_text(entry.path()))) {
      walk.see(read_value(document));
    }
  }
  // Requests have answers of their own.
  const QuestionLibrary library = QuestionLibrary::of({});
  for (const auto& [verb, request] :
       {std::pair{"keys", ""},
        {"schema", ""},
        {"health", ""},
        {"catalog", ""},
        {"plan", "{\"scenario\": {}}"},
        {"import",
         "{\"config\": {\"model_type\": \"llama\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
         "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"vocab_size\": 128256}}"}}) {
    CAPTURE(verb);
    walk.see(read_value(wire_reply(library, std::string_view{verb}, request).body));
  }
  for (const std::string& fault : walk.faults) {
    FAIL_CHECK(fault);
  }
  for (const AnswerSchema& answer : all_answers()) {
    for (const AnswerMember& member : answer.members) {
      if (walk.seen.count(&member) == 0 && !is_seldom(answer, member)) {
        const std::string unseen = std::string{answer.name} + ": no answer has " + std::string{member.path};
        FAIL_CHECK(unseen);
      }
    }
  }
}

TEST_CASE("answers: headroom schema lists every answer and prints its JSON Schema") {
  const Run listed = run_headroom("schema --answers");
  CHECK(listed.code == 0);
  for (const AnswerSchema& answer : all_answers()) {
    CAPTURE(answer.name);
    const std::string title = "headroom." + std::string{answer.name} + "/" + std::to_string(answer.version);
    CHECK(says(listed.out, title));
    const Run run = run_headroom("schema --answer " + std::string{answer.name});
    CHECK(run.code == 0);
    const Value schema = read_value(run.out);
    CHECK(text_at(schema, "title") == title);
    REQUIRE(schema.find("properties") != nullptr);
    CHECK(schema.find("properties")->find("schema") != nullptr);
  }
  const Run slip = run_headroom("schema --answer plam");
  CHECK(slip.code == 2);
  CHECK(says(slip.err, "did you mean 'plan'?"));
}

TEST_CASE("answers: docs/json.md has every answer") {
  const std::string page = read_text(fs::path{HEADROOM_SOURCE_DIR} / "docs/json.md");
  for (const AnswerSchema& answer : all_answers()) {
    CAPTURE(answer.name);
    CHECK(says(page, "| `headroom." + std::string{answer.name} + "/" + std::to_string(answer.version) + "` |"));
  }
}

TEST_CASE("answers: a refused command is a document with every problem and its place, and tells people as before") {
  const ScratchFolder folder;
  std::ofstream{folder.path() / "bad.toml"} << "schema = 1\nkind = \"train\"\nmodel = \"llama3-8b\"\n[hardware]\ngpu = "
                                               "\"h100-sxm-80gb\"\ngpus = \"x\"\n[training]\nseq_lem = 4096\n";
  for (const std::string command :
       {"plan bad.toml", "plan --model no-such --gpu h100-sxm-80gb --gpus 8", "simulate none.toml",
        "plan bad.toml --tp 2 --tp 4", "catalog show none", "op gemm --gpu none -m 1 -n 1 -k 1"}) {
    CAPTURE(command);
    const Run people = run_headroom(command, folder.path());
    const Run programs = run_headroom(command + " --format json", folder.path());
    CHECK(people.code == 2);
    CHECK(people.out.empty());
    CHECK(programs.code == 2);
    CHECK(programs.err == people.err);
    const Value document = read_value(programs.out);
    CHECK(text_at(document, "schema") == "headroom.error/1");
    CHECK(number_at(document, "exit_code") == 2);
    CHECK(told(document) == people.err);
    MemberWalk walk;
    walk.see(document);
    CHECK(walk.faults.empty());
  }
}

TEST_CASE("answers: a command line that cannot be read is a document too") {
  for (const std::string command :
       {"plan --format json --tpp 3", "plan --format=json a b c", "scale --format json --gpus"}) {
    CAPTURE(command);
    const Run run = run_headroom(command);
    CHECK(run.code == 2);
    const Value document = read_value(run.out);
    CHECK(text_at(document, "schema") == "headroom.error/1");
    CHECK(says(told(document), "error: "));
    CHECK(text_at(document.find("errors")->members().front().value, "code") == "usage");
  }
  CHECK(run_headroom("plan --tpp 3").out.empty());
  CHECK(run_headroom("plan --format jsn none.toml").out.empty());
}

TEST_CASE("answers: lists of the catalog as JSON hold what their tables do") {
  const Value all = read_value(run_headroom("catalog list --format json").out);
  for (const std::string_view kind :
       {"gpus", "nodes", "clusters", "prices", "models", "networks", "formats", "architectures", "partitions"}) {
    CAPTURE(kind);
    REQUIRE(all.find(kind) != nullptr);
    const std::string table = run_headroom("catalog list " + std::string{kind}).out;
    for (const Member& item : all.find(kind)->members()) {
      CHECK(says(table, text_at(item.value, "id")));
    }
    const Value one = read_value(run_headroom("catalog list " + std::string{kind} + " --format json").out);
    CHECK(one.members().size() == 3);
    REQUIRE(one.find(kind) != nullptr);
    CHECK(one.find(kind)->members().size() == all.find(kind)->members().size());
  }
  const Value entry = read_value(run_headroom("catalog show h100-sxm-80gb --format json").out);
  CHECK(text_at(entry, "id") == "h100-sxm-80gb");
  CHECK(entry.find("values")->members().size() > 20);
  const Run refused = run_headroom("catalog import config.json --format json");
  CHECK(refused.code == 2);
  CHECK(says(refused.err, "--format has no part in 'catalog import'"));
}
