// SPDX-License-Identifier: Apache-2.0
// Keys of [strategy].
#pragma once

#include <headroom/model/train/strategy/strategy.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

namespace headroom::keys {

[[nodiscard]] constexpr Key rank_row(std::string_view path, std::uint16_t usual) {
  return integer(path, 1, 4096).usually(usual);
}
inline constexpr Key experts_row = rank_row("ep", Strategy{}.ep)
                                       .says("It is the number of expert-parallel ranks.")
                                       .typed_as("--ep", "N", "expert parallel ranks");
/// Of a replica that works on a job.
[[nodiscard]] constexpr Key job_rank_row(std::string_view path) {
  return integer(path, 1, 4096)
      .of(Kinds::token_job)
      .blank_is("where none of tp, pp and ep is stated the layout with the most records a second per GPU; else 1");
}
inline constexpr Key end_stage_row =
    integer("", 1, 255)
        .blank_is("as the software splits")
        .but("It goes with schedule 1f1b, gpipe and dualpipe only; the other stages share the rest evenly.");
[[nodiscard]] constexpr Key end_stage(std::string_view path) {
  Key key = end_stage_row;
  key.path = path;
  return key;
}

inline constexpr std::array strategy_rows{
    rank_row("tp", Strategy{}.tp)
        .of(Kinds::train | Kinds::serve)
        .says("It is the number of tensor-parallel ranks.")
        .typed_as("--tp", "N", "tensor parallel ranks"),
    rank_row("pp", Strategy{}.pp)
        .of(Kinds::train | Kinds::serve)
        .says("It is the number of pipeline stages.")
        .typed_as("--pp", "N", "pipeline stages"),
    job_rank_row("tp").says("It is the number of tensor-parallel ranks of a replica."),
    job_rank_row("pp").says("It is the number of pipeline stages of a replica."),
    integer("vpp", 1, 1024)
        .of(Kinds::train)
        .usually(Strategy{}.vpp)
        .says("It is the number of model chunks of a stage: above 1 the schedule is interleaved.")
        .but("Above 1 it goes with schedule 1f1b only.")
        .typed_as("--vpp", "N", "model chunks per pipeline stage"),
    rank_row("cp", Strategy{}.cp)
        .of(Kinds::train)
        .says("It is the number of context-parallel ranks.")
        .typed_as("--cp", "N", "context parallel ranks"),
    experts_row.of(Kinds::train),
    experts_row.of(Kinds::serve)
        .says("It is the number of groups that experts are dealt to: up to tp within the tensor ranks; n tp is "
              "data-parallel attention over n groups of tp ranks (attention-DP)."),
    job_rank_row("ep").says("It is the number of groups that a replica's experts are dealt to."),
    integer("etp", 1, 4096)
        .of(Kinds::train)
        .blank_is("of a model with experts the software's: tp; 1 with `deepspeed`, `megatron-deepspeed`, `-zero3`, "
                  "`megatron-bridge` and `-performance`; with `torchtitan` and its kin tp while ep is 1, else 1")
        .says("It is the number of ranks that share the width of an expert."),
    integer("dp", 1, 10'000'000)
        .of(Kinds::placed)
        .blank_is("what the GPUs and the other ranks leave")
        .says("It is the number of replicas.")
        .but("Replicas of all their ranks are all of hardware.gpus.")
        .typed_as("--dp", "N", "data parallel replicas; default gpus / (tp pp cp)"),
    integer("zero", 0, 3)
        .of(Kinds::train)
        .blank_is("the software's: 3 with `torchtitan` and its kin, `torchtune` and `megatron-deepspeed-zero3`, 0 with "
                  "`trl` and its kin, else 1")
        .says(
            "It is the ZeRO stage: 0 shards nothing, 1 the optimizer's states, 2 gradients too, 3 weights too (FSDP).")
        .typed_as("--zero", "STAGE", "ZeRO stage 0 to 3; 3 is fully sharded (FSDP); default 1"),
    integer("zero", 0, 3)
        .of(Kinds::network)
        .usually(1)
        .says("It is the ZeRO stage: 0 shards nothing, 1 the optimizer's states, 2 gradients too, 3 weights too.")
        .typed_as("--zero", "STAGE", "ZeRO stage 0 to 3; 3 is fully sharded (FSDP); default 1"),
    integer("shard_ranks", 1, 65'535)
        .of(Kinds::train)
        .blank_is("all data- and context-parallel ranks")
        .says("It is the number of ranks that share the sharded states (HSDP)."),
    integer("micro_batch", 1, 60'000)
        .of(Kinds::train)
        .blank_is("the fastest of 1, 2, 4, 8, of an encoder up to 512, that is legal and fits at the upper end, else "
                  "the least memory")
        .says("It is the number of sequences of a pass.")
        .typed_as("--micro-batch", "N", "sequences per micro-batch; default the fastest that fits"),
    integer("micro_batch", 1, 60'000)
        .of(Kinds::network)
        .blank_is("the largest up to 1024 that divides and fits, else 1")
        .says("It is the number of samples of a pass.")
        .typed_as("--micro-batch", "N", "sequences per micro-batch; default the fastest that fits"),
    choice("recompute", recompute_names)
        .of(Kinds::train)
        .blank_is("the fastest that fits at the upper end, else the least memory")
        .says("It says what the backward pass computes again; selective is as the software does it.")
        .typed_as("--recompute", "none|selective|full", "recomputation; default the fastest that fits"),
    choice("recompute", segment_recompute_names)
        .of(Kinds::network)
        .blank_is("none where it fits, else full")
        .says("It says what the backward pass computes again: with full every block is a segment.")
        .but("None goes without recompute_every and recompute_parts only.")
        .typed_as("--recompute", "none|selective|full", "recomputation; default the fastest that fits"),
    texts("recompute_parts")
        .of(Kinds::train)
        .or_one_of(recompute_part_names)
        .blank_is("what the software's selective recomputation is")
        .says("It lists the parts of a layer that run again, in Megatron-Core's words (`--recompute-modules`): the "
              "attention, norms, up-projections of latents with their rotary embedding, the activation in experts.")
        .but("It goes with recompute selective only."),
    integer("recompute_every", 1, 1'048'576)
        .of(Kinds::network)
        .blank_is("1 with recompute full or recompute_parts")
        .says("It is the number of blocks of a segment."),
    texts("recompute_parts")
        .of(Kinds::network)
        .blank_is("all parts")
        .says("It lists the parts whose blocks alone are recomputed."),
    integer("recompute_block", 1, 255)
        .of(Kinds::train)
        .usually(Strategy{}.recompute_block)
        .says("It is the number of layers between two kept inputs, at most those that run in a row.")
        .but("Above 1 it goes with recompute full only."),
    boolean("sequence_parallel")
        .of(Kinds::train)
        .blank_is("true where tp is above 1, but for `megatron-deepspeed` and `-zero3`")
        .says("It says that tensor ranks share the sequence outside of attention and MLP."),
    choice("schedule", schedule_names)
        .of(Kinds::train)
        .usually(static_cast<double>(Strategy{}.schedule))
        .says("It is the order of the passes: it decides micro-batches in flight and the bubble."),
    end_stage("first_stage_layers")
        .of(Kinds::train)
        .says("It is the number of layers of the first stage, so that the embedding need not bind."),
    end_stage("last_stage_layers")
        .of(Kinds::train)
        .says("It is the number of layers of the last stage, so that the head need not bind."),
    choice("cp_form", cp_form_names)
        .of(Kinds::train)
        .blank_is("the software's: ulysses with `deepspeed`; else a gather's bytes with the published share hidden")
        .says("It says how context ranks meet each other's keys and values (`docs/train-model.md`).")
        .but("With ulysses key-value heads fewer than tp cp are copied to each rank that needs them."),
    text("order")
        .of(Kinds::train)
        .or_one_of(rank_order_names)
        .usually(static_cast<double>(Strategy{}.order))
        .says("It says which axis neighbouring GPUs belong to, from the inside outward: the first is Megatron-LM's, "
              "the second its `--use-tp-pp-dp-mapping`.")
        .but("It may also be spelled as `fabric show --strategy` does, with the place of ep (`docs/train-model.md`)."),
    boolean("cuda_graphs")
        .of(Kinds::train)
        .usually(Strategy{}.cuda_graphs)
        .says("It says that layers are launched as graphs: the host's time nearly vanishes.")
        .but("The graphs' static buffers are not known and not in the memory."),
    boolean("overlap_experts")
        .of(Kinds::train)
        .blank_is("true with ep above 1 under schedule dualpipe and where the software's recipe for the job overlaps, "
                  "else false")
        .says("It says that exchanges of one micro-batch's experts run beside the compute of another's.")
        .but("It goes with a model of experts only."),
    integer("local_batch", 1, 60'000)
        .of(Kinds::train)
        .blank_is("all sequences of a replica")
        .says("It is the number of sequences that a replica's pipeline works off before it flushes, as where torch's "
              "pipelines accumulate gradients (torchtitan and NeMo AutoModel call it local_batch_size).")
        .but("It holds whole micro-batches, divides a replica's part of the batch, and means nothing with pp 1."),
};
inline constexpr KeyTable strategy{"strategy", Kinds::placed | Kinds::token_job, strategy_rows};

}  // namespace headroom::keys
