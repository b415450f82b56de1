// SPDX-License-Identifier: Apache-2.0
// Python's pickles as plain data. A pickle is a program for a small machine that may call anything; this reader knows
// its opcodes of plain data alone, so that nothing of a file is ever executed.
#pragma once

#include <headroom/calibrate/pickle/plain_data.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

/// Most bytes of a pickle, unpacked.
inline constexpr std::uint64_t most_pickle = std::uint64_t{1} << 30U;
/// Most open marks: lists within lists while they are built.
inline constexpr std::size_t most_pickle_depth = 1024;

/// Whether a file's beginning is that of a pickle of protocol 2 to 5, or of a table or list of protocol 0 or 1.
[[nodiscard]] bool begins_as_pickle(std::string_view head) noexcept;

/// Reads protocols 0 to 5 (pickletools of CPython 3.13 lists the opcodes). ConfigError with the offset for what would
/// look up or call something (GLOBAL, STACK_GLOBAL, INST, OBJ, NEWOBJ, NEWOBJ_EX, REDUCE, BUILD, PERSID, BINPERSID,
/// EXT1, EXT2, EXT4) with its name, for buffers from outside, unknown opcodes, lengths beyond the end, more values than
/// PlainData::most_values, marks deeper than `most_pickle_depth`, a file that breaks off and one with bytes after its
/// end. Sets are lists; whole numbers beyond 64 bits are numbers. Messages name `file`.
[[nodiscard]] PlainData read_pickle(std::string bytes, const std::string& file);

/// The same of a file, whole or gzip.
[[nodiscard]] PlainData read_pickle_file(const std::string& file);

/// JSON of any root as the same data: true, false and null are left out, numbers kept as they are written. ConfigError
/// where the text breaks, nests deeper than `most_pickle_depth` or holds too many values.
[[nodiscard]] PlainData read_plain_json(const std::string& file);

}  // namespace headroom
