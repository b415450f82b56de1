// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/data_folder.hpp>
#include <headroom/core/embedded.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/scenarios/search/side_file.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

namespace headroom::cli {
namespace {

namespace fs = std::filesystem;

/// A path in a command and the option that it belongs to; "" for a positional.
struct NamedFile {
  std::string_view option;
  std::string path;
  FileUse use = FileUse::none;
  std::string beside = {};  ///< path of the file that this one accompanies; empty: named itself
};

bool writes(FileUse use) noexcept {
  return use == FileUse::writes || use == FileUse::keeps || use == FileUse::writes_in;
}

/// The usual spelling of an option.
std::string spelled(std::string_view option) {
  return option == output_option ? "-o" : std::string{option};
}

std::string told(const NamedFile& file) {
  return (file.option.empty() ? "" : spelled(file.option) + " ") +
         (file.beside.empty() ? quoted(file.path) : quoted(file.beside) + ", which makes " + quoted(file.path) + ",");
}

/// Files written next to a file that is kept; none when the file is unusable.
std::vector<NamedFile> made_beside(const NamedFile& kept) {
  std::vector<NamedFile> files;
  try {
    for (const SideFile kind : side_files) {
      files.push_back({kept.option, side_file(kept.path, kind), FileUse::writes, kept.path});
    }
  } catch (const ConfigError&) {  // the file itself is reported elsewhere
  }
  return files;
}

bool is_word(const Verb& verb, std::string_view positional) {
  if (verb.words == nullptr) {
    return false;
  }
  const std::vector<PositionalWord> words = verb.words();
  return std::any_of(words.begin(), words.end(), [&](const PositionalWord& word) { return word.word == positional; });
}

std::vector<NamedFile> files_of(const Verb& verb, const Arguments& arguments) {
  std::vector<NamedFile> files;
  for (const std::string& positional : arguments.given("")) {
    if (verb.positionals_are != FileUse::none && !is_word(verb, positional)) {
      files.push_back({"", positional, verb.positionals_are});
    }
  }
  for (const Option& option : options_of(verb)) {
    if (option.file != FileUse::none) {
      for (const std::string& path : arguments.given(option.name)) {
        files.push_back({option.name, path, option.file});
        if (option.file == FileUse::keeps && !path.empty()) {
          const std::vector<NamedFile> beside = made_beside(files.back());
          files.insert(files.end(), beside.begin(), beside.end());
        }
      }
    }
  }
  return files;
}

/// Whether overwriting could lose data, unlike for terminals, pipes and /dev/null.
bool holds_data(const std::string& path) {
  std::error_code status;
  const fs::file_status there = fs::status(path, status);
  return !fs::exists(there) || fs::is_regular_file(there) || fs::is_directory(there);
}

/// Whether `file` is a TOML or CSV file below a folder that is read.
bool is_data_of(const std::string& file, const std::string& folder) {
  std::error_code status;
  const fs::path path{file};
  if (!fs::is_regular_file(path, status) || !fs::is_directory(folder, status) ||
      (path.extension() != ".toml" && path.extension() != ".csv")) {
    return false;
  }
  const fs::path below = fs::canonical(path, status).lexically_relative(fs::canonical(folder, status));
  return !below.empty() && *below.begin() != "..";
}

/// The user's data file that a path refers to, through links too; empty when it is none.
std::string own_data(const std::string& path) {
  std::error_code status;
  if (!fs::is_regular_file(path, status)) {
    return {};
  }
  for (const std::string_view kind : data_kinds) {
    for (std::string& file : DataStore::user_files(kind)) {
      if (same_file(path, file)) {
        return std::move(file);
      }
    }
  }
  return {};
}

/// Checks an output file. It must not be one of the user's data files, which every lookup by id may read.
void check_written(const NamedFile& written, Diagnostics& diagnostics) {
  if (const std::string data = own_data(written.path); !data.empty()) {
    diagnostics.add("", {},
                    told(written) + " would replace " + quoted(data) +
                        ", which is read as data of your own; name another, or move it away first");
    return;
  }
  try {
    require_writable(written.path);
  } catch (const ConfigError& error) {
    diagnostics.add(error);
  }
}

/// Folder that a path leads to; an overlay may be named by one of its files.
std::string folder_written(const NamedFile& written) {
  const std::optional<fs::path> folder = overlay_folder(written.path);
  return folder ? folder->string() : written.path;
}

/// What would be lost by writing `written` while `other` is needed; empty when nothing.
std::string conflict(const NamedFile& written, const NamedFile& other) {
  if (!holds_data(written.path) || !holds_data(other.path)) {
    return {};
  }
  std::error_code status;
  if (written.use == FileUse::writes_in && other.use == FileUse::reads && fs::is_directory(other.path, status) &&
      same_file(folder_written(written), other.path)) {
    return told(written) + " would write into the folder " + told(other) +
           ", which is read; name a folder of its own, such as " + quoted((fs::path{other.path} / "overlay").string());
  }
  if (same_file(written.path, other.path)) {
    const bool both = writes(other.use);
    return told(written) + " and " + told(other) + " are one " +
           (fs::is_directory(written.path, status) ? "folder" : "file") + ", which " +
           (both ? "both would write" : "is read and would be replaced") + "; name another";
  }
  const bool file = written.use != FileUse::writes_in;
  if (file && other.use == FileUse::reads && is_data_of(written.path, other.path)) {
    return told(written) + " would replace a file of " + told(other) + ", which is read; name another";
  }
  return {};
}

void check_values(const Verb& verb, const Arguments& arguments, Diagnostics& diagnostics) {
  for (const Option& option : options_of(verb)) {
    const std::span<const std::string> values = arguments.given(option.name);
    if (option.kind == OptionKind::flag) {
      continue;
    }
    if (std::find(values.begin(), values.end(), "") != values.end()) {
      diagnostics.add("", {}, "option '" + spelled(option.name) + "' needs a value, and '' is none");
    }
    if (option.kind == OptionKind::one && values.size() > 1) {
      std::string all;
      for (const std::string& value : values) {
        all += (all.empty() ? "" : &value == &values.back() ? " and " : ", ") + quoted(value);
      }
      diagnostics.add("", {},
                      "option '" + spelled(option.name) + "' is given " +
                          (values.size() == 2 ? "twice" : std::to_string(values.size()) + " times") + ", " + all +
                          "; it takes one value");
    }
  }
}

void check_files(const Verb& verb, const Arguments& arguments, Diagnostics& diagnostics) {
  const std::vector<NamedFile> files = files_of(verb, arguments);
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < files.size(); ++j) {
      // A pair of outputs is reported once.
      if (i != j && writes(files[i].use) && !(writes(files[j].use) && j < i)) {
        if (std::string problem = conflict(files[i], files[j]); !problem.empty()) {
          diagnostics.add("", {}, std::move(problem));
        }
      }
    }
  }
  for (const NamedFile& file : files) {
    if ((file.use == FileUse::writes || file.use == FileUse::keeps) && file.beside.empty()) {
      check_written(file, diagnostics);
    }
  }
}

