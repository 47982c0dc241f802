"""Where keys are looked for."""

from __future__ import annotations

from pathlib import Path

from orchestrator.secret_places import secret_places, startup_files

HOME = Path("/home/user")


def test_keys_logins_browsers_and_histories_are_places_of_secrets() -> None:
    places = secret_places(HOME, {"ORCH_HOME": "/orch"})
    names = (
        *(
            ".ssh",
            ".aws",
            ".gnupg",
            ".netrc",
            ".npmrc",
            ".docker/config.json",
            ".kube",
            ".git-credentials",
            ".config/gh",
        ),
        *(".mozilla", ".bash_history", "Library/Application Support/1Password"),
    )
    for name in names:
        assert HOME / name in places
    assert {Path("/etc/shadow"), Path("/orch/config"), Path("/orch/state")} <= set(places) or any(
        str(each).startswith("/orch") for each in places
    )
    assert all(each.is_absolute() for each in places)
    assert HOME not in places and HOME / ".config" not in places


def test_variables_say_where_else() -> None:
    places = secret_places(
        HOME,
        {
            "KUBECONFIG": "/a/kube:/b/kube",
            "XDG_CONFIG_HOME": "/settings",
            "DOCKER_CONFIG": "/docker",
            "AWS_CONFIG_FILE": "relative",
        },
    )
    for path in ("/a/kube", "/b/kube", "/settings/gh", "/docker/config.json"):
        assert Path(path) in places
    assert Path("relative") not in places


def test_what_runs_by_itself_is_guarded() -> None:
    assert {HOME / ".bashrc", HOME / ".ssh", HOME / ".config/systemd", HOME / ".gitconfig"} <= set(startup_files(HOME))
