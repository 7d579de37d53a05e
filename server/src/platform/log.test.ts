import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { onFileEnd } from '../testing/on-file-end.ts';
import { createLog } from './log.ts';

test('secrets never reach the log, at any depth', () => {
  const lines: string[] = [];
  const log = createLog(
    { logLevel: 'info', logFormat: 'json' },
    { destination: { write: (line) => void lines.push(line) } },
  );
  log.info(
    {
      token: 's3cret',
      headers: { authorization: 's3cret', 'x-api-key': 's3cret', accept: '*/*' },
      req: { headers: { cookie: 's3cret' } },
      user_id: 'ada',
    },
    'called',
  );
  log.child({ password: 's3cret' }).info('again');
  const text = lines.join('');
  expect(text).not.toContain('s3cret');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'info',
    msg: 'called',
    user_id: 'ada',
    headers: { accept: '*/*', authorization: '[redacted]' },
  });
});

test.runIf(process.platform === 'linux').each(['json', 'text'])(
  'a full disk under the %s log does not block the process',
  async (logFormat) => {
    const full = await open('/dev/full', 'w');
    onFileEnd(() => full.close());
    const program = `
    import { createLog } from ${JSON.stringify(path.join(import.meta.dirname, 'log.ts'))};
    process.stdout.on('error', () => {});
    const log = createLog({ logLevel: 'info', logFormat: '${logFormat}' });
    log.info('lost');
    log.fatal({ err: new Error('no room') }, 'lost too');
    setTimeout(() => console.error('goes on'), 50);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', full.fd, 'pipe'],
      timeout: 20_000,
    });
    let stderr = '';
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(stderr).toBe('goes on\n');
  },
);
