// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/op_blocks.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom {
namespace {

constexpr Range<std::int64_t> repeats{1, 65536};
constexpr std::int64_t most_blocks = 65'536;

/// Keys of a use that are none of its block's sizes or tensors.
constexpr std::array<std::string_view, 12> use_keys{"block", "name", "after",      "with",     "repeat", "shared",
                                                    "kind",  "part", "per_sample", "channels", "then",   "in"};

bool is_name(std::string_view text) noexcept {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::all_of(text.begin(), text.end(), fits);
}

/// Writes the sizes of an op's table in their places. "same" is the one word of `padding`.
void put_op_sizes(ConfigValue& raw, const Sizes& sizes, ConfigTable& table) {
  const ConfigValue* padding = raw.find("padding");
  if (padding == nullptr || padding->kind != ConfigValue::Kind::text || padding->text != "same") {
    put_sizes(raw, sizes, op_size_keys, table);
    return;
  }
  std::vector<std::string_view> keys{op_size_keys.begin(), op_size_keys.end()};
  std::erase(keys, std::string_view{"padding"});
  put_sizes(raw, sizes, keys, table);
}

/// A convolution whose `then` begins with a batch norm has no bias unless it states one: the norm's shift is its bias
/// (Ioffe and Szegedy 2015, section 3.2).
void leave_bias_out(ConfigValue& raw, const ConfigValue* then, const OpWord& word) {
  const bool convolves = word.kind == OpKind::conv || word.kind == OpKind::conv_transpose;
  if (!convolves || then == nullptr || raw.find("bias") != nullptr) {
    return;
  }
  const bool list = then->kind == ConfigValue::Kind::array;
  const std::string& first = list && !then->items.empty() ? then->items.front().text : then->text;
  if (first == "batch_norm") {
    raw.entries.emplace_back("bias", flag_value(false));
  }
}

}  // namespace

OpLists::OpLists(ConfigTable& root, const Sizes& sizes, Network& network)
    : root_{root}, sizes_{sizes}, net_{network}, chain_{network} {
  for (std::size_t i = 0; i < net_.inputs.size(); ++i) {
    const NetworkInput& input = net_.inputs[i];
    OpTensor tensor;
    tensor.name = input.name;
    tensor.known = input.elements > 0.0;
    tensor.input = i;
    // Ids are one number at every place.
    if (input.ids || input.shape.empty()) {
      tensor.shape = {1, input.shape};
    } else {
      tensor.shape = {input.shape.front(), {input.shape.begin() + 1, input.shape.end()}};
    }
    tensors_.emplace(input.name, tensor);
    taken_.insert(input.name);
  }
}

void OpLists::run() {
  read_blocks();
  std::vector<ConfigTable> staged = root_.tables("stage");
  const Items plain = items_of(root_);
  if (!plain.tables.empty() && !staged.empty()) {
    root_.problem("stage", "state [[op]] or [[stage]] tables, not both: their order would be lost");
    return;
  }
  if (plain.tables.empty() && staged.empty()) {
    root_.problem("op", "a network needs ops: [[op]] tables, or [[stage]] tables with [[stage.op]]");
    return;
  }
  Scope scope;
  scope.sizes = &sizes_;
  if (net_.inputs.size() == 1) {
    scope.last = tensors_.find(net_.inputs.front().name)->second;
  }
  if (staged.empty()) {
    scope.plain = true;
    read_top(plain, scope, "", 1.0);
  }
  for (ConfigTable& table : staged) {
    read_stage(table, scope);
  }
  tell_unknown();
  if (walked_ > most_items && !chain_.full()) {
    root_.problem(staged.empty() ? "op" : "stage",
                  "the lists and blocks hold more than 60000 items with all repeats; write equal ones once, as a stage "
                  "with 'repeat'");
    return;
  }
  if (blocks_in_all_ > most_blocks) {
    root_.problem(staged.empty() ? "op" : "stage", "the network has " + std::to_string(blocks_in_all_) +
                                                       " blocks with all repeats; at most 65536 are read");
  }
  for (Block& block : blocks_) {
    if (!block.used) {
      block.table.problem("name", "no op uses block " + quoted(block.name) + "; use it or leave it out");
    }
  }
  chain_.check_repeats();
}

