// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/batch/render_pipeline.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/inference/data_plan.hpp>

#include <cmath>

namespace headroom {
namespace {

std::string rate_text(double rate) {
  return rate < 1e300 ? format_count(rate) : "not stated";
}
Value rate_value(double rate) {
  return rate < 1e300 ? per_second(rate) : Value{nullptr};
}

std::string place_name(StagePlace place) {
  return std::string{stage_place_names[static_cast<std::size_t>(place)]};
}

/// Cores or engines of a host that work on a stage at some rate.
double used_of(const StageRate& stage, double rate) {
  return rate < 1e300 ? rate * stage.share * stage.time.raw() : 0.0;
}
std::string noun_of(StagePlace place) {
  return place == StagePlace::cpu ? "cores" : "engines";
}

std::string rates_text(const DataPlan& data) {
  Table table{{"stage of a host", "samples/s"}};
  for (std::size_t i = 0; i < input_stage_count; ++i) {
    table.row({std::string{input_stage_names[i]}, rate_text(data.input.samples_per_second[i])});
  }
  for (const NamedRate& each : data.more) {
    table.row({each.name, rate_text(each.rate)});
  }
  for (const StageRate& each : data.flow.stages) {
    if (each.on != StagePlace::gpu) {
      table.row({each.name, rate_text(each.samples_per_s)});
    }
  }
  return "\n" + table.text() + "  binds: " + data.binds + ", " + format_count(data.rate) + " samples/s; GPUs busy " +
         percent(data.busy) +
         (data.input.cores_needed > 0.0
              ? ", " + format_count(std::ceil(data.input.cores_needed - 1e-9)) + " cores would keep up"
              : "") +
         "\n";
}

std::string flow_text(const DataPlan& data) {
  const StageFlow& flow = data.flow;
  if (flow.stages.empty()) {
    return {};
  }
  Table table{{"stage", "on", "of a sample", "share of samples", "at work", "keep up"}};
  for (const StageRate& each : flow.stages) {
    const std::string needed =
        each.on == StagePlace::gpu || each.needed <= 0.0 ? std::string{} : format_count(std::ceil(each.needed - 1e-9));
    const std::string used =
        each.on == StagePlace::gpu ? std::string{} : format_number(used_of(each, data.rate)) + " " + noun_of(each.on);
    table.row({each.name, place_name(each.on), format(each.time), percent(each.share), used, needed});
  }
  std::string text = "\n" + table.text();
  if (data.called_share < 1.0) {
    text += "  of the GPU's time " + percent(data.called_share) + " is the network's, " +
            percent(1.0 - data.called_share) + " that of stages beside it\n";
  }
  text += "  " + counted(flow.crossings, "crossing") + " between host and GPU, " + format(flow.crossed) +
          " of a sample; stages and copies take " + format(data.latency) + " of a sample beside the network\n";
  if (data.best && data.moves.empty()) {
    text += "  no stage would run better elsewhere\n";
  } else if (data.best) {
    text += "  at best: move ";
    for (std::size_t i = 0; i < data.moves.size(); ++i) {
      text += (i > 0 ? ", " : "") + data.moves[i];
    }
    text += ": " + counted(data.best->crossings, "crossing") + ", " + format(data.best->latency()) + " of a sample\n";
  }
  return text;
}

std::string copy_text(const CopyPlan& copy, std::int64_t copies) {
  std::string text = "  a batch of " + format(copy.batch) + " crosses in " + format(copy.time);
  text += copies > 1 ? ", as " + counted(copies, "copy", "copies") : "";
  text += copy.in_one ? "; as one copy in " + format(*copy.in_one) : "";
  text += copy.pageable ? "; from memory that is not pinned in " + format(*copy.pageable) : "";
  text += "; batches that wait pin " + format(copy.pinned) + " of a host\n";
  if (copy.shared) {
    text += "  beside the copies of others on its link 99 of 100 take at most " + format_number(copy.shared->p99) +
            " times as long, where all copy at once " + format_number(copy.shared->at_once) + " times\n";
  }
  return text;
}

std::string storage_text(const DataPlan& data, const PipelineQuestion& asked) {
  std::string text;
  if (data.cache) {
    text += "  the cache holds " + percent(data.cache->reads.hit) + " of the set: the first epoch runs at " +
            format_count(data.cache->first) + " samples/s and reads " + format(data.cache->storage_first) +
            " from storage, later ones at " + format_count(data.cache->later) + " and read " +
            format(data.cache->storage_later) + "\n";
  }
  if (data.reads) {
    text +=
        asked.shard
            ? "  " + format_number(data.reads->reads) + " reads/s of shards of " + format(*asked.shard) + ", " +
                  format_count(data.reads->files) + " as a file a sample; " + format(data.reads->rate) + "\n"
            : "  " + format_count(data.reads->reads) + " reads/s, a file a sample; " + format(data.reads->rate) + "\n";
  }
  if (data.memory_traffic > BytesPerSecond{} && asked.memory_bandwidth) {
    text += "  the host's memory carries " + format(data.memory_traffic) + "\n";
  } else if (asked.direct) {
    text += "  the host's memory carries nothing of it\n";
  }
  if (data.resident) {
    const ResidentPlan& r = *data.resident;
    text += "  over " + counted(asked.epochs, "epoch") + " " + format(r.crossed) + " cross in " + format(r.crossing) +
            "; kept on the GPU " + format(r.set) + " cross once in " + format(r.once) + ", which " +
            (r.fits ? "fits" : "does not fit") + "\n";
  }
  return text;
}

std::string loader_text(const LoaderPlan& loader) {
  Table table{{"batches ahead of each worker", "GPU busy", "steps that wait", "stall of a step", "p99"}};
  for (const LoaderChoice& each : loader.others) {
    table.row({std::to_string(each.prefetch), percent(each.outcome.busy), percent(each.outcome.waiting),
               format(each.outcome.stall), format(each.outcome.stall_p99)});
  }
  return "\n  loader: " + counted(loader.queue.workers, "worker") + " load a batch in " + format(loader.queue.load) +
         " +/- " + percent(loader.queue.spread) + ", " + std::to_string(loader.queue.prefetch) +
         " ahead each: GPUs busy " + percent(loader.outcome.busy) + ", " + percent(loader.outcome.waiting) +
         " of steps wait, " + format(loader.outcome.stall) + " on the mean\n\n" + table.text();
}

}  // namespace

std::string pipeline_text(const DataPlan& data, const BatchScenario& scenario) {
  const PipelineQuestion& asked = scenario.pipeline;
  return rates_text(data) + (data.copy ? copy_text(*data.copy, asked.copies) : std::string{}) +
         storage_text(data, asked) + flow_text(data) + (data.loader ? loader_text(*data.loader) : std::string{});
}

Value pipeline_value(const DataPlan& data) {
  const StageFlow& flow = data.flow;
  Value copy, cache, resident, reads, loader, best;
  if (data.copy) {
    copy =
        object("batch_bytes"_m = data.copy->batch, "time_s"_m = data.copy->time, "pageable_s"_m = data.copy->pageable,
               "in_one_s"_m = data.copy->in_one, "pinned_bytes"_m = data.copy->pinned,
               "p99_slowdown"_m = data.copy->shared ? Value{data.copy->shared->p99} : Value{nullptr},
               "slowdown_at_once"_m = data.copy->shared ? Value{data.copy->shared->at_once} : Value{nullptr});
  }
  if (data.cache) {
    cache = object("hit"_m = share(data.cache->reads.hit), "first_samples_per_s"_m = rate_value(data.cache->first),
                   "later_samples_per_s"_m = rate_value(data.cache->later),
                   "storage_first_bytes_per_s"_m = data.cache->storage_first,
                   "storage_later_bytes_per_s"_m = data.cache->storage_later);
  }
  if (data.resident) {
    resident = object("set_bytes"_m = data.resident->set, "crossed_bytes"_m = data.resident->crossed,
                      "crossing_s"_m = data.resident->crossing, "once_s"_m = data.resident->once,
                      "fits"_m = data.resident->fits);
  }
  if (data.reads) {
    reads = object("reads_per_s"_m = rate_value(data.reads->reads), "files_per_s"_m = rate_value(data.reads->files),
                   "read_bytes_per_s"_m = data.reads->rate);
  }
  if (data.loader) {
    loader = object("workers"_m = data.loader->queue.workers, "prefetch"_m = data.loader->queue.prefetch,
                    "busy"_m = share(data.loader->outcome.busy), "waiting"_m = share(data.loader->outcome.waiting),
                    "stall_s"_m = data.loader->outcome.stall,
                    "by_prefetch"_m = list(data.loader->others, [](const LoaderChoice& each) {
                      return row("prefetch"_m = each.prefetch, "busy"_m = share(each.outcome.busy),
                                 "waiting"_m = share(each.outcome.waiting), "stall_s"_m = each.outcome.stall,
                                 "stall_p99_s"_m = each.outcome.stall_p99);
                    }));
  }
  if (data.best) {
    best = object("crossings"_m = data.best->crossings, "latency_s"_m = data.best->latency(), "moves"_m = data.moves);
  }
  return object("samples_per_s"_m = rate_value(data.rate), "binds"_m = data.binds, "busy"_m = share(data.busy),
                "cores_needed"_m = data.input.cores_needed, "latency_s"_m = data.latency,
                "network_share"_m = share(data.called_share), "crossings"_m = flow.crossings,
                "crossed_bytes"_m = flow.crossed, "host_memory_bytes_per_s"_m = data.memory_traffic,
                "stages"_m = list(flow.stages,
                                  [&](const StageRate& each) {
                                    return row("name"_m = each.name, "on"_m = place_name(each.on),
                                               "time_s"_m = each.time, "share"_m = share(each.share),
                                               "samples_per_s"_m = rate_value(each.samples_per_s),
                                               "used"_m = used_of(each, data.rate), "needed"_m = each.needed);
                                  }),
                "best"_m = best, "copy"_m = copy, "cache"_m = cache, "resident"_m = resident, "reads"_m = reads,
                "loader"_m = loader);
}

}  // namespace headroom
