// SPDX-License-Identifier: Apache-2.0
// Records of ranks side by side: where they part, who does not come, who waits for whom.
#include <headroom/calibrate/diagnosis/hang_reading.hpp>
#include <headroom/calibrate/pickle/pickle_reader.hpp>
#include <headroom/calibrate/ranks/call_order.hpp>
#include <headroom/calibrate/ranks/hang.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/scratch_folder.hpp"
#include "pickle_writer.hpp"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

using test::pickle_file;
using test::pickled;
using test::pickled_list;
using test::pickled_table;
using test::says;

std::vector<std::int64_t> first_ranks(std::int64_t count) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// A rank of a job with one group, to which ops are added one by one.
struct Rank {
  RankRecord record;

  Rank(std::int64_t rank, std::vector<ProcessGroup> groups) {
    record.file = "rank_" + std::to_string(rank);
    record.rank = rank;
    record.groups = std::move(groups);
    counts.resize(record.groups.size(), 0);
  }
  Rank& issue(const std::string& name, double elements, bool ended, std::size_t group = 0) {
    IssuedOp op;
    op.group = group;
    op.number = ++counts[group];
    op.name = name;
    op.inputs = op.outputs = elements;
    op.dtype = "Float";
    op.state = ended ? OpState::completed : OpState::scheduled;
    op.created_ns = 1'000'000 * static_cast<std::int64_t>(record.ops.size());
    op.timeout_ms = 600'000;
    record.ops.push_back(op);
    return *this;
  }
  Rank& message(const std::string& name, std::int64_t from, std::int64_t to, bool ended) {
    issue(name, 8, ended);
    --counts[0];
    record.ops.back().message = true;
    record.ops.back().from = from;
    record.ops.back().to = to;
    return *this;
  }
  std::vector<std::int64_t> counts;
};

/// Ranks of one group that all issue the same buckets, but for what `change` does.
std::vector<RankRecord> job(std::int64_t ranks, const std::function<void(std::int64_t, Rank&)>& issue) {
  std::vector<RankRecord> records;
  for (std::int64_t r = 0; r < ranks; ++r) {
    Rank rank{r, {{"0", "default_pg", first_ranks(ranks)}}};
    issue(r, rank);
    records.push_back(std::move(rank.record));
  }
  return records;
}

RunReading reading_of_records(const std::vector<RankRecord>& records) {
  RunReading reading;
  add_hang_reading(records, reading);
  return reading;
}

TEST_CASE("hang: a rank that skips one all-reduce is named with the index at which the ranks part") {
  // Buckets of 10, 20, 30, ... elements; rank 3 leaves the fifth out and goes on with the sixth.
  constexpr int skipped = 4;
  const auto records = job(8, [](std::int64_t rank, Rank& to) {
    for (int i = 0; i < 8; ++i) {
      if (rank != 3 || i != skipped) {
        to.issue("all_reduce", 10.0 * (i + 1), i < skipped);
      }
    }
  });
  const HangReading hang = hang_of(records);
  REQUIRE(hang.parting);
  CHECK(hang.parting->ranks == std::vector<std::int64_t>{3});
  CHECK(hang.parting->index == skipped);
  CHECK(hang.parting->number == skipped + 1);  // numbers begin at 1
  CHECK(hang.parting->issued == "all_reduce of 60 Float");
  CHECK(hang.parting->others == "all_reduce of 50 Float");
  CHECK(hang.parting->reason == PartingReason::skipped);
  CHECK(hang.parting->kind == PartingKind::size);
  CHECK(hang.patience->raw() == doctest::Approx(600.0));
  const RunReading reading = reading_of_records(records);
  REQUIRE(!reading.causes.empty());
  CHECK(reading.causes.front().kind == CauseKind::mismatched_collective);
  CHECK(reading.causes.front().lost == 1.0);
  CHECK(says(reading.causes.front().says, "Rank 3 issued all_reduce of 60 Float as number 5"));
  CHECK(says(reading.causes.front().cure, "same collectives in the same order"));
}

