import * as z from 'zod';
import { userId, userIdParams } from './accounts.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { USD_CENTS_MAX, USD_CENTS_MIN } from './limits.ts';
import { bgl, parseUsdCents } from './money.ts';

const USD_RANGE = `usd must be from ${USD_CENTS_MIN / 100} to ${(USD_CENTS_MAX / 100).toLocaleString('en')}`;

export const purchase = z.object({
  id: z.string(),
  /**
   * `open` until the payment is confirmed, `expired` if it was not paid, `refused` if the payment does not
   * match the purchase.
   */
  status: z.enum(['open', 'paid', 'failed', 'expired', 'refused']),
  usd: z.string(),
  amount: bgl,
  /** Part of the amount that was refunded or disputed. */
  reversed: bgl,
  /** The payment provider's receipt. */
  receipt_url: z.string().nullable(),
  created_at: z.string(),
  paid_at: z.string().nullable(),
});
export type Purchase = z.infer<typeof purchase>;

export const listPurchases = endpoint({
  method: 'GET',
  path: '/api/v1/users/:userId/purchases',
  access: 'key',
  summary: 'List credit purchases, newest first, and whether this server sells credits',
  params: userIdParams,
  query: z.object({
    limit: z.coerce.number().int().min(1).max(100).default(50),
    cursor: idOf('purchase').optional(),
  }),
  response: z.object({
    can_buy: z.boolean(),
    purchases: z.array(purchase),
    next_cursor: z.string().nullable(),
  }),
});

export const startPurchase = endpoint({
  method: 'POST',
  path: '/api/v1/purchases',
  access: 'key',
  operation: 'start the payment',
  spends: true,
  summary: "Start a credit purchase on the payment provider's page",
  body: only({
    user_id: userId,
    /** US dollars with at most two decimals. */
    usd: z
      .string()
      .trim()
      .regex(/^\d{1,6}(\.\d{1,2})?$/, {
        error: 'usd must be a decimal number of US dollars with at most 2 decimals',
        // Skip the next check if the text is not a number.
        abort: true,
      })
      .refine((text) => {
        const cents = parseUsdCents(text);
        return cents >= USD_CENTS_MIN && cents <= USD_CENTS_MAX;
      }, USD_RANGE),
  }),
  response: z.object({
    purchase_id: z.string(),
    /** The provider's checkout page. */
    checkout_url: z.string(),
  }),
});
