import { fork } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import pino from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { effort } from '../../../testing/soak.ts';
import { type TestDatabase, testDatabase } from '../../../testing/test-database.ts';
import { getUserTotals } from '../queries.ts';
import { insertTestKey, insertTestUser } from '../testing/test-user.ts';
import { verifyLedger } from '../verification/verify-ledger.ts';
import { userAccount } from './accounts.ts';
import { batchSends, type SendInBatch } from './sends.ts';
import { LedgerModel, NEVER, usedMicro } from './testing/ledger-model.ts';
import { applyMove } from './testing/ledger-moves.ts';
import { at, type Move, type Outcome, type Run, type Taken } from './testing/moves.ts';
import { countWrongKeys, getKeyTotals, listPortions, listSpendingOrder } from './testing/property-queries.ts';

/** The test names contain the seed. Set it here to repeat a run. */
const seed = randomInt(2 ** 31);
const USERS = 4;
const GIVEN = 40n;
const BOUGHT = 60n;
/** Budgets of the users' API keys; the last user has none. */
const BUDGETS = [50n, 25n, null];
const WINDOWS = 2;
const LIMIT_MS = effort({ usual: 300_000, soak: 3_600_000 });
const PROCESSES = 3;
const CONNECTIONS = 6;

const user = fc.nat(USERS - 1);
const amount = fc.bigInt(1n, 60n);
const minutes = fc.nat(60);
const key = fc.option(fc.nat(5));
const withKey = fc.boolean();
const window = fc.nat(WINDOWS - 1);
// A small number, so that moves often refer to the same hold.
const aHold = fc.nat(4);
const is = <Name extends string>(move: Name) => fc.constant(move);
const perhaps = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const anyMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ move: is('transfer'), from: user, to: user, amount, key }) },
  {
    weight: 3,
    arbitrary: fc.record({ move: is('send'), from: user, to: fc.option(user, { freq: 10 }), amount, key }),
  },
  { weight: 2, arbitrary: fc.record({ move: is('give'), user, amount, minutes: fc.option(minutes) }) },
  { weight: 4, arbitrary: fc.record({ move: is('hold'), user, amount, key: aHold, minutes, withKey }) },
  {
    weight: 2,
    arbitrary: fc.record({
      move: is('extend'),
      hold: aHold,
      amount: perhaps(amount),
      minutes: perhaps(minutes),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ move: is('grow'), hold: aHold, by: amount, minutes: perhaps(minutes) }),
  },
  // An amount of zero releases the hold.
  { weight: 4, arbitrary: fc.record({ move: is('settle'), hold: aHold, amount: fc.bigInt(0n, 60n) }) },
  { weight: 1, arbitrary: fc.record({ move: is('expire'), minutes }) },
  { weight: 1, arbitrary: fc.record({ move: is('expireGiven'), minutes }) },
  { weight: 1, arbitrary: fc.record({ move: is('chargeBack'), user, amount, key }) },
  { weight: 1, arbitrary: fc.record({ move: is('collect') }) },
  { weight: 4, arbitrary: fc.record({ move: is('open'), window, user, amount, minutes, withKey }) },
  { weight: 2, arbitrary: fc.record({ move: is('widen'), window, by: amount }) },
  {
    weight: 6,
    arbitrary: fc.record({
      move: is('use'),
      window,
      from: fc.integer({ min: 1, max: 3 }),
      answers: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ move: is('close'), window }) },
);
// With the default size, sequences have about ten moves, which is too few for collisions.
const moves = fc.array(anyMove, { minLength: 1, maxLength: 60, size: 'max' });

let database: TestDatabase;
let send: SendInBatch;
beforeAll(async () => {
  database = await testDatabase();
  send = batchSends({ ...database, log: pino({ level: 'silent' }) });
});

const apply = (run: Run, move: Move) => applyMove({ ...database, send }, run, move);
const totalsOf = (run: Run) => Promise.all(run.users.map((id) => getUserTotals(database.db, id)));

const keyTotalsOf = (run: Run) =>
  Promise.all(run.keys.map(async (id) => (id === undefined ? undefined : getKeyTotals(database.db, id))));

