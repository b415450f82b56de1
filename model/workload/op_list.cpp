// SPDX-License-Identifier: Apache-2.0
// Reads a network: its named sizes, its inputs and its lists of ops, then what every block keeps for backward.
#include <headroom/model/workload/op_blocks.hpp>
#include <headroom/model/workload/op_list.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 6> input_types{"fp32", "fp16", "bf16", "uint8", "int32", "int64"};
constexpr std::array<double, 6> input_type_bytes{4.0, 2.0, 2.0, 1.0, 4.0, 8.0};
constexpr std::size_t first_id_type = 4;

class NetworkReader {
 public:
  NetworkReader(ConfigTable& root, const NetworkSizes& asked) : root_{root}, asked_{asked} {}

  Network run() {
    read_head();
    read_sizes();
    const std::vector<ConfigTable> inputs = root_.tables("input");
    const ConfigValue* tables = root_.value("input");
    for (std::size_t i = 0; i < inputs.size() && inputs.size() == tables->items.size(); ++i) {
      read_input(tables->items[i], inputs[i].path());
    }
    OpLists{root_, sizes_, net_}.run();
    if (net_.ops.size() > most_ops) {
      root_.problem("id", "the network lists " + std::to_string(net_.ops.size()) +
                              " ops; at most 10000 are read: write equal blocks once, with 'repeat'");
      return std::move(net_);
    }
    total();
    check_parameters();
    check_multiply_adds();
    return std::move(net_);
  }

 private:
  void read_head() {
    require_schema(root_);
    static_cast<void>(root_.value("base"));
    net_.id = root_.text("id");
    net_.name = root_.maybe_text("name").value_or(net_.id);
    net_.aliases = root_.texts("aliases");
    net_.source = root_.text("source");
    net_.notes = root_.maybe_text("notes").value_or("");
  }

  /// Named sizes in the order of the file, each of which may say the ones before it; the caller's own instead.
  void read_sizes() {
    auto table = root_.maybe_table("sizes");
    if (table) {
      for (const std::string_view name : table->keys()) {
        if (name == "channels") {
          table->problem_at_key(name, "'channels' is what each op reads; call this size otherwise");
        }
        const std::optional<std::int64_t> stated = read_size(*table, name, sizes_);
        const auto asked = asked_.find(name);
        usual_.emplace(name, stated.value_or(1));
        changed_ = changed_ || (asked != asked_.end() && asked->second != stated);
        sizes_.set(name, asked != asked_.end() ? asked->second : stated.value_or(1));
      }
    }
    for (const auto& asked : asked_) {
      if (!table || !table->has(asked.first)) {
        std::string known;
        for (const std::string_view name : sizes_.names()) {
          known += (known.empty() ? "" : ", ") + std::string{name};
        }
        root_.problem("id", "network " + quoted(net_.id) + " has no size " + quoted(asked.first) +
                                suggestion(asked.first, sizes_.names()) +
                                (known.empty() ? "; it has none that can be set" : "; it has " + known));
      }
    }
    net_.sizes = sizes_.own();
  }

  void read_input(const ConfigValue& stated, const std::string& path) {
    ConfigValue& copy = kept_.emplace_back(stated);
    ConfigTable table{copy, path, root_.diagnostics()};
    static constexpr std::array<std::string_view, 1> keys{"shape"};
    put_sizes(copy, sizes_, keys, table);
    NetworkInput input;
    input.name = table.text("name");
    input.part = table.maybe_text("part").value_or("network");
    input.shape = table.integers("shape");
    input.elements = 1.0;
    for (const std::int64_t value : input.shape) {
      if (value < 1 || value > largest_size) {
        table.problem("shape", "'shape' holds " + std::to_string(value) + "; every size must be 1 to 1073741824");
        break;
      }
      input.elements *= static_cast<double>(value);
    }
    if (input.shape.empty() && table.has("shape")) {
      table.problem("shape", "'shape' is empty; state the sizes of one sample, e.g. shape = [3, 224, 224]");
    }
    if (input.elements > largest_count) {
      table.problem("shape", "the sizes make more than 9.0e15 elements, which cannot be counted exactly; check them");
    }
    const std::size_t type = table.choice("dtype", input_types);
    input.bytes_per_element = input_type_bytes[type];
    input.ids = type >= first_id_type;
    input.resident = table.maybe_boolean("resident").value_or(false);
    if (!input.name.empty() && !names_.insert(input.name).second) {
      table.problem("name", "the name " + quoted(input.name) + " is already taken; names of ops and inputs are unique");
    }
    net_.inputs.push_back(std::move(input));
    table.finish();
  }

