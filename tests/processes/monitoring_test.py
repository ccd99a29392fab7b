"""Rules and dashboard of config/monitoring: checked by promtool, and by a real Prometheus that
scrapes a job with a fault in it. Exit code 77 (skipped) where the package prometheus is missing.

Usage: monitoring_test.py SOURCE_ROOT FAULT_PROBE METRICS_PAGE
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

ROOT, PROBE, METRICS_PAGE = sys.argv[1:4]
RULES = os.path.join(ROOT, "config", "monitoring")
SIZE = 3


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def known_metrics():
    """Names of series by the generated page, with the suffixes of histograms and summaries."""
    page = subprocess.run([METRICS_PAGE], capture_output=True, text=True, check=True).stdout
    names = set()
    for name, kind in re.findall(r"^\| `(\w+)` \| (\w+) \|", page, re.M):
        names.add(name)
        if kind in ("histogram", "summary"):
            names |= {name + "_sum", name + "_count", name + "_bucket"}
    return names


def used_metrics(expression):
    return set(re.findall(r"\b(?:troupe_|process_)\w+", expression))


class Rules(unittest.TestCase):
    def promtool(self, *words):
        done = subprocess.run(["promtool", *words], cwd=RULES, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_promtool_takes_them_and_their_cases_hold(self):
        self.promtool("check", "rules", "recording.rules.yml", "alerts.rules.yml")
        self.promtool("test", "rules", "alerts.rules_test.yml")

    def test_every_alert_has_a_case(self):
        with open(os.path.join(RULES, "alerts.rules.yml")) as file:
            alerts = re.findall(r"- alert: (\w+)", file.read())
        with open(os.path.join(RULES, "alerts.rules_test.yml")) as file:
            cases = file.read()
        self.assertGreaterEqual(len(alerts), 8)
        for alert in alerts:
            self.assertIn(alert, cases)

    def test_they_use_metrics_that_exist(self):
        known = known_metrics()
        self.assertIn("troupe_operation_seconds_bucket", known)
        for name in ("recording.rules.yml", "alerts.rules.yml"):
            with open(os.path.join(RULES, name)) as file:
                lines = [line for line in file if not line.strip().startswith(("#", "- name:"))]
            self.assertEqual(used_metrics("".join(lines)) - known, set(), name)

    def test_the_dashboard_uses_metrics_and_records_that_exist(self):
        known = known_metrics()
        with open(os.path.join(RULES, "recording.rules.yml")) as file:
            records = set(re.findall(r"record: (\S+)", file.read()))
        with open(os.path.join(RULES, "dashboard.json")) as file:
            board = json.load(file)
        expressions = [t["expr"] for p in board["panels"] for t in p.get("targets", [])]
        self.assertGreater(len(expressions), 20)
        for expression in expressions:
            used = set(re.findall(r"troupe:\w+:\w+", expression))
            self.assertEqual(used - records, set(), expression)
            rest = re.sub(r"troupe:\w+:\w+", "", expression)
            self.assertEqual(used_metrics(rest) - known, set(), expression)
        ids = [p["id"] for p in board["panels"]]
        self.assertEqual(len(ids), len(set(ids)))


class Monitored:
    """A job and a Prometheus that scrapes each of its ranks every half second."""

    def __init__(self, what, rules):
        self.where = tempfile.TemporaryDirectory()
        self.ports = [free_port() for _ in range(SIZE)]
        self.processes = []
        others = ("TROUPE_", "SLURM", "OMPI")
        env = {k: v for k, v in os.environ.items() if not k.startswith(others)}
        env.update(WORLD_SIZE=str(SIZE), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
        for r in range(SIZE):
            mine = dict(env, RANK=str(r), TROUPE_METRICS_LISTEN=f"127.0.0.1:{self.ports[r]}")
            self.processes.append(subprocess.Popen(
                [PROBE, what, "1"], env=mine, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True))
        for p in self.processes:
            line = p.stdout.readline()
            assert line.startswith("running"), line
        self.port = free_port()
        with open(self.path("alerts.rules.yml"), "w") as file:
            file.write(rules)
        shutil.copy(os.path.join(RULES, "recording.rules.yml"), self.where.name)
        targets = ", ".join(f"'127.0.0.1:{p}'" for p in self.ports)
        with open(self.path("prometheus.yml"), "w") as file:
            file.write("global: {scrape_interval: 500ms, evaluation_interval: 500ms}\n"
                       "rule_files: [recording.rules.yml, alerts.rules.yml]\n"
                       "scrape_configs:\n"
                       f"  - {{job_name: troupe, static_configs: [{{targets: [{targets}]}}]}}\n")
        self.processes.append(subprocess.Popen(
            ["prometheus", f"--config.file={self.path('prometheus.yml')}",
             f"--storage.tsdb.path={self.path('data')}",
             f"--web.listen-address=127.0.0.1:{self.port}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def path(self, name):
        return os.path.join(self.where.name, name)

    def query(self, expression):
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode(
            {"query": expression})
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]["result"]

    def wait_for(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while True:
            try:
                if found := self.query(expression):
                    return found
            except OSError:
                pass  # Prometheus has not opened its port yet
            if time.monotonic() > end:
                raise AssertionError(f"nothing for {expression}")
            time.sleep(0.2)

    def firing(self):
        return {r["metric"]["alertname"] for r in self.query('ALERTS{alertstate="firing"}')}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for p in self.processes:
            p.send_signal(signal.SIGKILL)
            p.wait()
            for stream in (p.stdin, p.stdout):
                if stream:
                    stream.close()
        self.where.cleanup()


def alert_rules():
    with open(os.path.join(RULES, "alerts.rules.yml")) as file:
        return file.read()


class RealPrometheus(unittest.TestCase):
    def test_no_alert_fires_for_a_job_that_gets_on(self):
        with Monitored("loop", alert_rules()) as m:
            m.wait_for("count(up == 1) == 3")
            # Rates need two scrapes; the records say that rules were evaluated.
            m.wait_for("troupe:bus_bandwidth_bytes:rate1m > 0")
            m.wait_for('troupe_operations_finished_total{operation="all_reduce"} > 100')
            time.sleep(2)
            # A crowded machine starves workers: that alert would be right.
            self.assertLessEqual(m.firing(), {"TroupeWorkerStarved"})

    def test_a_mismatch_fires_the_alert_of_failed_communicators(self):
        with Monitored("mismatch", alert_rules()) as m:
            found = m.wait_for('ALERTS{alertname="TroupeCommunicatorFailed", alertstate="firing"}')
            self.assertEqual(found[0]["metric"]["severity"], "page")

    def test_a_rank_that_never_joins_fires_the_alert_of_stalled_collectives(self):
        # The same rule, with seconds in place of its minute.
        rules = alert_rules().replace("_seconds > 60", "_seconds > 2")
        rules = rules.replace("for: 15s", "for: 1s")
        self.assertNotEqual(rules, alert_rules())
        with Monitored("never_joined", rules) as m:
            m.wait_for("count(up == 1) == 3")
            m.wait_for('count(ALERTS{alertname="TroupeCollectiveStalled",'
                       ' alertstate="firing"}) == 2')
            stalled = {r["metric"]["instance"] for r in m.query(
                'ALERTS{alertname="TroupeCollectiveStalled", alertstate="firing"}')}
            # Who did not join has nothing in flight.
            self.assertNotIn(f"127.0.0.1:{m.ports[1]}", stalled)


if __name__ == "__main__":
    if not (shutil.which("promtool") and shutil.which("prometheus")):
        print("SKIPPED: promtool or prometheus is missing: apt-get install prometheus")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
