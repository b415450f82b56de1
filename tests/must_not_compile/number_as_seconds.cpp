// SPDX-License-Identifier: Apache-2.0
// A bare number is no time.
#include <headroom/core/quantity.hpp>

headroom::Seconds time = 1.0;
