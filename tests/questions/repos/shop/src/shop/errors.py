class ShopError(Exception):
    """Base of all errors of the shop."""


class AuthError(ShopError):
    """Signing in failed."""


class PriceError(
    ShopError,
    ValueError,
):
    """A price is wrong."""


class CurrencyError(PriceError):
    pass
