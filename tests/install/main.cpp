// SPDX-License-Identifier: Apache-2.0
// A project of somebody else: finds the package, looks a SKU up, prices nothing it would have to guess.
#include <headroom/core/quantity_text.hpp>
#include <headroom/hardware/catalog/catalog.hpp>

#include <cstdio>

int main() {
  const headroom::Catalog catalog = headroom::Catalog::standard();
  const headroom::Device& device = catalog.device("h100-sxm-80gb");
  std::printf("%s %s\n", device.id.c_str(), headroom::format(device.bandwidth()).c_str());
  return device.bandwidth().raw() > 3e12 ? 0 : 1;
}
