// SPDX-License-Identifier: Apache-2.0
// Interface between headroom and libheadroom_probes.so: plain C++17 structs and one C symbol. A change of a struct, of
// an enum's order or of a meaning must raise abi_version, which both sides compare before any other call.
#pragma once

#include <array>
#include <cstdint>

namespace headroom::probes {

inline constexpr std::uint32_t abi_version = 5;
inline constexpr const char* entry_name = "headroom_probes_table";

enum class Status : std::int32_t {  // NOLINT(performance-enum-size): an int on both sides
  ok = 0,
  refused = 1,  ///< this request cannot be served; others can
  failed = 2,   ///< the device or its driver is missing or lost
};

/// A message; like all texts here it ends with NUL.
struct Text {
  std::array<char, 512> text;
};

struct Facts {
  std::array<char, 256> name;
  std::array<char, 32> pci_bus_id;
  std::array<char, 32> cuda_driver;
  std::array<char, 32> cuda_runtime;
  std::array<char, 32> cublaslt;
  std::int64_t capability;  ///< 10 x major + minor
  std::int64_t sms;
  std::int64_t l2_bytes;
  std::int64_t memory_bytes;
  std::int64_t free_bytes;
  std::int64_t peers;          ///< other devices of this process whose memory this one can address
  std::array<char, 32> cudnn;  ///< version; empty: not installed
  std::int64_t devices;        ///< devices that this process sees, this one included
  std::array<char, 32> nccl;   ///< version; empty: not installed
};

enum class Kind : std::int32_t {  // NOLINT(performance-enum-size)
  gemm = 0,
  copy = 1,
  launch = 2,
  attention = 3,
  decode = 4,
  pass = 5,
  transfer = 6,
  collective = 7,
  sequence = 8,  ///< several kernels one after another, timed as one
  unit = 9,      ///< what the threads of an SM do to each other
};

/// Request::variant of a transfer.
enum class TransferOp : std::int32_t {  // NOLINT(performance-enum-size)
  h2d_pinned,
  d2h_pinned,
  both_pinned,
  h2d_pageable,
  d2h_pageable,
  both_pageable,
  peer,
  peer_both
};

/// Request::variant of a unit.
enum class UnitOp : std::int32_t {  // NOLINT(performance-enum-size)
  stride,
  offset,
  random,
  banks,
  diverge,
  occupancy,
  grid_sync,
  atomics
};

/// Threads of a CTA of a unit, and of one whose CTAs an SM are counted (occupancy, grid_sync): every SM holds 8 of
/// these.
inline constexpr std::int64_t unit_block_threads = 256;
inline constexpr std::int64_t unit_small_block_threads = 128;
/// CTAs an SM of banks, diverge and atomics: enough to hide the latency of what they repeat, and resident on every SM.
inline constexpr std::int64_t unit_blocks_per_sm = 4;

struct Request {
  Kind kind;
  std::int32_t
      variant;  ///< TransferOp; UnitOp; GemmType, CopyOp, LaunchOp or PassOp by their order in probe.hpp and
                ///< probe_kinds.hpp; of attention 1 for a backward; Collective by model/collectives/collective.hpp
  std::int64_t m, n, k;
  std::int64_t array_bytes;
  std::int64_t count;
  std::int64_t copies;
  std::int64_t repeats;
  std::int64_t algorithms;
  std::int64_t width;  ///< bytes, for a pass; of a unit as in probe_kinds.hpp, with `count` what it repeats
  std::int64_t batch, tokens, heads, kv_heads, head_dim;  ///< for a decode, `tokens` is the context
  std::int64_t causal;                                    ///< 0 or 1
  double span_seconds;
  double sustained_seconds;  ///< zero: a short measurement
  std::int64_t ranks;        ///< for a collective, whose buffer is array_bytes
  /// For a sequence: its products, attentions and decodes in their order, each enqueued `count` times.
  const Request* parts;
  std::int64_t parts_count;
};

/// Most spans that a result returns one by one.
inline constexpr std::int64_t most_told = 64;

/// Times are per kernel, except lasted_seconds.
struct Result {
  double latency_seconds;
  double fastest_seconds;
  double slowest_seconds;
  double first_seconds;
  double lasted_seconds;
  std::int64_t spans;
  std::int64_t launches;
  std::int64_t algorithms;
  std::int64_t told;  ///< number of valid told_seconds, in order of timing; the last spans when there are more
  std::array<double, most_told> told_seconds;
  double predicted_seconds;  ///< latency that NCCL itself predicts for a collective; zero: unknown
};

struct Session;

struct Table {
  std::uint32_t version;
  /// Number of devices of this process. `why` is filled unless the status is ok.
  Status (*count)(std::int32_t* devices, Text* why);
  Status (*open)(std::int32_t device, Session** session, Facts* facts, Text* why);
  Status (*measure)(Session* session, const Request* request, Result* result, Text* why);
  void (*close)(Session* session);
};

/// The library's only symbol: returns the table of `version`, or nullptr when the library has another version; always
/// fills `own`.
using Entry = const Table* (*)(std::uint32_t version, std::uint32_t* own);

}  // namespace headroom::probes
