// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/onnx/fold_patterns.hpp>
#include <headroom/calibrate/onnx/network_writer.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::onnx_file {
namespace {

class Folder {
 public:
  explicit Folder(Graph& graph) : graph_{graph} {
    for (Node& node : graph.nodes) {
      for (const std::string& name : node.outputs) {
        writers_.emplace(name, &node);
      }
      for (const std::string& name : node.inputs) {
        readers_[name].push_back(&node);
      }
    }
    for (const std::string& name : graph.outputs) {
      readers_[name].push_back(nullptr);
    }
  }

  void run() {
    for (Node& node : graph_.nodes) {
      if (node.domain.empty()) {
        fold_bias(node);
        fold_sigmoid(node);
        fold_gelu(node);
        fold_layer_norm(node);
        fold_attention(node);
      }
    }
    leave_out_unread(graph_);  // what was folded, and what computed masks for it
  }

 private:
  [[nodiscard]] bool fixed(const std::string& name) const {
    const auto found = graph_.tensors.find(name);
    return found != graph_.tensors.end() && found->second.fixed;
  }
  [[nodiscard]] const Sizes& sizes(const std::string& name) const {
    static const Sizes none;
    const auto found = graph_.tensors.find(name);
    return found == graph_.tensors.end() ? none : found->second.shape;
  }
  [[nodiscard]] double elements(const std::string& name) const { return elements_of(sizes(name)); }
  [[nodiscard]] Node* writer(const std::string& name) const {
    const auto found = writers_.find(name);
    return found == writers_.end() ? nullptr : found->second;
  }
  /// The writer, if it is of this op.
  [[nodiscard]] Node* writer(const std::string& name, std::string_view op) const {
    Node* const node = writer(name);
    return node != nullptr && node->op == op && !node->inputs.empty() ? node : nullptr;
  }
  /// The only reader of a node's first result, if it is of this op.
  [[nodiscard]] Node* only_reader(const Node& node, std::string_view op) const {
    const auto found = readers_.find(node.outputs.front());
    const bool one = found != readers_.end() && found->second.size() == 1 && found->second.front() != nullptr;
    return one && found->second.front()->op == op ? found->second.front() : nullptr;
  }
  [[nodiscard]] static bool has(const Node& node, std::size_t inputs) {
    return node.inputs.size() >= inputs && !node.outputs.empty() &&
           std::none_of(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(inputs),
                        [](const std::string& name) { return name.empty(); });
  }
  /// Of a node of two operands of which one is fixed, the other; empty: it is not such a node.
  [[nodiscard]] std::string computed_of(const Node& node) const {
    if (!has(node, 2) || fixed(node.inputs[0]) == fixed(node.inputs[1])) {
      return "";
    }
    return fixed(node.inputs[0]) ? node.inputs[1] : node.inputs[0];
  }
  [[nodiscard]] static std::string other_of(const Node& node, const std::string& name) {
    return !has(node, 2) ? "" : node.inputs[0] == name ? node.inputs[1] : node.inputs[1] == name ? node.inputs[0] : "";
  }

  /// A node becomes another op; it keeps what it writes.
  static void become(Node& node, const Node& named, std::string op, std::vector<std::string> inputs) {
    node.op = std::move(op);
    node.domain.clear();
    node.inputs = std::move(inputs);
    node.attributes.clear();
    if (!named.name.empty()) {
      node.name = named.name;
    }
  }

  /// x W + b.
  void fold_bias(Node& product) {
    if (product.op != "MatMul" || !has(product, 2) || !fixed(product.inputs[1])) {
      return;
    }
    Node* const sum = only_reader(product, "Add");
    if (sum == nullptr || computed_of(*sum).empty() || sizes(product.inputs[1]).empty()) {
      return;
    }
    const std::string bias = other_of(*sum, product.outputs.front());
    if (elements(bias) == static_cast<double>(sizes(product.inputs[1]).back())) {
      become(*sum, product, "MatMul", {product.inputs[0], product.inputs[1], bias});
    }
  }

  /// x sigmoid(x), x hard_sigmoid(x).
  void fold_sigmoid(Node& gate) {
    const bool hard = gate.op == "HardSigmoid";
    if ((gate.op != "Sigmoid" && !hard) || !has(gate, 1)) {
      return;
    }
    Node* const product = only_reader(gate, "Mul");
    if (product != nullptr && other_of(*product, gate.outputs.front()) == gate.inputs[0]) {
      become(*product, gate, hard ? "HardSwish" : "Silu", {gate.inputs[0]});
    }
  }

  /// 0.5 x (1 + erf(x / sqrt(2))), and with a tanh of x + 0.044715 x^3 (Hendrycks and Gimpel 2016, section 2).
  void fold_gelu(Node& curve) {
    if ((curve.op != "Erf" && curve.op != "Tanh") || !has(curve, 1)) {
      return;
    }
    const Node* inner = writer(curve.inputs[0]);
    std::string x = inner == nullptr ? "" : computed_of(*inner);
    if (curve.op == "Tanh") {
      const Node* const cubic = writer(x, "Add");
      if (cubic == nullptr || !has(*cubic, 2)) {
        return;
      }
      // One of the two is x, and the other made of it.
      const auto reads_other = [&](std::size_t i) {
        const Node* const made = writer(cubic->inputs[i]);
        return made != nullptr && made->op == "Mul" && !computed_of(*made).empty();
      };
      x = reads_other(1) ? cubic->inputs[0] : reads_other(0) ? cubic->inputs[1] : "";
    }
    Node* const shifted = x.empty() ? nullptr : only_reader(curve, "Add");
    if (shifted == nullptr || computed_of(*shifted).empty()) {
      return;
    }
    Node* const product = only_reader(*shifted, "Mul");
    if (product == nullptr) {
      return;
    }
    const std::string beside = other_of(*product, shifted->outputs.front());
    if (beside == x) {
      Node* const half = only_reader(*product, "Mul");
      if (half != nullptr && !computed_of(*half).empty()) {
        become(*half, curve, "Gelu", {x});
      }
    } else if (const Node* const half = writer(beside, "Mul"); half != nullptr && computed_of(*half) == x) {
      become(*product, curve, "Gelu", {x});
    }
  }

