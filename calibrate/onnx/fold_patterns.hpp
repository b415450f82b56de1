// SPDX-License-Identifier: Apache-2.0
// Chains of nodes that exporters write for one op, as that op.
#pragma once

#include <headroom/calibrate/onnx/onnx_graph.hpp>

namespace headroom::onnx_file {

/// Folds a product and its bias, GELU, SiLU, layer norm and attention, where nothing else reads what is between.
/// Attention becomes op "headroom.Attention" with heads, tokens, context and head_dim.
void fold_patterns(Graph& graph);

}  // namespace headroom::onnx_file
