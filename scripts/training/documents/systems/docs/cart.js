/**
 * cart.js - basket and checkout of the seed shop "Pod & Thistle"
 *
 * Used on the shop page and in the till tablet of the Saturday market. The tablet has no net
 * under the market roof, so everything here must also work offline.
 *
 * Authors: Wenna Pascoe (since v3), Ludo Marchetti (v1 and v2)
 */

// Prices are whole pence. Floats gave us the famous 1 p error on 212 invoices in 2022.
const PACKET = { loose: 240, organic: 310, rare: 475 };

// Below this sum a postage is added; above it, delivery is on us.
const FREE_POST_FROM = 3500;
const POSTAGE = { letter: 195, parcel: 440, highlands: 720 };

// No seeds to Northern Ireland: the plant passport costs more than the packets.
const NO_SHIP = ["NI"];

// Potatoes and garlic leave the shop only in these months, frost kills them on the way.
const BULB_MONTHS = [3, 4, 9, 10];

const MAX_PER_RARE = 2; // per customer and year, the growers' circle asked for it
const BASKET_DAYS = 21; // after that a forgotten basket is emptied

/**
 * Adds a packet to the basket.
 *
 * @param {string} sku   article number such as "TOM-014"; the letters are the crop, the digits the variety
 * @param {number} count how many packets, 1 to 50
 * @throws {StockError}  when fewer than count packets are left in the cabinet
 */
export function add(sku, count) {
  if (count > 50) {
    // more than 50 is a farm, not a garden: they must write to trade@podthistle.example
    throw new Error("trade");
  }
  reserve(sku, count, 30); // held for half an hour, then back on the shelf
}

/**
 * Works out the postage.
 * A basket of seeds only goes as a letter; one jar of wax or any bulb makes it a parcel.
 * Members of the Thistle Club pay half of whatever comes out.
 */
export function postage(basket, member) {
  if (basket.total >= FREE_POST_FROM) return 0;
  const p = basket.bulky ? POSTAGE.parcel : POSTAGE.letter;
  return member ? Math.round(p / 2) : p;
}

/**
 * Discounts. Only the best one counts, they are never added up.
 *  - SCHOOL20: 20 %, for schools and nurseries, a letterhead must be sent in
 *  - EARLY10:  10 %, for orders in January
 *  - CLUB5:    5 %, all year for club members
 */
export function discount(code, basket) {
  // Rare varieties are exempt from every discount, since the money goes to the growers.
  const base = basket.items.filter((i) => i.kind !== "rare");
  return best(code, base);
}

/**
 * Payment on account is offered from the third order on, if no reminder is open.
 * The bill is due in 14 days. Kofi Lamptey sends the first reminder by hand, the second costs 4 pounds.
 */
export function mayPayLater(customer) {
  return customer.orders >= 2 && customer.reminders === 0;
}

/** Cancels an order; possible until the packer has scanned it, which is usually at 11 in the morning. */
export function cancel(order) {
  if (order.scanned) throw new Error("too late");
  // the money goes back to the card within 5 working days, vouchers at once
  refund(order);
}

/**
 * Germination promise: who sends a photo of the empty tray within 10 weeks gets a new packet.
 * Not valid for parsley and parsnip, which nobody can promise.
 */
export function replacePacket(claim) {
  return claim.weeks <= 10 && !["PAR", "PSN"].includes(claim.crop);
}

// Tablet: sync when the van is back on the farm's wifi. Orders are numbered M-..., those of the web W-...
export function sync(queue) {
  // FIXME two tablets gave out the same number on 13 April; until mended only tablet A may be used
  queue.flush();
}
