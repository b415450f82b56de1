// SPDX-License-Identifier: Apache-2.0
// The graph that is handed over, from a model whose shapes are known.
#pragma once

#include "file_types.hpp"

namespace headroom::onnx_file {

/// Walks the model's graph and those inside its nodes; tells results whose shape is not known.
void take_graph(const onnx::ModelProto& model, const Types& types, Graph& graph);

}  // namespace headroom::onnx_file
