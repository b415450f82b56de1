// SPDX-License-Identifier: Apache-2.0
// Measured training runs that the model itself made, with some of its numbers changed.
#pragma once

#include <headroom/calibrate/stacks/step_parameters.hpp>
#include <headroom/scenarios/measured/training_row.hpp>

#include "../support/model_data.hpp"
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace headroom::test {

inline const Sources& step_sources() {
  static const Sources standard = Sources::standard();
  return standard;
}

/// A dense network on one host or several.
struct MadeRun {
  std::string source = "S", gpu = "H100-SXM5-80GB", framework = "Megatron-LM (mcore) + TE";
  int layers = 24, hidden = 2048, seq_len = 2048, gpus = 8, tp = 1, pp = 1, micro_batch = 1;
  std::string metric = "step_time_s", value = "1", notes{}, precision = "bf16";
  int global_batch = 64;
};

inline std::string csv_cell(const std::string& text) {
  std::string cell = "\"";
  for (const char c : text) {
    cell += c == '"' ? "\"\"" : std::string{c};
  }
  return cell + '"';
}

inline std::string csv_of(const std::vector<MadeRun>& runs) {
  std::ostringstream text;
  text << "id,source,model,arch,layers,hidden,heads,kv_heads,head_dim,ffn_hidden,gated_mlp,vocab,seq_len,gpu,gpus,"
          "gpus_per_node,inter_gbps_per_gpu,dp,tp,pp,vpp,cp,ep,seq_parallel,zero,micro_batch,global_batch,precision,"
          "recompute,flash_attn,framework,options,metric,value,unit,notes\n";
  for (const MadeRun& r : runs) {
    text << "r," << csv_cell(r.source) << ",m,dense," << r.layers << ',' << r.hidden << ',' << r.hidden / 128 << ','
         << r.hidden / 128 << ",128," << 4 * r.hidden << ",0,51200," << r.seq_len << ',' << r.gpu << ',' << r.gpus
         << ",8,400," << r.gpus / r.tp / r.pp << ',' << r.tp << ',' << r.pp << ",1,1,1," << (r.tp > 1 ? 1 : 0) << ",1,"
         << r.micro_batch << ',' << r.global_batch << ',' << r.precision << ",none,1," << r.framework << ",,"
         << r.metric << ',' << r.value << ",s," << r.notes << '\n';
  }
  return text.str();
}

inline std::vector<RunFile> parsed(const std::vector<MadeRun>& runs, const std::string& name = "made.csv") {
  std::istringstream stream{csv_of(runs)};
  Diagnostics diagnostics;
  std::vector<RunFile> files{read_runs(stream, name, diagnostics)};
  diagnostics.throw_if_any();
  return files;
}

/// The knob behind a run's number.
inline std::size_t knob_behind(const StepKnobs& knobs, const StepOwner& owner, std::string_view key) {
  for (const std::size_t i : knobs.behind(owner)) {
    if (knobs.all()[i].key == key && knobs.all()[i].scope != StepScope::physics) {
      return i;
    }
  }
  throw std::runtime_error{"no number " + std::string{key} + " that a fit may move"};
}

/// What the model measures with some knobs at other values.
inline std::vector<MadeRun> measured(std::vector<MadeRun> runs, const std::map<std::size_t, double>& changed) {
  const StepKnobs knobs = StepKnobs::of(step_sources());
  std::vector<double> values;
  for (std::size_t i = 0; i < knobs.all().size(); ++i) {
    const auto other = changed.find(i);
    values.push_back(other == changed.end() ? knobs.all()[i].value : other->second);
  }
  StepParameters parameters = step_parameters(test::model_data());
  MemoryStacks stacks = memory_stacks(test::model_data());
  knobs.apply(values, parameters, stacks);
  TrainingRowModel model{step_sources()};
  model.set_parameters(parameters, stacks);
  const std::vector<RunFile> files = parsed(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RowPrediction p = model.predict(files[0].rows[i].run, runs[i].metric, "s");
    if (p.status != RowStatus::ok) {
      throw std::runtime_error{p.why};
    }
    std::ostringstream value;
    value.precision(12);
    value << p.predicted;
    runs[i].value = value.str();
  }
  return runs;
}

/// Small networks, which wait for their host, and large ones, which do not.
inline std::vector<MadeRun> grid(const std::string& source = "S") {
  std::vector<MadeRun> runs;
  for (const int hidden : {1024, 2048, 4096, 6144}) {
    for (const int tp : {1, 2}) {
      for (const int micro_batch : {1, 4}) {
        MadeRun r;
        r.source = source;
        r.hidden = hidden;
        r.tp = tp;
        r.micro_batch = micro_batch;
        runs.push_back(r);
      }
    }
  }
  return runs;
}

}  // namespace headroom::test
