// SPDX-License-Identifier: Apache-2.0
// Speed of the search: strategies priced per second and core without building tables, two threads against one, whole
// searches of spaces for which other tools' times are known, and peak memory.
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

using namespace headroom;

namespace {

/// GPT-3 175B over the axes of Calculon's llm-optimal-execution: tensor and pipeline ranks, interleaving, micro-batch,
/// recomputation, optimizer sharding, all-reduce or reduce-scatter with all-gather (sequence parallelism), overlap on
/// and off. Rank orders replace its choice of a network for each of three axes.
std::string gpt3(int gpus, int batch) {
  return "schema = 1\nkind = \"train\"\nmodel = \"gpt3-175b\"\n[hardware]\ngpu = \"a100-sxm-80gb\"\ngpus = " +
         std::to_string(gpus) +
         "\n[training]\nseq_len = 2048\nprecision = \"fp16\"\nsoftware = \"megatron-core-te\"\n" +
         "global_batch = " + std::to_string(batch) +
         "\n[search]\ntp = \"any\"\npp = \"any\"\nvpp = \"any\"\nmicro_batch = \"any\"\n"
         "recompute = [\"none\", \"selective\", \"full\"]\nzero = [0, 1]\nsequence_parallel = \"any\"\n"
         "order = [\"tp-cp-dp-pp\", \"tp-cp-pp-dp\", \"tp-pp-cp-dp\", \"pp-tp-cp-dp\", \"dp-tp-cp-pp\"]\n"
         "overlap = [true, false]\nasync_tp = [false, true]\n[objective]\npareto = [\"step-time\"]\n";
}

std::string llama(const char* model, const char* hardware, const char* search, const char* objective) {
  return std::string{"schema = 1\nkind = \"train\"\nmodel = \""} + model + "\"\n[hardware]\n" + hardware +
         "[training]\nseq_len = 8192\nglobal_batch = 1024\nprecision = \"bf16\"\n[search]\nstrategy = \"any\"\n" +
         search + "[objective]\n" + objective;
}

struct Space {
  const char* name;
  std::string text;
  double rivals;  ///< published strategies per second and core; 0: none
  double most;    ///< bar in seconds
};

SearchResult search(const Space& space, const Sources& sources, unsigned threads, bool bounded) {
  const ConfigValue root = parse_toml(space.text, space.name);
  const SearchQuestion question = read_search(root, space.name, sources);
  SearchOptions options;
  options.threads = threads;
  options.bounded = bounded;
  return run_search(question, options);
}

double rate(const SearchResult& r) {
  return static_cast<double>(r.counts.evaluated()) / (r.elapsed - r.preparing).raw();
}

/// Whether the best plans cost exactly what `headroom plan` computes.
bool plans_agree(const Space& space, const Sources& sources, const SearchResult& result) {
  const ConfigValue root = parse_toml(space.text, space.name);
  const SearchQuestion question = read_search(root, space.name, sources);
  bool agree = true;
  for (const Candidate& c : result.found.best()) {
    const MadeJob made = make_job(question, c.job);
    const Plan plan = make_plan(changed(made.job->scenario, changes_to(c.strategy)), false);
    agree = agree && std::get<TrainPlan>(plan.answer).estimate.step == c.step;
  }
  return agree;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace

int main() {
  const Sources sources = Sources::standard();
  const Space full{"llama3-70b, 1024 x h100", llama("llama3-70b", "gpu = \"h100-sxm-80gb\"\ngpus = 1024\n", "", ""),
                   0.0, 1.0};
  // Calculon as shipped, one process, in CPU seconds: 153 to 291 per second (calculon-ai/calculon @ caa4b11, measured).
  const std::vector<Space> spaces{
      {"gpt3-175b, 64 x a100", gpt3(64, 1536), 153.0, 1.0},
      {"gpt3-175b, 512 x a100", gpt3(512, 1536), 236.0, 1.0},
      {"gpt3-175b, 4096 x a100", gpt3(4096, 4096), 291.0, 1.0},
      full,
      {"llama3.1-405b, 8 SKUs x 6 counts",
       llama("llama3.1-405b", "",
             "gpu = [\"a100-sxm-80gb\", \"h100-sxm-80gb\", \"h200-sxm-141gb\", \"b200-sxm-180gb\", \"b300-sxm-288gb\", "
             "\"gb200-nvl72\", \"h800-sxm-80gb\", \"h20-sxm-96gb\"]\ngpus = \"512..16384 x2\"\n",
             "minimize = \"gpu-hours\"\n"),
       0.0, 10.0}};

  std::printf("every strategy evaluated, tables built apart (%s)\n", full.name);
  double one = 0.0;
  double two = 0.0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    one = std::max(one, rate(search(full, sources, 1, false)));
    two = std::max(two, rate(search(full, sources, 2, false)));
  }
  std::printf("  one thread  %.2f M/s (bar 1)\n  two threads %.2f M/s, %.2fx (bar 1.8)\n\n", one / 1e6, two / 1e6,
              two / one);

  std::printf("%-36s %12s %12s %9s %9s %7s  %s\n", "searched with bounds, all threads", "strategies", "evaluated",
              "seconds", "bar", "plans", "one thread, unbounded, over the rival's rate a core");
  bool good = one >= 1e6 && two >= 1.8 * one;
  for (const Space& space : spaces) {
    const SearchResult r = search(space, sources, 0, true);
    const bool agree = plans_agree(space, sources, r);
    good = good && agree && r.elapsed.raw() < space.most;
    std::printf("%-36s %12llu %12llu %9.3f %9.0f %7s", space.name, static_cast<unsigned long long>(r.counts.all()),
                static_cast<unsigned long long>(r.counts.evaluated()), r.elapsed.raw(), space.most,
                agree ? "agree" : "DIFFER");
    if (space.rivals > 0.0) {
      const double ours = rate(search(space, sources, 1, false));
      std::printf("  %.2f M/s, %.0fx", ours / 1e6, ours / space.rivals);
    }
    std::printf("\n");
  }
  const double memory = peak_megabytes();
  std::printf("\npeak memory %.0f MB (bar 100)\n", memory);
  return good && memory < 100.0 ? 0 : 1;
}
