// SPDX-License-Identifier: Apache-2.0
// Whether a graph can be walked: names, order, and stored tensors.
#pragma once

#include "file_words.hpp"

namespace headroom::onnx_file {

/// Tells names that nothing writes or two nodes write, cycles, and stored tensors whose sizes and bytes disagree; puts
/// nodes behind what they read. Graphs inside nodes too.
void check_graph(onnx::GraphProto& graph, std::vector<std::string>& problems);

}  // namespace headroom::onnx_file
