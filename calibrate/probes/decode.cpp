// SPDX-License-Identifier: Apache-2.0
// Decode attention over a paged cache: pages in random order, checked on the host, then timed.
#include <headroom/calibrate/probes/decode_kernels.hpp>
#include <headroom/calibrate/probes/device_rows.hpp>
#include <headroom/calibrate/probes/kernels.hpp>
#include <headroom/calibrate/probes/prepared.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace headroom::probes {
namespace {

constexpr std::int64_t half_bytes = 2;

class DecodeProblem {
 public:
  DecodeProblem(const Session& session, const Request& r)
      : session_{&session}, copies_{r.copies}, page_count_{checked_pages(r)} {
    a_.batch = r.batch;
    a_.context = r.tokens;
    a_.heads = r.heads;
    a_.kv_heads = r.kv_heads;
    a_.head_dim = r.head_dim;
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, session.device), "cudaDeviceGetAttribute");
    a_.splits = decode_splits(r.batch, r.kv_heads, r.tokens, sms);
    page_numbers_ = decode_page_tokens * r.kv_heads * r.head_dim;
    side_ = r.batch * page_count_ * page_numbers_ * half_bytes;  // a multiple of 256, because a page is
    keys_ = DeviceMemory{copies_ * side_};
    values_ = DeviceMemory{copies_ * side_};
    const std::int64_t queries = r.batch * r.heads * r.head_dim;
    queries_ = DeviceMemory{queries * half_bytes};
    output_ = DeviceMemory{queries * half_bytes};
    parts_ = DeviceMemory{r.batch * r.heads * a_.splits * (r.head_dim + 2) * static_cast<std::int64_t>(sizeof(float))};
    const cudaStream_t stream = session.stream.get();
    check(fill_normal(queries_.at(), queries, Element::bf16, 1, stream), "fill kernel");
    check(fill_normal(keys_.at(), copies_ * side_ / half_bytes, Element::bf16, 2, stream), "fill kernel");
    check(fill_normal(values_.at(), copies_ * side_ / half_bytes, Element::bf16, 3, stream), "fill kernel");
    scatter_pages();
    session.stream.wait();
  }

  void enqueue(std::int64_t i, cudaStream_t stream) const {
    const std::int64_t copy = i % copies_;
    DecodeArguments a = a_;
    a.queries = queries_.at();
    a.keys = keys_.at(copy * side_);
    a.values = values_.at(copy * side_);
    a.output = output_.at();
    a.pages = static_cast<const std::int32_t*>(table_.at(copy * table_stride()));
    a.parts = static_cast<float*>(parts_.at());
    check(decode(a, stream), "decode kernel");
  }

  /// Runs once and compares three rows with the host's. Throws Refused when they differ.
  void verify() const {
    enqueue(0, session_->stream.get());
    session_->stream.wait();
    const std::array<std::array<std::int64_t, 2>, 3> places{
        {{0, 0}, {a_.batch / 2, a_.heads / 2}, {a_.batch - 1, a_.heads - 1}}};
    for (const auto& [sequence, head] : places) {
      const std::int64_t kv_head = head / (a_.heads / a_.kv_heads);
      const Rows keys = cached(keys_, sequence, kv_head);
      const Rows values = cached(values_, sequence, kv_head);
      const std::int64_t row = ((sequence * a_.heads) + head) * a_.head_dim * half_bytes;
      const Rows query = rows_at(queries_.at(row), 1, a_.head_dim, a_.head_dim);
      const Rows got = rows_at(output_.at(row), 1, a_.head_dim, a_.head_dim);
      const AttendedRow right = attended(query.at(0), keys, values, a_.context);
      constexpr double tolerance = 0.02;  // bf16 keeps 8 bits of the result; everything before it is fp32
      const double error = relative_error(got.numbers, right.output);
      if (!(error <= tolerance)) {
        throw Refused{"decode attention is wrong: the output of sequence " + std::to_string(sequence) + ", head " +
                      std::to_string(head) + " is off by " + std::to_string(error) + " of its size"};
      }
    }
  }

 private:
  static std::int64_t checked_pages(const Request& r) {
    if (r.batch <= 0 || r.tokens <= 0 || r.kv_heads <= 0 || r.heads <= 0 || r.heads % r.kv_heads != 0 ||
        r.copies <= 0) {
      throw Refused{"batch, tokens, heads and copies must be positive, query heads a multiple of key heads"};
    }
    const std::int64_t group = r.heads / r.kv_heads;
    if ((r.head_dim != 64 && r.head_dim != 128) || group > most_decode_group || (group & (group - 1)) != 0) {
      throw Refused{"decode attention is for heads of 64 or 128 and 1, 2, 4 or 8 query heads a key head"};
    }
    const std::int64_t pages = (r.tokens + decode_page_tokens - 1) / decode_page_tokens;
    constexpr std::int64_t most_pages = 0x7FFFFFFF;
    if (r.batch * pages > most_pages) {
      throw Refused{"the cache has more pages than a 32-bit table can name"};
    }
    return pages;
  }

  [[nodiscard]] std::int64_t table_stride() const {
    constexpr std::int64_t alignment = 256;
    const std::int64_t bytes = a_.batch * page_count_ * static_cast<std::int64_t>(sizeof(std::int32_t));
    return (bytes + alignment - 1) / alignment * alignment;
  }

  /// Places the pages of all sequences in random order, as after hours of serving.
  void scatter_pages() {
    order_.resize(static_cast<std::size_t>(a_.batch * page_count_));
    std::iota(order_.begin(), order_.end(), 0);
    std::shuffle(order_.begin(), order_.end(), std::mt19937{1});
    table_ = DeviceMemory{copies_ * table_stride()};
    for (std::int64_t copy = 0; copy < copies_; ++copy) {
      check(cudaMemcpy(table_.at(copy * table_stride()), order_.data(), order_.size() * sizeof(std::int32_t),
                       cudaMemcpyHostToDevice),
            "cudaMemcpy");
    }
  }

  /// One key head of one sequence in the first copy, in the order of its tokens.
  [[nodiscard]] Rows cached(const DeviceMemory& side, std::int64_t sequence, std::int64_t kv_head) const {
    Rows rows;
    rows.width = a_.head_dim;
    for (std::int64_t page = 0; page < page_count_; ++page) {
      const std::int64_t where = order_[static_cast<std::size_t>((sequence * page_count_) + page)];
      const std::int64_t first = (where * page_numbers_) + (kv_head * a_.head_dim);
      const Rows part =
          rows_at(side.at(first * half_bytes), decode_page_tokens, a_.head_dim, a_.kv_heads * a_.head_dim);
      rows.numbers.insert(rows.numbers.end(), part.numbers.begin(), part.numbers.end());
    }
    return rows;
  }

  const Session* session_;
  DecodeArguments a_;
  std::int64_t copies_;
  std::int64_t page_count_;        ///< pages of a sequence
  std::int64_t page_numbers_ = 0;  ///< numbers per page
  std::int64_t side_ = 0;          ///< bytes of the keys (or the values) of one copy
  DeviceMemory queries_, keys_, values_, output_, table_, parts_;
  std::vector<std::int32_t> order_;
};

}  // namespace

Prepared prepared_decode(const Session& session, const Request& request) {
  const auto problem = std::make_shared<const DecodeProblem>(session, request);
  problem->verify();
  return {[problem](std::int64_t i, cudaStream_t stream) { problem->enqueue(i, stream); }};
}

Result measure_decode(const Session& session, const Request& request) {
  return replayed_spans(session.stream, request, prepared_decode(session, request).enqueue);
}

}  // namespace headroom::probes
