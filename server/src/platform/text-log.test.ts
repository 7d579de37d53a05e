import { expect, it } from 'vitest';
import { createLog } from './log.ts';
import { textLine } from './text-log.ts';

function openTextLog() {
  const lines: string[] = [];
  const log = createLog(
    { logLevel: 'info', logFormat: 'json' },
    { destination: { write: (json) => lines.push(textLine(json)) } },
  );
  return { log, lines };
}

it('turns entries into lines for people', () => {
  const { log, lines } = openTextLog();
  log.info('Text serving: ready');
  log.error({ err: new Error('no route') }, 'the event connection broke');
  log.debug('not for people');
  expect(lines).toEqual([
    expect.stringMatching(/^\d\d:\d\d:\d\d Text serving: ready$/),
    expect.stringMatching(/^\d\d:\d\d:\d\d error: the event connection broke: no route$/),
  ]);
});

it('prints every field behind the message, except secrets and the part of the program', () => {
  const { log, lines } = openTextLog();
  const link = 'http://127.0.0.1:4080/api/auth/reset-password/abc?callbackURL=%2F';
  log.warn({ part: 'auth', user_id: 'ada', reset_link: link }, 'a new password was asked for');
  log.child({ workload_id: 'w1', attempt: 2 }).info({ step: { do: 'start' } }, 'workload step');
  log.info({ token: 'bh_1', reason: 'out of memory' }, 'refused');
  expect(lines.map((line) => line.slice('HH:MM:SS '.length))).toEqual([
    `warn: a new password was asked for user_id=ada reset_link=${link}`,
    'workload step workload_id=w1 attempt=2 step={"do":"start"}',
    'refused token=[redacted] reason="out of memory"',
  ]);
});
