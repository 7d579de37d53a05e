import { sql } from 'kysely';
import type { Database, Transaction } from '../../../../platform/db/database.ts';

/**
 * All moves of the ledger, for its property tests. They speak of users, keys, holds and usage windows by small
 * numbers, so that they meet often. Null minutes are never. With a key: with the user's API key, if there is one.
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
  /** Writes so many answers, of which the first is the `from`-th of the window. */
  | { move: 'use'; window: number; from: number; answers: number }
  | { move: 'close'; window: number };

/** Those of a usage window. */
export type WindowMove = Extract<Move, { move: 'open' | 'widen' | 'use' | 'close' }>;

/** 'ok', the code of the refusal, or 'mistake' for what only a wrong caller can ask. */
export type Outcome = string;

/** What a move that decides by itself how much it takes has taken, by user id. */
export type Taken = { userId: string; amountMicro: bigint }[];

/** One run of moves: its own users with their API keys, its own usage windows, and its own name before all keys. */
export type Run = {
  name: string;
  users: string[];
  /** By the place of their users; undefined for who has none. */
  keys: (string | undefined)[];
  leaderId: string;
  windows: string[];
};

const start = Date.parse('2030-01-01T00:00:00Z');
/** The time of a minute of the moves. */
export const at = (minute: number): Date => new Date(start + minute * 60_000);

/** The hold that was made with this key; the id of none where there is none. */
export async function findHold(db: Database | Transaction, idempotencyKey: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select id from ledger_holds where idempotency_key = ${idempotencyKey}`.execute(db);
  return rows[0]?.id ?? '00000000-0000-0000-0000-000000000000';
}
