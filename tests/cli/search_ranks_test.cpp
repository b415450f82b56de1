// SPDX-License-Identifier: Apache-2.0
// The search on several ranks, which are threads here: the bytes of one rank alone whatever their number, whoever dies,
// and from wherever a checkpoint is taken up.
#include <headroom/answers/views/render.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/ledger.hpp>
#include <headroom/scenarios/search/ranks/rank_messages.hpp>
#include <headroom/scenarios/search/ranks/search_ranks.hpp>
#include <headroom/scenarios/search/ranks/thread_ranks.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include "run_headroom.hpp"
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

using namespace headroom;
using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

using Texts = std::vector<std::string>;

SearchQuestion asked(Texts assignments) {
  assignments.insert(assignments.begin(), {"schema=1", "kind=\"train\"", "training.precision=\"bf16\"",
                                           "training.seq_len=4096", "training.global_batch=64"});
  return read_search(scenario_tree(assignments), "test", sources());
}

/// Jobs of several models, SKUs, counts and software, some of which cannot be; the 13B fits nothing small.
SearchQuestion many_jobs() {
  return asked({"training.tokens=1e10", "money.price=\"2 $/h\"", "search.model=[\"llama3-8b\", \"llama2-13b\"]",
                "search.gpu=[\"a100-sxm-80gb\", \"h100-sxm-80gb\", \"t4\"]", "search.gpus=[8, 16]", "search.tp=any",
                "search.pp=any", "search.zero=any", "objective.minimize=cost", "objective.plans=12"});
}

SearchQuestion one_job() {
  return asked({"model=mixtral-8x7b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=64",
                "training.software=megatron-core-te", "search.tp=any", "search.pp=any", "search.ep=any",
                "search.etp=any", "search.recompute_block=any"});
}

/// Nothing fits: what came closest is told, and which rules were broken.
SearchQuestion no_plan() {
  return asked({"model=llama3-70b", "hardware.gpu=a100-sxm-40gb", "search.gpus=[8, 16]", "search.tp=any",
                "search.zero=[0, 1]", "training.software=megatron-core-te"});
}

std::string bytes_of(const SearchQuestion& question, SearchResult result) {
  const SearchPlan answer = explain_search(question, std::move(result));
  return search_json(answer) + search_text(answer, "test");
}

std::string alone(const SearchQuestion& question) {
  SearchOptions options;
  options.threads = 1;
  return bytes_of(question, run_search(question, options));
}

constexpr int never = 1 << 20;

/// A rank that dies when it is given a unit after so many others, without a word.
class MortalRank : public Ranks {
 public:
  MortalRank(ThreadRanks& all, int own, int units) : all_{all}, own_{own}, units_{units} {}
  [[nodiscard]] int count() const override { return all_.rank(own_).count(); }
  void send(int to, std::string text) override { all_.rank(own_).send(to, std::move(text)); }
  [[nodiscard]] std::vector<int> lost() override { return {}; }
  [[nodiscard]] std::optional<RankMessage> receive(Seconds wait) override {
    std::optional<RankMessage> message = all_.rank(own_).receive(wait);
    if (message && first_word(message->text) == rank_words::unit && units_-- == 0) {
      all_.kill(own_);
      return RankMessage{0, std::string{rank_words::leave}};
    }
    return message;
  }

 private:
  ThreadRanks& all_;
  int own_, units_;
};

/// Rank 0 and others beside it, each of which dies after so many units.
class Company {
 public:
  explicit Company(const std::vector<int>& units) : all_{1 + static_cast<int>(units.size())} {
    for (std::size_t i = 0; i < units.size(); ++i) {
      const int own = 1 + static_cast<int>(i);
      others_.emplace_back([this, own, lives = units[i]] {
        MortalRank rank{all_, own, lives};
        serve_ranks(rank, sources());
      });
    }
  }
  ~Company() {
    for (int rank = 1; rank < all_.rank(0).count(); ++rank) {
      all_.rank(0).send(rank, std::string{rank_words::leave});
    }
  }
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  SearchOptions options() {
    SearchOptions options;
    options.threads = 1;
    options.tell = [this](const std::string& what) { told_.push_back(what); };
    return options;
  }
  SearchResult search(const SearchQuestion& question, const SearchOptions& options) {
    return search_on_ranks(question, options, all_.rank(0));
  }
  SearchResult search(const SearchQuestion& question) { return search(question, options()); }
  [[nodiscard]] const Texts& told() const { return told_; }
  ThreadRanks& all() { return all_; }

 private:
  ThreadRanks all_;
  Texts told_;
  std::vector<std::jthread> others_;
};

}  // namespace

