// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/scenarios/search/side_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace headroom {
namespace {

/// What a side file is for.
std::string_view purpose(SideFile kind) noexcept {
  return kind == SideFile::lock ? "which would mark it as in use" : "which would hold the next one until it is whole";
}

/// Whose file would be lost.
[[noreturn]] void refuse_foreign(const std::string& checkpoint, SideFile kind, const std::string& why) {
  refuse_checkpoint(checkpoint, "cannot be written: " + quoted(side_file(checkpoint, kind)) + ", " +
                                    std::string{purpose(kind)} + ", " + why +
                                    "; name another checkpoint, or move that file away");
}

/// Whether a side file of this kind stands there, or nothing yet.
bool is_own(int descriptor, SideFile kind) noexcept {
  const std::string_view own = first_words(kind);
  std::array<char, 64> begin{};
  const ssize_t size = pread(descriptor, begin.data(), own.size(), 0);
  return size == 0 || (size > 0 && own == std::string_view{begin.data(), static_cast<std::size_t>(size)});
}

}  // namespace

void refuse_checkpoint(const std::string& checkpoint, const std::string& why) {
  throw ConfigError{"--checkpoint " + quoted(checkpoint) + " " + why};
}

std::string_view first_words(SideFile kind) noexcept {
  return kind == SideFile::lock ? "process " : "headroom search checkpoint ";
}

std::string side_file(const std::string& checkpoint, SideFile kind) {
  return behind_links(checkpoint) + (kind == SideFile::lock ? ".lock" : ".part");
}

int open_side_file(const std::string& checkpoint, SideFile kind) {
  constexpr mode_t mode = 0666;  // less the user's mask
  const std::string file = side_file(checkpoint, kind);
  // A pipe of that name must not be waited for.
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode);
  if (descriptor < 0 && errno == ELOOP) {
    refuse_foreign(checkpoint, kind, "is a link to what would be lost");
  }
  if (descriptor < 0) {
    const std::string why = std::strerror(errno);
    refuse_checkpoint(checkpoint, "cannot be written: " + why + " (" + quoted(file) + ")");
  }
  struct stat status {};
  const bool plain = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (!plain || !is_own(descriptor, kind)) {
    close(descriptor);
    refuse_foreign(checkpoint, kind, plain ? "is there and was not written by this program" : "is no plain file");
  }
  return descriptor;
}

bool rewrite(int descriptor, std::string_view text) noexcept {
  bool done = ftruncate(descriptor, 0) == 0;
  for (off_t at = 0; done && !text.empty();) {
    const ssize_t size = pwrite(descriptor, text.data(), text.size(), at);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    done = size > 0;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    at += std::max<ssize_t>(size, 0);
  }
  return done;
}

}  // namespace headroom
