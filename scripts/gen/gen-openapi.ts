/**
 * Writes `contract/openapi.json`: every route of the running program in OpenAPI 3.1. `--check` writes nothing
 * and fails if it is stale.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createApp } from '../../server/src/app.ts';
import { readConfig } from '../../server/src/config.ts';
import { prepareDatabase } from '../../server/src/platform/db/setup/prepare-database.ts';
import { createLog } from '../../server/src/platform/log.ts';
import { startTemporaryPostgres } from '../../server/src/testing/temporary-postgres.ts';

const file = path.resolve(import.meta.dirname, '../../contract/openapi.json');

async function readOpenApi(): Promise<string> {
  const server = await startTemporaryPostgres();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'bakehouse-openapi-'));
  const config = readConfig({
    BAKEHOUSE_DATA_DIR: dataDir,
    BAKEHOUSE_DRIVER: 'fake',
    BAKEHOUSE_LOG_LEVEL: 'silent',
    BAKEHOUSE_SECRET: 'signs-nothing-because-nobody-calls',
  });
  try {
    await prepareDatabase(server.url);
    const app = await createApp({ config, databaseUrl: server.url, log: createLog(config), roles: ['web'] });
    try {
      await app.http.ready();
      return `${JSON.stringify(app.http.swagger(), null, 2)}\n`;
    } finally {
      await app.close();
    }
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const fresh = await readOpenApi();
const current = await readFile(file, 'utf8').catch(() => '');
if (current !== fresh) {
  if (process.argv.includes('--check')) {
    process.exitCode = 1;
    console.error('contract/openapi.json is stale: run node scripts/gen/gen-openapi.ts');
  } else {
    await writeFile(file, fresh);
    console.log('wrote contract/openapi.json');
  }
}
