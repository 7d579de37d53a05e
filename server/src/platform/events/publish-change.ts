import { type ChangeEvent, changeEvent } from '@bakehouse/contract/events';
import { sql } from 'kysely';
import * as z from 'zod';
import type { Transaction } from '../db/database.ts';

export const CHANNEL = 'bakehouse_change';
export const message = z.object({ user_id: z.string().nullable(), event: changeEvent });

/** What travels on the channel. */
export function toPayload(userId: string | null, event: ChangeEvent): string {
  const payload: z.infer<typeof message> = { user_id: userId, event };
  return JSON.stringify(payload);
}

/**
 * Announces a change to the user's listeners, or with null to everybody's, when the transaction
 * commits, and not if it fails. An event carries no data: whoever hears it reads the new state
 * through the ordinary call.
 */
export async function publishChange(
  tx: Transaction,
  userId: string | null,
  event: ChangeEvent,
): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, ${toPayload(userId, event)})`.execute(tx);
}

/** The same for many changes at once. */
export async function publishChanges(
  tx: Transaction,
  changes: { userId: string | null; event: ChangeEvent }[],
): Promise<void> {
  const payloads = changes.map(({ userId, event }) => toPayload(userId, event));
  await sql`select pg_notify(${CHANNEL}, payload) from unnest(${payloads}::text[]) payload`.execute(tx);
}
