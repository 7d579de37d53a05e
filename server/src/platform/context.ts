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

/** The services of the process; one set each. */
export type Services = {
  config: Config;
  clock: Clock;
  log: Logger;
  db: Database;
  /** The connections under `db`, for prepared statements. */
  pool: pg.Pool;
  events: Events;
  /** Announces changed rows to caches. */
  rowChanges: RowChanges;
  jobs: Jobs;
  blobs: BlobStore;
  /** Isolates programs that read or run untrusted files. */
  sandbox: Sandbox;
  /** The machine of the installation; of a process that belongs to none, an id that no machine has. */
  machineId: string;
  /** This process's row in `processes`. */
  processId: string;
  /** Web processes, this one included: they share the limits of the installation. */
  webProcesses: () => number;
  /** Aborted when this process shuts down; its reason is the error for requests that wait. */
  closing: AbortSignal;
};

export type UserCaller = {
  kind: 'user';
  userId: string;
  isOperator: boolean;
  /** The API key of the call; absent where a browser's session authenticates it. */
  key?: CallerKey;
  /** The browser's session, where that authenticates the call. */
  session?: { id: string; createdAt: Date };
};
export type CallerKey = {
  id: string;
  /** SHA-256 of the secret that was sent: a key may have two. */
  sha256: Buffer;
  /** Whether it is the key that the web app sends for its user. */
  forWebApp: boolean;
  scopes: readonly KeyScope[];
  hasBudget: boolean;
  /** When it expires, unless it is changed. */
  expiresAt: Date | null;
  /** Reads its present scopes and expiry from the database; null once it is no longer valid. */
  look: () => Promise<Pick<CallerKey, 'scopes' | 'expiresAt'> | null>;
};
/** One attempt at a workload; each attempt has its own token. */
export type WorkloadCaller = { kind: 'workload'; workloadId: string; tokenSha256: Buffer };
export type Caller = UserCaller | WorkloadCaller | { kind: 'nobody' };

/** What a use case receives: the services and the caller. */
export type Context<C extends Caller = UserCaller> = Services & {
  caller: C;
  requestId: string;
  /** From the header Idempotency-Key. */
  idempotencyKey: string | null;
};
