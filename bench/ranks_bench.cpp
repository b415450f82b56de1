// SPDX-License-Identifier: Apache-2.0
// Time of a sweep on more ranks than this machine has: every job is searched and timed alone, rank 0's work per job is
// timed too, and handing jobs out to n ranks is simulated.
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/ledger.hpp>
#include <headroom/scenarios/search/ranks/rank_messages.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include "hand_out.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

using namespace headroom;

namespace {

/// CPU seconds of this process, which has one thread, so that other load does not matter.
double now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Time between two units on the same rank: the longest that the rank (0.5 ms) and rank 0 (0.2 ms) leave messages
/// unread. A network adds the transport of both.
constexpr Seconds polling{7e-4};

Seconds since(double start) {
  return Seconds{now() - start};
}

struct Measured {
  std::vector<Seconds> units;
  Seconds compiling{};  ///< compile time of all units
  Seconds bounding{};
  HandOutCosts costs{Seconds{}, Seconds{}, polling};
};

Measured measure(const std::string& file, const Sources& sources) {
  Measured m;
  const double began = now();
  const SearchQuestion question = read_search(scenario_tree(file), file, sources);
  const SearchSetting setting = setting_of(question, true, 1);
  SearchLedger ledger{setting, ""};
  m.costs.serial = since(began);
  Seconds handing{};
  for (std::uint64_t turn = 0; turn < ledger.jobs(); ++turn) {
    double at = now();
    SearchUnit unit;
    unit.turn = turn;
    const std::string message = message_of(unit, start_text(ledger.start_of(turn)));
    handing += since(at);

    at = now();
    Incumbents start = no_incumbents(setting);
    const SearchUnit read = read_unit(message, question, start);
    JobWatch watch;
    watch.prepared = [&](const JobSearch&) { m.bounding += since(at); };
    SearchedJob searched = search_job(setting, ledger.job_of(read.turn), start, read.earlier, watch);
    const std::string result = message_of(UnitResult{0, 0, true, std::move(searched.progress), {}});
    m.units.push_back(since(at));
    {
      at = now();
      const JobSearch compiled{setting, ledger.job_of(turn)};
      m.compiling += since(at);
    }

    at = now();
    ledger.take(turn, read_result(result, question).progress.findings);
    handing += since(at);
  }
  const double ended = now();
  const SearchPlan answer = explain_search(question, ledger.result(true));
  m.costs.serial += since(ended);
  m.costs.each = (1.0 / static_cast<double>(m.units.size())) * handing;
  std::printf("%llu strategies, %llu evaluated, least goal %.6g\n",
              static_cast<unsigned long long>(answer.result.counts.all()),
              static_cast<unsigned long long>(answer.result.counts.evaluated()),
              answer.result.found.found() ? answer.recommended.candidate.goal : 0.0);
  return m;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: ranks_bench SCENARIO.toml [TIMES-AS-MANY-JOBS ...]\n", stderr);
    return 2;
  }
  const Sources sources = Sources::standard();
  const Measured m = measure(argv[1], sources);
  Seconds work{};
  for (const Seconds unit : m.units) {
    work += unit;
  }
  std::vector<Seconds> sorted = m.units;
  std::sort(sorted.begin(), sorted.end());
  std::printf(
      "%zu jobs, %.2f s: median %.0f ms, largest %.0f ms; %.0f %% of it until the first round, %.1f %% compiling\n",
      m.units.size(), work.raw(), 1e3 * sorted[sorted.size() / 2].raw(), 1e3 * sorted.back().raw(),
      100.0 * (m.bounding / work), 100.0 * (m.compiling / work));
  std::printf("rank 0: %.3f s before and after, %.3f ms a job; %.1f ms between jobs\n\n", m.costs.serial.raw(),
              1e3 * m.costs.each.raw(), 1e3 * m.costs.latency.raw());
  std::vector<int> times{1};
  for (int i = 2; i < argc; ++i) {
    times.push_back(std::max(1, std::atoi(argv[i])));
  }
  for (const int copies : times) {
    std::vector<Seconds> units;
    for (int i = 0; i < copies; ++i) {
      units.insert(units.end(), m.units.begin(), m.units.end());
    }
    const double one = simulated_hand_out(units, m.costs, 1).raw();
    std::printf("%zu whole jobs, longest chain %.2f s\n%8s %10s %9s %11s %22s\n", units.size(),
                longest_chain(units).raw(), "ranks", "seconds", "speed-up", "efficiency", "bounds");
    for (const std::uint64_t ranks : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U, 256U, 512U, 1000U, 4000U}) {
      const double took = simulated_hand_out(units, m.costs, ranks).raw();
      const HandOutBounds bounds = hand_out_bounds(units, m.costs, ranks);
      std::printf("%8llu %10.2f %9.1f %9.0f %% %10.2f - %9.2f\n", static_cast<unsigned long long>(ranks), took,
                  one / took, 100.0 * one / took / static_cast<double>(ranks), bounds.least.raw(), bounds.most.raw());
    }
  }
}
