// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/word.hpp>
