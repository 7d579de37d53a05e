import { beforeEach, expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { sentryServer } from '../../testing/servers/sentry-server.ts';
import { openErrorReports, PER_MINUTE_MAX, WAITING_MAX } from './error-reports.ts';
import { parseSentryDsn } from './sentry-address.ts';
import { causesOf, type Reported } from './to-event.ts';

const service = await sentryServer();
const warn = vi.fn<(sentence: string) => void>();

beforeEach(async () => {
  service.answer = (response) => void response.end('{}');
  service.events.length = 0;
  service.requests = 0;
  warn.mockClear();
});

function open(options: { pausesMs?: number[]; timeoutMs?: number } = {}) {
  const address = parseSentryDsn(service.dsn);
  if (!address) throw new Error('no DSN');
  const reports = openErrorReports(address, { warn, pausesMs: [50, 100], ...options });
  onFileEnd(reports.close);
  return reports;
}

const reportOf = (thrown: unknown, more: Partial<Reported> = {}): Reported => ({
  platform: 'node',
  errors: causesOf(thrown),
  tags: {},
  ...more,
});

test('a report contains the error with its causes, its place in the code, its user and its tags', async () => {
  const cause = new TypeError('cannot read the crumb');
  const error = new Error('the oven is cold', { cause });
  open().report(reportOf(error, { userId: 'ada', tags: { job: 'training.bake' } }));
  await vi.waitFor(() => expect(service.events).toHaveLength(1));
  const [event] = service.events;
  expect(event).toMatchObject({
    platform: 'node',
    level: 'error',
    release: 'bakehouse@0.1.0',
    user: { id: 'ada' },
    tags: { job: 'training.bake' },
    exception: {
      values: [
        { type: 'TypeError', value: 'cannot read the crumb' },
        { type: 'Error', value: 'the oven is cold' },
      ],
    },
  });
  const frame = event?.exception.values[1]?.stacktrace.frames.at(-1);
  expect(frame).toMatchObject({
    filename: 'server/src/platform/error-reports/error-reports.test.ts',
    in_app: true,
    lineno: expect.any(Number),
  });
});

test('a report never contains a secret, prompt, row or folder', async () => {
  const secrets = [
    'bk_live_0123456789',
    'hunter2',
    'Dear Bob, I love you',
    'ada@example.com',
    '/srv/private',
  ];
  const error = new Error(
    'Unexpected token "Dear Bob, I love you" for ada@example.com with bk_live_0123456789, password=hunter2',
    { cause: new Error('postgres://ada:hunter2@db/x') },
  );
  error.stack = `Error: ${error.message}\nDear Bob, I love you\n    at "Dear Bob, I love you" (/srv/private/file.ts:1:2)`;
  open().report(reportOf(error, { tags: { path: '/x?key=bk_live_0123456789', logged: "of 'hunter2'" } }));
  open().report(reportOf({ password: 'hunter2' }));
  await vi.waitFor(() => expect(service.events).toHaveLength(2));
  for (const secret of secrets) expect(service.bodies.join('')).not.toContain(secret);
});

test('a service that requests back-off receives the report after that time', async () => {
  const refusedAt: number[] = [];
  service.answer = (response) => {
    refusedAt.push(performance.now());
    service.answer = (next) => {
      refusedAt.push(performance.now());
      next.end('{}');
    };
    response.writeHead(429, { 'retry-after': '1' }).end();
  };
  open().report(reportOf(new Error('cold')));
  await vi.waitFor(() => expect(service.events).toHaveLength(1), 10_000);
  expect((refusedAt[1] ?? 0) - (refusedAt[0] ?? 0)).toBeGreaterThan(950);
});

test('a report during an outage of the service arrives afterwards, and the log mentions the outage once', async () => {
  await service.stop();
  const reports = open();
  reports.report(reportOf(new Error('first')));
  reports.report(reportOf(new Error('second')));
  await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce());
  await new Promise((resolve) => setTimeout(resolve, 300));
  await service.start();
  await vi.waitFor(() => expect(service.events).toHaveLength(2), 10_000);
  expect(service.events.map(({ exception }) => exception.values[0]?.value)).toEqual(['first', 'second']);
  expect(warn).toHaveBeenCalledOnce();
});

test('a report that the service rejects is dropped, and the next one is sent', async () => {
  service.answer = (response) => {
    service.answer = (next) => void next.end('{}');
    response.writeHead(413).end();
  };
  const reports = open();
  reports.report(reportOf(new Error('first')));
  reports.report(reportOf(new Error('second')));
  await vi.waitFor(() => expect(service.events).toHaveLength(1));
  expect(service.requests).toBe(2);
});

test('a slow service blocks nothing, and gets no more than its limit concurrently', async () => {
  service.answer = () => undefined;
  const reports = open({ timeoutMs: 60_000 });
  for (let count = 0; count < WAITING_MAX.node + PER_MINUTE_MAX.node; count += 1)
    reports.report(reportOf(new Error(`${count}`)));
  await vi.waitFor(() => expect(service.requests).toBe(1));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(service.requests).toBe(1);
  // Closing ends even if the service does not respond.
  await reports.close();
});

test('a slow service is retried, and of many errors in a minute a part arrives', async () => {
  service.answer = () => undefined;
  const reports = open({ timeoutMs: 100, pausesMs: Array<number>(1_000).fill(50) });
  for (let count = 0; count < 2 * PER_MINUTE_MAX.node; count += 1)
    reports.report(reportOf(new Error(`${count}`)));
  await vi.waitFor(() => expect(service.requests).toBeGreaterThan(1));
  service.answer = (response) => void response.end('{}');
  // The response to a report timed out, so it was sent again with the same id.
  const arrived = () => new Set(service.events.map(({ event_id }) => event_id)).size;
  await vi.waitFor(() => expect(arrived()).toBe(PER_MINUTE_MAX.node), 20_000);
});

test('browser reports never displace server reports, and dropped reports are counted in the log', async () => {
  const reports = open();
  const sent = 3 * PER_MINUTE_MAX.javascript;
  for (let count = 0; count < sent; count += 1)
    reports.report(reportOf(new Error('of a browser'), { platform: 'javascript' }));
  for (let count = 0; count < PER_MINUTE_MAX.node; count += 1) reports.report(reportOf(new Error('ours')));
  const arrived = (platform: string) => service.events.filter((event) => event.platform === platform).length;
  await vi.waitFor(() => expect(arrived('node')).toBe(PER_MINUTE_MAX.node), 10_000);
  expect(arrived('javascript')).toBe(PER_MINUTE_MAX.javascript);
  await reports.close();
  const leftOut = sent - PER_MINUTE_MAX.javascript;
  expect(warn.mock.calls).toEqual([[`${leftOut} errors of browsers were not reported: too many at a time`]]);
});

test.each([
  ['https://key@sentry.example/4', 'https://sentry.example/api/4/envelope/'],
  ['http://key@127.0.0.1:9000/tools/errors/12', 'http://127.0.0.1:9000/tools/errors/api/12/envelope/'],
])('%s leads to %s', (dsn, envelopeUrl) => {
  expect(parseSentryDsn(dsn)).toEqual({ envelopeUrl, publicKey: 'key' });
});

test.each([
  '',
  'sentry',
  'https://sentry.example/4',
  'https://key@sentry.example/',
  'file://key@x/4',
  'https://key@x/4?a=b',
])('%j is no DSN', (dsn) => {
  expect(parseSentryDsn(dsn)).toBeNull();
});
