// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/stubs/call_options.hpp>

#include <algorithm>
#include <array>

namespace headroom::python {
namespace {

constexpr std::array names{
    CallName{
        Calls::plan, "plan",
        "It answers a question about a GPU workload: memory, time, money. A list of values for a key that takes one "
        "makes several questions, which are answered side by side.",
        "plan"},
    CallName{
        Calls::search, "search",
        "It searches the best plan: of the axes that `search` or a [search] table frees, else of the whole strategy.",
        "search"},
    CallName{Calls::simulate, "simulate", "It simulates requests as they come on the fleet that a scenario states.",
             "simulate"},
    CallName{Calls::scale, "scale", "It answers a training plan at a series of GPU counts.", "scale"},
    CallName{Calls::compare, "compare",
             "It holds plans or fleets side by side; the first one is what the others are compared with.", "compare"},
};

constexpr std::string_view time_type = "str | float";
constexpr std::string_view files_type = "str | PathLike[str] | Sequence[str | PathLike[str]]";

constexpr std::array options{
    CallOption{"search", Calls::answering, "str | Sequence[str] | Mapping[str, Any]",
               "axes to free: \"any\" for the whole strategy, \"tp=any\", a list of these, or a table of [search]"},
    CallOption{"objective", Calls::answering, "str | Mapping[str, Any]",
               "what a search minimises: step-time, time, cost, energy, gpu-hours, gpus or memory; or a table of "
               "[objective]"},
    CallOption{
        "ttft", Calls::answering, "str",
        "time to the first token that is promised, such as \"500 ms\": of a fixed load the mean, of traffic 95 of "
        "100 requests"},
    CallOption{
        "tpot", Calls::answering, "str",
        "time of each further token that is promised, such as \"30 ms\": of a fixed load the mean, of traffic 95 of "
        "100 requests"},
    CallOption{"deadline", Calls::answering, "str", "time that the whole run of a training may take, such as \"60 d\""},
    CallOption{"explain", Calls::planning, "bool", "whether every term has its formula and inputs; default False"},
    CallOption{"only", Calls::planning, "Literal[\"memory\"]",
               "the part that is answered: memory needs no peak, no rate and no price; default all"},
    CallOption{"without", Calls::planning, "str | Sequence[str]",
               "terms of a training step that are left out, such as \"bubble\""},
    CallOption{
        "runs", Calls::planning, files_type,
        "files of measured runs of yours, rows as CSV or of a server its client's result, which move a plan's numbers"},
    CallOption{"engine_log", Calls::planning, "str | PathLike[str]",
               "start-up log of the serving engine, whose KV cache the plan takes"},
    CallOption{"checkpoint", Calls::planning, "str | PathLike[str]",
               "file in which a search keeps what it found; it goes on from there"},
    CallOption{"rate", Calls::simulate, time_type,
               "requests per second of all classes together, as a number or \"12 req/s\"; default traffic.rate"},
    CallOption{"requests", Calls::simulate, "int", "requests to simulate; default traffic.requests"},
    CallOption{"seed", Calls::simulate, "int", "another draw of the same traffic; default traffic.seed"},
    CallOption{"replicas", Calls::simulate, "int", "replicas of the fleet; default fleet.replicas"},
    CallOption{"from_", Calls::scale, "int",
               "first number of GPUs; default the scenario's, halved as far as replicas stay whole"},
    CallOption{"to", Calls::scale, "int", "largest number of GPUs; default eight times the scenario's"},
    CallOption{"weak", Calls::scale, "bool", "whether the global batch grows with the GPUs; default False: it stays"},
    CallOption{"threshold", Calls::scale, "float",
               "marginal efficiency, 0 to 1, below which more GPUs are not worth it; default 0.5"},
    CallOption{"budget", Calls::scale, "str",
               "money, \"1 M$\" for the whole run or \"500 $/h\", for the most useful GPUs"},
    CallOption{"measured_speedup", Calls::scale, "float", "a measured speed-up to be explained; needs `at`"},
    CallOption{"at", Calls::scale, "int", "GPUs of the measured speed-up"},
    CallOption{"over", Calls::scale, "int", "GPUs that the speed-up is measured against; default 1"},
    CallOption{"threads", Calls::all, "int",
               "threads, 1 to 1024; the answer does not depend on them; default as many as the machine has"},
    CallOption{
        "within", Calls::all, time_type,
        "time, in seconds or such as \"2 s\", after which a search, a fleet or a curve answers with what it found"},
    CallOption{"library", Calls::all, "Library",
               "data that the question is answered with; default those of the environment"},
};

}  // namespace

std::span<const CallName> call_names() noexcept {
  return names;
}

Calls call_named(std::string_view name) noexcept {
  const auto found = std::find_if(names.begin(), names.end(), [&](const CallName& one) { return one.name == name; });
  return found == names.end() ? Calls::none : found->call;
}

std::span<const CallOption> call_options() noexcept {
  return options;
}

bool is_call_option(std::string_view name, Calls calls) noexcept {
  return std::any_of(options.begin(), options.end(),
                     [&](const CallOption& option) { return option.name == name && meet(option.calls, calls); });
}

}  // namespace headroom::python
