// SPDX-License-Identifier: Apache-2.0
// What a probed collective must leave on every rank, against its definition carried out element by element.
#include <headroom/calibrate/probes/nccl/nccl_numbers.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <vector>

using namespace headroom::probes;

namespace {

using Buffer = std::vector<int>;

std::vector<Buffer> sent_by(CollectiveOp op, std::int64_t elements, std::int64_t ranks) {
  std::vector<Buffer> all;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    Buffer& buffer = all.emplace_back();
    for (std::int64_t i = 0; i < counts_of(op, elements, ranks).sent; ++i) {
      buffer.push_back(element_of(rank, i));
    }
  }
  return all;
}

Buffer sum_of(const std::vector<Buffer>& all) {
  Buffer sum(all.front().size());
  for (const Buffer& buffer : all) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += buffer[i];
    }
  }
  return sum;
}

Buffer part(const Buffer& whole, std::int64_t index, std::size_t size) {
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(index) * static_cast<std::ptrdiff_t>(size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

void append(Buffer& to, const Buffer& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// What NCCL's manual says that a rank holds afterwards.
Buffer received_by(CollectiveOp op, std::int64_t rank, const std::vector<Buffer>& sent) {
  const std::size_t ranks = sent.size();
  const auto at = static_cast<std::size_t>(rank);
  Buffer result;
  switch (op) {
    case CollectiveOp::all_reduce:
    case CollectiveOp::reduce: return sum_of(sent);
    case CollectiveOp::reduce_scatter: return part(sum_of(sent), rank, sent[0].size() / ranks);
    case CollectiveOp::all_gather:
      for (const Buffer& buffer : sent) {
        append(result, buffer);
      }
      return result;
    case CollectiveOp::broadcast: return sent[0];
    case CollectiveOp::all_to_all:
      for (const Buffer& buffer : sent) {
        append(result, part(buffer, rank, buffer.size() / ranks));
      }
      return result;
    case CollectiveOp::send_recv: return sent[(at + ranks - 1) % ranks];
  }
  return result;
}

}  // namespace

TEST_CASE("what must arrive of a collective is its definition, on every rank and element") {
  for (const std::int64_t ranks : {2, 3, 8}) {
    const std::int64_t elements = 16 * ranks;
    for (int op = 0; op <= static_cast<int>(CollectiveOp::send_recv); ++op) {
      const CollectiveOp collective{op};
      CAPTURE(ranks);
      CAPTURE(op);
      const std::vector<Buffer> sent = sent_by(collective, elements, ranks);
      const CollectiveCounts counts = counts_of(collective, elements, ranks);
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const Buffer right = received_by(collective, rank, sent);
        REQUIRE(static_cast<std::int64_t>(right.size()) == counts.received);
        Buffer expected;
        for (std::int64_t i = 0; i < counts.received; ++i) {
          expected.push_back(expected_element(collective, rank, ranks, counts.chunk, i));
        }
        CHECK(expected == right);
      }
    }
  }
}

TEST_CASE("ranks send different numbers, and their sums are whole in 16 bit") {
  std::set<int> values;
  int differing = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    values.insert(element_of(3, i));
    differing += element_of(3, i) == element_of(4, i) ? 0 : 1;
  }
  CHECK(values == std::set<int>{-2, -1, 0, 1, 2});
  CHECK(differing > 700);  // four fifths, were they drawn: a rank's buffer in place of another's is seen
}
