import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pino from 'pino';
import { systemClock } from '../../../platform/clock.ts';
import type { Services } from '../../../platform/context.ts';
import { createPool, openDatabase } from '../../../platform/db/database.ts';
import { UsageLeader } from '../usage/usage-leader.ts';

/**
 * One server process of usage-crash.test.ts. Uses credits for the callers, each given as `user/key`, until it
 * is killed. Prints JSON lines: each use before it is settled, and each batch after its commit was
 * acknowledged.
 */
const { values, positionals: callers } = parseArgs({
  options: { url: { type: 'string' } },
  allowPositionals: true,
});
const WORKERS = 12;
const PRICE = 100;
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

const pool = createPool(values.url ?? '', { poolSize: 6 });
const query = pool.query.bind(pool) as unknown as (asked: object) => Promise<unknown>;
pool.query = (async (asked: { name?: string }) => {
  const at = Date.now();
  const answer = await query(asked);
  if (asked.name === 'usage_write') {
    const rows = (answer as { rows: { window_id: string; events: bigint | null }[] }).rows;
    // Skip null: the window no longer belongs to this leader, or PostgreSQL has lost it in a crash.
    for (const { window_id, events } of rows)
      if (events !== null) say({ written: window_id, events: Number(events), at });
  }
  return answer;
}) as typeof pool.query;

const services = {
  db: openDatabase(pool),
  pool,
  log: pino({ level: 'silent' }),
  clock: systemClock,
} as unknown as Services;
const leader = new UsageLeader(services);
leader.start();

async function work(): Promise<never> {
  for (;;) {
    const [userId = '', keyId = ''] = (callers[randomInt(callers.length)] ?? '').split('/');
    try {
      const place = await leader.reserve({
        userId,
        keyId,
        use: 'llm_inference',
        source: `model:${randomInt(2)}`,
        description: 'Tokens',
        references: {},
        unitPrices: [1n],
        priceMicro: BigInt(PRICE),
      });
      await sleep(randomInt(5));
      if (randomInt(8) === 0) {
        place.settle(null);
        continue;
      }
      const [id, amount] = [randomUUID(), 1 + randomInt(PRICE)];
      say({ settled: id, window: place.windowId, amount, at: Date.now() });
      place.settle({ id, at: new Date(), amountMicro: BigInt(amount), quantities: { tokens: amount } });
    } catch {
      // The credits or the budget are used up, or PostgreSQL was killed: all are part of the load.
      await sleep(20);
    }
    if (randomInt(200) === 0) await leader.closeIdle(userId);
  }
}

await Promise.all(Array.from({ length: WORKERS }, work));
