#pragma once

namespace hr {
inline int  twice(int value) { return 2*value; }
}  // namespace hr