  /// What an op hands over in one sample, all passes.
  [[nodiscard]] double output_of(std::size_t op) const {
    return net_.ops[op].output_elements * stage_of(op).per_sample;
  }

  [[nodiscard]] const Stage& stage_of(std::size_t op) const {
    const auto after = [&](const Stage& stage) { return stage.first + stage.count > op; };
    return *std::find_if(net_.stages.begin(), net_.stages.end(), after);
  }

  void total() {
    for (std::size_t i = 0; i < net_.ops.size(); ++i) {
      for (const std::size_t read : net_.ops[i].reads) {
        net_.ops[read].readers.push_back(i);
      }
    }
    for (Stage& stage : net_.stages) {
      total_stage(stage);
      const auto blocks = static_cast<double>(stage.repeat);
      net_.parameters += blocks * stage.parameters;
      net_.forward += blocks * stage.forward;
      net_.backward += blocks * stage.backward;
    }
    double tensors = 0.0;
    for (const Stage& stage : net_.stages) {
      tensors += static_cast<double>(stage.repeat) * (stage.kept_elements + stage.last_kept_elements);
    }
    if (net_.parameters > largest_count || tensors > largest_count) {
      root_.problem("id",
                    "the network has more than 9.0e15 parameters or elements, which cannot be counted exactly; "
                    "check its sizes and repeats");
    }
  }

