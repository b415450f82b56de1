// SPDX-License-Identifier: Apache-2.0
// A rank that answers rank 0.
#include <headroom/scenarios/search/ranks/rank_messages.hpp>
#include <headroom/scenarios/search/ranks/search_ranks.hpp>

#include <algorithm>
#include <deque>

namespace headroom {
namespace {

/// One search at one rank. Units hang on nothing that came before, so that any rank can do any of them.
class RankWorker {
 public:
  RankWorker(RankSearch search, const Sources& sources, const std::atomic<bool>* stop)
      : serial_{search.serial},
        question_{read(std::move(search.document), search.file, search.without, sources)},
        setting_{setting_of(question_, search.bounded, search.threads)},
        stop_{stop} {}

  [[nodiscard]] std::string ready() const {
    return std::string{rank_words::ready} + " " + std::to_string(serial_) + " " +
           std::to_string(rank_fingerprint(question_));
  }

  [[nodiscard]] std::string answer(std::string_view message) {
    Incumbents start = no_incumbents(setting_);
    const SearchUnit unit = read_unit(message, question_, start);
    try {
      return message_of(result_of(unit, start));
    } catch (const std::exception& error) {
      return std::string{rank_words::failed} + " " + std::to_string(unit.serial) + " " + std::to_string(unit.id) + " " +
             error.what();
    }
  }

 private:
  static SearchQuestion read(const ConfigValue& document,
                             const std::string& file,
                             TermSet without,
                             const Sources& sources) {
    SearchQuestion question = read_search(document, file, sources);
    question.without = without;
    return question;
  }

  [[nodiscard]] UnitResult result_of(const SearchUnit& unit, const Incumbents& start) {
    UnitResult result{unit.serial, unit.id, true, {}, {}};
    const std::uint64_t job = job_of_turn(unit.turn, job_count(question_));
    if (unit.kind == SearchUnit::Kind::job) {
      JobWatch watch;
      watch.stop = stop_;
      SearchedJob searched = search_job(setting_, job, start, unit.earlier, watch);
      result.done = searched.done;
      result.progress = std::move(searched.progress);
      return result;
    }
    const JobSearch& search = opened(job);
    if (!search.can_be()) {
      result.progress.findings.dropped.push_back(search.dropped());
    } else if (unit.kind == SearchUnit::Kind::bounds) {
      result.bounds = search.bounds(unit.part, unit.parts);
    } else {
      const LayoutFindings found = search.search(unit.layouts, start);
      result.progress.findings = findings_of(found.found, job);
      result.progress.findings.counts = found.counts;
      result.progress.findings.broken = found.broken;
    }
    return result;
  }

  /// Jobs that come in parts are compiled once.
  const JobSearch& opened(std::uint64_t job) {
    constexpr std::size_t most = 4;
    const auto known = std::find_if(open_.begin(), open_.end(), [&](const JobSearch& s) { return s.job() == job; });
    if (known != open_.end()) {
      return *known;
    }
    if (open_.size() == most) {
      open_.pop_front();
    }
    return open_.emplace_back(setting_, job);
  }

  std::uint64_t serial_;
  SearchQuestion question_;
  SearchSetting setting_;
  const std::atomic<bool>* stop_;
  std::deque<JobSearch> open_;
};

}  // namespace

void serve_ranks(Ranks& ranks, const Sources& sources, const std::atomic<bool>* stop) {
  std::unique_ptr<RankWorker> worker;
  for (;;) {
    const std::optional<RankMessage> message = ranks.receive(Seconds{1.0});
    if (!message) {
      continue;
    }
    const std::string_view word = first_word(message->text);
    if (word == rank_words::leave) {
      return;
    }
    try {
      if (word == rank_words::search) {
        worker = std::make_unique<RankWorker>(read_rank_search(message->text), sources, stop);
        ranks.send(0, worker->ready());
      } else if (word == rank_words::unit && worker) {
        ranks.send(0, worker->answer(message->text));
      }
    } catch (const std::exception& error) {
      worker.reset();
      ranks.send(0, std::string{rank_words::cannot} + " " + error.what());
    }
  }
}

}  // namespace headroom
