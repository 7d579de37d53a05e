import type { TestProject } from 'vitest/node';
import { startOwnServer } from '../scripts/client/own-server.ts';
import { openPublicHub } from '../server/src/modules/hub/testing/public-hub.ts';
import { wandbServer } from '../server/src/modules/tracking/testing/wandb-server.ts';
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

/** What a screen of the public hub shows. */
const rye = { type: 'model', id: 'bakery/rye-7b', files: { 'README.md': '# Rye' } } as const;

/**
 * One browser for all journeys of a run, a small public hub, and a real server for each worker: its journeys take turns.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const browser = await startBrowser();
  const hub = await openPublicHub([rye]);
  const wandb = await wandbServer();
  const settings = { BAKEHOUSE_SERVICE_URLS: `huggingface=${hub.url},wandb=${wandb.url}` };
  const servers = await Promise.all(
    Array.from({ length: project.config.maxWorkers }, () => startOwnServer(settings)),
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
    await hub.close();
    await wandb.close();
  };
}
