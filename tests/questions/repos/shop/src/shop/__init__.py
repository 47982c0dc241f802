"""A small shop: carts, prices, sign-in."""

from shop.auth import legacy_auth
from shop.cart import Cart

__all__ = ["Cart", "legacy_auth"]
