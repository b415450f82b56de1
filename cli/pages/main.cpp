// SPDX-License-Identifier: Apache-2.0
// Build tool that writes manual pages and completions from the verbs' tables.
// usage: headroom-pages FOLDER DATE, which writes FOLDER/share/{man,bash-completion,zsh,fish} as they are installed.
#include <headroom/cli/pages/pages.hpp>
#include <headroom/core/version.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace headroom::cli::pages {
namespace {

bool write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream stream{path, std::ios::binary};
  stream << text;
  stream.close();
  if (!stream) {
    std::fprintf(stderr, "headroom-pages: %s cannot be written\n", path.c_str());
  }
  return stream.good();
}

bool write_all(const std::filesystem::path& share, std::string_view date) {
  const std::span<const Verb* const> verbs = all_verbs();
  bool written = write(share / "man/man1/headroom.1", front_manual(verbs, date, version()));
  for (const Verb* verb : verbs) {
    written &=
        write(share / "man/man1" / ("headroom-" + std::string{verb->name} + ".1"), verb_manual(*verb, date, version()));
  }
  written &= write(share / "bash-completion/completions/headroom", bash_completion(verbs));
  written &= write(share / "zsh/site-functions/_headroom", zsh_completion(verbs));
  written &= write(share / "fish/vendor_completions.d/headroom.fish", fish_completion(verbs));
  return written;
}

}  // namespace
}  // namespace headroom::cli::pages

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: headroom-pages FOLDER DATE\n", stderr);
    return 2;
  }
  return headroom::cli::pages::write_all(std::filesystem::path{argv[1]} / "share", argv[2]) ? 0 : 1;
}
