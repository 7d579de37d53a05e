import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { isSoak } from './testing/soak.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';

/*
 * Every gate checks the form of the document (operation-ids.test.ts). Only a soak runs a linter and a
 * generator, because npm has to download them.
 */

const DOCUMENT = path.resolve(import.meta.dirname, '../../contract/openapi.json');
const CLIENT = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.ts';
const client = createClient<paths>({ baseUrl: 'http://localhost:4080' });
export const models = client.GET('/v1/models').then(({ data }) => data?.data[0]?.id satisfies string | undefined);
export const asset = (id: string): Promise<components['schemas']['Asset'] | undefined> =>
  client.GET('/api/v1/asset/{id}', { params: { path: { id } } }).then(({ data, error }) => {
    error satisfies components['schemas']['ErrorBody'] | undefined;
    return data;
  });
`;
/** Runs the linter that the generator uses, and prints its errors. */
const LINT = `
import { createConfig, lint } from '@redocly/openapi-core';
const config = await createConfig({ extends: ['minimal'] });
const problems = await lint({ ref: process.argv[2], config });
for (const { severity, message, location } of problems)
  if (severity === 'error') console.log(message, location[0]?.pointer);
`;

test.runIf(isSoak)(
  'a linter accepts the OpenAPI document, and openapi-typescript generates a client that compiles',
  {
    timeout: 300_000,
  },
  async () => {
    const cwd = await temporaryFolder();
    await writeFile(path.join(cwd, 'package.json'), '{"type":"module"}');
    await writeFile(path.join(cwd, 'client.ts'), CLIENT);
    const npm = (...argv: string[]) => promisify(execFile)('npm', argv, { cwd });
    await npm(
      'install',
      '--no-audit',
      '--no-fund',
      'openapi-typescript@7.13.0',
      'openapi-fetch@0.17.0',
      'typescript@5.9.3',
    );
    await writeFile(path.join(cwd, 'lint.js'), LINT);
    const linted = await promisify(execFile)(process.execPath, ['lint.js', DOCUMENT], { cwd });
    expect(linted.stdout).toBe('');
    await npm('exec', '--', 'openapi-typescript', DOCUMENT, '-o', 'api.ts');
    const options = [
      '--strict',
      '--noEmit',
      '--target',
      'es2024',
      '--module',
      'nodenext',
      '--allowImportingTsExtensions',
    ];
    const { stdout } = await npm('exec', '--', 'tsc', ...options, 'client.ts');
    expect(stdout).toBe('');
  },
);
