// SPDX-License-Identifier: Apache-2.0
// Host tool of the build: data files in, one .cpp with their text and the index of ids and aliases out.
// usage: headroom_embed SYMBOL OUTPUT.cpp LISTFILE, where LISTFILE holds "--kind", a kind and its paths, a line each.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/embedded.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

namespace {

using headroom::ConfigError;
using headroom::ConfigValue;

struct Input {
  std::string kind, id, name, text;
};

std::vector<Input> read_inputs(const std::string& list_file) {
  std::vector<Input> inputs;
  std::ifstream list{list_file};
  std::string line;
  std::string kind;
  bool kind_follows = false;
  while (std::getline(list, line)) {
    if (line.empty()) {
      continue;
    }
    if (line == "--kind") {
      kind_follows = true;
    } else if (kind_follows) {
      kind = line;
      kind_follows = false;
    } else {
      const std::filesystem::path path{line};
      inputs.push_back(
          {kind, path.stem().string(), kind + "/" + path.filename().string(), headroom::read_file(line).text});
    }
  }
  return inputs;
}

/// (kind, spelling) -> file. Throws ConfigError on a spelling that two files of a kind claim, or an id that differs
/// from the file's stem.
std::map<std::pair<std::string, std::string>, std::size_t> index_of(const std::vector<Input>& inputs) {
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  headroom::Diagnostics problems;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    std::vector<std::string> spellings{input.id};
    if (input.name.ends_with(".toml")) {
      const ConfigValue root = headroom::parse_toml(input.text, input.name);
      if (const ConfigValue* id = root.find("id"); id != nullptr && id->text != input.id) {
        problems.add(input.name, id->at, "id '" + id->text + "' differs from the file's name");
      }
      if (const ConfigValue* aliases = root.find("aliases")) {
        for (const ConfigValue& alias : aliases->items) {
          spellings.push_back(alias.text);
        }
      }
    }
    for (const std::string& spelling : spellings) {
      const auto [at, fresh] = index.try_emplace({input.kind, headroom::normalised(spelling)}, i);
      if (!fresh) {
        problems.add(input.name, {1, 1}, "'" + spelling + "' is already a name of " + inputs[at->second].name);
      }
    }
  }
  problems.throw_if_any();
  return index;
}

/// C++ text of exactly these bytes. Lines become literals of their own, so that no literal is long.
std::string literal(const std::string& text) {
  std::string result = "      \"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      result += "\\n\"\n      \"";
    } else if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7f) {
      // Three octal digits end by themselves; \x would run on into a following digit.
      result += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + ((byte >> 3) & 7)),
                 static_cast<char>('0' + (byte & 7))};
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string source_of(const std::string& symbol, const std::vector<Input>& inputs) {
  const auto index = index_of(inputs);
  std::ostringstream out;
  out << "// Generated from the data files of the source tree; edits are lost.\n"
         "#include <headroom/core/embedded.hpp>\n\nnamespace headroom::embedded {\nEmbeddedIndex "
      << symbol << "() noexcept;\nnamespace {\nconst std::array<EmbeddedFile, " << inputs.size() << "> files{{\n";
  for (const Input& input : inputs) {
    out << "    {\"" << input.kind << "\", \"" << input.id << "\", \"" << input.name << "\",\n     {\n"
        << literal(input.text) << ", " << input.text.size() << "}},\n";
  }
  out << "}};\nconst std::array<EmbeddedAlias, " << index.size() << "> aliases{{\n";
  for (const auto& [key, file] : index) {
    out << "    {\"" << key.first << "\", \"" << key.second << "\", " << file << "},\n";
  }
  out << "}};\n}  // namespace\nEmbeddedIndex " << symbol
      << "() noexcept { return {files, aliases}; }\n}  // namespace headroom::embedded\n";
  std::string text = out.str();
  text.replace(text.find("\n\nnamespace"), 1, "\n\n#include <array>\n");
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: headroom_embed SYMBOL OUTPUT.cpp LISTFILE\n", stderr);
    return 2;
  }
  try {
    const std::string source = source_of(argv[1], read_inputs(argv[3]));
    std::ofstream{argv[2], std::ios::binary} << source;
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
