// SPDX-License-Identifier: Apache-2.0
// Any lines as a search's checkpoint, with the sum over them put right so that what stands behind the sum is read: a
// state, or refused by ConfigError.
#include <headroom/core/fingerprint.hpp>
#include <headroom/scenarios/search/checkpoint.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/side_file.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include "require.hpp"
#include <string>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Sources sources = Sources::standard();
  static const SearchQuestion question = read_search(
      parse_toml("schema = 1\nkind = \"train\"\nmodel = \"llama3-8b\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = 8\n"
                 "[training]\nseq_len = 4096\nglobal_batch = 64\n[search]\ntp = \"any\"\nzero = \"any\"\n",
                 "f.toml"),
      "f.toml", sources);
  const std::string first = checkpoint_text(fingerprint(question), {});
  std::string text = first.substr(0, first.find("\nmerged") + 1);
  text.append(reinterpret_cast<const char*>(data), size);
  text += '\n';
  text += "end " + std::to_string(fingerprint(empty_fingerprint, text.data(), text.size())) + "\n";
  const int file = memfd_create("checkpoint", 0);
  fuzz::require(file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  try {
    static_cast<void>(read_checkpoint("/proc/self/fd/" + std::to_string(file), question));
  } catch (const ConfigError&) {
    // Refused with its line.
  }
  close(file);
  return 0;
}
