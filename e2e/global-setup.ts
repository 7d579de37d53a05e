import type { TestProject } from 'vitest/node';
import { startOwnServer } from '../scripts/own-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the journeys' server answers. */
    baseUrl: string;
  }
}

/** One real server for all journeys of a run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startOwnServer();
  project.provide('baseUrl', server.url);
  return server.stop;
}
