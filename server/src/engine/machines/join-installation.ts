import { createHmac, timingSafeEqual } from 'node:crypto';
import { hostname } from 'node:os';
import path from 'node:path';
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
  /** What to do where the files were moved here, and this machine does not know that it holds them; '' where it does. */
  ifMoved: string;
};

type Settings = Pick<Config, 'dataDir' | 'databaseUrl' | 'driver' | 'machineHost' | 'secret'>;

/**
 * Registers the machine of this data folder, or updates its row. The first machine of an installation holds the bytes
 * of all files, and takes over work without a machine. Throws a plain sentence when another machine has another
 * secret, or when it and the one that holds the files cannot reach each other.
 */
export async function joinInstallation(
  db: Database,
  { dataDir, databaseUrl, driver, machineHost, secret = '' }: Settings,
  { runsWork, now }: { runsWork: boolean; now: Date },
): Promise<MachineIdentity> {
  // Only this data folder has its embedded database: without its file it is the same machine.
  const known = databaseUrl ? null : ((await findBlobHolder(db))?.id ?? null);
  const id = await readMachineId(dataDir, known);
  const secretCheck = createHmac('sha256', secret).update('bakehouse machine').digest();
  return inTransaction(db, async (tx) => {
    // Of two that start at once one registers first.
    await sql`lock table machines in share row exclusive mode`.execute(tx);
    const holder = await findBlobHolder(tx);
    // What the holder says counts: a lost secret ends sessions, and nothing else.
    if (holder && holder.id !== id && !timingSafeEqual(holder.secretCheck, secretCheck)) {
      throw new Error(
        "This machine's secret is not that of the machine that holds the files: set BAKEHOUSE_SECRET to the same on both (where it is not set, it is in the file `secret` of the data folder)",
      );
    }
    const holdsBlobs = holder === null || holder.id === id;
    const ifMoved =
      holder && !holdsBlobs
        ? `If its files lie in this data folder now, write ${holder.id} into ${path.join(dataDir, 'machine')}.`
        : '';
    if (holder && !holdsBlobs) refuseLoopback(holder, machineHost, ifMoved);
    const columns = { name: hostname(), host: machineHost, driver, secret_check: secretCheck };
    await tx
      .insertInto('machines')
      .values({ id, ...columns, holds_blobs: holdsBlobs, started_at: now })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(runsWork ? { ...columns, started_at: now } : columns),
      )
      .execute();
    if (!holder) await adopt(tx, id);
    return { id, holdsBlobs, ifMoved };
  });
}

/** Two data folders of one computer reach each other by any address, two computers do not by a loopback one. */
function refuseLoopback(holder: { name: string; host: string }, machineHost: string, ifMoved: string): void {
  if (holder.name === hostname()) return;
  if (isLoopback(machineHost)) {
    throw new Error(
      `This machine joins the installation whose files lie on ${holder.name}: set BAKEHOUSE_MACHINE_HOST to the address at which ${holder.name} reaches it. ${ifMoved}`,
    );
  }
  if (isLoopback(holder.host)) {
    throw new Error(
      `${holder.name}, which holds the files of this installation, does not answer other machines: set BAKEHOUSE_MACHINE_HOST and BAKEHOUSE_HOST there to an address at which this one reaches it, and restart it. ${ifMoved}`,
    );
  }
}

function isLoopback(host: string): boolean {
  return /^(localhost$|127\.|\[?(::1|::ffff:127\.))/i.test(host);
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
