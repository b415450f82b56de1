// SPDX-License-Identifier: Apache-2.0
#include "file_types.hpp"

#include <onnx/shape_inference/implementation.h>

#include <exception>
#include <map>
#include <unordered_map>

namespace headroom::onnx_file {
namespace {

/// Ops whose result has the shape of their first input and that libonnx 1.12 does not know: of later versions of ONNX
/// and of ONNX Runtime (com.microsoft).
constexpr std::array<std::string_view, 18> shape_keepers{"Gelu",
                                                         "FastGelu",
                                                         "BiasGelu",
                                                         "QuickGelu",
                                                         "Swish",
                                                         "Mish",
                                                         "GroupNormalization",
                                                         "RMSNormalization",
                                                         "GroupNorm",
                                                         "SkipGroupNorm",
                                                         "SimplifiedLayerNormalization",
                                                         "SkipLayerNormalization",
                                                         "SkipSimplifiedLayerNormalization",
                                                         "RotaryEmbedding",
                                                         "TensorScatter",
                                                         "LayerNormalization",
                                                         "BitwiseNot",
                                                         "BiasSplitGelu"};

/// Reductions that took their axes as an attribute before opset 18, as libonnx 1.12 still reads them.
constexpr std::array<std::string_view, 9> reductions_by_attribute{"ReduceMean",   "ReduceMax",       "ReduceMin",
                                                                  "ReduceProd",   "ReduceL1",        "ReduceL2",
                                                                  "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};

/// Inferences one after another: each may know more than the one before, of loops in loops and of products behind
/// others.
constexpr int most_passes = 64;

class Inference {
 public:
  Inference(onnx::ModelProto& model, std::int64_t opset) : model_{model}, opset_{opset} {}

  Types run() {
    prepare(*model_.mutable_graph());
    infer();
    return types_;
  }

 private:
  /// Ops that libonnx would read otherwise than they are meant, or not at all, as others of the same shape.
  void prepare(onnx::GraphProto& graph) {
    std::map<std::string, const onnx::TensorProto*> stored;
    for (const onnx::TensorProto& tensor : graph.initializer()) {
      stored.emplace(tensor.name(), &tensor);
      stored_[tensor.name()].assign(tensor.dims().begin(), tensor.dims().end());
    }
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) {
          prepare(*attribute.mutable_g());
        }
        if (attribute.has_t() && node.op_type() == "Constant" && node.output_size() > 0) {
          stored.emplace(node.output(0), &attribute.t());
        }
      }
      node.set_doc_string(node.domain() + ":" + node.op_type());  // which survives, and nothing else reads
      axes_as_attribute(node, stored);
      fit_to_schema(node);
    }
  }

  static void axes_as_attribute(onnx::NodeProto& node, const std::map<std::string, const onnx::TensorProto*>& stored) {
    if (!is_own_domain(node.domain()) || !is_one_of(reductions_by_attribute, node.op_type()) || node.input_size() < 2) {
      return;
    }
    const auto found = stored.find(node.input(1));
    if (found == stored.end()) {
      if (!node.input(1).empty()) {
        node.set_domain(std::string{unknown_domain});  // axes that hang on data
      }
    } else {
      onnx::AttributeProto& axes = *node.add_attribute();
      axes.set_name("axes");
      axes.set_type(onnx::AttributeProto::INTS);
      const std::string& raw = found->second->raw_data();
      for (std::size_t i = 0; i + 8 <= raw.size(); i += 8) {
        std::int64_t value = 0;
        std::copy_n(raw.data() + i, 8, reinterpret_cast<char*>(&value));  // NOLINT(*-reinterpret-cast)
        axes.add_ints(value);
      }
      for (const std::int64_t value : found->second->int64_data()) {
        axes.add_ints(value);
      }
    }
    node.mutable_input()->RemoveLast();
  }

