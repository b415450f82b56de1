// SPDX-License-Identifier: Apache-2.0
// A program with functions of the C library: house.own_functions tells both.
#include <cmath>

int main(int count, char**) {
  return std::exp(static_cast<double>(-count)) + std::tanh(static_cast<double>(count)) > 2.0;
}
