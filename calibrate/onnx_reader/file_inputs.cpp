// SPDX-License-Identifier: Apache-2.0
#include "file_inputs.hpp"

#include <set>

namespace headroom::onnx_file {
namespace {

class Inputs {
 public:
  Inputs(onnx::ModelProto& model, const Shapes& shapes, Graph& graph) : model_{model}, shapes_{shapes}, out_{graph} {}

  void run() {
    take_inputs();
    check_asked();
  }

 private:
  void problem(const std::string& place, const std::string& what) { out_.problems.push_back(place + ": " + what); }

  /// A first size of this name is the number of samples, of which an op list holds one.
  static bool means_batch(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return name.starts_with("batch") || name.ends_with("batch") || name == "n" || name == "b" || name == "bs" ||
           name.starts_with("unk__");
  }

  void take_inputs() {
    onnx::GraphProto& graph = *model_.mutable_graph();
    for (onnx::ValueInfoProto& value : *graph.mutable_input()) {
      if (!is_initializer(graph, value.name())) {
        take_input(value);
      }
    }
    // Sizes that an exporter wrote for other inputs would contradict: shapes of inner tensors are inferred again.
    for (auto* values : {graph.mutable_value_info(), graph.mutable_output()}) {
      for (onnx::ValueInfoProto& value : *values) {
        forget_names(*value.mutable_type());
      }
    }
    for (const auto& [name, sizes] : shapes_) {
      if (is_inner(name)) {
        asked_.insert(name);
        state_shape(*model_.mutable_graph(), name, sizes);
      }
    }
  }

  [[nodiscard]] bool is_inner(const std::string& name) const {
    return std::any_of(model_.graph().node().begin(), model_.graph().node().end(), [&](const onnx::NodeProto& node) {
      return std::find(node.output().begin(), node.output().end(), name) != node.output().end();
    });
  }

  /// Sizes that have a name, or none, are left open.
  static void forget_names(onnx::TypeProto& type) {
    if (!type.has_tensor_type() || !type.tensor_type().has_shape()) {
      return;
    }
    for (auto& size : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      if (!size.has_dim_value() || size.dim_value() < 0) {
        size.clear_dim_value();
        size.clear_dim_param();
      }
    }
  }

  void take_input(onnx::ValueInfoProto& value) {
    const std::string place = "input " + in_quotes(value.name());
    const auto stated = shapes_.find(value.name());
    if (stated != shapes_.end()) {
      asked_.insert(value.name());
    }
    if (!value.type().has_tensor_type()) {
      problem(place, "is no tensor (a sequence, a map or an optional value); export the model with tensors alone");
      return;
    }
    auto& type = *value.mutable_type()->mutable_tensor_type();
    if (!type.has_shape() && stated == shapes_.end()) {
      problem(place, "states no shape; set it, e.g. --shape " + value.name() + "=1x3x224x224");
      return;
    }
    if (!type.has_shape()) {
      for (std::size_t i = 0; i < stated->second.size(); ++i) {
        type.mutable_shape()->add_dim();
      }
    }
    auto& shape = *type.mutable_shape();
    if (stated != shapes_.end() && static_cast<int>(stated->second.size()) != shape.dim_size()) {
      problem(place, "has " + std::to_string(shape.dim_size()) + " sizes, but --shape states " +
                         sizes_text(stated->second) + "; state one for each");
      return;
    }
    for (int i = 0; i < shape.dim_size(); ++i) {
      take_size(value, i, stated == shapes_.end() ? 0 : stated->second[static_cast<std::size_t>(i)]);
    }
  }

  /// One size of an input: `stated` by the caller, or 0.
  void take_size(onnx::ValueInfoProto& value, int i, std::int64_t stated) {
    auto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
    auto& size = *shape.mutable_dim(i);
    const std::string place = "input " + in_quotes(value.name()) + ", size " + std::to_string(i + 1) + " of " +
                              std::to_string(shape.dim_size());
    if (size.has_dim_value() && size.dim_value() > 0) {
      if (stated != 0 && stated != size.dim_value()) {
        problem(place, "is " + std::to_string(size.dim_value()) + " in the file, but --shape states " +
                           std::to_string(stated) + "; state " + std::to_string(size.dim_value()) +
                           ", or export the model with a dynamic size");
      }
      return;
    }
    const std::string name = size.dim_param();
    if (name.empty() && size.has_dim_value() && stated == 0 && size.dim_value() == 0) {
      problem(place, "is 0, so that the tensor is empty; set all sizes, e.g. --shape " + value.name() + "=" +
                         example(shape, i));
      return;
    }
    if (stated == 0 && !name.empty()) {
      if (const auto found = shapes_.find(name); found != shapes_.end() && found->second.size() == 1) {
        asked_.insert(name);
        stated = found->second.front();
      } else if (i == 0 && means_batch(name)) {
        stated = 1;
        if (told_.insert(name).second) {
          out_.remarks.push_back("size " + in_quotes(name) + " is taken as 1: an op list is of one sample");
        }
      }
    }
    if (stated == 0) {
      if (name.empty() || told_.insert(name).second) {
        problem(place, (name.empty() ? std::string{"has no value"} : "is dynamic, " + in_quotes(name)) +
                           "; set it with " + (name.empty() ? "" : "--shape " + name + "=N, or all of them with ") +
                           "--shape " + value.name() + "=" + example(shape, i));
      }
      return;
    }
    size.clear_dim_param();
    size.set_dim_value(stated);
  }

  /// A shape to copy: sizes that are known, 1 for the first one and N for others.
  static std::string example(const onnx::TensorShapeProto& shape, int) {
    std::string text;
    for (int i = 0; i < shape.dim_size(); ++i) {
      const auto& size = shape.dim(i);
      text +=
          (text.empty() ? "" : "x") + (size.has_dim_value() && size.dim_value() > 0 ? std::to_string(size.dim_value())
                                       : i == 0                                     ? std::string{"1"}
                                                                                    : std::string{"N"});
    }
    return text;
  }

  /// What --shape names is there.
  void check_asked() {
    for (const auto& [name, sizes] : shapes_) {
      if (asked_.contains(name)) {
        continue;
      }
      std::string known;
      for (const onnx::ValueInfoProto& value : model_.graph().input()) {
        if (!is_initializer(model_.graph(), value.name())) {
          known += (known.empty() ? "" : ", ") + in_quotes(value.name());
        }
      }
      problem("--shape " + name + "=" + sizes_text(sizes),
              "no input, tensor or dynamic size has this name; the inputs are " + known);
    }
  }

  onnx::ModelProto& model_;
  const Shapes& shapes_;
  Graph& out_;
  std::set<std::string> asked_;  ///< names in --shape that are there
  std::set<std::string> told_;   ///< dynamic sizes that were told
};

}  // namespace

void take_shapes(onnx::ModelProto& model, const Shapes& shapes, Graph& graph) {
  Inputs{model, shapes, graph}.run();
}

}  // namespace headroom::onnx_file
