// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/schema/answer_schema.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/stubs/answer_stub.hpp>
#include <headroom/cli/stubs/call_options.hpp>
#include <headroom/cli/stubs/python_names.hpp>
#include <headroom/cli/stubs/python_stub.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace headroom::python {
namespace {

constexpr std::string_view head =
    R"(# Written by `headroom schema --python` from the tables of keys, members and options.
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, TypedDict

__version__: str
data_date: str
"""The newest date of the catalog and of its price lists."""

Number = int | float | str
Path = str | PathLike[str]

class Interval(float):
    """A number with its interval: 80 % of the measured runs of its class lay between low and high. As a float it is mid."""
    low: float
    mid: float
    high: float
    def quantile(self, p: float) -> float: ...

class Record:
    """An object of an answer: members as attributes and by name, `record["step_time_s"]`; a member whose name ends in its
    unit also without it."""
    def __getitem__(self, name: str) -> Any: ...
    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Any: ...
    def __len__(self) -> int: ...
    def __getattr__(self, name: str) -> Any: ...
    def get(self, name: str, default: Any = ...) -> Any: ...
    def keys(self) -> Any: ...
    def items(self) -> Any: ...
    def to_dict(self) -> dict[str, Any]: ...

class Answer(Record):
    """An answer. Numbers are SI, with the unit at the end of a member's name."""
    @property
    def good(self) -> bool:
        """Whether the plan is feasible and keeps its promises."""
    @property
    def complete(self) -> bool:
        """Whether everything was looked at before the time of `within` was over."""
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str:
        """The JSON document that `headroom --format json` prints, byte by byte."""
    def to_csv(self) -> str: ...
    def text(self, width: int = 100, *, brief: bool = False) -> str:
        """What `headroom` prints for people."""
    def html(self) -> str:
        """A page with charts, in one file."""
    def rows(self, member: str | None = None) -> list[dict[str, Any]]:
        """A list of the answer as flat rows, by default its main one."""
    def frame(self, member: str | None = None) -> Any:
        """The same rows as a pandas.DataFrame. ImportError without pandas."""
    def describe(self, member: str) -> str:
        """What a member is, with its unit."""
    def _repr_html_(self) -> str: ...

class Fault(NamedTuple):
    """One thing that is wrong with a question."""
    file: str
    line: int
    column: int
    message: str
    code: str
    key: str

class QuestionError(ValueError):
    """A question that cannot be read or answered, with every fault."""
    faults: list[Fault]
    untold: int

class Library:
    """Hardware, prices, models and software that questions are answered with; `folders` of yours hide what ships."""
    def __init__(self, *folders: Path) -> None: ...
    def warnings(self) -> list[str]: ...

class KeyDoc(NamedTuple):
    """A key of a scenario: what it takes, and what its absence means."""
    path: str
    keyword: str
    type: str
    docs: str
    kinds: list[str]

Scenario = Path | Mapping[str, Any] | Answer

def keys() -> list[KeyDoc]: ...
def command(verb: str, *words: Path, **options: Any) -> Answer:
    """Asks any verb of the command line: its words, and its options as keywords."""
)";

/// Rows of one path, with what is below it.
struct Node {
  std::string_view path;
  std::vector<const Key*> rows;
};

std::vector<Node> nodes_of(std::span<const Key> keys) {
  std::vector<Node> nodes;
  for (const Key& key : keys) {
    const auto known = std::find_if(nodes.begin(), nodes.end(), [&](const Node& n) { return n.path == key.path; });
    if (known == nodes.end()) {
      nodes.push_back({key.path, {&key}});
    } else {
      known->rows.push_back(&key);
    }
  }
  return nodes;
}

bool has_below(std::span<const Key> keys, std::string_view path) {
  return std::any_of(keys.begin(), keys.end(), [&](const Key& key) { return key.table() == path; });
}

std::string joined_types(const std::vector<std::string>& types) {
  std::string all;
  std::vector<std::string> told;
  for (const std::string& type : types) {
    if (std::find(told.begin(), told.end(), type) == told.end()) {
      told.push_back(type);
      all += (all.empty() ? "" : " | ") + type;
    }
  }
  return all;
}

std::string class_of_table(std::string_view path) {
  return class_name(path) + "Table";
}

std::string node_type(std::span<const Key> keys, const Node& node) {
  std::vector<std::string> types;
  for (const Key* key : node.rows) {
    const bool table = key->type == KeyType::table || key->type == KeyType::tables;
    if (table && has_below(keys, key->path)) {
      const std::string name = class_of_table(key->path);
      types.push_back(key->type == KeyType::table ? name : "Sequence[" + name + "]");
    } else {
      types.push_back(type_of(*key));
    }
  }
  return joined_types(types);
}

std::string kinds_text(Kinds kinds) {
  if ((kinds & every_kind) == every_kind) {
    return "";
  }
  std::string text;
  for (const KindName& told : kind_names) {
    if (meet(kinds, told.kind)) {
      text += (text.empty() ? "Of " : ", ") + std::string{told.name};
    }
  }
  return text + ": ";
}

