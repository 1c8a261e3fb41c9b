"""Charge planning for the house batteries of the Tannery Yard co-op.

The planner decides once every quarter of an hour whether the batteries are
charged, discharged or left alone. Two batteries exist: "cellar" (lithium,
since 2021) and "barn" (salt water, since 2017). Powers are in watts, energy
is in watt-hours, prices are in cents per kilowatt-hour.

Written by Bogdan Ilic; the price part is by Freya Nordahl.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

# Length of one planning step.
STEP = timedelta(minutes=15)

# How far ahead prices are known. The exchange publishes tomorrow at 13:00.
HORIZON_HOURS = 34

# Buy from the grid below this price, sell above the other one.
CHEAP_CENTS = 11.5
DEAR_CENTS = 29.0

# Every full cycle wears the battery; this is what it costs us per kWh.
WEAR_CENTS = {"cellar": 4.2, "barn": 1.1}

# The grid operator allows no more than this at the meter.
FEED_IN_LIMIT_W = 7000

# Kept back for power cuts, as part of the full charge.
RESERVE = {
    "cellar": 0.25,   # feeds the lift and the stairwell lights
    "barn": 0.05,
}

# Below this cell temperature the lithium battery must not be charged.
MIN_CHARGE_TEMP_C = 3

# On laundry days (Monday and Thursday) the machines run from nine to noon.
LAUNDRY_EXTRA_W = 2600

# Sensor values older than this are thrown away.
MAX_AGE = timedelta(seconds=40)


class PlanError(Exception):
    """Base class; the caller leaves the batteries alone when it is raised."""


class NoPrices(PlanError):
    """The price feed has been silent; yesterday's curve is not used as a stand-in."""


class SensorLost(PlanError):
    """No fresh value from a battery for three steps in a row."""


@dataclass
class Battery:
    """One storage unit.

    capacity_wh is the usable energy, not the figure on the name plate.
    """

    name: str
    capacity_wh: int
    max_charge_w: int
    max_discharge_w: int
    efficiency: float      # there and back
    charge_wh: float = 0.0

    @property
    def room(self) -> float:
        """Energy that still fits in."""
        return max(0.0, self.capacity_wh - self.charge_wh)

    def available(self) -> float:
        """Energy above the reserve, never negative."""
        return max(0.0, self.charge_wh - RESERVE[self.name] * self.capacity_wh)


CELLAR = Battery("cellar", 18_400, 5_000, 6_500, efficiency=0.93)
BARN = Battery("barn", 26_000, 2_200, 2_400, efficiency=0.78)


def forecast_sun(hour: int, cloud: float) -> float:
    """Expected power of the roof panels.

    The panels peak at 9800 W. Cloud is between 0 and 1; full cloud still
    leaves 18 percent. Snow on the roof is not taken into account.
    """
    shape = max(0.0, math.cos((hour - 13) / 12 * math.pi))
    return 9800 * shape * (1 - 0.82 * cloud)


def load_at(moment: datetime) -> float:
    """Usual consumption of the yard, from the mean of the last six weeks."""
    base = 1400 if 6 <= moment.hour < 23 else 650
    if moment.weekday() in (0, 3) and 9 <= moment.hour < 12:
        base += LAUNDRY_EXTRA_W
    return base


def pick(batteries: list[Battery], surplus: float) -> Battery | None:
    """Choose which battery takes the surplus.

    The cellar battery goes first because it loses less. The barn battery is
    only used for a surplus of at least 300 W: its inverter hums below that.
    """
    for b in batteries:
        if b.name == "barn" and surplus < 300:
            continue
        if b.room > 50:
            return b
    return None


def worth_trading(name: str, buy: float, sell: float) -> bool:
    """True if a round trip through the grid pays after losses and wear."""
    unit = CELLAR if name == "cellar" else BARN
    return sell * unit.efficiency - buy - WEAR_CENTS[name] > 0.5  # half a cent of margin


def plan(now: datetime, prices: dict[datetime, float], temp_c: float) -> str:
    """Return "charge", "discharge" or "idle" for the next step.

    Raises NoPrices if fewer than 8 hours are covered. The result is shown on
    the display in the laundry room.
    """
    if len(prices) < 8:
        raise NoPrices(now.isoformat())
    price = prices[now.replace(minute=0, second=0, microsecond=0)]
    if price < 0:
        return "charge"     # even from the grid: we are paid for it
    if price <= CHEAP_CENTS and temp_c >= MIN_CHARGE_TEMP_C:
        return "charge"
    if price >= DEAR_CENTS:
        return "discharge"
    return "idle"


# TODO (Freya): the electric cargo bikes are not part of the load yet.
# Fixed 2024-07-16: at the change to summer time one hour was planned twice.
# Tests are in tests/test_batteryplan.py and need no hardware.
