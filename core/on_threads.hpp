// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on some threads.
#pragma once

#include <cstddef>
#include <functional>

namespace headroom {

/// Threads as asked, or as many as the machine has for 0.
[[nodiscard]] unsigned thread_count(unsigned asked) noexcept;

/// Runs work(i) for i in 0 .. n - 1 on some threads, this one among them. What throws is thrown here, the first by i.
void on_threads(unsigned threads, std::size_t n, const std::function<void(std::size_t)>& work);

}  // namespace headroom
