# Jobs of two processes whose lanes are queue pairs over the cable: rank R at the devices
# $devices_R. What rank R prints is in /tmp/rank.R, its process in $process_R.

port=29500
devices_0=rxe0
devices_1=rxe1

# start_job WORDS...: both ranks do what the words say.
start_job() {
  port=$((port + 1))
  for rank in 0 1; do
    eval devices="\$devices_$rank"
    RANK=$rank WORLD_SIZE=2 LOCAL_RANK=$rank MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
      TROUPE_BOOTSTRAP_SECRET=guest TROUPE_TRANSPORT_LANES=verbs TROUPE_VERBS_DEVICES=$devices \
      /test/rank_probe "$@" > /tmp/rank.$rank 2>&1 &
    eval process_$rank=$!
  done
}

# wait_for_line PATTERN: until rank 0 printed it; a minute at most.
wait_for_line() {
  for _ in $(seq 600); do
    grep -q "$1" /tmp/rank.0 && return 0
    sleep 0.1
  done
  cat /tmp/rank.0
  return 1
}

# ends_with PATTERN RANKS...: each of these ranks ends, and says so.
ends_with() {
  pattern="$1"
  shift
  status=0
  for rank in "$@"; do
    eval wait "\$process_$rank"
    grep "^ended" /tmp/rank.$rank
    grep -q "^ended $pattern" /tmp/rank.$rank || { status=1; cat /tmp/rank.$rank; }
  done
  return $status
}

# Every element of every all-reduce is checked, small ones and such as are cut into segments.
collective() {
  before=$(packets)
  start_job checked 10 1
  ends_with ok 0 1 || return 1
  start_job checked 100000 1
  ends_with ok 0 1 || return 1
  [ "$(packets)" -gt $((before + 1000)) ] || { echo "nothing crossed the cable"; return 1; }
}

# The socket beside the queue pairs tells long before their retries run out.
killed_peer() {
  start_job loop 100000 60
  wait_for_line "^running" || return 1
  kill -9 "$process_1"
  ends_with peer_lost 0
}

# No packet passes for less than the retries of a queue pair take.
cut_cable() {
  start_job checked 20000 2
  wait_for_line "^done [1-9]" || return 1
  shape loss 100%
  sleep 0.5
  shape
  ends_with ok 0 1
}

# For longer: there is no other device, so each rank loses its peer, by name.
cut_cable_for_good() {
  start_job loop 20000 60
  wait_for_line "^running" || return 1
  shape loss 100%
  ends_with "peer_lost .*rank 1" 0 && ends_with "peer_lost .*rank 0" 1
  status=$?
  shape
  return $status
}
