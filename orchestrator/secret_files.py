"""Which files hold secrets by their name. Compared without regard to case, since some file systems ignore it."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"""(?:^|/)(?:
        (?:\.ssh|\.gnupg)/.*
      | \.env(?!\.(?:example|sample|template|dist)$)(?:\.[^/]*)?
      | \.envrc
      | (?!(?:example|sample|template)\.)[^/]+\.env
      | id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?
      | [^/]*\.(?:pem|key|p12|pfx|jks|keystore|ppk|kdbx)
      | authorized_keys
      | [._]netrc | \.npmrc | \.pypirc | \.pgpass | \.htpasswd | \.git-credentials
      | \.aws/(?:credentials|config) | \.docker/config\.json | \.kube/config | \.git/config
    )\Z""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def is_secret(path: str) -> bool:
    """Whether the file at `path` (with `/`) is one that usually holds keys or passwords.

    Names such as `.env.example`, made to be shared, are not.
    """
    return _SECRET.search(path) is not None
