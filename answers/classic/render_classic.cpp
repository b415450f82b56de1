// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/batch/render_job.hpp>
#include <headroom/answers/classic/media_answers.hpp>
#include <headroom/answers/classic/render_classic.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/classic/classic_plan.hpp>

#include <cmath>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headroom {
namespace {

using classic::Column;
using classic::Cure;
using classic::MemoryPart;
using classic::PartTime;
using classic::Plan;

std::string machines_text(const Column& column) {
  return format_count(column.count) + " x " + column.id;
}

/// Whole sizes to their last digit, others to three.
std::string size_number(double size) {
  constexpr double exact = 1e15;
  return size == std::floor(size) && size < exact ? format_count(size) : format_number(size);
}

std::string size_text(const Plan& plan, double size) {
  // "1 query", and the names of all other sizes end in an s alone.
  const std::string one = plan.size_name.ends_with("ies")
                              ? std::string{std::string_view{plan.size_name}.substr(0, plan.size_name.size() - 3)} + "y"
                              : plan.size_name.substr(0, plan.size_name.size() - 1);
  return size_number(size) + " " + (size == 1.0 ? one : plan.size_name);
}

std::string crossover_text(const Plan& plan) {
  if (plan.crossover) {
    const classic::CloseSizes& close = *plan.crossover_close;
    return "from " + format_number(*plan.crossover) + " " + plan.size_name +
           " on the GPUs are the faster, below it the cores, and " +
           (close.from ? "from " + format_number(*close.from) + " " : "") +
           (close.to     ? "to " + format_number(*close.to) + " "
            : close.from ? "on "
                         : "at every number ") +
           "the two are too close to call";
  }
  const bool gpus = plan.gpu.time.mid < plan.cpu->time.mid;
  return (plan.too_close ? "by the middles alone " : "") + std::string{gpus ? "the GPUs" : "the cores"} +
         " are the faster at every number of " + plan.size_name;
}

std::string classic_verdict(const Plan& plan) {
  if (!plan.cpu) {
    return media_verdict(plan);
  }
  if (!plan.feasible()) {
    return "nothing holds it: " + format(plan.gpu.memory) + " a GPU exceed " + format(*plan.gpu.capacity) + "; take " +
           format_count(plan.gpu.needed) + " GPUs, or more memory of the host";
  }
  const Column& taken = plan.gpu_wins ? plan.gpu : *plan.cpu;
  const Column& other = plan.gpu_wins ? *plan.cpu : plan.gpu;
  if (plan.too_close) {
    return "too close to call: " + machines_text(taken) + " takes " + format(taken.time.mid) + " and " +
           machines_text(other) + " " + format(other.time.mid) +
           ", each within the other's interval, so that price and what stands idle decide; " + crossover_text(plan);
  }
  std::string text = "take " + std::string{plan.gpu_wins ? "the GPU" : "the CPU"} + ": " + machines_text(taken) +
                     " takes " + format(taken.time.mid);
  if (!other.fits) {
    return text + "; " + machines_text(other) + " cannot hold it, since " + format(other.memory) +
           " of one exceed the " + format(*other.capacity) + " that it may fill, and " + format_count(other.needed) +
           " would";
  }
  return text + ", " + machines_text(other) + " " + format(other.time.mid) + "; " + crossover_text(plan);
}

/// The GPUs alone, where no cores are held against them.
std::string gpu_table(const Plan& plan) {
  const Column& gpu = plan.gpu;
  Table table{{"", "GPU"}};
  table.row({"machines", machines_text(gpu)});
  table.row({plan.video    ? "latency of a frame"
             : plan.policy ? "latency"
                           : "time of a step",
             format(gpu.time.mid) + "  (" + format(gpu.time.low) + " to " + format(gpu.time.high) + ")"});
  if (gpu.rate) {
    table.row({plan.video ? "frames/s" : plan.policy ? "calls/s" : "steps/s", format_number(gpu.rate->raw())});
  }
  table.row({"memory of one", gpu.memory > Bytes{} ? format(gpu.memory) : "not stated"});
  table.row({"that it may fill", format(*gpu.capacity)});
  table.row({plan.video ? "energy of a frame" : "energy", format(gpu.energy)});
  if (gpu.cost) {
    table.row({"cost", format(*gpu.cost)});
  }
  return table.text();
}

std::string columns_table(const Plan& plan) {
  if (!plan.cpu) {
    return gpu_table(plan);
  }
  const auto row_of = [](std::string name, std::string gpu, std::string cpu) {
    return std::vector<std::string>{std::move(name), std::move(gpu), std::move(cpu)};
  };
  Table table{{"", "GPU", "CPU"}};
  const Column& gpu = plan.gpu;
  const Column& cpu = *plan.cpu;
  const auto span = [](const Column& column) {
    return format(column.time.mid) + "  (" + format(column.time.low) + " to " + format(column.time.high) + ")";
  };
  table.row(row_of("machines", machines_text(gpu), machines_text(cpu)));
  table.row(row_of("time", span(gpu), span(cpu)));
  if (gpu.rate && cpu.rate) {
    table.row(row_of(plan.size_name == "rows" || plan.size_name == "items" ? plan.size_name + "/s" : "items/s",
                     format_number(gpu.rate->raw()), format_number(cpu.rate->raw())));
  }
  table.row(row_of("memory of one", format(gpu.memory), format(cpu.memory)));
  table.row(row_of("that it may fill", format(*gpu.capacity), cpu.capacity ? format(*cpu.capacity) : "not stated"));
  table.row(row_of("that memory asks for", format_count(gpu.needed), format_count(cpu.needed)));
  if (gpu.exchange > Bytes{}) {
    table.row(row_of("exchanged", format(gpu.exchange), cpu.exchange > Bytes{} ? format(cpu.exchange) : ""));
  }
  table.row(row_of("energy", format(gpu.energy), format(cpu.energy)));
  if (gpu.cost || cpu.cost) {
    table.row(row_of("cost", gpu.cost ? format(*gpu.cost) : "", cpu.cost ? format(*cpu.cost) : ""));
  }
  return table.text();
}

std::string parts_table(const Column& column) {
  Table table{{"part on the " + std::string{column.machine == "gpu" ? "GPU" : "CPU"}, "time"}};
  for (const PartTime& part : column.parts) {
    if (part.time > Seconds{}) {
      table.row({part.name, format(part.time)});
    }
  }
  return table.text();
}

std::string sweep_table(const Plan& plan) {
  const bool sharded = plan.search.has_value();
  std::vector<std::string> names{plan.size_name, "GPU"};
  if (plan.cpu) {
    names.emplace_back("CPU");
  }
  if (sharded) {
    names.emplace_back("shards");
  }
  Table table{names};
  for (const classic::Size& size : plan.sweep) {
    std::vector<std::string> cells{size_number(size.size), format(size.gpu)};
    if (plan.cpu) {
      cells.push_back(size.cpu ? format(*size.cpu) : "");
    }
    if (sharded) {
      cells.push_back(format_count(size.shards));
    }
    table.row(cells);
  }
  return table.text();
}

std::string cures_table(const Plan& plan) {
  Table table{{"what to try first", "time ratio", "<because"}};
  for (const Cure& cure : plan.cures) {
    table.row({cure.what, format_number(cure.time_ratio), cure.why});
  }
  return table.text();
}

std::string figures_text(const Plan& plan) {
  std::string text;
  if (plan.search) {
    const auto* const vectors = std::get_if<classic::VectorsAsked>(&plan.question.algorithm);
    const bool graph = vectors != nullptr && vectors->task.index == classic::IndexKind::graph;
    text += "index: " + format_count(plan.search->shards) + (plan.search->shards == 1.0 ? " shard, " : " shards, ") +
            format_count(plan.search->replicas) + (plan.search->replicas == 1.0 ? " replica" : " replicas") +
            ", built in " + format(plan.search->build) + "; a batch scans " + format(plan.search->scanned) +
            (plan.search->probes > 0.0 ? (graph ? " with a width of " + format_count(plan.search->probes)
                                                : " with " + format_count(plan.search->probes) + " probes")
                                       : "") +
            (plan.search->recall ? "; recall " + format_number(*plan.search->recall) : "") + "\n";
  }
  if (plan.recommender) {
    const classic::RecommenderFigures& tables = *plan.recommender;
    text += "tables: " + format(tables.tables) + "; of the lookups " + format_number(100.0 * tables.tiers.card) +
            " % end on GPUs, " + format_number(100.0 * tables.tiers.host) + " % in host memory, " +
            format_number(100.0 * tables.tiers.nvme) + " % on NVMe\n" +
            (tables.p99 ? "99 of 100 requests end within " + format(*tables.p99) + "\n" : "");
  }
  text += media_figures(plan);
  if (plan.grouping) {
    text += "shuffle: " + format_number(plan.grouping->rows_sent) + " of " +
            format_number(plan.grouping->rows_without) + " rows are sent, " + format(plan.grouping->sent) + "\n";
  }
  if (plan.units) {
    const classic::UnitsFigures& units = *plan.units;
    text += "units: " + format_count(units.units) + " reach " + size_number(plan.question.units->rate.raw()) +
            " a second at " + size_number(units.unit_rate.raw()) + " each; over " +
            size_number(plan.question.units->years) + " years they take " + format(units.energy) + ", " +
            format(units.electricity) +
            (units.total ? "; bought for " + format(*units.capital) + ", " + format(*units.total) + " in all" : "") +
            "\n";
  }
  return text;
}

Value column_value(const Column& column) {
  return object(
      "machine"_m = column.machine, "id"_m = column.id, "count"_m = column.count, "time_s"_m = column.time,
      "parts"_m =
          list(column.parts, [](const PartTime& part) { return row("name"_m = part.name, "time_s"_m = part.time); }),
      "items_per_s"_m = column.rate, "memory_bytes"_m = column.memory, "capacity_bytes"_m = column.capacity,
      "needed"_m = column.needed, "fits"_m = column.fits, "exchange_bytes"_m = column.exchange,
      "power_w"_m = column.power, "energy_j"_m = column.energy, "cost_usd"_m = column.cost);
}

Value search_value(const std::optional<classic::SearchFigures>& search) {
  return search ? object("shards"_m = search->shards, "replicas"_m = search->replicas, "probes"_m = search->probes,
                         "scanned_bytes"_m = search->scanned, "build_s"_m = search->build, "recall"_m = search->recall)
                : Value{};
}

Value recommender_value(const std::optional<classic::RecommenderFigures>& tables) {
  return tables ? object("table_bytes"_m = tables->tables, "exchange_bytes"_m = tables->exchange,
                         "on_gpus"_m = share(tables->tiers.card), "on_host"_m = share(tables->tiers.host),
                         "on_nvme"_m = share(tables->tiers.nvme), "latency_p99_s"_m = tables->p99)
                : Value{};
}

Value grouping_value(const std::optional<classic::GroupingFigures>& grouping) {
  return grouping ? object("rows_without"_m = grouping->rows_without, "rows_sent"_m = grouping->rows_sent,
                           "sent_bytes"_m = grouping->sent)
                  : Value{};
}

Value units_value(const std::optional<classic::UnitsFigures>& units) {
  return units ? object("units"_m = units->units, "unit_items_per_s"_m = units->unit_rate,
                        "capital_usd"_m = units->capital, "energy_j"_m = units->energy,
                        "electricity_usd"_m = units->electricity, "total_usd"_m = units->total)
               : Value{};
}

}  // namespace

