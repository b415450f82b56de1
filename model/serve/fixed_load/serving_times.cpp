// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/estimate/number_format.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/serve/fixed_load/serving_times.hpp>
#include <headroom/model/serve/fixed_load/serving_use.hpp>
#include <headroom/model/serve/replica/drafting.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>
#include <headroom/model/serve/replica/replica_formats.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>

namespace headroom {
namespace {

struct TermText {
  std::string_view formula, reference;
};
constexpr std::array<TermText, iteration_term_count> term_texts{
    TermText{"sum of GEMMs (m, n / tp, k)", "docs/op-model.md; Hong and Kung 1981"},
    TermText{"two grouped GEMMs over the experts met", "docs/op-model.md"},
    TermText{"keys and values read, one query a sequence", "Dao et al. 2023, Flash-Decoding"},
    TermText{"tiles of queries over blocks of keys", "Dao 2023, FlashAttention-2"},
    TermText{"2 a layer of 2 m h bytes", "docs/collectives.md; Shoeybi et al. 2019, section 3"},
    TermText{"all-gather of tokens, reduce-scatter of results", "docs/collectives.md"},
    TermText{"2 norms with residuals, activation", "bytes over the measured bandwidth"},
    TermText{"h V / tp, gather, 2 passes over logits", ""},
    TermText{"(pp - 1) (2 m h / link + 10 us)", ""},
    TermText{"layers layer + launches of experts and indexers, with prompts what prompt kernels x prompt_launch and "
             "layers launched by Triton exceed kernels by",
             "fitted; docs/serve-model.md"},
    TermText{"step + sequence (decodes + chunks)", "fitted; docs/serve-model.md"},
    TermText{"chunked scans of prompts", "docs/op-model.md, Scans; Dao and Gu 2024, section 6"},
};

/// The time to first token as a sum, in the order in which a request meets its parts.
void record_first_token(const ServingTimes& times,
                        const ServingStack& engine,
                        const SteadyLoad& load,
                        ExplainRecorder& r) {
  const FirstToken& first = times.state.first;
  const double host = times.prompt[IterationTerm::host] + times.prompt[IterationTerm::gaps];
  const double share = times.prompt.total() > 0.0 ? host / times.prompt.total() : 0.0;
  const auto line = [&](std::string_view name, std::string_view formula, std::string_view reference, double seconds,
                        std::initializer_list<ExplainInput> inputs) {
    if (seconds > 0.0) {
      r.line("ttft: " + std::string{name}, formula, reference, seconds, Shown::seconds, inputs);
    }
  };
  line("client", "first burst: burst (c - 1) / 2 prefills / waves", "docs/serve-model.md", first.client.raw(),
       {{"burst", engine.time.burst, Shown::count, engine.time.source},
        {"waves", load.waves, Shown::count, "requests sent for each in flight"}});
  line("front end", "request + isl tokenise + texts and pieces that one process takes later than they come",
       "docs/serve-model.md", first.front_end.raw(),
       {{"request", engine.time.request.raw(), Shown::seconds, engine.time.source},
        {"isl", load.isl, Shown::count, "tokens of a prompt, on the mean"},
        {"tokenise", engine.time.tokenise.raw(), Shown::seconds, engine.time.source},
        {"piece", engine.time.piece.raw(), Shown::seconds, engine.time.source},
        {"stream_interval", load.client.stream_interval, Shown::count, "tokens of a piece"}});
  line("queue", "(steps + (recv_interval - 1) / 2 + wait for more) T + prompts ahead + a place",
       "docs/serve-model.md; Kleinrock 1975, section 5.6", first.queue.raw(),
       {{"steps", engine.time.steps, Shown::count, engine.time.source},
        {"recv_interval", load.client.recv_interval, Shown::count, "iterations between two looks for requests"},
        {"T", times.state.decode_step.raw(), Shown::seconds, "an iteration of decodes"}});
  line("host", "share of launches and host in the prompt's own iterations", "docs/serve-model.md",
       share * first.own.raw(), {{"share", share, Shown::fraction, "of a prompt iteration"}});
  line("kernels", "the rest of the prompt's own iterations", "docs/serve-model.md", (1.0 - share) * first.own.raw(),
       {{"tokens", std::min(load.isl, load.chunk), Shown::count, "of an iteration"}});
  line("rank wait", "prompts of other attention groups in these iterations", "docs/serve-model.md",
       first.rank_wait.raw(), {{"groups", load.groups, Shown::count, "scenario"}});
  line("launched behind",
       "the prompts that follow, launched before tokens are handed out: an iteration for those it follows",
       "docs/serve-model.md", first.behind.raw(),
       {{"T_mixed", times.state.mixed_step.raw(), Shown::seconds, "one iteration"}});
  line("first response", "(stream_interval - 1) tpot where a first piece has to be full", "docs/serve-model.md",
       first.response.raw(), {{"stream_interval", load.client.stream_interval, Shown::count, "tokens of a piece"}});
  r.line("ttft", "client + front end + queue + host + kernels + rank wait + launched behind + first response",
         "docs/serve-model.md", times.state.ttft.raw(), Shown::seconds,
         {{"found", load.found, Shown::fraction, "of the prompts in a prefix cache"}});
}

void record(const ServingTimes& times,
            const IterationMix& decode,
            const ServingStack& engine,
            const SteadyLoad& load,
            ExplainRecorder& r) {
  for (std::size_t i = 0; i < iteration_term_count; ++i) {
    if (times.decode.seconds[i] > 0.0) {
      r.line("decode: " + std::string{iteration_term_names[i]}, term_texts[i].formula, term_texts[i].reference,
             times.decode.seconds[i], Shown::seconds,
             {{"b", decode.decodes, Shown::count, "sequences that decode together"},
              {"keys", decode.keys, Shown::count, "isl + osl / 2"}});
    }
  }
  const auto launches = [&](std::string_view of, std::string_view formula, Seconds seconds) {
    if (seconds > Seconds{}) {
      r.line("decode: of the launch gaps, " + std::string{of}, formula, "fitted; docs/serve-model.md", seconds.raw(),
             Shown::seconds, {{"layer", engine.time.layer.raw(), Shown::seconds, engine.time.source}});
    }
  };
  launches("experts",
           times.launches.own_experts ? "expert layers mxfp4_unpacked, or mxfp4_native"
                                      : "expert layers expert_layer, beside those of the measured kernels",
           times.launches.experts);
  launches("sparse indexers", "layers with an indexer x indexer", times.launches.indexers);
  if (times.decode_drafting.raw() > 0.0) {
    r.line("decode: drafting", "draft iterations of the draft model, or as stated",
           "Leviathan et al. 2023, algorithm 1", times.decode_drafting.raw(), Shown::seconds,
           {{"b", decode.decodes, Shown::count, "sequences that decode together"}});
  }
  if (times.drafting_host > Seconds{}) {
    r.line("decode: of drafting, the host", "draft_step + draft_sequence b of the busiest attention group",
           "docs/serve-model.md", times.drafting_host.raw(), Shown::seconds,
           {{"draft_step", engine.time.draft_step.raw(), Shown::seconds, "the engine's stack"},
            {"draft_sequence", engine.time.draft_sequence.raw(), Shown::seconds, "the engine's stack"}});
  }
  if (decode.queries > 1.0) {
    r.line("tokens a step", "(1 - a^(draft + 1)) / (1 - a)", "Leviathan et al. 2023, equation 1", times.step_tokens,
           Shown::count, {{"draft", decode.queries - 1.0, Shown::count, "scenario"}});
  }
  r.line("prompt iteration", "the same terms of one prompt, or of its first chunk", "docs/serve-model.md",
         times.prompt.total(), Shown::seconds, {{"tokens", std::min(load.isl, load.chunk), Shown::count, "scenario"}});
  const std::string step = decode.queries > 1.0 ? "T / tokens a step" : "T";
  const std::string prompts = load.prompts_first ? "T_mixed" : "(T_mixed - T)";
  const std::string behind = times.state.first.behind > Seconds{} ? " - launched behind / (osl - 1)" : "";
  r.line("tpot", step + " + interference (b - 1) / osl " + prompts + " isl / chunk" + behind, "docs/serve-model.md",
         times.state.tpot.raw(), Shown::seconds,
         {{"T", times.state.decode_step.raw(), Shown::seconds, "an iteration of decodes"},
          {"T_mixed", times.state.mixed_step.raw(), Shown::seconds,
           load.prompts_first ? "one of prompts alone" : "one that carries a prompt too"},
          {"interference", engine.time.interference, Shown::fraction, engine.time.source}});
  record_first_token(times, engine, load, r);
  r.line("output tokens/s", "replicas c osl / (ttft + (osl - 1) tpot)", "closed loop (Little 1961)",
         times.output_tokens_per_s, Shown::count, {{"c", load.concurrency, Shown::count, "requests of a replica"}});
}

SteadyLoad load_of_replica(const ServingWorkload& w, const ServingEstimate& memory) noexcept {
  SteadyLoad load;
  load.isl = std::max(1.0, w.mean_length() * real(w.isl));
  load.osl = std::max(1.0, w.mean_length() * real(w.osl));
  load.client = w.client;
  if (w.distinct_prompts > 0) {
    load.found = std::max(0.0, 1.0 - real(w.distinct_prompts) / (load.waves * real(w.concurrency)));
  }
  load.chunk = real(w.max_num_tokens);
  load.groups = real(w.layout.attention_groups());
  load.stages = real(w.layout.pp);
  if (w.draft) {
    load.queries = w.draft->queries();
    load.step_tokens = w.draft->speculation.tokens_per_step();
  }
  load.concurrency = real(w.concurrency) / serving_replicas(w, memory);
  load.batch = std::min(load.concurrency, real(std::max<std::int64_t>(1, memory.memory.max_sequences)));
  load.batch = std::max(1.0, load.batch);
  load.concurrency = std::max(load.batch, load.concurrency);
  return load;
}

SteadyLoad one_request(SteadyLoad load) noexcept {
  load.found = 0.0;
  load.batch = load.concurrency = load.stages = 1.0;
  return load;
}

}  // namespace

std::string largest_terms(const IterationTerms& terms) {
  std::array<std::size_t, iteration_term_count> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return terms.seconds[a] > terms.seconds[b]; });
  std::string text;
  for (std::size_t i = 0; i < 3; ++i) {
    const double share = terms.seconds[order[i]] / terms.total();
    text += (i == 0 ? "" : ", ") + std::string{iteration_term_names[order[i]]} + " " + format_number(100.0 * share, 2) +
            " %";
  }
  return text;
}

