// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"

namespace paddle::controllers {

Signals::Signals() : quit_(::eventfd(0, EFD_CLOEXEC)) {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGTERM);
  sigaddset(&ours, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ours, nullptr);
  thread_ = std::thread([this, arrivals = UniqueFd(::signalfd(-1, &ours, SFD_CLOEXEC))] {
    for (;;) {
      pollfd watched[] = {{arrivals.get(), POLLIN, 0}, {quit_.get(), POLLIN, 0}};
      if (::poll(watched, 2, -1) < 0) continue;
      if (watched[1].revents != 0) return;
      signalfd_siginfo arrival{};
      if (::read(arrivals.get(), &arrival, sizeof arrival) != sizeof arrival) continue;
      if (!source_.request_stop()) ::_exit(128 + static_cast<int>(arrival.ssi_signo));
      log::info("shutting down; a second signal ends the process at once",
                {{"signal", arrival.ssi_signo == SIGINT ? "SIGINT" : "SIGTERM"}});
    }
  });
}

Signals::~Signals() {
  ::eventfd_write(quit_.get(), 1);
  thread_.join();
}

}  // namespace paddle::controllers
