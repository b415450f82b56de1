// SPDX-License-Identifier: Apache-2.0
// The Python package's typed stubs (PEP 484, PEP 561), written from the table of keys, the tables of members and the
// table of the functions' own options.
#pragma once

#include <headroom/scenarios/keys/key.hpp>

#include <span>
#include <string>
#include <string_view>

namespace headroom::python {

/// The keyword of a key's option, "seq_len" of "--seq-len"; a name that Python keeps for itself has an underscore
/// behind it, "from_".
[[nodiscard]] std::string keyword_of(std::string_view option);

/// The annotation of a value of this key, as it is written in a document: "int", "Literal['none', 'full']".
[[nodiscard]] std::string type_of(const Key& key);

/// What a key is, in one line: its meaning, what else must hold, its unit and bounds, and what a blank means.
[[nodiscard]] std::string docs_of(const Key& key);

/// `headroom/__init__.pyi`: a TypedDict for each table of `keys`, a class for each answer, and the functions with a
/// keyword for each option and each key of the root.
[[nodiscard]] std::string python_stub(std::span<const Key> keys);

}  // namespace headroom::python
