// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/batch/render_job.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <array>
#include <cstdint>

namespace headroom {

std::string job_verdict_text(const JobVerdict& v) {
  const JobPlan& job = v.job;
  std::string text = job.holds ? "take " : "does not hold: ";
  text += v.taken + "\n";
  if (!job.holds) {
    text += "  " + job.why + "\n";
  }
  if (v.asked.deadline && job.probability) {
    text += "deadline: " + format(*v.asked.deadline) + ", kept with probability " + probability_text(*job.probability) +
            " (asked " + probability_text(v.confidence) + ")\n";
  }
  if (!v.gpus_stated && job.holds && job.gpus_at_middle != job.gpus) {
    text += "at the middle of the interval " + counted(job.gpus_at_middle, "GPU") + " would do\n";
  }
  return text;
}

void add_records(Table& table, const BatchJob& asked, const JobPlan& job) {
  table.row({"records", format_count(asked.records)});
  if (job.rate_needed > 0.0) {
    table.row({"records/s needed", format_count(job.rate_needed)});
  }
}

void add_times(Table& table, const JobPlan& job) {
  if (job.useful < 1.0) {
    table.row({"time not lost to interruptions", percent(job.useful)});
  }
  if (job.lost > 0.0) {
    table.row({"an interruption loses at most", format_count(job.lost) + " records"});
    table.row({"of the job's time", format(Seconds{job.lost / (job.rate * static_cast<double>(job.units))})});
  }
  constexpr std::array<std::string_view, job_shares.size()> names{"half of runs end within", "80 % of runs",
                                                                  "95 % of runs"};
  for (std::size_t i = 0; i < job_shares.size(); ++i) {
    table.row({std::string{names[i]}, format(job.time[i])});
  }
}

void add_cost(Table& table, const JobPlan& job) {
  if (job.cost) {
    table.row({"$ of the job", format(*job.cost)});
    table.row({"$ per million records", format(*job.per_million)});
  }
}

void add_energy(Table& table, const JobPlan& job) {
  if (job.energy) {
    table.row({"energy", format(*job.energy)});
    table.row({"energy of a record", format((1.0 / job.records) * *job.energy)});
  }
}

Value job_value(const JobPlan& job, const std::optional<TokenMembers>& tokens) {
  const double rate = job.rate / static_cast<double>(job.unit_gpus);
  return object(
      "gpus"_m = job.gpus, "gpus_at_middle"_m = job.gpus_at_middle, "holds"_m = job.holds, "why"_m = job.why,
      "probability"_m = job.probability ? share(*job.probability) : Value{nullptr},
      "batch"_m = tokens ? Value{} : Value{job.batch}, "records_per_s_per_gpu"_m = per_second(rate),
      "needed_records_per_s"_m = job.rate_needed > 0.0 ? per_second(job.rate_needed) : Value{nullptr},
      "useful"_m = share(job.useful), "lost_records"_m = job.lost > 0.0 ? Value{job.lost, Hint::count} : Value{nullptr},
      "time_p50_s"_m = job.time[0], "time_p80_s"_m = job.time[1], "time_p95_s"_m = job.time[2], "cost_usd"_m = job.cost,
      "usd_per_million_records"_m = job.per_million, "energy_j"_m = job.energy,
      "energy_j_per_record"_m =
          job.energy && job.records > 0.0 ? Value{(1.0 / job.records) * *job.energy} : Value{nullptr},
      "replicas"_m = tokens ? Value{job.units} : Value{}, "gpus_of_replica"_m = tokens ? Value{job.unit_gpus} : Value{},
      "usd_per_million_output_tokens"_m = tokens ? Value{tokens->per_million_output_tokens} : Value{});
}

std::string assumed_text(const std::vector<std::string>& notes) {
  std::string text = notes.empty() ? "" : "\nassumed\n";
  for (const std::string& note : notes) {
    text += "  " + note + "\n";
  }
  return text;
}

}  // namespace headroom
