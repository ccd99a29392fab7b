"""Jobs of ranks that wait for their turn: started, told what to do, and ended for certain."""

import ctypes
import os
import selectors
import signal
import socket
import subprocess
import time

# Their own words in a log count more than those of their launchers.
PROGRAMS = ("troupe_peer", "openmpi_peer", "gloo_peer")
START_DEADLINE_S = 30
COMMAND_DEADLINE_S = 60
END_DEADLINE_S = 5


class JobFailed(Exception):
    """Why a job cannot go on. `alive`: all its ranks said so and wait for the next command."""

    def __init__(self, reason, alive=False):
        super().__init__(reason)
        self.alive = alive


class Rank:
    """The driver's end of one rank."""

    def __init__(self, connection):
        self.connection, self.pending = connection, b""
        self.number, self.pid = None, None

    def lines(self):
        """Whole lines that arrived; None once the rank is gone."""
        try:
            bytes_ = self.connection.recv(4096)
        except ConnectionError:
            bytes_ = b""
        if not bytes_:
            return None
        *whole, self.pending = (self.pending + bytes_).split(b"\n")
        return [line.decode(errors="replace") for line in whole]


class Job:
    """One library with a number of ranks; `command_of(control path)` starts it."""

    def __init__(self, name, ranks, command_of, directory, environment):
        self.name, self.count = name, ranks
        self.ranks, self.process = [], None
        self.log_path = os.path.join(directory, f"{name.replace('/', '_')}_{ranks}.log")
        path = os.path.join(directory, f"{name.replace('/', '_')}_{ranks}.socket")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.listener.bind(path)
            self.listener.listen(ranks)
            with open(self.log_path, "wb") as log:
                # A session of its own: a Ctrl-C reaches the driver, which ends the job in order.
                self.process = subprocess.Popen(
                    command_of(path), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    env=environment, start_new_session=True, preexec_fn=end_with_driver)
            self.meet()
        except BaseException:
            self.end()
            raise

    def meet(self):
        """Waits until every rank has said hello."""
        deadline = time.monotonic() + START_DEADLINE_S
        self.listener.settimeout(0.2)
        while len(self.ranks) < self.count:
            if self.process.poll() is not None:
                raise JobFailed(f"ended with {self.process.returncode} at the start: {self.log()}")
            if time.monotonic() > deadline:
                raise JobFailed(f"{len(self.ranks)} of {self.count} ranks were there after "
                                f"{START_DEADLINE_S} s: {self.log()}")
            try:
                connection, _ = self.listener.accept()
            except TimeoutError:
                continue
            connection.setblocking(True)
            self.ranks.append(Rank(connection))
        for rank, words in zip(self.ranks, self.answers(deadline), strict=True):
            rank.number, rank.pid = int(words[1]), int(words[2])
        self.ranks.sort(key=lambda rank: rank.number)

    def log(self):
        """The last words of the job; those of a rank itself if there are any."""
        try:
            with open(self.log_path, encoding="utf-8", errors="replace") as stream:
                lines = [line.strip() for line in stream if line.strip(" -\n")]
        except OSError:
            return "nothing was printed"
        own = [line for line in lines if line.startswith(tuple(f"{p}:" for p in PROGRAMS))]
        return " | ".join(dict.fromkeys(own[-1:] or lines[-3:]))[-400:] or "nothing was printed"

    def answers(self, deadline):
        """One line of each rank, in the order of self.ranks, as words."""
        found = {}
        with selectors.DefaultSelector() as selector:
            for rank in self.ranks:
                selector.register(rank.connection, selectors.EVENT_READ, rank)
            while len(found) < len(self.ranks):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise JobFailed(f"{len(self.ranks) - len(found)} of {self.count} ranks did not "
                                    f"answer in time: {self.log()}")
                for key, _ in selector.select(left):
                    lines = key.data.lines()
                    if lines is None:
                        raise JobFailed(f"a rank ended: {self.log()}")
                    for line in lines:
                        found[key.data] = line.split()
        return [found[rank] for rank in self.ranks]

    def command(self, text):
        """Sends a line to every rank; the words of each answer, by rank."""
        for rank in self.ranks:
            try:
                rank.connection.sendall(text.encode() + b"\n")
            except ConnectionError as error:
                raise JobFailed(f"a rank ended: {self.log()}") from error
        answers = self.answers(time.monotonic() + COMMAND_DEADLINE_S)
        for number, words in enumerate(answers):
            if words[0] in ("failed", "wrong"):
                kind = "" if words[0] == "failed" else f"WRONG RESULT at rank {number}: "
                raise JobFailed(kind + " ".join(words[1:]), alive=True)
        return answers

    def cpu_ticks(self):
        """What the ranks used so far."""
        return sum(ticks_of(pid) for pid in {rank.pid for rank in self.ranks})

    def quit(self):
        """Ends a job whose ranks all wait for a command; by force if they do not go."""
        try:
            for rank in self.ranks:
                rank.connection.sendall(b"quit\n")
            self.process.wait(END_DEADLINE_S)
        except (OSError, subprocess.TimeoutExpired):
            pass
        self.end()

    def end(self):
        """Leaves nothing of the job behind."""
        if self.process is not None and self.process.poll() is None:
            # Launchers give each rank a process group of its own, so they are looked up one by one,
            # and before the launcher goes.
            below = descendants_of(self.process.pid)
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(1)
            except subprocess.TimeoutExpired:
                pass
            for pid, name in below.items():
                if name_of(pid) == name:
                    kill(os.kill, pid)
            kill(os.killpg, self.process.pid)
            self.process.wait(END_DEADLINE_S)
        for rank in self.ranks:
            rank.connection.close()
        self.listener.close()


def end_with_driver():
    """In the child: a driver that is killed takes the job with it (prctl PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def kill(how, number):
    try:
        how(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as stream:
            return stream.read().strip()
    except OSError:
        return None


def descendants_of(ancestor):
    """{pid: name} of all processes below one."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            fields = fields_of(entry)
            if fields:
                parents[int(entry)] = int(fields[1])
    found, fresh = {}, {ancestor}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh}
        found.update((pid, name_of(pid)) for pid in fresh)
    return found


def fields_of(pid):
    """The fields of /proc/PID/stat behind the name, the first being the state."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stream:
            return stream.read().rpartition(")")[2].split()
    except OSError:
        return None


def ticks_of(pid):
    """User and system time of a process, in clock ticks; 0 once it is gone."""
    fields = fields_of(pid)
    return int(fields[11]) + int(fields[12]) if fields else 0


def machine_ticks():
    """(busy, all) of all processors since boot, in clock ticks. Stolen time is busy."""
    with open("/proc/stat", encoding="utf-8") as stream:
        user, nice, system, idle, waiting, irq, softirq, steal = \
            map(int, stream.readline().split()[1:9])
    busy = user + nice + system + irq + softirq + steal
    return busy, busy + idle + waiting


class OthersMeter:
    """From here on: the share of all cores that neither a job nor this driver uses."""

    def __init__(self, job):
        self.job = job
        self.before = self.now()

    def now(self):
        return (*machine_ticks(), self.job.cpu_ticks() + ticks_of(os.getpid()))

    def share(self):
        busy, total, own = (after - before for after, before in
                            zip(self.now(), self.before, strict=True))
        return max(0, busy - own) / total if total > 0 else 0.0
