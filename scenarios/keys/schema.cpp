// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/json_writer.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/schema.hpp>
#include <headroom/scenarios/keys/words.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

constexpr std::string_view date_pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";
constexpr std::string_view month_pattern = "^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$";
constexpr std::string_view range_pattern = "^-?[0-9]+\\.\\.-?[0-9]+( x[0-9]+| step [0-9]+)?$";

/// A key of the tree, with the rows of its path.
struct Node {
  std::string_view name;
  std::vector<const Key*> rows;
  std::vector<Node> below;

  [[nodiscard]] const Key& first() const { return *rows.front(); }
  [[nodiscard]] Kinds kinds() const {
    Kinds all = Kinds::none;
    for (const Key* row : rows) {
      all = all | row->kinds;
    }
    return all;
  }
  [[nodiscard]] Kinds required() const {
    Kinds all = Kinds::none;
    for (const Key* row : rows) {
      all = row->required ? all | row->kinds : all;
    }
    return all;
  }
};

/// A table and an array of tables of one name, of different kinds, are nodes of their own.
bool is_array(const Key& key) {
  return key.type == KeyType::tables;
}

/// The node of a row, made where it is missing; `path`: what of the row's is below `root`.
Node& node_at(Node& root, const Key& key, std::string_view path) {
  const std::size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  const bool last = dot == std::string_view::npos;
  auto at = std::find_if(root.below.begin(), root.below.end(), [&](const Node& n) {
    return n.name == name && (last ? is_array(n.first()) == is_array(key) : meet(n.kinds(), key.kinds));
  });
  if (at == root.below.end()) {
    at = root.below.insert(root.below.end(), Node{name, {}, {}});
  }
  return last ? *at : node_at(*at, key, path.substr(dot + 1));
}

/// The children of a node that have this name: one but where a table and an array of tables share it.
std::vector<const Node*> named(const Node& node, std::string_view name) {
  std::vector<const Node*> found;
  for (const Node& child : node.below) {
    if (child.name == name) {
      found.push_back(&child);
    }
  }
  return found;
}

std::string quantity_text(const Key& key) {
  std::string text = " It is written with its unit, such as \"" +
                     std::string{key.example.empty() ? example_of(key.dimension) : key.example} + "\"";
  if (std::isfinite(key.high)) {
    const std::string high = bound_text(key.high, key.dimension);
    text += key.low > 0.0 ? ", from " + bound_text(key.low, key.dimension) + " to " + high : ", up to " + high;
  }
  return text + ".";
}

std::string description(const Key& key) {
  std::string text{key.meaning};
  if (!key.caution.empty()) {
    text += " " + std::string{key.caution};
  }
  if (key.type == KeyType::quantity && key.dimension != dimension_of<Hertz>) {
    text += quantity_text(key);
  }
  if (key.required) {
    return text + " It is required.";
  }
  const std::string blank = blank_text(key);
  return blank.empty() ? text : text + " A blank means " + blank + ".";
}

/// Once where all kinds of questions say the same of it.
std::string description(const Node& node) {
  const std::string first = description(node.first());
  if (std::all_of(node.rows.begin(), node.rows.end(), [&](const Key* row) { return description(*row) == first; })) {
    return first;
  }
  std::string text;
  for (const Key* row : node.rows) {
    std::string of;
    for (const KindName& told : kind_names) {
      if (meet(row->kinds, told.kind)) {
        of += (of.empty() ? "Of " : " and ") + std::string{told.name};
      }
    }
    text += (text.empty() ? "" : " ") + of + ": " + description(*row);
  }
  return text;
}

/// The rows of a node as one that takes what any of them takes.
struct Merged {
  KeyType type;
  Dimension dimension;
  double low, high;
  bool above_low, any;
  std::vector<std::string_view> choices;
};

