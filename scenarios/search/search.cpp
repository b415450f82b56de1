// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/ledger.hpp>
#include <headroom/scenarios/search/search.hpp>

#include <chrono>

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) {
  return Seconds{std::chrono::duration<double>(Clock::now() - start).count()};
}

/// This process alone: the jobs one after the other.
class Searcher {
 public:
  Searcher(const SearchQuestion& question, const SearchOptions& options)
      : options_{options},
        setting_{setting_of(question, options.bounded, options.threads)},
        ledger_{setting_, options.checkpoint} {}

  SearchResult run() {
    bool complete = true;
    for (std::uint64_t turn = ledger_.next_open(0); turn < ledger_.jobs() && complete; turn = ledger_.next_open(turn)) {
      complete = search(turn);
    }
    SearchResult result = ledger_.result(complete);
    if (!complete && !result.found.found()) {
      merge_into(result.found, instead_);
      result.counts += instead_.counts;
    }
    ledger_.save();
    result.unsaved = ledger_.unsaved();
    result.elapsed = since(start_);
    result.preparing = preparing_;
    return result;
  }

 private:
  /// False when it was stopped on the way.
  bool search(std::uint64_t turn) {
    const Clock::time_point began = Clock::now();
    JobWatch watch;
    watch.stop = options_.stop;
    watch.earlier_from = options_.checkpoint;
    std::uint64_t strategies = 0;
    watch.prepared = [&](const JobSearch& search) {
      preparing_ += since(began);
      strategies = options_.progress ? search.strategies() : 0;
    };
    watch.round = [&](const std::function<JobProgress()>& progress) {
      constexpr double rest = 0.5;
      const bool tell = options_.progress && since(told_).raw() >= rest;
      if (!tell && !ledger_.due()) {
        return;
      }
      JobProgress so_far = progress();
      const std::uint64_t done_of_job = so_far.findings.counts.all();
      ledger_.note(turn, std::move(so_far));
      if (ledger_.due()) {
        ledger_.save();
      }
      if (tell) {
        options_.progress({turn, ledger_.jobs(), strategies, ledger_.counts(), done_of_job, since(start_)});
        told_ = Clock::now();
      }
    };
    SearchedJob searched =
        search_job(setting_, ledger_.job_of(turn), ledger_.start_of(turn), ledger_.earlier(turn), watch);
    if (searched.done) {
      ledger_.take(turn, std::move(searched.progress.findings));
    } else {
      ledger_.note(turn, std::move(searched.progress));
      instead_ = std::move(searched.instead);
    }
    if (ledger_.due()) {
      ledger_.save();
    }
    return searched.done;
  }

  const SearchOptions& options_;
  SearchSetting setting_;
  SearchLedger ledger_;
  Findings instead_;  ///< of a search that is stopped before it has found anything
  Seconds preparing_{};
  Clock::time_point start_ = Clock::now(), told_ = start_;
};

}  // namespace

SearchResult run_search(const SearchQuestion& question, const SearchOptions& options) {
  return Searcher{question, options}.run();
}

}  // namespace headroom
