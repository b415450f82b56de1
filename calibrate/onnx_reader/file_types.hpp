// SPDX-License-Identifier: Apache-2.0
// The shapes of all tensors, inferred by libonnx.
#pragma once

#include "file_words.hpp"

namespace headroom::onnx_file {

/// Types of tensors by name, those of graphs inside nodes among them; they live as long as the model.
using Types = std::map<std::string, const onnx::TypeProto*>;

/// Infers the shapes of a model's tensors from those of its inputs. Nodes become what libonnx can read; what they were
/// stands in their `doc_string`, as "domain:op".
[[nodiscard]] Types infer_types(onnx::ModelProto& model, std::int64_t opset);

}  // namespace headroom::onnx_file
