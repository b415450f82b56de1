// SPDX-License-Identifier: Apache-2.0
// Forms of `headroom kernel`: members that all share, then those of each form.
#include <headroom/answers/schema/answer_schema.hpp>

#include <array>

namespace headroom::answers {
namespace {

using T = MemberType;
using M = AnswerMember;

constexpr std::array kernel{
    M{"schema", T::text, "name and version of this schema"},
    M{"form", T::text, "what was asked: roof, occupancy, ..."},
    M{"gpu", T::text, "id of the SKU"},
    M{"verdict", T::text, "the answer in a sentence"},
    M{"helps", T::objects, "what would help, in the order to try"},
    M{"helps/change", T::text, "the change"},
    M{"helps/time_ratio", T::number, "time after over before"},
    M{"helps/because", T::text, "why"},
    M{"notes", T::texts, "remarks"},
    M{"sources", T::texts, "where laws and numbers come from"},
    M{"dtype", T::text, "number format"},
    // roof
    M{"flop", T::number, "FLOP"},
    M{"moved_bytes", T::number, "bytes moved"},
    M{"intensity_flop_per_byte", T::number, "intensity"},
    M{"ridge_flop_per_byte", T::number, "ridge of the roofline"},
    M{"bound", T::text, "what binds"},
    M{"roof_flop_per_s", T::number, "the roof above the kernel"},
    M{"peak_flop_per_s", T::number, "dense peak"},
    M{"bandwidth_bytes_per_s", T::number, "bandwidth of the memory"},
    M{"roofline_s", T::number, "time of the roofline"},
    M{"achieved_flop_per_s", T::number, "rate that is reached"},
    M{"of_roof", T::number, "rate over the roof"},
    M{"headroom_ratio", T::number, "roof over the rate"},
    M{"time_s", T::number, "time"},
    // occupancy
    M{"threads", T::number, "threads of a block"},
    M{"registers", T::number, "registers of a thread"},
    M{"shared_bytes", T::number, "shared memory of a block"},
    M{"cluster", T::number, "blocks of a cluster"},
    M{"tensor_memory_columns", T::number, "columns of tensor memory of a block"},
    M{"bytes_per_thread", T::number, "bytes that a thread has under way"},
    M{"bulk_bytes_per_block", T::number, "bytes that a block has under way by bulk copies"},
    M{"occupancy", T::number, "warps resident over the most that a unit holds"},
    M{"limited_by", T::text, "what limits the blocks of a unit"},
    M{"blocks_per_unit", T::number, "blocks resident on a unit"},
    M{"warps_per_unit", T::number, "warps resident on a unit"},
    M{"threads_per_unit", T::number, "threads resident on a unit"},
    M{"allotted_registers_per_warp", T::number, "registers that a warp is given"},
    M{"allotted_bytes_per_block", T::number, "shared memory that a block is given, with the reserve"},
    M{"carve_out_bytes", T::number, "shared memory that a unit sets aside"},
    M{"latency_s", T::number, "latency of the memory"},
    M{"in_flight_bytes_per_unit", T::number, "bytes under way of a unit"},
    M{"needed_bytes_per_unit", T::number, "bytes under way that keep the memory busy"},
    M{"needed_threads_per_unit", T::number, "threads of a unit that keep the memory busy"},
    M{"needed_occupancy", T::number, "occupancy that keeps the memory busy"},
    M{"reached_bytes_per_s", T::number, "bandwidth that latency allows"},
    M{"of_bandwidth", T::number, "that over the memory's"},
    M{"clusters_resident", T::number, "clusters that the GPU holds at most"},
    M{"waves", T::number, "blocks of the grid over those resident"},
    M{"last_wave", T::number, "share of the last wave that is filled"},
    M{"tail_efficiency", T::number, "share of the slots that work"},
    M{"spill_level", T::text, "level that spilled registers live in"},
    M{"spilled_bytes_per_unit", T::number, "spilled bytes of the threads resident on a unit"},
    M{"spill_traffic_bytes", T::number, "spilled bytes written and read"},
    M{"spill_s", T::number, "time of that traffic"},
    M{"limits", T::objects, "blocks by each limit"},
    M{"limits/limit", T::text, "limit"},
    M{"limits/blocks", T::number, "blocks that it has room for"},
    M{"block_sizes", T::objects, "a sweep over block sizes"},
    M{"block_sizes/threads", T::number, "threads of a block"},
    M{"block_sizes/blocks", T::number, "blocks resident on a unit"},
    M{"block_sizes/warps", T::number, "warps resident on a unit"},
    M{"block_sizes/occupancy", T::number, "occupancy"},
    M{"block_sizes/reached_bytes_per_s", T::number, "bandwidth that latency allows"},
    M{"block_sizes/limited_by", T::text, "what limits the blocks of a unit"},
    M{"register_counts", T::objects, "a sweep over registers"},
    M{"register_counts/registers", T::number, "registers of a thread"},
    M{"register_counts/blocks", T::number, "blocks resident on a unit"},
    M{"register_counts/warps", T::number, "warps resident on a unit"},
    M{"register_counts/occupancy", T::number, "occupancy"},
    M{"register_counts/reached_bytes_per_s", T::number, "bandwidth that latency allows"},
    M{"register_counts/limited_by", T::text, "what limits the blocks of a unit"},
    M{"bandwidths", T::objects, "bandwidth over occupancy, by loads alone"},
    M{"bandwidths/occupancy", T::number, "occupancy"},
    M{"bandwidths/threads", T::number, "threads of a unit"},
    M{"bandwidths/in_flight_bytes", T::number, "bytes under way"},
    M{"bandwidths/reached_bytes_per_s", T::number, "bandwidth that latency allows"},
    M{"bandwidths/of_bandwidth", T::number, "that over the memory's"},
};

}  // namespace

std::span<const AnswerMember> kernel_members() noexcept {
  return kernel;
}

}  // namespace headroom::answers
