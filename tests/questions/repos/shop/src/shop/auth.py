"""Signing users in."""

import hashlib
import os

from shop.errors import AuthError

TOKEN_TTL = int(os.environ.get("TOKEN_TTL", "3600"))


def legacy_auth(user, password):
    """Check a password the old way.

    Kept for accounts that were made before 2019.
    """
    if not user:
        raise AuthError("user not found")
    return _digest(password) == user.digest


def _digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Session:
    """One signed-in user."""

    def __init__(self, user):
        self.user = user
        self.timeout = TOKEN_TTL

    def get(self, key, default=None):
        """Look a value up."""
        return self.__dict__.get(key, default)

    def renew(self):
        self.timeout = TOKEN_TTL
        return self


def unused_helper(value):
    return value
