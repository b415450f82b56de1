// SPDX-License-Identifier: Apache-2.0
// Collectives over stated links, buckets, backward passes and compressed gradients.
#include <headroom/model/collectives/collective_series.hpp>
#include <headroom/model/collectives/textbook_times.hpp>

#include <doctest/doctest.h>

#include "../hardware/wirings.hpp"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {
namespace {

using test::gigabytes_per_second;
using A = TextbookAlgorithm;

TextbookGroup flat_group(std::int64_t ranks, double rate, double message) {
  TextbookGroup group;
  group.ranks = ranks;
  group.link = gigabytes_per_second(rate);
  group.message = Seconds{message};
  return group;
}

std::optional<TextbookTime> find(const std::vector<TextbookTime>& times, A algorithm) {
  const auto at = std::find_if(times.begin(), times.end(), [&](const auto& t) { return t.algorithm == algorithm; });
  return at == times.end() ? std::nullopt : std::optional{*at};
}

TEST_CASE("textbook times of a stated link: the ring, the tree where latency is all, 157.5 ms for 4 GB over 64") {
  const auto times = [](Collective collective, double bytes, std::int64_t ranks, double message) {
    return textbook_times(collective, Bytes{bytes}, flat_group(ranks, 50.0, message));
  };
  const auto small = times(Collective::all_reduce, 8e3, 64, 5e-6);
  CHECK(find(small, A::double_tree)->time.raw() == doctest::Approx(60e-6).epsilon(0.05));
  CHECK(find(small, A::ring)->time.raw() == doctest::Approx(630e-6).epsilon(0.01));
  CHECK(taken_of(small, std::nullopt).algorithm == A::double_tree);
  CHECK(taken_of(times(Collective::all_reduce, 1e9, 64, 5e-6), std::nullopt).algorithm == A::ring);
  CHECK(find(times(Collective::all_reduce, 4e9, 64, 0.0), A::ring)->time.raw() == doctest::Approx(0.1575));
  // Halves of a ring, and sends to everyone as many bytes.
  for (const Collective half : {Collective::reduce_scatter, Collective::all_gather, Collective::all_to_all}) {
    CHECK(taken_of(times(half, 4e9, 64, 0.0), std::nullopt).time.raw() == doctest::Approx(0.07875));
  }
  // A few bytes go down a tree, many along a chain: (p + n - 2) (a + S/(p B)) is least at p = sqrt((n-2) S/(B a)) =
  // 498.
  CHECK(taken_of(times(Collective::broadcast, 1e3, 64, 5e-6), std::nullopt).time.raw() ==
        doctest::Approx(6.0 * (5e-6 + 2e-8)));
  const auto large = times(Collective::broadcast, 1e9, 64, 5e-6);
  CHECK(taken_of(large, std::nullopt).algorithm == A::chain);
  CHECK(find(large, A::chain)->time.raw() == doctest::Approx((498.0 + 62.0) * (5e-6 + 0.02 / 498.0)).epsilon(0.001));
  CHECK(find(large, A::scattered)->time.raw() == doctest::Approx(69.0 * 5e-6 + 2.0 * 63.0 / 64.0 * 0.02));
  CHECK(times(Collective::send_recv, 1e9, 64, 5e-6)[0].time.raw() == doctest::Approx(0.020005));
  CHECK(times(Collective::all_reduce, 1e9, 1, 5e-6).empty());
}

TEST_CASE("recursive doubling, halving and doubling, and switches take the steps and bytes of their equations") {
  // 1 MB over 8 ranks at 100 GB/s: 10 us a buffer; 2 us a message.
  const auto times = textbook_times(Collective::all_reduce, Bytes{1e6}, flat_group(8, 100.0, 2e-6));
  const auto doubling = find(times, A::recursive_doubling);
  CHECK(doubling->steps == 3);
  CHECK(doubling->time.raw() == doctest::Approx(3 * 12e-6));
  CHECK(doubling->sent.raw() == doctest::Approx(3e6));
  const auto halving = find(times, A::halving_doubling);
  CHECK(halving->steps == 6);
  CHECK(halving->time.raw() == doctest::Approx(6 * 2e-6 + 1.75 * 10e-6));
  CHECK(halving->sent.raw() == doctest::Approx(1.75e6));
  const auto tree = find(times, A::tree);
  CHECK(tree->time.raw() == doctest::Approx(6 * 12e-6));
  const auto nvls = find(times, A::nvls);
  CHECK(nvls->time.raw() == doctest::Approx(2 * 2e-6 + 1.125 * 10e-6));
  CHECK(nvls->in_switch);
  CHECK(find(times, A::sharp)->time.raw() == doctest::Approx(2 * 2e-6 + 10e-6));
  CHECK_FALSE(find(times, A::hierarchical));
  // Six ranks: two of them hand their buffers over first and get the sum back.
  const auto six = textbook_times(Collective::all_reduce, Bytes{1e6}, flat_group(6, 100.0, 2e-6));
  CHECK(find(six, A::recursive_doubling)->time.raw() == doctest::Approx(4 * 12e-6));
}

TEST_CASE("reduce-scatter and all-gather are an all-reduce for any number of ranks") {
  for (std::int64_t ranks = 2; ranks <= 1024; ++ranks) {
    const TextbookGroup group = flat_group(ranks, 50.0, 5e-6);
    const auto ring = [&](Collective collective) {
      return *find(textbook_times(collective, Bytes{1e9}, group), A::ring);
    };
    const TextbookTime whole = ring(Collective::all_reduce), scatter = ring(Collective::reduce_scatter),
                       gather = ring(Collective::all_gather);
    CAPTURE(ranks);
    CHECK(std::abs((whole.sent - scatter.sent - gather.sent).raw()) <= 1e-6);
    CHECK(whole.time.raw() == doctest::Approx((scatter.time + gather.time).raw()).epsilon(1e-12));
  }
}

TEST_CASE("eight nodes of eight: 0.21875 D leave a NIC in two levels, 1.96875 D in one ring, an eighth on every NIC") {
  TextbookGroup group = flat_group(64, 50.0, 5e-6);
  group.per_node = 8;
  group.inside = gigabytes_per_second(450.0);
  group.inside_message = Seconds{1e-6};
  const auto times = textbook_times(Collective::all_reduce, Bytes{1e9}, group);
  CHECK(find(times, A::hierarchical)->nic.raw() == doctest::Approx(0.21875e9));
  CHECK(find(times, A::halving_doubling)->nic.raw() == doctest::Approx(0.21875e9));
  CHECK(find(times, A::ring)->nic.raw() == doctest::Approx(1.96875e9));
  CHECK(find(times, A::rings)->nic.raw() == doctest::Approx(1.96875e9 / 8));
  CHECK(find(times, A::sharp)->nic.raw() == doctest::Approx(0.125e9));
  // 14 messages of 1 us and 14 of 5; 2 x 7/8 GB at 450 GB/s and 0.21875 GB at 50.
  CHECK(find(times, A::hierarchical)->time.raw() == doctest::Approx(14e-6 + 70e-6 + 1.75 / 450 + 0.21875 / 50));
  // Pieces pass the node's and the network's switches one behind another: of many bytes the slower stage is left,
  // halves of a ring inside (3.9 ms, not 2.5 on a NIC), and 0.21875 GB on a NIC (4.4 ms, not 2.5 through the node's
  // switch).
  CHECK(find(times, A::sharp)->time.raw() == doctest::Approx(1.75 / 450).epsilon(0.02));
  CHECK(find(times, A::nvls)->time.raw() == doctest::Approx(0.21875 / 50).epsilon(0.02));
  // A chain a NIC: an eighth of the buffer leaves each; the root sends all of it inside.
  const auto sent = textbook_times(Collective::broadcast, Bytes{1e9}, group);
  CHECK(find(sent, A::chain)->nic.raw() == doctest::Approx(0.125e9));
  CHECK(find(sent, A::chain)->time.raw() >= 0.125 / 50);
  CHECK(find(sent, A::chain)->time.raw() == doctest::Approx(0.125 / 50).epsilon(0.15));
  // An all-to-all through the receiver's rail sends as many bytes in messages eight times as large.
  const auto to_all = textbook_times(Collective::all_to_all, Bytes{1e9}, group);
  CHECK(find(to_all, A::hierarchical)->steps == 14);
  CHECK(find(to_all, A::pairwise)->steps == 63);
  CHECK(find(to_all, A::hierarchical)->nic == find(to_all, A::pairwise)->nic);
}

TEST_CASE("where the fastest changes both take as long, and the one is faster on either side") {
  const TextbookGroup group = flat_group(64, 50.0, 5e-6);
  const auto crossovers = textbook_crossovers(Collective::all_reduce, group, true);
  REQUIRE(crossovers.size() == 1);
  CHECK(crossovers[0].below == A::double_tree);
  CHECK(crossovers[0].above == A::ring);
  for (const double factor : {0.5, 1.0, 2.0}) {
    const auto times = textbook_times(Collective::all_reduce, factor * crossovers[0].bytes, group);
    const double ratio = find(times, A::double_tree)->time / find(times, A::ring)->time;
    CAPTURE(factor);
    CHECK((factor < 1.0 ? ratio < 1.0 : factor > 1.0 ? ratio > 1.0 : std::abs(ratio - 1.0) < 0.001));
  }
}

TEST_CASE("300 all-reduces of 100 KB cost 21.3 ms one by one and 0.40 in two buckets") {
  const TextbookGroup group = flat_group(8, 200.0, 5e-6);
  const TimeOfBytes ring = [&](Bytes bytes) {
    return find(textbook_times(Collective::all_reduce, bytes, group), A::ring)->time;
  };
  const CollectiveSeries series{Bytes{100e3}, 300};
  CHECK(unfused(series, {}, ring).time.raw() == doctest::Approx(21.3e-3).epsilon(0.005));
  const Bucketing two = bucketed(series, Bytes{15e6}, {}, ring);
  CHECK(two.buckets == 2);
  CHECK(two.time.raw() == doctest::Approx(0.40e-3).epsilon(0.01));
  // Whole buffers: 250 KB hold two.
  CHECK(bucketed(series, Bytes{250e3}, {}, ring).buckets == 150);
  CHECK(best_bucketing(series, {}, ring).buckets == 1);
}

TEST_CASE("of more buffers than a search of buckets tries, none fused is the best where messages cost nothing") {
  // 5,000 of 1 MB made in 500 ms: each takes 20 us of the 100 between two, and only the last is left.
  const TimeOfBytes time = [](Bytes bytes) { return bytes / gigabytes_per_second(50.0); };
  const Bucketing best = best_bucketing({Bytes{1e6}, 5000}, Seconds{0.5}, time);
  CHECK(best.buckets == 5000);
  CHECK(best.exposed.raw() == doctest::Approx(20e-6));
}

TEST_CASE("80 ms beside a backward pass of 100 leave the last bucket's 5 % exposed, 4 ms, and after it all 80") {
  const TimeOfBytes time = [](Bytes bytes) { return bytes / gigabytes_per_second(50.0); };
  const CollectiveSeries series{Bytes{4e9}, 1};
  const Bucketing b = bucketed(series, Bytes{0.2e9}, Seconds{0.1}, time);
  CHECK(b.buckets == 20);
  CHECK(b.time.raw() == doctest::Approx(0.080));
  CHECK(b.exposed.raw() == doctest::Approx(0.004));
  CHECK(bucketed(series, Bytes{4e9}, Seconds{0.1}, time).exposed.raw() == doctest::Approx(0.080));
  // Where communication takes longer than the pass, what is over stays: the first bucket waits for its gradients.
  const Bucketing slow = bucketed(series, Bytes{0.2e9}, Seconds{0.04}, time);
  CHECK(slow.exposed.raw() == doctest::Approx(0.04 / 20 + 0.080 - 0.04));
  // With a cost per message very small buckets lose again.
  const TimeOfBytes costly = [&](Bytes bytes) { return Seconds{1e-3} + time(bytes); };
  const Bucketing best = best_bucketing(series, Seconds{0.1}, costly);
  CHECK(best.buckets > 1);
  CHECK(best.buckets < 1024);
  for (const Bucketing& other : bucket_sweep(series, Seconds{0.1}, costly)) {
    CHECK(best.exposed <= other.exposed);
  }
}

TEST_CASE("8 GB of fp32 gradients are 4 in bf16, 2 in fp8 and 0.16 of the top 1 %, whose lists are gathered") {
  const Bytes fp32{8e9};
  const auto form = [](const char* text) { return *gradient_compression_of(text); };
  CHECK(compressed_bytes(fp32, form("bf16")).raw() == doctest::Approx(4e9));
  CHECK(compressed_bytes(fp32, form("fp8")).raw() == doctest::Approx(2e9));
  CHECK(compressed_bytes(fp32, form("topk:0.01")).raw() == doctest::Approx(0.16e9));
  CHECK(error_feedback_bytes(fp32, form("topk:0.01")).raw() == doctest::Approx(8e9));
  CHECK(error_feedback_bytes(fp32, form("bf16")).raw() == 0.0);
  const SentCollective sent = compressed_collective(Collective::all_reduce, fp32, 64, form("topk:0.01"));
  CHECK(sent.collective == Collective::all_gather);
  CHECK(bytes_per_rank(sent.collective, sent.buffer, 64).raw() == doctest::Approx(63 * 0.16e9));
  for (const char* wrong : {"topk:0", "topk:1.5", "topk:-1", "topk:", "top", "int8", ""}) {
    CAPTURE(wrong);
    CHECK_FALSE(gradient_compression_of(wrong));
  }
}

}  // namespace
}  // namespace headroom
