// SPDX-License-Identifier: Apache-2.0
// Different dimensions do not add.
#include <headroom/core/quantity.hpp>

auto sum = headroom::Seconds{1.0} + headroom::Bytes{1.0};
