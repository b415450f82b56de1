// SPDX-License-Identifier: Apache-2.0
// The only file that includes MPI.
#include <headroom/cli/mpi/mpi_ranks.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/scenarios/search/ranks/rank_messages.hpp>

// Only the C interface; the C++ one ended with MPI 3.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace headroom::cli {
namespace {

constexpr int piece_tag = 1;
constexpr int beat_tag = 2;
/// Messages are sent in pieces that every transport sends at once, without asking the receiver (Open MPI's shared
/// memory does so up to 4 KiB). A sender that dies during a longer message would leave its receiver waiting.
constexpr std::size_t piece_bytes = 3072;
constexpr char more_follows = '+';
constexpr char last_piece = '.';

constexpr std::chrono::milliseconds tick{200};
constexpr int ticks_a_beat = 5;
/// Silence, ten heartbeats long, after which a rank counts as lost.
constexpr std::chrono::seconds patience{10};

/// A leaving rank says so and is told how: MPI_Finalize waits for all ranks, so all must skip it once one is lost.
constexpr std::string_view bye = "bye";
constexpr std::string_view end_together = "end together";
constexpr std::string_view end_at_once = "end at once";

/// Process and host of a rank.
struct Identity {
  std::int64_t pid = 0;
  std::array<char, 64> host{};
};

std::string host_name() {
  std::array<char, 64> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

Identity own_identity(const std::string& host) {
  Identity own;
  own.pid = getpid();
  host.copy(own.host.data(), own.host.size() - 1);
  return own;
}

bool process_is_there(std::int64_t pid) {
  return kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
}

}  // namespace

struct MpiRanks::Sending {
  MPI_Request request = MPI_REQUEST_NULL;
  int to = 0;
  std::string bytes;
};

MpiRanks::MpiRanks(int& argc, char**& argv) : host_{host_name()} {
  int threads = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &threads);
  if (threads < MPI_THREAD_SERIALIZED) {
    throw ConfigError{"this MPI serves one thread alone; headroom-mpi needs MPI_THREAD_SERIALIZED"};
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &own_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  peers_.resize(static_cast<std::size_t>(ranks));
  // Identities are exchanged at once, so that a rank that dies early is noticed.
  const Identity own = own_identity(host_);
  std::vector<Identity> all(peers_.size());
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    Peer& peer = peers_[rank];
    peer.pid = all[rank].pid;
    peer.host = all[rank].host.data();
    // Processes of the same host name may be invisible in a container.
    peer.seen = peer.host == host_ && process_is_there(peer.pid);
    peer.heard = Clock::now();
  }
  beats_ = std::thread{[this] { keep_beating(); }};
}

MpiRanks::~MpiRanks() {
  finish();
}

void MpiRanks::send(int to, std::string text) {
  const std::lock_guard lock{mutex_};
  for (std::size_t from = 0; from == 0 || from < text.size(); from += piece_bytes) {
    const bool last = from + piece_bytes >= text.size();
    post(to, piece_tag, std::string{last ? last_piece : more_follows} + text.substr(from, piece_bytes));
  }
  forget_sent();
}

std::optional<RankMessage> MpiRanks::receive(Seconds wait) {
  const Clock::time_point until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(wait.raw()));
  std::chrono::microseconds rest{20};
  for (;;) {
    {
      const std::lock_guard lock{mutex_};
      forget_sent();
      if (std::optional<RankMessage> message = next_message()) {
        return message;
      }
    }
    if (Clock::now() >= until) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(rest);
    rest = std::min(2 * rest, std::chrono::microseconds{500});
  }
}

std::vector<int> MpiRanks::lost() {
  const std::lock_guard lock{mutex_};
  std::vector<int> dead;
  for (int rank = 0; rank < count(); ++rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (peer.lost && !peer.told) {
      peer.told = true;
      dead.push_back(rank);
    }
  }
  return dead;
}

std::string MpiRanks::name_of(int rank) const {
  const std::lock_guard lock{mutex_};
  const std::string& host = peers_[static_cast<std::size_t>(rank)].host;
  return "rank " + std::to_string(rank) + (host.empty() ? "" : " on " + host);
}

