// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/scratch_folder.hpp"
#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

using namespace headroom;
using headroom::test::ScratchFolder;
namespace fs = std::filesystem;

namespace {

class Scratch : public ScratchFolder {
 public:
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const { return write(name, text); }
  [[nodiscard]] std::string pipe(const std::string& name) const {
    const std::string pipe = (path() / name).string();
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    return pipe;
  }
};

/// Opens a pipe, which waits for the reader, writes and closes it.
void write_to_pipe(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(file, text.data() + at, text.size() - at);
    if (written <= 0) {
      break;  // the reader has seen enough
    }
    at += static_cast<std::size_t>(written);
  }
  close(file);
}

constexpr std::chrono::milliseconds soon{20};

}  // namespace

TEST_CASE("a file is read whole") {
  const Scratch scratch;
  const std::string text = std::string{"a\0b\n", 4} + "last line without an end";
  CHECK(read_file(scratch.file("f", text)).text == text);
  CHECK(read_file(scratch.file("empty", "")).text.empty());
  const std::string path = scratch.file("g", std::string(200'000, 'x'));
  InputFile stream{path};
  CHECK(std::string{std::istreambuf_iterator<char>{stream}, {}}.size() == 200'000);
  CHECK(stream.rewinds());
}

TEST_CASE("what is no file is refused with what it is and what to do") {
  const Scratch scratch;
  const std::string folder = scratch.path().string();
  CHECK_THROWS_WITH_AS(read_file(folder), (folder + ": error: is a folder, not a file").c_str(), ConfigError);
  CHECK_THROWS_WITH_AS(read_file(folder + "/none"), (folder + "/none: error: no such file").c_str(), ConfigError);
  for (const char* device : {"/dev/zero", "/dev/full", "/dev/null", "/dev/random"}) {
    CHECK_THROWS_WITH_AS(read_file(device), doctest::Contains("is a device, not a file; name a file, or pipe"),
                         ConfigError);
    CHECK_THROWS_WITH_AS(InputFile{device}, doctest::Contains("is a device"), ConfigError);
  }
}

TEST_CASE("a file that cannot be read says why") {
  const Scratch scratch;
  const std::string loop = (scratch.path() / "loop").string();
  fs::create_symlink("loop", loop);
  CHECK_THROWS_WITH_AS(read_file(loop), doctest::Contains("cannot be read: Too many levels of symbolic links; name"),
                       ConfigError);
  if (geteuid() != 0) {  // root may read everything
    const std::string closed = scratch.file("closed", "x");
    fs::permissions(closed, fs::perms::none);
    CHECK_THROWS_WITH_AS(read_file(closed), doctest::Contains("cannot be read: Permission denied; let it be read"),
                         ConfigError);
  }
  if (fs::exists("/proc/self/mem")) {
    CHECK_THROWS_WITH_AS(read_file("/proc/self/mem"), doctest::Contains("cannot be read: Input/output error"),
                         ConfigError);
  }
}

TEST_CASE("the limit counts what was read, not what a file says of its size") {
  const Scratch scratch;
  const std::string path = scratch.file("f", std::string(3 << 20, 'x'));
  CHECK_THROWS_WITH_AS(read_file(path, 2 << 20), doctest::Contains("is larger than 2 MiB, the most that is read"),
                       ConfigError);
  CHECK(read_file(path, 3 << 20).text.size() == 3 << 20);
  if (fs::exists("/proc/self/maps")) {  // says that it is empty
    CHECK(fs::file_size("/proc/self/maps") == 0);
    CHECK_THROWS_WITH_AS(read_file("/proc/self/maps", 10), doctest::Contains("is larger than"), ConfigError);
  }
  std::string line;
  InputFile stream{path, 4 << 20};
  CHECK_THROWS_WITH_AS(read_line(stream, line, "f", 7, 1 << 20), doctest::Contains("f:7:1: error: a line of more than"),
                       ConfigError);
}

TEST_CASE("a stream that grows past its limit ends with an error, not with half of the file") {
  std::signal(SIGPIPE, SIG_IGN);
  const Scratch scratch;
  const std::string path = scratch.pipe("p");
  std::thread writer{[&] { write_to_pipe(path, std::string(3 << 20, 'x')); }};
  {
    InputFile stream{path, 1 << 20};
    const auto read_on = [&] {
      while (stream.get() != std::char_traits<char>::eof()) {
      }
    };
    CHECK_THROWS_WITH_AS(read_on(), doctest::Contains("is larger than 1 MiB"), ConfigError);
  }
  writer.join();
}

TEST_CASE("a pipe is read to its end, however late and slow it is written") {
  const Scratch scratch;
  const std::string path = scratch.pipe("p");
  const std::string text(100'000, 'y');
  std::thread writer{[&] {
    std::this_thread::sleep_for(soon);
    write_to_pipe(path, text);
  }};
  CHECK(read_file(path).text == text);
  writer.join();
}

TEST_CASE("a pipe that nobody writes to is given up") {
  const Scratch scratch;
  CHECK_THROWS_WITH_AS(read_file(scratch.pipe("p"), most_text, soon), doctest::Contains("is a pipe that nothing is"),
                       ConfigError);
  const std::string closed = scratch.pipe("q");
  std::thread writer{[&] { write_to_pipe(closed, ""); }};
  CHECK_THROWS_WITH_AS(read_file(closed), doctest::Contains("is a pipe that nothing is"), ConfigError);
  writer.join();
}