Merged merged(const Node& node) {
  const Key& first = node.first();
  Merged all{first.type, first.dimension, first.low, first.high, first.above_low, first.any, {}};
  bool free = false;
  for (const Key* row : node.rows) {
    all.low = std::min(all.low, row->low);
    all.high = std::max(all.high, row->high);
    all.above_low = all.above_low && row->above_low;
    all.any = all.any || row->any;
    free = free || row->choices.empty();
    for (const std::string_view choice : row->choices) {
      if (std::find(all.choices.begin(), all.choices.end(), choice) == all.choices.end()) {
        all.choices.push_back(choice);
      }
    }
  }
  if (free) {
    all.choices.clear();
  }
  return all;
}

class SchemaWriter {
 public:
  explicit SchemaWriter(std::span<const Key> keys) {
    for (const Key& key : keys) {
      node_at(root_, key, key.path).rows.push_back(&key);
    }
  }

  std::string run() {
    json_.begin_object();
    json_.member("$schema", "https://json-schema.org/draft/2020-12/schema");
    json_.member("$id", "urn:headroom:scenario:1");
    json_.member("title", "Headroom scenario");
    json_.member("description",
                 "It is one question about a GPU workload, which 'headroom plan' answers (docs/scenario-format.md).");
    write_object(root_);
    json_.key("allOf");
    json_.begin_array();
    const auto known_needs = [](const Node& node, Kinds parent) { return (parent & node.required()) == parent; };
    write_rule("", true, [&](const Node& node, Kinds parent) { return known_needs(node, parent); });
    for (const KindWord& asked : kind_words) {
      write_rule(asked.word, true, [&](const Node& node, Kinds parent) {
        const Kinds held = parent & asked.kinds;
        return held != Kinds::none && !known_needs(node, parent) && (held & node.required()) == held;
      });
      write_refusals(asked);
    }
    json_.end_array();
    json_.end_object();
    return json_.take();
  }

 private:
  void write_object(const Node& node) {
    json_.member("type", "object");
    json_.key("properties");
    json_.begin_object();
    for (const Node& child : node.below) {
      const std::vector<const Node*> alike = named(node, child.name);
      if (alike.front() != &child) {
        continue;
      }
      json_.key(child.name);
      json_.begin_object();
      if (alike.size() > 1) {
        write_any_of([&] { write_described(child); }, [&] { write_described(*alike.back()); });
      } else {
        write_described(child);
      }
      json_.end_object();
    }
    json_.end_object();
    json_.member("additionalProperties", false);
  }

  void write_described(const Node& node) {
    json_.member("description", std::string_view{description(node)});
    write_type(node);
  }

  void write_bounds(const Merged& key) {
    if (std::isfinite(key.low)) {
      json_.member(key.above_low ? "exclusiveMinimum" : "minimum", key.low);
    }
    if (std::isfinite(key.high)) {
      json_.member("maximum", key.high);
    }
  }
  /// A number, or text that is one: bounds hold for the first, the pattern for the second.
  void write_number(std::string_view type, const std::string& pattern) {
    write_words("type", {type, "string"});
    json_.member("pattern", std::string_view{pattern});
  }
  void write_integer(const Merged& key) {
    write_number("integer", short_number());
    json_.member("minimum", static_cast<std::int64_t>(key.low));
    json_.member("maximum", static_cast<std::int64_t>(key.high));
  }
  /// "15T", "1.5 B", "128k", "8Ki".
  static std::string short_number() {
    return "^[ \\t]*" + std::string{number_pattern} + "[ \\t]*(?:[kKMGT]i?|B)[ \\t]*$";
  }
  void write_words(std::string_view key, const std::vector<std::string_view>& words) {
    json_.key(key);
    json_.compact_next();
    json_.begin_array();
    for (const std::string_view word : words) {
      json_.text(word);
    }
    json_.end_array();
  }
  void write_pattern(std::string_view pattern) {
    json_.member("type", "string");
    json_.member("pattern", pattern);
  }
  void write_text(const std::vector<std::string_view>& one_of) {
    if (one_of.empty()) {
      json_.member("type", "string");
      json_.member("minLength", 1);
    } else {
      write_words("enum", one_of);
    }
  }
  template <class Write>
  void write_array(Write write) {
    json_.member("type", "array");
    json_.key("items");
    json_.begin_object();
    write();
    json_.end_object();
  }
  template <class... Write>
  void write_any_of(Write... write) {
    json_.key("anyOf");
    json_.begin_array();
    (write_part(write), ...);
    json_.end_array();
  }
  template <class Write>
  void write_part(Write write) {
    json_.begin_object();
    write();
    json_.end_object();
  }

