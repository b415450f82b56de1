// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/scenarios/search/checkpoint_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace headroom {
namespace {

[[noreturn]] void refuse(const std::string& checkpoint, const std::string& why) {
  throw ConfigError{"--checkpoint " + quoted(checkpoint) + " " + why};
}

/// "process 4711 on node3"
std::string own_name() {
  std::array<char, 256> host{};
  const bool named = gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0';
  return "process " + std::to_string(getpid()) + (named ? " on " + std::string{host.data()} : std::string{});
}

/// Who wrote into the lock; empty where nobody has yet.
std::string name_in(int descriptor) {
  std::array<char, 512> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string{};
}

/// Whether the name still leads to the file that was opened: its last owner may have removed it meanwhile.
bool is_at(int descriptor, const std::string& file) {
  struct stat opened {};
  struct stat named {};
  return fstat(descriptor, &opened) == 0 && stat(file.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

CheckpointLock::CheckpointLock(const std::string& checkpoint) : file_{behind_links(checkpoint) + ".lock"} {
  constexpr mode_t mode = 0666;  // less the user's mask
  for (;;) {
    descriptor_ = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, mode);
    if (descriptor_ < 0) {
      refuse(checkpoint, "cannot be written: " + quoted(file_) + ", which marks it as in use: " + std::strerror(errno));
    }
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) {
        const std::string owner = name_in(descriptor_);
        close(descriptor_);
        refuse(checkpoint, "is in use by another search" + (owner.empty() ? std::string{} : " (" + owner + ")") +
                               "; wait for it, or name another file");
      }
      if (errno != EINTR) {
        return;  // no locks here
      }
    } else if (is_at(descriptor_, file_)) {
      break;
    }
    close(descriptor_);
  }
  const std::string name = own_name();
  if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, name.data(), name.size(), 0) < 0) {
    return;  // a full disk: the lock stands without a name
  }
}

CheckpointLock::~CheckpointLock() {
  // Removed while it is held: who opened it before sees that the name has gone, and makes another.
  unlink(file_.c_str());
  close(descriptor_);
}

}  // namespace headroom
