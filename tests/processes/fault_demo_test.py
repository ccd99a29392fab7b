"""The example that trains on when a member is killed, and takes another one in.

Usage: fault_demo_test.py TRAIN_THROUGH_FAULTS TROUPE
"""
import os
import subprocess
import sys
import tempfile
import unittest

TRAINER, TROUPE = sys.argv[1:3]


class FaultDemo(unittest.TestCase):
    def test_the_loss_keeps_falling_and_the_weights_stay_equal(self):
        others = ("TROUPE_", "SLURM", "OMPI")
        env = {k: v for k, v in os.environ.items() if not k.startswith(others)}
        env["TROUPE_BOOTSTRAP_SECRET"] = "of this test"
        with tempfile.TemporaryDirectory() as folder:
            door = os.path.join(folder, "door")
            late = subprocess.Popen([TRAINER, "--steps", "160", "--rows", "16", "--come-in", door],
                                    env=env, text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT)
            job = subprocess.run(
                [TROUPE, "launch", "-n", "4", "--keep-going", "--timeout", "100", "--", TRAINER,
                 "--steps", "160", "--rows", "16", "--kill", "2", "--at", "20", "--invite", door],
                env=env, text=True, capture_output=True)
            newcomer, _ = late.communicate(timeout=60)
        said = job.stdout + job.stderr + newcomer
        self.assertEqual((job.returncode, late.returncode), (0, 0), said)
        self.assertIn("3 members are left", said)
        self.assertIn("4 members: a newcomer got the weights", said)
        self.assertIn("in as member 4", newcomer)
        self.assertIn("the weights of 4 members are bitwise equal", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