/// Once where all kinds of questions say the same of it.
std::string node_docs(const Node& node) {
  std::string text;
  std::vector<std::string> told;
  for (const Key* key : node.rows) {
    const std::string docs = docs_of(*key);
    if (std::find(told.begin(), told.end(), docs) == told.end()) {
      told.push_back(docs);
    }
  }
  if (told.size() == 1) {
    return told.front();
  }
  for (const std::string& docs : told) {
    Kinds kinds = Kinds::none;
    for (const Key* key : node.rows) {
      kinds = docs_of(*key) == docs ? kinds | key->kinds : kinds;
    }
    text += (text.empty() ? "" : " ") + kinds_text(kinds) + docs;
  }
  return text;
}

void write_table(std::string& out, std::span<const Key> keys, const std::vector<Node>& nodes, std::string_view path) {
  const std::string name = class_of_table(path);
  std::string odd;
  std::string rows;
  for (const Node& node : nodes) {
    const Key& first = *node.rows.front();
    if (first.table() != path) {
      continue;
    }
    const std::string type = node_type(keys, node);
    if (is_attribute(first.name())) {
      rows += "    " + std::string{first.name()} + ": " + type + "\n    " + doc_string(node_docs(node)) + "\n";
    } else {
      odd += (odd.empty() ? "" : ", ") + ("\"" + std::string{first.name()}) + "\": " + type;
    }
  }
  std::string base = "TypedDict";
  if (!odd.empty()) {
    base = "_" + name;
    out += "\n" + base + " = TypedDict(\"" + base + "\", {" + odd + "}, total=False)\n";
  }
  out += "\nclass " + name + "(" + base + ", total=False):\n    " +
         doc_string("Keys of [" + std::string{path} + "] of a scenario.") + "\n" + rows;
}

/// A keyword takes what is typed on the command line, or several of them.
std::string keyword_type(const Key& key) {
  switch (key.type) {
    case KeyType::integer: return "int | str | Sequence[int | str]";
    case KeyType::number: return "Number | Sequence[Number]";
    case KeyType::boolean: return "bool";
    case KeyType::model: return "Path | Mapping[str, Any] | Sequence[Path]";
    default: return "str | Sequence[str]";
  }
}

struct Parameter {
  std::string name, type, docs;
};

/// Keys with an option, then those of the root without, once each.
std::vector<Parameter> key_parameters(std::span<const Key> keys, const std::vector<Node>& nodes) {
  std::vector<Parameter> all;
  const auto add = [&](std::string name, std::string type, std::string docs) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const Parameter& p) { return p.name == name; });
    if (!known) {
      all.push_back({std::move(name), std::move(type), std::move(docs)});
    }
  };
  for (const Node& node : nodes) {
    const Key& first = *node.rows.front();
    if (!first.option.empty()) {
      add(keyword_of(first.option), keyword_type(first), std::string{first.path} + ". " + node_docs(node));
    }
  }
  for (const Node& node : nodes) {
    const Key& first = *node.rows.front();
    if (first.table().empty() && is_attribute(first.name()) && first.name() != "schema" && first.name() != "base") {
      add(std::string{first.name()}, node_type(keys, node), node_docs(node));
    }
  }
  return all;
}

/// Behind those of keys; an own option of a function goes before a key of its name.
std::vector<Parameter> parameters_of(const CallName& call, std::vector<Parameter> of_keys) {
  std::vector<Parameter> own;
  for (const CallOption& option : call_options()) {
    if (meet(option.calls, call.call)) {
      own.push_back({std::string{option.name}, std::string{option.type}, std::string{option.meaning} + "."});
    }
  }
  std::erase_if(of_keys, [&](const Parameter& key) {
    return std::any_of(own.begin(), own.end(), [&](const Parameter& option) { return option.name == key.name; });
  });
  of_keys.insert(of_keys.end(), own.begin(), own.end());
  return of_keys;
}

void write_call(std::string& out, const CallName& call, const std::vector<Parameter>& of_keys) {
  const bool several = call.call == Calls::compare;
  out += "\ndef " + std::string{call.name} +
         (several ? "(\n    *scenarios: Scenario,\n" : "(\n    scenario: Scenario | None = None,\n    /,\n    *,\n");
  std::string docs =
      std::string{call.meaning} +
      "\n\n    The scenario is the path of a TOML file, its text, a dict of its tables, or an answer whose "
      "question is asked again.\n    A key without a keyword goes by its path, **{\"training.zloss\": 1}. "
      "Raises QuestionError with every fault.\n\n    Args:\n";
  for (const Parameter& parameter : parameters_of(call, of_keys)) {
    out += "    " + parameter.name + ": " + parameter.type + " = ...,\n";
    docs += "        " + parameter.name + ": " + parameter.docs + "\n";
  }
  out += "    **keys: Any,\n) -> " + class_name(call.answer) + "Answer:\n    " + doc_string(docs + "    ") + "\n";
}

/// Options that only a command line has.
constexpr std::array<std::string_view, 3> of_the_shell{"--format", "--output", "--brief"};

