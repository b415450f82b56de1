// SPDX-License-Identifier: Apache-2.0
// Counters of kernels from tables that profilers write.
#pragma once

#include <headroom/model/laboratory/profiled_kernel.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct KernelProfiles {
  std::vector<ProfiledKernel> kernels;  ///< in the order of the file; launches of one kernel apart
  std::string form;                     ///< "ncu --page details", "ncu --page raw", "counters"
};

/// Reads `ncu --csv --page details` (a counter a row: "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"),
/// `ncu --csv --page raw` (a kernel a row, a counter a column, the units below the header), or a table
/// counter,value[,unit][,kernel] with the same names of counters, or short ones ("duration", "dram_bytes",
/// "stall_long_scoreboard") and units in a column or behind the values; shares are in percent. Lines that begin with
/// "==" are the profiler's own. Counters that nothing is made of are passed over; in a table of the third form they are
/// a problem. Throws ConfigError with every problem: another form, a value that is no number or negative, a share above
/// 100 %, an unit that its counter is not told in, a counter twice, a kernel without a duration, or one of which no
/// counter tells what memory did.
[[nodiscard]] KernelProfiles read_kernel_profiles(std::string_view text, const std::string& file);

}  // namespace headroom
