// SPDX-License-Identifier: Apache-2.0
// A rate is no amount.
#include <headroom/core/quantity.hpp>

headroom::Bytes bytes = headroom::BytesPerSecond{1.0};
