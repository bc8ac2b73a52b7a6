"""Rules for the files in deploy/ that no linter of their formats knows.

    python scripts/lint_deploy.py FILE
    python scripts/lint_deploy.py --caddyfile deploy/compose.yaml     # prints the configuration of the proxy

Runs with the Python of the linters, which has PyYAML (scripts/lint-deploy.sh).
"""

import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent


def containerfile(text):
    """The version is that of the workspace, every base has a tag, and the user is a number that is not 0."""
    version = re.search(r'\[workspace\.package\][^\[]*?\nversion = "([^"]+)"', (ROOT / "Cargo.toml").read_text())[1]
    if f"ARG VERSION={version}\n" not in text:
        yield f"ARG VERSION must be {version}, the version of the workspace"
    stages = set()
    for base, stage in re.findall(r"^FROM (\S+)(?: AS (\S+))?", text, re.M):
        if base not in stages and (":" not in base or base.endswith(":latest")):
            yield f"the base {base} has no tag"
        stages.add(stage)
    if not re.search(r"^USER [1-9]\d*:[1-9]\d*$", text, re.M):
        yield "USER must be a number, so that Kubernetes can see that it is not root"


def compose(text):
    """Images have a tag, containers drop privileges, and every variable is in secrets.env.example or has a default."""
    for name, service in yaml.safe_load(text)["services"].items():
        if "build" not in service and (":" not in service["image"] or service["image"].endswith(":latest")):
            yield f"{name}: the image {service['image']} has no tag"
        if "healthcheck" not in service and "build" not in service and name not in ("proxy", "qdrant"):
            yield f"{name}: no health check"
    known = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / "deploy/secrets.env.example").read_text(), re.M))
    for name in sorted(set(re.findall(r"\$\{([A-Z_]+):\?", text)) - known):
        yield f"{name} is required, but is not in secrets.env.example"


def kubernetes(text):
    """Pods satisfy the level "restricted" of Pod Security Standards, and have probes and limits."""
    for resource in yaml.safe_load_all(text):
        if resource is None or resource["kind"] != "Deployment":
            continue
        pod = resource["spec"]["template"]["spec"]
        security = pod.get("securityContext", {})
        if security.get("runAsNonRoot") is not True or security.get("runAsUser", 1) == 0:
            yield "runAsNonRoot must be true"
        if security.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
            yield "seccompProfile must be RuntimeDefault"
        for volume in pod.get("volumes", []):
            kinds = set(volume) - {"name"}
            if not kinds <= {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}:
                yield f"the volume {volume['name']} has a kind that is not allowed: {kinds}"
        if any(pod.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")):
            yield "namespaces of the host are not allowed"
        for container in pod["containers"] + pod.get("initContainers", []):
            own = container.get("securityContext", {})
            if own.get("allowPrivilegeEscalation") is not False or own.get("privileged"):
                yield f"{container['name']}: allowPrivilegeEscalation must be false"
            if own.get("capabilities", {}).get("drop") != ["ALL"] or own.get("capabilities", {}).get("add"):
                yield f"{container['name']}: all capabilities must be dropped"
            if own.get("readOnlyRootFilesystem") is not True:
                yield f"{container['name']}: readOnlyRootFilesystem must be true"
            for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
                if container.get(probe, {}).get("httpGet", {}).get("path") not in ("/readyz", "/healthz"):
                    yield f"{container['name']}: {probe} must ask /readyz or /healthz, which any Host may"
            if "memory" not in container.get("resources", {}).get("limits", {}):
                yield f"{container['name']}: no limit of memory"


def main(arguments):
    if arguments[0] == "--caddyfile":
        configs = yaml.safe_load(pathlib.Path(arguments[1]).read_text())["configs"]
        print(configs["proxy"]["content"].replace("$$", "$"), end="")
        return 0
    path = pathlib.Path(arguments[0])
    rules = {"Containerfile": containerfile, "compose.yaml": compose, "kubernetes.yaml": kubernetes}[path.name]
    problems = list(rules(path.read_text()))
    for problem in problems:
        print(f"{path}: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
