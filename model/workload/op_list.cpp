// SPDX-License-Identifier: Apache-2.0
// Reads a network: ops and stages first, then who reads whom, then what every block keeps for backward.
#include <headroom/model/workload/op_list.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace headroom {
namespace {

constexpr Range<std::int64_t> size_range{1, largest_size};
constexpr Range<std::int64_t> repeats{1, 65536};
constexpr std::int64_t most_blocks = 65'536;
constexpr std::size_t most_ops = 10'000;  // readers are searched op by op

constexpr std::array<std::string_view, 6> input_types{"fp32", "fp16", "bf16", "uint8", "int32", "int64"};
constexpr std::array<double, 6> input_type_bytes{4.0, 2.0, 2.0, 1.0, 4.0, 8.0};

std::string counted(double value) {
  return format_count(value);
}

/// "[64, 240, 320]".
std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t value : shape) {
    text += (text.empty() ? "[" : ", ") + std::to_string(value);
  }
  return text + "]";
}

class NetworkReader {
 public:
  explicit NetworkReader(ConfigTable& root) : root_{root} {}

  Network run() {
    read_head();
    for (ConfigTable& table : root_.tables("input")) {
      read_input(table);
    }
    read_body();
    if (net_.ops.size() > most_ops) {
      root_.problem("id", "the network lists " + std::to_string(net_.ops.size()) +
                              " ops; at most 10000 are read: write equal blocks once, with 'repeat'");
      return std::move(net_);
    }
    link_ops();
    check_repeats();
    total();
    check_parameters();
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

  void read_input(ConfigTable& table) {
    NetworkInput input;
    input.name = table.text("name");
    input.part = table.text("part");
    const std::vector<std::int64_t> shape = table.integers("shape");
    input.elements = 1.0;
    for (const std::int64_t value : shape) {
      if (value < 1 || value > largest_size) {
        table.problem("shape", "'shape' holds " + std::to_string(value) + "; every size must be 1 to 1073741824");
        break;
      }
      input.elements *= static_cast<double>(value);
    }
    if (shape.empty() && table.has("shape")) {
      table.problem("shape", "'shape' is empty; state the sizes of one sample, e.g. shape = [3, 224, 224]");
    }
    if (input.elements > largest_count) {
      table.problem("shape", "the sizes make more than 9.0e15 elements, which cannot be counted exactly; check them");
    }
    input.bytes_per_element = input_type_bytes[table.choice("dtype", input_types)];
    take_name(table, input.name);
    input_by_name_.emplace(input.name, net_.inputs.size());
    net_.inputs.push_back(std::move(input));
    table.finish();
  }

  /// Every op and input has a name of its own.
  void take_name(ConfigTable& table, const std::string& name) {
    if (!name.empty() && !names_.insert(name).second) {
      table.problem("name", "the name " + quoted(name) + " is already taken; names of ops and inputs are unique");
    }
  }

  void read_body() {
    std::vector<ConfigTable> plain = root_.tables("op");
    std::vector<ConfigTable> staged = root_.tables("stage");
    if (!plain.empty() && !staged.empty()) {
      root_.problem("stage", "state [[op]] or [[stage]] tables, not both: their order would be lost");
      return;
    }
    if (plain.empty() && staged.empty()) {
      root_.problem("op", "a network needs ops: [[op]] tables, or [[stage]] tables with [[stage.op]]");
      return;
    }
    tables_.reserve(plain.size());
    std::int64_t blocks = 0;
    for (ConfigTable& table : plain) {
      read_stage(table, nullptr);
      blocks += net_.stages.back().repeat;
    }
    for (ConfigTable& table : staged) {
      std::vector<ConfigTable> ops = table.tables("op");
      if (ops.empty()) {
        table.problem("op", "a stage needs [[stage.op]] tables");
      }
      read_stage(table, &ops);
      blocks += net_.stages.back().repeat;
    }
    if (blocks > most_blocks) {
      root_.problem(plain.empty() ? "stage" : "op",
                    "the network has " + std::to_string(blocks) + " blocks with all repeats; at most 65536 are read");
    }
  }

  /// A stage with its ops; without `ops` the table is an op and its own stage.
  void read_stage(ConfigTable& table, std::vector<ConfigTable>* ops) {
    Stage stage;
    stage.first = net_.ops.size();
    stage.repeat = table.maybe_integer("repeat", repeats).value_or(1);
    stage.per_sample = static_cast<double>(table.maybe_integer("per_sample", size_range).value_or(1));
    stage.part = table.text("part");
    if (ops == nullptr) {
      read_op(table);
      stage.name = net_.ops.back().name;
    } else {
      stage.name = table.text("name");
      table.finish();
      for (ConfigTable& op : *ops) {
        read_op(op);
      }
    }
    stage.count = net_.ops.size() - stage.first;
    net_.stages.push_back(std::move(stage));
    stage_tables_.push_back(table);
  }

  void read_op(ConfigTable& table) {
    Op op;
    op.name = table.text("name");
    take_name(table, op.name);
    const std::size_t before = table.diagnostics().size();
    const bool stated = table.has("kind");
    const auto kind = stated ? table.maybe_choice("kind", op_kind_names) : std::nullopt;
    static_cast<void>(table.value("after"));
    if (kind) {
      read_op_shapes(table, static_cast<OpKind>(*kind), op);
      shaped_.push_back(table.diagnostics().size() == before);
      table.finish();
    } else {
      if (!stated) {
        static_cast<void>(table.choice("kind", op_kind_names));
      }
      shaped_.push_back(false);
    }
    op_by_name_.emplace(op.name, net_.ops.size());
    net_.ops.push_back(std::move(op));
    tables_.push_back(table);
  }

  [[nodiscard]] const Stage& stage_of(std::size_t op) const {
    const auto after = [&](const Stage& stage) { return stage.first + stage.count > op; };
    return *std::find_if(net_.stages.begin(), net_.stages.end(), after);
  }

  /// The names of `after`; nullopt when it is absent or no text.
  static std::optional<std::vector<std::string>> after_of(ConfigTable& table) {
    const ConfigValue* after = table.value("after");
    if (after == nullptr) {
      return std::nullopt;
    }
    if (after->kind == ConfigValue::Kind::array) {
      std::vector<std::string> names = table.texts("after");
      if (names.empty()) {
        table.problem("after", "'after' is empty; name the ops or inputs that this op reads");
      }
      return names;
    }
    const std::optional<std::string> name = table.maybe_text("after");
    return name ? std::optional{std::vector{*name}} : std::nullopt;
  }

  void link_ops() {
    for (std::size_t i = 0; i < net_.ops.size(); ++i) {
      Op& op = net_.ops[i];
      if (const auto names = after_of(tables_[i])) {
        for (const std::string& name : *names) {
          read_by_name(i, name);
        }
      } else if (op.kind == OpKind::embedding_bag) {
        continue;  // reads ids, not tensors
      } else if (i > 0) {
        op.reads.push_back(i - 1);
      } else if (net_.inputs.size() == 1) {
        op.reads_inputs.push_back(0);
      }
      if (shaped_[i]) {
        check_chain(i);
      }
    }
  }

  void read_by_name(std::size_t reader, const std::string& name) {
    if (const auto input = input_by_name_.find(name); input != input_by_name_.end()) {
      net_.ops[reader].reads_inputs.push_back(input->second);
      return;
    }
    const auto found = op_by_name_.find(name);
    if (found == op_by_name_.end()) {
      std::vector<std::string_view> known;
      known.reserve(op_by_name_.size() + input_by_name_.size());
      for (const auto& entry : op_by_name_) {
        known.push_back(entry.first);
      }
      for (const auto& entry : input_by_name_) {
        known.push_back(entry.first);
      }
      tables_[reader].problem("after", "no op or input is called " + quoted(name) + suggestion(name, known));
      unknown_[reader] = true;
    } else if (found->second >= reader) {
      tables_[reader].problem("after", "op " + quoted(name) + " stands " +
                                           (found->second == reader ? "here" : "later") +
                                           "; an op reads what comes before it");
      unknown_[reader] = true;
    } else {
      net_.ops[reader].reads.push_back(found->second);
    }
  }

  /// What an op hands over in one sample, all passes.
  [[nodiscard]] double output_of(std::size_t op) const {
    return net_.ops[op].output_elements * stage_of(op).per_sample;
  }

  /// An op must be handed what it reads.
  void check_chain(std::size_t i) {
    Op& op = net_.ops[i];
    ConfigTable& table = tables_[i];
    const bool known =
        !unknown_[i] && std::all_of(op.reads.begin(), op.reads.end(), [&](std::size_t r) { return shaped_[r]; });
    if (op.chain_elements == 0.0 || !known || (op.reads.empty() && op.reads_inputs.empty())) {
      return;
    }
    const std::string place = table.has("after") ? "after" : shape_key(op.kind);
    const double passes = stage_of(i).per_sample;
    if (op.kind == OpKind::elementwise) {
      check_elementwise(i, place, passes);
      return;
    }
    double handed = 0.0;
    std::string names;
    const auto add = [&](double elements, const std::string& name) {
      handed += elements;
      names += (names.empty() ? "" : " and ") + quoted(name);
    };
    for (const std::size_t r : op.reads) {
      add(output_of(r), net_.ops[r].name);
    }
    for (const std::size_t r : op.reads_inputs) {
      add(net_.inputs[r].elements, net_.inputs[r].name);
    }
    const double wanted = op.chain_elements * passes;
    if (op.reads.size() == 1 && op.reads_inputs.empty() && !op.input_shape.empty()) {
      const Op& before = net_.ops[op.reads.front()];
      if (!before.output_shape.empty() && before.output_shape != op.input_shape) {
        table.problem(place, op.name + " reads " + shape_text(op.input_shape) + ", but " + quoted(before.name) +
                                 " writes " + shape_text(before.output_shape) +
                                 "; make them equal or name another op in 'after'");
        return;
      }
    }
    if (handed != wanted) {
      const std::string what =
          op.kind == OpKind::attention ? " elements of a sample (q, k and v), but " : " elements of a sample, but ";
      table.problem(place, op.name + " reads " + counted(wanted) + what + names +
                               (op.reads.size() + op.reads_inputs.size() > 1 ? " write " : " writes ") +
                               counted(handed) + "; make them equal or name another op in 'after'");
    }
  }

  /// Every tensor that an element-wise op reads has its size; those that no op of the list writes are kept apart.
  void check_elementwise(std::size_t i, const std::string& place, double passes) {
    Op& op = net_.ops[i];
    const auto compare = [&](double elements, const std::string& name) {
      if (elements != op.chain_elements * passes) {
        tables_[i].problem(place, op.name + " reads " + counted(op.chain_elements * passes) +
                                      " elements of a sample, but " + quoted(name) + " writes " + counted(elements) +
                                      "; make them equal or name another op in 'after'");
      }
    };
    for (const std::size_t r : op.reads) {
      compare(output_of(r), net_.ops[r].name);
    }
    for (const std::size_t r : op.reads_inputs) {
      compare(net_.inputs[r].elements, net_.inputs[r].name);
    }
    const double inputs = op.input_elements / op.chain_elements;
    const auto named = static_cast<double>(op.reads.size() + op.reads_inputs.size());
    if (named > inputs) {
      tables_[i].problem("after", op.name + " reads " + counted(inputs) + " tensor(s), but 'after' names " +
                                      counted(named) + "; state 'inputs'");
    } else if (op.keeps_input) {
      op.kept_elements = (inputs - named) * op.chain_elements;
    }
  }

  static std::string shape_key(OpKind kind) {
    switch (kind) {
      case OpKind::gemm: return "rows";
      case OpKind::attention:
      case OpKind::norm: return "tokens";
      case OpKind::elementwise:
      case OpKind::reduce: return "elements";
      case OpKind::conv:
      case OpKind::pool: return "in";
      case OpKind::gather:
      case OpKind::embedding_bag: break;
    }
    return "rows";
  }

  /// A repeated block reads what the block before it wrote.
  void check_repeats() {
    for (std::size_t s = 0; s < net_.stages.size(); ++s) {
      const Stage& stage = net_.stages[s];
      if (stage.repeat == 1 || stage.count == 0 || !shaped_[stage.first] || !shaped_[stage.first + stage.count - 1]) {
        continue;
      }
      const Op& first = net_.ops[stage.first];
      const Op& last = net_.ops[stage.first + stage.count - 1];
      if (first.chain_elements != 0.0 && first.chain_elements != last.output_elements) {
        stage_tables_[s].problem("repeat", "a repeated block must write what the next one reads: " + quoted(last.name) +
                                               " writes " + counted(last.output_elements) + " elements, " +
                                               quoted(first.name) + " reads " + counted(first.chain_elements));
      }
    }
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
    if (root_.diagnostics().empty() &&
        (net_.parameters > stated * (1.0 + tolerance) || net_.parameters < stated * (1.0 - tolerance))) {
      published->problem(
          "value", "the ops have " + counted(net_.parameters) + " parameters, 'parameters' states " + counted(stated));
    }
  }

  ConfigTable& root_;
  Network net_;
  std::set<std::string, std::less<>> names_;
  std::map<std::string, std::size_t, std::less<>> input_by_name_, op_by_name_;
  std::vector<ConfigTable> tables_;        ///< of every op
  std::vector<ConfigTable> stage_tables_;  ///< of every stage
  std::vector<bool> shaped_;               ///< the op's kind and shapes are known
  std::map<std::size_t, bool> unknown_;    ///< the op's 'after' names nothing
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

Network read_network(ConfigTable root) {
  Network network = NetworkReader{root}.run();
  root.finish();
  return network;
}

}  // namespace headroom
