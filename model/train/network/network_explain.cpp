// SPDX-License-Identifier: Apache-2.0
// The waterfall of a step of an op list in words: every term's formula, inputs and where they come from.
#include <headroom/core/real.hpp>
#include <headroom/model/train/network/network_step.hpp>
#include <headroom/model/train/step/step_parts.hpp>

namespace headroom {
namespace {

class NetworkLines {
 public:
  NetworkLines(const NetworkStep& step, const NetworkStepTime& time, ExplainRecorder& recorder)
      : step_{step}, recipe_{step.recipe()}, t_{time}, r_{recorder} {}

  void write() {
    products();
    passes();
    traffic();
    rest();
  }

 private:
  void line(Term term,
            std::string_view formula,
            std::string_view reference,
            std::initializer_list<ExplainInput> inputs) {
    if (t_.time[term].raw() != 0.0) {
      r_.line(term_names[static_cast<std::size_t>(term)], formula, reference, t_.time[term].raw(), Shown::seconds,
              inputs);
    }
  }

  void products() {
    line(Term::gemm,
         "m (forward + input and weight gradients); convolutions as implicit products (Chetlur et al. 2014)",
         step_.why(),
         {{"m", t_.micro_batches, Shown::count, "micro-batches: global_batch / (dp micro_batch)"},
          {"forward", t_.forward.gemm.raw(), Shown::seconds, "the network, one micro-batch"},
          {"gradients", t_.backward.gemm.raw(), Shown::seconds, "the network, one micro-batch"},
          {"clock, 16 bit", recipe_.level.wide, Shown::count, recipe_.level.source},
          {"clock, 8 bit", recipe_.level.narrow, Shown::count, recipe_.level.source},
          {"stack", recipe_.stack.gemm, Shown::count, recipe_.stack.source}});
    line(Term::attention, "m (forward + backward of the measured kernel) / e", step_.attention_why(),
         {{"e", recipe_.stack.attention * recipe_.level.attention / recipe_.level.wide, Shown::fraction,
           recipe_.stack.source},
          {"forward", t_.forward.attention.raw(), Shown::seconds, "the network, one micro-batch"},
          {"backward", t_.backward.attention.raw(), Shown::seconds, "the network, one micro-batch"}});
    line(Term::recompute, "m x forward of the recomputed blocks", "Chen et al. 2016, section 4",
         {{"one micro-batch", t_.recompute.raw(), Shown::seconds, ""}});
  }

  void passes() {
    line(Term::elementwise, "m (x bytes read and written / B and twice that backward)",
         "element-wise ops, norms, pools, gathers, embeddings, reductions; accumulated gradients; 8-bit casts",
         {{"x", recipe_.stack.elementwise, Shown::count, "in parts that attend, else 1; " + recipe_.stack.source},
          {"B", step_.bandwidth().raw(), Shown::bytes_per_second, "share of the datasheet's bandwidth"},
          {"forward", t_.forward.elementwise.raw(), Shown::seconds, "the network, one micro-batch"},
          {"backward", t_.backward.elementwise.raw(), Shown::seconds, "the network, one micro-batch"}});
    line(Term::host, "m ((GPU^5 + H^5)^(1/5) - GPU) of each pass, 2 H backward, 1.1 H of what runs again",
         "launches that the GPU waits for",
         {{"H", t_.launches.raw(), Shown::seconds, "a forward pass: ops x host / 11"},
          {"ops", t_.ops, Shown::count, "of all blocks"},
          {"host", recipe_.stack.host.raw(), Shown::seconds, recipe_.stack.source}});
    line(Term::optimizer, "40 bytes a local parameter / B + a fixed part", recipe_.physics.source,
         {{"parameters", t_.updated, Shown::count, "of this rank's update"},
          {"fixed", recipe_.stack.optimizer_step.raw(), Shown::seconds, "once a step"}});
  }

  void traffic() {
    line(Term::dp_comm,
         recipe_.training.zero < 2 ? "R - hid + sig hid, hid = min(o R, 0.8 of the last micro-batch)"
                                   : "m sum over blocks of ov(f, G) - f + ov(b, G + S) - b, and R - hid + sig hid",
         "Rajbhandari et al. 2020, section 7",
         {{"G", t_.gather.raw(), Shown::seconds, "weights of all blocks, once"},
          {"S", t_.scatter.raw(), Shown::seconds, "gradients of all blocks, once"},
          {"R", t_.reduction.raw(), Shown::seconds, step_.groups().why()},
          {"hid", t_.hidden.raw(), Shown::seconds, "beside the last micro-batch"},
          {"o", recipe_.stack.dp_overlap, Shown::fraction, recipe_.stack.source},
          {"sig", recipe_.physics.overlap_slowdown, Shown::fraction, recipe_.physics.source},
          {"all traffic", t_.traffic.raw(), Shown::seconds, "of a step, before any overlap"},
          {"hidden", t_.hidden_share(), Shown::fraction, "of it, net of what it takes from compute"}});
  }

  void rest() {
    const StragglerWords words = straggler_words(recipe_.device, recipe_.physics, t_.sharers);
    line(Term::straggler, words.formula, recipe_.physics.source, {words.rest, words.gpus, words.spread, words.slowest});
    const auto at = [&](InputStage stage) { return t_.fed.input.samples_per_second[static_cast<std::size_t>(stage)]; };
    line(Term::data, "samples / slowest of storage, decode and copy - the step without them", "of one host",
         {{"samples", t_.samples, Shown::count, "a step"},
          {"storage", at(InputStage::storage), Shown::count, "samples/s"},
          {"decode", at(InputStage::decode), Shown::count, "samples/s"},
          {"copy", at(InputStage::copy), Shown::count, "samples/s"}});
    r_.line("step", "sum", "", t_.step().raw(), Shown::seconds, {});
  }

  const NetworkStep& step_;
  const NetworkRecipe& recipe_;
  const NetworkStepTime& t_;
  ExplainRecorder& r_;
};

}  // namespace

void record_network_step(const NetworkStep& step, const NetworkStepTime& time, ExplainRecorder& recorder) {
  NetworkLines{step, time, recorder}.write();
}

}  // namespace headroom