TEST_CASE("hang: a rank with one collective more, another type, another op or another size is told so") {
  struct Case {
    std::string name;
    std::function<void(Rank&)> odd;
    PartingKind kind;
    PartingReason reason;
  };
  const auto bucket = [](int i) { return 10.0 * (i + 1); };
  const std::vector<Case> cases{
      {"one more",
       [&](Rank& to) {
         to.issue("all_reduce", 10, true).issue("broadcast", 7, false);
         for (int i = 1; i < 4; ++i) {
           to.issue("all_reduce", bucket(i), false);
         }
       },
       PartingKind::op, PartingReason::extra},
      {"a last batch that is shorter",
       [&](Rank& to) {
         to.issue("all_reduce", 10, true).issue("all_reduce", 19, false).issue("all_reduce", 30, false);
       },
       PartingKind::size, PartingReason::unknown},
      {"another type",
       [&](Rank& to) {
         to.issue("all_reduce", 10, true).issue("all_reduce", 20, false);
         to.record.ops.back().dtype = "Half";
       },
       PartingKind::dtype, PartingReason::unknown},
      {"another op", [&](Rank& to) { to.issue("all_reduce", 10, true).issue("_all_gather_base", 20, false); },
       PartingKind::op, PartingReason::unknown}};
  for (const Case& one : cases) {
    CAPTURE(one.name);
    const HangReading hang = hang_of(job(4, [&](std::int64_t rank, Rank& to) {
      if (rank == 2) {
        one.odd(to);
      } else {
        for (int i = 0; i < 4; ++i) {
          to.issue("all_reduce", bucket(i), i == 0);
        }
      }
    }));
    REQUIRE(hang.parting);
    CHECK(hang.parting->ranks == std::vector<std::int64_t>{2});
    CHECK(hang.parting->number == 2);
    CHECK(hang.parting->kind == one.kind);
    CHECK(hang.parting->reason == one.reason);
  }
}

TEST_CASE("hang: parts of unequal size are no mismatch where an op allows them") {
  const auto records = job(4, [](std::int64_t rank, Rank& to) {
    to.issue("all_to_all", 10.0 + static_cast<double>(rank), true)
        .issue("all_gather", 5.0 * static_cast<double>(rank + 1), true);
  });
  CHECK(!hang_of(records).parting);
  CHECK(reading_of_records(records).causes.empty());
}

