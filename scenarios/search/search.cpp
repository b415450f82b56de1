// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/checkpoint.hpp>
#include <headroom/scenarios/search/search.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) {
  return Seconds{std::chrono::duration<double>(Clock::now() - start).count()};
}

/// Runs work(i) for i in 0 .. n - 1 on some threads, this one among them. What throws is thrown here, the first by i.
template <class Work>
void on_threads(unsigned threads, std::size_t n, Work work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t failed = n;
  std::exception_ptr error;
  const auto loop = [&] {
    for (std::size_t i = next++; i < n; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock{mutex};
        if (i < failed) {
          failed = i;
          error = std::current_exception();
        }
      }
    }
  };
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < std::min<std::size_t>(threads, n); ++i) {
    helpers.emplace_back(loop);
  }
  loop();
  helpers.clear();
  if (error) {
    std::rethrow_exception(error);
  }
}

/// Layouts of a round: few at first, so that the next ones meet good plans, then enough to keep many threads busy.
/// They do not depend on the number of threads, nor does what is left out. Without bounds nothing is learnt between
/// rounds.
std::size_t round_size(std::size_t round, bool bounded) noexcept {
  constexpr std::size_t first = 4;
  constexpr std::size_t largest = 64;
  constexpr std::size_t unbounded = 256;
  return bounded ? std::min(largest, first << std::min<std::size_t>(round, 4)) : unbounded;
}

