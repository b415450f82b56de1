// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probe/probe_kinds.hpp>

namespace headroom {
namespace {

constexpr std::int64_t half_bytes = 2;   // bf16
constexpr std::int64_t word_bytes = 4;   // fp32, int32
constexpr std::int64_t index_bytes = 8;  // bytes of a gather's index
constexpr std::int64_t sector = 32;      // bytes per access to device memory

std::int64_t rounded_up(std::int64_t value, std::int64_t to) {
  return (value + to - 1) / to * to;
}

/// Bytes that an array occupies; arrays start at multiples of 256 bytes, as in cudaMalloc.
std::int64_t place(std::int64_t bytes) {
  constexpr std::int64_t alignment = 256;
  return rounded_up(bytes, alignment);
}

Bytes bytes_of(std::int64_t bytes) {
  return Bytes{static_cast<double>(bytes)};
}

/// Bytes of the sums that a read leaves: one per 16 KiB or part of it.
std::int64_t sum_bytes(std::int64_t array_bytes) {
  return word_bytes * ((array_bytes + pass_block_bytes - 1) / pass_block_bytes);
}

std::string heads_text(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim) {
  return std::to_string(heads) + "/" + std::to_string(kv_heads) + "x" + std::to_string(head_dim);
}

}  // namespace

Flops AttentionProbe::flops() const noexcept {
  const double whole = 4.0 * static_cast<double>(batch * heads) * static_cast<double>(tokens) *
                       static_cast<double>(tokens) * static_cast<double>(head_dim);
  return Flops{whole * (backward ? 2.5 : 1.0) * (causal ? 0.5 : 1.0)};
}

std::int64_t AttentionProbe::set_bytes() const noexcept {
  const std::int64_t rows = batch * tokens;
  const std::int64_t queries = place(rows * heads * head_dim * half_bytes);
  const std::int64_t keys = place(rows * kv_heads * head_dim * half_bytes);
  const std::int64_t statistics = place(rows * heads * word_bytes);
  const std::int64_t forward = 2 * queries + 2 * keys + statistics;
  return backward ? 2 * forward - statistics : forward;
}

std::int64_t DecodeProbe::cache_bytes() const noexcept {
  return 2 * batch * rounded_up(context, decode_page_tokens) * kv_heads * head_dim * half_bytes;
}

std::int64_t DecodeProbe::set_bytes() const noexcept {
  const std::int64_t pages = batch * rounded_up(context, decode_page_tokens) / decode_page_tokens;
  return (2 * place(cache_bytes() / 2)) + place(pages * word_bytes);
}

std::int64_t PassProbe::read() const noexcept {
  switch (op) {
    case PassOp::write: return 0;
    case PassOp::strided: return rows() * sector;
    case PassOp::gather: return rows() * (rounded_up(width, sector) + index_bytes);
    case PassOp::chain: return chain_steps * array_bytes;
    case PassOp::read:
    case PassOp::reduce:
    case PassOp::fused:
    case PassOp::count: break;
  }
  return array_bytes;
}

std::int64_t PassProbe::written() const noexcept {
  switch (op) {
    case PassOp::read: return sum_bytes(array_bytes);
    case PassOp::strided: return sum_bytes(rows() * sector);
    case PassOp::reduce: return rows() * word_bytes;
    case PassOp::chain: return chain_steps * array_bytes;
    case PassOp::write:
    case PassOp::gather:
    case PassOp::fused:
    case PassOp::count: break;
  }
  return array_bytes;
}

std::int64_t PassProbe::set_bytes() const noexcept {
  switch (op) {
    case PassOp::write: return place(array_bytes);
    case PassOp::gather: return (2 * place(array_bytes)) + place(rows() * index_bytes);
    case PassOp::chain:
    case PassOp::fused: return 2 * place(array_bytes);
    case PassOp::read:
    case PassOp::strided:
    case PassOp::reduce:
    case PassOp::count: break;
  }
  return place(array_bytes) + place(written());
}

std::int64_t UnitProbe::set_bytes() const noexcept {
  constexpr std::int64_t mebi = std::int64_t{1} << 20;
  constexpr std::int64_t load_bytes = 16;
  switch (op) {
    case UnitOp::stride: return place(count * width * word_bytes);
    case UnitOp::offset: return place((count + width) * word_bytes);
    case UnitOp::random: return width * mebi;
    case UnitOp::occupancy: return place(count * load_bytes);
    case UnitOp::atomics: return place(width * word_bytes);
    case UnitOp::banks:
    case UnitOp::diverge:
    case UnitOp::grid_sync: break;
  }
  return 0;
}

std::string name_of(const AttentionProbe& p) {
  return std::string{"attention "} + (p.backward ? "backward " : "forward ") + (p.causal ? "causal " : "full ") +
         std::to_string(p.batch) + "x" + std::to_string(p.tokens) + " " + heads_text(p.heads, p.kv_heads, p.head_dim);
}

std::string name_of(const DecodeProbe& p) {
  return "decode " + std::to_string(p.batch) + "x" + std::to_string(p.context) + " " +
         heads_text(p.heads, p.kv_heads, p.head_dim);
}

std::string name_of(const PassProbe& p) {
  return std::string{pass_op_names[static_cast<std::size_t>(p.op)]} + " " + std::to_string(p.array_bytes) + " B" +
         (p.width > 0 ? " by " + std::to_string(p.width) : "");
}

std::string name_of(const TransferProbe& p) {
  return std::string{transfer_op_names[static_cast<std::size_t>(p.op)]} + " " + std::to_string(p.bytes) + " B";
}

std::string name_of(const LayerProbe& p) {
  return "layer " + std::string{probed_pass_names[static_cast<std::size_t>(p.op)]} + " " + std::to_string(p.tokens);
}

std::string name_of(const UnitProbe& p) {
  return "unit " + std::string{unit_op_names[static_cast<std::size_t>(p.op)]} + " " +
         (p.op == UnitOp::occupancy && p.width == 0 ? "all" : std::to_string(p.width));
}

Bytes memory_of(const AttentionProbe& p) {
  // Backward sums query gradients in fp32 before rounding, and keeps one number per query.
  const std::int64_t sums = p.batch * p.tokens * p.heads * (p.head_dim + 1) * word_bytes;
  // Heads that share a key have separate gradients until these are summed.
  const std::int64_t of_heads = p.heads != p.kv_heads ? 2 * p.batch * p.tokens * p.heads * p.head_dim * half_bytes : 0;
  return bytes_of((p.copies * p.set_bytes()) + (p.backward ? sums + of_heads : 0));
}

Bytes memory_of(const DecodeProbe& p) {
  const std::int64_t queries = p.batch * p.heads * p.head_dim * half_bytes;
  const std::int64_t splits = p.batch * p.heads * most_decode_splits * (p.head_dim + 2) * word_bytes;
  return bytes_of((p.copies * p.set_bytes()) + (2 * queries) + splits);
}

Bytes memory_of(const PassProbe& p) {
  return bytes_of(p.copies * p.set_bytes());
}

Bytes memory_of(const TransferProbe& p) {
  return bytes_of(p.copies * p.crossed());
}

Bytes memory_of(const UnitProbe& p) {
  return bytes_of(p.op == UnitOp::random ? p.set_bytes() : p.copies * p.set_bytes());
}

}  // namespace headroom
