import type { TestProject } from 'vitest/node';
import { startOwnServer } from '../scripts/client/own-server.ts';
import { startBrowser } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the journeys' browser listens. */
    browserUrl: string;
    /** One for each worker. */
    servers: JourneyServer[];
  }
}

export type JourneyServer = {
  /** Where it answers. */
  url: string;
  /** Where it keeps everything, for what no page can bring about. */
  databaseUrl: string;
};

/** One browser for all journeys of a run, and a real server for each worker: its journeys take turns. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const browser = await startBrowser();
  const servers = await Promise.all(
    Array.from({ length: project.config.maxWorkers }, () => startOwnServer()),
  );
  project.provide('browserUrl', browser.wsEndpoint());
  project.provide(
    'servers',
    await Promise.all(
      servers.map(async ({ url, databaseUrl }) => ({ url, databaseUrl: await databaseUrl() })),
    ),
  );
  return async () => {
    await browser.close();
    await Promise.all(servers.map(({ stop }) => stop()));
  };
}
