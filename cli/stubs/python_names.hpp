// SPDX-License-Identifier: Apache-2.0
// Names of Python that are made of names of keys and members.
#pragma once

#include <string>
#include <string_view>

namespace headroom::python {

/// Whether Python takes it for the name of an attribute: an identifier that is none of its own words.
[[nodiscard]] bool is_attribute(std::string_view name) noexcept;

/// "FleetPrefill" of "fleet.prefill" and of "fleet/prefill".
[[nodiscard]] std::string class_name(std::string_view path);

/// A docstring with its quotes.
[[nodiscard]] std::string doc_string(std::string_view text);

}  // namespace headroom::python
