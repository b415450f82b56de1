// SPDX-License-Identifier: Apache-2.0
// A time is no bare number.
#include <headroom/core/quantity.hpp>

double time = headroom::Seconds{1.0};
