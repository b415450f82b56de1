// SPDX-License-Identifier: Apache-2.0
// Shapes of inputs, with what the caller states of those that are dynamic.
#pragma once

#include "file_words.hpp"

namespace headroom::onnx_file {

/// Gives every input of the model its shape, and inner tensors those that are stated; tells sizes that have no value,
/// and stated ones that nothing has.
void take_shapes(onnx::ModelProto& model, const Shapes& shapes, Graph& graph);

}  // namespace headroom::onnx_file