const portionsOf = (run: Run) =>
  Promise.all(
    run.users.map(async (id) => {
      const portions = await listPortions(database.db, userAccount(id));
      const minuteOf = (end: Date | null) =>
        end === null ? NEVER : (end.getTime() - at(0).getTime()) / 60_000;
      return new Map(portions.map(({ end, left }) => [minuteOf(end), left]));
    }),
  );

async function newRun(): Promise<Run> {
  const start = { grantMicro: GIVEN, boughtMicro: BOUGHT };
  const users = await Promise.all(Array.from({ length: USERS }, () => insertTestUser(database.db, start)));
  const keys = await Promise.all(
    users.map(async (userId, who) => {
      const budgetMicro = BUDGETS[who];
      return budgetMicro === undefined ? undefined : insertTestKey(database.db, { userId, budgetMicro });
    }),
  );
  const windows = Array.from({ length: WINDOWS }, () => randomUUID());
  return { name: randomUUID(), users, keys, leaderId: randomUUID(), windows };
}

async function expectRightBooks(): Promise<void> {
  expect((await verifyLedger(database.db)).checks.filter((check) => !check.ok)).toEqual([]);
  expect(await countWrongKeys(database.db)).toBe(0);
}

/** Charges must use given credits first. Transfers and chargebacks must not use given credits. */
async function expectGivenFirst(run: Run): Promise<void> {
  for (const account of run.users.map(userAccount)) {
    let left = 0n;
    for (const { amount: moved, given, kind, comes } of await listSpendingOrder(database.db, account)) {
      if (comes) {
        left += given;
        continue;
      }
      const isSpent = kind === 'charge' || kind === 'expiry';
      expect(given).toBe(!isSpent ? 0n : moved < left ? moved : left);
      left -= given;
    }
  }
}

/** Ends all open holds of the run, so that they do not affect the next run, and checks the ledger. */
async function endHoldsAndVerify(run: Run): Promise<void> {
  await apply(run, { move: 'expire', minutes: 61 });
  for (const totals of await totalsOf(run)) expect(totals.held).toBe(0n);
  expect((await verifyLedger(database.db)).openHolds).toBe(0);
  await apply(run, { move: 'expireGiven', minutes: 61 });
  await apply(run, { move: 'collect' });
  await expectRightBooks();
  await expectGivenFirst(run);
}

test(`sequential moves have the same outcomes and balances as in the model (seed ${seed})`, {
  timeout: LIMIT_MS,
}, async () => {
  const property = fc.asyncProperty(moves, async (sequence) => {
    const model = new LedgerModel(USERS, { given: GIVEN, bought: BOUGHT, budgets: BUDGETS });
    const run = await newRun();
    for (const move of sequence) {
      expect((await apply(run, move)).outcome).toBe(model.apply(move));
    }
    expect(await totalsOf(run)).toEqual(model.totals());
    expect(await keyTotalsOf(run)).toEqual(model.keyTotals());
    expect(await portionsOf(run)).toEqual(model.portions());
    await endHoldsAndVerify(run);
  });
  await fc.assert(property, { seed, numRuns: effort({ usual: 10, soak: 2_000 }) });
});

type Answer = { outcome: Outcome; taken: Taken };

/** Starts a server process that runs the moves it receives. */
function startProcess(url: string): (run: Run, move: Move) => Promise<Answer> {
  const program = fileURLToPath(import.meta.resolve('./testing/ledger-moves-process.ts'));
  // Amounts are bigint, which JSON does not support.
  const child = fork(program, ['--url', url, '--connections', String(CONNECTIONS)], {
    serialization: 'advanced',
  });
  onFileEnd(async () => void child.kill('SIGKILL'));
  const waiting = new Map<number, (message: { answer?: Answer; error?: string }) => void>();
  child.on('message', (message: { id: number; answer?: Answer; error?: string }) =>
    waiting.get(message.id)?.(message),
  );
  let last = 0;
  return (run, move) => {
    last += 1;
    const id = last;
    const answered = new Promise<Answer>((resolve, reject) => {
      waiting.set(id, ({ answer, error }) => (answer ? resolve(answer) : reject(new Error(error))));
      child.once('exit', () => reject(new Error('The process has ended')));
    });
    child.setMaxListeners(0);
    child.send({ id, run, move });
    return answered;
  };
}

