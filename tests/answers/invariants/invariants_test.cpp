// SPDX-License-Identifier: Apache-2.0
// What holds of every answer whatever was asked: random questions through the library, each answer held against itself
// and against those of its neighbours.
#include <headroom/core/json_reader.hpp>
#include <headroom/headroom.hpp>

#include <doctest/doctest.h>

#include "../../cli/run_headroom.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using headroom::test::ScratchFolder;

namespace {

struct Sku {
  std::string_view id;
  double memory_bandwidth;  ///< TB/s
  std::string_view node;
  double fabric;  ///< GB/s a GPU, in one direction
  int nics;       ///< Gb/s of each
};
constexpr std::array skus{
    Sku{"h100-sxm-80gb", 3.35, "dgx-h100", 450, 400}, Sku{"a100-sxm-80gb", 2.039, "dgx-a100", 300, 200},
    Sku{"h200-sxm-141gb", 4.8, "dgx-h200", 450, 400}, Sku{"b200-sxm-180gb", 8.0, "dgx-b200", 900, 400}};

/// The catalog as it is, and with faster machines under the same names.
class Libraries {
 public:
  Libraries() {
    for (const Sku& sku : skus) {
      write(memory_, "gpus", sku.id,
            "[memory]\nbandwidth = { value = \"" + std::to_string(1.25 * sku.memory_bandwidth) +
                " TB/s\", source = \"TEST\" }\n");
      const std::string rate = " = { value = \"" + std::to_string(2.0 * sku.fabric) + " GB/s\", source = \"TEST\" }\n";
      write(links_, "nodes", sku.node, "[fabric]\nper_gpu" + rate + "per_pair" + rate);
      write(nics_, "nodes", sku.node,
            "[nics]\nrate = { value = \"" + std::to_string(2 * sku.nics) + " Gb/s\", source = \"TEST\" }\n");
    }
  }
  const Library plain{};
  struct Faster {
    std::string name;
    Library with_it;
  };
  [[nodiscard]] std::vector<Faster> faster() const {
    return {{"1.25 times the memory bandwidth", with(memory_)},
            {"2 times the scale-up links", with(links_)},
            {"2 times the NICs", with(nics_)}};
  }

 private:
  /// An overlay that hides the entry of its base.
  static void write(const ScratchFolder& folder,
                    const std::string& kind,
                    std::string_view id,
                    const std::string& more) {
    std::filesystem::create_directories(folder.path() / kind);
    std::ofstream{folder.path() / kind / (std::string{id} + ".toml")} << "schema = 1\nid = \"" << id << "\"\nbase = \""
                                                                      << id << "\"\n[sources]\nTEST = \"a test\"\n"
                                                                      << more;
  }
  static Library with(const ScratchFolder& folder) {
    setenv("HEADROOM_DATA_DIR", folder.path().c_str(), 1);
    Library library;
    unsetenv("HEADROOM_DATA_DIR");
    return library;
  }

  ScratchFolder memory_, links_, nics_;
};

/// The same numbers on every machine and library (splitmix64).
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_{seed} {}
  std::size_t below(std::size_t bound) {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<std::size_t>((z ^ (z >> 31U)) % bound);
  }
  std::string one_of(std::initializer_list<std::string_view> words) {
    return std::string{*(words.begin() + below(words.size()))};
  }

 private:
  std::uint64_t state_;
};

/// What a question is about.
enum class Form { train, serve, network, fleet, search };

struct Drawn {
  Form form = Form::train;
  const Sku* sku = nullptr;
  std::vector<std::string> keys;  ///< without the SKU and the price
};

void draw_training(Draw& draw, std::vector<std::string>& keys) {
  keys = {"kind=train",
          "model=" + draw.one_of({"llama3-8b", "llama3-70b", "gpt3-175b", "mixtral-8x7b", "deepseek-v3",
                                  "qwen3-30b-a3b", "llama2-13b", "gemma2-9b"}),
          "hardware.gpus=" + draw.one_of({"1", "8", "16", "64", "256", "1024"}),
          "training.seq_len=" + draw.one_of({"1024", "2048", "4096", "8192", "32768"}),
          "training.global_batch=" + draw.one_of({"64", "256", "1024", "2048"}),
          "training.precision=" + draw.one_of({"bf16", "bf16", "fp8"}),
          "training.tokens=1e12"};
}

