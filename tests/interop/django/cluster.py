"""A PostgreSQL cluster of the test's own, on 127.0.0.1 in a temporary folder."""

import glob
import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
import time


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    def __init__(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not found:
            skip("PostgreSQL's server is not installed (Debian package postgresql-15)")
        self.binaries = found[-1]
        self.folder = tempfile.TemporaryDirectory()
        # PostgreSQL refuses root.
        self.as_user = ["setpriv", "--pdeathsig", "QUIT"]
        if os.geteuid() == 0:
            try:
                user = pwd.getpwnam("postgres")
            except KeyError:
                user = pwd.getpwnam("nobody")
            os.chown(self.folder.name, user.pw_uid, user.pw_gid)
            self.as_user += [
                "--reuid",
                user.pw_name,
                "--regid",
                str(user.pw_gid),
                "--clear-groups",
            ]
        self.port = free_port()
        self.run(
            "initdb",
            "-D",
            self.path("data"),
            "-U",
            "board",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        )
        self.log = open(self.path("log"), "wb")
        self.server = subprocess.Popen(
            [
                *self.as_user,
                f"{self.binaries}/postgres",
                "-D",
                self.path("data"),
                "-k",
                self.folder.name,
            ]
            + [
                "-p",
                str(self.port),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "shared_buffers=32MB",
            ],
            cwd=self.folder.name,
            stdout=self.log,
            stderr=self.log,
        )
        deadline = time.monotonic() + 60
        while self.psql("SELECT 1", database="postgres", check=False) != "1":
            if time.monotonic() > deadline or self.server.poll() is not None:
                self.stop()
                raise RuntimeError(
                    "PostgreSQL does not come up: " + open(self.path("log")).read()
                )
            time.sleep(0.05)
        self.psql("CREATE DATABASE board", database="postgres")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run(self, program, *arguments):
        subprocess.run(
            [*self.as_user, f"{self.binaries}/{program}", *arguments],
            cwd=self.folder.name,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    @property
    def url(self):
        return f"postgresql://board@127.0.0.1:{self.port}/board"

    def psql(self, statement, database="board", check=True):
        done = subprocess.run(
            [
                f"{self.binaries}/psql",
                "-X",
                "-A",
                "-t",
                "-q",
                "-v",
                "ON_ERROR_STOP=1",
                "-h",
                "127.0.0.1",
                "-p",
                str(self.port),
            ]
            + ["-U", "board", "-d", database, "-c", statement],
            capture_output=True,
            text=True,
        )
        if check and done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def script(self, path):
        command = [
            f"{self.binaries}/psql",
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
        ]
        subprocess.run([*command, "-U", "board", "-d", "board", "-f", path], check=True)

    def stop(self):
        self.server.send_signal(signal.SIGQUIT)  # at once
        self.server.wait()
        self.log.close()
