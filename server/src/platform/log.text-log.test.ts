import { expect, it } from 'vitest';
import { createLog, textLine } from './log.ts';

function openTextLog({ logLevel }: { logLevel: 'debug' | 'info' } = { logLevel: 'info' }) {
  const lines: string[] = [];
  const log = createLog(
    { logLevel, logFormat: 'json' },
    { destination: { write: (json) => lines.push(textLine(json)) } },
  );
  return { log, lines };
}

it('formats entries as readable lines', () => {
  const { log, lines } = openTextLog();
  log.info('Text serving: ready');
  log.error({ err: new Error('no route') }, 'the event connection broke');
  log.debug('not for people');
  expect(lines).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d Text serving: ready$/),
    expect.stringMatching(
      /^[\d-]{10} [\d:]{8} error: the event connection broke: no route\n {4}at .*text-log\.test\.ts/,
    ),
  ]);
});

it('prints every field after the message, except secrets and the program part', () => {
  const { log, lines } = openTextLog({ logLevel: 'debug' });
  const link = 'http://127.0.0.1:4080/api/auth/reset-password/abc?callbackURL=%2F';
  log.warn({ part: 'auth', user_id: 'ada', reset_link: link }, 'a new password was asked for');
  log.child({ workload_id: 'w1', attempt: 2 }).debug({ step: { do: 'start' } }, 'workload step');
  log.error({ token: 'bh_1', reason: 'out of memory' }, 'refused');
  expect(lines.map((line) => line.slice('YYYY-MM-DD HH:MM:SS '.length))).toEqual([
    `warn: a new password was asked for user_id=ada reset_link=${link}`,
    'workload step workload_id=w1 attempt=2 step={"do":"start"}',
    'error: refused token=[redacted] reason="out of memory"',
  ]);
});

it('prints only the message at info', () => {
  const { log, lines } = openTextLog();
  log.info({ preparation: 'serve-text' }, 'Text serving: ready');
  expect(lines).toEqual([expect.stringMatching(/^[\d-]{10} [\d:]{8} Text serving: ready$/)]);
});

it('prints multi-line text unchanged below its line', () => {
  const { log, lines } = openTextLog();
  const text = 'Hello Ada,\n\nhttp://127.0.0.1:4080/reset\n\nBakehouse\n';
  log.warn({ to: 'ada@example.com', text }, 'not sent');
  expect(lines[0]?.slice('YYYY-MM-DD HH:MM:SS '.length)).toBe(
    'warn: not sent to=ada@example.com\n    Hello Ada,\n\n    http://127.0.0.1:4080/reset\n\n    Bakehouse',
  );
});

it('prevents injected lines and terminal sequences', () => {
  const { log, lines } = openTextLog();
  log.info("'a\n12:00:00 error: \u001b[2Jb' starts");
  expect(lines[0]?.slice('YYYY-MM-DD HH:MM:SS '.length)).toBe("'a 12:00:00 error:  [2Jb' starts");
});
