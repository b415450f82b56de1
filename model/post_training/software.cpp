// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/model/post_training/answer_lengths.hpp>
#include <headroom/model/post_training/software.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace headroom {
namespace {

constexpr Range<double> any_stretch{0.05, 20.0};
constexpr Range<double> any_share{0.0, 1000.0};
constexpr Range<double> any_fraction{0.01, 1.0};
constexpr Range<double> any_tokens{0.0, 1e6};

WeightSync sync_way(ConfigTable& table, std::string_view key) {
  return static_cast<WeightSync>(table.choice(key, weight_sync_names));
}

void read_paths(ConfigTable& root, PostTrainSoftware& software) {
  std::optional<ConfigTable> sync = root.maybe_table("sync");
  if (!sync) {
    return;
  }
  for (std::size_t i = 0; i < weight_sync_names.size(); ++i) {
    if (std::optional<ConfigTable> path = sync->maybe_table(weight_sync_names[i])) {
      software.paths[i].share = path->number("share", any_share);
      software.paths[i].start = path->quantity<Seconds>("start", true);
      software.paths[i].each = path->maybe_quantity<Seconds>("each", true).value_or(Seconds{});
      path->finish();
    }
  }
  sync->finish();
}

void read_widths(ConfigTable& root, PostTrainSoftware& software) {
  ConfigTable widths = root.table("widths");
  for (std::size_t i = 0; i < software.widths.size(); ++i) {
    software.widths[i] = widths.number(post_train_figure_names[i], any_share);
  }
  static_cast<void>(widths.text("source"));
  widths.finish();
}

PostTrainSoftware read_post_train_stack(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  PostTrainSoftware software;
  static_cast<void>(root.maybe_text("base"));
  software.id = root.text("id");
  software.name = root.text("name");
  software.source = root.text("source");
  software.names = root.texts("names");
  software.engine = root.text("engine");
  software.trainer_of_experts = root.text("trainer_of_experts");
  for (ConfigTable& backend : root.tables("backend")) {
    software.backends.emplace_back(backend.text("word"), backend.text("stack"));
    backend.finish();
  }
  software.sync_local = sync_way(root, "sync_local");
  software.sync_split = sync_way(root, "sync_split");
  software.colocated_fraction = root.number("colocated_fraction", any_fraction);
  software.split_fraction = root.number("split_fraction", any_fraction);
  software.shares_prefix = root.boolean("shares_prefix");
  software.async_old_logprobs = root.boolean("async_old_logprobs");
  software.logprob_column_holds_all = root.boolean("logprob_column_holds_all");
  software.eager_with = root.texts("eager_with");
  software.eager_launch = root.quantity<Seconds>("eager_launch", true);
  software.gathers_fp32 = root.texts("gathers_fp32");
  software.controller = root.quantity<Seconds>("controller", true);
  software.recipe_rollout_tp = root.integer("recipe_rollout_tp", not_negative);
  software.recipe_cp = root.integer("recipe_cp", not_negative);
  software.recipe_shard_ranks = root.integer("recipe_shard_ranks", not_negative);
  software.recipe_micro_batch = root.integer("recipe_micro_batch", not_negative);
  software.recipe_most = root.integer("recipe_most", not_negative);
  software.recipe_slots = root.integer("recipe_slots", not_negative);
  software.whole_batches = root.boolean("whole_batches");
  software.pads_recurrent = root.boolean("pads_recurrent");
  software.prints = root.texts("prints");
  software.recompute_of = root.texts("recompute_of");
  software.recipe_prompts = root.integer("recipe_prompts", not_negative);
  software.recipe_samples = root.integer("recipe_samples", not_negative);
  software.balances_ranks = root.boolean("balances_ranks");
  software.uses_reference = root.boolean("uses_reference");
  software.async_partial = root.boolean("async_partial");
  software.sync_beside = root.boolean("sync_beside");
  software.usual_recompute = root.maybe_text("usual_recompute").value_or("");
  software.reference_on_host = root.boolean("reference_on_host");
  ConfigTable numbers = root.table("numbers");
  software.numbers.rollout = numbers.number("rollout", any_stretch);
  software.numbers.train = numbers.number("train", any_stretch);
  software.numbers.logprob = numbers.number("logprob", any_stretch);
  software.numbers.fixed = numbers.quantity<Seconds>("fixed", true);
  software.numbers.swap = numbers.quantity<Seconds>("swap", true);
  software.fitted = numbers.text("source");
  numbers.finish();
  read_paths(root, software);
  read_widths(root, software);
  root.finish();
  return software;
}

AnswerTables read_answer_tables(const ConfigValue& document, const std::string& /*file*/, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  AnswerTables tables;
  tables.spread = root.number("spread", any_share);
  static_cast<void>(root.text("spread_source"));
  for (ConfigTable& table : root.tables("answers")) {
    UsualAnswers usual;
    usual.models = table.texts("models");
    usual.prompt = table.number("prompt", any_tokens);
    usual.mean = table.maybe_number("mean", any_tokens);
    usual.of_most = table.maybe_number("of_most", any_fraction);
    usual.uncut = table.maybe_number("uncut", any_tokens);
    usual.source = table.text("source");
    table.finish();
    tables.of.push_back(std::move(usual));
  }
  root.finish();
  return tables;
}

}  // namespace

bool PostTrainSoftware::runs_eager(std::string_view backend) const noexcept {
  return std::find(eager_with.begin(), eager_with.end(), backend) != eager_with.end();
}

double PostTrainSoftware::gathers(std::string_view backend) const noexcept {
  const std::string_view word =
      backend.empty() && !backends.empty() ? std::string_view{backends.front().first} : backend;
  return std::find(gathers_fp32.begin(), gathers_fp32.end(), word) != gathers_fp32.end() ? 2.0 : 1.0;
}

double UsualAnswers::mean_of(double most, double spread) const noexcept {
  if (of_most) {
    return *of_most * most;
  }
  if (uncut && spread > 0.0) {
    const double variance = std::log1p(spread * spread);
    return cut_mean(std::log(*uncut) - 0.5 * variance, std::sqrt(variance), most);
  }
  constexpr double fullest = 0.6;
  return std::min(fullest * most, mean ? *mean : uncut.value_or(most));
}

const std::vector<PostTrainSoftware>& post_train_software(const ModelData& data) {
  return data.once("stacks/post", [&] {
    std::vector<PostTrainSoftware> all;
    Diagnostics diagnostics;
    for (const std::string& id : data.files().ids("stacks/post")) {
      const ModelDocument document = stack_document(data, "stacks/post", id);
      all.push_back(read_post_train_stack(document.tree, diagnostics));
    }
    diagnostics.throw_if_any();
    return all;
  });
}

const PostTrainSoftware* find_post_train_software(const ModelData& data, std::string_view spelling) {
  const std::vector<PostTrainSoftware>& all = post_train_software(data);
  const auto found = std::find_if(all.begin(), all.end(), [&](const PostTrainSoftware& each) {
    return each.id == spelling || std::find(each.names.begin(), each.names.end(), spelling) != each.names.end();
  });
  return found == all.end() ? nullptr : &*found;
}

const AnswerTables& answer_tables(const ModelData& data) {
  return step_numbers(data, "answer-lengths", read_answer_tables);
}

}  // namespace headroom
