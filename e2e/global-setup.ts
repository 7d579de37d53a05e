import type { TestProject } from 'vitest/node';
import { startOwnServer } from '../scripts/client/own-server.ts';
import { startBrowser } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the journeys' server answers. */
    baseUrl: string;
    /** Where the journeys' browser listens. */
    browserUrl: string;
    /** Where that server keeps everything, for what no page can bring about. */
    databaseUrl: string;
  }
}

/** One real server and one browser for all journeys of a run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [server, browser] = await Promise.all([startOwnServer(), startBrowser()]);
  project.provide('baseUrl', server.url);
  project.provide('databaseUrl', await server.databaseUrl());
  project.provide('browserUrl', browser.wsEndpoint());
  return async () => {
    await browser.close();
    await server.stop();
  };
}
