import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { inputCacheDir } from './engine/drivers/local/input-cache.ts';
import { runtimeDir } from './engine/host/environment/environment.ts';
import { createHeartbeat, LOST_AFTER_MS } from './engine/machines/heartbeat-loop.ts';
import { joinInstallation } from './engine/machines/join-installation.ts';
import { gatewayPresence } from './modules/chat/upstream/gateway-presence.ts';
import { serverShares } from './modules/chat/upstream/server-turns.ts';
import { openRowChanges } from './platform/cache/row-changes.ts';
import type { Clock } from './platform/clock.ts';
import type { Services } from './platform/context.ts';
import { createPool, openDatabase } from './platform/db/database.ts';
import { openDatabaseClock } from './platform/db/database-clock.ts';
import { openEvents } from './platform/events/events.ts';
import { announcementsWritten, logFailedAnnouncements } from './platform/events/publish-change.ts';
import { warnOfReadable } from './platform/files/data-files.ts';
import { localUrl } from './platform/http/addresses/own-addresses.ts';
import type { AnyJob } from './platform/jobs/define-job.ts';
import { openJobQueue } from './platform/jobs/job-queue.ts';
import { findReader, findSandbox } from './platform/sandbox/find-sandbox.ts';
import type { Sandbox } from './platform/sandbox/sandbox.ts';
import { blobCopiesDir, openBlobStore, requireKnownBucket } from './platform/storage/open-blob-store.ts';
import type { Role } from './roles.ts';

/**
 * Queries of requests, jobs and the engine take milliseconds, and bulk work runs in batches. So a statement
 * that takes a minute is a fault. Migrations and the proof of the ledger may take longer, and have their own
 * connections.
 */
const STATEMENT_MS_MAX = 60_000;

type Options = {
  config: Config;
  databaseUrl: string;
  log: Logger;
  /** Replaces the database's clock. */
  clock?: Clock;
  roles: Role[];
  jobs: AnyJob[];
  schedules?: boolean;
  /** Aborted when this process shuts down gracefully. */
  closing: AbortSignal;
};

/** Opens the services that modules share: database, machine, files and events. */
export async function openServices(options: Options) {
  const { config, databaseUrl, log, jobs, roles, schedules, closing } = options;
  const pool = createPool(databaseUrl, {
    poolSize: config.databaseConnections,
    statementMsMax: STATEMENT_MS_MAX,
    onIdleError: (error) => log.warn({ err: error }, 'idle database connection failed'),
  });
  const db = openDatabase(pool);
  logFailedAnnouncements(db, log);
  const { clock, close: closeClock } = options.clock
    ? { clock: options.clock, close: () => undefined }
    : await openDatabaseClock(pool, log);
  const machine = await joinInstallation(db, config, {
    runsWork: roles.includes('reconciler'),
    now: clock.now(),
  });
  const events = await openEvents(databaseUrl, log);
  const rowChanges = await openRowChanges(databaseUrl, log);
  const works = roles.includes('worker');
  const queue = await openJobQueue({ url: databaseUrl, log, jobs, works, schedules });
  const blobs = await openBlobStore(config);
  if (config.s3) await requireKnownBucket(db, blobs);
  const sandbox = await openSandbox(config, roles, log);
  const presence = gatewayPresence({ beat: () => heartbeat.beat(), goneMs: LOST_AFTER_MS });
  const shares = serverShares();
  const heartbeat = createHeartbeat({
    ...{ db, log, machineId: machine.isMachine ? machine.id : null, secretCheck: machine.secretCheck },
    ...{ roles, asked: shares.asked },
    onBeat: (beat) => {
      presence.onBeat(beat);
      shares.onBeat(beat);
    },
    // A function, because the port is only known once the server listens.
    url: () => localUrl({ host: config.machineHost, port: config.port }),
  });
  const services: Services = {
    config,
    clock,
    log,
    db,
    pool,
    events,
    rowChanges,
    jobs: queue,
    blobs,
    sandbox,
    machineId: machine.id,
    processId: heartbeat.id,
    webProcesses: heartbeat.webProcesses,
    closing,
  };
  const close = async () => {
    await events.close();
    await rowChanges.close();
    closeClock();
    await announcementsWritten(db);
    await db.destroy();
  };
  return { services, queue, heartbeat, presence, shares, close };
}

/** Opens the sandbox for untrusted programs. Warns about secret files that they could read all the same. */
async function openSandbox(config: Config, roles: Role[], log: Logger): Promise<Sandbox> {
  const home = path.dirname(runtimeDir);
  const runsWork = roles.includes('reconciler');
  const places = {
    sharedDir: path.join(config.dataDir, 'lent'),
    reads: [runtimeDir],
    // The `.env` file is in the folder that contains the runtime.
    hidden: [home, config.dataDir, inputCacheDir(config), blobCopiesDir(config)],
  };
  await warnOfReadable([path.join(home, '.env'), ...config.secretFiles], log);
  if (config.reader !== null && config.reader !== 'none') {
    if (runsWork)
      throw new Error(
        'BAKEHOUSE_READER is only allowed with --services=web,worker: the reader cannot run workloads',
      );
    return findReader(places, config.reader);
  }
  const { sandbox, line } = await findSandbox(places);
  if (runsWork) log[sandbox.kind === 'none' ? 'warn' : 'info'](line);
  else if (sandbox.kind === 'none' && config.s3 && config.reader === null) throw new Error(refusal(line));
  return sandbox;
}

function refusal(line: string): string {
  return `${line} This process would read uploaded files unsandboxed, with access to its secret: start the reader in a separate container and set BAKEHOUSE_READER to its socket (docs/deployment.md), or set BAKEHOUSE_READER=none to accept the risk`;
}

/**
 * Throws a sentence that names missing settings. Without a shared data folder, this process would generate
 * another database and another secret at each start. That is the case if it runs no workloads and its files
 * are in a bucket.
 */
export function requireShared(
  { databaseUrl, dataDir, s3, secret }: Pick<Config, 'databaseUrl' | 'dataDir' | 's3' | 'secret'>,
  roles: Role[],
): void {
  if (!s3 || roles.includes('reconciler')) return;
  const missing = [
    ...(databaseUrl || existsSync(path.join(dataDir, 'postgres')) ? [] : ['DATABASE_URL']),
    ...(secret || existsSync(path.join(dataDir, 'secret')) ? [] : ['BAKEHOUSE_SECRET']),
  ];
  if (missing.length === 0) return;
  throw new Error(
    `Set ${missing.join(' and ')} to the values of the other processes of this installation: a process with --services=${roles.join(',')} shares their database and the files in the bucket, and ${dataDir} does not contain the missing values`,
  );
}