  /// One value, a list of them, or "any".
  template <class Write>
  void write_axis(bool any, Write write) {
    const auto list = [&] {
      write_array(write);
      json_.member("minItems", 1);
    };
    if (any) {
      write_any_of([&] { json_.member("const", "any"); }, write, list);
    } else {
      write_any_of(write, list);
    }
  }

  void write_type(const Node& node) {
    const Merged key = merged(node);
    const std::string quantity = key.dimension == Dimension{} ? std::string{} : quantity_pattern(key.dimension);
    switch (key.type) {
      case KeyType::integer: write_integer(key); break;
      case KeyType::number:
        write_number("number", short_number());
        write_bounds(key);
        break;
      case KeyType::boolean: json_.member("type", "boolean"); break;
      case KeyType::text:
        write_text({});
        if (!key.choices.empty()) {
          write_words("examples", key.choices);
        }
        break;
      case KeyType::choice: write_text(key.choices); break;
      case KeyType::quantity:
        if (key.dimension == dimension_of<Hertz>) {
          write_number("number", "(?:" + quantity + ")|(?:" + short_number() + ")");
          write_bounds(key);
        } else if (key.choices.empty()) {
          write_pattern(quantity);
        } else {
          write_any_of([&] { write_text(key.choices); }, [&] { write_pattern(quantity); });
        }
        break;
      case KeyType::percentage: write_pattern("^" + std::string{number_pattern} + " *%$"); break;
      case KeyType::month: write_pattern(month_pattern); break;
      case KeyType::date: write_pattern(date_pattern); break;
      case KeyType::deadline:
        write_any_of([&] { write_pattern(date_pattern); },
                     [&] { write_pattern(quantity_pattern(dimension_of<Seconds>)); });
        break;
      case KeyType::model: write_any_of([&] { write_text({}); }, [&] { json_.member("type", "object"); }); break;
      case KeyType::integers: write_array([&] { write_integer(key); }); break;
      case KeyType::texts: write_array([&] { write_text(key.choices); }); break;
      case KeyType::number_axis:
        write_axis(key.any, [&] { write_any_of([&] { write_integer(key); }, [&] { write_pattern(range_pattern); }); });
        break;
      case KeyType::real_axis:
        write_axis(key.any, [&] {
          json_.member("type", "number");
          write_bounds(key);
        });
        break;
      case KeyType::text_axis: write_axis(key.any, [&] { write_text(key.choices); }); break;
      case KeyType::boolean_axis: write_axis(key.any, [&] { json_.member("type", "boolean"); }); break;
      case KeyType::quantity_axis: write_axis(key.any, [&] { write_pattern(quantity); }); break;
      case KeyType::table: write_object(node); break;
      case KeyType::tables: write_tables(node); break;
      case KeyType::text_map: write_map([&] { write_text(key.choices); }); break;
      case KeyType::count_map: write_map([&] { write_integer(key); }); break;
    }
  }

  template <class Write>
  void write_map(Write write) {
    json_.member("type", "object");
    json_.key("additionalProperties");
    json_.begin_object();
    write();
    json_.end_object();
  }

  /// Arrays are not laid over those of a base: what one of their tables needs stands in it.
  void write_tables(const Node& node) {
    json_.member("type", "array");
    json_.key("items");
    json_.begin_object();
    write_object(node);
    write_required(node, [&](const Node& child) { return (node.kinds() & child.required()) == node.kinds(); });
    json_.end_object();
  }

