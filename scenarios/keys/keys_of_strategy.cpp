// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/strategy/strategy.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

#include <array>

namespace headroom {
namespace {

using namespace rows;

constexpr Key ranks(std::string_view path) {
  return integer(path, 1, 4096).blank_is("1");
}

constexpr std::array shared_rows{
    integer("dp", 1, 10'000'000)
        .blank_is("what the GPUs and the other ranks leave")
        .says("It is the number of replicas.")
        .but("Replicas of all their ranks are all of hardware.gpus."),
};

constexpr std::array rank_rows{
    ranks("tp").says("It is the number of tensor-parallel ranks."),
    ranks("pp").says("It is the number of pipeline stages."),
};

constexpr std::array training_rows{
    integer("zero", 0, 3)
        .blank_is("the software's, 3 or 1; of a network of ops 1")
        .says("It is the ZeRO stage: 0 shards nothing, 1 the optimizer's states, 2 gradients too, 3 weights too."),
    integer("micro_batch", 1, 60'000)
        .blank_is("the fastest that is legal and fits; of a network of ops the largest")
        .says("It is the number of sequences, of a network of ops of samples, of a pass."),
};

constexpr std::array model_rows{
    ranks("cp").says("It is the number of context-parallel ranks."),
    integer("vpp", 1, 1024)
        .blank_is("1")
        .says("It is the number of model chunks of a stage: above 1 the schedule is interleaved.")
        .but("Above 1 it goes with schedule 1f1b only."),
    ranks("ep").says("It is the number of expert-parallel ranks."),
    integer("etp", 1, 4096)
        .blank_is("the software's: tp or 1")
        .says("It is the number of ranks that share the width of an expert."),
    integer("shard_ranks", 1, 65'535)
        .blank_is("all data- and context-parallel ranks")
        .says("It is the number of ranks that share the sharded states (HSDP)."),
    choice("recompute", recompute_names)
        .blank_is("the fastest that fits")
        .says("It says what the backward pass computes again."),
    integer("recompute_block", 1, 255)
        .blank_is("1")
        .says("It is the number of layers between two kept inputs.")
        .but("Above 1 it goes with recompute full only."),
    boolean("sequence_parallel")
        .blank_is("true where tp is above 1, but for megatron-deepspeed and megatron-deepspeed-zero3")
        .says("It says that tensor ranks share the sequence outside of attention and MLP."),
    choice("schedule", schedule_names)
        .blank_is("1f1b")
        .says("It is the order of the passes: it decides micro-batches in flight and the bubble."),
    integer("first_stage_layers", 1, 255)
        .blank_is("as the software splits")
        .says("It is the number of layers of the first stage.")
        .but("It goes with schedule 1f1b and gpipe only."),
    integer("last_stage_layers", 1, 255)
        .blank_is("as the software splits")
        .says("It is the number of layers of the last stage.")
        .but("It goes with schedule 1f1b and gpipe only."),
    text("order")
        .or_one_of(rank_order_names)
        .blank_is("tp-cp-dp-pp")
        .says("It says which axis neighbouring GPUs belong to, from the inside outward; ep may have its place in it."),
    choice("cp_form", cp_form_names)
        .blank_is("the software's; where nobody says which, a gather's bytes with the published share hidden")
        .says("It says how context ranks meet each other's keys and values."),
    boolean("cuda_graphs")
        .blank_is("false")
        .says("It says that layers are launched as graphs, whose static buffers are not in the memory."),
    boolean("overlap_experts")
        .blank_is("true with schedule dualpipe and ep above 1, else false")
        .says("It says that exchanges of one micro-batch's experts run beside the compute of another's.")
        .but("It goes with a model of experts only."),
};

constexpr std::array network_rows{
    choice("recompute", segment_recompute_names)
        .blank_is("none where it fits, else full")
        .says("It says what the backward pass computes again: with full every block is a segment."),
    integer("recompute_every", 1, 1'048'576)
        .blank_is("1 with recompute full or recompute_parts")
        .says("It is the number of blocks of a segment."),
    texts("recompute_parts").blank_is("all parts").says("It lists the parts whose blocks alone are recomputed."),
};

constexpr std::array serving_rows{
    ranks("ep").says(
        "It is the number of groups that experts are dealt to: up to tp within the tensor ranks; n tp is data-parallel "
        "attention over n groups."),
};

constexpr std::array tables{
    KeyTable{"strategy", Kinds::all, shared_rows},        KeyTable{"strategy", Kinds::train | Kinds::serve, rank_rows},
    KeyTable{"strategy", Kinds::training, training_rows}, KeyTable{"strategy", Kinds::train, model_rows},
    KeyTable{"strategy", Kinds::network, network_rows},   KeyTable{"strategy", Kinds::serve, serving_rows},
};

}  // namespace

std::span<const KeyTable> keys_of_strategy() noexcept {
  return tables;
}

}  // namespace headroom
