import type { TestProject } from 'vitest/node';
import { startSeparateServer } from '../scripts/client/separate-server.ts';
import { openPublicHub } from '../server/src/modules/hub/testing/public-hub.ts';
import { wandbServer } from '../server/src/modules/tracking/testing/wandb-server.ts';
import { startBrowser } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** WebSocket URL of the shared browser. */
    browserUrl: string;
    /** One per worker. */
    servers: JourneyServer[];
  }
}

export type JourneyServer = {
  /** Base URL. */
  url: string;
  /** URL of its database, for states that cannot be created with a page. */
  databaseUrl: string;
};

/** Content of the public Hub for the Hub's screens. */
const rye = { type: 'model', id: 'bakery/rye-7b', files: { 'README.md': '# Rye' } } as const;

/**
 * Starts one browser and a small public Hub for all journeys, and one real server per worker. The journeys of
 * a worker run one after the other.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const browser = await startBrowser();
  const hub = await openPublicHub([rye]);
  const wandb = await wandbServer();
  const settings = { BAKEHOUSE_SERVICE_URLS: `huggingface=${hub.url},wandb=${wandb.url}` };
  const servers = await Promise.all(
    Array.from({ length: project.config.maxWorkers }, () => startSeparateServer(settings)),
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