bool OpLists::Items::hold_ops() const {
  return std::any_of(tables.begin(), tables.end(), [](const ConfigValue* v) { return v->find("block") == nullptr; });
}

void OpLists::Items::note_names(std::set<std::string, std::less<>>& names) const {
  for (const ConfigValue* item : tables) {
    if (const ConfigValue* name = item->find("name"); name != nullptr && name->kind == ConfigValue::Kind::text) {
      names.insert(name->text);
    }
  }
}

OpLists::Items OpLists::items_of(ConfigTable& table) {
  Items items;
  const std::vector<ConfigTable> tables = table.tables("op");
  const ConfigValue* array = table.value("op");
  for (std::size_t i = 0; array != nullptr && tables.size() == array->items.size() && i < tables.size(); ++i) {
    items.tables.push_back(&array->items[i]);
    items.paths.push_back(tables[i].path());
  }
  return items;
}

void OpLists::read_blocks() {
  for (ConfigTable& table : root_.tables("block")) {
    read_block(table);
  }
}

void OpLists::read_block(ConfigTable& table) {
  Block block{table, table.text("name"), table.texts("sizes"), {}, table.texts("reads"), {}, false};
  for (const Block& other : blocks_) {
    if (other.name == block.name) {
      table.problem("name", "block " + quoted(block.name) + " stands twice; names of blocks are unique");
    }
  }
  std::set<std::string, std::less<>> names;
  const auto take = [&](std::string_view key, const std::string& name) {
    if (!is_name(name) || std::find(use_keys.begin(), use_keys.end(), name) != use_keys.end()) {
      table.problem(key, quoted(name) +
                             " cannot be a name here: it takes letters, digits and underscores, and none of " +
                             "the keys of a use (block, name, after, repeat, shared ...)");
    } else if (!names.insert(name).second) {
      table.problem(key, quoted(name) + " stands twice among the block's sizes and tensors");
    }
  };
  for (const std::string& name : block.sizes) {
    take("sizes", name);
  }
  for (const std::string& name : block.reads) {
    take("reads", name);
  }
  if (auto defaults = table.maybe_table("defaults")) {
    for (const std::string_view key : defaults->keys()) {
      static_cast<void>(defaults->value(key));
      take("defaults", std::string{key});
      block.defaults.emplace(std::string{key}, std::string{key});
    }
  }
  block.items = items_of(table);
  if (block.items.tables.empty()) {
    table.problem("op", "a block needs ops: op = [ { kind = \"conv\", ... } ] or [[block.op]]");
  }
  table.finish();
  block.table = table;
  blocks_.push_back(std::move(block));
}

std::int64_t OpLists::count(ConfigTable& table, std::string_view key, const Scope& scope, Range<std::int64_t> range) {
  const ConfigValue* found = table.value(key);
  if (found == nullptr || found->kind != ConfigValue::Kind::text) {
    return table.maybe_integer(key, range).value_or(1);
  }
  const std::int64_t value = read_size(table, key, *scope.sizes).value_or(1);
  if (value < range.low || value > range.high) {
    table.problem(key, "'" + std::string{key} + "' is " + std::to_string(value) + "; it must be " +
                           std::to_string(range.low) + " to " + std::to_string(range.high));
    return 1;
  }
  return value;
}

void OpLists::start_stage(ConfigTable& table, Stage stage, const Scope& scope) {
  blocks_in_all_ += stage.repeat;
  chain_.start_stage(table, std::move(stage), scope.lost ? std::nullopt : scope.last);
}

