import { sql } from 'kysely';
import { fromKysely, type JobResult, PgBoss, type Job as QueuedJob } from 'pg-boss';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Services } from '../context.ts';
import type { Database } from '../db/database.ts';
import type { AnyJob, Job } from './define-job.ts';
import type { Jobs } from './jobs.ts';

/** A worker counts as dead after this many seconds without a heartbeat; 10 is the library's minimum. */
const HEARTBEAT_SECONDS = 10;

const SUPERVISE_SECONDS = 5;
const CONNECTIONS = 4;

/**
 * Workers per kind of job. A worker fetches its next batch only after the slowest job of the current one.
 * With several workers, a hanging job blocks only one of them.
 */
const WORKERS = 5;

const BATCH = 2;

/** Needed because retries are not announced, and an announcement can get lost. */
const POLL_SECONDS = 5;

const STOP_TIMEOUT_MS = 20_000;
const RETRIES = 5;
const RETRY_DELAY_MAX_SECONDS = 300;
const TIMEOUT_SECONDS = 900;

/** Completed jobs are kept for a day for diagnosis. */
const DONE_KEPT_SECONDS = 24 * 3600;

const MAINTENANCE_SECONDS = 3600;

/** Successes of frequent jobs are recorded at most this often, to save writes. */
const NOTE_MS = 10_000;

export type JobQueue = Jobs & {
  /** Starts to work on all declared jobs and schedules. */
  work: (services: Services) => Promise<void>;
  /** Starts no more jobs, and waits up to 20 s for running ones. Another worker retries the others. */
  stop: () => Promise<void>;
};

type Options = {
  url: string;
  log: Logger;
  jobs: AnyJob[];
  /** True if this process works on jobs; otherwise it only enqueues them. */
  works: boolean;
  /** Whether this process also enqueues scheduled jobs, if it works on jobs. Defaults to true. */
  schedules?: boolean | undefined;
};

/** Opens the queue in the database (schema `pgboss`, created if missing) and declares the jobs there. */
export async function openJobQueue({ url, log, jobs, works, schedules = true }: Options): Promise<JobQueue> {
  const boss = new PgBoss({
    connectionString: url,
    application_name: 'bakehouse jobs',
    max: CONNECTIONS,
    useListenNotify: works,
    supervise: works,
    schedule: works && schedules,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: MAINTENANCE_SECONDS,
  });
  boss.on('error', (error) => log.warn({ err: error }, 'job queue error'));
  await boss.start();
  await declareAll(boss, jobs);

  return {
    enqueue: async (tx, job, data) => {
      await boss.send(job.name, data, { db: fromKysely(tx) });
    },
    work: async (services) => {
      for (const job of jobs) await startWorker(boss, services, job as Job);
    },
    stop: () => boss.stop({ graceful: true, timeout: STOP_TIMEOUT_MS }),
  };
}

/** Declares new or changed jobs; usually there are none. */
async function declareAll(boss: PgBoss, jobs: AnyJob[]): Promise<void> {
  const queues = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
  const schedules = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]));
  const isDeclared = (job: AnyJob) => {
    const queue = new Map(Object.entries(queues.get(job.name) ?? {}));
    const wanted = { ...optionsOf(job), policy: policyOf(job) };
    const isAsWanted = Object.entries(wanted).every(([name, value]) => queue.get(name) === value);
    return isAsWanted && (!job.onLost || queues.has(lostQueue(job)));
  };
  for (const job of jobs) {
    if (!isDeclared(job)) await declare(boss, job);
    if (job.schedule && schedules.get(job.name) !== job.schedule)
      await boss.schedule(job.name, job.schedule, {}, { tz: 'UTC' });
  }
  // Remove schedules of earlier versions: if their job was removed or renamed, they would enqueue jobs that
  // no worker handles.
  const wanted = new Set(jobs.filter(({ schedule }) => schedule).map(({ name }) => name));
  for (const name of schedules.keys()) if (!wanted.has(name)) await boss.unschedule(name);
}

function optionsOf(job: AnyJob) {
  return {
    notify: true,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    expireInSeconds: job.timeoutSeconds ?? TIMEOUT_SECONDS,
    retryLimit: retriesOf(job),
    retryBackoff: true,
    retryDelayMax: RETRY_DELAY_MAX_SECONDS,
    deleteAfterSeconds: DONE_KEPT_SECONDS,
    ...(job.onLost && { deadLetter: lostQueue(job) }),
  };
}

