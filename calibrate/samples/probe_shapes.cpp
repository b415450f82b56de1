// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/samples/probe_plan.hpp>
#include <headroom/calibrate/samples/probe_shapes.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::int64_t kibi = 1024;
constexpr std::int64_t mebi = kibi * kibi;
constexpr std::int64_t gibi = mebi * kibi;

struct Heads {
  std::int64_t heads, kv_heads, head_dim;
};

/// Tokens of all sequences together, as in FlashAttention's benchmarks (Dao 2023, section 4.1).
constexpr std::int64_t all_tokens = 16384;

std::vector<std::int64_t> lengths(ProbeExtent extent) {
  switch (extent) {
    case ProbeExtent::quick: return {1024, 8192};
    case ProbeExtent::standard: return {512, 2048, 8192};
    case ProbeExtent::full: break;
  }
  return {512, 1024, 2048, 4096, 8192, 16384};
}

std::vector<Heads> attention_heads(ProbeExtent extent) {
  if (extent == ProbeExtent::full) {
    return {{32, 32, 64}, {16, 16, 128}, {32, 8, 128}, {64, 8, 128}, {8, 8, 256}, {16, 4, 256}};
  }
  return {{32, 32, 64}, {32, 8, 128}};
}

std::vector<std::int64_t> pass_sizes(ProbeExtent extent) {
  std::vector<std::int64_t> sizes;
  const std::int64_t step = extent == ProbeExtent::full ? 2 : extent == ProbeExtent::quick ? 4096 : 64;
  const std::int64_t most = extent == ProbeExtent::full ? 8 * gibi : gibi;
  for (std::int64_t bytes = 4 * kibi; bytes <= most; bytes *= step) {
    sizes.push_back(bytes);
  }
  return sizes;
}

std::vector<std::int64_t> pass_widths(PassOp op, ProbeExtent extent) {
  const bool full = extent == ProbeExtent::full;
  switch (op) {
    case PassOp::strided: return full ? std::vector<std::int64_t>{64, 128, 512, 4096} : std::vector<std::int64_t>{128};
    case PassOp::gather: return full ? std::vector<std::int64_t>{32, 256, 4096} : std::vector<std::int64_t>{256};
    case PassOp::reduce:
      return full ? std::vector<std::int64_t>{1024, 4096, 65536} : std::vector<std::int64_t>{1024, 65536};
    default: return {0};
  }
}

std::vector<std::int64_t> unit_widths(UnitOp op, ProbeExtent extent) {
  const bool full = extent == ProbeExtent::full;
  const auto some = [&](std::vector<std::int64_t> quick, std::vector<std::int64_t> standard,
                        const std::vector<std::int64_t>& more) {
    if (extent == ProbeExtent::quick) {
      return quick;
    }
    if (full) {
      standard.insert(standard.end(), more.begin(), more.end());
    }
    return standard;
  };
  constexpr std::int64_t all = 0;
  constexpr std::int64_t many = mebi;  // counters that no two threads meet at, and that any L2 holds
  switch (op) {
    case UnitOp::stride: return some({1, 8, 32}, {1, 2, 4, 8, 16, 32}, {3, 6});
    case UnitOp::offset: return some({1}, {1}, {2, 4, 8});
    case UnitOp::random: return some({1024}, {1024}, {256, 4096});
    case UnitOp::banks: return some({1, 2, 32}, {1, 2, 4, 8, 16, 32, 33}, {3, 6, 24});
    case UnitOp::diverge: return some({1, 2, 32}, {1, 2, 4, 8, 16, 32}, {3, 24});
    case UnitOp::occupancy: return some({1, 4, all}, {1, 2, 4, 8, all}, {3, 6});
    case UnitOp::grid_sync: return some({1, 4}, {1, 2, 4, 8}, {3, 6});
    case UnitOp::atomics: return some({1, 32, many}, {1, 32, kibi, many}, {2, 64 * kibi});
  }
  return {};
}

/// What each op repeats: enough that a launch of 3 us is a small part of the least time.
std::int64_t unit_count(UnitOp op) {
  switch (op) {
    case UnitOp::stride:
    case UnitOp::offset: return 32 * mebi;  // 128 MiB of neighbours
    case UnitOp::random: return 4 * mebi;   // 128 MiB of sectors
    case UnitOp::banks: return 8 * kibi;
    case UnitOp::diverge: return 32 * kibi;
    case UnitOp::occupancy: return 16 * mebi;  // 256 MiB
    case UnitOp::grid_sync: return kibi;
    case UnitOp::atomics: return 64;
  }
  return 1;
}

/// Bytes of the sectors that a launch reads from memory, which L2 must not hold at the next; 0: none.
std::int64_t touched_bytes(const UnitProbe& p) {
  constexpr std::int64_t element = 4;
  constexpr std::int64_t sector = 32;
  switch (p.op) {
    case UnitOp::stride: return p.count * std::min(p.width * element, sector);
    case UnitOp::offset: return p.count * element;
    case UnitOp::random: return p.count * sector;
    case UnitOp::occupancy: return p.set_bytes();
    default: return 0;
  }
}

