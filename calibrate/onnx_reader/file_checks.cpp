// SPDX-License-Identifier: Apache-2.0
#include "file_checks.hpp"

#include <iterator>
#include <set>
#include <utility>

namespace headroom::onnx_file {
namespace {

class Checks {
 public:
  explicit Checks(std::vector<std::string>& problems) : problems_{problems} {}

  void check_graph(onnx::GraphProto& graph, std::set<std::string> known) {
    for (const onnx::TensorProto& tensor : graph.initializer()) {
      check_stored("initializer " + in_quotes(tensor.name()), tensor);
      known.insert(tensor.name());
    }
    for (const auto& tensor : graph.sparse_initializer()) {
      known.insert(tensor.values().name());
    }
    for (const auto& value : graph.input()) {
      known.insert(value.name());
    }
    std::map<std::string, int> writers;
    for (int i = 0; i < graph.node_size(); ++i) {
      for (const std::string& name : graph.node(i).output()) {
        if (name.empty()) {
          continue;
        }
        const auto [at, added] = writers.emplace(name, i);
        if (!added || known.contains(name)) {
          problem(place_of(graph.node(i), i), "writes " + in_quotes(name) + ", which " +
                                                  (added ? std::string{"is an input or initializer"}
                                                         : place_of(graph.node(at->second), at->second) + " writes") +
                                                  " too; names of tensors are unique: export the model again");
        }
      }
    }
    sort(graph, known, writers);
    for (const auto& entry : writers) {
      known.insert(entry.first);
    }
    for (const auto& value : graph.output()) {
      if (!known.contains(value.name())) {
        problem("output " + in_quotes(value.name()), "no node writes it; export the model again");
      }
    }
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) {
          check_graph(*attribute.mutable_g(), known);
        }
        if (attribute.has_t() && node.op_type() == "Constant") {
          check_stored("constant " + in_quotes(node.output_size() > 0 ? node.output(0) : node.name()), attribute.t());
        }
      }
    }
  }

 private:
  void problem(const std::string& place, const std::string& what) { problems_.push_back(place + ": " + what); }

  /// Names that a node reads, those of graphs inside it among them.
  static std::set<std::string> read_by(const onnx::NodeProto& node) {
    std::set<std::string> names;
    for (const std::string& name : node.input()) {
      if (!name.empty()) {
        names.insert(name);
      }
    }
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (!attribute.has_g()) {
        continue;
      }
      std::set<std::string> own;
      std::set<std::string> inner;
      for (const auto& value : attribute.g().input()) {
        own.insert(value.name());
      }
      for (const auto& tensor : attribute.g().initializer()) {
        own.insert(tensor.name());
      }
      for (const onnx::NodeProto& one : attribute.g().node()) {
        own.insert(one.output().begin(), one.output().end());
        inner.merge(read_by(one));
      }
      for (const auto& value : attribute.g().output()) {
        inner.insert(value.name());
      }
      std::set_difference(inner.begin(), inner.end(), own.begin(), own.end(), std::inserter(names, names.end()));
    }
    return names;
  }

  /// Puts nodes behind what they read, as they stand where that is possible; the rest are in a cycle.
  void sort(onnx::GraphProto& graph, const std::set<std::string>& known, const std::map<std::string, int>& writers) {
    const int count = graph.node_size();
    std::vector<std::vector<int>> readers(static_cast<std::size_t>(count));
    std::vector<int> waits(static_cast<std::size_t>(count), 0);
    for (int i = 0; i < count; ++i) {
      for (const std::string& name : read_by(graph.node(i))) {
        const auto writer = writers.find(name);
        if (writer != writers.end()) {
          readers[static_cast<std::size_t>(writer->second)].push_back(i);
          ++waits[static_cast<std::size_t>(i)];
        } else if (!known.contains(name)) {
          problem(place_of(graph.node(i), i), "reads " + in_quotes(name) +
                                                  ", which is no input, no initializer and no result of a node; "
                                                  "export the model again");
        }
      }
    }
    std::set<int> ready;
    for (int i = 0; i < count; ++i) {
      if (waits[static_cast<std::size_t>(i)] == 0) {
        ready.insert(i);
      }
    }
    std::vector<int> order;
    while (!ready.empty()) {
      const int next = *ready.begin();
      ready.erase(ready.begin());
      order.push_back(next);
      for (const int reader : readers[static_cast<std::size_t>(next)]) {
        if (--waits[static_cast<std::size_t>(reader)] == 0) {
          ready.insert(reader);
        }
      }
    }
    if (order.size() < static_cast<std::size_t>(count)) {
      std::string names;
      int told = 0;
      for (int i = 0; i < count && told < 5; ++i) {
        if (waits[static_cast<std::size_t>(i)] > 0) {
          names += (names.empty() ? "" : ", ") + place_of(graph.node(i), i);
          ++told;
        }
      }
      problem(names, "wait for each other's results, in a cycle; a graph of ONNX has none: export the model again");
      return;
    }
    if (std::is_sorted(order.begin(), order.end())) {
      return;
    }
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    nodes.Swap(graph.mutable_node());
    for (const int i : order) {
      graph.add_node()->Swap(nodes.Mutable(i));
    }
  }

  /// Sizes of a stored tensor, and that its bytes are as many; those of external data need not be there.
  void check_stored(const std::string& place, const onnx::TensorProto& tensor) {
    double elements = 1.0;
    for (const std::int64_t size : tensor.dims()) {
      if (size < 0) {
        problem(place, "has the size " + std::to_string(size) + " (" + sizes_text(tensor.dims()) +
                           "); sizes are at least 0: export the model again");
        return;
      }
      elements *= static_cast<double>(size);
    }
    if (elements > most_elements) {
      problem(place,
              "its sizes " + sizes_text(tensor.dims()) + " make more than 9.0e15 elements; export the model again");
      return;
    }
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL || tensor.has_segment()) {
      return;
    }
    const double each = element_bytes(tensor.data_type());
    if (tensor.data_type() == onnx::TensorProto::STRING || each == 0.0) {
      return;
    }
    if (tensor.has_raw_data()) {
      const double wanted = std::max(0.0, elements * each);
      const auto held = static_cast<double>(tensor.raw_data().size());
      if (held < wanted || held >= wanted + 1.0) {
        problem(place, "its sizes " + (tensor.dims_size() == 0 ? "(one element)" : sizes_text(tensor.dims())) +
                           " ask for " + std::to_string(static_cast<std::int64_t>(wanted + 0.5)) +
                           " bytes, but it holds " + std::to_string(tensor.raw_data().size()) +
                           "; export the model again, or store it as external data");
      }
      return;
    }
    const int held = std::max({tensor.float_data_size(), tensor.int32_data_size(), tensor.int64_data_size(),
                               tensor.double_data_size(), tensor.uint64_data_size()});
    // Complex numbers are two entries each, numbers of four bits half of one.
    const double least = each < 1.0 ? elements / 2.0 : elements;
    if (held < least || held > 2.0 * elements) {
      problem(place, "its sizes " + (tensor.dims_size() == 0 ? "(one element)" : sizes_text(tensor.dims())) +
                         " ask for " + std::to_string(static_cast<std::int64_t>(elements)) +
                         " elements, but it holds " + std::to_string(held) +
                         "; export the model again, or store it as external data");
    }
  }

  std::vector<std::string>& problems_;
};

}  // namespace

void check_graph(onnx::GraphProto& graph, std::vector<std::string>& problems) {
  Checks{problems}.check_graph(graph, {});
}

}  // namespace headroom::onnx_file
