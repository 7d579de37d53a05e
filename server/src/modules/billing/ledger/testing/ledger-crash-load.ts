import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pino from 'pino';
import { createPool, openDatabase, type Transaction } from '../../../../platform/db/database.ts';
import { inTransaction } from '../../../../platform/db/in-transaction.ts';
import { extendHold, hold, release, settle } from '../holds/holds.ts';
import { assertSent, batchSends, type Send } from '../sends.ts';

/**
 * The load of ledger-crash.test.ts. Moves credits between the users until it is killed, and prints the id of
 * each transfer once its commit is acknowledged. Reconnects after broken connections.
 */
const { values, positionals: users } = parseArgs({
  options: { url: { type: 'string' } },
  allowPositionals: true,
});
const WORKERS = 8;
const pool = createPool(values.url ?? '', { poolSize: WORKERS });
const db = openDatabase(pool);
const sendGathered = batchSends({ db, pool, log: pino({ level: 'silent' }) });

const move = <T>(step: (tx: Transaction) => Promise<T>): Promise<T> => inTransaction(db, step);
const anyUser = (): string => users[randomInt(users.length)] ?? '';
const acknowledge = (transferId: string): boolean => process.stdout.write(`${transferId}\n`);

async function send(): Promise<void> {
  const [from, to] = [anyUser(), anyUser()];
  if (from === to) return;
  const asked: Send = {
    ...{ senderId: from, recipient: to, amountMicro: 1n },
    ...{ idempotencyKey: randomUUID(), keyId: null },
  };
  const { transferId } = assertSent(await sendGathered(asked), asked);
  acknowledge(transferId);
}

/** Creates a hold, and at random settles it, releases it or abandons it. An abandoned hold expires later. */
async function work(): Promise<void> {
  const { holdId } = await move((tx) =>
    hold(tx, {
      userId: anyUser(),
      amountMicro: 10n,
      kind: 'llm_inference',
      description: 'Chat',
      expiresAt: new Date(Date.now() + 60_000),
      idempotencyKey: randomUUID(),
    }),
  );
  const end = randomInt(4);
  if (end === 0) return;
  if (end === 1) return move((tx) => release(tx, { holdId }));
  await move((tx) => extendHold(tx, { holdId, amountMicro: 20n }));
  const { transferId } = await move((tx) => settle(tx, { holdId, amountMicro: 15n }));
  if (transferId) acknowledge(transferId);
}

async function run(): Promise<never> {
  for (;;) {
    try {
      await (randomInt(2) ? send() : work());
    } catch {
      // PostgreSQL was killed, or the credits are used up: both are part of the load.
      await sleep(20);
    }
  }
}

await Promise.all(Array.from({ length: WORKERS }, run));
