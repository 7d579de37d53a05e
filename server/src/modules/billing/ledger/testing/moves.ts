import { sql } from 'kysely';
import type { Database, Transaction } from '../../../../platform/db/database.ts';

/**
 * All operations on the ledger, for its property tests. Users, keys, holds and usage windows have small
 * numbers, so that moves often affect the same ones. `minutes: null` means that something never expires.
 * `withKey` uses the user's API key, if the user has one.
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

/** 'ok', the code of the error, or 'mistake' for a call that a correct server never makes. */
export type Outcome = string;

/** The amounts that a move took from each user, for moves that choose the amounts themselves. */
export type Taken = { userId: string; amountMicro: bigint }[];

/**
 * A run of moves, with its own users, API keys and usage windows. All idempotency keys start with its name.
 */
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
