"""Prices and currencies."""

from shop.errors import CurrencyError, PriceError

CURRENCIES = {"EUR", "USD"}


def total_price(items):
    """Add up the prices of the items."""
    result = 0
    for item in items:
        if item.price < 0:
            raise PriceError("negative price")
        result += item.price
    return result


def check_currency(currency):
    if currency not in CURRENCIES:
        raise CurrencyError(f"unknown currency: {currency}")


def render(amount):
    return f"{amount:.2f}"
