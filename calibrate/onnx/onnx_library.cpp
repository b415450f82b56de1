// SPDX-License-Identifier: Apache-2.0
// Opens libheadroom_onnx.so, the only part that uses libonnx and protobuf, and reads a file through it.
#include <headroom/calibrate/onnx/onnx_network.hpp>
#include <headroom/calibrate/probe/probe_library.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/model/workload/op_list.hpp>

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <functional>
#include <sstream>

namespace headroom {
namespace {

constexpr std::string_view how_to_get =
    "; it comes with the package headroom-onnx, or with a build where libonnx-dev and libprotobuf-dev are installed "
    "(see docs/networks.md)";

onnx_file::Reader open_reader() {
  const std::optional<std::string> named = library_of("HEADROOM_ONNX_LIBRARY");
  const std::optional<std::string> path = named ? named : beside_program("libheadroom_onnx.so");
  if (!path) {
    throw ConfigError{"ONNX files are read by libheadroom_onnx.so, which is not beside this program" +
                      std::string{how_to_get}};
  }
  void* library = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw ConfigError{"the library that reads ONNX files cannot be opened: " +
                      std::string{why == nullptr ? path->c_str() : why} + std::string{how_to_get}};
  }
  // POSIX guarantees this conversion.
  const auto entry =
      reinterpret_cast<onnx_file::Entry>(dlsym(library, onnx_file::entry_name));  // NOLINT(*-reinterpret-cast)
  if (entry == nullptr) {
    throw ConfigError{*path + " reads no ONNX files: it has no symbol " + onnx_file::entry_name};
  }
  std::uint32_t own = 0;
  const onnx_file::Reader reader = entry(onnx_file::abi_version, &own);
  if (reader == nullptr) {
    throw ConfigError{*path + " speaks version " + std::to_string(own) + " of its interface, this headroom " +
                      std::to_string(onnx_file::abi_version) + "; build and install both together"};
  }
  return reader;
}

/// "1x3x224x224", "8"; nothing where it is no such text.
std::vector<std::int64_t> sizes_in(std::string_view text) {
  std::vector<std::int64_t> sizes;
  while (!text.empty()) {
    std::int64_t size = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), size);
    const auto read = static_cast<std::size_t>(end - text.data());
    const bool ends = read == text.size();
    if (status != std::errc{} || size < 1 || size > largest_size || (!ends && text[read] != 'x' && text[read] != ',') ||
        read + 1 == text.size()) {
      return {};
    }
    sizes.push_back(size);
    text.remove_prefix(ends ? read : read + 1);
  }
  return sizes;
}

onnx_file::Shapes shapes_of(const std::vector<std::string>& texts) {
  onnx_file::Shapes shapes;
  Diagnostics diagnostics;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');  // names of tensors may hold one
    const std::string name = text.substr(0, equals == std::string::npos ? 0 : equals);
    const std::vector<std::int64_t> sizes =
        equals == std::string::npos ? std::vector<std::int64_t>{} : sizes_in(std::string_view{text}.substr(equals + 1));
    if (name.empty() || sizes.empty()) {
      diagnostics.add("--shape", {},
                      quoted(text) +
                          " is no shape; write NAME=SIZES with sizes from 1 to 1073741824, such "
                          "as input=1x3x224x224, or NAME=SIZE of a dynamic size, such as seq=128");
    } else if (!shapes.emplace(name, sizes).second) {
      diagnostics.add("--shape", {}, quoted(name) + " is stated twice; state it once");
    }
  }
  diagnostics.throw_if_any();
  return shapes;
}

/// Files that are told best by what they are: too large ones, and those that stand for others.
void refuse_other(const std::string& path) {
  std::error_code status;
  if (std::filesystem::file_size(path, status) > most_onnx && !status) {
    throw ConfigError{
        {Diagnostic{path,
                    {},
                    "is larger than 2 GiB, the most that a message of protobuf holds; export the model with "
                    "external data, whose files are not needed here"}}};
  }
  InputFile file{path, most_onnx};
  std::string head(40, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (head.starts_with("version https://git-lfs")) {
    throw ConfigError{{Diagnostic{path, {}, "is a pointer of Git LFS, not the model; fetch it with 'git lfs pull'"}}};
  }
}

/// libonnx follows sizes and attributes that contradict each other beyond its memory, so that a broken file would end
/// this process: a child reads it first, and the file is refused where the child dies.
void require_survival(const std::string& path, const std::function<void(onnx_file::Graph&)>& read) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    const rlimit a_minute{60, 60};  // seconds of processor time: more than 2 GiB ask for
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_CPU, &a_minute);
    try {
      onnx_file::Graph graph;
      read(graph);
    } catch (...) {  // NOLINT(bugprone-empty-catch): told by the process that reads it again
    }
    _exit(0);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool asked_to_stop = WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM);
  if (child > 0 && status != 0 && !asked_to_stop) {
    throw ConfigError{{Diagnostic{path,
                                  {},
                                  "contradicts itself: libonnx, which infers shapes, breaks off at it; check it with "
                                  "onnx.checker of Python's package onnx, or export it again"}}};
  }
}

}  // namespace

onnx_file::Graph read_onnx(const std::string& path, const std::vector<std::string>& texts) {
  const onnx_file::Shapes shapes = shapes_of(texts);
  std::error_code status;
  const bool rewinds = std::filesystem::is_regular_file(path, status);
  if (rewinds) {
    refuse_other(path);
  }
  const onnx_file::Reader reader = open_reader();
  const std::string piped = rewinds ? "" : read_file(path, most_onnx).text;
  const auto read = [&](onnx_file::Graph& graph) {
    if (rewinds) {
      InputFile file{path, most_onnx};
      reader(file, shapes, graph);
    } else {
      std::istringstream file{piped};
      reader(file, shapes, graph);
    }
  };
  require_survival(path, read);
  onnx_file::Graph graph;
  read(graph);
  Diagnostics diagnostics;
  for (const std::string& problem : graph.problems) {
    diagnostics.add(path, {}, shown(problem));  // names of a file may break lines
  }
  diagnostics.throw_if_any();
  return graph;
}

}  // namespace headroom