std::string classic_text(const Plan& plan, bool explained) {
  std::string text = plan.question.name + ": " + plan.algorithm + ", " + size_text(plan, plan.size) + "\n" +
                     classic_verdict(plan) + "\n\n" + columns_table(plan) + figures_text(plan);
  if (explained || plan.gpu_wins || !plan.cpu) {
    text += "\n" + parts_table(plan.gpu);
  }
  if (plan.cpu && (explained || !plan.gpu_wins)) {
    text += "\n" + parts_table(*plan.cpu);
  }
  if (!plan.sweep.empty()) {
    text += "\n" + sweep_table(plan);
  }
  if (!plan.cures.empty()) {
    text += "\n" + cures_table(plan);
  }
  std::vector<std::string> notes = plan.question.assumptions;
  notes.insert(notes.end(), plan.notes.begin(), plan.notes.end());
  if (explained) {
    notes.insert(notes.end(), plan.sources.begin(), plan.sources.end());
  }
  return text + assumed_text(notes);
}

Value classic_document(const Plan& plan) {
  const auto texts = [](const std::vector<std::string>& all) {
    return list(all, [](const std::string& each) { return each; });
  };
  return object(
      "schema"_m = "headroom.classic/1", "name"_m = plan.question.name, "algorithm"_m = plan.algorithm,
      "verdict"_m = plan.feasible() ? "feasible" : "infeasible", "verdict_text"_m = classic_verdict(plan),
      "faster"_m = plan.gpu_wins || !plan.cpu ? "gpu" : "cpu", "too_close"_m = plan.too_close,
      "size_name"_m = plan.size_name, "size"_m = plan.size, "work_flop"_m = plan.work, "moved_bytes"_m = plan.moved,
      "crossover_size"_m = plan.crossover,
      "crossover_close_from"_m = plan.crossover_close ? plan.crossover_close->from : std::nullopt,
      "crossover_close_to"_m = plan.crossover_close ? plan.crossover_close->to : std::nullopt,
      "gpu"_m = column_value(plan.gpu), "cpu"_m = plan.cpu ? column_value(*plan.cpu) : Value{},
      "memory"_m = list(
          plan.memory, [](const MemoryPart& part) { return row("what"_m = part.what, "memory_bytes"_m = part.bytes); }),
      "sweep"_m = list(plan.sweep,
                       [](const classic::Size& size) {
                         return row("size"_m = size.size, "gpu_s"_m = size.gpu, "cpu_s"_m = size.cpu,
                                    "shards"_m = size.shards);
                       }),
      "search"_m = search_value(plan.search), "recommender"_m = recommender_value(plan.recommender),
      "grouping"_m = grouping_value(plan.grouping), "video"_m = video_value(plan.video),
      "simulation"_m = simulation_value(plan.simulator), "control"_m = control_value(plan.policy),
      "units"_m = units_value(plan.units),
      "cures"_m = list(plan.cures,
                       [](const Cure& cure) {
                         return row("what"_m = cure.what, "time_ratio"_m = cure.time_ratio, "why"_m = cure.why);
                       }),
      "assumptions"_m = when(!plan.question.assumptions.empty(), texts(plan.question.assumptions)),
      "notes"_m = texts(plan.notes), "sources"_m = texts(plan.sources));
}

}  // namespace headroom
