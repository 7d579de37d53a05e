import { expect, test } from 'vitest';
import { createLog } from './log.ts';

test('secrets never reach the log, at whatever depth they are logged', () => {
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
