import { createHmac, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import type { Config } from '../../config.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { readOrMakeFile } from '../../platform/files/data-files.ts';
import { isUuid } from '../../platform/is-uuid.ts';
import { blobsDir, hasBlobs } from '../../platform/storage/open-blob-store.ts';
import type { Capacity } from '../model/capacity.ts';
import {
  findInstallationMachine,
  hasOtherSecret,
  type InstallationMachine,
  listMachines,
} from './queries.ts';

type MachineIdentity = {
  /** The machine's id. A process without a machine gets an id that no machine has. */
  id: string;
  /** False for a process without a machine. */
  isMachine: boolean;
  /** Derived from the secret that this process was started with. */
  secretCheck: Buffer;
};

type Settings = Pick<Config, 'dataDir' | 'databaseUrl' | 'driver' | 'machineHost' | 's3' | 'secret'>;

/**
 * Registers the machine of this data folder, or updates its row. An installation has one machine. If files
 * are in a bucket, a process that runs no work belongs to no machine. The first machine adopts the work of
 * earlier versions. Throws a plain sentence if the installation already has a different machine, if a live
 * process has another secret, or if the files seem to be stored elsewhere.
 */
export async function joinInstallation(
  db: Database,
  settings: Settings,
  { runsWork, now }: { runsWork: boolean; now: Date },
): Promise<MachineIdentity> {
  const { dataDir, databaseUrl, s3, secret = '' } = settings;
  const hasFiles = await hasBlobs(blobsDir(settings));
  const secretCheck = createHmac('sha256', secret).update('bakehouse machine').digest();
  if (s3 && !hasFiles && !runsWork) return joinAlone(db, secretCheck);
  // With the embedded database, this data folder belongs to the machine, even if the file `machine` is
  // missing.
  const known = databaseUrl ? null : await findInstallationMachine(db);
  const id = await readMachineId(dataDir, known?.id ?? null);
  return inTransaction(db, async (tx) => {
    // One process at a time, because several may start together.
    await sql`lock table machines in share row exclusive mode`.execute(tx);
    const machine = await findInstallationMachine(tx);
    if (!machine?.holdsBlobs && !s3 && !hasFiles) await assertFilesPresent(tx);
    if (machine && machine.id !== id) throw hasMachine(machine, path.join(dataDir, 'machine'));
    // Only checked against live processes: losing the secret while none runs only ends sessions.
    if (s3 && (await hasOtherSecret(tx, secretCheck))) throw otherSecret();
    const holdsBlobs = s3 === null || hasFiles;
    await register(tx, { id, holdsBlobs }, settings, runsWork ? now : null, now);
    if (machine === null) await adopt(tx, id);
    return { id, isMachine: true, secretCheck };
  });
}

/** Joins as a process without a machine, because it runs no work and the files are in a bucket. */
async function joinAlone(db: Database, secretCheck: Buffer): Promise<MachineIdentity> {
  const machine = await findInstallationMachine(db);
  if (machine?.holdsBlobs)
    throw new Error(
      `Files of this installation are still stored on ${machine.name}: move them to the bucket there (./bakehouse blobs move), delete its folder of files and restart it; then this process can start`,
    );
  if (await hasOtherSecret(db, secretCheck)) throw otherSecret();
  return { id: randomUUID(), isMachine: false, secretCheck };
}

async function register(
  tx: Transaction,
  { id, holdsBlobs }: { id: string; holdsBlobs: boolean },
  { driver, machineHost }: Settings,
  startedAt: Date | null,
  now: Date,
): Promise<void> {
  const columns = { name: hostname(), host: machineHost, driver, holds_blobs: holdsBlobs };
  await tx
    .insertInto('machines')
    .values({ id, ...columns, started_at: now })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ ...columns, ...(startedAt && { started_at: startedAt }) }),
    )
    .execute();
}

/**
 * Throws if the database lists files, but neither the machine's folder nor this one has any: then they are in
 * a bucket, and the setting is missing here.
 */
async function assertFilesPresent(tx: Transaction): Promise<void> {
  const { rows } = await sql`
    select from blobs
    where exists (select from machines) or exists (select from processes where machine_id is null)
    limit 1`.execute(tx);
  if (rows.length > 0)
    throw new Error(
      'The files of this installation are in a bucket, but BAKEHOUSE_S3_BUCKET is not set: set BAKEHOUSE_S3_BUCKET and the related settings to the values of the other processes. If the files were copied back, they are missing from the folder `blobs` of this data folder.',
    );
}

function hasMachine({ id, name }: InstallationMachine, file: string): Error {
  return new Error(
    `This installation already has a machine, ${name}: use its data folder, or start this process with --services=web,worker on files in a bucket, or send work to a cluster (docs/deployment.md). If its files were moved into this data folder, write ${id} into ${file}.`,
  );
}

function otherSecret(): Error {
  return new Error(
    "This machine's secret differs from the secret of the other processes: set BAKEHOUSE_SECRET to the same value everywhere (if it is not set, the secret is in the file `secret` of the data folder)",
  );
}

/** Adopts work of earlier versions, which had no machines. */
async function adopt(tx: Transaction, machineId: string): Promise<void> {
  await tx
    .updateTable('workloads')
    .set({ machine_id: machineId })
    .where('machine_id', 'is', null)
    .where('files_removed_at', 'is', null)
    .where((where) => where.or([where('attempt', '>', 0), where('devices', 'is not', null)]))
    .execute();
}

/**
 * Returns the id of the machine that a data folder belongs to. It is read from the folder's file `machine`,
 * which is created if missing. `known` is the expected id, if the caller knows it. Throws a plain sentence if
 * the file is unusable.
 */
async function readMachineId(dataDir: string, known: string | null): Promise<string> {
  const file = path.join(dataDir, 'machine');
  const id = await readOrMakeFile(file, known ?? randomUUID());
  if (!isUuid(id)) {
    throw new Error(
      `${file} does not contain the id of a machine: restore it from a backup; without it this server counts as a different machine`,
    );
  }
  return id;
}

/**
 * Returns the combined capacity of the machine and its cluster. Their GPUs are listed separately, because a
 * workload uses GPUs of only one of them. Calls `own` if neither has published an offer yet.
 */
export async function installationCapacity(db: Database, own: () => Promise<Capacity>): Promise<Capacity> {
  const machines = await listMachines(db);
  const present = machines.filter(({ isPresent }) => isPresent);
  // If none is present, for example during a restart, use the last known offers.
  const offers = (present.length > 0 ? present : machines).flatMap(({ offer }) =>
    offer ? [offer.capacity] : [],
  );
  return offers.length === 0 ? own() : sumCapacities(offers);
}

export function sumCapacities(capacities: Capacity[]): Capacity {
  const memories = capacities.flatMap(({ cpuMemoryBytes }) => cpuMemoryBytes ?? []);
  const sum = (name: 'cpu:run' | 'cpu:deployment') =>
    capacities.reduce((total, capacity) => total + (capacity[name] ?? 0), 0);
  return {
    'cpu:run': sum('cpu:run'),
    'cpu:deployment': sum('cpu:deployment'),
    gpus: capacities.flatMap(({ gpus = [] }) => gpus),
    // The maximum, not the sum: a model has to fit into one machine.
    ...(memories.length > 0 && { cpuMemoryBytes: Math.max(...memories) }),
    servesTextOnGpus: capacities.some(({ servesTextOnGpus }) => servesTextOnGpus),
  };
}
