from shop import prices
from shop.auth import Session, legacy_auth
from shop.prices import total_price as total


class Cart:
    """What somebody is about to buy."""

    def __init__(self, session: Session):
        self.session = session
        self.items = []

    def add(self, item, user, password):
        # legacy_auth is slow: ask only once a cart
        if legacy_auth(user, password):
            self.items.append(item)

    def price(self):
        return total(self.items)

    def checkout(self, currency):
        prices.check_currency(currency)
        return self.price(), self.session.get("address")
