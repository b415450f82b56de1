// SPDX-License-Identifier: Apache-2.0
// Rows of training of networks that are no language models: one rank's calls, the update, the exchange of gradients.
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/facts/run_length.hpp>
#include <headroom/scenarios/measured/network_row.hpp>
#include <headroom/scenarios/measured/network_spelling.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Calls before an update, where the table states them beside the batch: "gradient accumulation 64". 1: it does not.
[[nodiscard]] double accumulated_calls(std::string_view notes) {
  constexpr std::string_view words = "gradient accumulation ";
  const std::size_t at = notes.find(words);
  double calls = 1.0;
  if (at != std::string_view::npos) {
    calls = read_real(notes.substr(at + words.size())).value;
  }
  return std::max(calls, 1.0);
}

struct Batch {
  double samples = 0.0;  ///< of a call on one GPU; 0: no column says it
  double calls = 1.0;    ///< before an update
};
[[nodiscard]] Batch batch_of(const RunRow& row, const TrainedSpelling& spelling) {
  const RunConfiguration& run = row.run;
  const double gpus = real(run.gpus.value_or(1));
  const double per_sample = spelling.batch_of_tokens ? spelling.tokens : 1.0;
  Batch batch{run.micro_batch ? real(*run.micro_batch) / per_sample : spelling.batch, accumulated_calls(row.notes)};
  if (spelling.accumulated && run.micro_batch && !run.global_batch) {
    batch.samples /= batch.calls;
  }
  if (run.global_batch) {
    const double each = real(*run.global_batch) / per_sample / gpus;
    batch.calls = batch.samples > 0.0 ? std::max(1.0, std::round(each / batch.samples)) : 1.0;
    batch.samples = each / batch.calls;
  }
  return batch;
}

/// "PyTorch NGC 20.06" as the framework and its release.
struct Framework {
  std::string name, release;
};
[[nodiscard]] Framework framework_of(const std::string& text) {
  const std::size_t at = text.find(" NGC ");
  return at == std::string::npos ? Framework{text, ""} : Framework{text.substr(0, at), text.substr(at + 1)};
}

[[nodiscard]] double hosts_of(const RunConfiguration& run, const Node* node) {
  const double each = real(run.gpus_per_node.value_or(node != nullptr ? node->gpus : 8));
  return std::max(1.0, std::ceil(real(run.gpus.value_or(1)) / std::max(each, 1.0)));
}

}  // namespace

bool NetworkRowModel::trains(const RunConfiguration& run) const {
  const std::vector<NetworkSpelling>& all = trained_spellings(sources_.data);
  return std::any_of(all.begin(), all.end(), [&](const NetworkSpelling& each) {
    return std::find(each.names.begin(), each.names.end(), run.model) != each.names.end();
  });
}

const JobGroups& NetworkRowModel::groups_of(const RunConfiguration& run, const Device& device) {
  const std::int64_t gpus = run.gpus.value_or(1);
  const double nic = run.inter_gbps_per_gpu.value_or(0.0);
  const std::int64_t stated = run.gpus_per_node.value_or(0);
  // Cards have the bridge that their SKU could have only where the row says so.
  const bool cards =
      device.scale_up.topology == LinkTopology::bridge && run.intra_link.find("NVLink") == std::string::npos;
  std::unique_ptr<const JobGroups>& groups =
      groups_[device.id + ";" + std::to_string(gpus) + ";" + std::to_string(stated) + ";" + std::to_string(nic)];
  if (!groups) {
    JobHosts hosts;
    Device linked = device;
    if (cards) {
      linked.scale_up = {};
      hosts.gpus_per_node = stated > 0 ? stated : 8;
    } else if (const Node* node = sources_.catalog.reference_node(device)) {
      hosts.node = *node;
      hosts.gpus_per_node = std::clamp<std::int64_t>(stated, 0, 1024);
    }
    if (nic > 0.0) {
      constexpr double bytes_a_gigabit = 1e9 / 8.0;
      hosts.nic_per_gpu = BytesPerSecond{nic * bytes_a_gigabit};
    }
    groups = std::make_unique<const JobGroups>(sources_.data, linked, hosts, gpus);
  }
  return *groups;
}

