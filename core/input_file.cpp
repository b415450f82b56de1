// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <streambuf>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

[[noreturn]] void refuse(const std::string& path, std::string message) {
  throw ConfigError{{Diagnostic{path, {}, std::move(message)}}};
}

[[noreturn]] void refuse_reading(const std::string& path, int error) {
  const std::string_view way_out =
      error == EACCES || error == EPERM ? "let it be read, or name another file" : "name a file that can be read";
  refuse(path, "cannot be read: " + std::string{std::strerror(error)} + "; " + std::string{way_out});
}

std::string size_text(std::uint64_t bytes) {
  const bool whole_gibibytes = bytes >= std::uint64_t{1} << 30U;
  return whole_gibibytes ? std::to_string(bytes >> 30U) + " GiB" : std::to_string(bytes >> 20U) + " MiB";
}

/// An open file or pipe, and the number of bytes that may still be read from it.
class Source {
 public:
  Source(const std::string& path, std::uint64_t most, std::chrono::milliseconds patience)
      : path_{path}, most_{most}, left_{most}, patience_{patience} {
    // Without O_NONBLOCK, open() would block on a pipe without a writer.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor_ < 0) {
      const int error = errno;
      error == ENOENT ? refuse(path, "no such file") : refuse_reading(path, error);
    }
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) {
      const int error = errno;
      close();
      refuse_reading(path, error);
    }
    if (const std::string why = why_refused(status); !why.empty()) {
      close();
      refuse(path, why);
    }
    pipe_ = S_ISFIFO(status.st_mode);
    size_ = pipe_ ? 0 : static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  Source(Source&&) = delete;
  Source& operator=(Source&&) = delete;
  ~Source() { close(); }

  /// Reads up to `room` bytes and returns their number; 0 at the end.
  std::size_t read(char* to, std::size_t room) {
    for (;;) {
      // One byte more than is allowed tells whether the file ends at the limit.
      const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room, left_ + 1));
      const ssize_t got = ::read(descriptor_, to, wanted);
      if (got > 0) {
        if (static_cast<std::uint64_t>(got) > left_) {
          refuse(path_, "is larger than " + size_text(most_) + ", the most that is read of such a file; " +
                            (pipe_ ? "end it earlier" : "split it, or name another"));
        }
        left_ -= static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0 && !(pipe_ && errno == EAGAIN)) {
        refuse_reading(path_, errno);
      }
      if (got == 0 && (!pipe_ || left_ < most_)) {
        return 0;
      }
      wait(got < 0);
    }
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool pipe() const noexcept { return pipe_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  [[nodiscard]] std::string why_refused(const struct stat& status) const {
    if (S_ISDIR(status.st_mode)) {
      return "is a folder, not a file";
    }
    if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0)) > most_) {
      return "is larger than " + size_text(most_) + ", the most that is read of such a file; split it, or name another";
    }
    if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
      return "is a device, not a file; name a file, or pipe its text in as /dev/stdin";
    }
    return S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) ? "" : "is neither a file nor a pipe; name a file";
  }

  /// Waits until there is something to read. A pipe whose writer has not come, or left without writing, is refused
  /// after `patience_`; once something was written, waiting has no limit.
  void wait(bool written) {
    if (!written && waited_) {
      refuse(path_, "is a pipe that nothing is written to; start what writes to it first, or name a file");
    }
    pollfd events{descriptor_, POLLIN, 0};
    const int limit = written ? -1 : static_cast<int>(patience_.count());
    const int ready = ::poll(&events, 1, limit);
    if (ready < 0 && errno != EINTR) {
      refuse_reading(path_, errno);
    }
    waited_ = !written && ready == 0;
    if (!written && ready > 0 && (events.revents & POLLIN) == 0) {
      waited_ = true;  // a writer came and left
    }
  }

  void close() noexcept {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
    descriptor_ = -1;
  }

  std::string path_;
  std::uint64_t most_;
  std::uint64_t left_;
  std::uint64_t size_ = 0;
  std::chrono::milliseconds patience_;
  int descriptor_ = -1;
  bool pipe_ = false;
  bool waited_ = false;
};

}  // namespace

ConfigSource read_file(const std::string& path, std::uint64_t most, std::chrono::milliseconds patience) {
  Source source{path, most, patience};
  constexpr std::size_t part = std::size_t{64} << 10U;
  std::string text;
  text.reserve(static_cast<std::size_t>(source.size()));
  std::vector<char> bytes(part);
  while (const std::size_t got = source.read(bytes.data(), bytes.size())) {
    text.append(bytes.data(), got);
  }
  return {path, std::move(text)};
}

class InputFile::Buffer : public std::streambuf {
 public:
  Buffer(const std::string& path, std::uint64_t most) : source_{path, most, pipe_patience} {}
  [[nodiscard]] bool pipe() const noexcept { return source_.pipe(); }
  [[nodiscard]] const std::string& path() const noexcept { return source_.path(); }

 protected:
  int_type underflow() override {
    const std::size_t got = source_.read(bytes_.data(), bytes_.size());
    setg(bytes_.data(), bytes_.data(), bytes_.data() + got);
    return got == 0 ? traits_type::eof() : traits_type::to_int_type(bytes_.front());
  }

 private:
  Source source_;
  std::array<char, std::size_t{64} << 10U> bytes_{};
};

InputFile::InputFile(const std::string& path, std::uint64_t most)
    : std::istream{nullptr}, buffer_{std::make_unique<Buffer>(path, most)} {
  rdbuf(buffer_.get());
  exceptions(std::ios::badbit);  // rethrow the exceptions of the buffer to the reader
}

InputFile::~InputFile() = default;

bool InputFile::rewinds() const noexcept {
  return !buffer_->pipe();
}

std::string InputFile::text() {
  std::string text;
  for (int c = buffer_->sbumpc(); c != traits_type::eof(); c = buffer_->sbumpc()) {
    if (text.size() == most_text) {
      refuse(buffer_->path(), "is a pipe of more than " + size_text(most_text) +
                                  ", the most that is held in memory; write it to a file, and name that");
    }
    text += static_cast<char>(c);
  }
  return text;
}

bool read_line(std::istream& stream, std::string& line, const std::string& file, int number, std::size_t most) {
  constexpr int end_of_file = std::istream::traits_type::eof();
  std::streambuf& bytes = *stream.rdbuf();
  line.clear();
  int c = bytes.sbumpc();
  if (c == end_of_file) {
    return false;
  }
  for (; c != '\n' && c != end_of_file; c = bytes.sbumpc()) {
    if (line.size() == most) {
      throw ConfigError{
          {Diagnostic{file, {number, 1}, "a line of more than " + size_text(most) + "; break it into several"}}};
    }
    line += static_cast<char>(c);
  }
  return true;
}

}  // namespace headroom
