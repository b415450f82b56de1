// SPDX-License-Identifier: Apache-2.0
// Functions of a file, written out where they are called.
#pragma once

#include "file_words.hpp"

namespace headroom::onnx_file {

/// Replaces calls of the model's own functions by their nodes.
void write_out_functions(onnx::ModelProto& model, std::vector<std::string>& problems);

}  // namespace headroom::onnx_file
