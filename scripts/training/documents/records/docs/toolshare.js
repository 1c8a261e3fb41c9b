/**
 * Rules of lending for the Brackwater tool library.
 * The web page and the desk program both import this file, so keep it free of
 * anything that needs a browser.
 */

// How many tools one member may have at the same time.
export const MAX_TOOLS = 5;

// Members below this age need the signature of a parent.
export const MIN_AGE_ALONE = 16;

// Days a tool is lent for, by group.
export const LOAN_DAYS = {
  hand: 14,      // hammers, planes, spanners
  power: 7,      // drills, jigsaws, sanders
  garden: 10,
  ladder: 4,     // few of them, many want one
  sewing: 21,
};

// Deposit in pounds, by group. It is given back in the same way it was paid.
export const DEPOSIT = {
  hand: 0,
  power: 25,
  garden: 10,
  ladder: 20,
  sewing: 30,
};

// Pence for each day a tool comes back late.
export const LATE_FEE = { hand: 20, power: 80, garden: 50, ladder: 150, sewing: 40 };

// The late fee stops growing at this part of the tool's price.
export const LATE_FEE_CAP = 0.5;

// These need a short introduction before they are lent the first time.
export const NEEDS_INTRO = ["chainsaw", "router", "table saw", "floor sander"];

// The introduction is valid for so many years.
export const INTRO_YEARS = 3;

// Never lent to private members since the accident of 2021.
export const CLUB_ONLY = ["scaffold tower"];

// A reservation is dropped when the tool has not been fetched by this hour of the next opening day.
export const HOLD_UNTIL_HOUR = 18;

// Opening days: 0 is Sunday.
export const OPEN = { 2: "16-19", 4: "16-20", 6: "10-13" };

// Key under which the basket is kept in the browser.
const BASKET_KEY = "brackwater.basket.v2";

/** Thrown when a member already has MAX_TOOLS tools. */
export class TooMany extends Error {}

/** Thrown when the membership has run out; the desk may prolong it on the spot. */
export class Lapsed extends Error {}

/** Thrown when a tool is in the repair box, whatever the calendar says. */
export class InRepair extends Error {}

/**
 * Returns the day on which a tool has to be back.
 *
 * If that day is not an opening day, the next opening day counts.
 *
 * @param {Date} start day of lending
 * @param {string} group key of LOAN_DAYS
 */
export function dueDay(start, group) {
  const day = new Date(start);
  day.setDate(day.getDate() + LOAN_DAYS[group]);
  while (!(day.getDay() in OPEN)) day.setDate(day.getDate() + 1);
  return day;
}

/**
 * Can this loan be renewed?
 *
 * Once only, and not when somebody has reserved the tool. Ladders are never renewed.
 */
export function mayRenew(loan, reservations) {
  if (loan.group === "ladder" || loan.renewed) return false;
  return !reservations.some((r) => r.tool === loan.tool);
}

/**
 * Late fee in pence.
 *
 * Two days of grace are given, after that every day counts from the first.
 */
export function lateFee(loan, today) {
  const days = Math.floor((today - loan.due) / 86400000);
  if (days <= 2) return 0;
  const fee = days * LATE_FEE[loan.group];
  return Math.min(fee, Math.round(loan.price * 100 * LATE_FEE_CAP));
}

/**
 * Checks a loan before it is booked.
 *
 * Throws TooMany, Lapsed or InRepair. Returns warnings as a list of texts.
 */
export function check(member, tool, today) {
  if (member.loans.length >= MAX_TOOLS) throw new TooMany(member.id);
  if (member.paidUntil < today) throw new Lapsed(member.id);
  if (tool.box === "repair") throw new InRepair(tool.id);
  const warnings = [];
  // PAT is the yearly electrical test.
  if (tool.group === "power" && tool.patTested < yearBefore(today)) {
    warnings.push("Electrical test is overdue: do not hand out, put into the blue box.");
  }
  if (tool.parts > 1) {
    warnings.push(`Count the parts together with the member: ${tool.parts}`);
  }
  return warnings;
}

function yearBefore(day) {
  const d = new Date(day);
  d.setFullYear(d.getFullYear() - 1);
  return d;
}

/**
 * Orders the waiting list.
 *
 * First come, first served; but somebody who has waited in vain before moves
 * up by three places. Agreed at the members' meeting of May 2023.
 */
export function waitingOrder(list) {
  return [...list].sort((a, b) => a.place - 3 * a.missed - (b.place - 3 * b.missed));
}

/** Saves the basket. It is emptied after two hours, see sweep(). */
export function saveBasket(items) {
  localStorage.setItem(BASKET_KEY, JSON.stringify({ at: Date.now(), items }));
}

/** Members who have not borrowed anything for this many months get a friendly mail. */
export const SLEEPY_MONTHS = 9;

/**
 * What a member pays a year, in pounds.
 *
 * Pensioners and students pay half. Who helps at the desk on six days a year pays nothing.
 */
export function yearlyFee(member) {
  if (member.deskDays >= 6) return 0;
  return member.reduced ? 12 : 24;
}
