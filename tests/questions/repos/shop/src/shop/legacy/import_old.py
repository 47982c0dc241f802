from shop.auth import legacy_auth


def import_accounts(rows):
    return [legacy_auth(row.user, row.password) for row in rows]


def render(row):
    return str(row)
