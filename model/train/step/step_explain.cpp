// SPDX-License-Identifier: Apache-2.0
// The waterfall of a step in words: every term's formula, inputs and where they come from.
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/step/step_parts.hpp>
#include <headroom/model/train/step/step_time.hpp>

#include <cmath>

namespace headroom {
namespace {

class StepLines {
 public:
  StepLines(const StepModel& model,
            const StepTable& table,
            const LayerKey& key,
            const Strategy& strategy,
            const StepTime& time,
            ExplainRecorder& r)
      : recipe_{model.pricer().recipe()},
        model_{model},
        table_{table},
        s_{strategy},
        t_{time},
        traffic_{model.axis_traffic(table, key, strategy, time.micro_batches)},
        r_{r} {}

  void write() {
    compute();
    passes();
    communication();
    rest();
  }

 private:
  void line(Term term,
            std::string_view formula,
            std::string_view reference,
            std::initializer_list<ExplainInput> inputs) {
    const Seconds value = t_.time[term];
    if (value.raw() != 0.0) {
      r_.line(term_names[static_cast<std::size_t>(term)], formula, reference, value.raw(), Shown::seconds, inputs);
    }
  }

  void compute() {
    line(Term::gemm, "m n (forward + input and weight gradients)", model_.pricer().why(),
         {{"m", t_.micro_batches, Shown::count, "micro-batches: global_batch / (dp micro_batch)"},
          {"n", t_.layers, Shown::count,
           t_.head_binds ? "layers of the last stage, which is the slowest" : "layers of the slowest stage"},
          {"forward", table_.layer.forward.gemm.raw(), Shown::seconds, "one layer, one micro-batch"},
          {"gradients", table_.layer.backward.gemm.raw(), Shown::seconds, "one layer, one micro-batch"},
          {"clock, 16 bit", recipe_.level.wide, Shown::count, recipe_.level.source},
          {"clock, 8 bit", recipe_.level.narrow, Shown::count, recipe_.level.source},
          {"stack", recipe_.stack.gemm, Shown::count, recipe_.stack.source}});
    line(Term::attention,
         recipe_.options.flash_attention ? "m n (forward + backward of the measured kernel) / e"
                                         : "m n (4 b (a/t) s^2 d / (u P16) + scores B/score / B)",
         recipe_.options.flash_attention ? model_.pricer().attention_why() : "Korthikanti et al. 2022, section 4",
         {{"e", recipe_.stack.attention * recipe_.level.attention / recipe_.level.wide, Shown::fraction,
           recipe_.stack.source},
          {"forward", table_.layer.forward.attention.raw(), Shown::seconds, "one layer, one micro-batch"},
          {"backward", table_.layer.backward.attention.raw(), Shown::seconds, "one layer, one micro-batch"}});
    const ScanNumbers& scan = model_.pricer().scan();
    line(Term::scan, "m n (1 + backward) max(FLOP / (r P16), bytes / (s B))", scan.source,
         {{"r", scan.rate, Shown::fraction, "share of the dense 16-bit peak"},
          {"s", scan.bandwidth, Shown::fraction, "share of the datasheet's bandwidth"},
          {"backward", scan.backward, Shown::count, "over a forward pass"},
          {"r, Mamba-2", scan.mamba2_rate, Shown::fraction, "the same of Mamba-2"},
          {"backward, Mamba-2", scan.mamba2_backward, Shown::count, "over a forward pass"},
          {"Blackwell", scan.mamba2_vector, Shown::count, "FLOP of the vector units in the time of a byte of Mamba-2"},
          {"forward", table_.layer.forward.scan.raw(), Shown::seconds, "a layer, mean over all; one micro-batch"}});
    line(Term::recompute, "m n x what the backward pass forms again", "Korthikanti et al. 2022, section 5",
         {{"one layer", table_.layer.recompute.raw(), Shown::seconds, ""}});
    line(Term::head, "m (logits and gradients + bytes of the loss / B)", "on the last stage",
         {{"product", table_.head.product.raw(), Shown::seconds, "one micro-batch"},
          {"loss", table_.head.loss.raw(), Shown::seconds, "one micro-batch"}});
  }

