import pytest

from shop.auth import Session, legacy_auth
from shop.errors import AuthError


def test_legacy_auth_needs_a_user():
    with pytest.raises(AuthError):
        legacy_auth(None, "secret")


def test_session_get():
    assert Session(None).get("missing", 1) == 1
