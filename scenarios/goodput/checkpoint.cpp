// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/goodput/checkpoint.hpp>

#include <algorithm>

namespace headroom::goodput {
namespace {

void check(Bytes total, const CheckpointStore& store) {
  Diagnostics problems;
  const auto say = [&](std::string message) { problems.add("", {}, std::move(message)); };
  if (!(total > Bytes{})) {
    say("a checkpoint of " + format(total) + ": state the network's parameters and its states");
  }
  if (store.ranks < 1) {
    say("a checkpoint on " + std::to_string(store.ranks) + " ranks: state at least 1");
  }
  if (store.writers < 1) {
    say("a checkpoint of " + std::to_string(store.writers) +
        " writers: state at least 1, the ranks or hosts that write");
  }
  const auto rate = [&](BytesPerSecond value, const std::string& name) {
    if (!(value >= BytesPerSecond{})) {
      say("the rate of " + name + " is " + format(value) + ": state what it sustains, e.g. \"2 GB/s\"");
    }
  };
  rate(store.per_writer, "a writer");
  rate(store.storage, "the storage");
  rate(store.copy, "the copy to the host");
  if (store.per_writer == BytesPerSecond{} && store.storage == BytesPerSecond{}) {
    say("the storage rate is zero: state what a writer or the file system sustains, e.g. \"2 GB/s\"");
  }
  if (store.mode == SaveMode::asynchronous && store.copy == BytesPerSecond{}) {
    say("an asynchronous checkpoint stalls for its copy to the host, whose rate is zero: state that of one rank, e.g. "
        "\"25 GB/s\"");
  }
  problems.throw_if_any();
}

Seconds time_of(Bytes bytes, BytesPerSecond rate) noexcept {
  return rate > BytesPerSecond{} ? bytes / rate : Seconds{};
}

}  // namespace

CheckpointBytes checkpoint_bytes(double parameters, const StateBytes& states) noexcept {
  return {Bytes{parameters * states.weights}, Bytes{parameters * states.optimizer}};
}

CheckpointTime checkpoint_time(Bytes total, const CheckpointStore& store) {
  check(total, store);
  CheckpointTime time;
  time.mode = store.mode;
  time.total = total;
  time.of_writer = total / real(store.writers);
  time.copy = time_of(total / real(store.ranks), store.copy);
  time.write = std::max(time_of(time.of_writer, store.per_writer), time_of(total, store.storage));
  return time;
}

}  // namespace headroom::goodput
