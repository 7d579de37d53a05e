import { listPrices } from '@bakehouse/contract/credits';
import { reportError } from '@bakehouse/contract/error-reports';
import { listNotifications } from '@bakehouse/contract/notifications';
import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { sentryServer } from '../../testing/servers/sentry-server.ts';
import { testServer } from '../../testing/test-server.ts';
import { defineJob } from '../jobs/define-job.ts';
import { openJobQueue } from '../jobs/job-queue.ts';
import { openErrorReports } from './error-reports.ts';
import { parseSentryDsn } from './sentry-address.ts';

/* Errors from all sources: failed calls that are our fault, failed jobs, and browsers. */

const service = await sentryServer();
const address = parseSentryDsn(service.dsn);
if (!address) throw new Error('no DSN');
const errorReports = openErrorReports(address, { warn: () => undefined, pausesMs: [50] });
onFileEnd(errorReports.close);
const server = await testServer({ errorReports, config: { logLevel: 'error', rateLimits: true } });
const ada = await server.signUp('Ada');

const report = {
  kind: 'dataset' as const,
  name: 'TypeError',
  message: 'cannot read "my prompt" with bk_live_0123456789',
  stack:
    'TypeError: x\n    at render (https://bake.example/assets/page-abc.js:10:20)\n    at async f (/a/b.js:1:2)',
  path: '/dataset/1/description',
};
const send = (body: object = report, as = ada) =>
  server.request(reportError, { body: body as typeof report }, { as });

test('a failed call that is our fault is reported with its route and user; caller errors are not', async () => {
  await sql`alter table notifications rename to gone`.execute(server.services.db);
  const call = server.request(listNotifications, { params: { userId: ada.userId } }, { as: ada });
  await expect(call).rejects.toMatchObject({ status: 500 });
  await sql`alter table gone rename to notifications`.execute(server.services.db);
  await expect(send({ ...report, kind: 'bread' })).rejects.toMatchObject({ status: 400 });
  await vi.waitFor(() => expect(service.events).toHaveLength(1));
  expect(service.events[0]).toMatchObject({
    platform: 'node',
    user: { id: ada.userId },
    tags: {
      path: '/api/v1/notification/user/:userId',
      logged: 'request failed',
      request_id: expect.any(String),
    },
  });
  expect(service.events[0]?.exception.values[0]?.value).toBe('relation […] does not exist');
});

test('a failed job is reported with its name', async () => {
  service.events.length = 0;
  const job = defineJob({
    name: 'test.burn',
    retries: 0,
    run: async () => {
      throw new Error('the bread has burnt');
    },
  });
  const { services } = server;
  const queue = await openJobQueue({ url: server.databaseUrl, log: services.log, jobs: [job], works: true });
  await queue.work(services);
  await services.db.transaction().execute((tx) => queue.enqueue(tx, job, {}));
  await vi.waitFor(() => expect(service.events).toHaveLength(1), 20_000);
  await queue.stop();
  expect(service.events[0]).toMatchObject({
    tags: { job: 'test.burn', attempt: '1' },
    exception: { values: [{ value: 'the bread has burnt' }] },
  });
});

test("forwards a browser's report with its user, after removing user input", async () => {
  service.events.length = 0;
  expect(await send()).toEqual({ taken: true });
  await vi.waitFor(() => expect(service.events).toHaveLength(1));
  expect(service.events[0]).toMatchObject({
    platform: 'javascript',
    user: { id: ada.userId },
    tags: { kind: 'dataset', path: '/dataset/1/description' },
    exception: {
      values: [
        {
          type: 'TypeError',
          value: 'cannot read […] with [secret]',
          stacktrace: {
            frames: [
              { filename: 'b.js', function: 'f' },
              { filename: '/assets/page-abc.js', function: 'render', lineno: 10, colno: 20 },
            ],
          },
        },
      ],
    },
  });
  expect(service.bodies.join('')).not.toContain('bk_live');
});

test('limits the size and rate of browser reports', async () => {
  await expect(send({ ...report, stack: 'x'.repeat(8_001) })).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'stack' } },
  });
  await expect(send({ ...report, message: 'x'.repeat(50_000) })).rejects.toMatchObject({ status: 413 });
  await expect(server.request(reportError, { body: report })).rejects.toMatchObject({ status: 401 });
  const bob = await server.signUp('Bob');
  const answers = await Promise.allSettled(Array.from({ length: 15 }, () => send(report, bob)));
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 429 } });
});

test('an unresponsive service slows nothing down', async () => {
  service.answer = () => undefined;
  const eve = await server.signUp('Eve');
  await Promise.all(Array.from({ length: 5 }, () => send(report, eve)));
  expect((await server.request(listPrices, {})).prices).not.toEqual([]);
});

test('tells browsers that reporting is off', async () => {
  const quiet = await testServer();
  const kim = await quiet.signUp('Kim');
  expect(await quiet.request(reportError, { body: report }, { as: kim })).toEqual({ taken: false });
});