/** Scheduled jobs run one at a time, so that they do not pile up if a run exceeds the period. */
function policyOf({ schedule }: AnyJob) {
  return schedule ? 'stately' : 'standard';
}

async function declare(boss: PgBoss, job: AnyJob): Promise<void> {
  const { deadLetter, ...options } = optionsOf(job);
  if (deadLetter) await boss.createQueue(deadLetter, options);
  const policy = policyOf(job);
  await boss.createQueue(job.name, { ...optionsOf(job), policy });
  // Change the policy in the table, because the library could only do it by deleting the queue with its jobs.
  // Waiting jobs retain the policy that they were enqueued with.
  await boss
    .getDb()
    .executeSql('update pgboss.queue set policy = $2 where name = $1 and policy <> $2', [job.name, policy]);
  await boss.updateQueue(job.name, optionsOf(job));
}

/** Dead-letter queue for jobs without remaining attempts. */
function lostQueue({ name }: AnyJob): string {
  return `${name}.lost`;
}

function retriesOf({ retries, schedule }: AnyJob): number {
  return retries ?? (schedule ? 0 : RETRIES);
}

async function startWorker(boss: PgBoss, services: Services, job: Job): Promise<void> {
  let succeededAt = Number.NEGATIVE_INFINITY;
  const runOne = async (queued: QueuedJob): Promise<JobResult> => {
    const log = services.log.child({ job: job.name, job_id: queued.id });
    const unnoted = (cause: unknown) => log.warn({ err: cause }, 'failed to record the outcome of a job');
    try {
      await job.run({ ...services, log }, queued.data, queued.signal, queued.retryCount >= retriesOf(job));
      const now = performance.now();
      if (now - succeededAt > NOTE_MS) {
        succeededAt = now;
        await recordJobSuccess(services.db, job.name).catch(unnoted);
      }
      return { id: queued.id, status: 'completed' };
    } catch (error) {
      log.error({ err: error, attempt: queued.retryCount + 1 }, 'job failed');
      await countFailure(services.db, job.name).catch(unnoted);
      return {
        id: queued.id,
        status: 'failed',
        output: { message: error instanceof Error ? error.message : String(error) },
      };
    }
  };
  await boss.work<object, object>(
    job.name,
    {
      batchSize: BATCH,
      // Only one scheduled job runs at a time, so one worker is enough.
      localConcurrency: job.schedule ? 1 : WORKERS,
      burstWhenBatchFull: true,
      notifyPollingIntervalSeconds: POLL_SECONDS,
      perJobResults: true,
    },
    (batch: QueuedJob[]) => Promise.all(batch.map(runOne)),
  );
  const { onLost } = job;
  if (!onLost) return;
  await boss.work<object>(lostQueue(job), { notifyPollingIntervalSeconds: POLL_SECONDS }, async (lost) => {
    for (const { data } of lost) await onLost(services, data);
  });
}

/** Adds the outcomes of jobs in all processes to the metrics of this process. They are read on demand. */
export function measureJobs(registry: Registry, db: Database): void {
  new Counter({
    name: 'bakehouse_jobs_failed_total',
    help: 'Attempts of background jobs that have failed, in all processes',
    labelNames: ['job'],
    registers: [registry],
    async collect() {
      const outcomes = await listOutcomes(db);
      this.reset();
      for (const { job, failed } of outcomes) this.inc({ job }, Number(failed));
    },
  });
  new Gauge({
    name: 'bakehouse_job_last_success_timestamp_seconds',
    help: 'When a background job of this kind has last done its work, in any process',
    labelNames: ['job'],
    registers: [registry],
    async collect() {
      const outcomes = await listOutcomes(db);
      this.reset();
      for (const { job, succeeded_at: at } of outcomes) if (at) this.set({ job }, at.getTime() / 1000);
    },
  });
}

/** Records a failed attempt of a job. */
async function countFailure(db: Database, job: string): Promise<void> {
  await sql`
    insert into job_outcomes (job, failed) values (${job}, 1)
    on conflict (job) do update set failed = job_outcomes.failed + 1`.execute(db);
}

/** Records a success of a job. */
async function recordJobSuccess(db: Database, job: string): Promise<void> {
  await sql`
    insert into job_outcomes (job, succeeded_at) values (${job}, clock_timestamp())
    on conflict (job) do update set succeeded_at = excluded.succeeded_at`.execute(db);
}

/** Returns the outcomes of each kind of job. */
async function listOutcomes(db: Database) {
  return db.selectFrom('job_outcomes').select(['job', 'failed', 'succeeded_at']).execute();
}
