// SPDX-License-Identifier: Apache-2.0
// An ONNX file as a network file: its list of ops, priced as docs/networks.md says.
#pragma once

#include <headroom/calibrate/onnx/onnx_graph.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Upper bound on an ONNX file in bytes: messages of protobuf are no longer.
inline constexpr std::uint64_t most_onnx = (std::uint64_t{1} << 31U) - 1;

struct OnnxRequest {
  std::string name;                 ///< id of the network; empty: the file's name
  std::vector<std::string> shapes;  ///< "input=1x3x224x224", "batch=1"
};

struct ImportedOnnx {
  std::string toml;
  std::vector<std::string> remarks;  ///< what was left out, folded or is not known, a warning each
};

/// Whether a file is named as one of ONNX.
[[nodiscard]] bool is_onnx_name(const std::string& path);

/// Reads a graph through libheadroom_onnx.so, which HEADROOM_ONNX_LIBRARY names or which lies next to the program or in
/// ../lib. ConfigError with every problem of the file, each with its place and a way out, or with how to get the
/// library.
[[nodiscard]] onnx_file::Graph read_onnx(const std::string& path, const std::vector<std::string>& shapes);

/// The network file of a graph. ConfigError where the graph has no op or more than a network file takes.
[[nodiscard]] ImportedOnnx network_of(onnx_file::Graph graph, const std::string& path, const std::string& name);

/// Both.
[[nodiscard]] ImportedOnnx import_onnx(const std::string& path, const OnnxRequest& request);

}  // namespace headroom
