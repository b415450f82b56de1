// SPDX-License-Identifier: Apache-2.0
// Asks the binary changed commands and files and tells what breaks: `fuzz_inputs BINARY SOURCE [OPTION VALUE]...`
// (tests/fuzz/README.md).
#include "../../support/scratch_folder.hpp"
#include "judge.hpp"
#include "mutate.hpp"
#include "program.hpp"
#include "seeds.hpp"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace headroom::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path binary, source, keep;
  std::uint64_t seed = 1;
  std::size_t inputs = 400;
  std::size_t first = 0;
  std::size_t jobs = 1;
  double seconds = 0.0;  ///< 0: no limit
  bool show = false;     ///< one input with its streams
  Limits limits;
};

/// One input: a command and the files beside it.
struct Asked {
  std::vector<std::string> words;
  Files files;
  bool data_folder = false;
  std::vector<std::string> changes;
};

constexpr unsigned every_change = ~0U;

/// The input `number` of a seed, with those of its changes whose bits are set in `kept`.
Asked input_of(const Seeds& seeds, std::uint64_t seed, std::size_t number, unsigned kept) {
  Random random{seed, number};
  // Half of the inputs go round the verbs, so that one with few seeds gets its share. What is refused unchanged says
  // little of what lies behind its check, so that most of it is passed over.
  const auto pick = [&]() -> const Seed& {
    return random.chance(50) ? random.pick(seeds.all)
                             : seeds.all[random.pick(seeds.of_verb.at(random.pick(seeds.verbs)))];
  };
  const Seed* picked = &pick();
  for (int again = 0; again < 3 && picked->refused; ++again) {
    picked = &pick();
  }
  const Seed& base = *picked;
  Asked asked{base.words, {}, base.data_folder, {}};
  std::vector<std::string> names;
  for (const Input& input : base.inputs) {
    asked.files[input.name] = input.source.empty() ? input.text : text_of(input.source);
    names.push_back(input.name);
  }
  const auto has = [&](const std::string& option) {
    return std::find(asked.words.begin(), asked.words.end(), option) != asked.words.end();
  };
  const auto known = seeds.vocabulary.options_of.find(base.words.front());
  if (random.chance(30) && !has("--format") && !has("--brief") && known != seeds.vocabulary.options_of.end() &&
      std::find(known->second.begin(), known->second.end(), "--format") != known->second.end()) {
    asked.words.insert(asked.words.end(), {"--format", "json"});
  }
  if (random.chance(8) && !has("-o")) {
    asked.words.insert(asked.words.end(), {"-o", "written"});
  }
  const std::size_t draw = random.below(100);
  const unsigned changes = draw < 55 ? 1 : draw < 80 ? 2 : draw < 95 ? 3 : 6;
  const std::uint64_t stream = random.next();
  for (unsigned i = 0; i < changes; ++i) {
    Random change{stream, i};
    if (((kept >> i) & 1U) == 0) {
      continue;
    }
    if (!names.empty() && change.chance(70)) {
      const std::string& name = change.pick(names);
      const Input& other = change.pick(seeds.files);
      asked.changes.push_back(
          name + ": " +
          mutate_text(asked.files[name], other.source.empty() ? other.text : text_of(other.source), change));
    } else {
      asked.changes.push_back(mutate_words(asked.words, seeds.vocabulary, change));
    }
  }
  return asked;
}

struct Verdict {
  std::string fault;  ///< empty: nothing is broken
  Reply reply;
};

Verdict verdict_of(const Asked& asked, const Options& options) {
  const test::ScratchFolder scratch;
  const fs::path folder = scratch.path() / "a/b/work";  // below others, for names that lead up
  const fs::path home = scratch.path() / "home";
  fs::create_directories(folder);
  fs::create_directories(home);
  for (const auto& [name, text] : asked.files) {
    write_text(folder / name, text);
  }
  Verdict verdict;
  verdict.reply =
      ask(options.binary, asked.words, folder, home, asked.data_folder ? folder / "data" : fs::path{}, options.limits);
  verdict.fault = judge(asked.words, asked.files, files_of(folder), verdict.reply);
  return verdict;
}

struct Finding {
  std::size_t number = 0;
  std::string fault;
  Asked asked;
  Reply reply;
};

/// The changes that are needed for the same fault.
Finding smallest(const Seeds& seeds, const Options& options, std::size_t number, Finding found) {
  const std::size_t changes = found.asked.changes.size();
  unsigned kept = (1U << changes) - 1U;
  for (std::size_t i = 0; i < changes; ++i) {
    const unsigned fewer = kept & ~(1U << i);
    if (fewer == 0) {
      break;
    }
    const Asked asked = input_of(seeds, options.seed, number, fewer);
    if (const Verdict verdict = verdict_of(asked, options); verdict.fault == found.fault) {
      kept = fewer;
      found.asked = asked;
      found.reply = verdict.reply;
    }
  }
  return found;
}

std::string first_line(const std::string& text) {
  return text.substr(0, std::min<std::size_t>(text.find('\n'), 200));
}

