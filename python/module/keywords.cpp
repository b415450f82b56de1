// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/stubs/python_stub.hpp>
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/cli/verbs/search.hpp>
#include <headroom/python/module/keywords.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace headroom::python {
namespace {

/// The quick form's options of keys, which all of a call's forms have.
const std::vector<cli::Option>& quick_options() {
  static const std::vector<cli::Option> all =
      cli::quick_options({}, [](const Key& /*key*/) { return cli::every_form; });
  return all;
}

/// The option "--seq-len" of the keyword "seq_len"; empty: no key has one of that name.
std::string_view option_named(std::string_view keyword) {
  static const auto options = [] {
    std::map<std::string, std::string_view, std::less<>> all;
    for (const Key& key : cli::keys_with_options()) {
      all.emplace(keyword_of(key.option), key.option);
    }
    return all;
  }();
  const auto found = options.find(keyword);
  return found == options.end() ? std::string_view{} : found->second;
}

bool is_list_type(KeyType type) noexcept {
  switch (type) {
    case KeyType::integers:
    case KeyType::texts:
    case KeyType::number_axis:
    case KeyType::real_axis:
    case KeyType::text_axis:
    case KeyType::boolean_axis:
    case KeyType::quantity_axis:
    case KeyType::tables: return true;
    default: return false;
  }
}

/// Whether a key of that path lists values by itself, so that a list is one value of it.
bool takes_list(std::string_view path) {
  const std::span<const Key> keys = all_keys();
  return std::any_of(keys.begin(), keys.end(),
                     [&](const Key& key) { return key.path == path && is_list_type(key.type); });
}

bool is_root_key(std::string_view name) {
  static const auto names = [] {
    std::set<std::string_view> all;
    for (const Key& key : all_keys()) {
      if (key.table().empty()) {
        all.insert(key.path);
      }
    }
    return all;
  }();
  return names.contains(name);
}

std::string joined(const std::vector<std::string>& items) {
  std::string all;
  for (const std::string& item : items) {
    all += (all.empty() ? "" : ", ") + item;
  }
  return all;
}

/// A key by its path or its table by its name.
void sort_path(Sorted& sorted, const std::string& path, const Given& value) {
  switch (value.kind) {
    case Given::Kind::scalar: sorted.keys.add("--set", path + "=" + value.typed); return;
    case Given::Kind::list:
      if (takes_list(path) || value.items.size() < 2) {
        sorted.keys.add("--set", path + "=" + value.toml);
      } else {
        const std::string items = joined(value.items);
        sorted.listed.emplace_back(path + "=" + items, path + "=" + items);
      }
      return;
    case Given::Kind::table: break;
  }
  for (const Assignment& entry : value.entries) {
    sorted.keys.add("--set", path + "." + entry.text);
  }
  if (value.entries.empty()) {
    sorted.keys.add("--set", path + "={}");
  }
}

/// `search` and `objective`: words of the command line, or a table.
bool sort_search(Sorted& sorted, const Keyword& keyword) {
  if (keyword.value.kind == Given::Kind::table) {
    return false;
  }
  const std::string option = "--" + keyword.name;
  if (keyword.value.kind == Given::Kind::scalar) {
    sorted.keys.add(option, keyword.value.typed);
  }
  for (const std::string& item : keyword.value.items) {
    sorted.keys.add(option, item);
  }
  return true;
}

std::string unknown_keyword(const std::string& name, Calls function) {
  std::vector<std::string> names;
  for (const Key& key : cli::keys_with_options()) {
    names.push_back(keyword_of(key.option));
  }
  for (const CallOption& option : call_options()) {
    if (meet(option.calls, function)) {
      names.emplace_back(option.name);
    }
  }
  std::set<std::string_view> paths;
  for (const Key& key : all_keys()) {
    if (key.table().empty()) {
      names.emplace_back(key.path);
    } else if (key.name() == name) {
      paths.insert(key.path);
    }
  }
  std::string message = "is no keyword of this function";
  if (!paths.empty()) {
    std::string all;
    for (const std::string_view path : paths) {
      all += (all.empty() ? "" : ", ") + ("**{\"" + std::string{path} + "\": ...}");
    }
    return message + "; give the key by its path: " + all;
  }
  const std::vector<std::string_view> views{names.begin(), names.end()};
  const std::string near = suggestion(name, views);
  return message + (near.empty() ? "; headroom.keys() lists those of scenarios" : near);
}

void sort_keyword(Sorted& sorted, const Keyword& keyword, Calls function) {
  const std::string& name = keyword.name;
  const Given& value = keyword.value;
  const bool searching = name == "search" || name == "objective";
  if (searching && sort_search(sorted, keyword)) {
    return;
  }
  const bool promise = name == "ttft" || name == "tpot" || name == "deadline";
  if (!searching && is_call_option(name, function) && !(value.kind == Given::Kind::table && is_root_key(name))) {
    for (const std::string& item : value.kind == Given::Kind::list ? value.items : std::vector{value.typed}) {
      (promise ? sorted.keys : sorted.own).add(promise ? "--" + name : name, item);
    }
    return;
  }
  const std::string_view option = option_named(name);
  if (!option.empty() && value.kind != Given::Kind::table) {
    sorted.keys.add(option, value.kind == Given::Kind::list ? joined(value.items) : value.typed);
    return;
  }
  if (name.find('.') != std::string::npos || is_root_key(name)) {
    sort_path(sorted, name, value);
    return;
  }
  sorted.problems.push_back({name, {}, unknown_keyword(name, function)});
}

ConfigValue tree_of(const Source& source, std::span<const Assignment> assignments) {
  const auto with = [&](ConfigValue root) {
    Diagnostics diagnostics;
    for (const Assignment& assignment : assignments) {
      apply_override(root, assignment, diagnostics);
    }
    diagnostics.throw_if_any();
    return root;
  };
  switch (source.kind) {
    case Source::Kind::file: return scenario_tree(source.text, assignments);
    case Source::Kind::text: return with(parse_toml(source.text, "scenario"));
    case Source::Kind::document: return with(*source.document);
    case Source::Kind::table: return with(scenario_tree(source.entries));
    case Source::Kind::none: break;
  }
  return scenario_tree(assignments);
}

std::string name_of(const Source& source, const ConfigValue& root, std::size_t number, bool several) {
  if (source.kind == Source::Kind::file) {
    return source.text;
  }
  if (source.kind == Source::Kind::document && !source.name.empty() && source.name != "command line") {
    return source.name;
  }
  const ConfigValue* const stated = root.find("name");
  if (several && stated != nullptr && stated->kind == ConfigValue::Kind::text) {
    return stated->text;
  }
  return several ? "question " + std::to_string(number) : std::string{"command line"};
}

}  // namespace

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04X", static_cast<unsigned>(code));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