Drawn draw_question(Draw& draw) {
  Drawn drawn;
  drawn.sku = &skus[draw.below(skus.size())];
  std::vector<std::string>& keys = drawn.keys;
  // Of a thousand questions a dozen are simulated or searched, which take a hundred times as long as the others.
  const std::size_t of_thousand = draw.below(1000);
  drawn.form = of_thousand < 5     ? Form::fleet
               : of_thousand < 10  ? Form::search
               : of_thousand < 100 ? Form::network
               : of_thousand < 550 ? Form::train
                                   : Form::serve;
  switch (drawn.form) {
    case Form::train:
      draw_training(draw, keys);
      keys.push_back("strategy.tp=" + draw.one_of({"1", "2", "4", "8"}));
      keys.push_back("strategy.pp=" + draw.one_of({"1", "1", "2", "4", "8"}));
      keys.push_back("strategy.cp=" + draw.one_of({"1", "1", "1", "2"}));
      keys.push_back("strategy.zero=" + draw.one_of({"0", "1", "1", "2", "3"}));
      if (draw.below(2) == 0) {
        keys.push_back("strategy.micro_batch=" + draw.one_of({"1", "1", "2", "4"}));
        keys.push_back("strategy.recompute=" + draw.one_of({"none", "selective", "full"}));
      }
      if (draw.below(4) == 0) {
        keys.push_back("training.software=" + draw.one_of({"torchtitan", "megatron-bridge", "megatron-core"}));
      }
      if (draw.below(6) == 0) {
        keys.insert(keys.end(), {"goodput.failures=llama3-54-days", "goodput.checkpoint_store=100 GB/s",
                                 "goodput.detection=5 min", "goodput.restart=10 min"});
      }
      break;
    case Form::search:
      draw_training(draw, keys);
      keys.push_back("search." + draw.one_of({"tp", "pp", "micro_batch"}) + "=any");
      break;
    case Form::network:
      keys = {"kind=train", "model=" + draw.one_of({"resnet-50", "perception-2b", "vit-b-16"}),
              "hardware.gpus=" + draw.one_of({"1", "8", "64"}), "training.precision=bf16",
              "training.global_batch=" + draw.one_of({"256", "1024", "4096"})};
      break;
    case Form::serve:
    case Form::fleet:
      keys = {"kind=serve",
              "model=" + draw.one_of({"llama3-8b", "llama3.1-70b", "mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b",
                                      "gpt-oss-120b", "qwen2.5-32b"}),
              "strategy.tp=" + draw.one_of({"1", "2", "4", "8"}),
              "serving.isl=" + draw.one_of({"128", "1024", "4096"}),
              "serving.osl=" + draw.one_of({"128", "512", "1024"}),
              "serving.engine=" + draw.one_of({"vllm", "tensorrt-llm", "sglang"})};
      if (draw.below(2) == 0) {
        keys.push_back("serving.weights=" + draw.one_of({"fp8", "bf16", "int4"}));
      }
      if (drawn.form == Form::fleet) {
        keys.insert(keys.end(), {"traffic.rate=" + draw.one_of({"2", "10"}) + " req/s", "slo.ttft_p95=2 s",
                                 "traffic.requests=500"});
      } else {
        keys.push_back("hardware.gpus=" + draw.one_of({"8", "16", "32"}));
        keys.push_back("serving.concurrency=" + draw.one_of({"1", "16", "64", "256"}));
      }
      break;
  }
  return drawn;
}

struct Faults {
  std::vector<std::string> found;
  std::size_t answered = 0, faster = 0, priced = 0, threaded = 0;
};

/// One question asked in one way; nullopt where it is refused.
std::optional<Answer> ask(const Library& library, const Drawn& drawn, std::string_view price, unsigned threads) {
  std::vector<std::string> keys = drawn.keys;
  keys.push_back("hardware.gpu=" + std::string{drawn.sku->id});
  keys.push_back("hardware.node=" + std::string{drawn.sku->node});
  keys.push_back("money.price=" + std::string{price});
  Options options;
  options.threads = threads;
  try {
    return answer(library.question(keys), options);
  } catch (const QuestionError&) {
    return std::nullopt;
  }
}

bool near(double a, double b, double relative = 1e-9) {
  return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b)) + 1e-15;
}

