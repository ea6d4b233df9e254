// SPDX-License-Identifier: Apache-2.0
#include "fuse/attach.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/log.h"
#include "fuse/attach_message.h"

namespace paddle::fuse {
namespace {

constexpr int kBacklog = 8;
// A node sends its request right after it has connected.
constexpr std::chrono::milliseconds kRequestLimit{2'000};

Error failed(const std::string& doing, int number) {
  return {Code::kUnavailable, doing + ": " + std::strerror(number)};
}

// An eventfd that becomes readable once and stays so.
class StopEvent {
 public:
  StopEvent() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  void raise() const { ::eventfd_write(fd_.get(), 1); }
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

// Waits until `fd` is ready for `events`; kDeadline or, when `stop` is raised, kCancelled.
Result<> wait_for(int fd, short events, const StopEvent& stop, BootTime deadline) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - system_clock().boot()).count();
    if (left <= 0) return Error{Code::kDeadline, "no reply in time"};
    std::array<pollfd, 2> wait{pollfd{fd, events, 0}, pollfd{stop.fd(), POLLIN, 0}};
    const int ready =
        ::poll(wait.data(), wait.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return failed("wait for the attach socket", errno);
    if (ready <= 0) continue;
    if (wait[1].revents != 0) return Error{Code::kCancelled, "stopped"};
    return Done{};
  }
}

struct Directory {
  UniqueFd fd{};
  // A sockaddr has room for 107 characters; a directory may have a longer path.
  sockaddr_un address(const std::string& name) const {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    const std::string path = "/proc/self/fd/" + std::to_string(fd.get()) + "/" + name;
    path.copy(to.sun_path, sizeof to.sun_path - 1);
    return to;
  }
};

Result<Directory> open_directory(const std::string& path) {
  Directory directory{UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
  if (!directory.fd) return failed("open the session directory '" + path + "'", errno);
  return directory;
}

Result<UniqueFd> new_socket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failed("create a unix socket", errno);
  return fd;
}

// Room for the descriptors of one packet.
union Control {
  cmsghdr align;
  char bytes[CMSG_SPACE(kAttachChannels * sizeof(int))];
};

Result<> send_packet(int socket, std::string text, const std::vector<int>& channels = {}) {
  iovec piece{text.data(), text.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!channels.empty()) {
    const std::size_t size = channels.size() * sizeof(int);
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(head), channels.data(), size);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return failed("send on the attach socket", errno);
  return Done{};
}

struct Packet {
  std::string text{};  // empty: the peer has closed the connection
  std::vector<UniqueFd> channels{};
};

Result<Packet> receive_packet(int socket) {
  std::array<char, kAttachPacket> room;
  iovec piece{room.data(), room.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return failed("receive on the attach socket", errno);
  Packet packet{.text = std::string(room.data(), static_cast<std::size_t>(got))};
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
      packet.channels.emplace_back(fd);
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return Error{Code::kInvalid, "the message is too long for the attach socket"};
  }
  return packet;
}

bool is_allowed_peer(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

}  // namespace

Result<Attached> attach(const std::string& directory, const std::string& name,
                        const std::vector<int>& channels, const std::optional<Negotiated>& resumed,
                        std::chrono::milliseconds limit, std::stop_token stop) {
  if (!is_attach_name(name))
    return Error{Code::kInvalid, "the name of a mount must be 1 to 255 printable characters"};
  if (channels.empty() || channels.size() > kAttachChannels) {
    return Error{Code::kInvalid, "attach needs 1 to " + std::to_string(kAttachChannels) +
                                     " channels, not " + std::to_string(channels.size())};
  }
  const BootTime deadline = system_clock().boot() + limit;
  const StopEvent stopped;
  const std::stop_callback raise(std::move(stop), [&] { stopped.raise(); });

  TRY(const Directory place, open_directory(directory));
  TRY(UniqueFd link, new_socket());
  const sockaddr_un to = place.address(kAttachSocketName);
  if (::connect(link.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    return failed("no runtime listens in '" + directory + "'", errno);
  }
  CHECK_DONE(send_packet(link.get(), encode_attach_request({name, resumed}), channels));
  CHECK_DONE(wait_for(link.get(), POLLIN, stopped, deadline));
  TRY(const Packet packet, receive_packet(link.get()));
  if (packet.text.empty()) {
    return Error{Code::kUnavailable, "the runtime closed the connection during attach; retry"};
  }
  TRY(const Negotiated agreed, decode_attach_answer(packet.text));
  return Attached{agreed, std::move(link)};
}

class AttachServer::Impl {
 public:
  Impl(Directory directory, UniqueFd socket, ino_t inode, Handler handler)
      : directory_(std::move(directory)),
        socket_(std::move(socket)),
        inode_(inode),
        handler_(std::move(handler)),
        thread_([this] { run(); }) {}

  ~Impl() {
    stop_.request_stop();
    stopped_.raise();
    thread_.join();
    struct stat there {};
    if (::fstatat(directory_.fd.get(), kAttachSocketName, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        there.st_ino == inode_) {
      ::unlinkat(directory_.fd.get(), kAttachSocketName, 0);
    }
  }

 private:
  void run() {
    while (!stop_.stop_requested()) {
      const BootTime soon = system_clock().boot() + std::chrono::hours{1};
      const auto ready = wait_for(socket_.get(), POLLIN, stopped_, soon);
      if (ready.is(Code::kCancelled)) return;
      const UniqueFd peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!peer) {
        // Out of descriptors or memory: pause instead of spinning.
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
          log::warn("cannot accept on the attach socket", {{"reason", std::strerror(errno)}});
          system_clock().sleep(std::chrono::milliseconds{100}, stop_.get_token());
        }
        continue;
      }
      const auto answer = serve(peer.get());
      if (!answer) log::warn("attach failed", {{"reason", answer.error().message}});
      if (auto sent = send_packet(peer.get(), encode_attach_answer(answer)); !sent) {
        log::info("the caller no longer waits for the reply to attach",
                  {{"reason", sent.error().message}});
      }
    }
  }

  Result<Negotiated> serve(int peer) {
    if (!is_allowed_peer(peer))
      return Error{Code::kForbidden, "another user's process may not attach"};
    CHECK_DONE(wait_for(peer, POLLIN, stopped_, system_clock().boot() + kRequestLimit));
    TRY(Packet packet, receive_packet(peer));
    TRY(AttachRequest request, decode_attach_request(packet.text));
    if (packet.channels.empty()) return Error{Code::kInvalid, "attach came without a channel"};
    UniqueFd link(::fcntl(peer, F_DUPFD_CLOEXEC, 3));
    if (!link) return failed("keep the attach connection", errno);
    return handler_({.name = std::move(request.name),
                     .channels = std::move(packet.channels),
                     .resumed = request.resumed,
                     .link = std::move(link),
                     .stop = stop_.get_token()});
  }

  // Constant after construction.
  const Directory directory_;
  const UniqueFd socket_;
  const ino_t inode_;
  const Handler handler_;
  // Self-synchronised.
  std::stop_source stop_;
  const StopEvent stopped_;

  std::thread thread_;  // last: it uses everything above
};

AttachServer::AttachServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AttachServer::~AttachServer() = default;

Result<std::unique_ptr<AttachServer>> AttachServer::start(const std::string& directory,
                                                          Handler handler) {
  TRY(Directory place, open_directory(directory));
  TRY(UniqueFd socket, new_socket());
  // Bind under another name, then rename: a client never finds a socket that does not listen, and a
  // predecessor's socket is replaced atomically.
  const std::string early = std::string(kAttachSocketName) + "." + std::to_string(::getpid());
  ::unlinkat(place.fd.get(), early.c_str(), 0);
  const sockaddr_un at = place.address(early);
  ::fchmod(socket.get(), 0600);
  struct stat made {};
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
      ::fchmodat(place.fd.get(), early.c_str(), 0600, 0) != 0 ||
      ::listen(socket.get(), kBacklog) != 0 ||
      ::fstatat(place.fd.get(), early.c_str(), &made, AT_SYMLINK_NOFOLLOW) != 0 ||
      ::renameat(place.fd.get(), early.c_str(), place.fd.get(), kAttachSocketName) != 0) {
    const int number = errno;
    ::unlinkat(place.fd.get(), early.c_str(), 0);
    return failed("listen in '" + directory + "'", number);
  }
  return std::unique_ptr<AttachServer>(new AttachServer(std::make_unique<Impl>(
      std::move(place), std::move(socket), made.st_ino, std::move(handler))));
}

}  // namespace paddle::fuse
