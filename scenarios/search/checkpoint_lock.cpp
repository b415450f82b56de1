// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/scenarios/search/checkpoint_lock.hpp>
#include <headroom/scenarios/search/side_file.hpp>

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace headroom {
namespace {

/// "process 4711 on node3"
std::string own_name() {
  std::array<char, 256> host{};
  const bool named = gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0';
  return std::string{first_words(SideFile::lock)} + std::to_string(getpid()) +
         (named ? " on " + std::string{host.data()} : std::string{});
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
  return fstat(descriptor, &opened) == 0 && lstat(file.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

CheckpointLock::CheckpointLock(const std::string& checkpoint) : file_{side_file(checkpoint, SideFile::lock)} {
  for (;;) {
    descriptor_ = open_side_file(checkpoint, SideFile::lock);
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) {
        const std::string owner = name_in(descriptor_);
        close(descriptor_);
        refuse_checkpoint(checkpoint, "is in use by another search" +
                                          (owner.empty() ? std::string{} : " (" + owner + ")") +
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
  static_cast<void>(rewrite(descriptor_, own_name()));  // on a full disk the lock stands without a name
}

CheckpointLock::~CheckpointLock() {
  // Removed while it is held: who opened it before sees that the name has gone, and makes another.
  unlink(file_.c_str());
  close(descriptor_);
}

}  // namespace headroom