/// What selects one of these forms, for print: "--stack SOFTWARE or --stack serving".
std::string ways_to(const Verb& verb, Forms forms, std::string_view but) {
  std::vector<std::string_view> ways;
  for (std::size_t i = 0; i < verb.forms.size(); ++i) {
    const std::string_view way = verb.forms[i].asked_by;
    const bool wanted = ((forms >> i) & 1U) != 0 && !way.empty() && !way.starts_with(but);
    if (wanted && std::find(ways.begin(), ways.end(), way) == ways.end()) {
      ways.push_back(way);
    }
  }
  std::string text;
  for (const std::string_view& way : ways) {
    text += (text.empty() ? "" : &way == &ways.back() ? " or " : ", ") + std::string{way};
  }
  return text;
}

/// Whether the command has the option, as "--nodes" or, with a value, "--format toml".
bool stands(const Arguments& arguments, std::string_view wanted) {
  const std::size_t space = wanted.find(' ');
  const std::span<const std::string> values = arguments.given(wanted.substr(0, space));
  return space == std::string_view::npos
             ? !values.empty()
             : std::find(values.begin(), values.end(), wanted.substr(space + 1)) != values.end();
}

void check_format(const Verb& verb, const Form& form, const Arguments& arguments, Diagnostics& diagnostics) {
  const std::span<const std::string> given = arguments.given("--format");
  if (given.empty() || form.formats.empty()) {
    return;
  }
  const std::vector<std::string> known = choices_of(form.formats);
  if (std::find(known.begin(), known.end(), given.back()) != known.end()) {
    return;
  }
  std::string list;
  for (const std::string& name : known) {
    list += (list.empty() ? "" : &name == &known.back() ? " or " : ", ") + name;
  }
  Forms others = 0;
  for (std::size_t i = 0; i < verb.forms.size(); ++i) {
    const std::vector<std::string> names = choices_of(verb.forms[i].formats);
    others |= std::find(names.begin(), names.end(), given.back()) != names.end() ? Forms{1} << i : Forms{};
  }
  const std::string ways = ways_to(verb, others, "--format");
  diagnostics.add("", {},
                  "--format " + given.back() + " is not how " + std::string{form.what} + " is written; it is " + list +
                      (ways.empty() ? "" : ", and " + given.back() + " goes with " + ways));
}

