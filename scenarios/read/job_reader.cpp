// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/keys/batch_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/read/job_reader.hpp>
#include <headroom/scenarios/read/money_reader.hpp>

namespace headroom {

std::optional<BatchJob> read_job(ConfigTable& root, bool gpus_stated) {
  auto table = KeyedTable<keys::job, Kinds::batches>::maybe(root);
  if (!table) {
    return std::nullopt;
  }
  BatchJob job;
  job.records = table->get<"records">();
  job.deadline = table->stated<"deadline">();
  job.budget = table->stated<"budget">();
  job.chunk = table->get<"chunk">();
  job.utilisation = table->get<"utilisation">();
  job.longest_call = table->stated<"longest_call">();
  job.interruptions = table->stated<"interruptions">().value_or(Hertz{}).raw();
  job.start = table->get<"start">();
  if (!gpus_stated && !job.deadline) {
    table->missing("deadline", ": nothing says how many GPUs work; state it, or hardware.gpus");
  }
  if (job.deadline && job.start >= *job.deadline) {
    table->problem("start",
                   "a start of " + format(job.start) + " takes the whole deadline of " + format(*job.deadline));
  }
  table->finish();
  return job;
}

void refuse_unpriced_budget(ConfigTable& root, const BatchJob& job, const Money& money) {
  if (job.budget && !money.price) {
    root.problem("job", "'budget' needs a price: [money] price = \"... $/h\", or prices = \"ID\"");
  }
}

void tell_job_money(ConfigTable& root, const Money& money, std::vector<std::string>& assumptions) {
  const auto note = [&](const char* table, const char* key, bool idle, const std::string& why) {
    const ConfigValue* const stated = root.value(table);
    if (idle && stated != nullptr && stated->find(key) != nullptr) {
      assumptions.push_back(std::string{table} + "." + key + " has no effect: " + why);
    }
  };
  tell_idle_money(root,
                  {"answers of kind batch hold no offers against each other",
                   "answers of kind batch pay for GPUs alone", "it asks for variants of a training plan"},
                  assumptions);
  if (money.price) {
    assumptions.push_back("money: a GPU costs " + format(*money.price) + " (" + money.source + ")");
  }
  const bool beside = money.price && root.value("money")->find("price") != nullptr;
  for (const char* const key : {"market", "region"}) {
    note("money", key, beside, "beside a price it is a label for break-evens, which answers of kind batch have not");
  }
  note("money", "owned", money.owned && money.market != PaidAs::owned,
       "a price is stated beside it, and answers of kind batch hold no offers against each other");
  for (const char* const key : {"power_price", "date", "source"}) {
    note("energy", key, true, "answers of kind batch tell energy, not its price");
  }
}

}  // namespace headroom