  void passes() {
    const bool unpacks = recipe_.options.method == Method::qlora;
    line(Term::elementwise,
         unpacks ? "m n (x T (20 h/sigma + (4+2g) f/t + 4 (a+2k) d/t) + w (4-bit + e bytes)) / B, x T (...) twice back"
                 : "m n x T (20 h/sigma + (4+2g) f/t + 4 (a+2k) d/t) / B and twice that backward",
         unpacks ? "norms, residuals, activation, rotary embedding; 4-bit weights unpacked for each product"
                 : "norms, residuals, activation, rotary embedding, casts, accumulated gradients",
         {{"x", recipe_.stack.elementwise, Shown::count, recipe_.stack.source},
          {"B", model_.pricer().bandwidth().raw(), Shown::bytes_per_second, "share of the datasheet's bandwidth"},
          {"accumulation", table_.layer.accumulation.raw(), Shown::seconds, "one layer, one micro-batch"}});
    host();
    const bool muon = table_.newton_schulz > Seconds{};
    line(Term::optimizer,
         muon ? "40 bytes a local parameter / B + five Newton-Schulz steps a matrix + a fixed part"
              : "40 bytes a local parameter / B + a fixed part",
         muon ? "Jordan et al. 2024" : recipe_.physics.source,
         {{"parameters", t_.updated, Shown::count,
           t_.host_update > Seconds{} ? "updated on the host: the fixed part alone" : "of this rank's update"},
          {"fixed", recipe_.stack.optimizer_step.raw(), Shown::seconds, "once a step"}});
    line(
        Term::offload, "m (max(0, copy - o F) + max(0, copy - o B)) + gradients beside the last B + update + weights",
        "Ren et al. 2021, ZeRO-Offload, section 4",
        {{"copies", t_.copies.raw(), Shown::seconds, "both ways, before any overlap"},
         {"link", recipe_.host_link.value_or(BytesPerSecond{}).raw(), Shown::bytes_per_second, "GPU to host, each way"},
         {"o", recipe_.physics.offload_overlap, Shown::fraction,
          "share of compute beside which copies run; not fitted"},
         {"update", t_.host_update.raw(), Shown::seconds, "on the host, all of its GPUs' parameters"}});
  }

  void host() {
    const StepPhysics& physics = recipe_.physics;
    const double kernels = recipe_.options.flash_attention ? 1.0 : 1.0 + physics.unfused_host;
    const Seconds host = kernels * recipe_.stack.host;
    const Seconds expert = expert_launches(physics, recipe_.precision) * recipe_.stack.expert_launch;
    if (s_.cuda_graphs || recipe_.experts.launch == ExpertLaunch::full_graphs) {
      line(Term::host, "m n ((GPU^5 + nodes^5)^(1/5) - GPU)", "CUDA graphs: gaps between nodes instead of launches",
           {{"nodes", physics.graph_nodes, Shown::count, "of a dense layer's forward"},
            {"gap", physics.graph_node.raw(), Shown::seconds, "Gray 2019, NVIDIA Technical Blog"},
            {"head", table_.head.host.raw(), Shown::seconds, "of a pass through it, one micro-batch"}});
    } else if (recipe_.architecture.moe) {
      line(Term::host, "m n ((GPU^5 + (host + experts + router + local x expert)^5)^(1/5) - GPU)",
           "launches that the GPU waits for",
           {{"host", host.raw(), Shown::seconds, recipe_.stack.source},
            {"experts", recipe_.stack.moe_launch.raw(), Shown::seconds, "beyond a dense layer's forward"},
            {"router",
             (recipe_.experts.router_launches.value_or(recipe_.stack.router_launches) * recipe_.stack.host /
              ops_of_a_layer)
                 .raw(),
             Shown::seconds, "where no graph holds it; latents and the collective add their launches"},
            {"expert", expert.raw(), Shown::seconds, "each local expert's forward"},
            {"head", table_.head.host.raw(), Shown::seconds, "of a pass through it, one micro-batch"}});
    } else {
      line(Term::host, "m n ((GPU^5 + host^5)^(1/5) - GPU)", "launches that the GPU waits for",
           {{"host", host.raw(), Shown::seconds, recipe_.stack.source},
            {"head", table_.head.host.raw(), Shown::seconds, "of a pass through it, one micro-batch"}});
    }
    if (recipe_.conduct.sync_every > 0.0) {
      return;
    }
    line(Term::host_sync, "m n (latency + launches of experts into an empty queue)",
         "the host reads back how many tokens each expert got",
         {{"latency", physics.sync.raw(), Shown::seconds, physics.source}});
  }

