import type { Database, Transaction } from '../../../platform/db/database.ts';
import { selectPriceChanges } from './price-queries.ts';
import type { PriceList } from './prices.ts';
import { pricesAt } from './prices-at.ts';

/** Returns all current prices. */
export async function readPrices(db: Database | Transaction, now: Date): Promise<PriceList> {
  return pricesAt(await selectPriceChanges(db, now), now);
}