  /// (x - mean) / sqrt(variance + epsilon), with a weight and a shift where they follow (Ba et al. 2016, equation 3).
  void fold_layer_norm(Node& quotient) {
    if (quotient.op != "Div" || !has(quotient, 2)) {
      return;
    }
    const Node* const centred = writer(quotient.inputs[0], "Sub");
    const Node* const root = writer(quotient.inputs[1], "Sqrt");
    const Node* const stable = root == nullptr ? nullptr : writer(root->inputs[0], "Add");
    const Node* const variance = stable == nullptr ? nullptr : writer(computed_of(*stable), "ReduceMean");
    if (centred == nullptr || variance == nullptr || !has(*centred, 2)) {
      return;
    }
    const Node* const mean = writer(centred->inputs[1], "ReduceMean");
    const std::string x = centred->inputs[0];
    if (mean == nullptr || mean->inputs[0] != x || elements(mean->outputs.front()) < 1.0) {
      return;
    }
    const auto width = static_cast<std::int64_t>(elements(x) / elements(mean->outputs.front()));
    std::vector<std::string> inputs{x};
    Node* last = &quotient;
    for (const std::string_view op : {"Mul", "Add"}) {
      Node* const next = only_reader(*last, op);
      const std::string weight = next == nullptr ? "" : other_of(*next, last->outputs.front());
      if (weight.empty() || !fixed(weight) || elements(weight) != static_cast<double>(width)) {
        break;
      }
      inputs.push_back(weight);
      last = next;
    }
    become(*last, quotient, "LayerNormalization", inputs);
    last->attributes["width"].integers = {width};
  }

  /// softmax(q k + mask) v, with the scale anywhere (Vaswani et al. 2017, equation 1).
  void fold_attention(Node& softmax) {
    if (softmax.op != "Softmax" || !has(softmax, 1)) {
      return;
    }
    Node* const weighted = only_reader(softmax, "MatMul");
    if (weighted == nullptr || !has(*weighted, 2) || weighted->inputs[0] != softmax.outputs.front()) {
      return;
    }
    constexpr std::array<std::string_view, 8> between{"Add", "Sub", "Mul", "Div", "Where", "Max", "Min", "Cast"};
    const double scores = elements(softmax.inputs[0]);
    const Node* product = writer(softmax.inputs[0]);
    for (int step = 0; step < 8 && product != nullptr && product->op != "MatMul"; ++step) {
      const bool passes = std::find(between.begin(), between.end(), product->op) != between.end();
      const Node* next = nullptr;
      for (const std::string& name : product->inputs) {
        if (passes && !fixed(name) && elements(name) == scores && readers_.at(name).size() == 1 &&
            writer(name) != nullptr) {
          next = writer(name);
          break;
        }
      }
      product = next;
    }
    if (product == nullptr || !has(*product, 2) || readers_.at(product->outputs.front()).size() != 1) {
      return;
    }
    const std::string& q = product->inputs[0];
    const std::string& k = product->inputs[1];
    const std::string& v = weighted->inputs[1];
    if (fixed(q) || fixed(k) || fixed(v) || sizes(q).size() < 3 || sizes(k).size() < 2) {
      return;
    }
    const std::int64_t tokens = sizes(q)[sizes(q).size() - 2];
    const std::int64_t width = sizes(q).back();
    const std::int64_t context = sizes(k).back();
    const std::int64_t heads = product_of({sizes(q).begin(), sizes(q).end() - 2});
    const double of_keys = static_cast<double>(heads) * static_cast<double>(context) * static_cast<double>(width);
    if (elements(k) != of_keys || elements(v) != of_keys || tokens < 1 || width < 1) {
      return;
    }
    // Heads that were turned for the products alone: a kernel of attention steps over them.
    const auto before_turn = [&](const std::string& name) {
      const Node* const turned = writer(name, "Transpose");
      return turned != nullptr && readers_.at(name).size() == 1 ? turned->inputs[0] : name;
    };
    const std::vector<std::string> inputs{before_turn(q), before_turn(k), before_turn(v)};
    Node* const turned = only_reader(*weighted, "Transpose");
    Node& last = turned != nullptr ? *turned : *weighted;
    become(last, softmax, "headroom.Attention", inputs);
    last.attributes["heads"].integers = {heads};
    last.attributes["tokens"].integers = {tokens};
    last.attributes["context"].integers = {context};
    last.attributes["head_dim"].integers = {width};
  }

  Graph& graph_;
  std::map<std::string, Node*> writers_;
  std::map<std::string, std::vector<Node*>> readers_;
};

}  // namespace

void fold_patterns(Graph& graph) {
  Folder{graph}.run();
}

}  // namespace headroom::onnx_file
