#pragma once

namespace troupe::net::detail {

/// What an epoll event is about; the event's word points to it.
struct socket_target {
  enum class kind : unsigned char { listener, greeting, lane };

  explicit socket_target(kind k) : what(k) {}

  kind what;
};

}  // namespace troupe::net::detail