  /// A host that reads back, and ranks whose speeds are stated.
  void conduct() {
    const RankConduct& stated = recipe_.conduct;
    if (stated.sync_every > 0.0) {
      const double experts = (t_.time[Term::host_sync] - t_.synced).raw();
      r_.line("host_sync", "(h - exposed) / n", "the host sends the next step when the GPU has run dry",
              t_.time[Term::host_sync].raw(), Shown::seconds,
              {{"h", t_.dispatch.raw(), Shown::seconds,
                stated.dispatch ? "training.host_dispatch" : "launches of a rank's layers: " + recipe_.stack.source},
               {"exposed", t_.time[Term::host].raw(), Shown::seconds, "of h, that the GPU waits for anyway"},
               {"n", stated.sync_every, Shown::count, "training.sync_every"},
               {"experts", experts, Shown::seconds, "counts of experts' tokens that the host reads back"}});
    }
    if (stated.states_ranks()) {
      line(Term::straggler, "max(s k(N), x) of the rest", "Blom 1958, equation 6.10.6",
           {{"s", stated.spread.value_or(0.0), Shown::fraction,
             stated.spread ? "training.rank_spread" : "not stated: stragglers as fitted"},
            {"k(N)", largest_of(t_.sharers), Shown::count, "mean of the largest of N standard normal numbers"},
            {"N", t_.sharers, Shown::count, "GPUs"},
            {"x", stated.slow_rank, Shown::fraction, "training.slow_rank"}});
    }
  }

  /// What a GPU sends over a group: of a layer and in a step.
  [[nodiscard]] ExplainInput of_layer(TrafficAxis axis) const {
    return {"sent, a layer", traffic_[static_cast<std::size_t>(axis)].layer.raw(), Shown::bytes,
            axis == TrafficAxis::dp ? "by a GPU in a step" : "by a GPU, one micro-batch"};
  }
  [[nodiscard]] ExplainInput of_step(TrafficAxis axis) const {
    return {"sent, a step", traffic_[static_cast<std::size_t>(axis)].step.raw(), Shown::bytes, "by a GPU"};
  }

  void context() {
    switch (s_.cp_form) {
      case CpForm::ring:
        line(Term::cp_comm,
             "m n (cp - 1) (max(0, hop - attention / cp) + sig min(hop, attention / cp)), twice the bytes back",
             "Liu et al. 2023, Ring Attention, section 3.2",
             {{"sig", recipe_.physics.overlap_slowdown, Shown::fraction, recipe_.physics.source},
              {"forward", table_.layer.forward.cp.raw(), Shown::seconds, "one layer, one micro-batch"},
              of_layer(TrafficAxis::cp),
              of_step(TrafficAxis::cp)});
        return;
      case CpForm::ulysses:
        line(Term::cp_comm,
             "m n 2 x exchanges of queries, keys, values and outputs; key-value heads copied up to one a rank",
             "Jacobs et al. 2023, DeepSpeed-Ulysses, section 3.2",
             {{"one way", table_.layer.forward.cp.raw(), Shown::seconds, "one layer, one micro-batch"},
              of_layer(TrafficAxis::cp),
              of_step(TrafficAxis::cp)});
        return;
      case CpForm::all_gather:
      case CpForm::unstated:
        line(Term::cp_comm, "m n 3 x exposed gather of keys and values", "Liu et al. 2023, Ring Attention",
             {{"overlap", recipe_.physics.cp_overlap, Shown::fraction, recipe_.physics.source},
              of_layer(TrafficAxis::cp),
              of_step(TrafficAxis::cp)});
    }
  }

  void communication() {
    const TrafficAxis tensor = s_.sequence_parallel ? TrafficAxis::sp : TrafficAxis::tp;
    line(Term::tp_comm, "m n 4 x exposed collectives of T h elements", "Shoeybi et al. 2019, section 3",
         {{"overlap", recipe_.stack.tp_overlap, Shown::fraction, recipe_.stack.source},
          of_layer(tensor),
          of_step(tensor)});
    context();
    experts();
    line(Term::pp_comm, "2 ((p - 1) + m v x) sends", "Narayanan et al. 2021, section 2.2",
         {{"send", t_.send.raw(), Shown::seconds, model_.groups().why()},
          {"x", recipe_.stack.p2p_exposed, Shown::fraction, recipe_.stack.source},
          of_step(TrafficAxis::pp)});
    line(Term::dp_comm, "R - hid + sig hid, and what sharded layers wait for", "Rajbhandari et al. 2020, section 7",
         {{"R", t_.reduction.raw(), Shown::seconds, model_.groups().why()},
          {"hid", t_.hidden.raw(), Shown::seconds, "beside the last micro-batch"},
          {"gather", t_.gather.raw(), Shown::seconds, "one layer"},
          {"scatter", t_.scatter.raw(), Shown::seconds, "one layer"},
          {"overlap", recipe_.stack.dp_overlap, Shown::fraction, recipe_.stack.source},
          of_layer(TrafficAxis::dp),
          of_step(TrafficAxis::dp)});
  }

