// SPDX-License-Identifier: Apache-2.0
// Lines as the engines print them; sources in docs/launch.md.
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/plan/engine_log.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// A number between two texts of a line.
struct LogPattern {
  Engine engine;
  LogFact fact;
  std::string_view line;    ///< stands somewhere in the line; empty: any
  std::string_view before;  ///< directly in front of the number
  std::string_view after;   ///< directly behind it, blanks skipped; empty: anything
  double unit;
};

constexpr double gib = 0x1p30;

/// "GB" of vLLM's older lines and of SGLang is 2^30 bytes: both divide by 1 << 30.
constexpr std::array patterns{
    LogPattern{Engine::vllm, LogFact::tokens, "", "GPU KV cache size: ", "tokens", 1.0},
    LogPattern{Engine::vllm, LogFact::blocks, "", "# GPU blocks: ", "", 1.0},
    LogPattern{Engine::vllm, LogFact::blocks, "", "# cuda blocks: ", "", 1.0},
    LogPattern{Engine::vllm, LogFact::pool, "", "Available KV cache memory: ", "GiB", gib},
    LogPattern{Engine::vllm, LogFact::pool, "", "reserved for KV Cache is ", "GiB", gib},
    LogPattern{Engine::vllm, LogFact::weights, "", "Model loading took ", "G", gib},
    LogPattern{Engine::vllm, LogFact::weights, "", "Loading model weights took ", "G", gib},
    LogPattern{Engine::vllm, LogFact::activations, "", "PyTorch activation peak memory takes ", "GiB", gib},
    LogPattern{Engine::vllm, LogFact::graphs, "Graph capturing finished", "secs, took ", "GiB", gib},
    LogPattern{Engine::vllm, LogFact::device, "", "total_gpu_memory (", "GiB)", gib},
    LogPattern{Engine::vllm, LogFact::fraction, "", "gpu_memory_utilization (", ")", 1.0},
    LogPattern{Engine::vllm, LogFact::fraction, "", "'gpu_memory_utilization': ", "", 1.0},
    LogPattern{Engine::vllm, LogFact::tp, "", "tensor_parallel_size=", "", 1.0},
    LogPattern{Engine::vllm, LogFact::pp, "", "pipeline_parallel_size=", "", 1.0},
    LogPattern{Engine::vllm, LogFact::block_tokens, "", "'block_size': ", "", 1.0},
    LogPattern{Engine::vllm, LogFact::longest, "Maximum concurrency", "concurrency for ", "tokens", 1.0},
    LogPattern{Engine::vllm, LogFact::concurrency, "Maximum concurrency", "per request: ", "x", 1.0},
    LogPattern{Engine::sglang, LogFact::tokens, "KV Cache is allocated", "#tokens: ", "", 1.0},
    LogPattern{Engine::sglang, LogFact::tokens, "", "max_total_num_tokens=", "", 1.0},
    LogPattern{Engine::sglang, LogFact::keys, "KV Cache is allocated", " K size: ", "GB", gib},
    LogPattern{Engine::sglang, LogFact::values, "KV Cache is allocated", " V size: ", "GB", gib},
    LogPattern{Engine::sglang, LogFact::pool, "KV Cache is allocated", " KV size: ", "GB", gib},
    LogPattern{Engine::sglang, LogFact::weights, "Load weight end", " mem usage=", "GB", gib},
    LogPattern{Engine::sglang, LogFact::graphs, "Capture cuda graph end", " mem usage=", "GB", gib},
    LogPattern{Engine::sglang, LogFact::fraction, "ServerArgs(", "mem_fraction_static=", "", 1.0},
    LogPattern{Engine::sglang, LogFact::tp, "ServerArgs(", " tp_size=", "", 1.0},
    LogPattern{Engine::sglang, LogFact::pp, "ServerArgs(", " pp_size=", "", 1.0},
    LogPattern{Engine::tensorrt_llm, LogFact::pool, "for max tokens in paged KV cache", "[MemUsageChange] Allocated ",
               "GiB", gib},
    LogPattern{Engine::tensorrt_llm, LogFact::tokens, "[MemUsageChange] Allocated ", "in paged KV cache (", ")", 1.0},
    LogPattern{Engine::tensorrt_llm, LogFact::device, "max tokens in paged kv cache", "total: ", "GiB", gib},
    LogPattern{Engine::tensorrt_llm, LogFact::block_tokens, "", "Number of tokens per block: ", "", 1.0},
};

