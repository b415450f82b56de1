// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/bounds.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

#include <array>

namespace headroom {
namespace {

using namespace rows;

constexpr std::int64_t most_tokens = 100'000'000;

constexpr std::array serving_rows{
    integer("isl", 1, most_tokens)
        .blank_is("the lengths that [traffic] gives")
        .says("It is the number of tokens of a prompt.")
        .but("Without [traffic] it is required."),
    integer("osl", 1, most_tokens)
        .blank_is("the lengths that [traffic] gives")
        .says("It is the number of tokens of an answer.")
        .but("Without [traffic] it is required."),
    integer("concurrency", 1, most_tokens)
        .blank_is("the load of [traffic]")
        .says("It is the number of requests in flight over all replicas.")
        .but("Without [traffic] it is required, with it it is refused."),
    choice("weights", served_weight_names)
        .blank_is("the checkpoint's own format where it is known, else bf16")
        .says("It is the format of the weights of the matrix products; awq and gptq are int4."),
    choice("engine", engine_names).blank_is("vllm").says("It is the engine that divides the memory."),
    text("engine_version")
        .blank_is("the current release")
        .says("It is the engine's release, such as \"0.11.0\": one whose habits differ is answered by its own stack."),
    choice("kv_cache", kv_cache_names)
        .blank_is("fp8 for TensorRT-LLM with fp8, mxfp8, nvfp4 or mxfp4 weights, else bf16")
        .says("It is the format of the KV cache."),
    number("memory_fraction", 0.01, 1.0)
        .blank_is("the engine's default at that tp")
        .says("It is the share of the memory that the engine takes: of the device's total (vLLM), of what is free "
              "after loading (TensorRT-LLM) or before it (SGLang)."),
    integer("max_num_seqs", 1, most_tokens)
        .blank_is("the engine's default")
        .says("It is the number of sequences that run at once."),
    integer("max_num_tokens", 1, most_tokens)
        .blank_is("the engine's default")
        .says("It is the number of tokens that are scheduled in one step."),
    integer("max_seq_len", 1, 1'000'000'000)
        .blank_is("isl + osl; of [traffic] its longest request, up to the model's positions")
        .says("It is the number of tokens that a sequence may grow to.")
        .but("It is no less than isl + osl."),
    boolean("chunked_prefill")
        .blank_is("true; of TensorRT-LLM false unless a prompt is longer than a step")
        .says("It says that a prompt may take several steps.")
        .but("False needs max_num_tokens of isl or more."),
    table("speculative")
        .blank_is("that nothing is drafted")
        .says("It says that drafted tokens are verified, several a step."),
    boolean("prefix_caching")
        .blank_is("true")
        .says("It says that replicas keep what prompts share.")
        .but("It goes with [traffic] only."),
    choice("preemption_mode", preemption_names)
        .blank_is("recompute")
        .says("It says what becomes of a sequence whose blocks are wanted: swap copies them to the host and back.")
        .but("It goes with [traffic] only."),
    table("kv_offload")
        .blank_is("that what the KV cache has no room for is gone")
        .says("It says where prefixes are kept that the KV cache has no room for.")
        .but("It goes with [traffic] only."),
};

constexpr std::array offload_rows{
    table("cpu").blank_is("that there is no such tier").says("It is the host memory of each replica."),
    table("disk").blank_is("that there is no such tier").says("It is the disk of each replica."),
    table("remote").blank_is("that there is no such tier").says("It is the store that all replicas share."),
};

constexpr Key bandwidth = quantity<BytesPerSecond>("bandwidth", slowest_link, fastest_link)
                              .says("It is the rate of a replica in one direction, in bytes per second.");

constexpr std::array tier_rows{
    quantity_or_zero<Bytes>("capacity").needed().says("It is the size of the tier, in bytes."),
    quantity<Seconds>("latency", Seconds{}, longest_span).blank_is("0 s").says("It is the latency of a load."),
};
constexpr std::array linked_rows{bandwidth.needed()};
constexpr std::array hosted_rows{bandwidth.blank_is("the links of the replica's GPUs to their host")};

constexpr std::array speculative_rows{
    integer("draft", 1, 64).needed().says("It is the number of tokens that are drafted a step."),
    number("acceptance", 0.0, 1.0)
        .needed()
        .says("It is the chance that a drafted token is accepted where all before it were."),
    choice("method", speculation_method_names)
        .blank_is("draft_model where one is named")
        .says("It says who drafts, as vLLM's speculative_config spells it."),
    text("draft_model")
        .blank_is("that no smaller network drafts")
        .says("It is the id of a preset or the path of a config.json: a smaller network of the same tokenizer, which "
              "is priced on the replica's GPUs.")
        .but("It goes without draft_time only."),
    integer("draft_tp", 1, 4096)
        .blank_is("tp")
        .says("It is the number of tensor-parallel ranks of the draft.")
        .but("It is at most tp, and goes with draft_model only."),
    choice("draft_weights", served_weight_names)
        .blank_is("the format of weights, but bf16 for a dense draft of an mxfp4 model")
        .says("It is the format of the draft's weights.")
        .but("It goes with draft_model only."),
    quantity<Seconds>("draft_time", shortest_span, longest_step)
        .blank_is("the time of draft_model; of ngram nothing")
        .says("It is the time of all drafting of a step, as measured.")
        .but("It goes without draft_model only."),
};

constexpr std::array tables{
    KeyTable{"serving", Kinds::serve, serving_rows},
    KeyTable{"serving.speculative", Kinds::serve, speculative_rows},
    KeyTable{"serving.kv_offload", Kinds::serve, offload_rows},
    KeyTable{"serving.kv_offload.cpu", Kinds::serve, tier_rows},
    KeyTable{"serving.kv_offload.cpu", Kinds::serve, hosted_rows},
    KeyTable{"serving.kv_offload.disk", Kinds::serve, tier_rows},
    KeyTable{"serving.kv_offload.disk", Kinds::serve, linked_rows},
    KeyTable{"serving.kv_offload.remote", Kinds::serve, tier_rows},
    KeyTable{"serving.kv_offload.remote", Kinds::serve, linked_rows},
};

}  // namespace

std::span<const KeyTable> keys_of_serving() noexcept {
  return tables;
}

}  // namespace headroom
