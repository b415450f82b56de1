// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/estimate/number_format.hpp>
#include <headroom/model/serve/engine/draft_acceptance.hpp>
#include <headroom/model/serve/memory/draft_memory.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/serving_keys.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>
#include <headroom/scenarios/read/speculation_reader.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

namespace headroom {
namespace {

using DraftKeys = KeyedTable<keys::speculative, Kinds::serve>;

constexpr std::string_view of_model = "draft_model";
constexpr std::string_view of_prompt = "ngram";
constexpr std::string_view of_eagle = "eagle";
constexpr std::string_view of_eagle_3 = "eagle3";

/// Vocabularies of one tokenizer differ by the rows that some sizes of a family pad: 152,064 of Qwen2.5 72B for the
/// 151,936 of the 0.5B.
constexpr double most_padding = 0.01;

class SpeculationReader {
 public:
  SpeculationReader(DraftKeys table, const ModelFinder& models, ServeScenario& serve, std::vector<std::string>& told)
      : table_{std::move(table)}, models_{models}, serve_{serve}, told_{told} {}

  void run() {
    const std::optional<std::size_t> method = table_.stated<"method">();
    draft_.method = method                      ? speculation_method_names[*method]
                    : table_.has("draft_model") ? of_model
                                                : std::string_view{};
    read_tokens();
    draft_.time = table_.stated<"draft_time">().value_or(draft_.time);
    read_overlap();
    read_model();
    if (!table_.has("method") || method) {
      check_cost();
    }
    table_.finish();
    tell();
    serve_.work.draft = std::make_shared<const DraftPlan>(std::move(draft_));
  }

 private:
  [[nodiscard]] const ServingWorkload& work() const { return serve_.work; }

  void read_tokens() {
    draft_.speculation.draft = table_.get<"draft">();
    if (const std::optional<double> above = above_one()) {
      std::ostringstream text;
      text << "'acceptance' is " << *above << "; it must be 0 to 1" << as_tokens(*above);
      table_.problem("acceptance", text.str());
    } else if (table_.has("acceptance")) {
      draft_.speculation.acceptance = table_.stated<"acceptance">().value_or(0.0);
    } else if (!assume_acceptance()) {
      table_.problem("acceptance",
                     "speculative decoding without 'acceptance': what it saves is the share of drafted tokens that the "
                     "model accepts, 0 to 1, and nothing stands for it; state it as measured on your requests (engines "
                     "log it), or leave [serving.speculative] out");
    }
  }

  /// What is stated above 1 looks like tokens of a step, as engines log them too.
  [[nodiscard]] std::optional<double> above_one() {
    const ConfigValue* const value = table_.value("acceptance");
    if (value == nullptr) {
      return std::nullopt;
    }
    const double stated = value->kind == ConfigValue::Kind::integer  ? static_cast<double>(value->integer)
                          : value->kind == ConfigValue::Kind::number ? value->number
                                                                     : 0.0;
    return std::isfinite(stated) && stated > 1.0 ? std::optional{stated} : std::nullopt;
  }
  [[nodiscard]] std::string as_tokens(double stated) const {
    const std::int64_t draft = draft_.speculation.draft;
    return stated < real(draft + 1)
               ? "; if it is the tokens of a step, the model's own counted, the acceptance is " +
                     format_number(acceptance_of(stated, draft)) + " (Leviathan et al. 2023, equation 1)"
               : "; state the share of drafted tokens that the model accepts, as engines log it";
  }

  /// Engines whose steps wait for the host have a time of it (IterationStack::draft_step).
  void read_overlap() {
    const IterationStack& time = serve_.engine.time;
    const bool waits = time.draft_step > Seconds{} || time.draft_sequence > Seconds{};
    const std::optional<bool> stated = table_.stated<"overlap">();
    draft_.speculation.overlapped = stated.value_or(false);
    if (stated && !waits) {
      table_.problem("overlap", "'overlap' is of engines whose steps with drafts are known to wait for the host, and " +
                                    std::string{engine_titles[static_cast<std::size_t>(serve_.engine.engine)]} +
                                    " is not; leave it out");
    } else if (waits && !table_.has("overlap")) {
      told_.push_back(
          "serving.speculative.overlap = false (releases up to 0.5.10 overlap drafts where SGLANG_ENABLE_SPEC_V2=1 is "
          "set, some later ones by themselves; without it a step waits " +
          format(time.draft_step) + " and " + format(time.draft_sequence) +
          " a sequence for the host; say true if yours overlaps)");
    }
  }

