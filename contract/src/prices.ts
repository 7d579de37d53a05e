import * as z from 'zod';
import { priceUnit } from './credits.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { UNIT_PRICE_MAX_BGL } from './limits.ts';
import { bgl, bglInput, MICRO_PER_BGL } from './money.ts';

export const priceChange = z.object({
  id: z.string(),
  price_id: z.string(),
  label: z.string(),
  /** Null if the item is no longer on the price list. Its label is then its id. */
  unit: priceUnit.nullable(),
  unit_price: bgl,
  /** The price at the time when the change was planned. */
  previous: bgl,
  valid_from: z.string(),
  /** When another change replaced this one before it took effect; null if none did. */
  withdrawn_at: z.string().nullable(),
  /** Username; null if the account was deleted. */
  changed_by: z.string().nullable(),
  created_at: z.string(),
});

export type PriceChange = z.infer<typeof priceChange>;

export const listPriceChanges = endpoint({
  method: 'GET',
  path: '/api/v1/operator/price-changes',
  access: 'operator',
  summary: 'List price changes, newest first',
  query: z.object({
    limit: z.coerce.number().int().min(1).max(200).default(50),
    cursor: idOf('price change').optional(),
  }),
  response: z.object({ changes: z.array(priceChange), next_cursor: z.string().nullable() }),
});

export const changePrice = endpoint({
  method: 'POST',
  path: '/api/v1/operator/price-changes',
  access: 'operator',
  summary: 'Change a price now or from a given time; existing holds keep theirs',
  body: only({
    price_id: z.string(),
    unit_price: bglInput
      .refine((micro) => micro > 0n, 'unit_price must be greater than 0')
      .refine(
        (micro) => micro <= BigInt(UNIT_PRICE_MAX_BGL) * MICRO_PER_BGL,
        `unit_price must be at most ${UNIT_PRICE_MAX_BGL} BGL`,
      ),
    /** Defaults to now. */
    valid_from: z.iso
      .datetime({ offset: true, error: 'valid_from must be a time, such as 2030-01-31T12:00:00Z' })
      .nullish(),
  }),
  response: z.object({ change_id: z.string() }),
});
