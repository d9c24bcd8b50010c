"""A terminal whose connection is firebird-driver's: reads where to work, then an operation a line. See mod.rs.

The statements and their order are those of way/statements.rs and way/procedures.rs.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

Input = dict[str, Any]


class Statements:
    """A connection with prepared statements."""

    def __init__(self, job: dict[str, Any]) -> None:
        import firebird.driver as driver

        if job["client"]:
            driver.driver_config.fb_client_library.value = job["client"]
        driver.driver_config.db_defaults.config.value = (
            f"WireCrypt={'Enabled' if job['encrypted'] else 'Disabled'}\n"
            f"WireCompression={'true' if job['compressed'] else 'false'}"
        )
        self.connection = driver.connect(
            f"{job['host']}/{job['port']}:{job['database']}",
            user=job["user"],
            password=job["password"],
            role=job["role"] or None,
            charset="UTF8",
        )
        # The driver's own (2.1) leave out isc_tpb_read_committed for read consistency. Firebird 5 understands that; 4.0 takes a
        # snapshot, with more conflicts than the other clients have, and with a payment that is counted twice now and then.
        self.options = bytes(job["options"])
        self.connection.begin(self.options)
        # A cursor each: one that is executed again ends what it has executed before.
        self.cursors = {}
        for name, sql in job["sql"].items():
            cursor = self.connection.cursor()
            self.cursors[name] = (cursor, cursor.prepare(sql))
        self.connection.commit()
        self.commits = False

    def begin(self) -> None:
        self.commits = False
        self.connection.begin(self.options)

    def commit(self) -> None:
        self.commits = True
        self.connection.commit()

    def run(self, name: str, *parameters: Any) -> Any:
        cursor, statement = self.cursors[name]
        cursor.execute(statement, parameters)
        return cursor

    def row(self, name: str, *parameters: Any) -> Any:
        """The first row, or None."""
        return self.run(name, *parameters).fetchone()

    def must(self, name: str, *parameters: Any) -> Any:
        """The first row, which must be there."""
        row = self.row(name, *parameters)
        if row is None:
            raise LookupError(f"{name}: a row is missing")
        return row


class Procedures(Statements):
    """Each operation is a call."""

    def new_order(self, made: Input) -> Any:
        lines = made["lines"]
        packed = "".join(f"{line['item']:06}{line['supplier']:06}{line['quantity']:02}" for line in lines)
        place = made["warehouse"], made["district"], made["customer"]
        status, order = self.must("new_order", *place, len(lines), packed, datetime.now())
        if status != 0:
            self.connection.rollback()
            return "refused"
        self.commit()
        return {"ordered": {"order": order, "lines": len(lines)}}

    def payment(self, made: Input) -> Any:
        amount = Decimal(made["cents"]) / 100
        customer = made["customer"]
        who = customer.get("number"), customer.get("name")
        self.must("payment", made["warehouse"], made["district"], *made["from"], *who, amount, datetime.now())
        self.commit()
        return {"paid": {"cents": made["cents"]}}

    def order_status(self, made: Input) -> Any:
        customer = made["customer"]
        who = customer.get("number"), customer.get("name")
        rows = self.run("order_status", made["warehouse"], made["district"], *who).fetchall()
        self.commit()
        return {"read": {"rows": len(rows)}}

    def delivery(self, made: Input) -> Any:
        (delivered,) = self.must("delivery", made["warehouse"], made["carrier"], datetime.now())
        self.commit()
        return {"delivered": {"orders": delivered}}

    def stock_level(self, made: Input) -> Any:
        self.must("stock_level", made["warehouse"], made["district"], made["threshold"])
        self.commit()
        return {"read": {"rows": 1}}


class OneByOne(Statements):
    """Each operation is many statements."""

    def customer(self, warehouse: int, district: int, customer: Input) -> int:
        if "number" in customer:
            return int(customer["number"])
        found = self.run("customers_named", warehouse, district, customer["name"]).fetchall()
        if not found:
            raise LookupError("a customer of this name is missing")
        # The middle one, rounded up.
        return int(found[(len(found) + 1) // 2 - 1][0])

    def new_order(self, made: Input) -> Any:
        warehouse, district, customer, lines = (
            made[part] for part in ("warehouse", "district", "customer", "lines")
        )
        self.must("warehouse_tax", warehouse)
        order = self.must("next_order", warehouse, district)[0]
        self.must("customer_terms", warehouse, district, customer)
        is_local = all(line["supplier"] == warehouse for line in lines)
        self.run(
            "insert_order", order, district, warehouse, customer, datetime.now(), len(lines), int(is_local)
        )
        self.run("insert_open", order, district, warehouse)
        for number, line in enumerate(lines, 1):
            item, supplier, quantity = line["item"], line["supplier"], line["quantity"]
            price = self.row("price", item)
            if price is None:
                self.connection.rollback()
                return "refused"
            is_remote = int(supplier != warehouse)
            taken = quantity, quantity, quantity, is_remote, supplier, item, district
            (info,) = self.must("take_stock", *taken)
            amount = price[0] * quantity
            self.run(
                "insert_line", order, district, warehouse, number, item, supplier, quantity, amount, info
            )
        self.commit()
        return {"ordered": {"order": order, "lines": len(lines)}}

    def payment(self, made: Input) -> Any:
        amount = Decimal(made["cents"]) / 100
        warehouse, district = made["from"]
        (at,) = self.must("pay_warehouse", amount, made["warehouse"])
        (of,) = self.must("pay_district", amount, made["warehouse"], made["district"])
        customer = self.customer(warehouse, district, made["customer"])
        note = f"{customer} {district} {warehouse} {made['district']} {made['warehouse']} {amount} | "
        self.must("pay_customer", amount, amount, note, warehouse, district, customer)
        place = customer, district, warehouse, made["district"], made["warehouse"]
        self.run("insert_history", *place, datetime.now(), amount, f"{at}    {of}")
        self.commit()
        return {"paid": {"cents": made["cents"]}}

    def order_status(self, made: Input) -> Any:
        warehouse, district = made["warehouse"], made["district"]
        customer = self.customer(warehouse, district, made["customer"])
        order = self.must("last_order", warehouse, district, customer)[0]
        rows = self.run("lines", warehouse, district, order).fetchall()
        self.commit()
        return {"read": {"rows": len(rows)}}

    def delivery(self, made: Input) -> Any:
        warehouse, at, orders = made["warehouse"], datetime.now(), 0
        for district in range(1, 11):
            oldest = self.row("oldest_open", warehouse, district)
            if oldest is None:
                continue
            order = oldest[0]
            # Another terminal may have delivered it in between.
            if self.run("delete_open", warehouse, district, order).affected_rows != 1:
                continue
            (customer,) = self.must("set_carrier", made["carrier"], warehouse, district, order)
            self.run("deliver_lines", at, warehouse, district, order)
            (amount,) = self.must("sum_lines", warehouse, district, order)
            self.run("credit", amount, warehouse, district, customer)
            orders += 1
        self.commit()
        return {"delivered": {"orders": orders}}

    def stock_level(self, made: Input) -> Any:
        warehouse, district = made["warehouse"], made["district"]
        (order,) = self.must("district_next", warehouse, district)
        self.must("low_stock", warehouse, district, order, order - 20, made["threshold"])
        self.commit()
        return {"read": {"rows": 1}}


def fail(statements: Statements, error: Exception) -> dict[str, Any]:
    """Roll back, and say what happened."""
    is_lost = statements.connection.is_closed()
    try:
        if statements.connection.is_active():
            statements.connection.rollback()
    except Exception:  # noqa: BLE001 - whatever it is, the connection cannot be used any longer
        is_lost = True
    codes = list(getattr(error, "gds_codes", ()))
    is_unknown = is_lost and statements.commits
    return {"codes": codes, "message": str(error), "is_lost": is_lost, "is_unknown": is_unknown}


def work(say: Callable[[dict[str, Any]], None]) -> None:
    job = json.loads(sys.stdin.readline())
    try:
        statements = (Procedures if job["mode"] == "sp" else OneByOne)(job)
    except Exception as error:  # noqa: BLE001 - the other side says what it was
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, ModuleNotFoundError):
            reason = f"not installed: {sys.executable} -m pip install firebird-driver"
        say({"refused": reason})
        return
    version = importlib.metadata.version("firebird-driver")
    ready = f"firebird-driver {version}, Python {platform.python_version()}"
    say({"ready": ready, "cpu_s": time.process_time()})
    for line in sys.stdin:
        ((operation, made),) = json.loads(line).items()
        try:
            statements.begin()
            answer = {"done": getattr(statements, operation)(made)}
        except Exception as error:  # noqa: BLE001 - the other side decides what becomes of it
            answer = {"failed": fail(statements, error)}
        say({**answer, "cpu_s": time.process_time()})


def main() -> None:
    # What a library prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    work(say)


main()
