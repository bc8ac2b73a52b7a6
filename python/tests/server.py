"""Starts the real server for a test: `loci serve` on a data folder of its own, without a model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import IO

PACKAGE = Path(__file__).resolve().parent.parent
"""The folder of the package."""
ROOT = PACKAGE.parent
"""The folder of the repository."""

LOCI = Path(os.environ.get("LOCI") or ROOT / "target/debug/loci").absolute()
"""The program that is tested."""


class Server:
    """A server in a process of its own."""

    def __init__(self) -> None:
        assert LOCI.exists(), f"{LOCI} does not exist: build it with `cargo build --workspace --bin loci`, or set LOCI"
        self.folder = Path(tempfile.mkdtemp(prefix="loci-python-"))
        self.url = ""
        self._child: subprocess.Popen[str] | None = None
        self.resume()

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the commands."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "LOCI_DATA": str(self.folder / "data"),
            "LOCI_EMBEDDINGS": "none",
        }

    def run(self, *arguments: str) -> str:
        """Runs a command on the data folder and returns its output."""
        return subprocess.run(
            [LOCI, *arguments], env=self.environment, cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout

    def key(self, *arguments: str) -> str:
        """Makes a key and returns its secret."""
        answer = json.loads(self.run("--json", "key", "create", "--name", "test", *arguments))
        secret: str = answer["data"]["secret"]
        return secret

    def resume(self) -> None:
        """Starts the server again, at the same address, if it had one."""
        listen = self.url.removeprefix("http://") or "127.0.0.1:0"
        log: IO[str]
        with (self.folder / "log").open("w") as log:
            self._child = subprocess.Popen(
                [LOCI, "--json", "serve", "--listen", listen],
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        assert line, f"the server did not start:\n{(self.folder / 'log').read_text()}"
        self.url = json.loads(line)["listening"]

    def end(self, *, crash: bool = False) -> None:
        """Ends the server, in good order or as a crash would, and keeps its folder."""
        child, self._child = self._child, None
        if child is not None:
            (child.kill if crash else child.terminate)()
            child.wait()
            assert child.stdout is not None
            child.stdout.close()

    def remove(self) -> None:
        """Ends the server and removes its folder."""
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)