  void fit_to_schema(onnx::NodeProto& node) const {
    const bool own = is_own_domain(node.domain());
    const onnx::OpSchema* schema =
        own ? onnx::OpSchemaRegistry::Schema(node.op_type(),
                                             static_cast<int>(std::clamp<std::int64_t>(opset_, 1, 1000)), "")
            : nullptr;
    if (schema == nullptr && is_one_of(shape_keepers, node.op_type()) && node.input_size() > 0) {
      node.set_domain("");
      node.set_op_type("Identity");
      return;
    }
    if (schema == nullptr) {
      node.set_domain(std::string{unknown_domain});
      return;
    }
    node.set_domain("");
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> known;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (schema->attributes().contains(attribute.name())) {
        *known.Add() = attribute;
      }
    }
    node.mutable_attribute()->Swap(&known);
    try {
      schema->Verify(node);  // so that inference finds the inputs and attributes that it reads
    } catch (const std::exception&) {
      node.set_domain(std::string{unknown_domain});
    }
  }

  void infer() {
    bool own = false;
    for (auto& set : *model_.mutable_opset_import()) {
      own = own || set.domain().empty();
    }
    if (!own) {
      model_.add_opset_import()->set_version(opset_ == 0 ? 1 : opset_);
    }
    auto& unknown = *model_.add_opset_import();
    unknown.set_domain(std::string{unknown_domain});
    unknown.set_version(1);
    model_.clear_functions();
    for (int pass = 0; pass < most_passes; ++pass) {
      std::unordered_map<std::string, onnx::TensorShapeProto> data;
      try {
        onnx::shape_inference::InferShapes(model_, onnx::OpSchemaRegistry::Instance(), {false, 0, true}, &data);
      } catch (const std::exception&) {
        // Tensors whose shape it did not reach are told one by one.
      }
      types_.clear();
      note_types(model_.graph());
      const bool entered = enter_loops(*model_.mutable_graph());
      if (!shape_einsums(*model_.mutable_graph()) && !entered) {
        return;
      }
    }
  }

  void note_types(const onnx::GraphProto& graph) {
    for (const auto* values : {&graph.value_info(), &graph.input(), &graph.output()}) {
      for (const onnx::ValueInfoProto& value : *values) {
        types_[value.name()] = &value.type();
      }
    }
    for (const onnx::NodeProto& node : graph.node()) {
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) {
          note_types(attribute.g());
        }
      }
    }
  }

  /// Of Einsum libonnx 1.12 finds the number of sizes alone. Whether any shape was found.
  bool shape_einsums(onnx::GraphProto& graph) {
    bool changed = false;
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        changed = (attribute.has_g() && shape_einsums(*attribute.mutable_g())) || changed;
      }
      const bool open = node.op_type() == "Einsum" && node.domain().empty() && node.output_size() == 1 &&
                        !(types_.contains(node.output(0)) && has_shape(*types_[node.output(0)]));
      if (const auto sizes = open ? sizes_of_einsum(node) : std::vector<std::int64_t>{}; !sizes.empty()) {
        state_shape(graph, node.output(0), sizes);
        note_types(graph);
        changed = true;
      }
    }
    return changed;
  }

  /// Empty: not known. An equation with an ellipsis, or without a result, is left out.
  [[nodiscard]] std::vector<std::int64_t> sizes_of_einsum(const onnx::NodeProto& node) {
    std::string equation;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      equation = attribute.name() == "equation" ? attribute.s() : equation;
    }
    std::erase(equation, ' ');
    std::map<char, std::int64_t> sizes;
    std::size_t at = 0;
    for (const std::string& input : node.input()) {
      const auto stored = stored_.find(input);
      const auto type = types_.find(input);
      if (stored == stored_.end() && (type == types_.end() || !has_shape(*type->second))) {
        return {};
      }
      std::vector<std::int64_t> own = stored == stored_.end() ? std::vector<std::int64_t>{} : stored->second;
      for (int i = 0; stored == stored_.end() && i < type->second->tensor_type().shape().dim_size(); ++i) {
        own.push_back(type->second->tensor_type().shape().dim(i).dim_value());
      }
      for (const std::int64_t size : own) {
        sizes[at < equation.size() ? equation[at++] : '.'] = size;
      }
      ++at;  // a comma, or the first of "->"
    }
    std::vector<std::int64_t> result;
    for (const char letter : equation.substr(std::min(at + 1, equation.size()))) {
      const auto size = sizes.find(letter);
      if (size == sizes.end() || letter == '.') {
        return {};
      }
      result.push_back(size->second);
    }
    return result;
  }

  /// What a loop carries has in its body the shape that it has before: inference leaves it open. Whether any was set.
  bool enter_loops(onnx::GraphProto& graph) {
    bool changed = false;
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        if (!attribute.has_g()) {
          continue;
        }
        onnx::GraphProto& body = *attribute.mutable_g();
        for (int i = 2; node.op_type() == "Loop" && i < std::min(body.input_size(), node.input_size()); ++i) {
          const auto outer = types_.find(node.input(i));
          if (!has_shape(body.input(i).type()) && outer != types_.end() && has_shape(*outer->second)) {
            *body.mutable_input(i)->mutable_type() = *outer->second;
            changed = true;
          }
        }
        // And behind it that which its body writes.
        for (int i = 0; node.op_type() == "Loop" && i < std::min(node.input_size() - 2, node.output_size()); ++i) {
          const auto inner = i + 1 < body.output_size() ? types_.find(body.output(i + 1).name()) : types_.end();
          const auto outer = types_.find(node.output(i));
          const bool open = !node.output(i).empty() && (outer == types_.end() || !has_shape(*outer->second));
          if (open && inner != types_.end() && has_shape(*inner->second)) {
            std::vector<std::int64_t> sizes;
            for (const auto& size : inner->second->tensor_type().shape().dim()) {
              sizes.push_back(size.dim_value());
            }
            state_shape(graph, node.output(i), sizes);
            changed = true;
          }
        }
        changed = enter_loops(body) || changed;
      }
    }
    return changed;
  }

  onnx::ModelProto& model_;
  std::int64_t opset_;
  Types types_;
  std::map<std::string, std::vector<std::int64_t>> stored_;  ///< sizes of initializers
};

}  // namespace

Types infer_types(onnx::ModelProto& model, std::int64_t opset) {
  return Inference{model, opset}.run();
}

}  // namespace headroom::onnx_file