std::vector<NetworkRowCall> NetworkRowModel::training_calls(const RunRow& row,
                                                            RowPrediction& refusal,
                                                            std::string& assumed) {
  const RunConfiguration& run = row.run;
  const auto refuse = [&](std::string why) {
    refusal = unsupported(std::move(why));
    return std::vector<NetworkRowCall>{};
  };
  const NetworkSpelling* spelling = spelling_of(sources_.data, row);
  if (spelling == nullptr) {
    return refuse("no table of " + run.model + " that model/stacks/step/network-training-rows.toml names");
  }
  if (spelling->networks.empty()) {
    return refuse(spelling->hidden);
  }
  const RowDevices::Answer& found = devices_.find(run.gpu);
  if (found.device == nullptr) {
    return refuse(found.why);
  }
  if (const std::string why = why_no_group(*found.device); !why.empty() && run.gpus.value_or(1) > 1) {
    return refuse(why);
  }
  const auto named = std::find(precision_names.begin(), precision_names.end(), run.precision);
  std::optional<Precision> precision = named == precision_names.end()
                                           ? spelling->trained.precision
                                           : std::optional{static_cast<Precision>(named - precision_names.begin())};
  if (run.precision.empty() && spelling->trained.narrow && found.device->peak[static_cast<std::size_t>(Rate::fp8)]) {
    precision = spelling->trained.narrow;
  }
  if (!precision) {
    return refuse(run.precision.empty() ? "not published: precision" : "format '" + run.precision + "' is not known");
  }
  const Framework framework = framework_of(run.framework);
  const NetworkEngine* engine =
      spelling->engine.empty() ? network_engine_of(sources_.data, framework.name, framework.release, spelling->runs)
                               : &find_network_engine(sources_.data, spelling->engine);
  if (engine == nullptr) {
    return refuse("engine '" + framework.name + "' is none that runs networks (model/stacks/infer)");
  }
  const Batch batch = batch_of(row, spelling->trained);
  if (batch.samples <= 0.0) {
    return refuse("not published: micro_batch");
  }
  NetworkRowCall call;
  call.engine = engine;
  call.device = found.device;
  call.gpus = real(run.gpus.value_or(1));
  call.tokens = spelling->trained.tokens;
  call.evaluations = spelling->evaluations;
  call.batches = {batch.samples};
  call.converges = at_batch(spelling->trained.converges, batch.samples * batch.calls * call.gpus);
  CallSetting& setting = call.setting;
  setting.training = true;
  setting.format = call_format(*precision);
  // What 8-bit products read and write is kept at 16 bit beside them.
  setting.element = setting.weight = std::max(element_bytes(setting.format), 2.0);
  setting.autocast = setting.format == CallFormat::half && engine->fusion == Fusion::framework;
  setting.host_per_sample = spelling->host_per_sample;
  set_host(call);
  std::vector<NetworkRowCall> calls;
  try {
    for (const std::string& id : spelling->networks) {
      const bool stated = spelling->sizes.contains("tokens");
      const std::optional<double> tokens = stated || !run.seq_len ? std::nullopt : std::optional{real(*run.seq_len)};
      const Calls& of = calls_of(id, spelling->sizes, tokens, run.options, true);
      NetworkRowCall own = call;
      own.network = id;
      own.ops = &of.ops;
      own.flop = of.flop;
      TrainingStep step{of.trained, batch.calls,
                        call.gpus,  hosts_of(run, sources_.catalog.reference_node(*call.device)),
                        Seconds{},  Seconds{}};
      if (const GroupCollectives* all = call.gpus > 1.0 ? groups_of(run, *call.device).find(*run.gpus, 1) : nullptr) {
        step.exchange = all->time(Collective::all_reduce, Bytes{of.trained.parameters * setting.element}).time;
        step.sparse =
            2.0 * all->time(Collective::all_to_all, Bytes{of.trained.sparse * batch.samples * setting.element}).time;
      }
      own.step = step;
      calls.push_back(std::move(own));
    }
  } catch (const ConfigError& error) {
    return refuse(error.diagnostics().empty() ? error.what() : error.diagnostics().front().message);
  }
  assumed = spelling->hidden;
  return calls;
}

}  // namespace headroom