void OpLists::read_stage(ConfigTable& table, Scope& scope) {
  Stage stage;
  stage.repeat = count(table, "repeat", scope, repeats);
  stage.per_sample = static_cast<double>(count(table, "per_sample", scope, op_size));
  stage.part = table.maybe_text("part").value_or("network");
  const Items items = items_of(table);
  if (items.tables.empty()) {
    table.problem("op", "a stage needs [[stage.op]] tables");
  }
  if (!items.hold_ops() && stage.repeat == 1) {  // of blocks alone: each is a stage
    static_cast<void>(table.maybe_text("name"));
    table.finish();
    read_top(items, scope, stage.part, stage.per_sample);
    return;
  }
  stage.name = table.text("name");
  table.finish();
  Scope own;
  own.outside = &scope;
  own.generated = stage.name + ".";
  own.sizes = scope.sizes;
  own.last = scope.last;
  own.lost = scope.lost;
  if (own.last) {
    own.reads.emplace("in", *own.last);
  }
  start_stage(table, std::move(stage), own);
  read_list(items, own);
  chain_.end_stage();
  scope.last = own.last;
  scope.lost = own.lost;
}

/// Every op and every use of a block that holds ops is a stage; blocks of blocks stand for what they hold.
void OpLists::read_top(const Items& items, Scope& scope, const std::string& part, double per_sample) {
  items.note_names(scope.stated);
  for (std::size_t i = 0; i < items.tables.size() && !full(); ++i) {
    const ConfigValue& raw = *items.tables[i];
    ConfigTable table{raw, items.paths[i], root_.diagnostics()};
    Stage stage;
    stage.part = part.empty() ? table.maybe_text("part").value_or("network") : part;
    stage.per_sample = part.empty() ? static_cast<double>(count(table, "per_sample", scope, op_size)) : per_sample;
    if (raw.find("block") == nullptr) {
      stage.repeat = count(table, "repeat", scope, repeats);
      const std::size_t at = net_.stages.size();
      start_stage(table, std::move(stage), scope);
      read_op(raw, items.paths[i], scope);
      net_.stages[at].name = net_.ops.size() > net_.stages[at].first ? net_.ops[net_.stages[at].first].name : "";
      chain_.end_stage();
      continue;
    }
    const std::optional<Use> use = use_of(table, scope, part.empty());
    if (!use) {
      scope.lost = true;
      continue;
    }
    bool stated = false;
    const std::string name = name_for(table, scope, use->block->name, stated);
    Scope own = inside(*use, name, scope);
    if (use->block->items.hold_ops() || use->repeat > 1) {
      stage.name = name;
      stage.repeat = use->repeat;
      start_stage(table, std::move(stage), own);
      read_list(use->block->items, own);
      chain_.end_stage();
    } else {
      read_top(use->block->items, own, stage.part, stage.per_sample);
    }
    scope.last = own.last;
    scope.lost = own.lost;
    remember(table, scope, name, own.last.value_or(OpTensor{}), stated);
  }
}

void OpLists::read_list(const Items& items, Scope& scope) {
  items.note_names(scope.stated);
  for (std::size_t i = 0; i < items.tables.size() && !full(); ++i) {
    if (items.tables[i]->find("block") != nullptr) {
      read_use(*items.tables[i], items.paths[i], scope);
    } else {
      read_ops(*items.tables[i], items.paths[i], scope);
    }
  }
}

/// An op as often as its list repeats it.
void OpLists::read_ops(const ConfigValue& raw, const std::string& path, Scope& scope) {
  if (raw.find("repeat") == nullptr) {
    read_op(raw, path, scope);
    return;
  }
  ConfigTable table{raw, path, root_.diagnostics()};
  const std::int64_t times = count(table, "repeat", scope, repeats);
  for (std::int64_t i = 0; i < times && !full(); ++i) {
    ConfigValue& copy = kept_.emplace_back(raw);
    if (ConfigValue* name = copy.find("name"); name != nullptr) {
      name->text += std::to_string(i + 1);
    }
    if (i > 0) {  // each reads the one before
      copy.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "after"; });
    }
    read_op(copy, path, scope);
  }
  if (table.has("name") && scope.last) {  // the name alone means the last of them
    remember(table, scope, scope.prefix + table.maybe_text("name").value_or(""), *scope.last, true);
  }
}

