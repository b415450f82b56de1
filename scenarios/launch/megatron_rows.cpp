// SPDX-License-Identifier: Apache-2.0
// Names and defaults: NVIDIA/Megatron-LM @ d98e8a6, megatron/training/arguments.py and the configuration classes that
// it generates arguments from; defaults as in Phlip79/Megatron-LM @ 0fbe468, the same file, which still lists them all.
#include <headroom/scenarios/launch/megatron_core.hpp>

#include <array>

namespace headroom::launch {
namespace {

constexpr std::array norms{LaunchWord{"RMSNorm", "rmsnorm"}, LaunchWord{"LayerNorm", "layernorm"}};
constexpr std::array cp_forms{LaunchWord{"p2p", "ring"}, LaunchWord{"a2a", "ulysses"},
                              LaunchWord{"allgather", "all-gather"}};
/// The first of several synonyms is written.
constexpr std::array attention{LaunchWord{"flash", "true"}, LaunchWord{"fused", "true"}, LaunchWord{"auto", "true"},
                               LaunchWord{"unfused", "false"}, LaunchWord{"local", "false"}};
constexpr std::array implementations{LaunchWord{"transformer_engine", "megatron-core-te"},
                                     LaunchWord{"local", "megatron-core"}};
constexpr std::array sinks{LaunchWord{"learnable", "true"}, LaunchWord{"vanilla", "false"}};
constexpr std::array graphs{LaunchWord{"local", "true"}, LaunchWord{"transformer_engine", "true"},
                            LaunchWord{"none", "false"}};

using enum RowKind;

constexpr std::array own_rows{
    // the network
    LaunchRow{"--num-layers", "model.layers"},
    LaunchRow{"--hidden-size", "model.hidden"},
    LaunchRow{"--ffn-hidden-size", "model.ffn_hidden"},
    LaunchRow{"--num-attention-heads", "model.heads"},
    LaunchRow{"--kv-channels", "model.head_dim"},
    LaunchRow{"--group-query-attention", "", special},
    LaunchRow{"--num-query-groups", "", special},
    LaunchRow{"--swiglu", "", special},
    LaunchRow{"--squared-relu", "", special},
    LaunchRow{"--activation-func", "", special},  // key of Megatron-Bridge only
    LaunchRow{"--quick-geglu", "", special},
    LaunchRow{"--untie-embeddings-and-output-weights", "model.tied_embeddings", no, "true"},
    LaunchRow{"--normalization", "model.norm", word, "\"layernorm\"", norms},
    LaunchRow{"--norm-epsilon", "", special},
    LaunchRow{"--disable-bias-linear", "model.biases", no, "true"},
    LaunchRow{"--add-qkv-bias", "", special},
    LaunchRow{"--qk-layernorm", "", special},
    LaunchRow{"--attention-output-gate", "model.output_gate", yes, "false"},
    LaunchRow{"--softmax-type", "model.sinks", word, "false", sinks},
    LaunchRow{"--position-embedding-type", "", special},
    LaunchRow{"--use-rotary-position-embeddings", "", special},
    LaunchRow{"--max-position-embeddings", "", special},
    LaunchRow{"--rotary-base", "", special},
    LaunchRow{"--rotary-percent", "", special},
    LaunchRow{"--rotary-seq-len-interpolation-factor", "", special},
    LaunchRow{"--use-rope-scaling", "", special},
    LaunchRow{"--rope-scaling-factor", "", special},
    LaunchRow{"--rope-type", "", special},
    LaunchRow{"--rotary-scaling-factor", "", special},
    LaunchRow{"--mscale", "", special},
    LaunchRow{"--mscale-all-dim", "", special},
    LaunchRow{"--vocab-size", "model.vocab"},
    LaunchRow{"--make-vocab-size-divisible-by", "training.vocab_multiple", count, "128"},
    LaunchRow{"--mtp-num-layers", "", special},
    LaunchRow{"--window-size", "", special},
    LaunchRow{"--window-attn-skip-freq", "", special},
    LaunchRow{"--num-experts", "model.moe.experts"},
    LaunchRow{"--moe-router-topk", "model.moe.top_k", count, "2"},
    LaunchRow{"--moe-ffn-hidden-size", "", special},
    LaunchRow{"--moe-shared-expert-intermediate-size", "model.moe.shared_ffn_hidden"},
    LaunchRow{"--moe-layer-freq", "", special},
    LaunchRow{"--moe-token-dispatcher-type", "", special},
    LaunchRow{"--moe-flex-dispatcher-backend", "", special},
    LaunchRow{"--moe-shared-expert-gate", "model.moe.shared_gate", yes, "false"},
    LaunchRow{"--moe-router-enable-expert-bias", "", special},
    LaunchRow{"--moe-router-score-function", "", special},
    LaunchRow{"--moe-router-pre-softmax", "", special},
    LaunchRow{"--moe-router-topk-scaling-factor", "", special},
    LaunchRow{"--moe-router-num-groups", "", special},
    LaunchRow{"--moe-router-group-topk", "", special},
    LaunchRow{"--multi-latent-attention", "", special},
    LaunchRow{"--q-lora-rank", "", special},
    LaunchRow{"--kv-lora-rank", "", special},
    LaunchRow{"--qk-head-dim", "", special},
    LaunchRow{"--qk-pos-emb-head-dim", "", special},
    LaunchRow{"--v-head-dim", "", special},
    // the strategy
    LaunchRow{"--tensor-model-parallel-size", "strategy.tp", count, "1"},
    LaunchRow{"--pipeline-model-parallel-size", "strategy.pp", count, "1"},
    LaunchRow{"--num-virtual-stages-per-pipeline-rank", "strategy.vpp", count, "1"},
    LaunchRow{"--num-layers-per-virtual-pipeline-stage", "", special},
    LaunchRow{"--decoder-first-pipeline-num-layers", "strategy.first_stage_layers"},
    LaunchRow{"--decoder-last-pipeline-num-layers", "strategy.last_stage_layers"},
    LaunchRow{"--context-parallel-size", "strategy.cp", count, "1"},
    LaunchRow{"--cp-comm-type", "strategy.cp_form", word, "", cp_forms},
    LaunchRow{"--expert-model-parallel-size", "strategy.ep", count, "1"},
    LaunchRow{"--expert-tensor-parallel-size", "strategy.etp"},
    LaunchRow{"--sequence-parallel", "strategy.sequence_parallel", yes, "false"},
    LaunchRow{"--use-distributed-optimizer", "", special},
    LaunchRow{"--use-megatron-fsdp", "", special},
    LaunchRow{"--use-torch-fsdp2", "", special},
    LaunchRow{"--torch-fsdp2-no-reshard-after-forward", "", special},
    LaunchRow{"--data-parallel-sharding-strategy", "", special},
    LaunchRow{"--num-distributed-optimizer-instances", "", special},
    LaunchRow{"--micro-batch-size", "strategy.micro_batch"},
    LaunchRow{"--recompute-activations", "", special},
    LaunchRow{"--recompute-granularity", "", special},
    LaunchRow{"--recompute-method", "", special},
    LaunchRow{"--recompute-num-layers", "", special},
    LaunchRow{"--recompute-modules", "", special},
    LaunchRow{"--overlap-moe-expert-parallel-comm", "strategy.overlap_experts", yes, "false"},
    LaunchRow{"--use-tp-pp-dp-mapping", "", special},
    LaunchRow{"--cuda-graph-impl", "strategy.cuda_graphs", word, "false", graphs},
    LaunchRow{"--enable-cuda-graph", "", special},
    LaunchRow{"--external-cuda-graph", "", special},
    // the training
    LaunchRow{"--seq-length", "training.seq_len"},
    LaunchRow{"--global-batch-size", "training.global_batch"},
    LaunchRow{"--train-iters", "", special},
    LaunchRow{"--train-samples", "", special},
    LaunchRow{"--bf16", "", special},
    LaunchRow{"--fp16", "", special},
    LaunchRow{"--fp8-format", "", special},
    LaunchRow{"--fp8-recipe", "", special},
    LaunchRow{"--fp4-format", "", special},
    LaunchRow{"--grad-reduce-in-bf16", "", special},
    LaunchRow{"--accumulate-allreduce-grads-in-fp32", "", special},
    LaunchRow{"--optimizer", "", special},
    LaunchRow{"--sgd-momentum", "", special},
    LaunchRow{"--use-precision-aware-optimizer", "", special},
    LaunchRow{"--exp-avg-dtype", "", special},
    LaunchRow{"--exp-avg-sq-dtype", "", special},
    LaunchRow{"--overlap-grad-reduce", "", special},
    LaunchRow{"--overlap-param-gather", "", special},
    LaunchRow{"--tp-comm-overlap", "", special},
    LaunchRow{"--optimizer-cpu-offload", "training.offload.optimizer", yes, "false"},
    LaunchRow{"--attention-backend", "training.flash_attention", word, "true", attention},
    LaunchRow{"--use-flash-attn", "", special},
    LaunchRow{"--attention-dropout", "", special},
    LaunchRow{"--hidden-dropout", "", special},
    LaunchRow{"--cross-entropy-loss-fusion", "training.fused_loss", yes, "false"},
    LaunchRow{"--transformer-impl", "training.software", word, "\"megatron-core-te\"", implementations},
};

constexpr auto own_passed = std::to_array<std::string_view>(
    {// learning rate, regularization, initialization
     "--lr", "--lr-decay-style", "--lr-wsd-decay-style", "--lr-decay-iters", "--lr-decay-samples",
     "--lr-wsd-decay-samples", "--lr-wsd-decay-iters", "--lr-warmup-fraction", "--lr-warmup-iters",
     "--lr-warmup-samples", "--lr-warmup-init", "--min-lr", "--override-opt-param-scheduler",
     "--override-opt_param-scheduler", "--use-checkpoint-opt-param-scheduler", "--use-checkpoint-opt_param-scheduler",
     "--decoupled-lr", "--decoupled-min-lr", "--weight-decay", "--start-weight-decay", "--end-weight-decay",
     "--weight-decay-incr-style", "--clip-grad", "--adam-beta1", "--adam-beta2", "--adam-eps", "--init-method-std",
     "--embedding-init-method-std", "--init-method-xavier-uniform", "--seed", "--rampup-batch-size",
     "--decrease-batch-size-if-needed",
     // run control
     "--exit-interval", "--exit-duration-in-mins", "--exit-signal-handler", "--eval-iters", "--eval-interval",
     "--skip-train", "--manual-gc", "--manual-gc-interval", "--no-manual-gc-eval", "--rerun-mode",
     "--check-weight-hash-across-dp-replicas-interval", "--empty-unused-memory-level",
     "--no-check-for-nan-in-loss-and-grad", "--check-for-spiky-loss", "--check-for-large-grads", "--profile",
     "--profile-step-start", "--profile-step-end", "--profile-ranks", "--use-pytorch-profiler",
     "--record-memory-history", "--memory-snapshot-path", "--deterministic-mode", "--calculate-per-token-loss",
     "--use-cpu-initialization", "--init-model-with-meta-device", "--disable-gloo-process-groups",
     "--distributed-backend", "--distributed-timeout-minutes", "--local-rank", "--enable-experimental", "--spec",
     "--inprocess-restart", "--enable-ft-package", "--calc-ft-timeouts", "--no-one-logger",
     // data and tokenizer
     "--data-path", "--train-data-path", "--valid-data-path", "--test-data-path", "--data-args-path",
     "--per-split-data-args-path", "--data-cache-path", "--split", "--mock-data", "--num-workers",
     "--no-mmap-bin-files", "--reset-position-ids", "--reset-attention-mask", "--eod-mask-loss",
     "--no-create-attention-mask-in-dataloader", "--num-dataset-builder-threads", "--dataloader-type", "--vocab-file",
     "--merge-file", "--tokenizer-type", "--tokenizer-model", "--tokenizer-metadata", "--tiktoken-pattern",
     "--tiktoken-num-special-tokens", "--trust-remote-code", "--legacy-tokenizer",
     // checkpoints
     "--save", "--save-interval", "--persistent-save-interval", "--save-retain-interval", "--no-save-optim",
     "--no-save-rng", "--load", "--no-load-optim", "--no-load-rng", "--load-main-params-from-ckpt", "--finetune",
     "--pretrained-checkpoint", "--ckpt-step", "--no-initialization", "--use-checkpoint-args",
     "--exit-on-missing-checkpoint", "--use-dist-ckpt", "--use-persistent-ckpt-worker", "--auto-detect-ckpt-format",
     "--dist-ckpt-format", "--ckpt-format", "--ckpt-fully-parallel-save", "--no-ckpt-fully-parallel-save",
     "--async-save", "--ckpt-fully-parallel-load", "--ckpt-assume-constant-structure", "--dist-ckpt-strictness",
     "--non-persistent-save-interval", "--non-persistent-ckpt-type", "--non-persistent-local-ckpt-dir",
     // logs
     "--log-interval", "--log-params-norm", "--log-num-zeros-in-grad", "--log-throughput", "--log-progress",
     "--log-energy", "--timing-log-level", "--timing-log-option", "--tensorboard-dir", "--tensorboard-log-interval",
     "--tensorboard-queue-size", "--log-timers-to-tensorboard", "--log-validation-ppl-to-tensorboard",
     "--log-memory-to-tensorboard", "--log-world-size-to-tensorboard", "--wandb-project", "--wandb-entity",
     "--wandb-exp-name", "--wandb-save-dir", "--logging-level",
     // settings that the model prices by the software's usual behaviour
     "--overlap-param-gather-with-optimizer-step", "--no-overlap-p2p-communication",
     "--overlap-p2p-communication-warmup-flush", "--tp-comm-overlap-cfg", "--tp-comm-bootstrap-backend",
     "--delay-wgrad-compute", "--defer-embedding-wgrad-compute", "--ddp-bucket-size", "--ddp-num-buckets",
     "--ddp-average-in-collective", "--ddp-pad-buckets-for-high-nccl-busbw", "--fsdp-double-buffer", "--use-nccl-ub",
     "--use-sharp", "--no-gradient-accumulation-fusion", "--no-masked-softmax-fusion", "--no-bias-gelu-fusion",
     "--no-bias-swiglu-fusion", "--no-bias-dropout-fusion", "--no-rope-fusion", "--use-mcore-models",
     "--cross-entropy-fusion-impl", "--main-grads-dtype", "--main-params-dtype",
     // small parts of the network that no key expresses
     "--no-position-embedding", "--rotary-interleaved", "--no-rope-freq", "--apply-layernorm-1p",
     "--attention-softmax-in-fp32", "--loss-scale", "--mtp-loss-scaling-factor", "--moe-grouped-gemm",
     "--moe-enable-deepep", "--moe-permute-fusion", "--moe-router-fusion", "--moe-router-load-balancing-type",
     "--moe-aux-loss-coeff", "--moe-z-loss-coeff", "--moe-router-dtype", "--moe-router-bias-update-rate",
     "--moe-router-force-load-balancing", "--moe-router-padding-for-fp8", "--moe-shared-expert-overlap",
     "--fp8-param-gather", "--fp8-margin", "--fp8-amax-history-len", "--fp8-amax-compute-algo", "--te-rng-tracker",
     "--initial-loss-scale", "--overlap-cpu-optimizer-d2h-h2d"});

constexpr std::array own_gaps{
    LaunchGap{"strategy.schedule", "\"1f1b\"", "Megatron-Core runs 1F1B, interleaved where vpp > 1"},
    LaunchGap{"strategy.cp_form", "", "Megatron-Core has no such form"},
    LaunchGap{"training.bucket_bytes", "", "--ddp-bucket-size counts parameters"},
    LaunchGap{"strategy.order", "\"tp-cp-dp-pp\"", "Megatron-Core knows tp-cp-dp-pp and tp-cp-pp-dp"},
    LaunchGap{"training.async_tp", "false", "--tp-comm-overlap needs sequence parallelism"},
    LaunchGap{"training.compile", "false", "Megatron-Core does not compile the model"},
    LaunchGap{"training.method", "\"full\"", "no argument trains adapters"},
    LaunchGap{"training.lora_rank", "", "no argument trains adapters"},
    LaunchGap{"training.double_quant", "", "no argument trains adapters"},
    LaunchGap{"training.offload.parameters", "", "no argument keeps weights on the host"},
    LaunchGap{"training.software", "\"megatron-core-te\"", "another software than what is launched"},
    LaunchGap{"training.offload.activations", "false", "--cpu-offloading-num-layers counts layers, not inputs"},
    LaunchGap{"training.offload_to", "\"host\"", "the host's memory only"},
    LaunchGap{"training.precision", "", "PyTorch's own switch"},
    LaunchGap{"model.kind", "\"decoder\"", "pretrain_gpt.py trains decoders: another network is launched"},
    LaunchGap{"model.max_seq_len", "", ""},
    LaunchGap{"model.*", "", "no argument says it: another network is launched"},
};

}  // namespace

std::span<const LaunchRow> megatron_rows() noexcept {
  return own_rows;
}
std::span<const std::string_view> megatron_passed() noexcept {
  return own_passed;
}
std::span<const LaunchGap> megatron_gaps() noexcept {
  return own_gaps;
}

}  // namespace headroom::launch