TEST_CASE("a search on 1, 2, 3 and 6 ranks answers the bytes of one alone, counts included") {
  for (const SearchQuestion& question : {many_jobs(), one_job(), no_plan()}) {
    const std::string expected = alone(question);
    for (const std::size_t ranks : {1U, 2U, 3U, 6U}) {
      CAPTURE(ranks);
      Company company{std::vector<int>(ranks - 1, never)};
      const SearchResult result = company.search(question);
      CHECK(result.ranks <= static_cast<int>(ranks));
      CHECK(bytes_of(question, result) == expected);
      CHECK(company.told().empty());
    }
  }
}

TEST_CASE("ranks that die with a unit in hand lose nothing: the same bytes, and each is told of") {
  for (const SearchQuestion& question : {many_jobs(), one_job(), no_plan()}) {
    const std::string expected = alone(question);
    for (const std::vector<int>& lives : {std::vector<int>{0}, {1}, {3}, {0, never}, {2, 0, 1}, {0, 0, 0, 0}}) {
      Company company{lives};
      const SearchResult result = company.search(question);
      CHECK(bytes_of(question, result) == expected);
      // A rank that no unit reached before the search was done is alive.
      for (const std::string& what : company.told()) {
        CHECK(what.find("was lost; what it had is given to others") != std::string::npos);
      }
      CHECK(company.told().size() <= lives.size());
    }
  }
}

TEST_CASE("a rank that is lost in the midst of a job of several is told of by its number") {
  const SearchQuestion question = many_jobs();
  Company company{{0}};
  const SearchResult result = company.search(question);
  REQUIRE(company.told().size() == 1);
  CHECK(company.told().front() == "rank 1 was lost; what it had is given to others");
  CHECK(result.ranks == 1);
  CHECK(result.complete);
}

TEST_CASE("a rank of another build takes no part and is told of") {
  const SearchQuestion question = one_job();
  const std::string expected = alone(question);
  ThreadRanks all{2};
  std::jthread other{[&] {
    Ranks& rank = all.rank(1);
    while (const auto message = rank.receive(Seconds{10.0})) {
      if (first_word(message->text) == rank_words::leave) {
        return;
      }
      if (first_word(message->text) == rank_words::search) {
        const std::uint64_t serial = read_rank_search(message->text).serial;
        rank.send(0, std::string{rank_words::ready} + " " + std::to_string(serial) + " 12345");
      }
      CHECK(first_word(message->text) != rank_words::unit);
    }
  }};
  Texts told;
  SearchOptions options;
  options.threads = 1;
  options.tell = [&](const std::string& what) { told.push_back(what); };
  const SearchResult result = search_on_ranks(question, options, all.rank(0));
  all.rank(0).send(1, std::string{rank_words::leave});
  CHECK(bytes_of(question, result) == expected);
  REQUIRE(told.size() <= 1);
  for (const std::string& what : told) {
    CHECK(what == "rank 1 takes no part: its data folders or its build differ from rank 0's");
  }
}

TEST_CASE("a checkpoint goes from ranks to one alone and back, whatever had been done") {
  const SearchQuestion question = many_jobs();
  const std::string expected = alone(question);
  const ScratchFolder scratch;
  const std::string file = (scratch.path() / "c").string();
  for (int turn = 0; turn < 6; ++turn) {
    CAPTURE(turn);
    fs::remove(file);
    // Stopped after so many looks at the checkpoint by whoever searches first, then gone on with by the other.
    std::atomic<bool> stop{false};
    std::jthread clock{[&] {
      std::this_thread::sleep_for(std::chrono::milliseconds{20 * turn});
      stop.store(true);
    }};
    SearchOptions single;
    single.threads = 1;
    single.checkpoint = file;
    Company company{{never, never}};
    SearchOptions several = company.options();
    several.checkpoint = file;
    (turn % 2 == 0 ? single : several).stop = &stop;
    const bool alone_first = turn % 2 == 0;
    const SearchResult first = alone_first ? run_search(question, single) : company.search(question, several);
    CHECK_FALSE(first.resumed);
    const SearchResult second = alone_first ? company.search(question, several) : run_search(question, single);
    CHECK(second.resumed);
    CHECK(second.complete);
    CHECK(bytes_of(question, second) == expected);
  }
}

TEST_CASE("an interrupt at rank 0 ends the search with what was found") {
  const SearchQuestion question = many_jobs();
  Company company{{never}};
  const std::atomic<bool> at_once{true};
  SearchOptions options = company.options();
  options.stop = &at_once;
  const SearchResult result = company.search(question, options);
  CHECK_FALSE(result.complete);
  CHECK(bytes_of(question, result).find("\"complete\": false") != std::string::npos);
}