  /// The published acceptance of the method where nobody stated one; false where there is none.
  [[nodiscard]] bool assume_acceptance() {
    const std::int64_t draft = draft_.speculation.draft;
    const std::optional<AssumedAcceptance> found =
        serve_.data == nullptr || draft < 1
            ? std::nullopt
            : published_drafts(*serve_.data).assumed(serve_.architecture.id, draft_.method, draft);
    if (!found) {
      return false;
    }
    draft_.speculation.acceptance = found->mid;
    draft_.acceptance_low = found->low;
    draft_.acceptance_high = found->high;
    told_.push_back(
        "serving.speculative.acceptance = " + format_number(found->mid) + " (80 % lie within " +
        format_number(found->low) + " and " + format_number(found->high) + ": the mean of " +
        (found->own ? std::to_string(found->count) +
                          (found->count == 1 ? " published task of " : " published tasks of ") + found->of
                    : std::to_string(found->count) + " models of which tables are published, " + found->of) +
        ", with " + draft_.method + "; the interval holds both ends; state the acceptance of your requests)");
    return true;
  }

  /// Exactly one thing says what drafting takes.
  void check_cost() {
    const bool model = table_.has("draft_model");
    const bool time = table_.has("draft_time");
    if (model && time) {
      table_.problem(
          "draft_time",
          "'draft_time' is stated and the time of 'draft_model' is priced: two costs of one draft; leave one "
          "out");
    } else if (model && draft_.method == of_prompt) {
      table_.problem("draft_model",
                     "method 'ngram' looks its drafts up in the prompt and has no draft_model; leave one out");
    } else if (model && draft_.method != of_model) {
      table_.problem("draft_model",
                     "method '" + draft_.method +
                         "' drafts by heads on the served model, which are not priced as a draft_model; " +
                         (drafts_by_eagle() ? "leave draft_model out" : "state their 'draft_time' instead") +
                         ", or method = \"draft_model\"");
    } else if (!model && !time && !draft_.heads && draft_.method != of_prompt) {
      table_.problem(
          "draft_model",
          "speculative decoding without what drafting takes: name the draft_model, a smaller network that is priced on "
          "the same GPUs (draft_model = \"llama3.2-1b\"); or draft_time = \"1.5 ms\", all drafting of a step, as "
          "measured; or method = \"ngram\", drafts looked up in the prompt at no GPU time, or \"eagle3\", priced from "
          "the served model's shape");
    }
    for (const std::string_view key : {"draft_tp", "draft_weights"}) {
      if (!model && !draft_.heads && table_.has(key)) {
        table_.problem(key, "'" + std::string{key} + "' is of a draft_model, and none is named");
      }
    }
  }

  void read_model() {
    const std::optional<std::int64_t> tp = table_.stated<"draft_tp">();
    const std::optional<std::size_t> weights = table_.stated<"draft_weights">();
    const ConfigValue* named = table_.value("draft_model");
    if (named == nullptr) {
      if (drafts_by_eagle() && !table_.has("draft_time")) {
        take_head(tp, weights);
      }
      return;
    }
    const std::string id = table_.text("draft_model");
    const std::optional<Architecture> found =
        id.empty() ? std::nullopt
                   : look_up(table_, "draft_model", id, [&](const std::string&) { return models_(*named); });
    if (!found) {
      return;
    }
    draft_.tp = tp.value_or(0);
    const BesideWeights open = weights_beside(serve_, *found);
    draft_.weights = weights ? served_weights(*weights) : open.weights;
    if (!table_.has("draft_weights")) {
      told_.push_back("serving.speculative.draft_weights = " + std::string{name_of(draft_.weights)} + " (" +
                      std::string{open.why} + ")");
    }
    draft_.model = std::make_shared<const Architecture>(*found);
    check_model(*found, tp);
  }

  [[nodiscard]] bool drafts_by_eagle() const noexcept {
    return draft_.method == of_eagle || draft_.method == of_eagle_3;
  }

