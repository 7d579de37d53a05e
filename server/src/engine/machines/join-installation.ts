import { createHmac, timingSafeEqual } from 'node:crypto';
import { hostname } from 'node:os';
import { sql } from 'kysely';
import type { Config } from '../../config.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { readMachineId } from './machine-id.ts';
import { findBlobHolder } from './queries.ts';

export type MachineIdentity = {
  id: string;
  /** Whether the bytes of all files lie in this machine's data folder. */
  holdsBlobs: boolean;
};

type Settings = Pick<Config, 'dataDir' | 'databaseUrl' | 'driver' | 'machineHost' | 'secret'>;

/**
 * Enters the machine of this data folder in the list, or says anew what it is. The first one of an
 * installation holds the bytes of all files, and takes what an earlier version has left without a
 * machine. Throws a plain sentence when another machine has another secret.
 */
export async function joinInstallation(
  db: Database,
  { dataDir, databaseUrl, driver, machineHost, secret = '' }: Settings,
  { runsWork, now }: { runsWork: boolean; now: Date },
): Promise<MachineIdentity> {
  // Nobody else has a database that lies in this data folder: without its file it is the same machine.
  const known = databaseUrl ? null : ((await findBlobHolder(db))?.id ?? null);
  const id = await readMachineId(dataDir, known);
  const secretCheck = createHmac('sha256', secret).update('bakehouse machine').digest();
  return inTransaction(db, async (tx) => {
    // Of two that start at once one is the first.
    await sql`lock table machines in share row exclusive mode`.execute(tx);
    const holder = await findBlobHolder(tx);
    // What the holder says counts: a lost secret ends sessions, and nothing else.
    if (holder && holder.id !== id && !timingSafeEqual(holder.secretCheck, secretCheck)) {
      throw new Error(
        "This machine's secret is not that of the machine that holds the files: set BAKEHOUSE_SECRET to the same on both (where it is not set, it is in the file `secret` of the data folder)",
      );
    }
    const holdsBlobs = holder === null || holder.id === id;
    const columns = { name: hostname(), host: machineHost, driver, secret_check: secretCheck };
    await tx
      .insertInto('machines')
      .values({ id, ...columns, holds_blobs: holdsBlobs, started_at: now })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(runsWork ? { ...columns, started_at: now } : columns),
      )
      .execute();
    if (!holder) await adopt(tx, id);
    return { id, holdsBlobs };
  });
}

/** Takes what an earlier version, which knew of one machine only, has left. */
async function adopt(tx: Transaction, machineId: string): Promise<void> {
  await tx
    .updateTable('preparations')
    .set({ machine_id: machineId })
    .where('machine_id', 'is', null)
    .execute();
  await tx
    .updateTable('workloads')
    .set({ machine_id: machineId })
    .where('machine_id', 'is', null)
    .where('files_removed_at', 'is', null)
    .where((where) => where.or([where('attempt', '>', 0), where('devices', 'is not', null)]))
    .execute();
}
