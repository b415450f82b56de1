// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/wire/members.hpp>

#include <array>

namespace headroom {
namespace {

using V = WireVerb;
using T = WireType;

template <class... Verb>
constexpr std::uint32_t verbs_of(Verb... verb) {
  return ((std::uint32_t{1} << static_cast<unsigned>(verb)) | ...);
}
constexpr std::uint32_t of_one = verbs_of(V::plan, V::explain, V::search, V::simulate, V::scale);
constexpr std::uint32_t of_plans = verbs_of(V::plan, V::explain, V::search);
constexpr std::uint32_t of_all = of_one | verbs_of(V::compare);

constexpr std::array members{
    WireMember{
        "scenario", T::scenario, of_one, true,
        "It is the question: a scenario's tables as objects, its arrays of tables as lists of objects, its names "
        "and words as in TOML; names with dots stand for the tables that they name; or the text of a TOML file.",
        "{\"kind\": \"train\", \"model\": \"llama3-8b\", \"hardware\": {\"gpu\": \"h100-sxm-80gb\", \"gpus\": "
        "8}, \"training\": {\"seq_len\": 8192, \"global_batch\": 64}}"},
    WireMember{"scenarios", T::scenarios, verbs_of(V::compare), true,
               "They are held side by side, from 2 to 16; the first is what the others are compared with.", ""},
    WireMember{"set", T::object, of_all, false,
               "It lies over each scenario: an object whose names are those of keys, \"strategy.tp\" among them.",
               "{\"strategy.tp\": 8}"},
    WireMember{"config", T::config, of_one | verbs_of(V::import_config), false,
               "It is a config.json of Hugging Face, which describes the model in place of the scenario's 'model'.",
               ""},
    WireMember{"only", T::text, of_plans, false, "\"memory\" answers that part alone: no peak, rate or price needed.",
               "\"memory\""},
    WireMember{"without", T::texts, of_plans, false, "The terms that a training step is priced without.",
               "[\"bubble\"]"},
    WireMember{"rate", T::number_or_text, verbs_of(V::simulate), false,
               "It is the rate of the requests of all classes together; a number is in requests a second.",
               "\"12 req/s\""},
    WireMember{"from", T::integer, verbs_of(V::scale), false,
               "It is the first GPU count; the scenario's, halved as far as replicas allow, without it.", "8"},
    WireMember{"to", T::integer, verbs_of(V::scale), false,
               "Counts double up to it; eight times the scenario's without it.", "4096"},
    WireMember{"weak", T::boolean, verbs_of(V::scale), false, "Whether the global batch grows with the GPUs.", "true"},
    WireMember{"threshold", T::number, verbs_of(V::scale), false,
               "It is the marginal efficiency, 0 to 1, below which more GPUs are not worth it; 0.5 without it.", "0.5"},
    WireMember{"budget", T::quantity, verbs_of(V::scale), false,
               "It is money for the whole run or per hour: the most useful GPUs within it are told.", "\"1 M$\""},
    WireMember{"measured_speedup", T::number, verbs_of(V::scale), false,
               "It is a measured speed-up to be explained, in place of a series; it needs 'at'.", "3"},
    WireMember{"at", T::integer, verbs_of(V::scale), false, "It is the GPUs of the measured speed-up.", "8"},
    WireMember{"over", T::integer, verbs_of(V::scale), false,
               "It is the GPUs that a speed-up is measured against; 1 without it.", "1"},
    WireMember{"deadline", T::quantity, verbs_of(V::compare), false, "It is what the whole run of training may take.",
               "\"90 d\""},
    WireMember{"ttft", T::quantity, verbs_of(V::compare), false, "It is what the first token may take.", "\"500 ms\""},
    WireMember{"tpot", T::quantity, verbs_of(V::compare), false, "It is what each further token may take.",
               "\"50 ms\""},
    WireMember{"within", T::quantity, of_all, false,
               "It ends a search, a fleet's plan or a curve with what is found until then.", "\"2 s\""},
    WireMember{"format", T::format, of_all, false, "It is the format of the answer; json without it.", "\"json\""},
};

}  // namespace

std::span<const WireMember> wire_members() noexcept {
  return members;
}

}  // namespace headroom
