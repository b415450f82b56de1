// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/plan/engine_log.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// A log whose cache takes a width this far from the scenario's is of another model, layout or format: those differ by
/// halves and doubles, block rounding and alignment by a few percent.
constexpr double same_width = 1.25;
/// What drivers and reserved pages take of a device differs by a percent or two.
constexpr double same_device = 1.05;
/// A pool that misses by more than this share of the device is rather of another launch than a wrong prediction: the
/// three logs that no constant was taken from miss by 1 % and less.
constexpr double suspicious = 0.1;
/// Half of the last digit of "8.11 GiB".
constexpr Bytes rounding{0.005 * 0x1p30};

class Calibration {
 public:
  Calibration(const EngineLog& log, ServeScenario& serve) : log_{log}, s_{serve} {}

  std::vector<std::string> run() {
    check_layout();
    check_device();
    const ServingMemory predicted = memory();
    const Bytes pool = logged_pool(predicted);
    refuse_more_than_there_is(pool);
    tell_pool(predicted.pool, pool);
    tell_doubt(predicted.pool, pool);
    tell_term(LogFact::weights, "weights", predicted.terms[MemoryTerm::weights], "");
    tell_term(LogFact::activations, "activations", predicted.terms[MemoryTerm::activations], "; the log's are taken");
    tell_term(LogFact::graphs, "CUDA graphs", predicted.terms[MemoryTerm::cuda_graphs], "; the log's are taken");
    adjust(predicted.terms[MemoryTerm::activations], pool);
    tell_fraction();
    tell_concurrency();
    return std::move(notes_);
  }

 private:
  [[noreturn]] void refuse(LogFact fact, const std::string& text) const {
    throw ConfigError{{Diagnostic{log_.file, {log_[fact].line, 1}, text}}};
  }

  /// vLLM counts the tensor ranks of one attention group, the others those of all.
  void check_layout() const {
    const ServingLayout& layout = s_.work.layout;
    const std::int64_t groups = log_.engine == Engine::vllm ? 1 : layout.attention_groups();
    if (log_.says(LogFact::tp) && log_[LogFact::tp].value != real(groups * layout.tp)) {
      const std::string theirs = format_count(log_[LogFact::tp].value);
      refuse(LogFact::tp, "this engine ran on " + theirs + " tensor ranks, the scenario's on " +
                              std::to_string(groups * layout.tp) + "; set strategy.tp, or give the log of that launch");
    }
    if (log_.says(LogFact::pp) && log_[LogFact::pp].value != real(layout.pp)) {
      refuse(LogFact::pp, "this engine ran in " + format_count(log_[LogFact::pp].value) +
                              " pipeline stages, the scenario in " + std::to_string(layout.pp) +
                              "; set strategy.pp, or give the log of that launch");
    }
  }

  void check_device() const {
    const Bytes ours = s_.device.visible_capacity().value;
    const double ratio = log_[LogFact::device].value / ours.raw();
    if (log_.says(LogFact::device) && (ratio > same_device || ratio < 1.0 / same_device)) {
      refuse(LogFact::device, "this engine saw a GPU of " + format(Bytes{log_[LogFact::device].value}) + ", and " +
                                  s_.device.id + " has " + format(ours) +
                                  "; set hardware.gpu, or give the log of that launch");
    }
  }

  /// The fraction that the log was made at, where it says it.
  [[nodiscard]] double fraction() const {
    return log_.says(LogFact::fraction) ? std::min(1.0, log_[LogFact::fraction].value) : s_.work.memory_fraction;
  }

  [[nodiscard]] CompiledServingMemory compiled() const {
    return served_memory(s_.architecture, s_.device, s_.engine.memory, s_.work);
  }

  [[nodiscard]] ServingMemory memory() const {
    ServingLimits limits = s_.work.limits();
    limits.memory_fraction = fraction();
    return serving_memory(compiled(), limits);
  }

