import type { TestProject } from 'vitest/node';
import { migrate } from '../platform/db/setup/migrate.ts';
import { createDatabase, startTemporaryPostgres } from './temporary-postgres.ts';

const TEMPLATE = 'bakehouse_template';

declare module 'vitest' {
  interface ProvidedContext {
    /** The run's PostgreSQL. */
    postgresUrl: string;
    /** Name of the migrated database that test databases copy. */
    templateDatabase: string;
  }
}

/** One PostgreSQL for the whole run, with a migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTemporaryPostgres();
  await migrate(await createDatabase(server.url, TEMPLATE));
  project.provide('postgresUrl', server.url);
  project.provide('templateDatabase', TEMPLATE);
  return server.stop;
}
