// SPDX-License-Identifier: Apache-2.0
// Keys of [training], [sweep] and [data].
#pragma once

#include <headroom/model/train/memory/load_peak.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/step/input_pipeline.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

namespace headroom::keys {

inline constexpr std::array training_rows{
    integer("seq_len", 1, 100'000'000)
        .of_tokens()
        .of(Kinds::train)
        .blank_from(KeySource::checkpoint, "of a vision encoder what an image makes, padded to the ranks that share it")
        .says("It is the number of tokens of a sequence.")
        .but("It is required but for a vision encoder, which takes no other; a length beyond the model's positions is "
             "told.")
        .typed_as("--seq-len", "TOKENS", "training: tokens per sequence"),
    integer("global_batch", 1, 1'000'000'000)
        .needed()
        .says("It is the number of sequences, of a network of ops of samples, that an optimizer step takes.")
        .typed_as("--global-batch", "N", "training: sequences per step"),
    choice("precision", training_precision_names)
        .needed()
        .says("It is the recipe of the matrix products; the quick form takes bf16.")
        .but("In fp32 and tf32 activations take 4 bytes; no measured run gives their time, so that memory alone is "
             "answered and a note says why.")
        .typed_as("--precision", "NAME", "training: fp32 tf32 fp16 bf16 fp8 mxfp8 nvfp4 mxfp4; default bf16"),
    text("software")
        .of(Kinds::train)
        .blank_is("`trl` for adapters on one GPU, else `torchtitan` at ZeRO 3, else `megatron-core-te`")
        .says("It is the id of the training software: it decides what states, loss and buffers take and what overlaps.")
        .typed_as("--software", "ID", "training software: what it keeps and overlaps; default by its ZeRO stage"),
    choice("gradients", gradient_names)
        .of(Kinds::train)
        .blank_is("the software's")
        .says("It is the format of gradients: 4 or 2 bytes a parameter."),
    choice("gradients", gradient_names)
        .of(Kinds::network)
        .blank_is("fp32 below ZeRO 3, else as the weights, which is told")
        .says("It is the format of gradients: 4 or 2 bytes a parameter."),
    text("gradient_format")
        .of(Kinds::train)
        .blank_is("the software's")
        .says("It is what gradients are sent as over data ranks: `fp32`, `bf16`, `fp8`, or `topk:SHARE` of the "
              "elements, each with an index.")
        .but("fp8 and topk keep in fp32 what was not sent, and go with method full below ZeRO 2 only; topk gathers "
             "every rank's list. Kernels that compress are not in the time."),
    quantity<Bytes>("bucket_bytes")
        .of(Kinds::train)
        .such_as("25 MiB")
        .or_nothing("that all of a group moves at once, as the fitted overlap holds it")
        .says("It is the size of a bucket of data-parallel collectives as they are sent, of which the last hides "
              "beside nothing.")
        .but("It goes below ZeRO 2 only, whose layers are reduced as they come."),
    choice("checkpoint_form", checkpoint_form_names)
        .of(Kinds::training)
        .or_nothing("that loading is not looked at")
        .says("It is the form of the checkpoint that the run loads: `full` has all states in one piece, which rank 0 "
              "holds first; of `sharded` each rank reads its own.")
        .but("Where rank 0 has no room the plan says so. It goes with method full only."),
    choice("optimizer", optimizer_names)
        .of(Kinds::train)
        .blank_is("the software's")
        .says("It is the optimizer, whose moments take 0 to 8 bytes a trained parameter; the software's master copy "
              "stays.")
        .but("Moments of a paged one lie on the host as far as the GPU surely has no room."),
    choice("optimizer", optimizer_names)
        .of(Kinds::network)
        .usually(static_cast<double>(Optimizer::adamw))
        .says("It is the optimizer: its moments, and 4 bytes of a master copy of 16-bit weights."),
    number("optimizer_bytes", 0.0, 64.0)
        .of(Kinds::network)
        .blank_is("what the optimizer takes")
        .says("It is the bytes of optimizer states a parameter, in place of an optimizer.")
        .but("It goes without optimizer only."),
    text("software")
        .of(Kinds::network)
        .usually_named("pytorch-fsdp")
        .says("It is the id of the training software: its host time, passes, overlap and reach of the links.")
        .but("The memory is not the software's."),
    choice("method", method_names)
        .of(Kinds::train)
        .usually(0)
        .says("It says what is trained: all weights, or adapters."),
    integer("lora_rank", 1, 65'536)
        .of(Kinds::train)
        .usually(static_cast<double>(MemoryOptions{}.lora_rank))
        .says("It is the rank of the adapters on every matrix.")
        .but("It goes with method lora or qlora only."),
    boolean("double_quant")
        .of(Kinds::train)
        .blank_is("the software's: true for `axolotl`, `torchtune` and `unsloth`, else false")
        .says("It says that the scales of the 4-bit base are quantised too: 0.516 bytes a parameter, not 0.5625.")
        .but("It goes with method qlora only."),
    number("tokens", 1.0, 1e18)
        .of(Kinds::train)
        .blank_from(KeySource::publication, "what [target] says, else that no run is priced")
        .named_by("target.loss")
        .says("It is the number of tokens of the whole run: it gives days, GPU-hours and dollars.")
        .typed_as("--tokens", "N", "training: tokens of the whole run, e.g. 15e12"),
    number("samples", 1.0, 1e18)
        .of(Kinds::network)
        .or_nothing("that no run is priced")
        .says("It is the number of samples of the whole run: it gives days, GPU-hours and dollars."),
    quantity<Seconds>("measured_time")
        .of(Kinds::network)
        .such_as("3 h")
        .or_nothing("that no run is held against the plan")
        .says("It is the time of the whole run as somebody measured it, evaluation and all: how many times that of the "
              "steps it is, is told.")
        .but("It needs samples."),
    number("target_utilisation", 0.01, 1.0)
        .of(Kinds::network)
        .or_nothing("that no verdict on it is given")
        .says("It is the share of the peak that the model's own FLOP should reach.")
        .but("The plan says whether they do and what binds; none is refused for it."),
    boolean("flash_attention")
        .of(Kinds::train)
        .blank_is("the software's: true but for `megatron-deepspeed` and `-zero3`")
        .says("It says that attention is fused and keeps no scores."),
    boolean("dropout")
        .of(Kinds::train)
        .blank_is("the software's: true for `megatron-core` with a plain MLP, else false")
        .says("It says that masks are kept after attention and MLP, and of the scores where they are not fused."),
    boolean("fused_loss")
        .of(Kinds::train)
        .blank_is("fused with `llm-foundry`, `megatron-bridge`, `-performance`, `trl` and `unsloth`, for adapters with "
                  "`torchtune`; else unfused, and the low end of the memory is with it fused")
        .says("It says that the cross-entropy is fused or taken in parts, and keeps no copies of all logits."),
    boolean("compile")
        .of(Kinds::train)
        .usually(MemoryOptions{}.compiled)
        .says("It says that the model is compiled: there are fewer copies of the logits where the software says so."),
    integer("vocab_multiple", 1, 65'536)
        .of(Kinds::train)
        .blank_is("the software's: 128 for those on Megatron-LM, else 1")
        .says("It says that tables of the vocabulary are padded to a multiple of this times tp.")
        .but("With 1 they are not, and the products of a vocabulary that 8 tp does not divide are slow."),
    boolean("overlap")
        .of(Kinds::train)
        .usually(MemoryOptions{}.overlapped)
        .says("It says that communication runs beside compute as far as the software can.")
        .but("Where it is false all data- and tensor-parallel traffic is exposed, that of async_tp included."),
    boolean("async_tp")
        .of(Kinds::train)
        .usually(MemoryOptions{}.async_tp)
        .says("It says that tensor-parallel collectives are cut up and run beside their products (Megatron-LM "
              "`--tp-comm-overlap`, torchtitan `enable_async_tensor_parallel`).")
        .but("The share that is hidden becomes `async_tp` of `physics.toml`."),
    choice("saved_activations", narrow_or_wide_names)
        .of(Kinds::train)
        .blank_is("the software's: of `megatron-core` and its kin fp8 for inputs of 8-bit products alone, else bf16")
        .says("It is the format that activations are kept in for the backward pass.")
        .but("fp8 is inputs of products and of the experts' activation in 1 byte and the attention's output in 1.5, as "
             "DeepSeek-V3 keeps them; it goes with a recipe of 8 bit or fewer only."),
    choice("dispatch", narrow_or_wide_names)
        .of(Kinds::train)
        .usually(0)
        .says("It is the format in which tokens, and gradients backward, go to their experts; results come back in 16 "
              "bit.")
        .but("fp8 counts a scale of 4 bytes each 128 elements. It goes with a model of experts only."),
    integer("dispatch_domains", 1, 100'000)
        .of(Kinds::train)
        .or_nothing("that a token's experts may lie in any")
        .says("It is the number of scale-up domains (hosts, of an NVL72 racks) that the experts of one token lie in at "
              "most: node-limited routing.")
        .but("It goes with a model of experts only."),
    integer("dispatch_sms", 1, 1024)
        .of(Kinds::train)
        .blank_is("as many as take `overlap_slowdown` of `physics.toml` from what runs beside exchanges")
        .says("It is the number of multiprocessors of a GPU that exchanges of experts keep: products and attention run "
              "on the others.")
        .but("It is below the SKU's own number, and goes with a model of experts only."),
    choice("dispatcher", expert_dispatcher_names)
        .of(Kinds::train)
        .blank_is("as the software's recipe for the SKU and precision, else as most published runs on such GPUs, else "
                  "alltoall")
        .says("It is what exchanges tokens with their experts: a collective with a copy for each expert of a token, or "
              "kernels that send a token to a rank once.")
        .but("It goes with a model of experts only."),
    choice("expert_launch", expert_launch_names)
        .of(Kinds::train)
        .blank_is("as the software's recipe for the SKU and precision, else as most published runs on such GPUs, else "
                  "eager; static-shapes with a capacity, partial-graphs with strategy.cuda_graphs")
        .says("It says how layers of experts are launched: kernel by kernel, kernel by kernel with shapes that are "
              "fixed, with graphs of what is before the experts, or as one graph of the step.")
        .but("Eager layers and partial graphs read back how many tokens each expert got. It goes with a model of "
             "experts only."),
    number("expert_capacity", 0.1, 64.0)
        .of(Kinds::train)
        .or_nothing("that experts compute the tokens that come")
        .says("It is the number of rows that every expert computes over their mean: what is more is dropped, what is "
              "less padded (Megatron-LM `--moe-expert-capacity-factor` with `--moe-pad-expert-input-to-capacity`).")
        .but("It goes with a model of experts only."),
    number("rank_capacity", 0.1, 64.0)
        .of(Kinds::train)
        .or_nothing("that buffers hold the tokens that come")
        .says("It is the number of rows that buffers of a rank's experts hold over their mean, for shapes that are "
              "fixed; nothing is dropped below it.")
        .but("It goes with a model of experts only."),
    integer("sync_every", 1, 1'000'000'000)
        .of(Kinds::train)
        .or_nothing("that the host runs ahead of the GPU")
        .says("It is the number of steps between two reads of the GPU by its host (`.item()`, `.cpu()`, a printed "
              "loss): each exposes the time that the host takes to send a step, as the term host_sync.")
        .but("An upper end: a host that sends a step in pieces lets the GPU begin with the first."),
    quantity<Seconds>("host_dispatch")
        .of(Kinds::train)
        .such_as("3.5 ms")
        .blank_is("the launches of a rank's layers, as the software's were fitted")
        .says("It is the time that the host takes to send one step.")
        .but("It goes with sync_every only."),
    number("rank_spread", 0.0, 1.0)
        .of(Kinds::train)
        .blank_is("stragglers as fitted to measured runs")
        .says("It is the standard deviation of the ranks' step time over its mean: a step waits for the slowest, the "
              "mean largest of so many normal numbers (`docs/train-model.md`).")
        .but("It stands in place of the fitted stragglers."),
    number("slow_rank", 0.0, 100.0)
        .of(Kinds::train)
        .or_nothing("that no rank is slower than the others by itself")
        .says("It is what one rank takes more than the others, as a share: 0.2 is 20 % slower, and so is the job."),
    choice("weight_average", weight_average_names)
        .of(Kinds::train)
        .usually(0)
        .says("It says where a moving average of the weights is kept: 4 bytes a parameter, shared as the optimizer's "
              "states are.")
        .but("Its update is taken to hide beside the steps."),
    texts("offload")
        .of(Kinds::train)
        .or_one_of(offload_names)
        .blank_is("nothing; with `megatron-deepspeed-zero3` and `unsloth` what full recomputation keeps")
        .says(
            "It lists what is kept in host memory: moments and master copy, saved layer inputs but for two layers, or "
            "the shard of all weights with their gradients and moments, which come layer by layer.")
        .but("Parameters need ZeRO 3; what lies on the host is updated there, which muon is not."),
    choice("offload_to", offload_target_names)
        .of(Kinds::train)
        .usually(0)
        .says("It says where offloaded bytes go.")
        .but("The host must have room; NVMe is not checked, and what it reads and writes in a step is told. It goes "
             "with offload only."),
    integer("base_batch", 1, 1'000'000'000)
        .of(Kinds::train)
        .or_nothing("that no advice is given")
        .says("It is the number of sequences of a step of the recipe that was tuned (`docs/advice.md`)."),
    number("base_learning_rate", 1e-12, 1e3)
        .of(Kinds::train)
        .or_nothing("that factors alone are told")
        .says("It is the learning rate of the recipe that was tuned.")
        .but("It goes with base_batch only."),
    number("critical_batch", 1.0, 1e12)
        .of(Kinds::train)
        .or_nothing("that it is not known")
        .says("It is the critical batch as measured, in sequences.")
        .but("It goes with base_batch only, and not with target_loss."),
    number("target_loss", 0.1, 20.0)
        .of(Kinds::train)
        .or_nothing("that it is not known")
        .says("It is the loss that the run is to reach, in nats a token.")
        .but("It goes with base_batch only, and not with critical_batch."),
    number("epoch_samples", 1.0, 1e18)
        .of(Kinds::train)
        .or_nothing("that no steps of warm-up are told")
        .says("It is the number of sequences of a pass over the data.")
        .but("It goes with base_batch only."),
    integers("elastic", 1, 10'000'000)
        .of(Kinds::train)
        .or_nothing("no other number of GPUs")
        .says("It lists numbers of GPUs to price with the global batch kept (`docs/advice.md`)."),
};
inline constexpr KeyTable training{"training", Kinds::training, training_rows};

inline constexpr std::array sweep_rows{
    integer("configurations", 1, 1'000'000'000)
        .needed()
        .says("It is the number of settings to try.")
        .but("It needs training.tokens."),
    integer("max_resource", 1, 1'000'000'000).needed().says("It is the number of units that a whole run is cut into."),
    integer("min_resource", 1, 1'000'000'000)
        .usually(1)
        .says("It is the least number of units of the first rung.")
        .but("It is at most max_resource."),
    integer("eta", 2, 1000).usually(3).says("It says of how many configurations one goes on."),
    integer("parallel", 1, 1'000'000)
        .usually(1)
        .says("It is the number of configurations at a time, each on all of hardware.gpus."),
    boolean("resume").usually(false).says("It says that those that go on do so from their checkpoint."),
};
inline constexpr KeyTable sweep{"sweep", Kinds::train, sweep_rows};

}  // namespace headroom::keys
