// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/web/frames.hpp>

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace headroom::cli {
namespace {

constexpr std::uint64_t most_frame = std::uint64_t{1} << 30U;  // bytes

struct RequestHead {
  std::uint32_t verb = 0;
  std::uint64_t bytes = 0;
};

struct ReplyHead {
  std::int32_t status = 0;
  std::uint8_t good = 0, whole = 0;
  std::uint16_t content = 0;  ///< place in content_names
  std::uint64_t bytes = 0;
};

/// What a reply can be, so that its type is a text of this process.
constexpr std::array<std::string_view, 4> content_names{"application/json", "text/plain; charset=utf-8",
                                                        "text/html; charset=utf-8", "text/csv; charset=utf-8"};

bool send_all(int socket, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = send(socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return false;
    }
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t got = recv(socket, data, size, 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    data += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

template <class Head>
bool send_framed(int socket, const Head& head, std::string_view text) {
  std::array<char, sizeof(Head)> bytes{};
  std::memcpy(bytes.data(), &head, sizeof(Head));
  return send_all(socket, bytes.data(), bytes.size()) && send_all(socket, text.data(), text.size());
}

template <class Head>
std::optional<std::string> receive_framed(int socket, Head& head) {
  std::array<char, sizeof(Head)> bytes{};
  if (!receive_all(socket, bytes.data(), bytes.size())) {
    return std::nullopt;
  }
  std::memcpy(&head, bytes.data(), sizeof(Head));
  if (head.bytes > most_frame) {
    return std::nullopt;
  }
  std::string text(static_cast<std::size_t>(head.bytes), '\0');
  return receive_all(socket, text.data(), text.size()) ? std::optional{std::move(text)} : std::nullopt;
}

/// A message of one byte, which a socket travels with.
struct Parcel {
  char byte = 's';
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};

  Parcel() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
};

}  // namespace

bool send_request(int socket, WireVerb verb, std::string_view request) {
  RequestHead head;
  head.verb = static_cast<std::uint32_t>(verb);
  head.bytes = request.size();
  return send_framed(socket, head, request);
}

std::optional<FramedRequest> receive_request(int socket) {
  RequestHead head;
  std::optional<std::string> text = receive_framed(socket, head);
  return text ? std::optional{FramedRequest{static_cast<WireVerb>(head.verb), *std::move(text)}} : std::nullopt;
}

bool send_reply(int socket, const WireReply& reply) {
  ReplyHead head;
  head.status = reply.status;
  head.good = reply.good ? 1 : 0;
  head.whole = reply.whole ? 1 : 0;
  const auto* const found = std::find(content_names.begin(), content_names.end(), reply.content_type);
  head.content = static_cast<std::uint16_t>(found == content_names.end() ? 1 : found - content_names.begin());
  head.bytes = reply.body.size();
  return send_framed(socket, head, reply.body);
}

std::optional<WireReply> receive_reply(int socket) {
  ReplyHead head;
  std::optional<std::string> text = receive_framed(socket, head);
  if (!text || head.content >= content_names.size()) {
    return std::nullopt;
  }
  return WireReply{head.status, content_names[head.content], *std::move(text), head.good != 0, head.whole != 0};
}

bool send_socket(int through, int socket) {
  Parcel parcel;
  cmsghdr* const head = CMSG_FIRSTHDR(&parcel.message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &socket, sizeof(int));
  ssize_t sent = 0;
  do {
    sent = sendmsg(through, &parcel.message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == 1;
}

int receive_socket(int through) {
  Parcel parcel;
  ssize_t got = 0;
  do {
    got = recvmsg(through, &parcel.message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const cmsghdr* const head = got == 1 ? CMSG_FIRSTHDR(&parcel.message) : nullptr;
  if (head == nullptr || head->cmsg_type != SCM_RIGHTS) {
    return -1;
  }
  int socket = -1;
  std::memcpy(&socket, CMSG_DATA(head), sizeof(int));
  return socket;
}

}  // namespace headroom::cli
