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

/** What the program is made of; one set per process. */
export type Services = {
  config: Config;
  clock: Clock;
  log: Logger;
  db: Database;
  /** The connections under `db`, for statements that are kept prepared. */
  pool: pg.Pool;
  events: Events;
  /** What is kept of rows in memory hears here that they changed. */
  rowChanges: RowChanges;
  jobs: Jobs;
  blobs: BlobStore;
  /** What programs that read or run what strangers have made are kept behind. */
  sandbox: Sandbox;
  /** The machine that this process runs on: one for each data folder. */
  machineId: string;
  /** This process among those that are there: it beats in `processes` while it lives. */
  processId: string;
  /** Processes that answer requests, this one included: they share the limits of the installation. */
  webProcesses: () => number;
  /** Aborted, with the error for who waits as its reason, when this process ends in good order. */
  closing: AbortSignal;
};

export type UserCaller = {
  kind: 'user';
  userId: string;
  isOperator: boolean;
  /** The API key of the call; absent where a browser's session stands for its user. */
  key?: CallerKey;
  /** The browser's session, where that stands for its user. */
  session?: { id: string; createdAt: Date };
};
export type CallerKey = {
  id: string;
  /** Of the secret that was sent: a key may have two. */
  sha256: Buffer;
  /** The one that the web app sends, which stands for its owner. */
  forWebApp: boolean;
  scopes: readonly KeyScope[];
  hasBudget: boolean;
  /** When it stops to open, if nothing changes. */
  expiresAt: Date | null;
  /** What it opens now, and until when; null once it opens nothing. */
  look: () => Promise<Pick<CallerKey, 'scopes' | 'expiresAt'> | null>;
};
/** One attempt at a workload: another one has another token. */
export type WorkloadCaller = { kind: 'workload'; workloadId: string; tokenSha256: Buffer };
export type Caller = UserCaller | WorkloadCaller | { kind: 'nobody' };

/** What a use case receives: the services, and who asks. */
export type Context<C extends Caller = UserCaller> = Services & {
  caller: C;
  requestId: string;
  /** From the header Idempotency-Key. */
  idempotencyKey: string | null;
};
