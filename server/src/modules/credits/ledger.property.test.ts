import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import pino from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { createPool, type Database, openDatabase, type Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { userAccount } from './accounts.ts';
import { gatherSends, type SendGathered } from './gather-sends.ts';
import { expireHolds, extendHold, growHold, hold, readSend, type Send, settle, transfer } from './ledger.ts';
import { getUserTotals } from './queries.ts';
import { insertTestUser } from './test-user.ts';
import { verifyLedger } from './verify-ledger.ts';

/** Printed in the tests' names; put a number here to repeat a run. */
const seed = randomInt(2 ** 31);
const USERS = 4;
const GRANT = 100n;
const CONNECTIONS = 16;

/** Moves speak of users, keys and holds by small numbers, so that they meet often. */
type Move =
  | { move: 'transfer'; from: number; to: number; amount: bigint; key: number | null }
  | { move: 'send'; from: number; to: number | null; amount: bigint; key: number | null }
  | { move: 'hold'; user: number; amount: bigint; key: number; minutes: number }
  | { move: 'extend'; hold: number; amount: bigint | undefined; minutes: number | undefined }
  | { move: 'grow'; hold: number; by: bigint; minutes: number | undefined }
  | { move: 'settle'; hold: number; amount: bigint }
  | { move: 'expire'; minutes: number };

const user = fc.nat(USERS - 1);
const amount = fc.bigInt(1n, 60n);
const minutes = fc.nat(60);
const anyMove: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      move: fc.constant('transfer'),
      from: user,
      to: user,
      amount,
      key: fc.option(fc.nat(5)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      move: fc.constant('send'),
      from: user,
      to: fc.option(user, { freq: 10 }),
      amount,
      key: fc.option(fc.nat(5)),
    }),
  },
  { weight: 4, arbitrary: fc.record({ move: fc.constant('hold'), user, amount, key: fc.nat(12), minutes }) },
  {
    weight: 2,
    arbitrary: fc.record({
      move: fc.constant('extend'),
      hold: fc.nat(12),
      amount: fc.option(amount, { nil: undefined }),
      minutes: fc.option(minutes, { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      move: fc.constant('grow'),
      hold: fc.nat(12),
      by: amount,
      minutes: fc.option(minutes, { nil: undefined }),
    }),
  },
  // Zero is a release.
  {
    weight: 4,
    arbitrary: fc.record({ move: fc.constant('settle'), hold: fc.nat(12), amount: fc.bigInt(0n, 60n) }),
  },
  { weight: 1, arbitrary: fc.record({ move: fc.constant('expire'), minutes }) },
);
const moves = fc.array(anyMove, { minLength: 1, maxLength: 60 });

/** 'ok', the code of the refusal, or 'mistake' for what only a wrong caller can ask. */
type Outcome = string;

type ModelHold = {
  user: number;
  asked: bigint;
  amount: bigint;
  minutes: number;
  /** Undefined while it is open; 0 when released. */
  settled?: bigint;
};

/** The ledger's promises, once more, in the plainest way. */
class Model {
  readonly balances = Array.from({ length: USERS }, () => GRANT);
  readonly holds = new Map<number, ModelHold>();
  readonly transfers = new Map<number, { from: number; to: number; amount: bigint }>();
  /** By sender and key. */
  readonly sends = new Map<string, { to: number; amount: bigint }>();

  held(who: number): bigint {
    return [...this.holds.values()]
      .filter((held) => held.user === who && held.settled === undefined)
      .reduce((sum, held) => sum + held.amount, 0n);
  }

  available(who: number): bigint {
    return (this.balances[who] ?? 0n) - this.held(who);
  }

  credit(who: number, amountMicro: bigint): void {
    this.balances[who] = (this.balances[who] ?? 0n) + amountMicro;
  }

  apply(move: Move): Outcome {
    switch (move.move) {
      case 'transfer': {
        const first = move.key === null ? undefined : this.transfers.get(move.key);
        if (first) {
          const same = first.from === move.from && first.to === move.to && first.amount === move.amount;
          return same ? 'ok' : 'idempotency_conflict';
        }
        if (this.available(move.from) < move.amount) return 'insufficient_funds';
        if (move.from === move.to) return 'mistake';
        if (move.key !== null) this.transfers.set(move.key, move);
        this.credit(move.from, -move.amount);
        this.credit(move.to, move.amount);
        return 'ok';
      }
      case 'send': {
        const key = `${move.from}:${move.key}`;
        const first = move.key === null ? undefined : this.sends.get(key);
        if (first)
          return first.to === move.to && first.amount === move.amount ? 'ok' : 'idempotency_conflict';
        if (this.available(move.from) < move.amount) return 'insufficient_funds';
        if (move.to === null) return 'not_found';
        if (move.from === move.to) return 'invalid_request';
        if (move.key !== null) this.sends.set(key, { to: move.to, amount: move.amount });
        this.credit(move.from, -move.amount);
        this.credit(move.to, move.amount);
        return 'ok';
      }
      case 'hold': {
        const first = this.holds.get(move.key);
        if (first)
          return first.user === move.user && first.asked === move.amount ? 'ok' : 'idempotency_conflict';
        if (this.available(move.user) < move.amount) return 'insufficient_funds';
        this.holds.set(move.key, {
          user: move.user,
          asked: move.amount,
          amount: move.amount,
          minutes: move.minutes,
        });
        return 'ok';
      }
      case 'extend': {
        const held = this.holds.get(move.hold);
        if (!held) return 'mistake';
        if (held.settled !== undefined) return 'conflict';
        const larger = move.amount !== undefined && move.amount > held.amount ? move.amount : held.amount;
        if (larger - held.amount > this.available(held.user)) return 'insufficient_funds';
        held.amount = larger;
        held.minutes = Math.max(held.minutes, move.minutes ?? 0);
        return 'ok';
      }
      case 'grow': {
        const held = this.holds.get(move.hold);
        if (!held) return 'mistake';
        if (held.settled !== undefined) return 'conflict';
        if (move.by > this.available(held.user)) return 'insufficient_funds';
        held.amount += move.by;
        held.minutes = Math.max(held.minutes, move.minutes ?? 0);
        return 'ok';
      }
      case 'settle': {
        const held = this.holds.get(move.hold);
        if (!held) return 'mistake';
        if (held.settled !== undefined) return held.settled === move.amount ? 'ok' : 'conflict';
        if (move.amount > held.amount) return 'mistake';
        held.settled = move.amount;
        this.credit(held.user, -move.amount);
        return 'ok';
      }
      case 'expire': {
        for (const held of this.holds.values()) {
          if (held.settled === undefined && held.minutes <= move.minutes) held.settled = 0n;
        }
        return 'ok';
      }
    }
  }
}

let db: Database;
let sendGathered: SendGathered;
beforeAll(async () => {
  const database = await testDatabase();
  const pool = createPool(database.url, { poolSize: CONNECTIONS });
  db = openDatabase(pool);
  sendGathered = gatherSends({ db, pool, log: pino({ level: 'silent' }) });
  onFileEnd(() => db.destroy());
});

const start = Date.parse('2030-01-01T00:00:00Z');
const at = (minute: number) => new Date(start + minute * 60_000);

/** One run's users and what their keys and holds are in the database. */
class Actual {
  readonly users: string[];
  readonly holdIds = new Map<number, string>();
  readonly run = crypto.randomUUID();

  constructor(users: string[]) {
    this.users = users;
  }

  async apply(move: Move): Promise<Outcome> {
    try {
      if (move.move === 'send') await this.#send(move);
      else await db.transaction().execute((tx) => this.#step(tx, move));
      return 'ok';
    } catch (error) {
      if (error instanceof AppError) return error.code;
      const isMistake =
        error instanceof Error && /^There is no hold|is smaller than|accounts_differ/.test(error.message);
      if (isMistake) return 'mistake';
      throw error;
    }
  }

  async #send(move: Extract<Move, { move: 'send' }>): Promise<void> {
    const asked: Send = {
      senderId: this.users[move.from] ?? '',
      recipient: move.to === null ? 'nobody-at-all' : (this.users[move.to] ?? ''),
      amountMicro: move.amount,
      idempotencyKey: move.key === null ? null : `${this.run}:${move.key}`,
    };
    readSend(await sendGathered(asked), asked);
  }

  async #step(tx: Transaction, move: Exclude<Move, { move: 'send' }>): Promise<unknown> {
    switch (move.move) {
      case 'transfer':
        return transfer(tx, {
          debitAccountId: userAccount(this.users[move.from] ?? ''),
          creditAccountId: userAccount(this.users[move.to] ?? ''),
          amountMicro: move.amount,
          kind: 'transfer',
          description: 'Bagels',
          idempotencyKey: move.key === null ? null : `${this.run}:${move.key}`,
        });
      case 'hold': {
        const { holdId } = await hold(tx, {
          userId: this.users[move.user] ?? '',
          amountMicro: move.amount,
          kind: 'llm_inference',
          description: 'Chat',
          expiresAt: at(move.minutes),
          idempotencyKey: `${this.run}:${move.key}`,
        });
        this.holdIds.set(move.key, holdId);
        return;
      }
      case 'extend':
        return extendHold(tx, {
          holdId: this.#hold(move.hold),
          amountMicro: move.amount,
          expiresAt: move.minutes === undefined ? undefined : at(move.minutes),
        });
      case 'grow':
        return growHold(tx, {
          holdId: this.#hold(move.hold),
          byMicro: move.by,
          expiresAt: move.minutes === undefined ? undefined : at(move.minutes),
        });
      case 'settle':
        return settle(tx, { holdId: this.#hold(move.hold), amountMicro: move.amount });
      case 'expire':
        return expireHolds(tx, { now: at(move.minutes), limit: 1000 });
    }
  }

  #hold(key: number): string {
    return this.holdIds.get(key) ?? '00000000-0000-0000-0000-000000000000';
  }

  totals() {
    return Promise.all(this.users.map((id) => getUserTotals(db, id)));
  }
}

async function newRun(): Promise<Actual> {
  const users = await Promise.all(
    Array.from({ length: USERS }, () => insertTestUser(db, { grantMicro: GRANT })),
  );
  return new Actual(users);
}

async function expectRightBooks(): Promise<void> {
  expect((await verifyLedger(db)).checks.filter((check) => !check.ok)).toEqual([]);
}

/** Ends what a run left open, so that the next run's expiry meets only its own holds. */
async function expectNoHoldAfterExpiry(actual: Actual): Promise<void> {
  await actual.apply({ move: 'expire', minutes: 61 });
  for (const totals of await actual.totals()) expect(totals.held).toBe(0n);
  expect((await verifyLedger(db)).openHolds).toBe(0);
}

test(`one move after the other: each outcome and every balance as the model says (seed ${seed})`, async () => {
  const property = fc.asyncProperty(moves, async (sequence) => {
    const model = new Model();
    const actual = await newRun();
    for (const move of sequence) {
      expect(await actual.apply(move)).toBe(model.apply(move));
    }
    expect(await actual.totals()).toEqual(
      model.balances.map((balance, who) => ({ balance, held: model.held(who) })),
    );
    await expectNoHoldAfterExpiry(actual);
    await expectRightBooks();
  });
  await fc.assert(property, { seed, numRuns: 40 });
});

test(`moves at once on ${CONNECTIONS} connections: what was answered is what happened (seed ${seed})`, async () => {
  const anyWave = fc.array(anyMove, { minLength: 8, maxLength: 40 });
  const property = fc.asyncProperty(fc.array(anyWave, { minLength: 2, maxLength: 5 }), async (waves) => {
    const actual = await newRun();
    const answered: { move: Move; outcome: Outcome }[] = [];
    for (const wave of waves) {
      let running = true;
      // Nobody may ever see books that are wrong, not even for a moment.
      const watch = async () => {
        while (running) await expectRightBooks();
      };
      const act = async () => {
        try {
          return await Promise.all(wave.map((one) => actual.apply(one)));
        } finally {
          running = false;
        }
      };
      const [outcomes] = await Promise.all([act(), watch()]);
      wave.forEach((move, i) => answered.push({ move, outcome: outcomes[i] ?? '' }));
    }

    const balances = Array.from({ length: USERS }, () => GRANT);
    const counted = new Set<string>();
    for (const { move, outcome } of answered) {
      if (outcome !== 'ok') continue;
      if (move.move === 'transfer' || move.move === 'send') {
        const key = move.move === 'send' ? `send:${move.from}:${move.key}` : `transfer:${move.key}`;
        if (move.to === null || (move.key !== null && counted.has(key))) continue;
        counted.add(key);
        balances[move.from] = (balances[move.from] ?? 0n) - move.amount;
        balances[move.to] = (balances[move.to] ?? 0n) + move.amount;
      }
      if (move.move === 'settle') {
        const key = `settle:${move.hold}`;
        if (counted.has(key)) continue;
        counted.add(key);
        const owner = answered.find(
          (a) => a.outcome === 'ok' && a.move.move === 'hold' && a.move.key === move.hold,
        );
        if (owner?.move.move !== 'hold') throw new Error('A hold was settled that nobody made');
        balances[owner.move.user] = (balances[owner.move.user] ?? 0n) - move.amount;
      }
    }
    expect((await actual.totals()).map((totals) => totals.balance)).toEqual(balances);
    await expectNoHoldAfterExpiry(actual);
    await expectRightBooks();
  });
  // What happens at once differs from run to run, so there is nothing to shrink.
  await fc.assert(property, { seed, numRuns: 15, endOnFailure: true });
});
