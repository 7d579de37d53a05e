import { sql } from 'kysely';
import type { Database, Transaction } from '../../../../platform/db/database.ts';

/**
 * All moves of the ledger, for its property tests. Users, keys, holds and usage windows have small numbers,
 * so that moves collide often. Null minutes mean never. With a key: with the user's API key, if there is one.
 */
export type Move =
  | { move: 'transfer'; from: number; to: number; amount: bigint; key: number | null }
  | { move: 'send'; from: number; to: number | null; amount: bigint; key: number | null }
  | { move: 'give'; user: number; amount: bigint; minutes: number | null }
  | { move: 'hold'; user: number; amount: bigint; key: number; minutes: number; withKey: boolean }
  | { move: 'extend'; hold: number; amount: bigint | undefined; minutes: number | undefined }
  | { move: 'grow'; hold: number; by: bigint; minutes: number | undefined }
  | { move: 'settle'; hold: number; amount: bigint }
  | { move: 'expire'; minutes: number }
  | { move: 'expireGiven'; minutes: number }
  | { move: 'chargeBack'; user: number; amount: bigint; key: number | null }
  | { move: 'collect' }
  | { move: 'open'; window: number; user: number; amount: bigint; minutes: number; withKey: boolean }
  | { move: 'widen'; window: number; by: bigint }
  /** Writes several answers, starting with the window's answer number `from`. */
  | { move: 'use'; window: number; from: number; answers: number }
  | { move: 'close'; window: number };

export type WindowMove = Extract<Move, { move: 'open' | 'widen' | 'use' | 'close' }>;

/** 'ok', the error code, or 'mistake' for calls that only a bug can make. */
export type Outcome = string;

/** The amounts that a move took, for moves that determine them on their own, by user id. */
export type Taken = { userId: string; amountMicro: bigint }[];

/** A run of moves with its own users, API keys and usage windows, and its name as the prefix of all keys. */
export type Run = {
  name: string;
  users: string[];
  /** By user index; undefined for users without a key. */
  keys: (string | undefined)[];
  leaderId: string;
  windows: string[];
};

const start = Date.parse('2030-01-01T00:00:00Z');
/** Returns the time of a minute of the moves. */
export const at = (minute: number): Date => new Date(start + minute * 60_000);

/** Returns the id of the hold with this key, or the nil UUID. */
export async function findHold(db: Database | Transaction, idempotencyKey: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select id from ledger_holds where idempotency_key = ${idempotencyKey}`.execute(db);
  return rows[0]?.id ?? '00000000-0000-0000-0000-000000000000';
}
