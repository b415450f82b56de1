// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

#include <array>

namespace headroom {
namespace {

using namespace rows;

constexpr std::span<const std::string_view> kinds{scenario_kind_names};

constexpr std::array root_rows{
    integer("schema", 1, 1).needed().says("It is the version of the form, 1."),
    choice("kind", kinds.first(answered_kinds))
        .of(Kinds::train | Kinds::serve)
        .needed()
        .says("It says what is asked: a training run, or serving an LLM."),
    choice("kind", kinds.first(1))
        .of(Kinds::network)
        .needed()
        .says("It says what is asked: a network of ops is answered for training."),
    text("name").blank_is("the file's name").says("It names the question in its answers."),
    text("base")
        .blank_is("that this file states everything")
        .says("It is the path of another scenario, relative to this file, which then states only what differs."),
    of_type("model", KeyType::model)
        .needed()
        .says("It is the id of a preset or of a network ('headroom catalog list models'), the path of a config.json, "
              "or a "
              "table that describes the model."),
    table("hardware").needed().says("It says what the GPUs are, how many there are, and which hosts hold them."),
    table("training").of(Kinds::training).needed().says("It says what a step of training takes."),
    table("serving").of(Kinds::serve).needed().says("It says what is served, in which formats, by which engine."),
    table("traffic")
        .of(Kinds::serve)
        .blank_is("the fixed load of serving.concurrency")
        .says("It describes requests that come when they come."),
    table("slo").of(Kinds::serve).blank_is("that nothing is promised").says("It promises times to the requests."),
    table("fleet")
        .of(Kinds::serve)
        .blank_is("the fewest replicas that keep the promises")
        .says("It says what the fleet is made of and how requests are routed."),
    table("strategy").blank_is("that every key of it is open").says("It says how the job is spread over the GPUs."),
    table("data")
        .of(Kinds::training)
        .blank_is("that data does not bind")
        .says("It says what a sample asks of the hosts that load it."),
    table("goodput")
        .of(Kinds::train)
        .blank_is("that no failures are counted")
        .says("It says what fails, what a checkpoint takes and when the run ends."),
    table("target")
        .of(Kinds::train)
        .blank_is("that training.tokens is stated")
        .says("It states the loss to reach, from which the tokens follow."),
    table("sweep")
        .of(Kinds::train)
        .blank_is("that no sweep is priced")
        .says("It describes a search over settings that is to be priced."),
    table("money").blank_is("that no dollars are printed").says("It says what the GPUs cost."),
    table("energy")
        .blank_is("the energy of the machines alone")
        .says("It says what the building and the electricity add."),
    table("search")
        .of(Kinds::train | Kinds::serve)
        .blank_is("one plan, as it is stated")
        .says("It frees axes that are then searched instead of stated."),
    table("objective")
        .of(Kinds::train)
        .blank_is("the shortest time")
        .says("It says what a search looks for and which limits a plan keeps."),
};

constexpr std::array tables{KeyTable{"", Kinds::all, root_rows}};

}  // namespace

std::span<const KeyTable> keys_of_root() noexcept {
  return tables;
}

}  // namespace headroom
