"""The server that `Memory()` starts or finds: one for each data folder, which ends with its last user.

How it works: every user, in whatever process, holds a shared lock on `server.users` in the data folder. `loci serve
--while-used` tries to lock the same file exclusively, and ends when it succeeds. The kernel releases the lock of a process
that is killed, so nothing has to be cleaned up. Who starts the server holds `server.start` meanwhile, so that there is one
server. Its key and its address are in `local.key`, which only the owner of the folder can read.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from ._connection import Connection, is_loopback
from .errors import EmbeddedServerError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

START_SECONDS = 600.0
"""How long a server may take until it answers. A model may have to be fetched first."""
_SAY_AFTER = 3.0

_log = logging.getLogger("loci")
_PROBE = httpx.Timeout(5.0)
# The embedded server listens on a port of its own, and what commands are sent to is not its concern.
_NOT_PASSED_ON = ("LOCI_SERVER", "LOCI_KEY", "LOCI_LISTEN")


def find_binary() -> Path:
    """The program `loci`: `LOCI_BINARY`, else that of this environment, else the first on the PATH."""
    if named := os.environ.get("LOCI_BINARY"):
        return Path(named)
    name = "loci.exe" if os.name == "nt" else "loci"
    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if os.access(folder / name, os.X_OK):
            return folder / name
    found = shutil.which("loci")
    if found is None:
        raise _failure(
            "the program `loci` was not found",
            "install the package with pip on a platform that it has a wheel for, name the program with LOCI_BINARY, "
            "or give the url of a running server",
        )
    return Path(found)


def _failure(detail: str, hint: str | None = None) -> EmbeddedServerError:
    return EmbeddedServerError("SERVER_NOT_STARTED", detail, operation="serve", hint=hint)


class UsersLock:
    """This process's use of the server of one data folder: a shared lock, held while anybody in the process needs it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.users = 0
        self._descriptor: int | None = None
        self._lock = threading.RLock()

    def hold(self) -> None:
        """Takes the lock. Waits while a server is just ending, because that holds it until it is gone."""
        with self._lock:
            if self._descriptor is None:
                self._descriptor = _locked(self.folder / "server.users", fcntl.LOCK_SH)

    def drop(self) -> None:
        """Gives the lock back."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def forget_after_fork(self) -> None:
        """Leaves the lock to the parent: the child takes its own when it needs one."""
        self._lock = threading.RLock()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


# The locks of this module can be taken again by their thread, because the garbage collector may end an endpoint at any point.
_locks: dict[Path, UsersLock] = {}
_locks_guard = threading.RLock()
_endpoints: weakref.WeakSet[EmbeddedEndpoint] = weakref.WeakSet()


def _acquire(folder: Path) -> UsersLock:
    with _locks_guard:
        lock = _locks.setdefault(folder, UsersLock(folder))
        lock.users += 1
    return lock


def _release(lock: UsersLock) -> None:
    with _locks_guard:
        lock.users -= 1
        if lock.users > 0:
            return
        _locks.pop(lock.folder, None)
    lock.drop()


def _forget_after_fork() -> None:
    global _locks_guard
    _locks_guard = threading.RLock()
    for lock in _locks.values():
        lock.forget_after_fork()
    for endpoint in list(_endpoints):
        endpoint.forget_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


class EmbeddedEndpoint:
    """The server of a data folder of this machine."""

    is_local = True

    def __init__(self, data: str | os.PathLike[str] | None) -> None:
        self._data = None if data is None else Path(data).absolute()
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._users_lock: UsersLock | None = None
        self._defaults: dict[str, str] = {}
        self._end: weakref.finalize[[UsersLock], EmbeddedEndpoint] | None = None
        _endpoints.add(self)

    def current(self) -> Connection | None:
        return self._connection

    def connect(self) -> Connection:
        with self._lock:
            if self._connection is None:
                self._connection = self._find_or_start()
            return self._connection

    def report_lost(self, connection: Connection) -> None:
        with self._lock:
            if self._connection is connection:
                self._connection = None

    def close(self) -> None:
        with self._lock:
            self._connection = None
            self._users_lock = None
            if self._end is not None:
                self._end()

    def forget_after_fork(self) -> None:
        """Makes the child look for the server itself."""
        self._lock = threading.Lock()
        self._connection = None

    def _find_or_start(self) -> Connection:
        if fcntl is None:
            raise _failure(
                "a server is started by the client on Linux and macOS only",
                'start it with `loci serve` and give its address: Memory(url="http://127.0.0.1:7077", user="me")',
            )
        binary = find_binary()
        if self._users_lock is None:
            folder, self._defaults = _read_settings(binary, self._data)
            self._users_lock = _acquire(folder)
            # At the latest when nothing refers to this endpoint any more, or the interpreter ends.
            self._end = weakref.finalize(self, _release, self._users_lock)
        self._users_lock.hold()
        folder = self._users_lock.folder
        with _starting(folder):
            key, url = _probe(folder) or _start(binary, folder)
        return Connection(url, {"Authorization": f"Bearer {key}"}, self._defaults)


def _read_settings(binary: Path, data: Path | None) -> tuple[Path, dict[str, str]]:
    """The data folder, and the identifiers of requests that name no scope: those of the command line."""
    arguments = [] if data is None else ["--data", str(data)]
    command = [str(binary), *arguments, "--json", "config", "check"]
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as error:
        raise _failure(f"{binary} cannot be run: {error.strerror}", "check LOCI_BINARY and the PATH") from error
    if result.returncode != 0:
        raise _failure(f"the settings cannot be used: {_message(result.stderr)}", f"run `{binary} config check`")
    answer: dict[str, Any] = json.loads(result.stdout)
    settings = answer["settings"]
    folder = Path(answer["data"]).absolute()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    defaults = {"userId": settings.get("user") or "me"}
    if project := settings.get("project"):
        defaults["projectId"] = project
    return folder.resolve(), defaults


def _message(text: str) -> str:
    """The message of an error that the program printed as JSON, or what it printed instead."""
    try:
        return str(json.loads(text)["message"])
    except (KeyError, TypeError, ValueError):
        return text.strip()


def _locked(path: Path, operation: int) -> int:
    """Opens a file, waits for its lock and returns the descriptor, whose end is the end of the lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, operation)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def _starting(folder: Path) -> Iterator[None]:
    """Makes this the only process that looks for the server of the folder or starts it."""
    descriptor = _locked(folder / "server.start", fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def _probe(folder: Path) -> tuple[str, str] | None:
    """The key and the address of a server of this folder that answers."""
    try:
        key, address = (folder / "local.key").read_text().split()
    except (OSError, ValueError):
        return None
    url = f"http://{address}"
    # A server that others reach may be behind a name and TLS; here one of this machine is needed.
    if not is_loopback(urlsplit(url).hostname or ""):
        return None
    try:
        with httpx.Client(base_url=url, timeout=_PROBE, trust_env=False) as client:
            if client.get("/healthz").status_code != 200:
                return None
            headers = {"Authorization": f"Bearer {key}"}
            return (key, url) if client.get("/v1/whoami", headers=headers).status_code == 200 else None
    except httpx.HTTPError:
        return None


class _Detached(subprocess.Popen[bytes]):
    """A process that outlives this one."""

    def __del__(self) -> None:
        """Warns of nothing: the process is meant to go on."""


_started: list[_Detached] = []


def _start(binary: Path, folder: Path) -> tuple[str, str]:
    """Starts a server that outlives this process, and waits until it answers."""
    command = [str(binary), "--data", str(folder), "serve", "--while-used", "--listen", "127.0.0.1:0"]
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    # Nobody reads its log unless it fails.
    environment.setdefault("LOCI_LOG", "warn")
    if config := environment.get("LOCI_CONFIG"):
        environment["LOCI_CONFIG"] = os.path.abspath(config)
    path = folder / "server.log"
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        # Its working directory is the data folder: it serves everybody who uses the folder, wherever they work.
        child = _Detached(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    except OSError as error:
        raise _failure(f"{binary} cannot be run: {error.strerror}", "check LOCI_BINARY and the PATH") from error
    finally:
        os.close(log)
    # Those that have ended are taken out of the table of processes.
    _started[:] = [child, *(other for other in _started if other.poll() is None)]
    begin, pause, said = time.monotonic(), 0.01, False
    while (waited := time.monotonic() - begin) < START_SECONDS:
        if (found := _probe(folder)) is not None:
            _pass_on_warnings(path)
            return found
        if child.poll() is not None:
            raise _failure(f"the server ended with the exit code {child.returncode}; its log {path} ends with\n{_tail(path)}")
        if waited > _SAY_AFTER and not said:
            said = True
            _log.warning("the server is still starting; it may be fetching the embedding model (83 MB). Its log is %s", path)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)
    raise _failure(f"the server did not answer within {START_SECONDS:.0f} seconds; its log {path} ends with\n{_tail(path)}")


def _pass_on_warnings(path: Path) -> None:
    """Logs what the server warned of when it started, such as a missing model, with what to do about it."""
    for warning, hint in re.findall(r"^warning: (.*)\n(?:  hint: (.*)\n)?", path.read_text(errors="replace"), re.MULTILINE):
        _log.warning("%s%s", warning, f" ({hint})" if hint else "")


def _tail(path: Path, lines: int = 10) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
