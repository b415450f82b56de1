// SPDX-License-Identifier: Apache-2.0
// A project of somebody else: plans a 70B on 512 GPUs with the installed library.
#include <headroom/headroom.hpp>

#include <cstdio>

int main() {
  try {
    const headroom::Library library;
    const headroom::Question question = library.question(
        {"kind=train", "model=llama3-70b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=512", "training.seq_len=8192",
         "training.global_batch=1024", "training.precision=bf16", "strategy.tp=8", "strategy.pp=4"});
    const headroom::Answer plan = headroom::answer(question);
    const headroom::Number step = plan.number("step_time_s");
    std::printf("%s\nstep %.1f s, nine in ten below %.1f s\n", plan.text("verdict_text").value_or("").c_str(), step.mid,
                step.quantile(0.9));
    return plan.good() && step.low < step.mid && step.mid < step.high ? 0 : 1;
  } catch (const headroom::QuestionError& error) {
    for (const headroom::Fault& fault : error.faults()) {
      std::fprintf(stderr, "%s:%d: %s\n", fault.file.c_str(), fault.line, fault.message.c_str());
    }
    return 2;
  }
}
