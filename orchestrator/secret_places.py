"""Where keys, passwords and private histories are kept on a user's machine, and what runs by itself at login."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from orchestrator.paths import Places

_KEYS = """.ssh .gnupg .pki .aws .azure .oci .kube .minikube .config/gcloud .config/doctl .config/hcloud
    .config/linode-cli .config/scw .config/heroku .local/share/heroku .fly .railway .vercel
    .config/netlify .config/containers/auth.json
    .docker/config.json .netrc _netrc .npmrc .yarnrc .yarnrc.yml .bunfig.toml .pypirc .config/pypoetry/auth.toml
    .config/pip/pip.conf .pip/pip.conf .gem/credentials .bundle/config .cargo/credentials .cargo/credentials.toml
    .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .nuget/NuGet/NuGet.Config .composer/auth.json
    .config/composer/auth.json .terraform.d/credentials.tfrc.json .terraformrc .vault-token .config/vault .pulumi
    .git-credentials .config/git/credentials .config/gh .config/hub .config/glab-cli .config/op .op .config/Bitwarden
    .config/1Password .config/keepassxc .password-store .local/share/keyrings .local/share/kwalletd
    .config/sops .config/age .age .config/rclone .rclone.conf .s3cfg .boto .databrickscfg .snowflake .snowsql
    .kaggle .huggingface/token .cache/huggingface/token .cache/huggingface/stored_tokens .config/wandb .env
    .pgpass .my.cnf .mylogin.cnf .dbshell .config/filezilla .config/remmina .config/evolution .thunderbird
    .electrum .bitcoin .ethereum .config/solana .Xauthority .ICEauthority .k5login .krb5"""
_AGENTS = """.claude.json .claude/.credentials.json .codex/auth.json .config/github-copilot .config/openai
    .gemini .config/goose .aider.conf.yml .local/share/opencode/auth.json .config/llm .continue"""
_BROWSERS = """.mozilla .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge
    .config/vivaldi .config/opera .librewolf .var/app snap/firefox snap/chromium .config/Slack .config/discord
    .config/Signal"""
_HISTORIES = """.bash_history .zsh_history .zhistory .local/share/fish/fish_history .history .sh_history .ksh_history
    .python_history .node_repl_history .psql_history .mysql_history .sqlite_history .rediscli_history .lesshst
    .viminfo .irb_history"""
_MAC = """Library/Keychains Library/Cookies Library/Safari Library/Messages Library/Mail
    "Library/Application Support/Google/Chrome" "Library/Application Support/Firefox"
    "Library/Application Support/BraveSoftware" "Library/Application Support/Microsoft Edge"
    "Library/Application Support/1Password" "Library/Group Containers" "Library/Application Support/com.apple.TCC"
    """
_STARTUP = """.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin
    .zlogout .kshrc .cshrc .tcshrc .inputrc .config/fish .config/nushell .xprofile .xinitrc .xsession .xsessionrc
    .pam_environment .config/environment.d .config/systemd .config/autostart .config/plasma-workspace
    .gitconfig .config/git .config/hub .hgrc .vimrc .vim .config/nvim .emacs .emacs.d .tmux.conf .config/tmux .screenrc
    .gdbinit .lldbinit .pythonrc.py .config/pip .npmrc .cargo/config.toml .cargo/env .local/bin bin .local/share/systemd
    .local/share/applications .local/lib .cargo/bin .pyenv .nvm .rustup .crontab .forward .direnvrc .config/direnv
    .vscode .vscode-server .cursor .claude .codex .config/Code .ssh Library/LaunchAgents"""
_SYSTEM = """/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private
    /etc/krb5.keytab /etc/NetworkManager/system-connections /etc/wireguard /etc/docker/key.json /etc/rancher
    /etc/kubernetes /root/.ssh /var/lib/sss /var/lib/docker /var/lib/containerd /var/lib/kubelet /var/spool/cron
    /var/run/secrets /run/secrets /private/etc/master.passwd /private/var/db/sudo"""

_NAMED_BY = {
    "AWS_SHARED_CREDENTIALS_FILE": "",
    "AWS_CONFIG_FILE": "",
    "GOOGLE_APPLICATION_CREDENTIALS": "",
    "CLOUDSDK_CONFIG": "",
    "AZURE_CONFIG_DIR": "",
    "GNUPGHOME": "",
    "NETRC": "",
    "PGPASSFILE": "",
    "NPM_CONFIG_USERCONFIG": "",
    "HISTFILE": "",
    "XAUTHORITY": "",
    "GH_CONFIG_DIR": "",
    "PASSWORD_STORE_DIR": "",
    "SOPS_AGE_KEY_FILE": "",
    "VAULT_TOKEN_PATH": "",
    "DOCKER_CONFIG": "config.json",
    "CARGO_HOME": "credentials.toml",
    "HF_HOME": "token",
}
"""Variables that say where such a place is, and the file in it that counts (all of it when empty)."""


def secret_places(home: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Absolute paths of files and folders that commands may not read, whether they exist or not.

    The user's keys, logins, browser profiles, keyrings and shell histories, the system's password files, and orch's
    own configuration and state.
    """
    own = [home / name for text in (_KEYS, _AGENTS, _BROWSERS, _HISTORIES, _MAC) for name in _names(text)]
    system = [Path(name) for name in _names(_SYSTEM)]
    places = Places.find(env)
    return tuple(dict.fromkeys((*own, *system, *_named(env), *_wherever(env), places.config, places.state)))


def startup_files(home: Path) -> tuple[Path, ...]:
    """What runs by itself when the user logs in, opens a shell or an editor, or uses git; guarded against writing."""
    return tuple(home / name for name in _names(_STARTUP))


def _named(env: Mapping[str, str]) -> Iterator[Path]:
    """What variables point to. A list of paths (KUBECONFIG) is told by its colons."""
    for variable, file in _NAMED_BY.items():
        if env.get(variable, "").startswith("/"):
            yield Path(env[variable]) / file
    for path in env.get("KUBECONFIG", "").split(":"):
        if path.startswith("/"):
            yield Path(path)


def _wherever(env: Mapping[str, str]) -> Iterator[Path]:
    """The places below the folder of settings when that is not `~/.config`."""
    folder = env.get("XDG_CONFIG_HOME", "")
    if folder.startswith("/"):
        for name in _names(f"{_KEYS} {_AGENTS} {_BROWSERS}"):
            if name.startswith(".config/"):
                yield Path(folder) / name.removeprefix(".config/")


def _names(text: str) -> list[str]:
    """The words of `text`; one with spaces in it is quoted."""
    parts = text.split('"')
    return [name for index, part in enumerate(parts) for name in ([part] if index % 2 else part.split()) if name]
