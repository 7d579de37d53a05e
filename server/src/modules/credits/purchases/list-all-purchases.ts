import type { Purchase } from '@bakehouse/contract/purchases';
import type { Database } from '../../../platform/db/database.ts';
import { listUserPurchases } from './purchase-queries.ts';
import { toPurchase } from './to-purchase.ts';

/** All of a user's purchases, newest first. */
export async function listAllPurchases(db: Database, userId: string): Promise<Purchase[]> {
  return (await listUserPurchases(db, userId)).map(toPurchase);
}
