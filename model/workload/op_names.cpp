// SPDX-License-Identifier: Apache-2.0
// Names in the lists of ops: what an op reads, what it is called, and names that nothing has.
#include <headroom/model/workload/op_blocks.hpp>

#include <utility>

namespace headroom {

std::vector<std::string> OpLists::names_in(ConfigTable& table, std::string_view key) {
  const ConfigValue* found = table.value(key);
  if (found == nullptr) {
    return {};
  }
  if (found->kind == ConfigValue::Kind::array) {
    std::vector<std::string> names = table.texts(key);
    if (names.empty() && found->items.empty()) {
      table.problem(key, "'" + std::string{key} + "' is empty; name the ops or inputs that this op reads");
    }
    return names;
  }
  const std::optional<std::string> name = table.maybe_text(key);
  return name ? std::vector{*name} : std::vector<std::string>{};
}

/// What an op's `after` and `with` name, or the op before.
OpLists::Reads OpLists::reads_of(ConfigTable& table, Scope& scope, bool defaults_to_before) {
  Reads reads;
  if (table.has("after")) {
    const std::vector<std::string> names = names_in(table, "after");
    reads.known = !names.empty();
    for (const std::string& name : names) {
      reads.tensors.push_back(named(table, "after", name, scope, reads.known));
    }
  } else if (defaults_to_before) {
    static_cast<void>(table.value("after"));
    reads.known = !scope.lost;
    if (scope.last && !scope.lost) {
      reads.tensors.push_back(*scope.last);
    }
  }
  for (const std::string& name : names_in(table, "with")) {
    reads.tensors.push_back(named(table, "with", name, scope, reads.known));
  }
  if (!reads.known) {  // of what is there, who reads whom is still told
    std::erase_if(reads.tensors, [](const OpTensor& tensor) { return !tensor.op && !tensor.input; });
  }
  return reads;
}

std::optional<OpTensor> OpLists::find(const std::string& name, const Scope& scope) const {
  if (const auto own = tensors_.find(scope.prefix + name); own != tensors_.end()) {
    return own->second;
  }
  if (const auto read = scope.reads.find(name); read != scope.reads.end()) {
    return read->second;
  }
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? std::nullopt : std::optional{found->second};
}

OpTensor OpLists::named(
    ConfigTable& table, std::string_view key, const std::string& name, const Scope& scope, bool& known) {
  if (std::optional<OpTensor> found = find(name, scope)) {
    known = known && found->known;
    return *std::move(found);
  }
  known = false;
  const std::string own = table.has("name") ? table.maybe_text("name").value_or("") : "";
  const Position at = table.value(key)->at;
  if (told_.insert(std::to_string(at.line) + ":" + std::to_string(at.column) + " " + name).second) {
    unknown_.push_back({table, std::string{key}, name, scope.prefix, own == name});
  }
  return {};
}

/// Names that nothing before has: of ops that come later, or of none.
void OpLists::tell_unknown() {
  for (Unknown& unknown : unknown_) {
    const bool later = tensors_.contains(unknown.prefix + unknown.name) || tensors_.contains(unknown.name);
    if (later || unknown.own) {
      unknown.table.problem(unknown.key, "op " + quoted(unknown.name) + " stands " + (unknown.own ? "here" : "later") +
                                             "; an op reads what comes before it");
      continue;
    }
    std::vector<std::string_view> names;
    names.reserve(tensors_.size());
    for (const auto& entry : tensors_) {
      std::string_view name = entry.first;
      if (!unknown.prefix.empty() && name.starts_with(unknown.prefix)) {
        name.remove_prefix(unknown.prefix.size());
      }
      names.push_back(name);
    }
    unknown.table.problem(unknown.key,
                          "no op or input is called " + quoted(unknown.name) + suggestion(unknown.name, names));
  }
}

std::string OpLists::next_name(Scope& scope, std::string_view base) const {
  int& number = scope.counts[std::string{base}];
  std::string name;
  do {
    name = std::string{base} + std::to_string(++number);
  } while (scope.stated.contains(name) || taken_.contains(scope.prefix + scope.generated + name));
  return scope.prefix + scope.generated + name;
}

/// The whole name of an op or use: the stated one, or one of its kind and a number.
std::string OpLists::name_for(ConfigTable& table, Scope& scope, std::string_view base, bool& stated) {
  const std::optional<std::string> name = table.has("name") ? table.maybe_text("name") : std::nullopt;
  static_cast<void>(table.value("name"));
  stated = name.has_value();
  return stated ? scope.prefix + *name : next_name(scope, base);
}

/// Every op, use and input has a name of its own.
void OpLists::remember(ConfigTable& table, Scope&, const std::string& name, OpTensor tensor, bool stated) {
  if (!taken_.insert(name).second) {
    if (stated) {
      table.problem("name", "the name " + quoted(name) + " is already taken; names of ops and inputs are unique");
    }
    return;
  }
  tensors_.emplace(name, std::move(tensor));
}

}  // namespace headroom
