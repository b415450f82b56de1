// SPDX-License-Identifier: Apache-2.0
// Keys at the root of a scenario, and its tables.
#pragma once

#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

namespace headroom::keys {

inline constexpr std::array root_rows{
    integer("schema", 1, 1).needed().says("It is the version of the form, 1."),
    choice("kind", std::span{scenario_kind_names}.first(2))
        .of(Kinds::train | Kinds::serve)
        .needed()
        .says("It says what is asked: a training run, or serving an LLM."),
    choice("kind", std::span{scenario_kind_names}.first(1))
        .of(Kinds::network)
        .needed()
        .says("It says what is asked: a network of ops is answered for training."),
    choice("kind", std::span{scenario_kind_names}.subspan(2, 1))
        .of(Kinds::batches)
        .needed()
        .says("It says what is asked: calls of a network, for requests, clients or a job, or a job of a language "
              "model."),
    choice("kind", std::span{scenario_kind_names}.subspan(3, 1))
        .of(Kinds::sharing)
        .needed()
        .says("It says what is asked: several tenants on one card."),
    choice("kind", std::span{scenario_kind_names}.subspan(4, 1))
        .of(Kinds::cluster)
        .needed()
        .says("It says what is asked: jobs of tenants on a cluster of unlike pools."),
    choice("kind", std::span{scenario_kind_names}.subspan(5, 1))
        .of(Kinds::classic)
        .needed()
        .says("It says what is asked: an algorithm of classic machine learning, on GPUs and on cores."),
    choice("kind", std::span{scenario_kind_names}.subspan(6, 1))
        .of(Kinds::post_train)
        .needed()
        .says("It says what is asked: a step of post-training, from rollouts to new weights, or stages that feed each "
              "other."),
    number("confidence", 0.5, 0.999)
        .of(Kinds::train | Kinds::serve | Kinds::batches)
        .usually(0.8)
        .says("It is the probability with which what is recommended keeps promises, deadline and budget.")
        .but("The memory of a GPU is kept with 0.9, whatever is stated.")
        .refused_as("it is a probability from 0.5, the middle of every interval, to 0.999; 0.8 is usual")
        .typed_as("--confidence", "P", "probability with which promises, deadline and budget are kept; default 0.8"),
    text("name").blank_is("the file's name").says("It names the question in its answers."),
    text("base")
        .or_nothing("that this file states everything")
        .says("It is the path of another scenario, relative to this file, which then states only what differs."),
    of_type("model", KeyType::model)
        .of(Kinds::batch)
        .or_nothing("that [[inference.call]] states all that is known")
        .says(
            "It is the id of a network ('headroom catalog list networks'), the path of a TOML file of ops, or a table "
            "of ops.")
        .typed_as("--model", "ID", "model preset, network, or the path of a config.json"),
    of_type("model", KeyType::model)
        .of(Kinds::placed | Kinds::token_job)
        .needed()
        .says("It is the id of a preset or of a network ('headroom catalog list models'), the path of a config.json, "
              "or a table that describes the model.")
        .typed_as("--model", "ID", "model preset, network, or the path of a config.json"),
    of_type("model", KeyType::model)
        .of(Kinds::post_train)
        .blank_is("required, but of [[stage]] tables")
        .says("It is the id of the policy's preset ('headroom catalog list models').")
        .typed_as("--model", "ID", "model preset, network, or the path of a config.json"),
    texts("sizes")
        .of(Kinds::network | Kinds::batch)
        .or_nothing("those of the network's file")
        .says(
            "It lists values of sizes that the network names, such as \"tokens=128\" ('headroom catalog show networks "
            "ID')."),
    table("hardware")
        .of(Kinds::all)
        .needed()
        .says("It says what the GPUs are, how many there are, and which hosts hold them."),
    table("training").of(Kinds::training).needed().says("It says what a step of training takes."),
    table("serving").of(Kinds::served).needed().says("It says what is served, in which formats, by which engine."),
    table("traffic")
        .of(Kinds::serve)
        .or_nothing("the fixed load of serving.concurrency")
        .says("It describes requests that come when they come."),
    table("slo").of(Kinds::serve).or_nothing("that nothing is promised").says("It promises times to the requests."),
    table("fleet")
        .of(Kinds::serve)
        .blank_is("the fewest replicas that keep the promises")
        .says("It says what the fleet is made of and how requests are routed."),
    table("inference").of(Kinds::batch).blank_is("every key's default").says("It says how the network is called."),
    table("requests")
        .of(Kinds::batch)
        .or_nothing("that none come one by one")
        .says("It describes requests that come one by one, and what is promised to them."),
    table("clients")
        .of(Kinds::batch)
        .or_nothing("that none wait in a loop")
        .says("It describes clients that each ask again once answered."),
    table("job")
        .of(Kinds::batch)
        .or_nothing("that no records lie there")
        .says("It describes records that must be done, by when and for how much."),
    table("job")
        .of(Kinds::token_job)
        .needed()
        .says("It describes prompts that must be answered, by when and for how "
              "much."),
    of_type("pool", KeyType::tables)
        .of(Kinds::cluster)
        .needed()
        .says("It lists the pools of the cluster, each GPUs of one SKU."),
    of_type("tenant", KeyType::tables)
        .of(Kinds::cluster)
        .blank_is("one tenant, whose jobs all are")
        .says("It lists who shares the cluster."),
    of_type("job", KeyType::tables).of(Kinds::cluster).needed().says("It lists what is to run on the cluster."),
    table("policy").of(Kinds::cluster).blank_is("fair shares").says("It says who goes before whom."),
    of_type("rollout", KeyType::tables)
        .of(Kinds::cluster)
        .or_nothing("that no service changes its version")
        .says("It lists services that are replaced by a new version."),
    table("strategy")
        .of(Kinds::placed | Kinds::token_job)
        .blank_is("that every key of it is open")
        .says("It says how the job is spread over the GPUs."),
    table("data")
        .of(Kinds::training | Kinds::batch)
        .or_nothing("that data does not bind")
        .says("It says what a sample asks of the hosts that load it."),
    table("goodput")
        .of(Kinds::train)
        .or_nothing("that no failures are counted, which the plan says")
        .says("It says what fails, what a checkpoint takes and when the run ends.")
        .but("What failures are, what is left of a run and how sure its end is: `docs/goodput.md`."),
    table("target")
        .of(Kinds::train)
        .or_nothing("that training.tokens is stated")
        .says("It states the loss to reach, from which the tokens follow."),
    table("sweep")
        .of(Kinds::train)
        .or_nothing("that no sweep is priced")
        .says("It describes a search over settings that is to be priced."),
    table("sharing").of(Kinds::sharing).blank_is("every key's default").says("It says how tenants share the card."),
    of_type("tenant", KeyType::tables).of(Kinds::sharing).needed().says("It lists who shares the card."),
    table("host").of(Kinds::classic).blank_is("every key's default").says("It says what stands beside the GPUs."),
    table("trees").of(Kinds::classic).or_nothing("another algorithm").says("It asks about gradient boosted trees."),
    table("kmeans").of(Kinds::classic).or_nothing("another algorithm").says("It asks about k-means."),
    table("vectors").of(Kinds::classic).or_nothing("another algorithm").says("It asks about a search of vectors."),
    table("selection")
        .of(Kinds::classic)
        .or_nothing("another algorithm")
        .says("It asks about the largest of items that stream by."),
    table("grouping")
        .of(Kinds::classic)
        .or_nothing("another algorithm")
        .says("It asks about sums by key, over one host or many."),
    table("recommender")
        .of(Kinds::classic)
        .or_nothing("another algorithm")
        .says("It asks about a recommender of embedding tables."),
    table("video")
        .of(Kinds::classic)
        .or_nothing("another algorithm")
        .says("It asks about streams of video: decoded, computed and encoded."),
    table("simulator")
        .of(Kinds::classic)
        .or_nothing("another algorithm")
        .says("It asks about environments of a simulator that step together."),
    table("control")
        .of(Kinds::classic)
        .or_nothing("another algorithm")
        .says("It asks about a policy of vision, language and action in a control loop."),
    table("units")
        .of(Kinds::classic)
        .or_nothing("that no rate is to be reached")
        .says("It asks how many units reach a rate, and what they cost over years."),
    table("post_train")
        .of(Kinds::post_train)
        .blank_is("required, but of [[stage]] tables")
        .says("It says what a step samples, judges and trains."),
    table("pools")
        .of(Kinds::post_train)
        .blank_is("every key open")
        .says("It says which GPUs sample, which train, and what waits for what."),
    of_type("stage", KeyType::tables)
        .of(Kinds::post_train)
        .or_nothing("that a step of post-training is asked")
        .says("It lists stages that feed each other, such as simulate, render, train and evaluate, whose rates are to "
              "balance."),
    table("money").of(Kinds::all).or_nothing("that no dollars are printed").says("It says what the GPUs cost."),
    table("energy")
        .of(Kinds::modelled | Kinds::post_train)
        .or_nothing("the energy of the machines alone")
        .says("It says what the building and the electricity add."),
    table("search")
        .of(Kinds::train | Kinds::serve | Kinds::batch)
        .or_nothing("one plan, as it is stated")
        .says("It frees axes that are then searched instead of stated."),
    table("objective")
        .of(Kinds::train)
        .blank_is("the shortest time")
        .says("It says what a search looks for and which limits a plan keeps."),
};
inline constexpr KeyTable root{"", every_kind, root_rows};

}  // namespace headroom::keys
