// SPDX-License-Identifier: Apache-2.0
// Lines of logs: ways of NCCL's connections, watchdogs, CUDA's errors, Xids, memory that was not there.
#include <headroom/calibrate/diagnosis/message_reading.hpp>
#include <headroom/calibrate/messages/fault_words.hpp>
#include <headroom/calibrate/messages/run_messages.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/scratch_folder.hpp"
#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace headroom {
namespace {

using test::says;

RunMessages messages_of(const std::vector<std::string>& lines) {
  RunMessages messages;
  messages.file = "f.log";
  std::int64_t number = 0;
  for (const std::string& line : lines) {
    read_run_message(line, ++number, messages);
  }
  return messages;
}

RunReading reading_of_lines(const std::vector<std::string>& lines) {
  const RunMessages messages = messages_of(lines);
  RunReading reading;
  add_message_reading({&messages, 1}, reading);
  return reading;
}

const Cause* cause_of(const RunReading& reading, CauseKind kind) {
  const auto found = std::find_if(reading.causes.begin(), reading.causes.end(),
                                  [&](const Cause& cause) { return cause.kind == kind; });
  return found != reading.causes.end() ? &*found : nullptr;
}

TEST_CASE("messages: NCCL's log says hosts, ranks, channels and the way of each connection") {
  const RunMessages messages = messages_of({
      "NCCL version 2.20.5+cuda12.4",
      "node1:100:200 [0] NCCL INFO Using network IB",
      "node1:100:200 [0] NCCL INFO comm 0x55 rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 1c000 commId 0x65 - Init START",
      "10: node2:101:201 [1] NCCL INFO Channel 00/0 : 8[0] -> 9[1] via P2P/CUMEM/read",
      "node1:100:200 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA",
      "node1:100:200 [0] NCCL INFO Channel 01/0 : 0[0] -> 8[0] [receive] via NET/IB/1",
      "node1:100:200 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via SHM/direct/direct",
      "node1:100:200 [0] NCCL INFO 24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels, 2 p2p "
      "channels per peer",
      "node1:100:200 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5.",
  });
  CHECK(messages.nccl_version == "2.20.5+cuda12.4");
  CHECK(messages.hosts == std::set<std::string>{"node1", "node2"});
  CHECK(messages.networks == std::set<std::string>{"IB"});
  CHECK(messages.ranks == 16);
  CHECK(messages.channels == 24);
  CHECK(messages.nvls_channels == 16);
  CHECK(messages.connections == std::array<std::int64_t, connection_way_count>{1, 1, 1, 1, 0, 0});
  CHECK(messages.settings.at("NCCL_IB_HCA") == "mlx5");
}

TEST_CASE(
    "messages: sockets between hosts, RDMA through the host and shared memory alone are slower than the hardware") {
  const RunReading sockets =
      reading_of_lines({"a:1:2 [0] NCCL INFO NET/IB : No device found.",
                        "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0"});
  REQUIRE(cause_of(sockets, CauseKind::slow_transport) != nullptr);
  CHECK(says(cause_of(sockets, CauseKind::slow_transport)->says, "it found no InfiniBand or RoCE adapter"));
  CHECK(cause_of(sockets, CauseKind::slow_transport)->evidence.front() ==
        "f.log line 2: Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0");
  const RunReading host = reading_of_lines({"a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0"});
  REQUIRE(cause_of(host, CauseKind::slow_transport) != nullptr);
  CHECK(says(cause_of(host, CauseKind::slow_transport)->says, "through host memory"));
  const RunReading shared = reading_of_lines({"a:1:2 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.",
                                              "a:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"});
  REQUIRE(cause_of(shared, CauseKind::slow_transport) != nullptr);
  CHECK(says(cause_of(shared, CauseKind::slow_transport)->says, "NCCL_P2P_DISABLE=1 is set"));
  const RunReading well =
      reading_of_lines({"a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC",
                        "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"});
  CHECK(well.causes.empty());
  REQUIRE(well.tables.size() == 1);
  CHECK(well.tables.front().key == "transports");
}

std::string watchdog(int rank, int number, const char* op, int elements) {
  const std::string r = std::to_string(rank);
  return "[rank" + r + "]:[E ProcessGroupNCCL.cpp:607] [Rank " + r +
         "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=" + std::to_string(number) +
         ", OpType=" + op + ", NumelIn=" + std::to_string(elements) + ", NumelOut=" + std::to_string(elements) +
         ", Timeout(ms)=600000) ran for 600041 milliseconds before timing out.";
}

TEST_CASE("messages: ranks whose watchdogs speak wait for the one that is silent") {
  const RunReading reading = reading_of_lines(
      {"a:1:2 [0] NCCL INFO comm 0x55 rank 0 nranks 4 cudaDev 0 busId 1c000 - Init START",
       watchdog(0, 12, "ALLREDUCE", 64), watchdog(1, 12, "ALLREDUCE", 64), watchdog(3, 12, "ALLREDUCE", 64)});
  const Cause* const dead = cause_of(reading, CauseKind::dead_rank);
  REQUIRE(dead != nullptr);
  CHECK(says(dead->says, "3 ranks gave up ALLREDUCE, number 12, after 600 s; rank 2 did not say so"));
  const RunReading parted = reading_of_lines({watchdog(0, 12, "ALLREDUCE", 64), watchdog(1, 12, "ALLGATHER", 64)});
  const Cause* const mismatch = cause_of(parted, CauseKind::mismatched_collective);
  REQUIRE(mismatch != nullptr);
  CHECK(says(mismatch->says, "Rank 1 issued ALLGATHER of 64 as number 12 where rank 0 issued ALLREDUCE of 64"));
}

TEST_CASE("messages: PyTorch's sentence of a refused request says whether memory was there in pieces") {
  const RunReading pieces = reading_of_lines(
      {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 "
       "GiB of "
       "which 1.05 GiB is free. Including non-PyTorch memory, this process has 78.09 GiB memory in use. Of the "
       "allocated "
       "memory 70.50 GiB is allocated by PyTorch, and 6.80 GiB is reserved by PyTorch but unallocated."});
  REQUIRE(pieces.causes.size() == 1);
  CHECK(pieces.causes.front().kind == CauseKind::fragmentation);
  CHECK(says(pieces.causes.front().says, "2.00 GiB found 1.05 GiB free"));
  CHECK(says(pieces.causes.front().says, "6.80 GiB that nobody uses"));
  const RunMessages old =
      messages_of({"RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.75 GiB total capacity; "
                   "14.50 GiB already "
                   "allocated; 19.75 MiB free; 14.75 GiB reserved in total by PyTorch)"});
  REQUIRE(old.refused.size() == 1);
  CHECK(old.refused.front().asked.raw() == 20.0 * 0x1p20);
  CHECK(old.refused.front().capacity->raw() == 15.75 * 0x1p30);
  CHECK(old.refused.front().free->raw() == 19.75 * 0x1p20);
  CHECK(old.refused.front().allocated->raw() == 14.5 * 0x1p30);
  CHECK(old.refused.front().unallocated->raw() == 0.25 * 0x1p30);
  const RunReading full =
      reading_of_lines({"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
                        "capacity of 79.15 GiB of "
                        "which 1.05 GiB is free. Of the allocated memory 77.00 GiB is allocated by PyTorch, and 100.00 "
                        "MiB is reserved by "
                        "PyTorch but unallocated."});
  CHECK(full.causes.front().kind == CauseKind::out_of_memory);
}

TEST_CASE("messages: Xids tell the program's faults from the hardware's, and what only follows is no cause") {
  const RunReading reading = reading_of_lines({
      "[1.0] NVRM: Xid (PCI:0000:10:1c): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
      "[1.1] NVRM: Xid (PCI:0000:10:1c): 45, pid=7, name=python",
      "[1.2] NVRM: Xid (PCI:0000:20:1c): 31, pid=8, name=python, Ch 00000008, MMU Fault",
      "[1.3] NVRM: Xid (PCI:0000:20:1c): 31, pid=9, name=python, Ch 00000008, MMU Fault",
      "[1.4] NVRM: Xid (PCI:0000:30:1c): 74, pid=8, NVLink: fatal error detected on link 3",
      "[1.5] NVRM: Xid (PCI:0000:30:1c): 999, pid=8",
  });
  CHECK(says(cause_of(reading, CauseKind::device_fault)->says, "Xid 79, the GPU fell off the bus"));
  CHECK(says(cause_of(reading, CauseKind::program_fault)->says, "Xid 31"));
  CHECK(says(cause_of(reading, CauseKind::network_fault)->says, "Xid 74"));
  CHECK(reading.causes.size() == 4);  // 79, 31, 74, 999
  REQUIRE(reading.tables.size() == 1);
  CHECK(reading.tables.front().rows.size() == 5);
  CHECK(std::get<std::int64_t>(reading.tables.front().rows[2][1]) == 2);
  const RunReading remapped =
      reading_of_lines({"[1] NVRM: Xid (PCI:0000:10:1c): 63, pid=1, Row Remapper: New row marked"});
  CHECK(remapped.causes.front().lost == 0.0);  // the run goes on
  for (const XidMeaning& meaning : xid_meanings()) {
    CAPTURE(meaning.code);
    CHECK(!meaning.cure.empty());
    CHECK(std::count_if(xid_meanings().begin(), xid_meanings().end(),
                        [&](const XidMeaning& other) { return other.code == meaning.code; }) == 1);
  }
}

TEST_CASE("messages: CUDA's and NCCL's errors and the host's killer are told apart") {
  const auto first = [](const std::string& line) { return reading_of_lines({line}).causes.front().kind; };
  CHECK(first("RuntimeError: CUDA error: an illegal memory access was encountered") == CauseKind::program_fault);
  CHECK(first("RuntimeError: CUDA error: uncorrectable ECC error encountered") == CauseKind::device_fault);
  CHECK(
      first("a:1:2 [0] misc/ib.cc:9 NCCL WARN NET/IB : Got completion from peer 10.0.0.1<5> with status=12 opcode=0") ==
      CauseKind::network_fault);
  CHECK(first("a:1:2 [0] init.cc:9 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000") ==
        CauseKind::program_fault);
  CHECK(first("[9.1] Out of memory: Killed process 77 (python) total-vm:9kB") == CauseKind::host_fault);
  CHECK(first("[rank1]: Detected mismatch between collectives on ranks. Rank 3 is running collective: "
              "CollectiveFingerPrint(OpType=ALLREDUCE), but Rank 0 is running collective: "
              "CollectiveFingerPrint(OpType=BROADCAST)") == CauseKind::mismatched_collective);
  CHECK(reading_of_lines({"step 7: loss 2.31, 1.2 s", "saved a checkpoint"}).causes.empty());
  CHECK(messages_of({"step 7: loss 2.31"}).empty());
}

TEST_CASE("messages: a file is read line by line, its last line without an end too") {
  const test::ScratchFolder scratch;
  const std::string file = scratch.write(
      "dmesg", "quiet\n" + std::string(100'000, 'x') + "\n[1] NVRM: Xid (PCI:0000:10:1c): 48, pid=1, DBE");
  const RunMessages messages = read_run_messages(file);
  REQUIRE(messages.faults.size() == 1);
  CHECK(messages.faults.front().line == 3);
}

}  // namespace
}  // namespace headroom