TEST_CASE("a scenario that is broken whatever its axes say is refused on ranks as alone") {
  const SearchQuestion question =
      asked({"model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8", "search.tp=any",
             "strategy.schedule=\"none-such\"", "training.software=megatron-core-te"});
  const auto refusal = [&](const auto& search) -> std::string {
    try {
      (void)search();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "answered";
  };
  const std::string by_one = refusal([&] { return run_search(question, {}); });
  Company company{{never}};
  CHECK(by_one != "answered");
  CHECK(refusal([&] { return company.search(question); }) == by_one);
}

TEST_CASE("every job has its turn, and the first turns are of every part of a sweep") {
  for (const std::uint64_t jobs : {1U, 2U, 3U, 9U, 48U, 96U, 97U, 3840U}) {
    std::vector<int> turns(jobs);
    for (std::uint64_t turn = 0; turn < jobs; ++turn) {
      ++turns[job_of_turn(turn, jobs)];
    }
    CHECK(std::all_of(turns.begin(), turns.end(), [](int n) { return n == 1; }));
    CHECK(job_of_turn(0, jobs) == 0);
  }
  // 96 jobs in eight blocks of twelve: each block has had a turn after 16.
  std::set<std::uint64_t> blocks;
  for (std::uint64_t turn = 0; turn < 16; ++turn) {
    blocks.insert(job_of_turn(turn, 96) / 12);
  }
  CHECK(blocks.size() == 8);
}

TEST_CASE("jobs start from the first half of those before them") {
  // 1 knows 0; 2 knows 0; 3 and 4 know 0 and 1; 5 and 6 know three: one, two, four, eight ... can run at once.
  CHECK(known_jobs(0) == 0);
  CHECK(known_jobs(1) == 1);
  CHECK(known_jobs(2) == 1);
  CHECK(known_jobs(3) == 2);
  CHECK(known_jobs(4) == 2);
  CHECK(known_jobs(6) == 3);
  for (std::uint64_t wave = 0; wave < 12; ++wave) {
    const std::uint64_t first = (std::uint64_t{1} << wave) - 1;
    const std::uint64_t last = 2 * first;
    for (std::uint64_t job = first; job <= last; ++job) {
      CHECK(known_jobs(job) <= first);
    }
  }
}

TEST_CASE("messages say what was meant, bit for bit, and cut ones are refused") {
  RankSearch search;
  search.serial = 7;
  search.threads = 3;
  search.file = "a b\n\"c\".toml";
  search.document = parse_toml(
      "schema = 1\nx = 0.1\n[t]\nlist = [1, \"two\\n words\", true]\n[[many]]\ny = -2.5e-300\n", "some file.toml");
  search.without.add(static_cast<Term>(2));
  const std::string message = message_of(search);
  const RankSearch read = read_rank_search(message);
  CHECK(read.serial == 7);
  CHECK(read.threads == 3);
  CHECK(read.bounded);
  CHECK(read.file == search.file);
  CHECK(read.without.has(static_cast<Term>(2)));
  CHECK_FALSE(read.without.has(static_cast<Term>(1)));
  CHECK(message_of(read) == message);
  CHECK(read.document.find("x")->number == 0.1);
  CHECK(*read.document.find("x")->file == "some file.toml");
  CHECK(read.document.find("x")->at.line == 2);
  CHECK(read.document.find("many")->items.front().find("y")->number == -2.5e-300);
  for (std::size_t kept = 0; kept + 1 < message.size(); kept += 7) {
    CHECK_THROWS_AS((void)read_rank_search(message.substr(0, kept)), ConfigError);
  }

  const SearchQuestion question = many_jobs();
  const SearchSetting setting = setting_of(question, true, 1);
  SearchUnit unit;
  unit.serial = 1;
  unit.id = 99;
  unit.turn = 5;
  unit.kind = SearchUnit::Kind::layouts;
  unit.layouts = {{3, {0.1, Seconds{1.0 / 3.0}}}, {8, {2e300, Seconds{5e-324}}}};
  Incumbents start = no_incumbents(setting);
  Candidate candidate;
  candidate.job = 4;
  candidate.rental = rental_of(question, 4);
  candidate.goal = 0.3;
  candidate.step = Seconds{0.7};
  candidate.front = {0.3, 0.7};
  start.consider(candidate);
  start.fell_short(Limit::memory, candidate, 1.0 / 7.0);
  Incumbents read_start = no_incumbents(setting);
  const SearchUnit again = read_unit(message_of(unit, start_text(start)), question, read_start);
  CHECK(again.id == 99);
  CHECK(again.turn == 5);
  REQUIRE(again.layouts.size() == 2);
  CHECK(again.layouts[1].layout == 8);
  CHECK(again.layouts[0].bound.step.raw() == 1.0 / 3.0);
  CHECK(again.layouts[1].bound.step.raw() == 5e-324);
  REQUIRE(read_start.best().size() == 1);
  CHECK(same_plan(read_start.best().front(), candidate));
  CHECK(read_start.best().front().goal == 0.3);
  CHECK(read_start.best().front().rental == candidate.rental);
  CHECK(read_start.shortfall(Limit::memory) == 1.0 / 7.0);
  CHECK_THROWS_AS((void)read_unit("unit 1 2", question, read_start), ConfigError);
  CHECK_THROWS_AS((void)read_unit("unit 1 2 3 0 0 1 0 0\nnonsense 1\n", question, read_start), ConfigError);
}
