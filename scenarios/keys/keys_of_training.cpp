// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

#include <array>

namespace headroom {
namespace {

using namespace rows;

constexpr std::array shared_rows{
    integer("global_batch", 1, 1'000'000'000)
        .needed()
        .says("It is the number of sequences, of a network of ops of samples, that an optimizer step takes."),
    choice("precision", training_precision_names)
        .needed()
        .says("It is the recipe of the matrix products.")
        .but("In fp32 and tf32 memory alone is answered."),
    choice("gradients", gradient_names)
        .blank_is("the software's; of a network of ops fp32, under ZeRO 3 as the weights")
        .says("It is the format of gradients: 4 or 2 bytes a parameter."),
    choice("optimizer", optimizer_names)
        .blank_is("the software's; of a network of ops adamw")
        .says("It is the optimizer, whose moments take 0 to 8 bytes a parameter."),
    text("software")
        .blank_is("torchtitan at ZeRO 3, else megatron-core-te; of a network of ops pytorch-fsdp")
        .says("It is the id of the training software: it decides what states, loss and buffers take and what "
              "overlaps."),
};

constexpr std::array model_rows{
    integer("seq_len", 1, 100'000'000)
        .blank_is("the tokens of an image, padded to the ranks that share it, where the model is a vision encoder")
        .says("It is the number of tokens of a sequence.")
        .but("Every other model needs it."),
    number("tokens", 1.0, 1e18)
        .blank_is("that no run is priced")
        .says("It is the number of tokens of the whole run: it gives days, GPU-hours and dollars."),
    choice("method", method_names).blank_is("full").says("It says what is trained: all weights, or adapters."),
    integer("lora_rank", 1, 65'536)
        .blank_is("16")
        .says("It is the rank of the adapters on every matrix.")
        .but("It goes with method lora or qlora only."),
    boolean("flash_attention")
        .blank_is("the software's: true but for megatron-deepspeed and megatron-deepspeed-zero3")
        .says("It says that attention is fused and keeps no scores."),
    boolean("dropout")
        .blank_is("the software's: true for megatron-core with a plain MLP, else false")
        .says("It says that masks are kept after attention and MLP, and of the scores where they are not fused."),
    boolean("fused_loss")
        .blank_is("the software's; where that is not fused, the low end of the memory is with a fused one")
        .says("It says that the cross-entropy is fused and keeps no copies of the logits."),
    boolean("compile").blank_is("false").says(
        "It says that the model is compiled: there are fewer copies of the logits where the software says so."),
    boolean("overlap").blank_is("true").says(
        "It says that communication runs beside compute as far as the software can."),
    boolean("async_tp")
        .blank_is("false")
        .says("It says that tensor-parallel collectives are cut up and run beside their products."),
    integer("vocab_multiple", 1, 65'536)
        .blank_is("1: tables stay as they are")
        .says("It says that tables of the vocabulary are padded to a multiple of this times tp."),
    texts("offload")
        .or_one_of(offload_names)
        .blank_is("nothing; with megatron-deepspeed-zero3 what full recomputation keeps")
        .says("It lists what is kept in host memory."),
    choice("offload_to", offload_target_names)
        .blank_is("host")
        .says("It says where offloaded bytes go: the host must have room, NVMe is not checked.")
        .but("It goes with offload only."),
    integer("base_batch", 1, 1'000'000'000)
        .blank_is("that no advice is given")
        .says("It is the number of sequences of a step of the recipe that was tuned."),
    number("base_learning_rate", 1e-12, 1e3)
        .blank_is("that factors alone are told")
        .says("It is the learning rate of the recipe that was tuned.")
        .but("It goes with base_batch only."),
    number("critical_batch", 1.0, 1e12)
        .blank_is("that it is not known")
        .says("It is the critical batch as measured, in sequences.")
        .but("It goes with base_batch only, and not with target_loss."),
    number("target_loss", 0.1, 20.0)
        .blank_is("that it is not known")
        .says("It is the loss that the run is to reach, in nats a token.")
        .but("It goes with base_batch only, and not with critical_batch."),
    number("epoch_samples", 1.0, 1e18)
        .blank_is("that no steps of warm-up are told")
        .says("It is the number of sequences of a pass over the data.")
        .but("It goes with base_batch only."),
    integers("elastic", 1, 10'000'000)
        .blank_is("no other number of GPUs")
        .says("It lists numbers of GPUs to price with the global batch kept."),
};

constexpr std::array network_rows{
    number("optimizer_bytes", 0.0, 64.0)
        .blank_is("what the optimizer takes")
        .says("It is the bytes of optimizer states a parameter, in place of an optimizer.")
        .but("It goes without optimizer only."),
    number("samples", 1.0, 1e18)
        .blank_is("that no run is priced")
        .says("It is the number of samples of the whole run: it gives days, GPU-hours and dollars."),
    number("target_utilisation", 0.01, 1.0)
        .blank_is("that no verdict on it is given")
        .says("It is the share of the peak that the model's own FLOP should reach."),
};

constexpr std::array sweep_rows{
    integer("configurations", 1, 1'000'000'000)
        .needed()
        .says("It is the number of settings to try.")
        .but("It needs training.tokens."),
    integer("max_resource", 1, 1'000'000'000).needed().says("It is the number of units that a whole run is cut into."),
    integer("min_resource", 1, 1'000'000'000)
        .blank_is("1")
        .says("It is the least number of units of the first rung.")
        .but("It is at most max_resource."),
    integer("eta", 2, 1000).blank_is("3").says("It says of how many configurations one goes on."),
    integer("parallel", 1, 1'000'000)
        .blank_is("1")
        .says("It is the number of configurations at a time, each on all of hardware.gpus."),
    boolean("resume").blank_is("false").says("It says that those that go on do so from their checkpoint."),
};

constexpr std::array data_rows{
    quantity<Bytes>("sample_bytes")
        .blank_is("that storage does not bind")
        .says("It is the size of a sample as it lies in storage, in bytes."),
    quantity<BytesPerSecond>("storage_bandwidth")
        .blank_is("that storage does not bind")
        .says("It is the rate at which one host reads from storage, in bytes per second.")
        .but("It needs sample_bytes."),
    quantity<Seconds>("cpu_time")
        .blank_is("that the cores do not bind")
        .says("It is the time of one core for a sample: to decode, augment and tokenise it.")
        .but("It needs workers."),
    integer("workers", 1, 100'000)
        .blank_is("that the cores do not bind")
        .says("It is the number of loader processes of a host that have a core each."),
    quantity<Bytes>("fed_bytes")
        .blank_is("that copies do not bind; of a network of ops its inputs")
        .says("It is the size of a sample as the GPU takes it over its link to the host, in bytes."),
    integer("prefetch", 0, 100'000)
        .blank_is("2")
        .says("It is the number of batches that are loaded ahead; at 0 every step waits for its own."),
    boolean("pinned").blank_is("true").says(
        "It says that memory is pinned: copies run beside compute; else they add to the step."),
};

constexpr std::array tables{
    KeyTable{"training", Kinds::training, shared_rows}, KeyTable{"training", Kinds::train, model_rows},
    KeyTable{"training", Kinds::network, network_rows}, KeyTable{"sweep", Kinds::train, sweep_rows},
    KeyTable{"data", Kinds::training, data_rows},
};

}  // namespace

std::span<const KeyTable> keys_of_training() noexcept {
  return tables;
}

}  // namespace headroom
