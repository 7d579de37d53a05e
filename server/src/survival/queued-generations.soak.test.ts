import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { pngWith } from '../modules/generations/testing/picture-files.ts';
import { killGenerating, startGenerating } from '../testing/start-generating.ts';
import { testGenerations } from '../testing/test-generations.ts';

/** Number of generations that wait at the start. */
const GENERATIONS = 200;
const LIMIT_MS = 1_800_000;
/** Maximum per user. */
const PER_USER = 8;
/** A process is killed at the start, and then each time after this many generations. */
const KILL_AFTER = 10;
const PICTURE_BYTES = 4 * 1024 * 1024;
const PRICE_MICRO = 125_000n;

const clock = { now: () => new Date(), advance: () => undefined };
const setting = await testGenerations({ generates: false, clock });
const { server, stub } = setting;
const { db } = server.services;

type Count = { ended: number; completed: number; outputs: number; charges: number; charged: bigint };

async function count(): Promise<Count> {
  const { rows } = await sql<Record<keyof Count, bigint>>`
    select count(*) filter (where ended_at is not null) as ended,
      count(*) filter (where state = 'completed') as completed,
      (select count(*) from generation_outputs) as outputs,
      (select count(*) from ledger_transfers where kind = 'charge' and refs ? 'generation_id') as charges,
      (select coalesce(sum(amount), 0)::bigint from ledger_transfers
        where kind = 'charge' and refs ? 'generation_id') as charged
    from generations`.execute(db);
  const [row] = rows;
  const number = (name: Exclude<keyof Count, 'charged'>) => Number(row?.[name] ?? 0n);
  return {
    ...{ ended: number('ended'), completed: number('completed') },
    ...{ outputs: number('outputs'), charges: number('charges'), charged: row?.charged ?? 0n },
  };
}

/** Returns the resident memory of a process in MB, or 0 if the system does not report it. */
async function memoryOf({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}

test(
  'waiting generations are completed and charged once and then released, while the generating processes are killed one after the other',
  async () => {
    stub.picture = {
      ...{ content: pngWith(512, 512, randomBytes(PICTURE_BYTES)).toString('base64') },
      ...{ width: 512, height: 512 },
    };
    for (let started = 0; started < GENERATIONS; ) {
      const user = await server.signUp('Ada');
      for (let own = 0; own < PER_USER && started < GENERATIONS; own += 1, started += 1)
        await setting.generate(user);
    }

    const processes = [await startGenerating(server), await startGenerating(server)];
    let killed = 0;
    /** Peak memory of all processes, per fifty generations. */
    const peaks: number[] = [];
    for (let ended = 0; ended < GENERATIONS; ended = (await count()).ended) {
      const fifty = Math.floor(ended / 50);
      const memory = await Promise.all(processes.map(memoryOf));
      peaks[fifty] = Math.max(peaks[fifty] ?? 0, ...memory);
      if (ended >= killed * KILL_AFTER) {
        const [oldest] = processes.splice(0, 1);
        if (oldest) await killGenerating(oldest);
        killed += 1;
        processes.push(await startGenerating(server));
      }
      await pause(50);
    }

    const { completed, outputs, charges, charged } = await count();
    expect({ completed, outputs, charges, charged }).toEqual({
      ...{ completed: GENERATIONS, outputs: GENERATIONS, charges: GENERATIONS },
      charged: PRICE_MICRO * BigInt(GENERATIONS),
    });
    const { rows: doubled } = await sql`
    select generation_id from generation_outputs group by 1 having count(*) > 1`.execute(db);
    expect(doubled).toEqual([]);
    expect(killed).toBeGreaterThan(0);
    // The last fifty generations need no more memory than the first, except for the caches of the runtime.
    const peak = Math.max(...peaks);
    expect(peak, `MB of each fifty: ${peaks.map(Math.round).join(', ')}`).toBeLessThan(400);
  },
  LIMIT_MS,
);
