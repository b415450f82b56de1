// SPDX-License-Identifier: Apache-2.0
// Different dimensions do not compare.
#include <headroom/core/quantity.hpp>

bool less = headroom::Bytes{1.0} < headroom::Seconds{1.0};
