// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/ledger.hpp>
#include <headroom/scenarios/search/ranks/rank_messages.hpp>
#include <headroom/scenarios/search/ranks/search_ranks.hpp>
#include <headroom/scenarios/search/ranks/split_job.hpp>
#include <headroom/scenarios/search/ranks/thread_ranks.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <thread>

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) {
  return Seconds{std::chrono::duration<double>(Clock::now() - start).count()};
}

/// Rank 0's own part of the search, on a thread: worker 0 to the one who hands out, beside ranks 1, 2 ...
class OwnWorker {
 public:
  OwnWorker(const Sources& sources, const std::atomic<bool>* stop)
      : thread_{[this, &sources, stop] { serve_ranks(ranks_.rank(1), sources, stop); }} {}
  ~OwnWorker() { send(std::string{rank_words::leave}); }
  OwnWorker(const OwnWorker&) = delete;
  OwnWorker& operator=(const OwnWorker&) = delete;

  void send(std::string text) { ranks_.rank(0).send(1, std::move(text)); }
  [[nodiscard]] std::optional<RankMessage> receive(Seconds wait) {
    std::optional<RankMessage> message = ranks_.rank(0).receive(wait);
    if (message) {
      message->from = 0;
    }
    return message;
  }

 private:
  ThreadRanks ranks_{2};
  std::jthread thread_;
};

struct Worker {
  enum class State : std::uint8_t { asked, idle, busy, gone };
  State state = State::asked;
  SearchUnit unit;                      ///< while busy
  std::string message;                  ///< which another rank gets when this one is lost
  std::vector<std::uint64_t> compiled;  ///< turns of jobs of which it had parts
};

class HandOut {
 public:
  HandOut(const SearchQuestion& question, const SearchOptions& options, Ranks& ranks)
      : question_{question},
        options_{options},
        ranks_{ranks},
        setting_{setting_of(question, options.bounded, options.threads)},
        ledger_{setting_, options.checkpoint},
        own_{*question.sources, options.stop},
        workers_(static_cast<std::size_t>(std::max(1, ranks.count()))) {}

  SearchResult run() {
    static std::atomic<std::uint64_t> searches{0};
    serial_ = ++searches;
    fingerprint_ = rank_fingerprint(question_);
    const std::string search = message_of(RankSearch{serial_, options_.bounded, options_.threads, question_.file,
                                                     *question_.document, question_.without});
    for (int rank = 0; rank < count(); ++rank) {
      send(rank, search);
    }
    next_ = ledger_.next_open(0);
    bool complete = true;
    while (ledger_.jobs_done() < ledger_.jobs()) {
      if (options_.stop != nullptr && options_.stop->load()) {
        complete = false;
        take_own_part();
        break;
      }
      hand_out();
      see_lost();
      while (const std::optional<RankMessage> message = receive()) {
        hear(*message);
        hand_out();
      }
      look_after();
    }
    SearchResult result = ledger_.result(complete);
    ledger_.save();
    result.unsaved = ledger_.unsaved();
    result.elapsed = since(start_);
    result.ranks = static_cast<int>(std::count_if(workers_.begin(), workers_.end(), [](const Worker& w) {
      return w.state != Worker::State::gone && w.state != Worker::State::asked;
    }));
    return result;
  }

 private:
  [[nodiscard]] int count() const noexcept { return static_cast<int>(workers_.size()); }
  [[nodiscard]] Worker& worker(int rank) { return workers_[static_cast<std::size_t>(rank)]; }

  void send(int rank, std::string text) {
    if (rank == 0) {
      own_.send(std::move(text));
    } else {
      ranks_.send(rank, std::move(text));
    }
  }

  /// The other ranks' messages are looked for often: an answer that lies about is a rank that waits.
  std::optional<RankMessage> receive() {
    constexpr Seconds between{2e-4};
    std::optional<RankMessage> message = ranks_.receive(Seconds{});
    return message ? message : own_.receive(between);
  }

  // ---- what there is to do

  struct Task {
    SearchUnit unit;
    std::string message;
  };