  void rest() {
    line(Term::bubble,
         table_.passes > Seconds{} ? "flushes x simulated passes of the stages as stated - m slowest"
                                   : "flushes x (sum of stages - slowest) / v",
         "Narayanan et al. 2021, section 2.2",
         {{"p", double(s_.pp), Shown::count, "strategy"},
          {"v", double(s_.vpp), Shown::count, "strategy"},
          {"slowest", t_.slowest.raw(), Shown::seconds, "one micro-batch"},
          {"sum", t_.stages.raw(), Shown::seconds, "one micro-batch"},
          {"flushes", t_.micro_batches / micro_batches_a_flush(s_, t_.micro_batches), Shown::count,
           "batch of a replica / strategy.local_batch"},
          {"bubble / step", t_.time[Term::bubble] / t_.time.total(), Shown::fraction, ""}});
    conduct();
    if (!recipe_.conduct.states_ranks()) {
      const StragglerWords words = straggler_words(recipe_.device, recipe_.physics, t_.sharers);
      line(Term::straggler, words.formula, recipe_.physics.source,
           {words.rest, words.gpus, words.spread, words.slowest});
    }
    const MeasuredLevel& level = recipe_.measured;
    if (t_.time[Term::measured_level].raw() != 0.0) {
      r_.line("level of your runs", "(exp(u) - 1) of the rest", "Rasmussen & Williams 2006, equation A.6",
              t_.time[Term::measured_level].raw(), Shown::seconds,
              {{"runs", level.runs, Shown::count, "--runs, same SKU and software"},
               {"e", level.mean_error, Shown::fraction, "their mean ln(predicted/measured)"},
               {"u", std::log(level.factor), Shown::fraction, "of your cluster, beside the numbers that they move"}});
    }
    data();
    r_.line("step", "sum", "", t_.time.total().raw(), Shown::seconds, {});
  }

  void experts() {
    if (recipe_.stack.ep_overlap <= 0.0 && t_.hidden_exchanges <= Seconds{}) {
      line(Term::ep_comm, "m n 4 x dispatch or combine of T k rows", "Lepikhin et al. 2021, section 3",
           {{"factor", recipe_.stack.expert_traffic, Shown::count, recipe_.stack.source},
            of_layer(TrafficAxis::ep),
            of_step(TrafficAxis::ep)});
      return;
    }
    line(Term::ep_comm, "m n 4 x dispatch or combine of T k rows - what compute hides (1 - sig)",
         "DeepSeek-AI 2024, DeepSeek-V3, section 3.2.1",
         {{"factor", recipe_.stack.expert_traffic, Shown::count, recipe_.stack.source},
          {"within", recipe_.stack.ep_overlap, Shown::fraction, "hidden by the same micro-batch"},
          {"beside", exchanges_beside(recipe_, model_of(s_.schedule).overlaps_passes), Shown::fraction,
           "of a pair of micro-batches' exchanges"},
          {"hidden", t_.hidden_exchanges.raw(), Shown::seconds, "slowest stage, one micro-batch beside another"},
          {"launches", t_.pair_wait.raw(), Shown::seconds,
           "what the pair waits for its host more than its passes alone, in the host's terms"},
          {"sig", recipe_.physics.overlap_slowdown, Shown::fraction, recipe_.physics.source},
          of_layer(TrafficAxis::ep),
          of_step(TrafficAxis::ep)});
  }

  void data() {
    const InputRate& input = t_.fed.input;
    const auto at = [&](InputStage stage) { return input.samples_per_second[static_cast<std::size_t>(stage)]; };
    line(Term::data, "samples / slowest of storage, decode and copy - the step without them", "of one host",
         {{"samples", t_.samples, Shown::count, "a step"},
          {"storage", at(InputStage::storage), Shown::count, "samples/s"},
          {"decode", at(InputStage::decode), Shown::count, "samples/s"},
          {"copy", at(InputStage::copy), Shown::count, "samples/s"},
          {"cores", input.cores_needed, Shown::count, "that would keep up"},
          {"storage needed", input.storage_needed.raw(), Shown::bytes_per_second, "that would keep up"}});
  }

  const StepRecipe& recipe_;
  const StepModel& model_;
  const StepTable& table_;
  const Strategy& s_;
  const StepTime& t_;
  AxisTraffic traffic_;
  ExplainRecorder& r_;
};

}  // namespace

void record_step(const StepModel& model,
                 const StepTable& table,
                 const LayerKey& key,
                 const Strategy& strategy,
                 const StepTime& time,
                 ExplainRecorder& recorder) {
  StepLines{model, table, key, strategy, time, recorder}.write();
}

}  // namespace headroom
