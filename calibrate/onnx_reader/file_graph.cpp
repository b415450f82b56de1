// SPDX-License-Identifier: Apache-2.0
#include "file_graph.hpp"

#include <set>
#include <utility>

namespace headroom::onnx_file {
namespace {

/// Ops whose result follows from shapes alone.
constexpr std::array<std::string_view, 3> of_shapes{"Shape", "Size", "Constant"};

class Walk {
 public:
  Walk(const onnx::ModelProto& model, const Types& types, Graph& graph) : model_{model}, types_{types}, out_{graph} {}

  void run() {
    const onnx::GraphProto& graph = model_.graph();
    for (const onnx::ValueInfoProto& value : graph.input()) {
      if (!is_initializer(graph, value.name())) {
        out_.inputs.push_back(value.name());
        note_tensor("input " + in_quotes(value.name()), value.name(), value.name());
      }
    }
    for (const onnx::ValueInfoProto& value : graph.output()) {
      out_.outputs.push_back(value.name());
    }
    walk(graph, {}, "");
    leave_out_unread(out_);
    for (const Node& node : out_.nodes) {
      check_shapes(node);
    }
  }

 private:
  using Names = std::map<std::string, std::string>;

  void problem(const std::string& place, const std::string& what) { out_.problems.push_back(place + ": " + what); }

  void note_stored(const std::string& name, const onnx::TensorProto& tensor, bool sparse = false) {
    Tensor& noted = out_.tensors[name];
    noted.type = tensor.data_type();
    noted.fixed = true;
    noted.root = name;
    double elements = 1.0;
    noted.shape.assign(tensor.dims().begin(), tensor.dims().end());
    for (const std::int64_t size : tensor.dims()) {
      elements *= static_cast<double>(size);
    }
    if (elements < 1.0) {
      noted.shape.clear();
      noted.root.clear();
      return;
    }
    const double index = sparse ? 8.0 : 0.0;
    out_.stored[name] = {elements, elements * (element_bytes(tensor.data_type()) + index), tensor.data_type()};
  }

  /// Takes the shape that inference found for `inferred`, where it is whole.
  void note_tensor(const std::string& place, const std::string& name, const std::string& inferred) {
    Tensor& tensor = out_.tensors[name];
    const auto found = types_.find(inferred);
    if (found == types_.end() || !found->second->has_tensor_type()) {
      return;
    }
    tensor.type = found->second->tensor_type().elem_type();
    if (!has_shape(*found->second)) {
      return;
    }
    double elements = 1.0;
    std::vector<std::int64_t> shape;
    for (const auto& size : found->second->tensor_type().shape().dim()) {
      elements *= static_cast<double>(size.dim_value());
      shape.push_back(size.dim_value());
    }
    if (elements < 1.0 || elements > most_elements) {
      ill_sized_.emplace(name, place + ": " + in_quotes(name) + " has the shape " + sizes_text(shape) +
                                   (elements < 1.0 ? ", which is empty; state sizes that leave something, with --shape"
                                                   : ", more than 9.0e15 elements; state smaller sizes with --shape"));
      return;
    }
    tensor.shape = std::move(shape);
    shaped_.insert(name);
  }

  static Attribute attribute_of(const onnx::AttributeProto& stated) {
    Attribute attribute;
    attribute.integers.assign(stated.ints().begin(), stated.ints().end());
    if (stated.has_i()) {
      attribute.integers = {stated.i()};
    }
    attribute.number = static_cast<double>(stated.f());
    attribute.text = stated.s();
    return attribute;
  }

  static std::string named(const std::string& name, const Names& names) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  }

  void walk(const onnx::GraphProto& graph, Names names, const std::string& prefix) {
    const auto own = [&](const std::string& name) {
      const std::string whole = prefix + name;
      names.insert_or_assign(name, whole);
      return whole;
    };
    for (const onnx::TensorProto& tensor : graph.initializer()) {
      note_stored(own(tensor.name()), tensor);
    }
    for (const auto& sparse : graph.sparse_initializer()) {
      note_stored(own(sparse.values().name()), sparse.values(), true);
    }
    int index = 0;
    for (const onnx::NodeProto& node : graph.node()) {
      walk_node(node, index++, names, prefix);
    }
  }

  void walk_node(const onnx::NodeProto& proto, int index, Names& names, const std::string& prefix) {
    Node node;
    node.name = prefix + proto.name();
    const std::size_t colon = proto.doc_string().find_last_of(':');
    node.domain = proto.doc_string().substr(0, colon);
    node.op = proto.doc_string().substr(colon + 1);
    if (is_own_domain(node.domain)) {
      node.domain.clear();
    }
    node.place = "node " + std::to_string(index + 1) + (proto.name().empty() ? "" : " " + in_quotes(proto.name())) +
                 " (" + node.op + ")" + (prefix.empty() ? "" : " of " + in_quotes(prefix.substr(0, prefix.size() - 1)));
    bool fixed = true;
    std::string root;
    double largest = 0.0;
    for (const std::string& input : proto.input()) {
      node.inputs.push_back(input.empty() ? "" : named(input, names));
      if (input.empty()) {
        continue;
      }
      const Tensor& read = out_.tensors[node.inputs.back()];
      fixed = fixed && read.fixed;
      const auto stored = out_.stored.find(read.root);
      if (stored != out_.stored.end() && stored->second.elements > largest) {
        largest = stored->second.elements;
        root = read.root;
      }
    }
    const bool has_body = std::any_of(proto.attribute().begin(), proto.attribute().end(),
                                      [](const auto& attribute) { return attribute.has_g(); });
    fixed = (fixed && !has_body) || (node.domain.empty() && is_one_of(of_shapes, node.op));
    for (const std::string& output : proto.output()) {
      if (output.empty()) {
        node.outputs.emplace_back();
        continue;
      }
      node.outputs.push_back(prefix + output);
      names.insert_or_assign(output, node.outputs.back());
      note_tensor(node.place, node.outputs.back(), output);
      Tensor& written = out_.tensors[node.outputs.back()];
      written.fixed = fixed;
      if (fixed && !is_one_of(of_shapes, node.op)) {
        written.root = root;
      }
    }
    if (node.op == "Constant" && node.domain.empty() && !node.outputs.empty()) {
      for (const onnx::AttributeProto& attribute : proto.attribute()) {
        if (attribute.has_t()) {
          note_stored(node.outputs.front(), attribute.t());
        }
      }
    }
    if (fixed) {
      return;
    }
    if (has_body) {
      walk_bodies(proto, node, names);
      return;
    }
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      node.attributes.emplace(attribute.name(), attribute_of(attribute));
    }
    out_.nodes.push_back(std::move(node));
  }

