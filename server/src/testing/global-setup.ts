import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { listJobs } from '../list-work.ts';
import { readData } from '../modules/fine-tuning/validation/read-data.ts';
import { migrate } from '../platform/db/setup/migrate.ts';
import { openJobQueue } from '../platform/jobs/job-queue.ts';
import { createDatabase, startTemporaryPostgres } from './temporary-postgres.ts';

const TEMPLATE = 'bakehouse_template';

declare module 'vitest' {
  interface ProvidedContext {
    /** PostgreSQL for the whole test run. */
    postgresUrl: string;
    /** Name of the migrated database from which test databases are copied. */
    templateDatabase: string;
  }
}

/** Starts one PostgreSQL for the whole run, with a migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTemporaryPostgres();
  const databaseUrl = await createDatabase(server.url, TEMPLATE);
  await migrate(databaseUrl);
  await declareJobs(databaseUrl);
  project.provide('postgresUrl', server.url);
  project.provide('templateDatabase', TEMPLATE);
  return server.stop;
}

/**
 * Creates the job queue's tables in the template. Creating them in each test server would double its startup
 * time.
 */
async function declareJobs(databaseUrl: string): Promise<void> {
  const jobs = listJobs({ databaseUrl, readData, closeIdle: async () => 0 });
  const queue = await openJobQueue({ url: databaseUrl, log: pino({ level: 'silent' }), jobs, works: false });
  await queue.stop();
}
