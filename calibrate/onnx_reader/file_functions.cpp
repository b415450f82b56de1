// SPDX-License-Identifier: Apache-2.0
#include "file_functions.hpp"

#include <set>
#include <unordered_map>
#include <utility>

namespace headroom::onnx_file {
namespace {

class Functions {
 public:
  Functions(onnx::ModelProto& model, std::vector<std::string>& problems) : model_{model}, problems_{problems} {}

  /// Functions of the file itself, written out where they are called.
  void run() {
    std::set<std::string> known;
    for (const auto& set : model_.opset_import()) {
      known.insert(set.domain());
    }
    for (const onnx::FunctionProto& function : model_.functions()) {
      functions_.emplace(function.domain() + ":" + function.name(), &function);
      for (const auto& set : function.opset_import()) {
        if (known.insert(set.domain()).second) {
          *model_.add_opset_import() = set;
        }
      }
    }
    if (!functions_.empty()) {
      write_out(*model_.mutable_graph(), 0);
    }
  }

 private:
  void problem(const std::string& place, const std::string& what) { problems_.push_back(place + ": " + what); }

  [[nodiscard]] const onnx::FunctionProto* function_of(const onnx::NodeProto& node) const {
    const auto found = functions_.find(node.domain() + ":" + node.op_type());
    return found == functions_.end() ? nullptr : found->second;
  }

  void write_out(onnx::GraphProto& graph, int depth) {
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    nodes.Swap(graph.mutable_node());
    for (onnx::NodeProto& node : nodes) {
      write_out(std::move(node), depth, graph);
    }
  }

  void write_out(onnx::NodeProto node, int depth, onnx::GraphProto& into) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) {
        write_out(*attribute.mutable_g(), depth);
      }
    }
    const onnx::FunctionProto* const function = function_of(node);
    if (function == nullptr) {
      *into.add_node() = std::move(node);
      return;
    }
    if (depth >= deepest_function || into.node_size() > most_nodes) {
      if (!too_deep_) {
        problem("function " + in_quotes(function->name()),
                "calls itself, or is called in each other too often; export the model without functions");
      }
      too_deep_ = true;
      return;
    }
    const std::string prefix = (node.name().empty() ? node.op_type() + std::to_string(++calls_) : node.name()) + "/";
    std::unordered_map<std::string, std::string> names;
    for (int i = 0; i < function->input_size(); ++i) {
      names[function->input(i)] = i < node.input_size() ? node.input(i) : "";
    }
    for (int i = 0; i < function->output_size(); ++i) {
      if (i < node.output_size() && !node.output(i).empty()) {
        names[function->output(i)] = node.output(i);
      }
    }
    for (const onnx::NodeProto& inner : function->node()) {
      onnx::NodeProto copy = inner;
      bind(copy, prefix, names, node);
      write_out(std::move(copy), depth + 1, into);
    }
  }

  /// Names and attributes of a function's node, as one call of it means them.
  static void bind(onnx::NodeProto& node,
                   const std::string& prefix,
                   const std::unordered_map<std::string, std::string>& names,
                   const onnx::NodeProto& call) {
    const auto rename = [&](std::string& name) {
      const auto found = names.find(name);
      name = found != names.end() ? found->second : name.empty() ? "" : prefix + name;
    };
    node.set_name(prefix + node.name());
    std::for_each(node.mutable_input()->begin(), node.mutable_input()->end(), rename);
    std::for_each(node.mutable_output()->begin(), node.mutable_output()->end(), rename);
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> attributes;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *attributes.Add() = attribute;
        continue;
      }
      for (const onnx::AttributeProto& given : call.attribute()) {
        if (given.name() == attribute.ref_attr_name()) {
          *attributes.Add() = given;
          attributes.Mutable(attributes.size() - 1)->set_name(attribute.name());
        }
      }
    }
    for (onnx::AttributeProto& attribute : attributes) {
      if (attribute.has_g()) {
        onnx::GraphProto& body = *attribute.mutable_g();
        for (onnx::NodeProto& inner : *body.mutable_node()) {
          bind(inner, prefix, names, call);
        }
        for (auto* values : {body.mutable_input(), body.mutable_output(), body.mutable_value_info()}) {
          for (onnx::ValueInfoProto& value : *values) {
            rename(*value.mutable_name());
          }
        }
        for (onnx::TensorProto& tensor : *body.mutable_initializer()) {
          rename(*tensor.mutable_name());
        }
      }
    }
    node.mutable_attribute()->Swap(&attributes);
  }

  onnx::ModelProto& model_;
  std::vector<std::string>& problems_;
  std::map<std::string, const onnx::FunctionProto*> functions_;
  bool too_deep_ = false;
  int calls_ = 0;  ///< of nodes without a name
};

}  // namespace

void write_out_functions(onnx::ModelProto& model, std::vector<std::string>& problems) {
  Functions{model, problems}.run();
}

}  // namespace headroom::onnx_file
