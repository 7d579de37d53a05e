import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { mailServer } from '../../testing/servers/mail-server.ts';
import { testDatabase } from '../../testing/test-database.ts';
import type { Services } from '../context.ts';
import { deliverMailJob, sendMail } from './mail.ts';
import { insertMail } from './queries.ts';

const { db } = await testDatabase();
const open = await mailServer();
const guarded = await mailServer({ login: { user: 'bakehouse', password: 'right' } });

type Settings = NonNullable<Services['config']['mail']>;

const lines: string[] = [];
const log = pino({}, { write: (line) => void lines.push(line) });
const mail = { to: 'ada@example.com', subject: 'Grüße', text: 'Hello Ada,\n\nwelcome.\n' };

function servicesWith(settings: Settings | null): Services {
  return { config: { mail: settings }, db, log } as unknown as Services;
}

const id = randomUUID();
const deliver = (settings: Settings | null, isLast = false) =>
  deliverMailJob.run(servicesWith(settings), { id }, new AbortController().signal, isLast);
const queued = () => db.transaction().execute((tx) => insertMail(tx, id, mail));
const kept = async () => (await db.selectFrom('outgoing_mails').select('body').execute()).length;

beforeEach(async () => {
  await db.deleteFrom('outgoing_mails').execute();
  open.mails.length = 0;
  open.refuse(null);
  lines.length = 0;
});

describe('a mail', () => {
  test('is passed to the mail server, with the same id in each attempt', async () => {
    await queued();
    await deliver(open.settings);
    await queued();
    await deliver(open.settings);
    expect(open.mails).toHaveLength(2);
    for (const { from, to, head, body } of open.mails) {
      expect({ from, to }).toEqual({ from: 'bakehouse@example.com', to: ['ada@example.com'] });
      expect(head).toContain(`Message-ID: <${id}@bakehouse>`);
      expect(body.replaceAll('\r', '').trim()).toBe('Hello Ada,\n\nwelcome.');
    }
  });

  test('is deleted once it is sent, and not sent again', async () => {
    await queued();
    await deliver(open.settings);
    expect(await kept()).toBe(0);
    await deliver(open.settings);
    expect(open.mails).toHaveLength(1);
  });

  test('is sent with the configured login', async () => {
    await queued();
    await deliver(guarded.settings);
    expect(guarded.mails).toHaveLength(1);
  });

  test('is retried while the server is unavailable, busy or rejects the login', async () => {
    await queued();
    await expect(deliver({ ...open.settings, port: 1 })).rejects.toThrow('ECONNREFUSED');
    open.refuse(451);
    await expect(deliver(open.settings)).rejects.toThrow('451');
    const wrong = { ...guarded.settings, login: { user: 'bakehouse', password: 'wrong' } };
    await expect(deliver(wrong)).rejects.toThrow('Invalid login');
    await expect(deliver(null)).rejects.toThrow('No mail server is configured');
    expect(lines).toEqual([]);
    expect(await kept()).toBe(1);
  });

  test('is abandoned and logged once the server has rejected it or the last attempt has failed', async () => {
    open.refuse(550);
    await queued();
    await deliver(open.settings);
    open.refuse(451);
    await queued();
    await deliver(open.settings, true);
    await queued();
    await deliverMailJob.onLost?.(servicesWith(open.settings), { id });
    expect(await kept()).toBe(0);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      'failed to deliver a mail; giving up',
      'failed to deliver a mail; giving up',
      'failed to deliver a mail; giving up',
    ]);
    expect(lines.join()).not.toContain('welcome');
  });

  test('never goes unencrypted to a server that should encrypt', async () => {
    await queued();
    await expect(deliver({ ...open.settings, tls: 'starttls' })).rejects.toThrow(/STARTTLS|TLS/);
    expect(open.mails).toEqual([]);
  });
});

describe('sending', () => {
  const enqueued: object[] = [];
  const jobs: Services['jobs'] = { enqueue: async (_tx, _job, data) => void enqueued.push(data) };

  test('leaves the mail to a job if there is a mail server', async () => {
    const services = { ...servicesWith(open.settings), jobs };
    await db.transaction().execute((tx) => sendMail(tx, services, mail));
    expect(enqueued).toEqual([{ id: expect.any(String) }]);
    expect(await kept()).toBe(1);
    expect(lines).toEqual([]);
  });

  test('logs the mail if there is no mail server', async () => {
    enqueued.length = 0;
    const services = { ...servicesWith(null), jobs };
    await db.transaction().execute((tx) => sendMail(tx, services, mail));
    expect(enqueued).toEqual([]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { ...mail, msg: 'mail not sent: no mail server is configured; forward it to the recipient' },
    ]);
  });
});
