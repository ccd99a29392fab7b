# What is tried on soft-RoCE. Prints "ok NAME" or "FAILED NAME" and its output for each case, and
# leaves with the number of failures.
. /test/network.sh
. /test/jobs.sh
make_cable
failed=0
passed=0

check() {
  name="$1"
  shift
  began=$(cut -d' ' -f1 /proc/uptime)
  if "$@" > /tmp/output 2>&1; then
    passed=$((passed + 1))
    echo "ok $name ($began to $(cut -d' ' -f1 /proc/uptime) s)"
  else
    failed=$((failed + 1))
    echo "FAILED $name (status $?)"
    cat /tmp/output
  fi
}

# lanes NAMES...: cases of the suite of lanes between the two ends of the cable.
lanes() {
  before=$(packets)
  timeout 600 /test/conformance_net_verbs_lane --color_output=no --run_test="$1" -- small rxe0 rxe1
  status=$?
  [ "$(packets)" -gt $((before + 10)) ] || { echo "nothing crossed the cable"; status=1; }
  return $status
}

# Cases that move much and do not measure silence.
moving="one_host/frames_of_both*,both_directions*,a_large*,many_lanes*,every_write*,a_lane_takes*"

check network timeout 120 /test/conformance_net_verbs_network --color_output=no
check lanes lanes "one_host"
if [ -x /test/rank_probe ]; then
  for each in collective killed_peer cut_cable cut_cable_for_good; do
    check $each $each
  done
fi
shape delay 25ms
check lanes_25ms lanes "$moving"
shape delay 100ms
check lanes_100ms lanes "$moving"
shape rate 20mbit
check lanes_20mbit lanes "$moving"
shape loss 0.5%
check lanes_loss lanes "$moving"

echo "$passed passed, $failed failed"
exit $failed