Sorted sorted(const Call& call) {
  Sorted result;
  for (const Keyword& keyword : call.keywords) {
    sort_keyword(result, keyword, call.function);
  }
  return result;
}

std::vector<NamedDocument> documents_of(const Call& call, const Sorted& sorted) {
  Diagnostics diagnostics;
  for (const Diagnostic& problem : sorted.problems) {
    diagnostics.add(problem);
  }
  static const std::vector<Source> no_source(1);
  const std::vector<Source>& sources = call.sources.empty() ? no_source : call.sources;
  const bool quick = sources.front().kind == Source::Kind::none;
  std::vector<Assignment> overrides = cli::overrides_of(quick_options(), sorted.keys, quick);
  overrides.insert(overrides.end(), sorted.listed.begin(), sorted.listed.end());
  const std::vector<cli::SweptForm> forms = cli::swept(overrides);
  std::vector<NamedDocument> documents;
  for (const cli::SweptForm& form : forms) {
    for (const Source& source : sources) {
      try {
        ConfigValue root = tree_of(source, form.overrides);
        cli::take_promises(sorted.keys, root);
        const bool several = sources.size() > 1;
        std::string name = name_of(source, root, static_cast<std::size_t>(&source - sources.data()) + 1, several);
        if (!form.name.empty()) {
          name = quick ? form.name : name + ", " + form.name;
        }
        documents.push_back({std::move(name), std::move(root), forms.size() > 1});
      } catch (const ConfigError& error) {
        diagnostics.add(error);
      }
    }
  }
  if (documents.empty()) {
    diagnostics.throw_if_any();
  }
  return documents;
}

Diagnostic in_python(Diagnostic problem) {
  constexpr std::string_view set = "--set ";
  if (problem.file.starts_with(set)) {
    problem.file.erase(0, set.size());
  } else if (problem.file.starts_with("--")) {
    const std::size_t blank = problem.file.find(' ');
    std::string keyword = keyword_of(std::string_view{problem.file}.substr(0, blank));
    problem.file = blank == std::string::npos ? keyword : keyword + "=" + problem.file.substr(blank + 1);
  } else if (problem.file == "command line") {
    problem.file = "question";
    for (const Key& key : cli::keys_with_options()) {
      if (!problem.missing.empty() && problem.missing == key.name()) {
        problem.message += "; give " + keyword_of(key.option);
        break;
      }
    }
  }
  return problem;
}

}  // namespace headroom::python
