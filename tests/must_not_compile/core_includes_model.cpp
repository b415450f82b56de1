// SPDX-License-Identifier: Apache-2.0
// core sees no higher floor.
#include <headroom/model/estimate/estimate.hpp>