  /// Heads are trained in 16 bit, whatever the served weights.
  void take_head(std::optional<std::int64_t> tp, std::optional<std::size_t> weights) {
    const std::optional<Architecture> head = eagle_head(serve_.architecture, draft_.method == of_eagle_3);
    if (!head) {
      return;
    }
    draft_.heads = true;
    draft_.tp = tp.value_or(0);
    draft_.weights = weights ? served_weights(*weights) : Precision::bf16;
    draft_.model = std::make_shared<const Architecture>(*head);
    check_model(*head, tp);
  }

  void check_model(const Architecture& draft, std::optional<std::int64_t> tp) {
    const Architecture& served = serve_.architecture;
    if (draft.kind == ArchitectureKind::encoder) {
      table_.problem("draft_model", quoted(draft.id) + " is an encoder and writes no tokens; name a decoder");
      return;
    }
    if (served.vocab > 0 && std::abs(real(draft.vocab) / real(served.vocab) - 1.0) > most_padding) {
      table_.problem("draft_model", quoted(draft.id) + " writes " + std::to_string(draft.vocab) + " tokens, " +
                                        served.id + " reads " + std::to_string(served.vocab) +
                                        ": a draft shares the tokenizer of the model that verifies it; name a smaller "
                                        "model of the same family");
    }
    const ServingLayout& layout = work().layout;
    const std::string named = draft_.heads ? "method" : "draft_model";
    if (layout.pp > 1) {
      table_.problem(named,
                     quoted(named) + " with pp " + std::to_string(layout.pp) +
                         ": no engine says on which stages of a pipeline a draft lies; use pp 1, or state draft_time");
    }
    const std::string key = tp ? "draft_tp" : named;
    if (tp && *tp > layout.tp) {
      table_.problem(key, "'draft_tp' is " + std::to_string(*tp) + ", more than the " + std::to_string(layout.tp) +
                              " tensor ranks of the served model; use " + std::to_string(layout.tp) + " or less");
      return;
    }
    const ServingLayout ranks = draft_layout(draft_, layout);
    if (const LayoutProblem wrong = check(draft, ranks, ranks.gpus()); wrong.verdict != Verdict::feasible) {
      table_.problem(key, draft.id + " over the tensor ranks of its draft: " +
                              verdict_text(wrong.verdict, real(wrong.broke), real(wrong.limit)) +
                              "; state a draft_tp that does, 1 for one");
    }
  }

  void tell() {
    const Speculation& s = draft_.speculation;
    std::string by = "drafted at no GPU time, looked up in the prompt";
    if (draft_.heads) {
      by = "drafted by one layer of the served model's shape in " + std::string{name_of(draft_.weights)} + " over tp " +
           std::to_string(draft_layout(draft_, work().layout).tp) + ", with what fuses its " +
           (draft_.method == of_eagle_3 ? "three hidden states (Li et al. 2025"
                                        : "hidden state and token (Li et al. 2024") +
           ", section 3.1) and the whole vocabulary; a head of fewer tokens drafts faster";
    } else if (draft_.model) {
      by = "drafted by " + draft_.model->id + " over tp " + std::to_string(draft_layout(draft_, work().layout).tp) +
           ", whose weights and cache lie on the same GPUs";
    } else if (draft_.time.raw() > 0.0) {
      by = "drafted in " + format(draft_.time) +
           " a step whatever its batch, as stated; memory of what drafts is not counted";
    }
    told_.push_back("serving.speculative: " + std::to_string(s.draft) + " drafted tokens at acceptance " +
                    format_number(s.acceptance) + " make " + format_number(s.tokens_per_step()) +
                    " tokens a step (Leviathan et al. 2023, equation 1), " + by);
    told_.emplace_back(
        "serving.speculative: no published run states its acceptance, so that few steps with drafts are scored; "
        "intervals are those of runs without");
  }

  DraftKeys table_;
  const ModelFinder& models_;
  ServeScenario& serve_;
  std::vector<std::string>& told_;
  DraftPlan draft_;
};

}  // namespace

void read_speculation(ConfigTable& serving,
                      const ModelFinder& models,
                      ServeScenario& serve,
                      std::vector<std::string>& assumptions) {
  if (auto table = DraftKeys::maybe(serving)) {
    SpeculationReader{*std::move(table), models, serve, assumptions}.run();
  }
}

}  // namespace headroom