  /// Gives every idle rank something, as long as there is anything.
  void hand_out() {
    for (int rank = 0; rank < count(); ++rank) {
      if (worker(rank).state != Worker::State::idle) {
        continue;
      }
      std::optional<Task> task = next_task(worker(rank));
      if (!task) {
        return;
      }
      send(rank, task->message);
      Worker& w = worker(rank);
      w.state = Worker::State::busy;
      w.unit = std::move(task->unit);
      w.message = std::move(task->message);
    }
  }

  std::optional<Task> next_task(Worker& w) {
    if (!again_.empty()) {
      Task task = std::move(again_.back());
      again_.pop_back();
      return task;
    }
    if (std::optional<Task> part = next_part(w)) {
      return part;
    }
    while (next_ < ledger_.jobs() && ledger_.ready(next_)) {
      const std::uint64_t turn = next_;
      next_ = ledger_.next_open(turn + 1);
      if (!few_jobs(turn)) {
        SearchUnit unit;
        unit.turn = turn;
        unit.earlier = ledger_.earlier(turn);
        return task_of(std::move(unit), start_text(ledger_.start_of(turn)));
      }
      split_.try_emplace(turn, setting_, turn, ledger_.start_of(turn), ledger_.earlier(turn), parts(),
                         options_.checkpoint);
      if (std::optional<Task> part = next_part(w)) {
        return part;
      }
    }
    return std::nullopt;
  }

  /// Whether whole jobs would leave ranks without work: those that could be begun now are fewer than the ranks.
  [[nodiscard]] bool few_jobs(std::uint64_t turn) const {
    const std::uint64_t ranks = alive();
    return turn + ranks > ledger_.jobs() || !ledger_.ready(turn + ranks - 1);
  }

  [[nodiscard]] std::uint64_t alive() const {
    return static_cast<std::uint64_t>(std::count_if(workers_.begin(), workers_.end(),
                                                    [](const Worker& w) { return w.state != Worker::State::gone; }));
  }

  /// More parts than ranks: those that end early take another.
  [[nodiscard]] std::size_t parts() const { return 2 * alive(); }

  /// Of a job that this rank has compiled, else of the first that has parts to give.
  std::optional<Task> next_part(Worker& w) {
    SplitJob* chosen = nullptr;
    for (auto& [turn, split] : split_) {
      const bool compiled = std::find(w.compiled.begin(), w.compiled.end(), turn) != w.compiled.end();
      if (split.has_part() && (compiled || chosen == nullptr)) {
        chosen = &split;
        if (compiled) {
          break;
        }
      }
    }
    if (chosen == nullptr) {
      return std::nullopt;
    }
    SearchUnit unit = chosen->next_part();
    if (std::find(w.compiled.begin(), w.compiled.end(), unit.turn) == w.compiled.end()) {
      w.compiled.push_back(unit.turn);
    }
    return task_of(std::move(unit), chosen->start());
  }

  Task task_of(SearchUnit unit, const std::string& start) {
    unit.serial = serial_;
    unit.id = ++units_;
    std::string message = message_of(unit, start);
    return {std::move(unit), std::move(message)};
  }

  // ---- what comes back

  void hear(const RankMessage& message) {
    Worker& w = worker(message.from);
    const std::string_view word = first_word(message.text);
    if (w.state == Worker::State::gone) {
      return;
    }
    if (word == rank_words::ready) {
      hear_ready(message.from, message.text);
    } else if (word == rank_words::cannot) {
      give_up(message.from, "cannot take part: " + std::string{rest_of(message.text)});
    } else if (word == rank_words::failed && is_own(message.text, w)) {
      fail(w, message.text);
    } else if (word == rank_words::result && is_own(message.text, w)) {
      take(w, read_result(message.text, question_));
    }
  }

  /// Whether it answers the unit that the rank has now; what an earlier search left is of no interest.
  [[nodiscard]] bool is_own(std::string_view message, const Worker& w) const {
    std::uint64_t serial = 0;
    std::uint64_t id = 0;
    std::istringstream{std::string{rest_of(message).substr(0, 48)}} >> serial >> id;
    return serial == serial_ && w.state == Worker::State::busy && id == w.unit.id;
  }

  void hear_ready(int rank, std::string_view message) {
    std::uint64_t serial = 0;
    std::uint64_t sum = 0;
    std::istringstream{std::string{rest_of(message)}} >> serial >> sum;
    if (serial != serial_) {
      return;
    }
    if (sum != fingerprint_) {
      give_up(rank, "takes no part: its data folders or its build differ from rank 0's");
      return;
    }
    worker(rank).state = Worker::State::idle;
  }

