// SPDX-License-Identifier: Apache-2.0
// Keys of [serving] and the tables below it.
#pragma once

#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/serve/engine/weight_kernels.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/scenarios/keys/bounds.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

namespace headroom::keys {

inline constexpr std::int64_t most_served = 100'000'000;

inline constexpr std::array serving_rows{
    integer("isl", 1, most_served)
        .of(Kinds::serve)
        .of_tokens()
        .or_nothing("the lengths that [traffic] gives")
        .says("It is the number of tokens of a prompt.")
        .but("Without [traffic] it is required.")
        .typed_as("--isl", "TOKENS", "serving: input tokens; makes the quick form a serving question"),
    integer("isl", 1, most_served)
        .of(Kinds::token_job)
        .of_tokens()
        .needed()
        .says("It is the number of tokens of a prompt."),
    integer("osl", 1, most_served)
        .of(Kinds::serve)
        .of_tokens()
        .or_nothing("the lengths that [traffic] gives")
        .says("It is the number of tokens of an answer.")
        .but("Without [traffic] it is required.")
        .typed_as("--osl", "TOKENS", "serving: output tokens"),
    integer("osl", 1, most_served)
        .of(Kinds::token_job)
        .of_tokens()
        .needed()
        .says("It is the number of tokens of an answer."),
    integer("concurrency", 1, most_served)
        .of(Kinds::serve)
        .or_nothing("the load of [traffic]")
        .says("It is the number of requests in flight over all replicas.")
        .but("Without [traffic] it is required, with it it is refused.")
        .typed_as("--concurrency", "N", "serving: requests in flight"),
    integer("concurrency", 1, most_served)
        .of(Kinds::token_job)
        .blank_is("the one with the most records a second, of powers of two up to what surely runs at once and to "
                  "job.chunk")
        .says("It is the number of requests that one replica has in flight."),
    choice("weights", served_weight_names)
        .blank_from(KeySource::checkpoint,
                    "the checkpoint's own format (`[weights]` of a preset, `quantization_config` of a `config.json`), "
                    "else bf16; told")
        .says("It is the format of the weights of the matrix products; awq and gptq are int4.")
        .but("It is required where a checkpoint is quantised in a format that is none of these. Narrow formats whose "
             "rate the SKU lacks multiply in 16 bit (weight-only), which is told; bf16 has no time on a SKU that "
             "multiplies fp16 alone. With fp32 and tf32 memory alone is answered.")
        .typed_as("--weights", "NAME", "serving: format of the weights; default the checkpoint's own, else bf16"),
    choice("quantization", weight_kernel_names)
        .usually(static_cast<double>(WeightKernels::fused))
        .says(
            "It is the family of kernels that multiply int4 and int8 weights in 16 bit, vLLM's `--quantization`: gptq "
            "is ExLlama's, which read the weights again for each 8 rows and from 51 rows on (25 of int8) write them "
            "out in 16 bit first; auto is the engine's fastest, which unpack them on the way (Marlin).")
        .but("gptq goes with engine vllm and with int4 or int8 weights only, and not with experts."),
    choice("engine", engine_names)
        .usually(static_cast<double>(Engine::vllm))
        .says("It is the engine that divides the memory.")
        .typed_as("--engine", "NAME", "serving: vllm (default), tensorrt-llm or sglang"),
    text("engine_version")
        .blank_is("the current release")
        .says("It is the engine's release, such as \"0.11.0\": one whose habits differ is answered by its own stack "
              "and on the kernels that it had, which is told.")
        .but("Such are `vllm` before 0.8, `tensorrt-llm` before 0.20 with compiled engines and before 0.10 with one "
             "batch at a time, and experts in mxfp4 on Hopper before vLLM 0.11.1."),
    choice("kv_cache", kv_cache_names)
        .blank_is("fp8 for TensorRT-LLM with fp8, mxfp8, nvfp4 or mxfp4 weights, else bf16")
        .says("It is the format of the KV cache."),
    number("memory_fraction", 0.01, 1.0)
        .blank_is("the engine's default at that tp")
        .says("It is the share of the memory that the engine takes: of the device's total (vLLM), of what is free "
              "after loading (TensorRT-LLM) or before it (SGLang)."),
    integer("max_num_seqs", 1, most_served)
        .blank_is("the engine's default")
        .says("It is the number of sequences that run at once."),
    integer("max_num_tokens", 1, most_served)
        .of_tokens()
        .blank_is("the engine's default")
        .says("It is the number of tokens that are scheduled in one step."),
    integer("max_seq_len", 1, 1'000'000'000)
        .of_tokens()
        .blank_is("isl + osl; of [traffic] its longest request, up to the model's positions")
        .says("It is the number of tokens that a sequence may grow to.")
        .but("It is no less than isl + osl. Of [traffic] the share of requests that are longer is told: a server "
             "refuses them, plans count them like the others. The engine's own default is the model's positions: where "
             "the pool cannot hold one sequence of them, the option to launch with is told."),
    boolean("chunked_prefill")
        .blank_is("true; of TensorRT-LLM false unless a prompt is longer than a step")
        .says("It says that a prompt may take several steps.")
        .but("False needs max_num_tokens of isl or more."),
    choice("pool", serving_pool_names)
        .of(Kinds::serve)
        .usually(0)
        .says("It says which phases the replicas compute: of a disaggregated deployment a pool prefills prompts or "
              "decodes answers, at full load.")
        .but("It goes without [traffic] only, where [fleet.prefill] says it."),
    integer("redundant_experts", 0, 100'000)
        .usually(0)
        .says("It is the number of experts of a layer that are held beside one of each (SGLang "
              "`--ep-num-redundant-experts`, vLLM `num_redundant_experts`): experts and these divide by ep.")
        .but("It goes with ep above 1 only."),
    boolean("balanced_experts")
        .blank_is("true with attention-DP whose experts span hosts, over NVLink or NICs, told; else false")
        .says("It says that experts lie where their loads even out over the ranks (EPLB); else all wait for the "
              "hottest rank of a power law.")
        .but("It goes with ep above 1 only."),
    boolean("two_batch_overlap")
        .blank_is("true with attention-DP whose experts are met over NICs, told; else false")
        .says("It says that halves of the batch take turns: one's exchanges of experts run beside the other's compute "
              "(SGLang `--enable-two-batch-overlap`, vLLM `--enable-dbo`).")
        .but("It goes with attention-DP only: ep above tp."),
    number("range_ratio", 0.01, 1.0)
        .usually(1)
        .says("It says that lengths are drawn uniformly from this share of isl and osl to all of them, as "
              "`--random-range-ratio` of benchmark clients does.")
        .but("It goes without [traffic] only, whose tables say it."),
    integer("distinct_prompts", 1, most_served)
        .of(Kinds::serve)
        .or_nothing("that every prompt is new")
        .says("It is the number of different prompts that clients send: of ten requests for each in flight those "
              "beyond it come again, and their prompt is found in a prefix cache.")
        .but("It goes without [traffic] only, where [traffic.prefix] says it."),
    integer("stream_interval", 1, 1'000'000)
        .usually(1)
        .says("It is the number of tokens of a streamed piece of an answer (vLLM and SGLang `--stream-interval`, "
              "TensorRT-LLM `stream_interval`).")
        .but("It is at most osl, where that is stated."),
    integer("recv_interval", 1, 1'000'000)
        .usually(1)
        .says("It is the number of decode iterations between two looks for new requests (SGLang "
              "`--scheduler-recv-interval`).")
        .but("It goes with engine sglang and without [traffic] only."),
    integer("batch_wait", 0, 1'000'000)
        .usually(0)
        .says("It is the number of decode iterations that prompts wait for more of them (TensorRT-LLM "
              "`batch_wait_timeout_iters`).")
        .but("It goes with engine tensorrt-llm, batch_wait_share and without [traffic] only."),
    number("batch_wait_share", 0.0, 1.0)
        .usually(0)
        .says("It is the share of max_num_tokens from which prompts wait no longer (TensorRT-LLM "
              "`batch_wait_max_tokens_ratio`).")
        .but("It goes with batch_wait only."),
    integer("attention_dp_timeout", 0, 1'000'000)
        .usually(0)
        .says("It is the number of iterations after which prompts run although some rank of attention-DP has none; 0: "
              "they never wait for those of other ranks (TensorRT-LLM `attention_dp_config.timeout_iters`).")
        .but("It goes with engine tensorrt-llm and without [traffic] only."),
    integer("attention_dp_batching", 0, 1'000'000)
        .usually(0)
        .says("It is the number of iterations that prompts wait for more once every rank has one (TensorRT-LLM "
              "`attention_dp_config.batching_wait_iters`).")
        .but("It goes with attention_dp_timeout only."),
    integer("front_end_processes", 1, 4096)
        .usually(1)
        .says("It is the number of processes that write streamed pieces (vLLM `--api-server-count`, TensorRT-LLM "
              "`num_postprocess_workers`)."),
    table("speculative")
        .or_nothing("that nothing is drafted")
        .says("It says that drafted tokens are verified, several a step."),
    boolean("prefix_caching")
        .of(Kinds::serve)
        .usually(true)
        .says("It says that replicas keep what prompts share (`--enable-prefix-caching`); else every prompt is "
              "computed whole.")
        .but("It goes with [traffic] only."),
    choice("preemption_mode", preemption_names)
        .of(Kinds::serve)
        .usually(0)
        .says("It says what becomes of a sequence whose blocks are wanted: swap copies them to the host and back over "
              "the links of the replica's GPUs.")
        .but("It goes with [traffic] only."),
    table("kv_offload")
        .of(Kinds::serve)
        .or_nothing("that what the KV cache has no room for is gone")
        .says("It says where prefixes are kept that the KV cache has no room for.")
        .but("It goes with [traffic] only."),
};

inline constexpr std::array offload_rows{
    table("cpu").or_nothing("that there is no such tier").says("It is the host memory of each replica."),
    table("disk").or_nothing("that there is no such tier").says("It is the disk of each replica."),
    table("remote").or_nothing("that there is no such tier").says("It is the store that all replicas share."),
};

inline constexpr Key bandwidth_row = quantity<BytesPerSecond>("bandwidth", slowest_link, fastest_link)
                                         .says("It is the rate of a replica in one direction, in bytes per second.")
                                         .but("The cache of the longest prompt takes at most 30 days over it.");

inline constexpr std::array shared_tier_rows{
    quantity_or_zero<Bytes>("capacity").needed().says("It is the size of the tier, in bytes."),
    quantity<Seconds>("latency", Seconds{}, longest_span).usually(0).says("It is the latency of a load."),
};
inline constexpr std::array tier_rows = joined(shared_tier_rows, std::array{bandwidth_row.needed()});
inline constexpr std::array cpu_tier_rows =
    joined(shared_tier_rows, std::array{bandwidth_row.blank_is("the links of the replica's GPUs to their host, told")});

inline constexpr std::array speculative_rows{
    integer("draft", 1, 64)
        .needed()
        .says("It is the number of tokens that are drafted a step (`num_speculative_tokens` of vLLM): with one more of "
              "the model's own that is what a step verifies."),
    number("acceptance", 0.0, 1.0)
        .blank_is(
            "with eagle3 and mtp the mean of the published tables of the model, else of all models, told; else it "
            "is required")
        .says("It is the chance that a drafted token is accepted where all before it were: of the requests, as engines "
              "log it."),
    choice("method", speculation_method_names)
        .blank_is("draft_model where one is named")
        .says("It says who drafts, as vLLM's `speculative_config` spells it.")
        .but("With ngram drafts are looked up in the prompt and take no GPU time unless draft_time says otherwise; "
             "eagle "
             "and eagle3 draft by one layer of the served model's shape, which is priced unless draft_time is stated."),
    text("draft_model")
        .or_nothing("that no smaller network drafts")
        .says("It is the id of a preset or the path of a config.json: a smaller network of the same tokenizer, which "
              "is priced on the replica's GPUs.")
        .but("It takes as many decode iterations a step as tokens are drafted, one after the other, and every prompt "
             "once; its weights and cache leave the KV pool. It goes without draft_time and without pp above 1 only."),
    integer("draft_tp", 1, 4096)
        .blank_is("tp")
        .says("It is the number of tensor-parallel ranks of the draft.")
        .but("It is at most tp, and goes with draft_model, eagle and eagle3 only."),
    choice("draft_weights", served_weight_names)
        .blank_from(
            KeySource::checkpoint,
            "its checkpoint's own format, else that of weights, but bf16 for a dense draft of an mxfp4 model and "
            "for eagle and eagle3")
        .says("It is the format of the draft's weights; its cache is held as kv_cache says.")
        .but("It goes with draft_model, eagle and eagle3 only."),
    quantity<Seconds>("draft_time", shortest_span, longest_step)
        .blank_is("the time of draft_model or of the layer of eagle and eagle3, of ngram nothing; else it is required")
        .says("It is the time of all drafting of a step, whatever its batch, as measured: of heads (EAGLE, Medusa, "
              "MTP), or of an engine of one's own, whose memory is not counted.")
        .but("It goes without draft_model only."),
    boolean("overlap")
        .blank_is("false on sglang, told; no other engine is known to wait")
        .says(
            "It says whether the scheduler works beside drafts (`SGLANG_ENABLE_SPEC_V2=1`), so that no step waits for "
            "the host.")
        .but("It goes with engine sglang only."),
};

inline constexpr KeyTable serving{"serving", Kinds::served, serving_rows};
inline constexpr KeyTable speculative{"serving.speculative", Kinds::served, speculative_rows};
inline constexpr KeyTable kv_offload{"serving.kv_offload", Kinds::serve, offload_rows};
inline constexpr KeyTable cpu_tier{"serving.kv_offload.cpu", Kinds::serve, cpu_tier_rows};
inline constexpr KeyTable disk_tier{"serving.kv_offload.disk", Kinds::serve, tier_rows};
inline constexpr KeyTable remote_tier{"serving.kv_offload.remote", Kinds::serve, tier_rows};

}  // namespace headroom::keys
