import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type App, createApp } from '../app.ts';
import { type Config, readConfig } from '../config.ts';
import type { Driver } from '../engine/drivers/driver.ts';
import { idleCpu } from '../engine/host/machine-cpu.ts';
import type { CpuLoad } from '../engine/model/offer.ts';
import type { ReadPictures } from '../modules/fine-tuning/pictures/read-pictures.ts';
import type { ReadData } from '../modules/fine-tuning/validation/read-data.ts';
import type { Clock } from '../platform/clock.ts';
import type { Services } from '../platform/context.ts';
import { type ErrorReports, noErrorReports } from '../platform/error-reports/error-reports.ts';
import { reportLogged } from '../platform/error-reports/report-logged.ts';
import { createLog } from '../platform/log.ts';
import type { Role } from '../roles.ts';
import { onFileEnd } from './on-file-end.ts';
import { type TestClient, testClient } from './test-client.ts';
import { type TestDatabase, testDatabase } from './test-database.ts';

export type { TestUser } from './test-client.ts';

type Options = {
  clock?: Clock;
  /** Defaults to the fake driver. */
  driver?: Driver;
  /** Reads data files for validation. Defaults to the Python runtime. */
  readData?: ReadData;
  /** Reads images for validation. Defaults to the Python runtime. */
  readPictures?: ReadPictures;
  /** Load of the machine. Defaults to none, so that tests do not depend on the real load. */
  cpuLoad?: () => CpuLoad;
  /** Defaults to none. */
  errorReports?: ErrorReports;
  /** Settings that differ from the defaults of tests. */
  config?: Partial<Config>;
  /** Defaults to a new database. */
  database?: Pick<TestDatabase, 'url' | 'close'>;
  /**
   * Defaults to only `web`. Tests run jobs explicitly, and the engine with `app.engine.pass()`. Scheduled
   * jobs never start automatically.
   */
  roles?: Role[];
};

export type TestServer = TestClient & {
  url: string;
  app: App;
  services: Services;
  databaseUrl: string;
  close: () => Promise<void>;
};

/**
 * Starts the real program on its own port, with its own database and data folder, and the fake driver. It is
 * closed when the test file ends.
 */
export async function testServer({
  errorReports = noErrorReports,
  ...options
}: Options = {}): Promise<TestServer> {
  const database = options.database ?? (await testDatabase());
  const dataDir = await mkdtemp(path.join(tmpdir(), 'bakehouse-data-'));
  const config: Config = { ...testConfig(dataDir), ...options.config };
  const app = await createApp({
    config,
    databaseUrl: database.url,
    log: createLog(config, {
      onError: (fields, message) => reportLogged(errorReports, fields, message),
    }),
    errorReports,
    clock: options.clock,
    driver: options.driver,
    readData: options.readData,
    readPictures: options.readPictures,
    cpuLoad: options.cpuLoad ?? idleCpu,
    // Otherwise jobs that are scheduled every minute would start during some test.
    schedules: false,
    roles: options.roles ?? ['web'],
  });
  await app.start();
  const close = onFileEnd(async () => {
    await app.close();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const url = config.publicUrl;

  return {
    url,
    app,
    services: app.services,
    databaseUrl: database.url,
    close,
    ...testClient(url),
  };
}

function testConfig(dataDir: string): Config {
  return readConfig({
    BAKEHOUSE_PORT: '0',
    BAKEHOUSE_DATA_DIR: dataDir,
    BAKEHOUSE_CACHE_DIR: path.join(dataDir, 'cache'),
    BAKEHOUSE_SECRET: 'only-for-tests-only-for-tests-only',
    BAKEHOUSE_RATE_LIMITS: 'false',
    // Tests of abuse and of deletions depend on this setting.
    BAKEHOUSE_SEND_GIVEN_CREDITS: 'false',
    // An unreachable address, so that no test calls the real services.
    BAKEHOUSE_SERVICE_URLS: 'huggingface=http://127.0.0.1:9,wandb=http://127.0.0.1:9',
    BAKEHOUSE_DRIVER: 'fake',
    BAKEHOUSE_PREPARE: 'false',
    BAKEHOUSE_LOG_LEVEL: 'silent',
  });
}