  static int nodes_in(const onnx::GraphProto& graph) {
    int count = graph.node_size();
    for (const onnx::NodeProto& node : graph.node()) {
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        count += attribute.has_g() ? nodes_in(attribute.g()) : 0;
      }
    }
    return count;
  }

  /// The graph inside a node: the longer branch of If, the body of Loop and Scan, each once.
  void walk_bodies(const onnx::NodeProto& proto, const Node& node, const Names& names) {
    const onnx::AttributeProto* taken = nullptr;
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      if (attribute.has_g() && (taken == nullptr || nodes_in(attribute.g()) > nodes_in(taken->g()))) {
        taken = &attribute;
      }
    }
    out_.remarks.push_back(node.place + ": its " + taken->name() + " is counted once" +
                           (node.op == "If" ? "; which branch runs hangs on data, and this is the longer one"
                                            : ", however often it runs"));
    const onnx::GraphProto& body = taken->g();
    const std::string prefix = (node.name.empty() ? node.op + std::to_string(++calls_) : node.name) + "/";
    Names inside = names;
    const bool loop = node.op == "Loop";
    for (int i = 0; i < body.input_size(); ++i) {
      const std::string inner = prefix + body.input(i).name();
      inside.insert_or_assign(body.input(i).name(), inner);
      note_tensor(node.place, inner, body.input(i).name());
      Tensor& tensor = out_.tensors[inner];
      if (loop && i < 2) {
        tensor.fixed = true;  // the number of the pass, and whether there is one
        continue;
      }
      const std::string from = i < static_cast<int>(node.inputs.size()) ? node.inputs[static_cast<std::size_t>(i)] : "";
      if (from.empty() || out_.tensors[from].fixed) {
        tensor.fixed = true;
        tensor.root = from.empty() ? "" : out_.tensors[from].root;
        continue;
      }
      pass_on(from, inner, node);
    }
    walk(body, inside, prefix);
    // Of a loop's results the first says whether it goes on.
    const int first = loop ? 1 : 0;
    for (int i = 0; i < proto.output_size() && i + first < body.output_size(); ++i) {
      const std::string& result = body.output(i + first).name();
      const auto outer = inside.find(result);
      const bool own = out_.tensors.contains(prefix + result);
      const std::string from = own ? prefix + result : outer == inside.end() ? result : outer->second;
      const std::string& to = node.outputs[static_cast<std::size_t>(i)];
      if (to.empty()) {
        continue;
      }
      Tensor& written = out_.tensors[to];
      const Tensor& inner = out_.tensors[from];
      if (written.shape.empty() && !shaped_.contains(to)) {
        written.shape = inner.shape;
        written.type = inner.type;
        if (shaped_.contains(from)) {
          shaped_.insert(to);
        }
      }
      if (inner.fixed) {
        written.fixed = true;
        written.root = inner.root;
      } else {
        pass_on(from, to, node);
      }
    }
  }

  /// A tensor under another name, or as one part of many.
  void pass_on(const std::string& from, const std::string& to, const Node& node) {
    Node hand;
    hand.name = node.name;
    hand.place = node.place;
    hand.op = "Identity";
    hand.inputs = {from};
    hand.outputs = {to};
    out_.nodes.push_back(std::move(hand));
  }

  /// A result without a shape, told where it begins: of what reads it the shape cannot be known either.
  void check_shapes(const Node& node) {
    const bool reads_open = std::any_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& name) {
      return !name.empty() && !out_.tensors[name].fixed && !shaped_.contains(name);
    });
    for (const std::string& output : node.outputs) {
      if (output.empty() || shaped_.contains(output)) {
        continue;
      }
      if (const auto ill = ill_sized_.find(output); ill != ill_sized_.end()) {
        out_.problems.push_back(ill->second);
      } else if (!reads_open && output == node.outputs.front()) {
        problem(node.place,
                "the shape of its result " + in_quotes(output) +
                    (node.domain.empty() ? " cannot be inferred; state it, e.g. --shape "
                                         : " is not known, for no rule of ONNX says what op " + in_quotes(node.op) +
                                               " of " + in_quotes(node.domain) + " does; state it, e.g. --shape ") +
                    output + "=1x100x4");
      }
    }
  }

  const onnx::ModelProto& model_;
  const Types& types_;
  Graph& out_;
  int calls_ = 0;                                 ///< of nodes without a name
  std::set<std::string> shaped_;                  ///< tensors whose shape is known
  std::map<std::string, std::string> ill_sized_;  ///< what is wrong with a shape, by tensor
};

}  // namespace

void take_graph(const onnx::ModelProto& model, const Types& types, Graph& graph) {
  Walk{model, types, graph}.run();
}

}  // namespace headroom::onnx_file