  /// Bytes of a token on the binding GPU; nothing where layers look back differently, or keep states: then tokens and
  /// bytes do not go together.
  [[nodiscard]] std::optional<Bytes> token_bytes(int stage) const {
    const CompiledServingMemory c = compiled();
    const ServingStage& binding = c.stages[static_cast<std::size_t>(stage)];
    const bool windows = std::any_of(binding.windows.begin(), binding.windows.end(),
                                     [](const ServingStage::Window& w) { return w.tokens > 0.0; });
    const bool plain = !windows && binding.state_per_sequence.raw() <= 0.0 && binding.cache_per_token.raw() > 0.0;
    return plain ? std::optional{binding.cache_per_token} : std::nullopt;
  }

  [[nodiscard]] double block_tokens() const {
    return log_.says(LogFact::block_tokens) ? log_[LogFact::block_tokens].value : real(s_.engine.memory.block_tokens);
  }

  Bytes logged_pool(const ServingMemory& predicted) {
    const std::optional<Bytes> token = token_bytes(predicted.stage);
    if (!token) {
      return pool_of_layers();
    }
    const bool blocks = !log_.says(LogFact::tokens) && log_.says(LogFact::blocks);
    const LogFact said = blocks ? LogFact::blocks : LogFact::tokens;
    if (!log_.says(said)) {
      uncertainty_ = rounding;
      line_ = log_[LogFact::pool].line;
      return Bytes{log_[LogFact::pool].value};
    }
    const double tokens = log_[said].value * (blocks ? block_tokens() : 1.0);
    if (log_.says(LogFact::pool)) {
      check_width(Bytes{log_[LogFact::pool].value / tokens}, *token);
    }
    uncertainty_ = block_tokens() * *token;
    line_ = log_[said].line;
    tokens_ = tokens;
    return tokens * *token;
  }

  /// SGLang allocates a pool for each kind of layer and prints each alike.
  Bytes pool_of_layers() {
    if (log_.engine == Engine::sglang || !log_.says(LogFact::pool)) {
      throw ConfigError{{Diagnostic{log_.file,
                                    {},
                                    s_.architecture.id + " keeps several kinds of cache, which lines with tokens do " +
                                        "not tell apart; only a line with the bytes of the whole pool does (vLLM " +
                                        "'Available KV cache memory: X GiB', TensorRT-LLM 'Allocated X GiB')"}}};
    }
    uncertainty_ = rounding;
    line_ = log_[LogFact::pool].line;
    return Bytes{log_[LogFact::pool].value};
  }

  void check_width(Bytes logged, Bytes ours) const {
    const double ratio = logged / ours;
    if (ratio > same_width || ratio < 1.0 / same_width) {
      refuse(LogFact::pool, "a token takes " + format(logged) + " of this cache, " + format(ours) +
                                " in the scenario: another model, tp or serving.kv_cache; state those of this launch");
    }
  }

  static std::string difference(Bytes logged, Bytes predicted) {
    const double percent = 100.0 * (predicted / logged - 1.0);
    return format(predicted) + " predicted" +
           (logged.raw() > 0.0 ? ", " + format_number(std::abs(percent), 2) + " % " + (percent < 0.0 ? "less" : "more")
                               : "");
  }

  void tell_pool(Bytes predicted, Bytes logged) {
    notes_.push_back("engine log: KV pool " + format(logged) + " (" + log_.file + ":" + std::to_string(line_) +
                     (tokens_ > 0.0 ? ", " + format_count(tokens_) + " tokens" : "") + "), " +
                     (predicted.raw() > 0.0 ? difference(logged, predicted) : "none predicted") +
                     "; the plan takes the log's");
  }

  void refuse_more_than_there_is(Bytes pool) const {
    const Bytes device = s_.device.visible_capacity().value;
    if (pool > device) {
      throw ConfigError{
          {Diagnostic{log_.file,
                      {line_, 1},
                      "a KV pool of " + format(pool) + " is more than the " + format(device) + " of " + s_.device.id +
                          ": another SKU, model, tp or serving.kv_cache; state those of " + "this launch"}}};
    }
  }