type Answered = Answer & { move: Move };

/** Returns the number of the last acknowledged answer in a usage window; 0 if there is none. */
function writtenIn(ok: Answered[], place: number): number {
  const ends = ok.map(({ move }) =>
    move.move === 'use' && move.window === place ? move.from + move.answers - 1 : 0,
  );
  return Math.max(0, ...ends);
}

/** Returns the expected hold of a usage window, calculated from the acknowledged moves. */
function heldIn(ok: Answered[], place: number, first: bigint): bigint {
  return ok.reduce(
    (held, { move }) => held + (move.move === 'widen' && move.window === place ? move.by : 0n),
    first,
  );
}

/** Returns the expected balances after all acknowledged moves, in any order. */
function balancesAfter(run: Run, answered: Answered[]): bigint[] {
  const balances = run.users.map(() => GIVEN + BOUGHT);
  const add = (who: number, amountMicro: bigint) => {
    balances[who] = (balances[who] ?? 0n) + amountMicro;
  };
  const counted = new Set<string>();
  const isRepeated = (name: string) => counted.size === counted.add(name).size;
  const ok = answered.filter(({ outcome }) => outcome === 'ok');
  for (const { move, taken } of ok) {
    const repeats =
      ((move.move === 'transfer' || move.move === 'send') &&
        move.key !== null &&
        isRepeated(move.move === 'send' ? `send:${move.from}:${move.key}` : `transfer:${move.key}`)) ||
      (move.move === 'settle' && isRepeated(`settle:${move.hold}`));
    if (repeats) continue;
    for (const { userId, amountMicro } of taken) add(run.users.indexOf(userId), -amountMicro);
    if (move.move === 'give') add(move.user, move.amount);
    if (move.move === 'transfer' || move.move === 'send') {
      add(move.from, -move.amount);
      if (move.to !== null) add(move.to, move.amount);
    }
    if (move.move === 'close') {
      const owner = ok.find((other) => other.move.move === 'open' && other.move.window === move.window);
      if (owner?.move.move !== 'open') throw new Error('A usage window was closed without being opened');
      const used = usedMicro(writtenIn(ok, move.window));
      const held = heldIn(ok, move.window, owner.move.amount);
      add(owner.move.user, -(used < held ? used : held));
    }
    if (move.move === 'settle') {
      const owner = ok.find((other) => other.move.move === 'hold' && other.move.key === move.hold);
      if (owner?.move.move !== 'hold') throw new Error('A hold was settled that does not exist');
      add(owner.move.user, -move.amount);
    }
  }
  return balances;
}

test(`concurrent moves from ${PROCESSES} processes leave the balances that their acknowledged outcomes add up to (seed ${seed})`, {
  timeout: LIMIT_MS,
}, async () => {
  const processes = Array.from({ length: PROCESSES }, () => startProcess(database.url));
  const anyWave = fc.array(anyMove, { minLength: 8, maxLength: 40, size: 'max' });
  const property = fc.asyncProperty(fc.array(anyWave, { minLength: 2, maxLength: 5 }), async (waves) => {
    const run = await newRun();
    const answered: Answered[] = [];
    for (const wave of waves) {
      let running = true;
      // The ledger must also be correct while moves run.
      const watch = async () => {
        while (running) await expectRightBooks();
      };
      const act = async () => {
        try {
          return await Promise.all(
            wave.map(async (move, i) => ({ move, ...(await processes[i % PROCESSES]!(run, move)) })),
          );
        } finally {
          running = false;
        }
      };
      const [answers] = await Promise.all([act(), watch()]);
      answered.push(...answers);
    }
    expect((await totalsOf(run)).map(({ balance }) => balance)).toEqual(balancesAfter(run, answered));
    await endHoldsAndVerify(run);
  });
  // Do not shrink failures, because concurrent runs cannot be repeated exactly.
  await fc.assert(property, { seed, numRuns: effort({ usual: 5, soak: 500 }), endOnFailure: true });
});