class Searcher {
 public:
  Searcher(const SearchQuestion& question, const SearchOptions& options)
      : question_{question},
        options_{options},
        threads_{options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency())} {
    result_.front = front_goals(question);
    result_.jobs = job_count(question);
    result_.by = searches_rentals(question) ? ListedBy::rental : ListedBy::layout;
    result_.found =
        Incumbents{question.objective.plans, result_.front.size(), question.objective.simplicity, result_.by};
  }

  SearchResult run() {
    resume();
    for (std::uint64_t job = state_.job; job < result_.jobs && result_.complete; ++job) {
      search_job(job);
      result_.jobs_done += result_.complete ? 1 : 0;
    }
    refuse_if_all_broken();
    if (result_.complete) {
      save({result_.jobs, 0, 0}, true);
    }
    result_.elapsed = since(start_);
    return std::move(result_);
  }

 private:
  struct Place {
    std::uint64_t job = 0, layouts = 0, numbers = 0;
  };

  /// Jobs that all fail of the same are no answer: the scenario is broken whatever its axes say.
  void refuse_if_all_broken() const {
    const std::vector<DroppedJob>& dropped = result_.dropped;
    const bool alike = !dropped.empty() && dropped.size() == result_.jobs &&
                       std::all_of(dropped.begin(), dropped.end(),
                                   [&](const DroppedJob& other) { return other.why == dropped.front().why; });
    if (alike) {
      (void)scenario_of(question_, 0);
    }
  }

  void resume() {
    if (options_.checkpoint.empty()) {
      return;
    }
    search_ = fingerprint(question_);
    std::optional<SearchState> state = read_checkpoint(options_.checkpoint, search_);
    if (!state) {
      save({0, 0, 0}, true);  // a file that cannot be written is told now, not after an hour
      return;
    }
    state_ = std::move(*state);
    result_.resumed = true;
    result_.jobs_done = state_.job;
    result_.counts = state_.counts;
    result_.broken = state_.broken;
    result_.dropped = state_.dropped;
    for (DroppedJob& dropped : result_.dropped) {
      dropped.assignments = assignments_of(question_, dropped.job);
    }
    for (Candidate& candidate : state_.candidates) {
      candidate.rental = rental_of(question_, candidate.job);
      result_.found.consider(candidate);
    }
    for (std::size_t i = 0; i < limit_count; ++i) {
      if (state_.closest[i].candidate) {
        result_.found.fell_short(static_cast<Limit>(i), *state_.closest[i].candidate, state_.closest[i].value);
      }
    }
  }

  void save(Place place, bool now) {
    constexpr double rest = 0.05;  // seconds between two writes
    if (options_.checkpoint.empty() || (!now && since(saved_).raw() < rest)) {
      return;
    }
    SearchState state;
    state.job = place.job;
    state.layouts = place.layouts;
    state.numbers = place.numbers;
    state.counts = result_.counts;
    state.candidates = result_.found.all();
    state.closest = result_.found.closest();
    state.broken = result_.broken;
    state.dropped = result_.dropped;
    write_checkpoint(options_.checkpoint, search_, state);
    saved_ = Clock::now();
  }

  void tell(std::uint64_t job, std::uint64_t strategies, std::uint64_t before) {
    constexpr double rest = 0.5;
    if (!options_.progress || since(told_).raw() < rest) {
      return;
    }
    options_.progress({job, result_.jobs, strategies, result_.counts, result_.counts.all() - before, since(start_)});
    told_ = Clock::now();
  }

  [[nodiscard]] bool stopped() const noexcept { return options_.stop != nullptr && options_.stop->load(); }

  void search_job(std::uint64_t index) {
    const Clock::time_point began = Clock::now();
    const bool resumed_here = result_.resumed && index == state_.job && state_.layouts > 0;
    const MadeJob made = make_job(question_, index);
    if (!made.job) {
      const bool known = std::any_of(result_.dropped.begin(), result_.dropped.end(),
                                     [&](const DroppedJob& dropped) { return dropped.job == index; });
      if (!known) {
        result_.dropped.push_back(made.dropped);
      }
      save({index + 1, 0, 0}, false);
      return;
    }
    const BranchContext context{made.job.get(), &question_.objective, result_.front, options_.bounded};
    const std::vector<LayerRanks>& layouts = made.job->space->layouts();
    std::vector<LayoutBound> bounds(layouts.size());
    if (options_.bounded) {
      on_threads(threads_, layouts.size(), [&](std::size_t i) { bounds[i] = bound_layout(context, layouts[i]); });
    }
    const std::vector<std::size_t> order = in_order(bounds);
    const std::uint64_t numbers = fingerprint(empty_fingerprint, bounds.data(), bounds.size() * sizeof bounds.front());
    if (resumed_here && numbers != state_.numbers) {
      throw ConfigError{"--checkpoint " + quoted(options_.checkpoint) +
                        " was written with other numbers of the model or the catalog; remove it to search anew"};
    }
    result_.preparing += since(began);
    search_layouts(context, bounds, order, {index, resumed_here ? state_.layouts : 0, numbers});
  }

  static std::vector<std::size_t> in_order(const std::vector<LayoutBound>& bounds) {
    std::vector<std::size_t> order(bounds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return bounds[a].goal != bounds[b].goal ? bounds[a].goal < bounds[b].goal : bounds[a].step < bounds[b].step;
    });
    return order;
  }

  struct LayoutResult {
    Incumbents found;
    SearchCounts counts;
    BrokenExample broken;
  };

  /// The layouts of a round by the ranks they leave to stages and replicas, which make for many strategies: threads
  /// that begin with the large ones end together.
  static std::vector<std::size_t> largest_first(const std::vector<LayerRanks>& layouts,
                                                const std::vector<std::size_t>& order,
                                                std::size_t from,
                                                std::size_t size) {
    std::vector<std::size_t> turns(size);
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    const auto ranks = [&](std::size_t turn) {
      const LayerRanks& l = layouts[order[from + turn]];
      return int{l.tp} * l.cp;
    };
    std::stable_sort(turns.begin(), turns.end(), [&](std::size_t a, std::size_t b) { return ranks(a) < ranks(b); });
    return turns;
  }

  /// From a place on, in the order of the bounds.
  void search_layouts(const BranchContext& context,
                      const std::vector<LayoutBound>& bounds,
                      const std::vector<std::size_t>& order,
                      Place place) {
    const std::vector<LayerRanks>& layouts = context.job->space->layouts();
    const std::uint64_t strategies = options_.progress ? context.job->space->strategies() : 0;
    const std::uint64_t before = result_.counts.all();
    std::size_t round = 0;
    for (std::size_t passed = 0; passed < place.layouts; ++round) {
      passed += round_size(round, options_.bounded);
    }
    for (; place.layouts < order.size(); ++round) {
      if (stopped()) {
        save(place, true);
        result_.complete = false;
        return;
      }
      const std::size_t size = std::min<std::size_t>(round_size(round, options_.bounded), order.size() - place.layouts);
      std::vector<std::optional<LayoutResult>> results(size);
      const std::vector<std::size_t> turns = largest_first(layouts, order, place.layouts, size);
      on_threads(threads_, size, [&](std::size_t i) {
        const std::size_t turn = turns[i];
        const std::size_t layout = order[place.layouts + turn];
        LayoutResult r{result_.found.without_news(),
                       {},
                       {}};  // on this thread's own stack: counters of neighbours would share a line
        search_layout(context, layouts[layout], bounds[layout], r.found, r.counts, r.broken);
        results[turn] = std::move(r);
      });
      for (const std::optional<LayoutResult>& found : results) {
        take(*found);
      }
      place.layouts += size;
      save(place.layouts < order.size() ? place : Place{place.job + 1, 0, 0}, false);
      tell(place.job, strategies, before);
    }
  }

  void take(const LayoutResult& found) {
    result_.found.merge(found.found);
    result_.counts += found.counts;
    const bool plainer = found.broken.candidate &&
                         (!result_.broken.candidate || better(*found.broken.candidate, *result_.broken.candidate));
    if (plainer) {
      result_.broken = found.broken;
    }
  }

  const SearchQuestion& question_;
  const SearchOptions& options_;
  unsigned threads_;
  SearchResult result_;
  SearchState state_;
  std::uint64_t search_ = 0;
  Clock::time_point start_ = Clock::now(), told_ = start_, saved_ = start_;
};

}  // namespace

SearchResult run_search(const SearchQuestion& question, const SearchOptions& options) {
  return Searcher{question, options}.run();
}

}  // namespace headroom