void MpiRanks::post(int to, int tag, std::string bytes) {
  if (peers_[static_cast<std::size_t>(to)].lost) {
    return;
  }
  Sending& sending = sending_.emplace_back();
  sending.to = to;
  sending.bytes = std::move(bytes);
  MPI_Isend(sending.bytes.data(), static_cast<int>(sending.bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD,
            &sending.request);
}

void MpiRanks::forget_sent() {
  sending_.remove_if([](Sending& sending) {
    int done = 0;
    return MPI_Test(&sending.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
  });
}

std::optional<RankMessage> MpiRanks::next_message() {
  for (;;) {
    int there = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, piece_tag, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || there == 0) {
      return std::nullopt;
    }
    std::array<char, piece_bytes + 1> piece;
    MPI_Recv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, status.MPI_SOURCE, piece_tag, MPI_COMM_WORLD,
             &status);
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Peer& from = peers_[static_cast<std::size_t>(status.MPI_SOURCE)];
    from.begun.append(piece.data() + 1, static_cast<std::size_t>(size) - 1);
    if (piece.front() == last_piece) {
      RankMessage message{status.MPI_SOURCE, std::move(from.begun)};
      from.begun.clear();
      return message;
    }
  }
}

void MpiRanks::keep_beating() {
  std::unique_lock lock{mutex_};
  for (int ticks = 0; !ending_; ++ticks) {
    if (ticks % ticks_a_beat == 0) {
      beat();
    }
    forget_sent();
    hear_beats();
    look_for_lost();
    end_.wait_for(lock, tick);
  }
}

/// Sends heartbeats between rank 0 and the others.
void MpiRanks::beat() {
  for (int rank = 0; rank < count(); ++rank) {
    if (rank != own_ && (rank == 0 || own_ == 0)) {
      post(rank, beat_tag, "*");
    }
  }
}

void MpiRanks::hear_beats() {
  int there = 0;
  MPI_Status status;
  while (MPI_Iprobe(MPI_ANY_SOURCE, beat_tag, MPI_COMM_WORLD, &there, &status) == MPI_SUCCESS && there != 0) {
    char beat = 0;
    MPI_Recv(&beat, 1, MPI_BYTE, status.MPI_SOURCE, beat_tag, MPI_COMM_WORLD, &status);
    peers_[static_cast<std::size_t>(status.MPI_SOURCE)].heard = Clock::now();
  }
}

void MpiRanks::look_for_lost() {
  const Clock::time_point now = Clock::now();
  for (int rank = 0; rank < count(); ++rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank == own_ || (rank != 0 && own_ != 0) || peer.lost) {
      continue;
    }
    peer.lost = now - peer.heard > patience || (peer.seen && !process_is_there(peer.pid));
    together_ = together_ && !peer.lost;
    if (peer.lost && rank == 0) {
      // Nobody can receive an answer, and this rank may be in the middle of a job.
      std::fputs(("headroom: rank " + std::to_string(own_) + ": rank 0 is gone\n").c_str(), stderr);
      std::_Exit(2);
    }
  }
}

/// Rank 0 waits for the others' work and keeps sending heartbeats meanwhile.
void MpiRanks::part_from_others() {
  std::vector<bool> gone(peers_.size());
  gone[0] = true;
  for (int rank = 1; rank < count(); ++rank) {
    send(rank, std::string{rank_words::leave});
  }
  while (std::find(gone.begin(), gone.end(), false) != gone.end()) {
    const std::optional<RankMessage> message = receive(Seconds{0.05});
    if (message && message->text == bye) {
      gone[static_cast<std::size_t>(message->from)] = true;
    }
    const std::lock_guard lock{mutex_};
    for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
      gone[rank] = gone[rank] || peers_[rank].lost;
    }
  }
  for (int rank = 1; rank < count(); ++rank) {
    send(rank, std::string{together_ ? end_together : end_at_once});
  }
}

void MpiRanks::part_from_rank0() {
  send(0, std::string{bye});
  for (;;) {
    const std::optional<RankMessage> message = receive(Seconds{1.0});
    if (message && (message->text == end_together || message->text == end_at_once)) {
      together_ = message->text == end_together;
      return;
    }
  }
}

void MpiRanks::finish() {
  if (!beats_.joinable()) {
    return;
  }
  if (own_ == 0) {
    part_from_others();
  } else {
    part_from_rank0();
  }
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  end_.notify_all();
  beats_.join();
  if (together_) {
    MPI_Finalize();
    return;
  }
  // Gives messages to the remaining ranks a moment to arrive.
  const Clock::time_point until = Clock::now() + std::chrono::seconds{1};
  const auto to_the_living = [&](const Sending& sending) { return !peers_[static_cast<std::size_t>(sending.to)].lost; };
  while (std::any_of(sending_.begin(), sending_.end(), to_the_living) && Clock::now() < until) {
    forget_sent();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

}  // namespace headroom::cli
