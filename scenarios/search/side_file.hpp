// SPDX-License-Identifier: Apache-2.0
// Files that a search makes beside its checkpoint, under names that a user's own files may have.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace headroom {

/// `lock`: FILE.lock, which marks the checkpoint as in use; `part`: FILE.part, the next one until it is whole.
enum class SideFile : bool { lock, part };
inline constexpr std::array side_files{SideFile::lock, SideFile::part};

/// ConfigError "--checkpoint 'FILE' WHY".
[[noreturn]] void refuse_checkpoint(const std::string& checkpoint, const std::string& why);

/// What every side file of that kind begins with.
[[nodiscard]] std::string_view first_words(SideFile kind) noexcept;

/// Its name: beside the file behind the checkpoint's links. ConfigError where those lead back to themselves.
[[nodiscard]] std::string side_file(const std::string& checkpoint, SideFile kind);

/// A descriptor of the side file, made where there is none, as it stands: nothing is cut off or written. ConfigError
/// with the way out where it cannot be opened, or would cost somebody a file: a link, what is no plain file, and one
/// that begins with other words than first_words(). An empty one is nobody's.
[[nodiscard]] int open_side_file(const std::string& checkpoint, SideFile kind);

/// Replaces what stands in an open file. False where not all of it could be written; errno says why.
[[nodiscard]] bool rewrite(int descriptor, std::string_view text) noexcept;

}  // namespace headroom
