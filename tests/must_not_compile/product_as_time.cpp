// SPDX-License-Identifier: Apache-2.0
// Bytes times bandwidth is no time; bytes over bandwidth is.
#include <headroom/core/quantity.hpp>

headroom::Seconds time = headroom::Bytes{1.0} * headroom::BytesPerSecond{1.0};
