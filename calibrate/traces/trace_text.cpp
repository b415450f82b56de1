// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/traces/trace_text.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>

#include <zlib.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

namespace headroom {

struct TraceText::Packed {
  explicit Packed(const std::string& path) : file{path}, stream{path, TraceText::most} {}
  ~Packed() {
    if (unpacks) {
      inflateEnd(&state);
    }
  }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  Packed(Packed&&) = delete;
  Packed& operator=(Packed&&) = delete;

  [[noreturn]] void fail(std::string message) const {
    Diagnostics diagnostics;
    diagnostics.add(file, {}, std::move(message));
    diagnostics.throw_if_any();
    std::abort();  // not reached: there is one
  }
  [[noreturn]] void damaged(const std::string& how) const {
    fail("the packed file " + how + " after " + std::to_string(state.total_in) +
         " bytes; copy it again from where it was written");
  }

  /// Reads raw bytes; false at the end of the file.
  bool read() {
    stream.read(raw.data(), static_cast<std::streamsize>(raw.size()));
    const auto got = static_cast<std::size_t>(stream.gcount());
    state.next_in = reinterpret_cast<unsigned char*>(raw.data());  // NOLINT: zlib's bytes
    state.avail_in = static_cast<unsigned>(got);
    return got > 0;
  }

  /// Unpacks up to a buffer of text; 0 at the end.
  std::size_t unpack() {
    state.next_out = reinterpret_cast<unsigned char*>(text.data());  // NOLINT: zlib's bytes
    state.avail_out = static_cast<unsigned>(text.size());
    while (state.avail_out == text.size()) {
      if (state.avail_in == 0 && !read()) {
        if (within) {
          damaged("breaks off");
        }
        return 0;
      }
      if (!within) {  // several packed parts may follow each other
        if (inflateReset(&state) != Z_OK) {
          damaged("cannot be read on");
        }
        within = true;
      }
      const int told = inflate(&state, Z_NO_FLUSH);
      if (told == Z_STREAM_END) {
        within = false;
      } else if (told != Z_OK && told != Z_BUF_ERROR) {
        damaged("is damaged");
      }
    }
    return text.size() - state.avail_out;
  }

  std::string file;
  InputFile stream;
  bool begun = false, unpacks = false, within = false;
  z_stream state{};
  std::array<char, 1U << 16U> raw{};
  std::array<char, 1U << 18U> text{};
};

TraceText::TraceText(const std::string& path) : packed_{std::make_unique<Packed>(path)} {}

TraceText::~TraceText() = default;

std::string_view TraceText::next() {
  Packed& p = *packed_;
  std::string_view piece;
  if (!p.begun) {
    p.begun = true;
    constexpr unsigned char magic[2] = {0x1f, 0x8b};  // RFC 1952, section 2.3.1
    const bool any = p.read();
    p.unpacks = any && p.state.avail_in > 1 && p.state.next_in[0] == magic[0] && p.state.next_in[1] == magic[1];
    constexpr int gzip_window = 15 + 16;
    if (p.unpacks && inflateInit2(&p.state, gzip_window) != Z_OK) {
      p.unpacks = false;
      p.fail("there is no memory to unpack the file");
    }
    p.within = p.unpacks;
  } else if (!p.unpacks) {
    p.read();
  }
  if (p.unpacks) {
    piece = {p.text.data(), p.unpack()};
  } else {
    piece = {p.raw.data(), p.state.avail_in};
    p.state.avail_in = 0;
  }
  given_ += piece.size();
  if (given_ > most) {
    p.fail("the trace holds more than " + std::to_string(most >> 30U) + " GiB of text; profile fewer steps");
  }
  return piece;
}

}  // namespace headroom
