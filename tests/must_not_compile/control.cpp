// SPDX-License-Identifier: Apache-2.0
// What is meant: it must compile.
#include <headroom/core/quantity.hpp>

constexpr headroom::Seconds time = headroom::Bytes{8.0} / headroom::BytesPerSecond{4.0};
static_assert(time.raw() == 2.0);
