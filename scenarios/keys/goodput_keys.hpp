// SPDX-License-Identifier: Apache-2.0
// Keys of [goodput] and [target].
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

namespace headroom::keys {

inline constexpr std::array goodput_rows{
    text("failures")
        .or_nothing("that mtbf_per_gpu, mtbf_job or preemptions_every says how often something fails")
        .says("It is the id of a published rate of failures: `llama3-54-days`, `meta-rsc-1`, `meta-rsc-2` and "
              "`opt-175b` count every interruption of a job, `bloom-176b` and `skt-b200` those of GPUs alone. "
              "`published` is lowest, median and highest of the first kind.")
        .but("It is required where none of the next three is stated."),
    quantity<Seconds>("mtbf_per_gpu")
        .such_as("50000 h")
        .blank_from(KeySource::publication, "the rate that failures names")
        .named_by("failures")
        .says("It is the mean time between failures of one GPU.")
        .but("It goes without failures only."),
    quantity<Seconds>("mtbf_job")
        .such_as("8 h")
        .or_nothing("that nothing of the kind fails")
        .says("It is the mean time between failures that stop the job and do not grow with its GPUs."),
    quantity<Seconds>("preemptions_every")
        .such_as("12 h")
        .or_nothing("that nothing is preempted")
        .says("It is the mean time between preemptions of the job on spot capacity."),
    quantity<BytesPerSecond>("checkpoint_store")
        .or_nothing("beside checkpoint_writer that it does not bind")
        .says("It is what the file system takes from all writers together, in bytes per second.")
        .but("One of checkpoint_store and checkpoint_writer is required."),
    quantity<BytesPerSecond>("checkpoint_writer")
        .or_nothing("that it does not bind")
        .says("It is what one writer writes, in bytes per second."),
    integer("writers", 1, 10'000'000)
        .blank_is("every GPU")
        .says("It is the number of writers that write a share each at once; 1 is one file.")
        .but("It goes with checkpoint_writer only."),
    quantity<Bytes>("checkpoint")
        .blank_is("weights and optimizer states of the software; of LoRA and QLoRA the adapters'")
        .says("It is what a save writes, in bytes."),
    boolean("asynchronous")
        .usually(false)
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
        .or_nothing("the time that interval says")
        .says("It is the number of steps between two saves.")
        .but("It goes without interval only."),
    quantity_or_zero<Seconds>("detection")
        .needed()
        .says("It is the time until somebody knows of a failure; \"0 s\" where restart holds it."),
    quantity_or_zero<Seconds>("restart").needed().says("It is the time from there until training goes on."),
    quantity<Seconds>("repair")
        .or_nothing("that another host is there at once")
        .says("It is the mean time until a host that was taken away is back."),
    number("swap_share", 0.0, 1.0)
        .usually(1)
        .says("It is the share of the failures that take their host away.")
        .but("It goes with repair only."),
    integer("spares", 0, 1'000'000)
        .usually(0)
        .says("It is the number of hosts that stand by and are paid for.")
        .but("It goes with repair only."),
    integer("may_miss", 0, not_negative.high)
        .usually(0)
        .says("It is the number of hosts that the run goes on without; at 0 the run waits.")
        .but("It is less than the number of hosts, and goes with repair only."),
    number("kept", 0.0, 1.0)
        .above(0.0, 1.0)
        .blank_is("the rate of the same plan on the hosts that are left, else their share")
        .says("It is the share of the rate that is kept with one host missing.")
        .but("It goes with may_miss only."),
    quantity<Seconds>("evaluation")
        .or_nothing("that the run pauses for nothing")
        .says("It is the time of a pause to evaluate.")
        .but("It goes with evaluation_every."),
    integer("evaluation_every", 1, 1'000'000'000)
        .or_nothing("that the run pauses for nothing")
        .says("It is the number of steps between two pauses.")
        .but("It goes with evaluation."),
    number("bad_node_per_day", 0.0, 1.0)
        .or_nothing("that no bad node is looked for")
        .says("It is the chance that a node turns bad in a day, so that the run diverges or stops with it: the chance "
              "over the job's nodes and the runs on halves that find it are told.")
        .but("It tells of what failures do not: it changes neither goodput nor cost."),
    of_type("start", KeyType::date)
        .or_nothing("that no date is told")
        .says("It is the day on which the run begins: \"2026-12-01\"; also that of a date as objective.deadline."),
    integer("seed", not_negative.low, not_negative.high).usually(1).says("It is the seed of the simulation."),
    integer("runs", 1, 1'000'000)
        .blank_is("300, and fewer where they would take long")
        .says("It is the number of runs that are simulated."),
};

inline constexpr std::array target_rows{
    number("loss", 0.1, 20.0)
        .or_nothing("with training.tokens that the loss which they reach is told")
        .says("It is the loss to reach, in nats a token: training.tokens follows and must be blank."),
    text("law")
        .usually_named("besiroglu-2024", KeySource::publication)
        .says("It is the id of the scaling law of the loss: `besiroglu-2024` or `hoffmann-2022`."),
    number("critical_batch", 1.0, 1e12)
        .blank_from(KeySource::publication, "a law of the loss")
        .says("It is the critical batch as measured, in tokens: with it a run takes twice the fewest tokens."),
};

inline constexpr KeyTable goodput{"goodput", Kinds::train, goodput_rows};
inline constexpr KeyTable target{"target", Kinds::train, target_rows};

}  // namespace headroom::keys
