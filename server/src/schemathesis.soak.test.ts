import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { environmentPython } from './engine/host/environment/environment.ts';
import { goodData } from './modules/fine-tuning/testing/test-run.ts';
import { openPublicHub } from './modules/hub/testing/public-hub.ts';
import { wandbServer } from './modules/tracking/testing/wandb-server.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';
import { testServer } from './testing/test-server.ts';

/*
 * Schemathesis reads the server's own OpenAPI document, and calls every operation with valid and invalid
 * input. It reports answers that contradict the document. The seed is fixed, so that failures are
 * reproducible; change `seed` in its settings to test other inputs.
 */

const SETTINGS = path.join(import.meta.dirname, 'testing/schemathesis.toml');

test('the server and its OpenAPI document do not contradict each other', {
  timeout: 7_200_000,
}, async () => {
  const server = await testServer({ readData: async () => goodData });
  const { config } = server.services;
  Object.assign(config, { hubUrl: (await openPublicHub([])).url, wandbUrl: (await wandbServer()).url });
  const ada = await server.signUp('Ada');
  const python = await environmentPython(readConfig(process.env));
  const folder = await temporaryFolder();
  const child = spawn(
    python,
    [
      ...['-m', 'schemathesis.cli', '--config-file', SETTINGS],
      ...['run', `${server.url}/openapi.json`, '--header', `X-API-KEY: ${ada.apiKey}`],
      ...['--phases', 'examples,coverage,fuzzing'],
      ...['--max-examples', '200'],
      ...['--checks', 'all', '--continue-on-failure', '--no-color'],
    ],
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [output, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('close', resolve)),
  ]);
  expect(code, output + errors).toBe(0);
});