void OpLists::read_op(const ConfigValue& raw, const std::string& path, Scope& scope) {
  ++walked_;
  ConfigValue& copy = kept_.emplace_back(raw);
  ConfigTable table{copy, path, root_.diagnostics()};
  for (const std::string_view key : {"part", "repeat", "per_sample"}) {
    if (scope.plain || key == "repeat") {
      static_cast<void>(table.value(key));
    }
  }
  const std::size_t before = table.diagnostics().size();
  const OpWord* const said = read_op_word(table);
  bool stated = false;
  const std::string name = name_for(table, scope, said != nullptr ? said->word : std::string_view{"op"}, stated);
  if (said == nullptr || table.diagnostics().size() != before) {
    OpTensor broken = chain_.add_broken(table, name);
    remember(table, scope, name, broken, stated);
    scope.last = std::move(broken);
    return;
  }
  const OpWord& word = *said;
  const bool looks_up = word.kind == OpKind::embedding_bag && table.has("lookups");  // needs no ids to be named
  const Reads reads = reads_of(table, scope, !looks_up);
  Sizes sizes{scope.sizes};
  if (!reads.known || !reads.tensors.empty()) {
    sizes.set("channels", reads.known ? reads.tensors.front().shape.channels : 1);
  }
  put_op_sizes(copy, sizes, table);
  const bool shared = table.maybe_boolean("shared").value_or(false) || scope.shared;
  leave_bias_out(copy, table.value("then"), word);
  const bool is_view =
      word.form == OpWord::Form::view || word.form == OpWord::Form::slice || word.form == OpWord::Form::flatten;
  OpTensor result = is_view ? chain_.view(table, word, reads.tensors, reads.known)
                            : chain_.add(table, word, name, reads.tensors, reads.known, shared);
  scope.last = std::move(result);
  scope.lost = false;
  add_then(table, scope, name, shared);
  remember(table, scope, name, *scope.last, stated);
}

/// The words of `then`: ops without sizes of their own, one after another.
void OpLists::add_then(ConfigTable& table, Scope& scope, const std::string& name, bool shared) {
  const ConfigValue* then = table.value("then");
  if (then == nullptr) {
    return;
  }
  std::vector<ConfigValue> words = then->kind == ConfigValue::Kind::array ? then->items : std::vector{*then};
  for (ConfigValue& text : words) {
    ConfigValue& op = kept_.emplace_back();
    op.kind = ConfigValue::Kind::table;
    op.file = text.file;
    op.at = text.at;
    text.key_at = text.at;
    const std::string said = text.text;
    op.entries.emplace_back("kind", text);
    ConfigTable one{op, table.path() + ".then", root_.diagnostics()};
    const OpWord* const then_word = read_op_word(one);
    if (then_word == nullptr || scope.lost) {
      scope.last = chain_.add_broken(one, name + "." + said);
      continue;
    }
    const OpWord& word = *then_word;
    const std::vector<OpTensor> reads = {*scope.last};
    const bool is_view = word.form == OpWord::Form::flatten;
    scope.last = is_view ? chain_.view(one, word, reads, scope.last->known)
                         : chain_.add(one, word, name + "." + said, reads, scope.last->known, shared);
  }
}

OpLists::Block* OpLists::block_of(ConfigTable& table, const Scope& scope) {
  const std::string name = table.text("block");
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.name == name; });
  if (found == blocks_.end()) {
    std::vector<std::string_view> names;
    for (const Block& block : blocks_) {
      names.push_back(block.name);
    }
    table.problem("block", "no [[block]] is called " + quoted(name) + suggestion(name, names));
    return nullptr;
  }
  found->used = true;
  std::string way = quoted(name);
  int depth = 0;
  for (const Scope* outside = &scope; outside != nullptr; outside = outside->outside) {
    if (outside->block == nullptr) {
      continue;
    }
    way = quoted(outside->block->name) + ", " + way;
    if (++depth > deepest_block) {
      table.problem("block", "block " + quoted(name) + " stands more than 32 blocks deep; use fewer in each other");
      return nullptr;
    }
    if (outside->block == &*found) {
      table.problem("block", "block " + quoted(name) + " uses itself: " + way + "; a block uses only others");
      return nullptr;
    }
  }
  return &*found;
}

