// SPDX-License-Identifier: Apache-2.0
// Classic machine learning on GPUs and on cores as text and, with schema "headroom.classic/1", as a document.
#pragma once

#include <headroom/answers/document/value.hpp>

#include <string>

namespace headroom {
namespace classic {
struct Plan;
}

/// `explained`: the parts of both columns' times and the sources, not those of the faster alone.
[[nodiscard]] std::string classic_text(const classic::Plan& plan, bool explained);
[[nodiscard]] Value classic_document(const classic::Plan& plan);

}  // namespace headroom
