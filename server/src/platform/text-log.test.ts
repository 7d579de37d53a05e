import { expect, it } from 'vitest';
import { createLog } from './log.ts';
import { textLine } from './text-log.ts';

it('turns entries into lines for people', () => {
  const lines: string[] = [];
  const log = createLog(
    { logLevel: 'info', logFormat: 'json' },
    { write: (json) => lines.push(textLine(json)) },
  );
  log.info({ preparation: 'serving' }, 'Text serving: ready');
  log.error({ err: new Error('no route') }, 'the event connection broke');
  log.debug('not for people');
  expect(lines).toEqual([
    expect.stringMatching(/^\d\d:\d\d:\d\d Text serving: ready$/),
    expect.stringMatching(/^\d\d:\d\d:\d\d error: the event connection broke: no route$/),
  ]);
});
