// SPDX-License-Identifier: Apache-2.0
// Answers as classes of Python's typed stubs.
#pragma once

#include <string>

namespace headroom::python {

/// Appends a class for each answer of the tables of members, and one for each object in it.
void write_answer_classes(std::string& out);

}  // namespace headroom::python