double number_of(const ConfigValue& value) {
  return value.kind == ConfigValue::Kind::integer ? static_cast<double>(value.integer) : value.number;
}

bool is_number(const ConfigValue* value) {
  return value != nullptr && (value->kind == ConfigValue::Kind::integer || value->kind == ConfigValue::Kind::number);
}

/// Of every member of a document: finite, and the middle between its ends.
void check_numbers(const ConfigValue& value, const std::string& path, std::vector<std::string>& faults) {
  if (is_number(&value) && !std::isfinite(number_of(value))) {
    faults.push_back(path + " is not finite");
  }
  const ConfigValue *low = value.find("low"), *mid = value.find("mid"), *high = value.find("high");
  if (is_number(low) && is_number(mid) && is_number(high) &&
      !(number_of(*low) <= number_of(*mid) && number_of(*mid) <= number_of(*high))) {
    faults.push_back(path + " has its middle outside of its ends");
  }
  for (const ConfigEntry& entry : value.entries) {
    check_numbers(entry.value, path + "/" + entry.key, faults);
  }
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    check_numbers(value.items[i], path + "/" + std::to_string(i), faults);
  }
}

/// The sum of the numbers of a table.
double sum_of(const ConfigValue& terms) {
  double sum = 0.0;
  for (const ConfigEntry& entry : terms.entries) {
    sum += is_number(&entry.value) ? number_of(entry.value) : 0.0;
  }
  return sum;
}

/// Parts that a document gives beside their whole.
void check_sums(const ConfigValue& document, const Answer& plan, std::vector<std::string>& faults) {
  const auto sums_to = [&](std::string_view parts, std::string_view whole) {
    const ConfigValue* terms = document.find(parts);
    const std::optional<Number> total = plan.find(whole);
    if (terms != nullptr && total && !near(sum_of(*terms), total->mid, 1e-6)) {
      faults.push_back(std::string{parts} + " sum to " + std::to_string(sum_of(*terms)) + ", " + std::string{whole} +
                       " is " + std::to_string(total->mid));
    }
  };
  sums_to("step_terms_s", "step_time_s");
  sums_to("memory_terms_bytes", "memory_bytes");
  sums_to("decode_terms_s", "decode_iteration_s");
  if (const ConfigValue* goodput = document.find("goodput")) {
    const ConfigValue* shares = goodput->find("shares");
    if (shares != nullptr && !near(sum_of(*shares), 1.0, 1e-6)) {
      faults.push_back("goodput/shares sum to " + std::to_string(sum_of(*shares)));
    }
  }
  const ConfigValue* money = document.find("money");
  const ConfigValue* bill = money == nullptr ? nullptr : money->find("bill");
  const ConfigValue* total = money == nullptr ? nullptr : money->find("total_usd");
  for (const char* const end : {"low", "mid", "high"}) {
    if (bill == nullptr || total == nullptr) {
      break;
    }
    double sum = 0.0;
    for (const ConfigValue& item : bill->items) {
      const ConfigValue* usd = item.find("usd");
      const ConfigValue* amount = usd == nullptr ? nullptr : usd->find(end);
      sum += is_number(amount) ? number_of(*amount) : 0.0;
    }
    if (const ConfigValue* whole = total->find(end); !is_number(whole) || !near(sum, number_of(*whole))) {
      faults.push_back(std::string{"money/bill does not sum to its total at "} + end);
    }
  }
  const ConfigValue* energy = document.find("energy");
  const ConfigValue* parts = energy == nullptr ? nullptr : energy->find("parts");
  if (parts != nullptr && !parts->items.empty()) {
    double sum = 0.0;
    for (const ConfigValue& part : parts->items) {
      sum += number_of(*part.find("share"));
    }
    if (!near(sum, 1.0, 1e-6)) {
      faults.push_back("energy/parts have shares of " + std::to_string(sum));
    }
  }
}

/// The first of these members that both answers have.
struct Pair {
  std::string_view member;
  double before = 0.0, after = 0.0;
};
std::optional<Pair> pair_of(const Answer& before,
                            const Answer& after,
                            std::initializer_list<std::string_view> members) {
  for (const std::string_view member : members) {
    const std::optional<Number> a = before.find(member), b = after.find(member);
    if (a && b) {
      return Pair{member, a->mid, b->mid};
    }
  }
  return std::nullopt;
}

