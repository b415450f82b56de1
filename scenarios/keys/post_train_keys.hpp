// SPDX-License-Identifier: Apache-2.0
// Keys of [post_train], [pools] and [[stage]]: a step of post-training, where its phases run, and stages that balance.
#pragma once

#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

namespace headroom::keys {

inline constexpr std::array<std::string_view, 6> algorithm_words{"sft", "dpo", "ppo", "grpo", "dapo", "rloo"};
inline constexpr std::array<std::string_view, 4> placement_words{"any", "colocated", "split", "hybrid"};
inline constexpr std::array<std::string_view, 4> order_words{"any", "synchronous", "one-step-off", "asynchronous"};
inline constexpr std::array<std::string_view, 7> sync_words{"local", "broadcast", "sharded", "delta",
                                                            "host",  "gloo",      "storage"};
inline constexpr std::array<std::string_view, 3> rollout_precision_words{"bf16", "fp16", "fp8"};

inline constexpr std::array post_train_rows{
    choice("algorithm", algorithm_words)
        .usually(3)
        .says("It is the algorithm: supervised fine-tuning, preferences, or reinforcement with or without a critic."),
    text("software").usually_named("any").says("It is the software ('headroom catalog list stacks')."),
    text("backend")
        .blank_is("the software's usual one")
        .says("It is the software's trainer, such as fsdp or megatron."),
    text("engine").blank_is("the software's").says("It is the engine of the rollout, such as vllm or sglang."),
    integer("prompts", 1, 10'000'000).needed().says("It is the number of prompts of a step, or of sequences of SFT."),
    integer("samples", 1, 100'000).usually(1).says("It is the number of answers sampled of a prompt."),
    number("prompt_tokens", 0.0, 1e7).usually(256).says("It is the mean length of a prompt."),
    number("answer_tokens", 1.0, 1e7)
        .blank_is("what publications print of the model")
        .says("It is the mean length of an answer, cut ones among them."),
    number("answer_most", 1.0, 1e7)
        .blank_is("4096, or four mean answers where that is more")
        .says("It is the length at which answers are cut."),
    number("answer_spread", 0.0, 5.0)
        .usually(0.8)
        .says("It is the standard deviation of an answer's length over its mean if none were cut."),
    integer("mini_batch", 1, 1'000'000'000)
        .blank_is("all sequences of the step")
        .says("It is the number of sequences of an optimizer step."),
    boolean("reference")
        .blank_is("as the algorithm has one")
        .says("It says that a frozen policy passes over the answers."),
    boolean("old_logprobs").usually(1).says("It says that the trainer passes over the answers before it trains."),
    boolean("lora").usually(0).says("It says that adapters of rank 16 are trained."),
    text("reward_model").or_nothing("that a rule or a verifier judges").says("It is the id of the model that judges."),
    text("critic_model").blank_is("as large as the policy").says("It is the id of the critic's model."),
    text("precision").usually_named("bf16").says("It is the format of the trainer's products."),
    choice("rollout_precision", rollout_precision_words).usually(0).says("It is the format of the engines' weights."),
    text("recompute")
        .blank_is("the fastest that fits")
        .says("It is what the trainer recomputes: none, selective or full."),
    number("oversampling", 1.0, 20.0).usually(1).says("It is the number of prompts sampled for one that trains."),
    quantity_or_zero<Seconds>("reward_time").usually(0).says("It is what judging takes of a step behind the rollout."),
    quantity_or_zero<Seconds>("turn_time")
        .usually(0)
        .says("It is what an answer waits for tools and environment in all."),
    number("step_tokens", 1.0, 32.0)
        .usually(1)
        .says("It is the number of tokens of an answer an iteration, with drafts."),
    number("steps", 1.0, 1e9).or_nothing("that a run is not asked").says("It is the number of steps of the run."),
    number("demand", 1.0, 1e18)
        .or_nothing("that rates alone are asked")
        .says("It is the number of units that [[stage]] tables are to do in all."),
};
inline constexpr std::array pools_rows{
    choice("placement", placement_words).usually(0).says("It says whether rollouts and training share their GPUs."),
    choice("order", order_words).usually(0).says("It says what waits for what."),
    number("staleness", 0.0, 1000.0)
        .usually(0)
        .says("It is the age in steps that a sample may have at most; asynchronous orders alone have one."),
    boolean("partial").usually(0).says("It says that answers under way outlast new weights."),
    number("parts", 1.0, 1e6)
        .usually(1)
        .says("It is the number of parts in which an asynchronous trainer takes a step's batch as it comes."),
    choice("sync", sync_words).blank_is("the software's").says("It is how new weights reach the engines."),
    integer("rollout_gpus", 1, 10'000'000).blank_is("searched").says("It is the number of GPUs that sample alone."),
    integer("rollout_tp", 1, 4096).blank_is("searched").says("It is the number of tensor-parallel ranks of an engine."),
    integer("tp", 1, 4096).blank_is("searched").says("It is the number of tensor-parallel ranks of the trainer."),
    integer("pp", 1, 4096).blank_is("searched").says("It is the number of pipeline stages of the trainer."),
    integer("cp", 1, 4096).blank_is("searched").says("It is the number of context-parallel ranks of the trainer."),
    integer("ep", 1, 4096)
        .blank_is("searched")
        .says("It is the number of groups that the trainer's experts are dealt to."),
    number("memory_fraction", 0.01, 1.0).blank_is("the software's").says("It is the engines' share of a GPU's memory."),
    integer("max_num_seqs", 1, 1'000'000)
        .usually(1024)
        .says("It is the number of answers of an engine under way at most."),
    text("rollout_gpu").blank_is("that of [hardware]").says("It is the SKU of the rollout pool, where it is another."),
    integer("rollout_gpu_count", 1, 10'000'000)
        .or_nothing("that both pools are of [hardware]")
        .says("It is the number of GPUs of that SKU."),
};
inline constexpr std::array stage_rows{
    text("name").needed().says("It names the stage, such as simulate, render, train or evaluate."),
    number("rate", 1e-9, 1e15).needed().says("It is what one GPU does of the stage, in units a second."),
    number("units", 1e-9, 1e9).usually(1).says("It is the number of units of this stage for one of the flow."),
    number("demand", 0.0, 1e18).usually(0).says("It is what the stage has to reach, in units a second."),
    integer("gpus", 1, 10'000'000).blank_is("as balance asks").says("It is the number of GPUs that it has."),
};
inline constexpr KeyTable post_train{"post_train", Kinds::post_train, post_train_rows};
inline constexpr KeyTable pools{"pools", Kinds::post_train, pools_rows};
inline constexpr KeyTable stage{"stage", Kinds::post_train, stage_rows};

}  // namespace headroom::keys
