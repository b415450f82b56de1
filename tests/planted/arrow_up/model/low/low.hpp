// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/high/high.hpp>
