import type { KeyScope } from '@bakehouse/contract/endpoint';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { RowChanges } from './cache/row-changes.ts';
import type { Clock } from './clock.ts';
import type { Database } from './db/database.ts';
import type { Events } from './events/events.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { BlobStore } from './storage/blob-store.ts';

/** Services of the process, one instance each. */
export type Services = {
  config: Config;
  clock: Clock;
  log: Logger;
  db: Database;
  /** Connection pool of `db`, for prepared statements. */
  pool: pg.Pool;
  events: Events;
  /** Announces changed rows to caches. */
  rowChanges: RowChanges;
  jobs: Jobs;
  blobs: BlobStore;
  /** Isolates programs that read or run untrusted files. */
  sandbox: Sandbox;
  /** Id of the installation's machine. For a process without a machine, an id that does not exist. */
  machineId: string;
  /** This process's row in `processes`. */
  processId: string;
  /** Number of web processes, including this one. They share the limits of the installation. */
  webProcesses: () => number;
  /** Aborted when this process shuts down; its reason is the error for waiting requests. */
  closing: AbortSignal;
};

export type UserCaller = {
  kind: 'user';
  userId: string;
  isOperator: boolean;
  /** API key of the call; absent for calls authenticated by a browser session. */
  key?: CallerKey;
  /** Browser session that authenticated the call; absent for calls with an API key. */
  session?: { id: string; createdAt: Date };
};
export type CallerKey = {
  id: string;
  /** SHA-256 of the secret that was sent. A key may have two secrets. */
  sha256: Buffer;
  /** True for the key that the web app sends on behalf of its user. */
  forWebApp: boolean;
  scopes: readonly KeyScope[];
  hasBudget: boolean;
  /** `RowChanges.count` when the key was authenticated. */
  changeCount: number;
  /** Expiry as of the authentication. */
  expiresAt: Date | null;
  /** Reads the key's current scopes and expiry from the database; null if the key is no longer valid. */
  look: () => Promise<Pick<CallerKey, 'scopes' | 'expiresAt'> | null>;
};
/** One attempt of a workload; each attempt has its own token. */
export type WorkloadCaller = { kind: 'workload'; workloadId: string; tokenSha256: Buffer };
export type Caller = UserCaller | WorkloadCaller | { kind: 'nobody' };

/** Input of a use case: the services and the caller. */
export type Context<C extends Caller = UserCaller> = Services & {
  caller: C;
  requestId: string;
  /** From the header Idempotency-Key. */
  idempotencyKey: string | null;
};