  void total_stage(Stage& stage) {
    for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
      const Op& op = net_.ops[i];
      stage.parameters += op.parameters;
      stage.forward += stage.per_sample * op.forward;
      stage.backward += stage.per_sample * op.backward;
      stage.kept_bytes += stage.per_sample * op.kept_bytes;
      stage.gradient_elements =
          std::max(stage.gradient_elements, stage.per_sample * (op.input_elements + op.output_elements));
      keep_result(stage, i);
      pair_tensors(i);
    }
  }

  /// A tensor is kept once, however many ops need it: by its writer or by any reader.
  void keep_result(Stage& stage, std::size_t i) {
    Op& op = net_.ops[i];
    const std::size_t end = stage.first + stage.count;
    bool inside = op.keeps_output;
    bool later = false;
    for (const std::size_t reader : op.readers) {
      (reader < end ? inside : later) |= net_.ops[reader].keeps_input;
    }
    const bool next_block = i + 1 == end && net_.ops[stage.first].keeps_input;
    op.kept = inside || next_block;
    op.kept_by_last = inside || later;
    const double extra = stage.per_sample * op.kept_elements;
    const double result = stage.per_sample * op.output_elements;
    stage.kept_elements += extra + (op.kept ? result : 0.0);
    stage.last_kept_elements += extra + (op.kept_by_last ? result : 0.0);
  }

  /// One tensor read, the other written: what inference holds at once.
  void pair_tensors(std::size_t i) {
    const Op& op = net_.ops[i];
    const double written = output_of(i);
    double read = 0.0;
    for (const std::size_t r : op.reads) {
      read = std::max(read, output_of(r));
    }
    for (const std::size_t r : op.reads_inputs) {
      read = std::max(read, net_.inputs[r].elements);
    }
    if (op.reads.empty() && op.reads_inputs.empty()) {
      read = stage_of(i).per_sample * op.chain_elements;
    }
    net_.adjacent_elements = std::max(net_.adjacent_elements, read + written);
  }

  void check_parameters() {
    auto published = root_.maybe_table("parameters");
    if (!published) {
      return;
    }
    const auto stated = static_cast<double>(published->integer("value"));
    const double tolerance = published->maybe_number("within", {0.0, 1.0}).value_or(0.005);
    static_cast<void>(published->text("source"));
    published->finish();
    if (root_.diagnostics().empty() && !changed_ &&
        (net_.parameters > stated * (1.0 + tolerance) || net_.parameters < stated * (1.0 - tolerance))) {
      published->problem("value", "the ops have " + format_count(net_.parameters) +
                                      " parameters, 'parameters' states " + format_count(stated));
    }
  }

  /// Whether the network has the sizes that a published count is of: those of `at`, else of the file.
  bool at_sizes_of(ConfigTable& published) {
    auto at = published.maybe_table("at");
    if (!at) {
      return !changed_;
    }
    Sizes those;
    for (const auto& usual : usual_) {
      those.set(usual.first, usual.second);
    }
    for (const std::string_view name : at->keys()) {
      if (!usual_.contains(name)) {
        at->problem_at_key(name, "the network has no size " + quoted(name) + suggestion(name, sizes_.names()));
      }
      those.set(name, read_size(*at, name, sizes_).value_or(1));
    }
    return those.own() == sizes_.own();
  }

  /// Multiply-adds of products, convolutions and attention, as sources count them: some leave kinds out.
  void check_multiply_adds() {
    auto published = root_.maybe_table("multiply_adds");
    if (!published) {
      return;
    }
    const auto stated = static_cast<double>(published->integer("value"));
    const double tolerance = published->maybe_number("within", {0.0, 1.0}).value_or(0.02);
    static_cast<void>(published->text("source"));
    const std::vector<std::string> without = published->texts("without");
    for (const std::string& kind : without) {
      if (std::find(op_kind_names.begin(), op_kind_names.end(), kind) == op_kind_names.end()) {
        published->problem("without", "no op has the kind " + quoted(kind) + suggestion(kind, op_kind_names));
      }
    }
    const bool told_for_these = at_sizes_of(*published);
    published->finish();
    if (!root_.diagnostics().empty() || !told_for_these) {
      return;
    }
    double sum = 0.0;
    for (const Stage& stage : net_.stages) {
      for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
        const Op& op = net_.ops[i];
        const bool counts =
            multiplies(op.kind) && std::find(without.begin(), without.end(), name_of(op.kind)) == without.end();
        sum += counts ? static_cast<double>(stage.repeat) * stage.per_sample * op.forward.raw() / 2.0 : 0.0;
      }
    }
    if (sum > stated * (1.0 + tolerance) || sum < stated * (1.0 - tolerance)) {
      published->problem("value", "the ops make " + format_count(sum) + " multiply-adds, 'multiply_adds' states " +
                                      format_count(stated));
    }
  }

  ConfigTable& root_;
  const NetworkSizes& asked_;
  Network net_;
  Sizes sizes_;
  NetworkSizes usual_;    ///< of the file
  bool changed_ = false;  ///< the caller asks for other sizes than the file's
  std::deque<ConfigValue> kept_;
  std::set<std::string, std::less<>> names_;  ///< of inputs
};

}  // namespace

Bytes Network::input_bytes() const noexcept {
  Bytes sum{};
  for (const NetworkInput& input : inputs) {
    sum += input.bytes();
  }
  return sum;
}

std::vector<std::string> Network::parts() const {
  std::vector<std::string> result;
  const auto add = [&](const std::string& part) {
    if (std::find(result.begin(), result.end(), part) == result.end()) {
      result.push_back(part);
    }
  };
  for (const NetworkInput& input : inputs) {
    add(input.part);
  }
  for (const Stage& stage : stages) {
    add(stage.part);
  }
  return result;
}

Flops Network::product_flops() const noexcept {
  Flops sum{};
  for (const Stage& stage : stages) {
    for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
      sum += multiplies(ops[i].kind) ? static_cast<double>(stage.repeat) * stage.per_sample * ops[i].forward : Flops{};
    }
  }
  return sum;
}

Network read_network(ConfigTable root, const NetworkSizes& sizes) {
  Network network = NetworkReader{root, sizes}.run();
  root.finish();
  return network;
}

}  // namespace headroom