void write_command(std::string& out, const cli::Verb& verb, std::string_view answer) {
  out += "\ndef " + std::string{verb.name} + "(\n    *words: Path,\n";
  std::string docs =
      "It asks " + std::string{verb.summary} + ".\n\n    Args:\n        words: " + std::string{verb.positional} + "\n";
  for (const cli::Option& option : verb.options) {
    if (std::find(of_the_shell.begin(), of_the_shell.end(), option.name) != of_the_shell.end()) {
      continue;
    }
    const std::string name = keyword_of(option.name);
    const std::string one = option.file == cli::FileUse::none ? "Number" : "Path";
    out += "    " + name + ": " +
           (option.kind == cli::OptionKind::flag  ? "bool"
            : option.kind == cli::OptionKind::one ? one
            : option.name == "--set"              ? "Mapping[str, Any] | str | Sequence[str]"
                                                  : one + " | Sequence[" + one + "]") +
           " = ...,\n";
    docs += "        " + name + ": " + std::string{option.help} + "\n";
  }
  out += ") -> " + class_name(answer) + "Answer:\n    " + doc_string(docs + "    ") + "\n";
}

}  // namespace

std::string type_of(const Key& key) {
  const auto words = [&] {
    std::string all;
    for (const std::string_view word : key.choices) {
      all += (all.empty() ? "" : ", ") + ("\"" + std::string{word}) + "\"";
    }
    return all.empty() ? std::string{"str"} : "Literal[" + all + "]";
  };
  const auto axis = [&](const std::string& one) { return one + " | str | Sequence[" + one + "]"; };
  switch (key.type) {
    case KeyType::integer: return "int";
    case KeyType::number: return "float";
    case KeyType::boolean: return "bool";
    case KeyType::choice: return words();
    case KeyType::integers: return "Sequence[int]";
    case KeyType::texts: return "Sequence[" + words() + "]";
    case KeyType::model: return "str | Mapping[str, Any]";
    case KeyType::number_axis: return axis("int");
    case KeyType::real_axis: return axis("float");
    case KeyType::text_axis:
    case KeyType::quantity_axis: return "str | Sequence[str]";
    case KeyType::boolean_axis: return axis("bool");
    case KeyType::table: return "Mapping[str, Any]";
    case KeyType::tables: return "Sequence[Mapping[str, Any]]";
    case KeyType::text_map: return "Mapping[str, str]";
    case KeyType::count_map: return "Mapping[str, int]";
    case KeyType::text:
    case KeyType::quantity:
    case KeyType::percentage:
    case KeyType::month:
    case KeyType::date:
    case KeyType::deadline: break;
  }
  return "str";
}

std::string docs_of(const Key& key) {
  const bool quantity = key.type == KeyType::quantity || key.type == KeyType::quantity_axis;
  const bool counted = key.type == KeyType::integer || key.type == KeyType::number || key.type == KeyType::integers ||
                       key.type == KeyType::number_axis || key.type == KeyType::real_axis;
  const auto bound = [&](double value) { return quantity ? bound_text(value, key.dimension) : shortest_text(value); };
  std::string text = std::string{key.meaning} + (key.caution.empty() ? "" : " ") + std::string{key.caution};
  if (quantity) {
    const std::string_view example = key.example.empty() ? example_of(key.dimension) : key.example;
    text += " It has a unit, such as \"" + std::string{example} + "\".";
  }
  if ((quantity || counted) && std::isfinite(key.high)) {
    text += (key.above_low ? " It is above " : " It is from ") + bound(key.low) + " to " + bound(key.high) + ".";
  }
  const std::string blank = key.required ? std::string{} : blank_text(key);
  text += key.required ? " It is required." : "";
  return text + (blank.empty() ? "" : " A blank means " + blank + ".");
}

std::string python_stub(std::span<const Key> keys) {
  const std::vector<Node> nodes = nodes_of(keys);
  std::string out{head};
  std::vector<std::string_view> written;
  for (const Key& key : keys) {
    if (!key.table().empty() && std::find(written.begin(), written.end(), key.table()) == written.end()) {
      written.push_back(key.table());
      write_table(out, keys, nodes, key.table());
    }
  }
  write_answer_classes(out);
  const std::vector<Parameter> of_keys = key_parameters(keys, nodes);
  for (const CallName& call : call_names()) {
    write_call(out, call, of_keys);
  }
  constexpr std::array commands{std::array<std::string_view, 2>{"validate", "validate"},
                                std::array<std::string_view, 2>{"diagnose", "diagnose"},
                                std::array<std::string_view, 2>{"catalog", "catalog"}};
  for (const auto& [name, answer] : commands) {
    const std::span<const cli::Verb* const> verbs = cli::all_verbs();
    const auto verb =
        std::find_if(verbs.begin(), verbs.end(), [name = name](const cli::Verb* one) { return one->name == name; });
    if (verb != verbs.end()) {
      write_command(out, **verb, answer);
    }
  }
  return out;
}

}  // namespace headroom::python
