// SPDX-License-Identifier: Apache-2.0
// Keys of [traffic] and [slo].
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/scenarios/keys/bounds.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

namespace headroom::keys {

inline constexpr std::int64_t longest_request = 10'000'000;  ///< tokens

inline constexpr Key rate_row =
    quantity<Hertz>("rate")
        .above(0.0, ServingTraffic::most_rate.raw())
        .such_as("12 req/s")
        .says(
            "It is the mean number of requests a time, such as \"12 req/s\" or \"1e7 req/8h\"; a number without a unit "
            "is requests a second.")
        .typed_as("--rate", "RATE", "serving: requests that come, e.g. '12 req/s'; sizes a fleet");

/// Of a load of one class, and of each of several.
inline constexpr std::array load_rows{
    choice("arrivals", gap_shape_names).usually(0).says("It is the law of the gaps between requests."),
    number("cv", 0.01, 100.0)
        .or_nothing("that the gaps follow another law")
        .says("It is the standard deviation of the gaps over their mean: above 1 arrivals are bursty.")
        .but("It is required with arrivals gamma, and goes with it only."),
    number("shape", 0.1, 100.0)
        .or_nothing("that the gaps follow another law")
        .says("It is the shape of the law: 1 is Poisson, less is burstier.")
        .but("It is required with arrivals weibull, and goes with it only."),
    table("prompt")
        .or_nothing("that every prompt has serving.isl tokens")
        .says("It is the law of the prompts' lengths."),
    table("output")
        .or_nothing("that every answer has serving.osl tokens")
        .says("It is the law of the answers' lengths."),
    number("cached_share", 0.0, 1.0)
        .usually(0)
        .says("It is the share of each prompt that is found in a prefix cache.")
        .but("It goes without a table prefix only."),
    table("prefix").or_nothing("that prompts share nothing").says("It says which prompts begin alike."),
    integer("turns", 1, most_turns)
        .usually(1)
        .says("It is the number of requests of a session: the prompt of a turn holds all prompts and answers of the "
              "session before it, and the tokens of its own that isl, or the table prompt, gives.")
        .but("The rate stays that of requests, so that sessions begin at rate / turns. It goes without trace, "
             "cached_share and class.model. A session keeps to its replica, but behind routing shared-queue and "
             "prefix.")
        .typed_as("--turns", "N", "serving with --rate: requests of a session, each with all before it in its prompt"),
    quantity<Seconds>("think", Seconds{}, most_think)
        .usually(0)
        .such_as("5 s")
        .says("It is the mean pause, exponential, from the end of an answer to the next turn of its session: a person "
              "who reads, a tool that runs.")
        .but("It goes with turns above 1 only; left out beside them it is told.")
        .typed_as(
            "--think", "TIME", "serving with --turns: mean pause between an answer and the next turn, e.g. '5 s'"),
};

inline constexpr std::array own_traffic_rows{
    rate_row.or_nothing("the rate of the trace, or those of the classes")
        .but("It is required where there is neither trace nor class; of a trace it scales the gaps. In 60 days it must "
             "bring 100 requests."),
    text("trace")
        .or_nothing("that laws give times and lengths")
        .says("It is the path of a log of requests, relative to this file, which gives times and lengths (Azure, "
              "BurstGPT, Mooncake, or one's own; `docs/serving-simulation.md`)."),
    quantity<Seconds>("bin", shortest_span, longest_period)
        .such_as("5 min")
        .blank_is("with [fleet.autoscale] a minute at least, 50 requests on average, 1440 bins at most; else no curve")
        .says("It is the length of the equal parts of a trace whose rates are the load that replicas follow.")
        .but("It goes with trace only. A trace comes once: its curve does not repeat, and the fleet is sized for the "
             "bin of most requests."),
    table("over_time").blank_is("a rate that is constant").says("It says how the rate changes over time."),
    of_type("class", KeyType::tables)
        .or_nothing("one class")
        .says("It lists classes of requests with a rate, lengths, promises and a model of their own each."),
    table("retries").or_nothing("that nobody tries again").says("It says what clients do whose requests fail."),
    integer("requests", ServingTraffic::least_requests, 10'000'000)
        .blank_is("five minutes of the load, 20,000 to 200,000")
        .says("It is the number of requests that are simulated; the first tenth is not counted."),
    integer("seed", not_negative.low, not_negative.high).usually(1).says("It is the seed of arrivals and lengths."),
};

inline constexpr std::array own_class_rows{
    text("name").needed().says("It names the class in answers."),
    rate_row.needed(),
    table("slo").blank_is("the promises of [slo]").says("It promises times to the requests of the class."),
    text("model")
        .blank_is("the scenario's model")
        .says("It is the id of a preset or the path of a config.json: the model that these requests ask, on the same "
              "GPUs (`docs/fleet.md`).")
        .but("Every replica then holds all models, and their engines take turns on its GPUs; one class at least asks "
             "the scenario's, and classes that name the same share one engine. It goes without trace, pp above 1, "
             "[fleet.prefill], [fleet.autoscale] and routing shared-queue only."),
    choice("weights", served_weight_names)
        .blank_from(KeySource::checkpoint, "its checkpoint's own format, else that of serving.weights")
        .says("It is the format of that model's weights.")
        .but("It goes with model only."),
    choice("kv_cache", kv_cache_names)
        .blank_is("the format of serving.kv_cache")
        .says("It is the format of that model's KV cache.")
        .but("It goes with model only."),
    number("kv_share", 0.001, 0.999)
        .blank_is("a longest request each, the rest by requests/s x output tokens x bytes of a sequence, told")
        .says("It is that model's share of the KV cache that all engines leave on a GPU.")
        .but("It goes with model only; together such shares stay below 1."),
};

inline constexpr std::array traffic_rows = joined(own_traffic_rows, load_rows);
inline constexpr std::array class_rows = joined(own_class_rows, load_rows);

inline constexpr std::array length_rows{
    number("mean", 1.0, static_cast<double>(longest_request))
        .of_tokens()
        .needed()
        .says("It is the mean number of tokens."),
    choice("law", length_shape_names).usually(0).says("It is the law of the lengths."),
    number("cv", 0.0, 10.0)
        .or_nothing("that the lengths follow another law")
        .says("It is the standard deviation of the lengths over their mean.")
        .but("It is required with law lognormal, and goes with it only."),
    number("low", 0.0, 1.0)
        .or_nothing("that the lengths follow another law")
        .says("It is the least length over the mean: lengths reach from low to 2 - low times the mean.")
        .but("It is required with law uniform, and goes with it only."),
    integer("most", 1, longest_request)
        .of_tokens()
        .or_nothing("no bound of its own")
        .says("It is the greatest number of tokens.")
        .but("It is no less than the mean."),
};

inline constexpr std::array prefix_rows{
    integer("groups", 1, 1'000'000)
        .needed()
        .says("It is the number of groups of prompts that begin alike, such as those of a customer or a tool."),
    integer("tokens", SharedPrefixes::id_tokens, longest_request)
        .of_tokens()
        .needed()
        .says("It is the number of tokens that the prompts of a group begin with alike; they count in the length of a "
              "prompt, and a shorter prompt is all of them."),
    number("share", 0.0, 1.0).usually(1).says("It is the share of the requests that belong to a group."),
    number("zipf", 0.0, 10.0)
        .usually(0)
        .says("It says how uneven groups are asked: group k in proportion to k^-zipf; at 0 all are asked alike, which "
              "is told."),
};

inline constexpr std::array curve_rows{
    choice("shape", rate_curve_names).needed().says("It is the form in which the rate changes."),
    number("peak_over_mean", 1.0, 2.0)
        .or_nothing("another shape")
        .says("It is the highest rate of a day over the mean.")
        .but("It is required with shape diurnal, and goes with it only."),
    quantity<Seconds>("period", shortest_period, longest_period)
        .usually(86400.0)
        .blank_is("24 h of a day")
        .says("It is the time after which the rate repeats itself.")
        .but("It is required with shape bursts."),
    number("factor", 0.0, 1e4)
        .or_nothing("another shape")
        .says("It is the rate in a burst over the rate outside of it.")
        .but("It is required with shape bursts, and goes with it only."),
    quantity<Seconds>("length", shortest_span, longest_period)
        .or_nothing("another shape")
        .says("It is the length of a burst, shorter than the period.")
        .but("It is required with shape bursts, and goes with it only."),
};

inline constexpr std::array retry_rows{
    number("failure", 0.0, 0.99).needed().says("It is the chance that an attempt fails."),
    integer("attempts", 1, 1000)
        .or_nothing("that clients try until one succeeds")
        .says("It is the most attempts of a request."),
    quantity<Seconds>("backoff", Seconds{}, longest_span)
        .usually(0)
        .says("It is the wait before the second attempt; each further one doubles it.")
        .but("It is told as a mean wait and moves no arrival; rates of the answer are those of attempts."),
};

[[nodiscard]] constexpr Key promise(std::string_view path) {
  return quantity<Seconds>(path, shortest_span, longest_span).or_nothing("no such promise");
}
inline constexpr std::array promise_rows{
    promise("ttft_mean").says("It bounds the mean of the time to the first token."),
    promise("ttft_p50").says("It bounds the median of the time to the first token."),
    promise("ttft_p90").says("It bounds the 90th percentile of the time to the first token."),
    promise("ttft_p95").says("It bounds the 95th percentile of the time to the first token."),
    promise("ttft_p99").says("It bounds the 99th percentile of the time to the first token."),
    promise("tpot_mean").says("It bounds the mean of the time per output token."),
    promise("tpot_p50").says("It bounds the median of the time per output token."),
    promise("tpot_p90").says("It bounds the 90th percentile of the time per output token."),
    promise("tpot_p95").says("It bounds the 95th percentile of the time per output token."),
    promise("tpot_p99").says("It bounds the 99th percentile of the time per output token."),
    promise("e2e_mean").says("It bounds the mean of the time of a whole request."),
    promise("e2e_p50").says("It bounds the median of the time of a whole request."),
    promise("e2e_p90").says("It bounds the 90th percentile of the time of a whole request."),
    promise("e2e_p95").says("It bounds the 95th percentile of the time of a whole request."),
    promise("e2e_p99").says("It bounds the 99th percentile of the time of a whole request."),
};

inline constexpr KeyTable traffic{"traffic", Kinds::serve, traffic_rows};
inline constexpr KeyTable prompt{"traffic.prompt", Kinds::serve, length_rows};
inline constexpr KeyTable output{"traffic.output", Kinds::serve, length_rows};
inline constexpr KeyTable prefix{"traffic.prefix", Kinds::serve, prefix_rows};
inline constexpr KeyTable over_time{"traffic.over_time", Kinds::serve, curve_rows};
inline constexpr KeyTable retries{"traffic.retries", Kinds::serve, retry_rows};
inline constexpr KeyTable traffic_class{"traffic.class", Kinds::serve, class_rows};
inline constexpr KeyTable class_prompt{"traffic.class.prompt", Kinds::serve, length_rows};
inline constexpr KeyTable class_output{"traffic.class.output", Kinds::serve, length_rows};
inline constexpr KeyTable class_prefix{"traffic.class.prefix", Kinds::serve, prefix_rows};
inline constexpr KeyTable class_slo{"traffic.class.slo", Kinds::serve, promise_rows};
inline constexpr KeyTable slo{"slo", Kinds::serve, promise_rows};

}  // namespace headroom::keys
