// SPDX-License-Identifier: Apache-2.0
// Passes over memory: read, write, strided, gather, reduce, and a chain of steps separate and fused.
#include <headroom/calibrate/probes/kernels.hpp>
#include <headroom/calibrate/probes/pass_kernels.hpp>
#include <headroom/calibrate/probes/session.hpp>
#include <headroom/calibrate/probes/timing.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace headroom::probes {
namespace {

enum class Op : std::int32_t {  // NOLINT(performance-enum-size): Request::variant
  read,
  write,
  strided,
  gather,
  reduce,
  chain,
  fused
};

constexpr std::int64_t sector = 32;
constexpr std::int64_t number_bytes = sizeof(float);

std::int64_t placed(std::int64_t bytes) {
  constexpr std::int64_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// A pass with its sets of arrays: input, output and indices.
class Pass {
 public:
  Pass(const Session& session, const Request& request)
      : session_{&session},
        op_{checked(request)},
        bytes_{request.array_bytes},
        width_{request.width},
        rows_{request.width > 0 ? request.array_bytes / request.width : 0},
        copies_{request.copies} {
    from_ = DeviceMemory{copies_ * placed(bytes_)};
    if (op_ != Op::write) {
      to_ = DeviceMemory{copies_ * to_bytes()};
    }
    const cudaStream_t stream = session.stream.get();
    check(fill_normal(from_.at(), copies_ * placed(bytes_) / number_bytes, Element::fp32, 1, stream), "fill kernel");
    if (op_ == Op::gather) {
      index_ = DeviceMemory{copies_ * index_bytes()};
      for (std::int64_t copy = 0; copy < copies_; ++copy) {
        check(random_rows(indices(copy), rows_, stream), "index kernel");
      }
    }
    session.stream.wait();
  }

  void enqueue(std::int64_t i, cudaStream_t stream) const {
    const std::int64_t copy = i % copies_;
    void* from = from_.at(copy * placed(bytes_));
    void* to = op_ == Op::write ? nullptr : to_.at(copy * to_bytes());
    switch (op_) {
      case Op::read: check(sums_of(static_cast<float*>(to), from, bytes_, stream), "read kernel"); return;
      case Op::write: check(write_pattern(from, bytes_, stream), "write kernel"); return;
      case Op::strided:
        check(strided_sums_of(static_cast<float*>(to), from, bytes_, width_, stream), "strided kernel");
        return;
      case Op::gather: check(gather_rows(to, from, indices(copy), rows_, width_, stream), "gather kernel"); return;
      case Op::reduce: check(row_sums(static_cast<float*>(to), from, rows_, width_, stream), "reduce kernel"); return;
      case Op::chain:
        check(chain_step(to, from, bytes_, chain_constants[0], stream), "chain kernel");
        check(chain_step(from, to, bytes_, chain_constants[1], stream), "chain kernel");
        check(chain_step(to, from, bytes_, chain_constants[2], stream), "chain kernel");
        check(chain_step(from, to, bytes_, chain_constants[3], stream), "chain kernel");
        return;
      case Op::fused: check(fused_chain(to, from, bytes_, stream), "fused kernel"); return;
    }
  }

  /// Runs once and compares four of the numbers written with the host's. Throws Refused when they differ.
  void verify() const {
    const std::int64_t last = (result_bytes() / number_bytes) - 1;
    const std::array<std::int64_t, 4> places{0, last / 3, last / 2, last};
    std::array<Expected, 4> right{};  // computed before the launch, because a chain overwrites its input
    std::transform(places.begin(), places.end(), right.begin(), [this](std::int64_t i) { return expected(i); });
    enqueue(0, session_->stream.get());
    session_->stream.wait();
    const DeviceMemory& result = op_ == Op::write || op_ == Op::chain ? from_ : to_;
    for (std::size_t p = 0; p < places.size(); ++p) {
      const double got = static_cast<double>(numbers(result, places[p], 1).front());
      if (!(std::abs(got - right[p].value) <= right[p].tolerance)) {
        throw Refused{"the pass is wrong: number " + std::to_string(places[p]) + " is " + std::to_string(got) +
                      " where the host finds " + std::to_string(right[p].value)};
      }
    }
  }

 private:
  struct Expected {
    double value = 0.0, tolerance = 0.0;
  };

  static Op checked(const Request& request) {
    const Op op{request.variant};
    constexpr std::int64_t word = 16;
    const bool rows = op == Op::strided || op == Op::gather || op == Op::reduce;
    if (request.variant < 0 || op > Op::fused) {
      throw Refused{"unknown pass over memory"};
    }
    if (request.array_bytes <= 0 || request.array_bytes % word != 0 || request.copies <= 0) {
      throw Refused{"arrays must be a positive multiple of 16 bytes"};
    }
    if (rows && (request.width < sector || request.width % sector != 0 || request.array_bytes % request.width != 0)) {
      throw Refused{"rows must be a multiple of 32 bytes and divide the array"};
    }
    const std::int64_t count = rows ? request.array_bytes / request.width : 1;
    if (op == Op::gather && (count & (count - 1)) != 0) {
      throw Refused{"a gather needs a number of rows that is a power of two"};
    }
    constexpr std::int64_t most_blocks = 0x7FFFFFFF;
    if (count > most_blocks) {
      throw Refused{"too many rows for one launch"};
    }
    return op;
  }

  /// Bytes that one launch writes as its result.
  [[nodiscard]] std::int64_t result_bytes() const {
    const auto sums = [](std::int64_t bytes) {
      return number_bytes * ((bytes + pass_block_bytes - 1) / pass_block_bytes);
    };
    switch (op_) {
      case Op::read: return sums(bytes_);
      case Op::strided: return sums(rows_ * sector);
      case Op::reduce: return rows_ * number_bytes;
      case Op::write:
      case Op::gather:
      case Op::chain:
      case Op::fused: break;
    }
    return bytes_;
  }
  [[nodiscard]] std::int64_t to_bytes() const { return placed(result_bytes()); }
  [[nodiscard]] std::int64_t index_bytes() const {
    return placed(rows_ * static_cast<std::int64_t>(sizeof(std::int64_t)));
  }
  [[nodiscard]] std::int64_t* indices(std::int64_t copy) const {
    return static_cast<std::int64_t*>(index_.at(copy * index_bytes()));
  }

  [[nodiscard]] static std::vector<float> numbers(const DeviceMemory& memory, std::int64_t first, std::int64_t count) {
    std::vector<float> read(static_cast<std::size_t>(count));
    check(cudaMemcpy(read.data(), memory.at(first * number_bytes), static_cast<std::size_t>(count * number_bytes),
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    return read;
  }

  /// Sum of up to `count` numbers from `first`. An fp32 sum of normal(0, 1) numbers is right except for its last bits.
  [[nodiscard]] Expected sum_of(std::int64_t first, std::int64_t count) const {
    const std::int64_t left = (bytes_ / number_bytes) - first;
    const std::vector<float> parts = numbers(from_, first, std::min(count, left));
    return {std::accumulate(parts.begin(), parts.end(), 0.0), 1e-4 * std::sqrt(static_cast<double>(count))};
  }

  [[nodiscard]] Expected strided_sum(std::int64_t i) const {
    constexpr std::int64_t sectors = pass_block_bytes / sector;
    constexpr std::int64_t sector_numbers = sector / number_bytes;
    Expected sum{0.0, 1e-4 * std::sqrt(static_cast<double>(sectors * sector_numbers))};
    for (std::int64_t s = i * sectors; s < std::min((i + 1) * sectors, rows_); ++s) {
      sum.value += sum_of(s * width_ / number_bytes, sector_numbers).value;
    }
    return sum;
  }

  /// Value that a launch must write at place i.
  [[nodiscard]] Expected expected(std::int64_t i) const {
    const auto at = [this](std::int64_t place) { return static_cast<double>(numbers(from_, place, 1).front()); };
    const std::int64_t row_numbers = width_ / number_bytes;
    constexpr std::int64_t block_numbers = pass_block_bytes / number_bytes;
    constexpr double rounding = 1e-5;  // rounding of four steps on numbers below 16
    switch (op_) {
      case Op::read: return sum_of(i * block_numbers, block_numbers);
      case Op::write: return {static_cast<double>(pattern_at(i)), 0.0};
      case Op::strided: return strided_sum(i);
      case Op::gather: return {at((random_row(i / row_numbers, rows_) * row_numbers) + (i % row_numbers)), 0.0};
      case Op::reduce: return sum_of(i * row_numbers, row_numbers);
      case Op::chain:
      case Op::fused: break;
    }
    double value = at(i);
    for (const float constant : chain_constants) {
      value = static_cast<double>(constant) - value;
    }
    return {value, rounding};
  }

  const Session* session_;
  Op op_;
  std::int64_t bytes_, width_, rows_, copies_;
  DeviceMemory from_, to_, index_;
};

}  // namespace

Result measure_pass(const Session& session, const Request& request) {
  const Pass pass{session, request};
  pass.verify();
  const Enqueue one = [&](std::int64_t i, cudaStream_t stream) { pass.enqueue(i, stream); };
  return replayed_spans(session.stream, request, one);
}

}  // namespace headroom::probes
