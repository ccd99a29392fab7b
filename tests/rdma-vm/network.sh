# Two soft-RoCE devices, rxe0 and rxe1, on the two ends of a virtual cable within one network
# namespace. Policy routing sends what leaves by one end over the cable: without it the kernel knows
# both addresses as its own, and the driver copies within itself, past every queueing discipline.
# busybox would take its own ip and tc before the path: the real ones are called by name.

make_cable() {
  /bin/ip link add v0 type veth peer name v1
  for each in all v0 v1; do
    echo 1 > /proc/sys/net/ipv4/conf/$each/accept_local
    echo 0 > /proc/sys/net/ipv4/conf/$each/rp_filter
    echo 1 > /proc/sys/net/ipv4/conf/$each/arp_ignore
  done
  /bin/ip link set v0 mtu 4200 up
  /bin/ip link set v1 mtu 4200 up
  /bin/ip addr add 10.2.0.1/24 dev v0
  /bin/ip addr add 10.2.0.2/24 dev v1
  /bin/ip rule add pref 10 oif v0 lookup 100
  /bin/ip rule add pref 11 oif v1 lookup 101
  /bin/ip rule add pref 100 lookup local
  /bin/ip rule del pref 0
  route_cable
  /bin/rdma link add rxe0 type rxe netdev v0
  /bin/rdma link add rxe1 type rxe netdev v1
}

# Routes and neighbours go when an end goes down.
route_cable() {
  /bin/ip route replace 10.2.0.2 dev v0 src 10.2.0.1 table 100
  /bin/ip route replace 10.2.0.1 dev v1 src 10.2.0.2 table 101
  /bin/ip neigh replace 10.2.0.2 lladdr "$(cat /sys/class/net/v1/address)" dev v0 nud permanent
  /bin/ip neigh replace 10.2.0.1 lladdr "$(cat /sys/class/net/v0/address)" dev v1 nud permanent
}

# shape [NETEM ARGUMENTS...]: what the cable does to packets from v0 to v1; without any, nothing.
shape() {
  /bin/tc qdisc del dev v0 root 2>/dev/null
  [ $# = 0 ] || /bin/tc qdisc add dev v0 root netem limit 100000 "$@"
}

packets() {
  cat /sys/class/net/v0/statistics/tx_packets
}