/// What a user finds in a log that has what is needed.
struct LogLines {
  Engine engine;
  std::string_view lines;
};
constexpr std::array looked_for{
    LogLines{Engine::vllm, "'GPU KV cache size: N tokens', 'Available KV cache memory: X GiB', '# GPU blocks: N'"},
    LogLines{Engine::tensorrt_llm, "'[MemUsageChange] Allocated X GiB for max tokens in paged KV cache (N)'"},
    LogLines{Engine::sglang, "'KV Cache is allocated. #tokens: N', 'max_total_num_tokens=N'"}};

constexpr bool sizes_cache(LogFact fact) noexcept {
  return fact == LogFact::tokens || fact == LogFact::blocks || fact == LogFact::pool || fact == LogFact::keys ||
         fact == LogFact::values || fact == LogFact::concurrency;
}

/// The number at the start of a text, commas between thousands dropped, and what follows it. nullopt: no positive one.
struct Number {
  double value = 0.0;
  std::string_view rest;
};
std::optional<Number> leading_number(std::string_view text) {
  std::string digits;
  std::size_t i = 0;
  for (; i < text.size() && digits.size() < 40; ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9';
    const bool inside = (c == ',' || c == '.') && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
    if (!digit && !inside) {
      break;
    }
    if (c != ',') {
      digits += c;
    }
  }
  Number number;
  number.value = whole_real(digits).value_or(0.0);
  if (number.value <= 0.0) {
    return std::nullopt;
  }
  number.rest = text.substr(i);
  return number;
}

std::optional<double> match(const LogPattern& pattern, std::string_view line) {
  const std::size_t at = line.find(pattern.before);
  if (at == std::string_view::npos || line.find(pattern.line) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<Number> number = leading_number(line.substr(at + pattern.before.size()));
  if (!number) {
    return std::nullopt;
  }
  const std::size_t next = std::min(number->rest.find_first_not_of(' '), number->rest.size());
  return number->rest.substr(next).starts_with(pattern.after) ? std::optional{number->value * pattern.unit}
                                                              : std::nullopt;
}

/// Of several ranks or repetitions the smallest cache binds; of all else the largest is told.
void take(EngineLog& log, LogFact fact, double value, int line) {
  EngineLog::Fact& known = log.facts[static_cast<std::size_t>(fact)];
  const bool smaller = sizes_cache(fact);
  if (known.line == 0 || (smaller ? value < known.value : value > known.value)) {
    known = {value, line};
  }
}

EngineLog facts_of(const ConfigSource& source, Engine engine) {
  EngineLog log;
  log.file = source.file;
  log.engine = engine;
  std::string_view text = source.text;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    for (const LogPattern& pattern : patterns) {
      if (pattern.engine != engine) {
        continue;
      }
      if (const std::optional<double> value = match(pattern, line)) {
        take(log, pattern.fact, *value, number);
      }
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!log.says(LogFact::pool) && log.says(LogFact::keys) && log.says(LogFact::values)) {
    log.facts[static_cast<std::size_t>(LogFact::pool)] = {log[LogFact::keys].value + log[LogFact::values].value,
                                                          log[LogFact::keys].line};
  }
  return log;
}

bool sized(const EngineLog& log) {
  return log.says(LogFact::tokens) || log.says(LogFact::blocks) || log.says(LogFact::pool);
}

std::string title(Engine engine) {
  return std::string{engine_titles[static_cast<std::size_t>(engine)]};
}

}  // namespace

EngineLog read_engine_log(const ConfigSource& source, Engine engine) {
  EngineLog log = facts_of(source, engine);
  if (sized(log)) {
    return log;
  }
  std::string lines;
  for (const LogLines& known : looked_for) {
    const Engine other = known.engine;
    if (other != engine && sized(facts_of(source, other))) {
      throw ConfigError{
          {Diagnostic{source.file,
                      {},
                      "is a start-up log of " + title(other) + ", and the scenario's engine is " + title(engine) +
                          "; set serving.engine = " + std::string{engine_names[static_cast<std::size_t>(other)]}}}};
    }
    lines += (lines.empty() ? "" : "; ") + title(other) + ": " + std::string{known.lines};
  }
  throw ConfigError{{Diagnostic{source.file,
                                {},
                                "no line says how large the KV cache is; looked for, of " + lines +
                                    "; they stand between loading and the first request, at level INFO"}}};
}

}  // namespace headroom