void add_attention(std::vector<AttentionProbe>& probes, const Heads& h, std::int64_t tokens, Bytes l2) {
  for (const bool causal : {true, false}) {
    for (const bool backward : {false, true}) {
      AttentionProbe probe{backward, all_tokens / tokens, tokens, h.heads, h.kv_heads, h.head_dim, causal, 1};
      probe.copies = rotation_copies(probe.set_bytes(), l2);
      probes.push_back(probe);
    }
  }
}

}  // namespace

std::vector<AttentionProbe> attention_probes(ProbeExtent extent, Bytes l2) {
  std::vector<AttentionProbe> probes;
  for (const Heads& h : attention_heads(extent)) {
    for (const std::int64_t tokens : lengths(extent)) {
      add_attention(probes, h, tokens, l2);
    }
  }
  if (extent == ProbeExtent::standard) {  // the widest heads have different kernels
    add_attention(probes, {8, 8, 256}, 2048, l2);
  }
  return probes;
}

std::vector<DecodeProbe> decode_probes(ProbeExtent extent, Bytes l2) {
  const bool full = extent == ProbeExtent::full;
  const std::vector<std::int64_t> batches =
      full ? std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64, 128} : std::vector<std::int64_t>{1, 8, 64};
  const std::vector<std::int64_t> contexts = full ? std::vector<std::int64_t>{128, 512, 4096, 16384, 32768, 131072}
                                                  : std::vector<std::int64_t>{512, 4096, 32768};
  const std::vector<Heads> heads =
      full ? std::vector<Heads>{{32, 8, 128}, {64, 8, 128}, {32, 32, 128}, {32, 32, 64}, {64, 8, 64}}
           : std::vector<Heads>{{32, 8, 128}, {32, 32, 64}};
  std::vector<DecodeProbe> probes;
  for (const Heads& h : heads) {
    for (const std::int64_t batch : batches) {
      for (const std::int64_t context : contexts) {
        DecodeProbe probe{batch, context, h.heads, h.kv_heads, h.head_dim, 1};
        probe.copies = rotation_copies(probe.cache_bytes(), l2);
        probes.push_back(probe);
      }
    }
  }
  return probes;
}

std::vector<PassProbe> pass_probes(ProbeExtent extent, Bytes l2) {
  std::vector<PassProbe> probes;
  for (std::size_t op = 0; op < pass_op_names.size(); ++op) {
    for (const std::int64_t width : pass_widths(static_cast<PassOp>(op), extent)) {
      for (const std::int64_t bytes : pass_sizes(extent)) {
        PassProbe probe{static_cast<PassOp>(op), bytes, width, 1};
        // Skipped sectors take no L2, so they do not count for the number of copies.
        const bool strided = probe.op == PassOp::strided;
        if (bytes >= width && (!strided || probe.read() >= 4 * kibi)) {
          probe.copies = rotation_copies(strided ? probe.read() : probe.set_bytes(), l2);
          probes.push_back(probe);
        }
      }
    }
  }
  return probes;
}

std::vector<LayerProbe> layer_probes() {
  constexpr std::int64_t micro_batch = 8192;
  std::vector<LayerProbe> probes;
  for (std::size_t i = 0; i < probed_pass_names.size(); ++i) {
    const auto op = static_cast<ProbedPass>(i);
    if (is_decode(op)) {
      probes.push_back({op, 1});
      probes.push_back({op, 64});
    } else {
      probes.push_back({op, micro_batch});
    }
  }
  return probes;
}

std::vector<UnitProbe> unit_probes(ProbeExtent extent, Bytes l2) {
  std::vector<UnitProbe> probes;
  for (std::size_t op = 0; op < unit_op_names.size(); ++op) {
    for (const std::int64_t width : unit_widths(static_cast<UnitOp>(op), extent)) {
      UnitProbe probe{static_cast<UnitOp>(op), width, unit_count(static_cast<UnitOp>(op)), 1};
      if (const std::int64_t touched = touched_bytes(probe); touched > 0) {
        probe.copies = rotation_copies(touched, l2);
      }
      probes.push_back(probe);
    }
  }
  return probes;
}

std::vector<TransferProbe> transfer_probes(ProbeExtent extent, std::int64_t peers) {
  // Larger pageable copies take seconds and show nothing new.
  const std::int64_t most = extent == ProbeExtent::full ? 4 * gibi : 256 * mebi;
  const std::int64_t step = extent == ProbeExtent::full ? 4 : 256;
  // Exceeds the caches of the host's sockets.
  constexpr std::int64_t rotated = 512 * mebi;
  constexpr std::int64_t most_copies = 64;
  std::vector<TransferProbe> probes;
  for (std::size_t op = 0; op < transfer_op_names.size(); ++op) {
    if (is_peer(static_cast<TransferOp>(op)) && peers == 0) {
      continue;
    }
    for (std::int64_t bytes = 4 * kibi; bytes <= most; bytes *= step) {
      probes.push_back({static_cast<TransferOp>(op), bytes, std::clamp<std::int64_t>(rotated / bytes, 1, most_copies)});
    }
  }
  return probes;
}

}  // namespace headroom
