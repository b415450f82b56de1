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
};

}  // namespace

std::span<const AnswerMember> kernel_members() noexcept {
  return kernel;
}

}  // namespace headroom::answers