void check_question(const Library& library,
                    std::span<const Libraries::Faster> faster,
                    const Drawn& drawn,
                    Faults& all) {
  const std::optional<Answer> plan = ask(library, drawn, "2 $/h", 1);
  if (!plan) {
    return;
  }
  ++all.answered;
  std::vector<std::string> faults;
  const std::string json = to_json(*plan);
  try {
    const ConfigValue document = parse_json(json, "answer");
    check_numbers(document, "", faults);
    check_sums(document, *plan, faults);
  } catch (const ConfigError& error) {
    faults.push_back(error.what());
  }
  // A layout that a search or a fleet takes may change with the machine: its times are not those of one layout.
  if (drawn.form != Form::fleet && drawn.form != Form::search) {
    for (const Libraries::Faster& machine : faster) {
      const std::optional<Answer> other = ask(machine.with_it, drawn, "2 $/h", 1);
      if (!other) {
        faults.push_back("is refused with " + machine.name);
        continue;
      }
      const auto time = pair_of(*plan, *other, {"step_time_s", "tpot_s"});
      const auto rate = pair_of(*plan, *other, {"samples_per_s", "tokens_per_s", "output_tokens_per_s"});
      if (time) {
        ++all.faster;
        if (time->after > time->before * (1.0 + 1e-12)) {
          faults.push_back(std::string{time->member} + " is " + std::to_string(time->after / time->before) +
                           " times as long with " + machine.name);
        }
      }
      if (rate && rate->after < rate->before * (1.0 - 1e-12)) {
        faults.push_back(std::string{rate->member} + " is " + std::to_string(rate->after / rate->before) +
                         " times as much with " + machine.name);
      }
    }
  }
  if (const std::optional<Answer> dear = ask(library, drawn, "4 $/h", 1)) {
    const auto cost = pair_of(*plan, *dear,
                              {"cost_usd", "taken/cost_usd", "usd_per_million_output_tokens", "options/0/usd_per_s",
                               "usd_per_million_tokens"});
    if (cost) {
      ++all.priced;
      if (!near(cost->after, 2.0 * cost->before)) {
        faults.push_back(std::string{cost->member} + " is " + std::to_string(cost->after / cost->before) +
                         " times as much at twice the price");
      }
    }
  } else {
    faults.push_back("is refused at twice the price");
  }
  if (const std::optional<Answer> again = ask(library, drawn, "2 $/h", 3)) {
    ++all.threaded;
    if (to_json(*again) != json) {
      faults.push_back("has other bytes on three threads");
    }
  }
  if (!faults.empty()) {
    std::string question;
    for (const std::string& key : drawn.keys) {
      question += " --set '" + key + "'";
    }
    for (const std::string& fault : faults) {
      all.found.push_back(fault + ": --set hardware.gpu=" + std::string{drawn.sku->id} + question);
    }
  }
}

/// So many answers, of no more than twice as many questions: nothing is shown by those that nobody answers.
void check_random(std::uint64_t seed, std::size_t answers) {
  const Libraries libraries;
  const std::vector<Libraries::Faster> faster = libraries.faster();
  Draw draw{seed};
  Faults all;
  std::size_t questions = 0;
  for (; all.answered < answers && questions < 2 * answers; ++questions) {
    check_question(libraries.plain, faster, draw_question(draw), all);
  }
  MESSAGE(questions, " questions: ", all.answered, " answered, ", all.faster, " held against faster machines, ",
          all.priced, " at twice the price, ", all.threaded, " on three threads; ", all.found.size(), " faults");
  for (std::size_t i = 0; i < all.found.size() && i < 40; ++i) {
    MESSAGE(all.found[i]);
  }
  CHECK(all.found.empty());
  CHECK(all.answered == answers);
  CHECK(all.faster * 2 > all.answered);
  CHECK(all.priced * 4 > all.answered);
}

}  // namespace

TEST_CASE(
    "300 random answers: finite, ends around the middle, parts that sum, no slower with more bandwidth, twice the "
    "cost at twice the price, the same bytes on any number of threads") {
  check_random(20261123, 300);
}

TEST_CASE("long: 10,000 random answers keep the same") {
  check_random(1, 10'000);
}
