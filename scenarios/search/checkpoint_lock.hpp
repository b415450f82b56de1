// SPDX-License-Identifier: Apache-2.0
// A checkpoint belongs to one search at a time.
#pragma once

#include <string>

namespace headroom {

/// While it stands no other search may use the checkpoint, on this machine, or on a shared disk whose file system has
/// locks. It stands on FILE.lock beside it, for the checkpoint itself is replaced again and again; the kernel gives the
/// lock back however the process ends, so that none is ever left behind.
class CheckpointLock {
 public:
  /// ConfigError where another search has it, where there is no place for the lock, or where a file of that name is not
  /// this program's (side_file.hpp). A file system without locks gives none and stops nobody.
  explicit CheckpointLock(const std::string& checkpoint);
  ~CheckpointLock();
  CheckpointLock(const CheckpointLock&) = delete;
  CheckpointLock& operator=(const CheckpointLock&) = delete;

 private:
  std::string file_;
  int descriptor_ = -1;
};

}  // namespace headroom
