// SPDX-License-Identifier: Apache-2.0
// Keys of [search] and [objective].
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/strategy/strategy.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

namespace headroom::keys {

inline constexpr std::string_view stated_elsewhere = "the value that the scenario states or leaves open";

inline constexpr std::array<std::string_view, 1> any_name{"any"};

[[nodiscard]] constexpr Key freed(const Key& axis, std::string_view sentence) {
  return axis.or_nothing(stated_elsewhere).says(sentence);
}
[[nodiscard]] constexpr Key searched_ranks(std::string_view path, std::string_view sentence) {
  return freed(number_axis(path, 1, 4096).or_any(), sentence);
}

/// Axes that a training question and a fleet both have.
inline constexpr std::array shared_search_rows{
    searched_ranks("tp", "It frees the tensor-parallel ranks."),
    searched_ranks("pp", "It frees the pipeline stages."),
    searched_ranks("ep", "It frees the expert-parallel ranks."),
    freed(text_axis("gpu").or_any(), "It frees the SKU, by ids or aliases of the catalog."),
    freed(text_axis("market", market_names).or_any(), "It frees the market of the offer."),
};

inline constexpr std::array own_training_search_rows{
    choice("strategy", any_name)
        .or_nothing("that each axis is freed by a key of its own")
        .says("It frees every axis of [strategy] that the scenario does not state, but for cuda_graphs."),
    freed(number_axis("vpp", 1, 1024).or_any(), "It frees the model chunks of a stage."),
    searched_ranks("cp", "It frees the context-parallel ranks."),
    searched_ranks("etp", "It frees the ranks that share the width of an expert."),
    freed(number_axis("micro_batch", 1, 60'000).or_any(), "It frees the sequences of a pass."),
    freed(number_axis("recompute_block", 1, 255).or_any(), "It frees the layers between two kept inputs."),
    freed(number_axis("shard_ranks", 0, 65'535).or_any(),
          "It frees the ranks that share the sharded states; 0 is all of them."),
    freed(number_axis("zero", 0, 3).or_any(), "It frees the ZeRO stage."),
    freed(text_axis("recompute", recompute_names).or_any(), "It frees what the backward pass computes again."),
    freed(text_axis("schedule", schedule_names).or_any(), "It frees the order of the passes."),
    freed(text_axis("cp_form", cp_form_names).or_any(), "It frees how context ranks meet each other's keys."),
    freed(text_axis("order", rank_order_names).or_any(), "It frees the order in which ranks fill hosts."),
    freed(boolean_axis("sequence_parallel").or_any(), "It frees sequence parallelism."),
    freed(boolean_axis("overlap_experts").or_any(), "It frees the overlap of the exchanges of experts."),
    freed(boolean_axis("cuda_graphs").or_any(), "It frees whether layers are launched as graphs."),
    freed(text_axis("model"), "It frees the model, by ids of presets."),
    freed(text_axis("node").or_any(), "It frees the node, by ids of the catalog."),
    freed(text_axis("cluster"), "It frees the cluster, by ids of the catalog."),
    freed(number_axis("gpus", 1, 1'000'000'000).or_any(), "It frees the number of GPUs.")
        .but("With \"any\" it needs objective.gpus_on_hand."),
    freed(text_axis("prices").or_any(), "It frees the price list, by ids of the catalog."),
    freed(text_axis("region", region_names).or_any(), "It frees the region of the offer."),
    freed(quantity_axis<Watts>("power_cap"), "It frees the power cap of a GPU, in watts."),
    freed(text_axis("software").or_any(), "It frees the training software, by ids."),
    freed(text_axis("precision", training_precision_names).or_any(), "It frees the recipe of the matrix products."),
    freed(text_axis("offload", offload_axis_names).or_any(), "It frees what is kept in host memory."),
    freed(text_axis("optimizer", optimizer_names), "It frees the optimizer."),
    freed(number_axis("global_batch", 1, 1'000'000'000), "It frees the sequences of an optimizer step."),
    freed(boolean_axis("overlap").or_any(), "It frees whether communication runs beside compute."),
    freed(boolean_axis("async_tp").or_any(), "It frees whether tensor-parallel collectives are cut up."),
    freed(boolean_axis("compile").or_any(), "It frees whether the model is compiled."),
};

inline constexpr std::array own_fleet_search_rows{
    choice("strategy", any_name)
        .or_nothing("that each axis is freed by a key of its own")
        .says("It frees tp, pp and, of a model with experts, ep where the scenario does not state them."),
    freed(text_axis("engine", engine_names).or_any(), "It frees the engine."),
    freed(text_axis("weights", served_weight_names).or_any(), "It frees the format of the weights."),
    freed(text_axis("kv_cache", kv_cache_names).or_any(), "It frees the format of the KV cache."),
    freed(text_axis("node"), "It frees the node, by ids of the catalog."),
    freed(quantity_axis<Watts>("power_cap"), "It frees the power cap of a GPU, in watts."),
    freed(text_axis("prices"), "It frees the price list, by ids of the catalog."),
    freed(text_axis("region", region_names), "It frees the region of the offer."),
    freed(number_axis("max_num_seqs", 1, 100'000'000), "It frees the sequences that run at once."),
    freed(number_axis("max_num_tokens", 1, 100'000'000), "It frees the tokens that are scheduled in one step."),
    freed(boolean_axis("chunked_prefill").or_any(), "It frees whether a prompt may take several steps."),
    freed(number_list("memory_fraction", 0.01, 1.0), "It frees the share of the memory that the engine takes."),
};

inline constexpr std::array own_box_search_rows{
    freed(number_axis("concurrency", 1, 100'000'000),
          "It gives the requests in flight of a fixed load, each of which is answered.")
        .but("It goes without [traffic] only."),
};

inline constexpr std::array batch_search_rows{
    freed(text_axis("gpu"), "It frees the SKU: ids or aliases of the catalog, or \"any\" for all of it."),
    freed(text_axis("engine"), "It frees what runs the network, by ids of model/stacks/infer."),
    freed(text_axis("precision", precision_names), "It frees the format of products."),
    freed(number_axis("instances", 1, 64), "It frees the copies of the network on a GPU."),
    of_type("offer", KeyType::tables)
        .or_nothing("the prices of [money]")
        .says("It lists what a GPU of each SKU costs."),
};
inline constexpr std::array search_offer_rows{
    text("gpu").needed().says("It is the id or an alias of a SKU."),
    quantity<DollarsPerSecond>("price").such_as("0.35 $/h").needed().says("It is the price of one GPU."),
    of_type("date", KeyType::month)
        .blank_is("that of [money]")
        .says("It is the month or the day when the price was true."),
};

inline constexpr std::array search_rows = joined(own_training_search_rows, shared_search_rows);
inline constexpr std::array fleet_search_rows =
    joined(joined(shared_search_rows, own_fleet_search_rows), own_box_search_rows);

inline constexpr std::array objective_rows{
    choice("minimize", goal_names)
        .blank_is("time with training.tokens, else step-time")
        .says("It is the goal, of which less is better.")
        .but("Of plans that are equal in it the better has less time, then money, then a shorter step, then less "
             "memory; "
             "within simplicity the plainer is taken (`docs/search.md`). Goal time needs training.tokens, goal cost a "
             "price."),
    texts("pareto")
        .or_one_of(goal_names)
        .blank_is("goals by what is searched")
        .says("It lists the coordinates of the trade-offs, four at most."),
    integer("plans", 1, 50).usually(5).says("It is the length of the list of the best plans."),
    percentage("simplicity", 100.0)
        .usually(5)
        .says("It is what a plan of fewer kinds of parallelism may give away of goal, time and money each."),
    percentage("memory_margin", 90.0).usually(0).says("It is the share of the device's memory that is kept free."),
    of_type("deadline", KeyType::deadline)
        .or_nothing("no deadline")
        .says("It is the time of the whole run, or the day on which it must have ended.")
        .but("It needs training.tokens, a day also start."),
    of_type("start", KeyType::date)
        .blank_is("the day of goodput.start")
        .says("It is the day on which the run begins.")
        .but("It goes with a day as deadline only."),
    quantity<Dollars>("budget")
        .or_nothing("no budget")
        .says("It is the most that the whole run may cost, in dollars.")
        .but("It needs training.tokens and a price."),
    integer("gpus_on_hand", 1, 10'000'000)
        .or_nothing("no limit")
        .says("It is the number of GPUs that no plan may exceed."),
};

inline constexpr KeyTable search_of_training{"search", Kinds::train, search_rows};
inline constexpr KeyTable search_of_fleets{"search", Kinds::serve, fleet_search_rows};
inline constexpr KeyTable search_of_batch{"search", Kinds::batch, batch_search_rows};
inline constexpr KeyTable search_offer{"search.offer", Kinds::batch, search_offer_rows};
inline constexpr KeyTable objective{"objective", Kinds::train, objective_rows};

}  // namespace headroom::keys