void tell(const Finding& finding, const Options& options) {
  std::printf("\ninput %zu of seed %llu: %s\n", finding.number, static_cast<unsigned long long>(options.seed),
              finding.fault.c_str());
  for (const std::string& change : finding.asked.changes) {
    std::printf("  %s\n", change.c_str());
  }
  std::string line = shell_line(finding.asked.words);
  std::erase_if(line, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  std::printf("  %sheadroom %s\n", finding.asked.data_folder ? "HEADROOM_DATA_DIR=data " : "",
              line.substr(0, 600).c_str());
  if (!finding.reply.err.empty()) {
    std::printf("  stderr: %s\n", first_line(finding.reply.err).c_str());
  }
  std::printf("  again: fuzz_inputs BINARY SOURCE --seed %llu --first %zu --inputs 1 --show yes --keep FOLDER\n",
              static_cast<unsigned long long>(options.seed), finding.number);
  if (options.keep.empty()) {
    return;
  }
  const fs::path folder = options.keep / (std::to_string(options.seed) + "-" + std::to_string(finding.number));
  for (const auto& [name, text] : finding.asked.files) {
    write_text(folder / "work" / name, text);
  }
  write_text(folder / "command", std::string{finding.asked.data_folder ? "HEADROOM_DATA_DIR=data " : ""} + "headroom " +
                                     shell_line(finding.asked.words) + "\n");
  write_text(folder / "fault", finding.fault + "\n" + finding.reply.err);
}

int run(const Options& options) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1U << 16U);
  const test::ScratchFolder scratch;
  const Seeds seeds = load_seeds(options.binary, options.source, scratch.path());
  std::printf("%zu seeds of %zu verbs, seed %llu\n", seeds.all.size(), seeds.verbs.size(),
              static_cast<unsigned long long>(options.seed));
  const auto began = std::chrono::steady_clock::now();
  const auto over = [&] {
    return options.seconds > 0.0 &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() > options.seconds;
  };
  std::atomic<std::size_t> next{0};
  std::mutex door;
  std::map<std::string, std::size_t> by_verb;  // inputs
  std::map<int, std::size_t> by_code;
  std::map<std::string, std::size_t> faults;
  std::size_t done = 0;
  double slowest = 0.0;
  std::string failure;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < options.inputs && !over(); i = next++) {
        const std::size_t number = options.first + i;
        Asked asked = input_of(seeds, options.seed, number, every_change);
        Verdict verdict = verdict_of(asked, options);
        if (options.show) {
          std::printf("%s", (verdict.reply.out + verdict.reply.err).c_str());
        }
        const std::string verb = asked.words.empty() ? "" : asked.words.front();
        Finding finding{number, verdict.fault, std::move(asked), verdict.reply};
        if (!verdict.fault.empty()) {
          finding = smallest(seeds, options, number, std::move(finding));
        }
        const std::lock_guard guard{door};
        ++done;
        ++by_verb[std::find(seeds.verbs.begin(), seeds.verbs.end(), verb) == seeds.verbs.end() ? "(none)" : verb];
        ++by_code[verdict.reply.code];
        slowest = std::max(slowest, verdict.reply.seconds);
        if (!verdict.fault.empty() && faults[verb + ": " + verdict.fault]++ < 20) {
          tell(finding, options);
          std::fflush(stdout);
        }
      }
    } catch (const std::exception& error) {
      const std::lock_guard guard{door};
      failure = error.what();
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < options.jobs; ++i) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (!failure.empty()) {
    throw std::runtime_error{failure};
  }
  std::size_t broken = 0;
  std::printf("\n%zu inputs, the slowest %.1f s of processor time; exit codes:", done, slowest);
  for (const auto& [code, count] : by_code) {
    std::printf(" %d: %zu", code, count);
  }
  std::printf("\nverbs:");
  for (const auto& [verb, count] : by_verb) {
    std::printf(" %s %zu", verb.c_str(), count);
  }
  std::printf("\n");
  for (const auto& [fault, count] : faults) {
    std::printf("%zu times %s\n", count, fault.c_str());
    broken += count;
  }
  std::printf("%zu inputs broke something\n", broken);
  return broken == 0 ? 0 : 1;
}

Options options_of(const std::vector<std::string>& words) {
  if (words.size() < 2) {
    throw std::runtime_error{
        "fuzz_inputs BINARY SOURCE [--seed N] [--inputs N] [--first N] [--seconds N] [--jobs N] "
        "[--memory BYTES, 0: any] [--patience N, times] [--keep FOLDER] [--show yes]"};
  }
  Options options;
  options.binary = fs::absolute(words[0]);
  options.source = fs::absolute(words[1]);
  for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
    const std::string& name = words[i];
    const std::string& value = words[i + 1];
    if (name == "--seed")
      options.seed = std::stoull(value);
    else if (name == "--inputs")
      options.inputs = std::stoull(value);
    else if (name == "--first")
      options.first = std::stoull(value);
    else if (name == "--jobs")
      options.jobs = std::stoull(value);
    else if (name == "--seconds")
      options.seconds = std::stod(value);
    else if (name == "--memory")
      options.limits.address_bytes = std::stoull(value);
    else if (name == "--patience") {
      options.limits.processor_seconds *= static_cast<unsigned>(std::stoul(value));
      options.limits.wall_seconds *= static_cast<unsigned>(std::stoul(value));
    } else if (name == "--keep")
      options.keep = fs::absolute(value);
    else if (name == "--show")
      options.show = true;
    else
      throw std::runtime_error{"no option " + name};
  }
  return options;
}

}  // namespace
}  // namespace headroom::fuzz

int main(int argc, char** argv) {
  try {
    return headroom::fuzz::run(headroom::fuzz::options_of({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_inputs: %s\n", error.what());
    return 2;
  }
}
