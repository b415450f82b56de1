// SPDX-License-Identifier: Apache-2.0
// Launch files: what particular lines mean, in both directions.
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/launch/megatron_core.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::sources;
using namespace headroom::launch;

namespace {

ImportedLaunch read(const std::string& text, std::vector<std::string> assignments, bool ignore = false) {
  assignments.insert(assignments.begin(), "hardware.gpu=h100-sxm-80gb");
  return import_launch({"run", text}, {std::nullopt, std::move(assignments), ignore}, sources());
}

TrainScenario train_of(const ImportedLaunch& launch) {
  return std::get<TrainScenario>(launch.scenario.question);
}

std::string problems(const std::string& text, const std::vector<std::string>& assignments) {
  try {
    static_cast<void>(read(text, assignments));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

bool remarked(const ImportedLaunch& launch, const std::string& remark) {
  return std::find(launch.remarks.begin(), launch.remarks.end(), remark) != launch.remarks.end();
}

/// Megatron-LM's arguments of a Llama 3 8B with others behind.
std::string llama(const std::string& more) {
  return "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention "
         "--num-query-groups 8 --swiglu --untie-embeddings-and-output-weights --disable-bias-linear --normalization "
         "RMSNorm --vocab-size 128256 --position-embedding-type rope --max-position-embeddings 8192 --seq-length 8192 "
         "--micro-batch-size 1 --global-batch-size 64 " +
         more + "\n";
}

std::string exported(const std::vector<std::string>& more, LaunchForm form) {
  std::vector<std::string> all{"kind=train",
                               "model=llama3-70b",
                               "hardware.gpu=h100-sxm-80gb",
                               "hardware.gpus=128",
                               "training.seq_len=8192",
                               "training.global_batch=128",
                               "training.precision=bf16",
                               "strategy.micro_batch=1",
                               "strategy.recompute=none"};
  all.insert(all.end(), more.begin(), more.end());
  const Scenario scenario = scenario_from_overrides(all, sources());
  const auto& train = std::get<TrainScenario>(scenario.question);
  return export_launch(scenario, train, train.strategy, form).text;
}

bool says(const std::string& text, const std::string& line) {
  return text.find(line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a launch file tells a bucket to the byte") {
  CHECK(
      exported({"training.bucket_bytes=25 MB"}, LaunchForm::megatron).find("training.bucket_bytes = \"25000000 B\"") !=
      std::string::npos);
}

TEST_CASE("a form is known by its text") {
  CHECK(form_of("  {\"train_batch_size\": 1}") == LaunchForm::deepspeed);
  CHECK(form_of("#!/bin/bash\n#SBATCH -N 4\ntorchrun x.py\n") == LaunchForm::slurm);
  CHECK(form_of("# torchrun is not this\npython -m torch.distributed.run x.py --lr 1\n") == LaunchForm::torchrun);
  CHECK(form_of("[training]\nseq_len = 1\n") == LaunchForm::torchtitan);
  CHECK(form_of("A=(\n --num-layers 2\n)\n") == LaunchForm::megatron);
  CHECK(form_of("# head\ntrain.train_iters=3\n") == LaunchForm::nemo);
  CHECK(form_of("hello\n") == std::nullopt);
}

TEST_CASE("Megatron-LM's own defaults are what is not said") {
  const TrainScenario train = train_of(read(llama("--bf16 --tensor-model-parallel-size 4"), {"hardware.gpus=16"}));
  CHECK(train.architecture.id == "llama3-8b");
  CHECK(train.strategy.zero == 0);
  CHECK_FALSE(train.strategy.sequence_parallel);
  CHECK(train.strategy.recompute == Recompute::none);
  CHECK_FALSE(train.recompute_open);
  CHECK(train.work.options.dropout == true);
  CHECK(train.work.options.vocab_multiple == 128);
  CHECK(train.work.states.gradients == 4.0);
  CHECK(train_of(read(llama(""), {"hardware.gpus=8"})).work.precision == Precision::fp32);
  // 8/3 of the width in multiples of 64, and 4 of it without a gate.
  const std::string small =
      "--num-layers 2 --hidden-size 1024 --num-attention-heads 16 --vocab-size 1000 "
      "--max-position-embeddings 512 --seq-length 512 --micro-batch-size 1 --bf16 ";
  CHECK(train_of(read(small + "--swiglu\n", {"hardware.gpus=1"})).architecture.ffn_hidden == 2688);
  const TrainScenario plain = train_of(read(small + "\n", {"hardware.gpus=8"}));
  CHECK(plain.architecture.ffn_hidden == 4096);
  CHECK(plain.architecture.learned_positions == 512);
  CHECK(plain.architecture.tied_embeddings);
  CHECK(plain.work.shape.global_batch == 8);
}

TEST_CASE("a script's variables, arrays and directives reach the arguments") {
  const std::string script =
      "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gres=gpu:h100:8\nmodule load cuda\nTP=4\nMODEL=(" + llama("--bf16") +
      ")\nexport X=1\nsrun --wait=60 torchrun --nnodes=$SLURM_NNODES --nproc_per_node=${SLURM_GPUS_ON_NODE} "
      "--rdzv_endpoint $(hostname):29500 pretrain_gpt.py ${MODEL[@]} --tensor-model-parallel-size $TP --lr 3e-4\n";
  const ImportedLaunch launch = read(script, {});
  const TrainScenario train = train_of(launch);
  CHECK(launch.form == LaunchForm::slurm);
  CHECK(train.work.shape.gpus == 16);
  CHECK(train.strategy.tp == 4);
  CHECK(train.strategy.dp == 4);
  CHECK(remarked(launch, "run:4: ignored: module load cuda"));
  CHECK(remarked(launch, "run:9: ignored: --lr 3e-4"));
}

TEST_CASE("a task a GPU needs no torchrun") {
  const std::string script = "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\nsrun python -u pretrain_gpt.py " +
                             llama("--bf16 --tensor-model-parallel-size 8");
  CHECK(train_of(read(script, {})).work.shape.gpus == 16);
}

TEST_CASE("layers of experts are a pattern") {
  CHECK(layer_pattern({0, 0, 0, 1, 1}) == "([0]*3+[1]*2)");
  CHECK(layer_pattern({0, 1, 0, 1}) == "([0]*1+[1]*1)*2");
  CHECK(layer_pattern({1, 1}) == "([1]*2)");
  LaunchReading reading;
  reading.file = "x";
  CHECK(layers_of_pattern(word_value("([0]*1+[1,1])*2"), 6, reading) == std::vector<int>{0, 1, 1, 0, 1, 1});
  CHECK(layers_of_pattern(word_value("2"), 4, reading) == std::vector<int>{1, 0, 1, 0});
  CHECK(layers_of_pattern(word_value("[0,0,1]"), 3, reading) == std::vector<int>{0, 0, 1});
  CHECK(reading.diagnostics.empty());
  for (const char* wrong :
       {"([0]*3", "[0]*99999999", "", "[a]", "[1]*3+", "((((((((((((((((((((((((((((((((((((((((((((("}) {
    LaunchReading broken;
    CHECK(layers_of_pattern(word_value(wrong), 3, broken).empty());
    CHECK(broken.diagnostics.size() == 1);
  }
  const std::string experts = "--num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 512 --bf16 --moe-layer-freq ";
  const auto placed = [&](const std::string& pattern) {
    return *train_of(read(llama(experts + pattern), {"hardware.gpus=8"})).architecture.moe;
  };
  CHECK(placed("'([0]*2+[1]*30)'").dense_layers == 2);
  CHECK(placed("'([0]*3+[1]*1)*8'").every == 4);
  CHECK(placed("'([0]*31+[1]*1)'").dense_layers == 31);
  CHECK(placed("'[0]*15+[1]+[0]*15+[1]'").every == 16);
  CHECK(placed("2").every == 2);
  CHECK(problems(llama(experts + "'([1]*30+[0]*2)'"), {"hardware.gpus=8"}).find("[[model.variant]]") !=
        std::string::npos);
}

TEST_CASE("what exchanges tokens of experts is written as it is priced, and read back") {
  const std::string racks =
      exported({"model=qwen3-30b-a3b", "hardware.gpu=gb300-nvl72", "strategy.ep=8"}, LaunchForm::megatron);
  CHECK(says(racks, "  --moe-token-dispatcher-type flex"));  // what most published runs on GB300 send by
  CHECK(says(racks, "  --moe-flex-dispatcher-backend hybridep"));
  CHECK(says(racks,
             "# not expressed: training.expert_launch = \"partial-graphs\" (pass --cuda-graph-impl transformer_engine "
             "--cuda-graph-scope attn moe_router moe_preprocess)"));
  const std::string plain = exported({"model=qwen3-30b-a3b", "strategy.ep=8"}, LaunchForm::megatron);
  CHECK(says(plain, "  --moe-token-dispatcher-type alltoall"));
  CHECK_FALSE(says(plain, "  --moe-flex-dispatcher-backend hybridep"));
  const std::string experts = "--num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 512 --bf16 ";
  const auto dispatcher = [&](const std::string& more) {
    return train_of(read(llama(experts + more), {"hardware.gpus=8"})).work.options.experts.dispatcher;
  };
  CHECK(dispatcher("") == ExpertDispatcher::alltoall);
  CHECK(dispatcher("--moe-token-dispatcher-type allgather") == ExpertDispatcher::alltoall);
  CHECK(dispatcher("--moe-token-dispatcher-type flex") == ExpertDispatcher::deepep);
  CHECK(dispatcher("--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend hybridep") ==
        ExpertDispatcher::hybridep);
  CHECK(problems(llama(experts + "--moe-token-dispatcher-type ring"), {"hardware.gpus=8"}).find("ring") !=
        std::string::npos);
}

TEST_CASE("chunks, replicas and full recomputation follow from the sizes around them") {
  const std::string pipeline = llama(
      "--bf16 --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage "
      "2 "
      "--use-distributed-optimizer --num-distributed-optimizer-instances 2 --sequence-parallel --recompute-granularity "
      "full --recompute-method uniform --recompute-num-layers 2 --train-iters 1000");
  const TrainScenario train = train_of(read(pipeline, {"hardware.gpus=64"}));
  CHECK(train.strategy.vpp == 4);
  CHECK(train.strategy.dp == 8);
  CHECK(train.strategy.shard_ranks == 4);
  CHECK(train.strategy.recompute_block == 2);
  CHECK(train.tokens == doctest::Approx(1000.0 * 64 * 8192));
  CHECK(problems(pipeline, {"hardware.gpus=24", "strategy.micro_batch=1"}).find("3 data ranks do not divide by 2") !=
        std::string::npos);
  CHECK(problems(llama("--recompute-granularity full --recompute-method block --recompute-num-layers 4"),
                 {"hardware.gpus=8"})
            .find("of 4 layers out of 32 of a stage") != std::string::npos);
}

TEST_CASE("what is stated wins, and a preset must agree") {
  CHECK(train_of(read(llama("--bf16"), {"hardware.gpus=8", "strategy.tp=8"})).strategy.tp == 8);
  CHECK(train_of(read(llama("--bf16"), {"hardware.gpus=8", "model=llama3.1-8b"})).architecture.id == "llama3.1-8b");
  CHECK(problems(llama("--bf16"), {"hardware.gpus=8", "model=llama3-70b"}) ==
        "run:1:14: error: model.layers = 32 here, 80 in 'llama3-70b'\n"
        "run:1:31: error: model.hidden = 4096 here, 8192 in 'llama3-70b'\n"
        "run:1:54: error: model.ffn_hidden = 14336 here, 28672 in 'llama3-70b'\n"
        "run:1:82: error: model.heads = 32 here, 64 in 'llama3-70b'");
  CHECK(
      problems("#SBATCH -N 4\n#SBATCH --gpus-per-node=4\nsrun torchrun --nnodes 4 --nproc-per-node 4 pretrain_gpt.py " +
                   llama("--bf16"),
               {})
          .find("4 GPUs a node here, 8 in dgx-h100; give --node") != std::string::npos);
}

TEST_CASE("unknown flags are refused, or remarked where asked") {
  const std::string text = llama("--bf16 --tensor-model-parallel-sise 8");
  CHECK(problems(text, {"hardware.gpus=8"})
            .ends_with("did you mean '--tensor-model-parallel-size'? --ignore-unknown reads the file without it"));
  const ImportedLaunch launch = read(text, {"hardware.gpus=8"}, true);
  CHECK(remarked(launch, "run:1: ignored, not known: --tensor-model-parallel-sise 8"));
  CHECK(train_of(launch).strategy.tp == 1);
}

TEST_CASE("torchtitan: a rank's batch, sharding and networks") {
  const std::string job =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 8192\nlocal_batch_size = 2\n"
      "[parallelism]\ntensor_parallel_degree = 2\ndata_parallel_replicate_degree = 2\n";
  const TrainScenario train = train_of(read(job, {"hardware.gpus=32"}));
  CHECK(train.architecture.id == "llama3-8b");
  CHECK(train.work.shape.global_batch == 32);
  CHECK(train.strategy.zero == 3);
  CHECK(train.strategy.shard_ranks == 8);
  CHECK(train.strategy.recompute == Recompute::selective);
  CHECK(train.software.id == "torchtitan");
  const TrainScenario pipeline =
      train_of(read(job + "pipeline_parallel_degree = 4\npipeline_parallel_schedule = \"Interleaved1F1B\"\n"
                          "pipeline_parallel_layers_per_stage = 3\n[model.nothing]\n",
                    {"hardware.gpus=32", "training.global_batch=64"}));
  CHECK(pipeline.strategy.micro_batch == 1);
  CHECK(pipeline.strategy.zero == 2);  // pipelines keep gathered weights by default
  CHECK(pipeline.strategy.vpp == 3);   // 34 layers with the ends, 3 a chunk: 12 chunks on 4 stages
}

TEST_CASE("torchtitan: a pipeline flushes after every local batch, and does so once where that is the whole") {
  const auto file = [](const std::string& batches) {
    return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 8192\n" + batches +
           "[parallelism]\npipeline_parallel_degree = 4\n";
  };
  const std::vector<std::string> gpus{"hardware.gpus=8"};
  const ImportedLaunch twice = read(file("local_batch_size = 8\nglobal_batch_size = 32\n"), gpus);
  CHECK(train_of(twice).strategy.dp == 2);
  CHECK(train_of(twice).strategy.local_batch == 8);
  CHECK(train_of(read(file("local_batch_size = 16\nglobal_batch_size = 32\n"), gpus)).strategy.local_batch == 0);
  CHECK(train_of(read(file("local_batch_size = 16\n"), gpus)).strategy.local_batch == 0);
  const std::vector<std::string> flushed{"strategy.pp=4", "strategy.local_batch=4", "training.global_batch=64",
                                         "hardware.gpus=8"};
  CHECK(says(exported(flushed, LaunchForm::torchtitan), "local_batch_size = 4"));
  CHECK(says(exported(flushed, LaunchForm::megatron),
             "# not expressed: strategy.local_batch = 4 (Megatron-Core has no key for it)"));
}

TEST_CASE("DeepSpeed: data ranks follow from the batch") {
  const std::string json =
      "{\"train_batch_size\": 256, \"train_micro_batch_size_per_gpu\": 4, \"gradient_accumulation_steps\": 2,\n"
      " \"zero_optimization\": {\"stage\": 3, \"mics_shard_size\": 8, \"offload_optimizer\": {\"device\": \"nvme\"}},\n"
      " \"gradient_clipping\": \"auto\", \"bf16\": {\"enabled\": true}}\n";
  const ImportedLaunch launch = read(json, {"model=llama3-8b", "training.seq_len=4096"});
  const TrainScenario train = train_of(launch);
  CHECK(train.work.shape.gpus == 32);
  CHECK(train.strategy.zero == 3);
  CHECK(train.strategy.shard_ranks == 8);
  CHECK(train.offload_to_nvme);
  CHECK(remarked(launch, "run:3: ignored: gradient_clipping \"auto\": the trainer says it"));
}

TEST_CASE("what a trainer or the run decides is asked for, not assumed") {
  const std::string json = "{\"fp16\": {\"enabled\": \"auto\"}, \"bf16\": {\"enabled\": \"auto\"}}\n";
  CHECK(problems(json, {"model=llama3-8b", "hardware.gpus=8", "training.seq_len=4096", "training.global_batch=64"})
            .ends_with("; give --precision"));
  const std::string line = "torchrun $HOSTS pretrain_gpt.py " + llama("--bf16 --sequence-parallel $EXTRA");
  CHECK(problems(line, {}).ends_with("; give --gpus"));
  const ImportedLaunch launch = read(line, {"hardware.gpus=16", "strategy.tp=2"});
  CHECK(remarked(launch, "run:1: ignored: $HOSTS, which nothing here sets"));
  CHECK(remarked(launch, "run:1: ignored: $EXTRA, which nothing here sets"));
  CHECK(train_of(launch).strategy.sequence_parallel);
}

TEST_CASE("NeMo 2's names are Megatron-Bridge's") {
  const TrainScenario train = train_of(
      read("trainer.strategy.tensor_model_parallel_size=8\ntrainer.num_nodes=4\ntrainer.devices=8\n"
           "data.global_batch_size=128\ndata.micro_batch_size=2\ndata.seq_length=4096\nmixed_precision=bf16-mixed\n"
           "+model.config.recompute_granularity=null\ntrainer.strategy.ddp.use_distributed_optimizer=true\n",
           {"model=llama3-70b"}));
  CHECK(train.work.shape.gpus == 32);
  CHECK(train.strategy.tp == 8);
  CHECK(train.strategy.micro_batch == 2);
  CHECK(train.strategy.zero == 1);
  CHECK_FALSE(train.recompute_open);
  CHECK(train.software.id == "megatron-bridge");
}

TEST_CASE("exported lines are those of the software") {
  const std::string sharded =
      exported({"strategy.zero=3", "strategy.tp=8", "strategy.shard_ranks=8"}, LaunchForm::megatron);
  CHECK(says(sharded, "  --use-megatron-fsdp"));
  CHECK(says(sharded, "  --data-parallel-sharding-strategy optim_grads_params"));
  CHECK(says(sharded, "  --num-distributed-optimizer-instances 2"));
  const std::string pipeline = exported({"strategy.tp=8", "strategy.pp=4", "strategy.vpp=5", "strategy.cp=2",
                                         "strategy.cp_form=ulysses", "strategy.zero=1"},
                                        LaunchForm::megatron);
  CHECK(says(pipeline, "  --num-virtual-stages-per-pipeline-rank 5"));
  CHECK(says(pipeline, "  --cp-comm-type a2a"));
  const std::vector<std::string> zb{"strategy.tp=8", "strategy.pp=4", "strategy.schedule=zb-h1",
                                    "training.software=torchtitan"};
  CHECK(says(exported(zb, LaunchForm::torchtitan),
             "# not expressed: strategy.schedule = \"zb-h1\" (torchtitan has no such schedule)"));
  CHECK(says(exported({"model=gemma2-9b"}, LaunchForm::megatron),
             "# not expressed: model.norms_per_layer = 4 (no argument says it: another network is launched)"));
  const std::string titan = exported({"strategy.tp=8", "training.software=torchtitan"}, LaunchForm::slurm);
  CHECK(says(titan, "  -m torchtitan.train \\"));
  CHECK(says(titan, "  --parallelism.data_parallel_shard_degree -1 \\"));
  const std::string one = exported({"hardware.gpus=8", "strategy.tp=8"}, LaunchForm::torchrun);
  CHECK(says(one, "  --standalone \\"));
}

TEST_CASE("the order of ranks is Megatron-Core's flag, and no other order is said") {
  const std::vector<std::string> stages{"strategy.pp=4", "strategy.order=tp-cp-pp-dp"};
  CHECK(says(exported(stages, LaunchForm::megatron), "  --use-tp-pp-dp-mapping"));
  CHECK(says(exported(stages, LaunchForm::nemo), "dist.use_tp_pp_dp_mapping=true"));
  CHECK(says(exported({"strategy.pp=4"}, LaunchForm::nemo), "dist.use_tp_pp_dp_mapping=false"));
  CHECK_FALSE(says(exported({"strategy.pp=4"}, LaunchForm::megatron), "  --use-tp-pp-dp-mapping"));
  CHECK(says(exported(stages, LaunchForm::torchtitan),
             "# not expressed: strategy.order = \"tp-cp-pp-dp\" (torchtitan's mesh has one order, tp-cp-dp-pp)"));
  CHECK(says(exported({"strategy.pp=4", "strategy.order=dp-tp-cp-pp"}, LaunchForm::megatron),
             "# not expressed: strategy.order = \"dp-tp-cp-pp\" (Megatron-Core knows tp-cp-dp-pp and tp-cp-pp-dp)"));
  // Fully sharded, Megatron-Core refuses the flag.
  CHECK(says(exported({"strategy.zero=3", "strategy.order=tp-cp-pp-dp"}, LaunchForm::megatron),
             "# not expressed: strategy.order = \"tp-cp-pp-dp\" (Megatron FSDP does not take --use-tp-pp-dp-mapping)"));
  const auto order = [](const std::string& text) { return train_of(read(text, {"hardware.gpus=16"})).strategy.order; };
  const std::string pipeline = "--bf16 --pipeline-model-parallel-size 2";
  CHECK(order(llama(pipeline)) == RankOrder::tp_cp_dp_pp);
  CHECK(order(llama(pipeline + " --use-tp-pp-dp-mapping")) == RankOrder::tp_cp_pp_dp);
}

TEST_CASE("overlap is what a file's software does: off in Megatron-LM unless said, on at DeepSpeed's ZeRO 3") {
  const auto overlapped = [](const ImportedLaunch& launch) { return train_of(launch).work.options.overlapped; };
  const std::string sharded = "--bf16 --use-distributed-optimizer ";
  CHECK_FALSE(overlapped(read(llama(sharded), {"hardware.gpus=16"})));
  CHECK(overlapped(read(llama(sharded + "--overlap-grad-reduce --overlap-param-gather"), {"hardware.gpus=16"})));
  const ImportedLaunch half = read(llama(sharded + "--overlap-grad-reduce"), {"hardware.gpus=16"});
  CHECK(overlapped(half));
  CHECK(std::any_of(half.remarks.begin(), half.remarks.end(), [](const std::string& remark) {
    return remark.find("gradients alone run beside compute") != std::string::npos;
  }));
  const std::vector<std::string> job{"hardware.gpus=16", "model=llama3-8b", "training.seq_len=4096"};
  const auto deepspeed = [&](const std::string& zero) {
    return overlapped(
        read("{\"train_batch_size\": 32, \"train_micro_batch_size_per_gpu\": 1, \"bf16\": {\"enabled\": "
             "true}, \"zero_optimization\": {" +
                 zero + "}}\n",
             job));
  };
  CHECK_FALSE(deepspeed("\"stage\": 2"));
  CHECK(deepspeed("\"stage\": 3"));
  CHECK(deepspeed("\"stage\": 2, \"overlap_comm\": true"));
  CHECK_FALSE(deepspeed("\"stage\": 3, \"overlap_comm\": false"));
}

TEST_CASE("overlap that a plan turns off is no flag, or told where the form has no key") {
  const std::vector<std::string> off{"training.overlap=false"};
  CHECK(says(exported({}, LaunchForm::megatron), "  --overlap-grad-reduce"));
  CHECK_FALSE(says(exported(off, LaunchForm::megatron), "  --overlap-grad-reduce"));
  CHECK_FALSE(says(exported(off, LaunchForm::megatron), "  --overlap-param-gather"));
  CHECK(says(exported(off, LaunchForm::nemo), "ddp.overlap_grad_reduce=false"));
  CHECK(says(exported(off, LaunchForm::torchtitan),
             "# not expressed: training.overlap = false (torchtitan has no key that turns it off)"));
  CHECK(exported(off, LaunchForm::deepspeed).find("\"overlap_comm\": false") != std::string::npos);
}

TEST_CASE("asynchronous tensor parallelism needs sequence parallelism in Megatron-LM, compiled layers in torchtitan") {
  const std::vector<std::string> async{"strategy.tp=8", "training.async_tp=true"};
  const auto with = [&](const char* more) { return std::vector<std::string>{async[0], async[1], more}; };
  CHECK(says(exported(async, LaunchForm::megatron), "  --tp-comm-overlap"));
  CHECK(says(exported(async, LaunchForm::nemo), "comm_overlap.tp_comm_overlap=true"));
  CHECK(says(exported({"strategy.tp=8"}, LaunchForm::nemo), "comm_overlap.tp_comm_overlap=false"));
  CHECK(says(exported(with("strategy.sequence_parallel=false"), LaunchForm::megatron),
             "# not expressed: training.async_tp = true (--tp-comm-overlap needs sequence parallelism)"));
  CHECK(says(exported(with("training.compile=true"), LaunchForm::torchtitan), "enable_async_tensor_parallel = true"));
  CHECK(says(exported(async, LaunchForm::torchtitan),
             "# not expressed: training.async_tp = true (torchtitan takes it with compile alone)"));
  const std::vector<std::string> job{"hardware.gpus=16", "model=llama3-8b"};
  const std::string titan =
      "[training]\nseq_len = 4096\nglobal_batch_size = 32\nlocal_batch_size = 1\n[parallelism]\n"
      "tensor_parallel_degree = 4\nenable_async_tensor_parallel = true\n";
  const ImportedLaunch plain = read(titan, job);
  CHECK_FALSE(train_of(plain).work.options.async_tp);
  CHECK(
      remarked(plain, "run:7: ignored: parallelism.enable_async_tensor_parallel: it works with compile.enable alone"));
  CHECK(train_of(read(titan + "[compile]\nenable = true\n", job)).work.options.async_tp);
  CHECK(train_of(read(llama("--bf16 --tensor-model-parallel-size 4 --sequence-parallel --tp-comm-overlap"),
                      {"hardware.gpus=16"}))
            .work.options.async_tp);
}
