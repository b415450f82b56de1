// SPDX-License-Identifier: Apache-2.0
// The lists of ops of a network: [[op]] and [[stage]] tables, and in them uses of [[block]] templates with sizes.
#pragma once

#include <headroom/model/workload/op_chain.hpp>
#include <headroom/model/workload/size_expression.hpp>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Keys of an op's table that hold sizes, so that a text under them is arithmetic over names.
inline constexpr std::array<std::string_view, 31> op_size_keys{
    "in",      "out_channels", "kernel", "stride", "padding",  "dilation", "groups",     "output_padding",
    "rows",    "out",          "tokens", "heads",  "head_dim", "context",  "kv_heads",   "window",
    "width",   "lookups",      "bags",   "tables", "elements", "inputs",   "directions", "biases",
    "learned", "factor",       "to",     "times",  "shape",    "channels", "repeat"};

/// Items of all lists, views and uses among them, with all that is repeated inside them.
inline constexpr std::size_t most_items = 60'000;
/// Blocks in each other.
inline constexpr int deepest_block = 32;

class OpLists {
 public:
  /// `network` has its inputs.
  OpLists(ConfigTable& root, const Sizes& sizes, Network& network);
  /// Reads all blocks and the whole body.
  void run();

 private:
  /// A list of tables, each with its path in messages.
  struct Items {
    std::vector<const ConfigValue*> tables;
    std::vector<std::string> paths;
    [[nodiscard]] bool hold_ops() const;
    /// Adds the names that the tables state.
    void note_names(std::set<std::string, std::less<>>& names) const;
  };
  struct Block {
    ConfigTable table;
    std::string name;
    std::vector<std::string> sizes;               ///< that every use states
    std::map<std::string, std::string> defaults;  ///< of the others, by name: their key in the table `defaults`
    std::vector<std::string> reads;               ///< tensors that every use names, beside the one before it
    Items items;
    bool used = false;
  };
  /// One list being read: the network's own, a stage's, or one use of a block.
  struct Scope {
    const Scope* outside = nullptr;
    const Block* block = nullptr;
    std::string prefix;     ///< of the names of its ops
    std::string generated;  ///< of names that nobody states
    const Sizes* sizes = nullptr;
    std::map<std::string, OpTensor, std::less<>> reads;
    std::optional<OpTensor> last;
    bool plain = false;  ///< the network's own [[op]] tables, each of which has a part
    bool lost = false;   ///< the op before is not known
    bool shared = false;
    std::set<std::string, std::less<>> stated;
    std::map<std::string, int, std::less<>> counts;
  };
  struct Reads {
    std::vector<OpTensor> tensors;
    bool known = true;
  };
  struct Use {
    Block* block = nullptr;
    Sizes sizes;
    OpTensor in;
    bool known = true;
    std::map<std::string, OpTensor, std::less<>> reads;
    bool shared = false;
    std::string name;
    std::int64_t repeat = 1;
  };

  void read_blocks();
  void read_block(ConfigTable& table);
  [[nodiscard]] static Items items_of(ConfigTable& table);
  void read_stage(ConfigTable& table, Scope& scope);
  void read_top(const Items& items, Scope& scope, const std::string& part, double per_sample);
  void read_list(const Items& items, Scope& scope);
  void start_stage(ConfigTable& table, Stage stage, const Scope& scope);
  void read_op(const ConfigValue& raw, const std::string& path, Scope& scope);
  void read_ops(const ConfigValue& raw, const std::string& path, Scope& scope);
  void read_use(const ConfigValue& raw, const std::string& path, Scope& scope);
  std::optional<Use> use_of(ConfigTable& table, Scope& scope, bool top);
  Block* block_of(ConfigTable& table, const Scope& scope);
  Scope inside(const Use& use, const std::string& name, const Scope& scope) const;
  void add_then(ConfigTable& table, Scope& scope, const std::string& name, bool shared);
  static std::vector<std::string> names_in(ConfigTable& table, std::string_view key);
  Reads reads_of(ConfigTable& table, Scope& scope, bool defaults_to_before);
  std::optional<OpTensor> find(const std::string& name, const Scope& scope) const;
  OpTensor named(ConfigTable& table, std::string_view key, const std::string& name, const Scope& scope, bool& known);
  std::string name_for(ConfigTable& table, Scope& scope, std::string_view base, bool& stated);
  std::string next_name(Scope& scope, std::string_view base) const;
  void remember(ConfigTable& table, Scope& scope, const std::string& name, OpTensor tensor, bool stated);
  std::int64_t count(ConfigTable& table, std::string_view key, const Scope& scope, Range<std::int64_t> range);
  void tell_unknown();
  /// Whether enough has been walked: more ops than are read, or more items than any network needs.
  [[nodiscard]] bool full() const noexcept { return chain_.full() || walked_ > most_items; }

  ConfigTable& root_;
  const Sizes& sizes_;
  Network& net_;
  OpChain chain_;
  std::deque<Block> blocks_;
  std::deque<ConfigValue> kept_;  ///< tables with their sizes put in, which readers refer to
  std::map<std::string, OpTensor, std::less<>> tensors_;
  std::set<std::string, std::less<>> taken_;
  struct Unknown {
    ConfigTable table;
    std::string key, name, prefix;
    bool own = false;  ///< the op itself is meant
  };
  std::vector<Unknown> unknown_;
  std::set<std::string, std::less<>> told_;  ///< of unknown names: place and name, once for all copies of a block
  std::size_t walked_ = 0;                   ///< items of all lists, in every copy
  std::int64_t blocks_in_all_ = 0;
};

}  // namespace headroom