  void tell_doubt(Bytes predicted, Bytes logged) {
    const double share = std::abs((predicted - logged) / s_.device.visible_capacity().value);
    if (share > suspicious) {
      notes_.push_back("engine log: that difference is " + format_number(100.0 * share, 2) +
                       " % of the GPU: check that SKU, model and settings are those of the log");
    }
  }

  void tell_term(LogFact fact, std::string_view name, Bytes predicted, std::string_view taken) {
    if (log_.says(fact)) {
      notes_.push_back("engine log: " + std::string{name} + " " + format(Bytes{log_[fact].value}) + " (line " +
                       std::to_string(log_[fact].line) + "), " + difference(Bytes{log_[fact].value}, predicted) +
                       std::string{taken});
    }
  }

  void scale_activations(double factor) {
    EngineMemory& m = s_.engine.memory;
    m.wide_bytes *= factor;
    m.quantised_bytes *= factor;
    m.logit_bytes *= factor;
  }

  /// The framework takes what the pool leaves; where that is less than nothing the activations were too many.
  void adjust(Bytes activations, Bytes pool) {
    EngineMemory& m = s_.engine.memory;
    if (log_.says(LogFact::graphs)) {
      m.graphs = Bytes{log_[LogFact::graphs].value};
    }
    if (log_.says(LogFact::activations) && activations.raw() > 0.0) {
      scale_activations(log_[LogFact::activations].value / activations.raw());
    }
    const double share = m.fraction_of == FractionOf::total ? 1.0 : fraction();
    const ServingMemory now = memory();
    const Bytes ours = compiled().framework();
    const Bytes left = ours + (now.pool - pool) / share;
    const Bytes peak = now.terms[MemoryTerm::activations];
    const bool counted = m.fraction_of != FractionOf::fixed_share && peak.raw() > 0.0;
    const Bytes less = counted && left.raw() < 0.0 ? std::min(peak, Bytes{0.0} - left) : Bytes{0.0};
    if (less.raw() > 0.0) {
      scale_activations(1.0 - less / peak);
    }
    m.framework += left + less - ours;
    m.uncertainty = uncertainty_;
    s_.engine.basis = MemoryBasis::logs;
    s_.engine.uncertainty_source = "the start-up log " + log_.file + ", to its rounding";
    s_.engine.framework_source = "what the KV pool of " + log_.file + " leaves";
  }

  void tell_fraction() {
    if (log_.says(LogFact::fraction) && fraction() != s_.work.memory_fraction) {
      notes_.push_back("engine log: made at memory fraction " + format_number(fraction()) + ", the scenario says " +
                       format_number(s_.work.memory_fraction) + ": what lies beside the pool is carried over");
    }
  }

  /// The engine's own count of sequences, which the plan must come out at.
  void tell_concurrency() {
    if (!log_.says(LogFact::longest) || !log_.says(LogFact::concurrency)) {
      return;
    }
    ServingLimits limits = s_.work.limits();
    limits.memory_fraction = fraction();
    limits.sequence_tokens = static_cast<std::int64_t>(std::min(log_[LogFact::longest].value, 0x1p40));
    const ServingMemory m = serving_memory(compiled(), limits);
    notes_.push_back("engine log: " + format_number(log_[LogFact::concurrency].value, 4) + " sequences of " +
                     format_count(log_[LogFact::longest].value) + " tokens at once (line " +
                     std::to_string(log_[LogFact::concurrency].line) + "), here " +
                     format_number(m.pool / m.sequence, 4));
  }

  const EngineLog& log_;
  ServeScenario& s_;
  std::vector<std::string> notes_;
  Bytes uncertainty_{};
  double tokens_ = 0.0;
  int line_ = 0;
};

}  // namespace

std::vector<std::string> calibrate_memory(const EngineLog& log, ServeScenario& serve) {
  return Calibration{log, serve}.run();
}

}  // namespace headroom