ServingTimes serving_times(const ModelData& data,
                           const Architecture& arch,
                           const Device& device,
                           const Node* node,
                           const ServingStack& engine,
                           const ServingWorkload& w,
                           const ServingEstimate& memory,
                           ExplainRecorder* recorder) {
  const ReplicaFormats formats{w.weights, activation_precision(device, w.weights), w.kv, w.weight_kernels};
  const IterationPhysics& physics = iteration_physics(data);
  const EngineKernels kernels = engine_kernels(engine, physics, engine.release);
  const Replica replica{data, arch, device, node, kernels, w.layout, formats};
  const LeastIteration least{arch, device, w.layout, formats};
  const auto terms = [&](const IterationMix& mix) {
    IterationTerms t = engine_terms(replica, mix, replica.terms(mix), engine.time, physics);
    // A power cap slows iterations limited by multiplying; those limited by reading keep their time (docs/money.md).
    const double clock = least.reads(mix) ? 1.0 : w.clock;
    t[IterationTerm::products] /= clock;
    t[IterationTerm::experts] /= clock;
    t[IterationTerm::prefill_attention] /= clock;
    return t;
  };
  std::optional<Drafting> drafting;
  if (w.draft) {
    drafting.emplace(data, *w.draft, device, node, engine.time, physics, w.layout, w.kv, w.clock);
  }
  const IterationCost step = [&](const IterationMix& mix) {
    return terms(mix).total() + (drafting ? drafting->seconds(mix) : 0.0);
  };
  SteadyHabits habits = steady_habits(engine.time, w.mean_length() * real(w.isl), physics.bubble);
  habits.late_results = habits.late_results && (!w.draft || w.draft->speculation.overlapped);
  const double serving = serving_replicas(w, memory);
  SteadyLoad load = load_of_replica(w, memory);
  load.prompts_first = engine.scheduler.order == PromptOrder::before_decodes;

  ServingTimes times;
  switch (w.pool) {
    case ServingPool::both: times.state = closed_loop(step, load, habits); break;
    case ServingPool::prefill: times.state = prefill_pool(step, load); break;
    case ServingPool::decode: times.state = decode_pool(step, load, habits); break;
  }
  const SteadyLoad lone = one_request(load);
  SteadyHabits quiet = habits;
  quiet.burst = 0.0;
  quiet.steps = 0.0;
  times.prompt_alone = closed_loop(step, lone, quiet).ttft;
  IterationMix decode;
  decode.decodes = times.state.decoding > 0.0 ? times.state.decoding : load.batch / load.stages;
  decode.keys = load.isl + 0.5 * load.osl;
  decode.queries = load.queries;
  times.decode = terms(decode);
  times.step_tokens = load.step_tokens;
  SteadyLoad own = load;
  own.osl = w.pool == ServingPool::prefill ? 1.0 : load.osl;
  times.launches = engine_launches(replica, engine.time, physics);
  IterationMix prompt;
  prompt.chunks = prompt.ending = 1.0;
  prompt.chunk_tokens = std::min(load.isl, load.chunk);
  prompt.chunk_keys = prompt.chunk_tokens;
  times.prompt = terms(prompt);
  times.use = serving_use(w.pool == ServingPool::prefill ? times.prompt : times.decode, least, own, times.state);
  times.use_prompts = phase_use(times.prompt, least, prompt);
  times.use_decodes = phase_use(times.decode, least, decode);
  if (drafting) {
    times.decode_drafting = Seconds{drafting->seconds(decode)};
    times.drafting_host = Seconds{drafting->host_seconds(decode.decodes)};
    times.prompt_drafting = Seconds{drafting->seconds(prompt)};
  }
  times.least_decode = Seconds{least.time(decode, ExpertsRead::least)};
  times.least_reads = least.reads(decode, ExpertsRead::least);
  times.reads = least.reads(decode);
  times.requests_per_s = serving * times.state.requests_per_s;
  times.output_tokens_per_s = times.requests_per_s * load.osl;
  times.input_tokens_per_s = times.requests_per_s * load.isl;
  times.sources = replica.sources();
  if (drafting) {
    for (const std::string& source : drafting->sources()) {
      times.sources.push_back("draft: " + source);
    }
  }
  if (recorder != nullptr) {
    record(times, decode, engine, load, *recorder);
  }
  return times;
}

}  // namespace headroom