TEST_CASE("hang: without a majority both sides are named") {
  const HangReading hang =
      hang_of(job(2, [](std::int64_t rank, Rank& to) { to.issue(rank == 0 ? "all_reduce" : "broadcast", 8, false); }));
  REQUIRE(hang.parting);
  CHECK(hang.parting->even);
  CHECK(hang.parting->ranks == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("hang: the others wait for a rank that issues nothing more, until the watchdog") {
  const auto records = job(4, [](std::int64_t rank, Rank& to) {
    to.issue("all_reduce", 8, true);
    if (rank != 1) {
      to.issue("all_reduce", 8, false);
    }
  });
  const HangReading hang = hang_of(records);
  CHECK(hang.stopped == std::vector<std::int64_t>{1});
  CHECK(hang.silent.empty());
  CHECK(hang.circle.empty());
  CHECK(hang.progress.front().absent == std::vector<std::int64_t>{1});
  CHECK(hang.progress.front().complete == 1);
  CHECK(hang.progress.front().furthest == 2);
  const RunReading reading = reading_of_records(records);
  REQUIRE(reading.causes.size() == 1);
  CHECK(reading.causes.front().kind == CauseKind::dead_rank);
  CHECK(says(reading.causes.front().says, "Rank 1 issued nothing more, and ranks 0, 2 and 3 wait for it"));
  CHECK(says(reading.causes.front().says, "The watchdog ends the job 600 s after"));
}

TEST_CASE("hang: of ops that all look alike the lines of the program tell which one a rank left out") {
  // Six all-reduces of one size from lines 1 to 6; rank 3 leaves out the one of line 4.
  const auto records = job(4, [](std::int64_t rank, Rank& to) {
    for (int line = 1; line <= 6; ++line) {
      if (rank != 3 || line != 4) {
        to.issue("all_reduce", 8, to.record.ops.size() < 5);
        to.record.ops.back().site = "train.py:" + std::to_string(line);
      }
    }
  });
  const HangReading hang = hang_of(records);
  CHECK(!hang.parting);
  CHECK(hang.stopped == std::vector<std::int64_t>{3});
  REQUIRE(hang.left_out);
  CHECK(hang.left_out->rank == 3);
  CHECK(hang.left_out->number == 4);
  CHECK(hang.left_out->site == "train.py:4");
  CHECK(says(reading_of_records(records).causes.front().says, "Rank 3 left out number 4"));
}

TEST_CASE("hang: a rank without a record is dead where others wait for it, and only not passed where nobody does") {
  auto records = job(4, [](std::int64_t, Rank& to) { to.issue("all_reduce", 8, true).issue("all_reduce", 8, false); });
  records.erase(records.begin() + 2);
  const HangReading dead = hang_of(records);
  CHECK(dead.silent == std::vector<std::int64_t>{2});
  CHECK(says(reading_of_records(records).causes.front().says, "Rank 2 left no record"));
  for (RankRecord& record : records) {
    record.ops.back().state = OpState::completed;
  }
  const HangReading well = hang_of(records);
  CHECK(well.silent.empty());
  CHECK(well.unseen == std::vector<std::int64_t>{2});
  CHECK(reading_of_records(records).causes.empty());
}

TEST_CASE("hang: two groups entered in opposite orders wait for each other") {
  std::vector<RankRecord> records;
  for (std::int64_t r = 0; r < 2; ++r) {
    Rank rank{r, {{"1", "tp", {0, 1}}, {"2", "dp", {0, 1}}}};
    rank.issue("all_reduce", 8, true, 0).issue("all_reduce", 8, true, 1);
    const std::size_t first = r == 0 ? 0 : 1;
    rank.issue("all_reduce", 8, false, first).issue("all_reduce", 8, false, 1 - first);
    records.push_back(std::move(rank.record));
  }
  const HangReading hang = hang_of(records);
  CHECK(hang.circle == std::vector<std::int64_t>{0, 1});
  CHECK(!hang.parting);
  const RunReading reading = reading_of_records(records);
  REQUIRE(reading.causes.size() == 1);
  CHECK(reading.causes.front().kind == CauseKind::opposite_order);
  // The same orders on both ranks end.
  std::swap(records[1].ops[2], records[1].ops[3]);
  const HangReading well = hang_of(records);
  CHECK(!well.stuck());
  CHECK(!well.in_flight.empty());
}

TEST_CASE("hang: a chain of groups leads to the rank that everything waits for") {
  // 0 waits for 1 in {0, 1}, 1 waits for 2 in {1, 2}, 2 has nothing left to do.
  const std::vector<ProcessGroup> groups{{"a", "", {0, 1}}, {"b", "", {1, 2}}};
  Rank zero{0, groups};
  Rank one{1, groups};
  Rank two{2, groups};
  zero.issue("all_reduce", 8, false, 0);
  one.issue("all_reduce", 8, false, 1).issue("all_reduce", 8, false, 0);
  const std::vector<RankRecord> records{zero.record, one.record, two.record};
  const HangReading hang = hang_of(records);
  CHECK(hang.stopped == std::vector<std::int64_t>{2});
  CHECK(hang.ranks[0].waits_for == std::vector<std::int64_t>{1});
  CHECK(hang.ranks[1].waits_for == std::vector<std::int64_t>{2});
}

TEST_CASE("hang: a rank stands where it waits, not where the first op did not end yet") {
  // Ranks 0 and 1 both came to the op of their pair, which may still end; rank 2 does not come to that of all.
  const std::vector<ProcessGroup> groups{{"all", "", {0, 1, 2}}, {"pair", "", {0, 1}}};
  std::vector<RankRecord> records;
  for (std::int64_t r = 0; r < 3; ++r) {
    Rank rank{r, groups};
    rank.issue("all_reduce", 8, true, 0);
    if (r < 2) {
      rank.issue("broadcast", 8, false, 1).issue("all_reduce", 9, false, 0);
    }
    records.push_back(std::move(rank.record));
  }
  const HangReading hang = hang_of(records);
  CHECK(hang.stopped == std::vector<std::int64_t>{2});
  CHECK(hang.ranks[0].op == "all_reduce of 9 Float");
  CHECK(hang.ranks[0].waits_for == std::vector<std::int64_t>{2});
}

TEST_CASE("hang: a message that nobody sends is waited for from its sender") {
  const auto records = job(2, [](std::int64_t rank, Rank& to) {
    if (rank == 1) {
      to.message("recv", 0, 1, false);
    } else {
      to.message("send", 0, 1, true);
    }
  });
  const HangReading hang = hang_of(records);
  CHECK(hang.stopped == std::vector<std::int64_t>{0});
  CHECK(hang.ranks[1].waits_for == std::vector<std::int64_t>{0});
}

TEST_CASE("hang: durations name the rank that comes last") {
  // Ten all-reduces 100 ms apart last 1 ms on rank 2, which comes last, and 21 ms on the others: 20 ms of each 100.
  const auto records = job(4, [](std::int64_t rank, Rank& to) {
    for (int i = 0; i < 11; ++i) {
      to.issue("all_reduce", 8, true);
      to.record.ops.back().created_ns = 100'000'000LL * i;
      to.record.ops.back().lasted_ms = rank == 2 ? 1.0 : 21.0;
    }
  });
  const RunReading reading = reading_of_records(records);
  REQUIRE(reading.causes.size() == 1);
  CHECK(reading.causes.front().kind == CauseKind::straggler);
  CHECK(says(reading.causes.front().says, "rank 2"));
  CHECK(reading.causes.front().lost == doctest::Approx(11 * 0.020 / 1.0));
}

TEST_CASE("hang: healthy records name no cause") {
  const auto records = job(16, [](std::int64_t, Rank& to) {
    for (int i = 0; i < 100; ++i) {
      to.issue(i % 3 == 0 ? "_all_gather_base" : "_reduce_scatter_base", 1000.0 + i, true);
    }
  });
  const RunReading reading = reading_of_records(records);
  CHECK(reading.causes.empty());
  CHECK(reading.ranks == 16);
}

TEST_CASE("hang: records of which older ops were overwritten are compared where all still have them") {
  auto records = job(4, [](std::int64_t, Rank& to) {
    for (int i = 0; i < 50; ++i) {
      to.issue("all_reduce", 10.0 * (i + 1), true);
    }
  });
  for (std::size_t r = 0; r < records.size(); ++r) {
    records[r].whole = false;
    records[r].ops.erase(records[r].ops.begin(), records[r].ops.begin() + static_cast<std::ptrdiff_t>(7 * r));
  }
  CHECK(!hang_of(records).parting);
  CHECK(!hang_of(records).stuck());
}

TEST_CASE("hang: two records of one rank, and ranks that share no group, are refused") {
  auto records = job(2, [](std::int64_t, Rank& to) { to.issue("all_reduce", 8, true); });
  records[1].rank = 0;
  CHECK_THROWS_WITH_AS(static_cast<void>(hang_of(records)), doctest::Contains("rank 0 is told by rank_0 as well"),
                       ConfigError);
  std::vector<RankRecord> apart;
  for (std::int64_t r = 0; r < 2; ++r) {
    Rank rank{r, {{std::to_string(r), "", {r}}}};
    rank.issue("all_reduce", 8, true);
    apart.push_back(std::move(rank.record));
  }
  CHECK_THROWS_WITH_AS(static_cast<void>(hang_of(apart)), doctest::Contains("share no process group"), ConfigError);
  auto foreign = job(2, [](std::int64_t, Rank& to) { to.issue("all_reduce", 8, true); });
  foreign[1].rank = 5;
  CHECK_THROWS_WITH_AS(static_cast<void>(hang_of(foreign)), doctest::Contains("of which it is no member"), ConfigError);
}

TEST_CASE("call order: calls end when all members entered them, and what is left tells who waits") {
  // Groups {0, 1} and {1, 2}; rank 2 never enters the second call of its group.
  const std::vector<std::vector<std::size_t>> members{{0, 1}, {1, 2}};
  const std::vector<CallSequence> ranks{{{{0, 0, "a"}, {0, 1, "a"}}, {}},
                                        {{{0, 0, "a"}, {1, 0, "a"}, {1, 1, "a"}, {0, 1, "a"}}, {}},
                                        {{{1, 0, "a"}}, {}}};
  const CallPlay play = play_calls(ranks, members);
  CHECK(play.left == std::vector<std::size_t>{1, 2, 1});
  CHECK(play.waits_for[0] == std::vector<std::size_t>{1});
  CHECK(play.waits_for[1] == std::vector<std::size_t>{2});
  CHECK(play.waits_for[2].empty());
  CHECK(!play.all_end());
  CHECK(waiting_circle(play.waits_for).empty());
  // The shortest way round: 1 and 2 wait for each other, 0 and 3 only for them.
  const std::vector<std::vector<std::size_t>> waits{{1}, {2}, {3, 1}, {0}};
  CHECK(waiting_circle(waits) == std::vector<std::size_t>{0, 1, 2, 3});
  const std::vector<std::vector<std::size_t>> pair{{1}, {2}, {1}, {2}};
  CHECK(waiting_circle(pair) == std::vector<std::size_t>{1, 2});
}

/// An entry as PyTorch 2.5 dumps it.
std::string entry(int number, const char* name, const char* state) {
  return pickled_table({{"record_id", pickled(number)},
                        {"pg_id", pickled(0)},
                        {"process_group", pickled_list({pickled("0"), pickled("default_pg")})},
                        {"collective_seq_id", pickled(number + 1)},
                        {"p2p_seq_id", pickled(0)},
                        {"profiling_name", pickled(name)},
                        {"time_created_ns", pickled(std::int64_t{1'700'000'000'000'000'000})},
                        {"input_sizes", pickled_list({pickled_list({pickled(3), pickled(4)})})},
                        {"input_dtypes", pickled_list({pickled("Float")})},
                        {"output_sizes", pickled_list({pickled_list({pickled(3), pickled(4)})})},
                        {"state", pickled(state)},
                        {"time_discovered_completed_ns", "N"},
                        {"timeout_ms", pickled(3'600'000)},
                        {"is_p2p", pickled(false)}});
}

std::string dump(const std::vector<std::string>& entries) {
  return pickle_file(
      pickled_table({{"version", pickled("2.4")},
                     {"pg_config", pickled_table({{"0", pickled_table({{"name", pickled("0")},
                                                                       {"desc", pickled("default_pg")},
                                                                       {"ranks", pickled("[0, 1, 2, 3]")}})}})},
                     {"entries", pickled_list(entries)}}));
}

TEST_CASE("flight recorder: a dump says ops, sizes, groups and states, and its file the rank") {
  const PlainData data =
      read_pickle(dump({entry(0, "nccl:all_reduce", "completed"), entry(1, "nccl:broadcast", "started")}), "f");
  CHECK(is_recorder_dump(data));
  const RankRecord record = read_recorder_dump(data, "dumps/nccl_trace_rank_3");
  CHECK(record.rank == 3);
  CHECK(record.whole);
  REQUIRE(record.groups.size() == 1);
  CHECK(record.groups[0].ranks == first_ranks(4));
  REQUIRE(record.ops.size() == 2);
  CHECK(record.ops[0].name == "all_reduce");
  CHECK(record.ops[0].inputs == 12.0);
  CHECK(record.ops[0].state == OpState::completed);
  CHECK(record.ops[1].state == OpState::started);
  CHECK(record.ops[1].number == 2);
  CHECK(record.ops[1].timeout_ms == 3'600'000.0);
  const RankRecord send =
      read_recorder_dump(read_pickle(dump({entry(0, "nccl:recv 3<-0", "started")}), "f"), "rank_0.pickle");
  CHECK(send.ops[0].from == 0);
  CHECK(send.ops[0].to == 3);
}

TEST_CASE("flight recorder: parts of a coalesced op are as far as the whole") {
  // Parts are never more than scheduled in a dump; all three entries have number 1.
  const auto part = [](const char* name, const char* state) { return entry(0, name, state); };
  const RankRecord record = read_recorder_dump(
      read_pickle(dump({part("nccl:_all_gather_base", "scheduled"), part("nccl:_all_gather_base", "scheduled"),
                        part("nccl:coalesced", "completed"), entry(1, "nccl:all_reduce", "scheduled")}),
                  "f"),
      "rank_0");
  REQUIRE(record.ops.size() == 4);
  CHECK(record.ops[0].state == OpState::completed);
  CHECK(record.ops[1].state == OpState::completed);
  CHECK(record.ops[3].state == OpState::scheduled);
}

TEST_CASE("flight recorder: the rank stands at the end of a name or behind the word") {
  CHECK(rank_of_name("dumps/nccl_trace_rank_12") == 12);
  CHECK(rank_of_name("job7/nccl_trace_rank_0.json.gz") == 0);
  CHECK(rank_of_name("rank3-host.pickle") == 3);
  CHECK(rank_of_name("dump.json") == std::nullopt);
  CHECK(rank_of_name("nccl_trace_rank_99999999999") == std::nullopt);
}

TEST_CASE("flight recorder: every wrong entry is told, and a name without a rank") {
  const PlainData data = read_pickle(
      dump({entry(0, "nccl:all_reduce", "lost"), pickled(7), pickled_table({{"state", pickled("started")}})}), "f");
  try {
    static_cast<void>(read_recorder_dump(data, "dump.pickle"));
    FAIL("read");
  } catch (const ConfigError& error) {
    CHECK(says(error.what(), "does not say its rank"));
    CHECK(says(error.what(), "entry 0: its state is 'lost'"));
    CHECK(says(error.what(), "entry 1: it is no table"));
    CHECK(says(error.what(), "entry 2: it has no profiling_name"));
  }
}

TEST_CASE("flight recorder: JSON holds the same as a pickle") {
  const test::ScratchFolder scratch;
  const std::string file = scratch.write(
      "nccl_trace_rank_1.json",
      R"({"entries":[{"collective_seq_id":1,"input_dtypes":["Float"],"input_sizes":[[3,4]],"is_p2p":false,"op_id":1,)"
      R"("output_sizes":[[3,4]],"process_group":["0","default_pg"],"profiling_name":"nccl:all_reduce","record_id":0,)"
      R"("state":"completed","time_created_ns":1700000000000000000,"time_discovered_completed_ns":0,)"
      R"("timeout_ms":3600000}],"pg_config":{"0":{"desc":"default_pg","name":"0","ranks":"[0, 1]"}},"version":"2.4"})");
  const RankRecord record = read_recorder_dump(read_plain_json(file), file);
  CHECK(record.rank == 1);
  REQUIRE(record.ops.size() == 1);
  CHECK(record.ops[0].inputs == 12.0);
  CHECK(record.ops[0].created_ns == 1'700'000'000'000'000'000);
  CHECK(!record.ops[0].completed_ns);
  CHECK(record.groups[0].ranks == std::vector<std::int64_t>{0, 1});
}

}  // namespace
}  // namespace headroom
