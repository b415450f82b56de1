// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

#include <array>

namespace headroom {
namespace {

using namespace rows;

constexpr std::array goodput_rows{
    text("failures")
        .blank_is("that mtbf_per_gpu, mtbf_job or preemptions_every says how often something fails")
        .says("It is the id of a published rate of failures, or \"published\" for their range."),
    quantity<Seconds>("mtbf_per_gpu")
        .blank_is("the rate that failures names")
        .says("It is the mean time between failures of one GPU.")
        .but("It goes without failures only."),
    quantity<Seconds>("mtbf_job")
        .blank_is("that nothing of the kind fails")
        .says("It is the mean time between failures that stop the job and do not grow with its GPUs."),
    quantity<Seconds>("preemptions_every")
        .blank_is("that nothing is preempted")
        .says("It is the mean time between preemptions of the job on spot capacity."),
    quantity<BytesPerSecond>("checkpoint_store")
        .blank_is("beside checkpoint_writer that it does not bind")
        .says("It is what the file system takes from all writers together, in bytes per second.")
        .but("One of checkpoint_store and checkpoint_writer is required."),
    quantity<BytesPerSecond>("checkpoint_writer")
        .blank_is("that it does not bind")
        .says("It is what one writer writes, in bytes per second."),
    integer("writers", 1, 10'000'000)
        .blank_is("every GPU")
        .says("It is the number of writers that write a share each at once.")
        .but("It goes with checkpoint_writer only."),
    quantity<Bytes>("checkpoint")
        .blank_is("weights and optimizer states of the software; of LoRA and QLoRA the adapters'")
        .says("It is what a save writes, in bytes."),
    boolean("asynchronous")
        .blank_is("false")
        .says("It says that training waits for the copy to the host alone while the write goes on beside it."),
    quantity<BytesPerSecond>("copy")
        .blank_is("the GPU's link to its host, where saves are asynchronous")
        .says("It is the rate of one GPU's copy to its host, in bytes per second."),
    quantity<Seconds>("interval")
        .or_one_of(best_interval_names)
        .blank_is("the interval that loses the least")
        .says("It is the time of training between two saves.")
        .but("It goes without interval_steps only."),
    integer("interval_steps", 1, 1'000'000'000)
        .blank_is("the time that interval says")
        .says("It is the number of steps between two saves.")
        .but("It goes without interval only."),
    quantity_or_zero<Seconds>("detection").needed().says("It is the time until somebody knows of a failure."),
    quantity_or_zero<Seconds>("restart").needed().says("It is the time from there until training goes on."),
    quantity<Seconds>("repair")
        .blank_is("that another host is there at once")
        .says("It is the mean time until a host that was taken away is back."),
    number("swap_share", 0.0, 1.0)
        .blank_is("1")
        .says("It is the share of the failures that take their host away.")
        .but("It goes with repair only."),
    integer("spares", 0, 1'000'000)
        .blank_is("0")
        .says("It is the number of hosts that stand by and are paid for.")
        .but("It goes with repair only."),
    integer("may_miss", 0, not_negative.high)
        .blank_is("0: the run waits")
        .says("It is the number of hosts that the run goes on without.")
        .but("It is less than the number of hosts, and goes with repair only."),
    number("kept", 0.0, 1.0)
        .above(0.0, 1.0)
        .blank_is("the rate of the same plan on the hosts that are left, else their share")
        .says("It is the share of the rate that is kept with one host missing.")
        .but("It goes with may_miss only."),
    quantity<Seconds>("evaluation")
        .blank_is("that the run pauses for nothing")
        .says("It is the time of a pause to evaluate.")
        .but("It goes with evaluation_every."),
    integer("evaluation_every", 1, 1'000'000'000)
        .blank_is("that the run pauses for nothing")
        .says("It is the number of steps between two pauses.")
        .but("It goes with evaluation."),
    of_type("start", KeyType::date).blank_is("that no date is told").says("It is the day on which the run begins."),
    integer("seed", not_negative.low, not_negative.high).blank_is("1").says("It is the seed of the simulation."),
    integer("runs", 1, 1'000'000)
        .blank_is("300, and fewer where they would take long")
        .says("It is the number of runs that are simulated."),
};

constexpr std::array target_rows{
    number("loss", 0.1, 20.0)
        .blank_is("with training.tokens that the loss which they reach is told")
        .says("It is the loss to reach, in nats a token: training.tokens follows and must be blank."),
    text("law").blank_is("besiroglu-2024").says("It is the id of the scaling law of the loss."),
    number("critical_batch", 1.0, 1e12)
        .blank_is("a law of the loss")
        .says("It is the critical batch as measured, in tokens: with it a run takes twice the fewest tokens."),
};

constexpr std::array tables{KeyTable{"goodput", Kinds::train, goodput_rows},
                            KeyTable{"target", Kinds::train, target_rows}};

}  // namespace

std::span<const KeyTable> keys_of_goodput() noexcept {
  return tables;
}

}  // namespace headroom