/// Reads a use's table to the end: its block, its sizes and what it reads.
std::optional<OpLists::Use> OpLists::use_of(ConfigTable& table, Scope& scope, bool top) {
  for (const std::string_view key : {"part", "per_sample"}) {
    if (top) {
      static_cast<void>(table.value(key));
    }
  }
  static_cast<void>(table.value("name"));
  Use use;
  use.block = block_of(table, scope);
  if (use.block == nullptr) {
    return std::nullopt;
  }
  use.repeat = count(table, "repeat", scope, repeats);
  use.shared = table.maybe_boolean("shared").value_or(false) || scope.shared;
  Reads reads = reads_of(table, scope, true);
  use.known = reads.known;
  if (reads.tensors.size() > 1) {
    table.problem("after", "a block reads one tensor as 'in', but " + std::to_string(reads.tensors.size()) +
                               " are named; hand the others to names of its 'reads'");
  }
  if (!reads.tensors.empty()) {
    use.in = reads.tensors.front();
  }
  Sizes outside{scope.sizes};
  if (!reads.known || !reads.tensors.empty()) {
    outside.set("channels", reads.known ? use.in.shape.channels : 1);
  }
  use.sizes = Sizes{&sizes_};
  for (const std::string& name : use.block->sizes) {
    if (!table.has(name)) {
      table.missing(name, ": block " + quoted(use.block->name) + " takes it as a size");
    }
    use.sizes.set(name, read_size(table, name, outside).value_or(1));
  }
  if (auto defaults = use.block->table.maybe_table("defaults")) {
    for (const std::string_view name : defaults->keys()) {
      const std::optional<std::int64_t> stated = read_size(table, name, outside);
      const Sizes inner = use.sizes;
      const std::optional<std::int64_t> usual = stated ? stated : read_size(*defaults, name, inner);
      use.sizes.set(name, usual.value_or(1));
    }
  }
  for (const std::string& name : use.block->reads) {
    bool known = true;
    const std::string tensor = table.has(name) ? table.maybe_text(name).value_or("") : "";
    if (!table.has(name)) {
      table.missing(name, ": block " + quoted(use.block->name) + " reads the op or input that it names");
    }
    static_cast<void>(table.value(name));
    use.reads.emplace(name, tensor.empty() ? OpTensor{} : named(table, name, tensor, scope, known));
  }
  table.finish();
  return use;
}

OpLists::Scope OpLists::inside(const Use& use, const std::string& name, const Scope& scope) const {
  Scope own;
  own.outside = &scope;
  own.block = use.block;
  own.prefix = name + ".";
  own.sizes = &use.sizes;
  own.shared = use.shared;
  own.reads = use.reads;
  own.lost = !use.known;
  if (use.in.op || use.in.input) {
    own.last = use.in;
    own.reads.emplace("in", use.in);
  }
  return own;
}

/// A block inside another list: all its ops, as often as it is repeated.
void OpLists::read_use(const ConfigValue& raw, const std::string& path, Scope& scope) {
  ConfigTable table{raw, path, root_.diagnostics()};
  std::optional<Use> use = use_of(table, scope, false);
  if (!use) {
    scope.lost = true;
    return;
  }
  const bool named = table.has("name");
  const std::string first = named ? scope.prefix + table.maybe_text("name").value_or("") : "";
  for (std::int64_t i = 0; i < use->repeat && !full(); ++i) {
    const std::string name = !named             ? next_name(scope, use->block->name)
                             : use->repeat == 1 ? first
                                                : first + std::to_string(i + 1);
    Scope own = inside(*use, name, scope);
    read_list(use->block->items, own);
    scope.last = own.last;
    scope.lost = own.lost;
    remember(table, scope, name, own.last.value_or(OpTensor{}), named);
    use->in = own.last.value_or(OpTensor{});
    use->known = !own.lost;
  }
  if (named && use->repeat > 1) {
    remember(table, scope, first, scope.last.value_or(OpTensor{}), true);
  }
}

}  // namespace headroom
