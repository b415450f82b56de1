// SPDX-License-Identifier: Apache-2.0
// Tenants of one card as text and, with schema "headroom.sharing/1", as a document.
#pragma once

#include <headroom/answers/document/value.hpp>

#include <string>

namespace headroom {
struct SharingPlan;

/// `explained`: the tenants under every way that is possible, not under the one that is taken alone.
[[nodiscard]] std::string sharing_text(const SharingPlan& plan, bool explained);
[[nodiscard]] Value sharing_document(const SharingPlan& plan);

}  // namespace headroom
