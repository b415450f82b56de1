// SPDX-License-Identifier: Apache-2.0
// The border between headroom and libheadroom_probes.so: plain C++17 structs and one C symbol. Any change of a struct,
// an enum's order or a meaning raises abi_version; both sides compare it before anything else is called.
#pragma once

#include <array>
#include <cstdint>

namespace headroom::probes {

inline constexpr std::uint32_t abi_version = 3;
inline constexpr const char* entry_name = "headroom_probes_table";

enum class Status : std::int32_t {  // NOLINT(performance-enum-size): an int on both sides
  ok = 0,
  refused = 1,  ///< this request cannot be done; others can
  failed = 2,   ///< the device or its driver is missing or lost
};

/// A message, NUL-terminated like every text here.
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
  std::array<char, 32> cudnn;  ///< empty: there is none
  std::int64_t devices;        ///< that this process sees, this one included
  std::array<char, 32> nccl;   ///< its version; empty: no library was found
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

struct Request {
  Kind kind;
  std::int32_t
      variant;  ///< TransferOp; GemmType, CopyOp, LaunchOp or PassOp by their order in probe.hpp and
                ///< probe_kinds.hpp; of attention 1 for a backward; Collective by model/collectives/collective.hpp
  std::int64_t m, n, k;
  std::int64_t array_bytes;
  std::int64_t count;
  std::int64_t copies;
  std::int64_t repeats;
  std::int64_t algorithms;
  std::int64_t width;                                     ///< bytes, of a pass
  std::int64_t batch, tokens, heads, kv_heads, head_dim;  ///< tokens: of a decode the context
  std::int64_t causal;                                    ///< 0 or 1
  double span_seconds;
  double sustained_seconds;  ///< zero: a short measurement
  std::int64_t ranks;        ///< of a collective, whose buffer is array_bytes
};

/// Spans that a result tells one by one.
inline constexpr std::int64_t most_told = 64;

/// Seconds are of one kernel, but lasted_seconds.
struct Result {
  double latency_seconds;
  double fastest_seconds;
  double slowest_seconds;
  double first_seconds;
  double lasted_seconds;
  std::int64_t spans;
  std::int64_t launches;
  std::int64_t algorithms;
  std::int64_t told;  ///< of told_seconds, in the order they were timed; of more spans than fit the last ones
  std::array<double, most_told> told_seconds;
  double predicted_seconds;  ///< of a collective, by NCCL itself; zero: not told
};

struct Session;

struct Table {
  std::uint32_t version;
  /// Devices of this process; `why` is filled unless ok.
  Status (*count)(std::int32_t* devices, Text* why);
  Status (*open)(std::int32_t device, Session** session, Facts* facts, Text* why);
  Status (*measure)(Session* session, const Request* request, Result* result, Text* why);
  void (*close)(Session* session);
};

/// The one symbol: the table of `version`, or nullptr when the library has another one; `own` is always filled.
using Entry = const Table* (*)(std::uint32_t version, std::uint32_t* own);

}  // namespace headroom::probes