  template <class Needs>
  void write_required(const Node& node, Needs needs) {
    std::vector<std::string_view> names;
    for (const Node& child : node.below) {
      if (needs(child)) {
        names.push_back(child.name);
      }
    }
    if (!names.empty()) {
      write_words("required", names);
    }
  }

  /// What must be there, if the table that holds it is: `needs` of a node and the kinds that know that table.
  template <class Needs>
  void write_needs(const Node& node, Kinds kinds, const Needs& needs) {
    write_required(node, [&](const Node& child) { return needs(child, kinds); });
    write_below(
        node, [&](const Node& child) { return child.first().type == KeyType::table && has_needs(child, needs); },
        [&](const Node& child) { write_needs(child, child.kinds(), needs); });
  }
  template <class Needs>
  static bool has_needs(const Node& node, const Needs& needs) {
    return std::any_of(node.below.begin(), node.below.end(), [&](const Node& child) {
      return needs(child, node.kinds()) || (child.first().type == KeyType::table && has_needs(child, needs));
    });
  }

  /// "properties" of those children that `which` picks.
  template <class Which, class Write>
  void write_below(const Node& node, Which which, Write write) {
    if (std::none_of(node.below.begin(), node.below.end(), which)) {
      return;
    }
    json_.key("properties");
    json_.begin_object();
    for (const Node& child : node.below) {
      if (which(child)) {
        json_.key(child.name);
        json_.begin_object();
        write(child);
        json_.end_object();
      }
    }
    json_.end_object();
  }

  /// The condition of a rule: of that kind, or of any; where nothing is stated elsewhere, or anywhere.
  void write_if(std::string_view kind, bool alone) {
    json_.key("if");
    json_.begin_object();
    if (!kind.empty()) {
      json_.key("properties");
      json_.begin_object();
      json_.key("kind");
      json_.begin_object();
      json_.member("const", kind);
      json_.end_object();
      json_.end_object();
      write_words("required", {"kind"});
    }
    if (alone) {
      json_.key("not");
      json_.begin_object();
      write_any_of([&] { write_words("required", {"base"}); }, [&] { write_words("required", {"search"}); });
      json_.end_object();
    }
    json_.end_object();
  }

  template <class Needs>
  void write_rule(std::string_view kind, bool alone, const Needs& needs) {
    json_.begin_object();
    write_if(kind, alone);
    json_.key("then");
    json_.begin_object();
    write_needs(root_, every_kind, needs);
    json_.end_object();
    json_.end_object();
  }

  /// Keys that questions of this kind do not know.
  void write_refusals(const KindWord& asked) {
    json_.begin_object();
    write_if(asked.word, false);
    json_.key("then");
    json_.begin_object();
    write_refused(root_, asked.kinds);
    json_.end_object();
    json_.end_object();
  }
  static bool is_refused(const Node& node, Kinds kinds) { return !meet(node.kinds(), kinds); }
  static bool has_refused(const Node& node, Kinds kinds) {
    return std::any_of(node.below.begin(), node.below.end(), [&](const Node& child) {
      return is_refused(child, kinds) || (child.first().type == KeyType::table && has_refused(child, kinds));
    });
  }
  void write_refused(const Node& node, Kinds kinds) {
    json_.key("properties");
    json_.begin_object();
    for (const Node& child : node.below) {
      const std::vector<const Node*> alike = named(node, child.name);
      const bool known =
          std::any_of(alike.begin(), alike.end(), [&](const Node* each) { return !is_refused(*each, kinds); });
      if (is_refused(child, kinds)) {
        if (!known && alike.front() == &child) {
          json_.member(child.name, false);
        }
      } else if (child.first().type == KeyType::table && has_refused(child, kinds)) {
        json_.key(child.name);
        json_.begin_object();
        write_refused(child, kinds);
        json_.end_object();
      }
    }
    json_.end_object();
  }

  Node root_;
  JsonWriter json_;
};

}  // namespace

std::string scenario_schema(std::span<const Key> keys) {
  return SchemaWriter{keys}.run();
}

}  // namespace headroom