void walk(const ConfigValue& value,
          const std::string& key,
          const std::function<void(const ConfigValue&, const std::string&)>& see) {
  see(value, key);
  for (const ConfigValue& item : value.items) {
    walk(item, key, see);
  }
  for (const ConfigEntry& entry : value.entries) {
    walk(entry.value, key.empty() ? entry.key : key + "." + entry.key, see);
  }
}

}  // namespace

std::vector<Option> options_of(const Verb& verb) {
  std::vector<Option> options{verb.options.begin(), verb.options.end()};
  if (std::none_of(options.begin(), options.end(), [](const Option& option) { return option.name == output_option; })) {
    options.push_back(
        Option{output_option, OptionKind::one, "FILE", "write the answer to a file"}.that(FileUse::writes));
  }
  return options;
}

std::vector<std::string> choices_of(std::string_view value) {
  std::vector<std::string> choices;
  for (std::size_t bar = value.find('|'); bar != std::string_view::npos; bar = value.find('|')) {
    choices.emplace_back(value.substr(0, bar));
    value.remove_prefix(bar + 1);
  }
  choices.emplace_back(value);
  return choices;
}

void check_command(const Verb& verb, const Arguments& arguments) {
  Diagnostics diagnostics;
  check_values(verb, arguments, diagnostics);
  diagnostics.throw_if_any();  // reported before files, because an empty name is not a file
  check_files(verb, arguments, diagnostics);
  diagnostics.throw_if_any();
}

bool asks_for_brief(const Arguments& arguments) {
  const bool brief = arguments.has(brief_option.name);
  if (const std::string format = arguments.one("--format", "text"); brief && format != "text") {
    throw ConfigError{"--brief has no part beside --format " + format + "; leave one out"};
  }
  return brief;
}

void require_output(std::string_view option, const std::string& path) {
  Diagnostics diagnostics;
  check_written({option, path, FileUse::writes}, diagnostics);
  diagnostics.throw_if_any();
}

void add_idle_options(const Verb& verb, std::size_t form, const Arguments& arguments, Diagnostics& diagnostics) {
  const Form& asked = verb.forms[form];
  for (const Option& option : options_of(verb)) {
    if (arguments.given(option.name).empty()) {
      continue;
    }
    const std::string name{option.name};
    if (((option.forms >> form) & 1U) == 0) {
      const std::string ways = ways_to(verb, option.forms, option.name);
      diagnostics.add(
          "", {}, name + " has no part in " + std::string{asked.what} + (ways.empty() ? "" : "; it goes with " + ways));
    } else if (!option.beside.empty() && !stands(arguments, option.beside)) {
      diagnostics.add("", {}, name + " has no part without " + std::string{option.beside});
    } else if (!option.against.empty() && stands(arguments, option.against)) {
      diagnostics.add("", {}, name + " has no part beside " + std::string{option.against} + "; leave one out");
    }
  }
  check_format(verb, asked, arguments, diagnostics);
}

void refuse_overwrite(const Verb& verb, const Arguments& arguments, const std::string& file, const std::string& which) {
  Diagnostics diagnostics;
  for (const NamedFile& written : files_of(verb, arguments)) {
    if (writes(written.use) && holds_data(written.path) && same_file(written.path, file)) {
      diagnostics.add("", {}, told(written) + " would replace " + quoted(file) + ", " + which + "; name another");
    }
  }
  diagnostics.throw_if_any();
}

void refuse_overwrite_of(const Verb& verb, const Arguments& arguments, const ConfigValue& document) {
  std::set<std::string> seen;
  walk(document, "", [&](const ConfigValue& value, const std::string& key) {
    if (value.file == nullptr) {
      return;
    }
    if (seen.insert(*value.file).second) {
      refuse_overwrite(verb, arguments, *value.file, "which is read as the scenario or a base of it");
    }
    if (value.kind == ConfigValue::Kind::text) {
      const std::string beside = (fs::path{*value.file}.parent_path() / value.text).string();
      std::error_code status;
      for (const std::string& file : {value.text, beside}) {
        if (fs::is_regular_file(file, status) && seen.insert(file).second) {
          refuse_overwrite(verb, arguments, file, "which the scenario names under " + quoted(key));
        }
      }
    }
  });
}

}  // namespace headroom::cli