  void take(Worker& w, UnitResult result) {
    w.state = Worker::State::idle;
    const SearchUnit unit = std::move(w.unit);
    w.message.clear();
    if (unit.kind == SearchUnit::Kind::job) {
      if (result.done) {
        ledger_.take(unit.turn, std::move(result.progress.findings));
      } else {
        ledger_.note(unit.turn, std::move(result.progress));
      }
      return;
    }
    const auto split = split_.find(unit.turn);
    if (split == split_.end()) {
      return;  // another part said that the job cannot be
    }
    SplitJob& job = split->second;
    if (!job.take(unit, std::move(result))) {
      return;
    }
    if (job.done()) {
      ledger_.take(unit.turn, job.progress().findings);
      split_.erase(split);
    } else {
      noted_.insert(unit.turn);
    }
  }

  /// A unit that fails here as well tells why as one rank alone would; one that does not is the other rank's trouble.
  void fail(Worker& w, const std::string& message) {
    const std::uint64_t turn = w.unit.turn;
    const std::atomic<bool> at_once{true};
    JobWatch watch;
    watch.stop = &at_once;
    watch.earlier_from = options_.checkpoint;
    (void)search_job(setting_, ledger_.job_of(turn), no_incumbents(setting_), ledger_.earlier(turn), watch);
    throw ConfigError{"job " + std::to_string(ledger_.job_of(turn)) +
                      " of the search failed at one rank and not at another: " + message};
  }

  // ---- ranks that leave

  void see_lost() {
    for (const int rank : ranks_.lost()) {
      if (rank > 0 && rank < count() && worker(rank).state != Worker::State::gone) {
        give_up(rank, "was lost; what it had is given to others");
      }
    }
  }

  void give_up(int rank, const std::string& why) {
    Worker& w = worker(rank);
    if (w.state == Worker::State::busy) {
      again_.push_back({std::move(w.unit), std::move(w.message)});
    }
    w.state = Worker::State::gone;
    if (options_.tell) {
      options_.tell(ranks_.name_of(rank) + " " + why);
    }
  }

  /// An interrupt: rank 0's own part ends after the round at hand and is kept.
  void take_own_part() {
    while (worker(0).state == Worker::State::busy) {
      if (const std::optional<RankMessage> message = own_.receive(Seconds{0.1})) {
        hear(*message);
      }
    }
    note_splits();
  }

  void note_splits() {
    for (const std::uint64_t turn : noted_) {
      if (const auto split = split_.find(turn); split != split_.end()) {
        ledger_.note(turn, split->second.progress());
      }
    }
    noted_.clear();
  }

  /// Checkpoint and progress.
  void look_after() {
    constexpr double rest = 0.5;
    if (ledger_.due() && (ledger_.jobs_done() != saved_jobs_ || !noted_.empty())) {
      note_splits();
      saved_jobs_ = ledger_.jobs_done();
      ledger_.save();
    }
    if (options_.progress && since(told_).raw() >= rest) {
      note_splits();
      options_.progress({ledger_.jobs_done(), ledger_.jobs(), 0, ledger_.counts(), 0, since(start_)});
      told_ = Clock::now();
    }
  }

  const SearchQuestion& question_;
  const SearchOptions& options_;
  Ranks& ranks_;
  SearchSetting setting_;
  SearchLedger ledger_;
  OwnWorker own_;
  std::vector<Worker> workers_;
  std::map<std::uint64_t, SplitJob> split_;  ///< by turn
  std::set<std::uint64_t> noted_;            ///< split jobs that came further since the checkpoint was written
  std::vector<Task> again_;                  ///< of ranks that were lost
  std::uint64_t next_ = 0;                   ///< the first turn that was not begun
  std::uint64_t serial_ = 0, units_ = 0, fingerprint_ = 0, saved_jobs_ = 0;
  Clock::time_point start_ = Clock::now(), told_ = start_;
};

}  // namespace

SearchResult search_on_ranks(const SearchQuestion& question, const SearchOptions& options, Ranks& ranks) {
  return HandOut{question, options, ranks}.run();
}

}  // namespace headroom
