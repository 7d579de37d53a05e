import type { TestProject } from 'vitest/node';
import { startOwnServer } from '../scripts/client/own-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the journeys' server answers. */
    baseUrl: string;
    /** Where that server keeps everything, for what no page can bring about. */
    databaseUrl: string;
  }
}

/** One real server for all journeys of a run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startOwnServer();
  project.provide('baseUrl', server.url);
  project.provide('databaseUrl', await server.databaseUrl());
  return server.stop;
}
