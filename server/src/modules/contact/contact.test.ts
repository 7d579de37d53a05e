import { changeMessage, contactUs, listMessages } from '@bakehouse/contract/contact';
import { listNotifications } from '@bakehouse/contract/notifications';
import { beforeAll, expect, test, vi } from 'vitest';
import { type TestUser, testServer } from '../../testing/test-server.ts';

const OPERATOR = 'olga-1@example.com';
const server = await testServer({ config: { operators: [OPERATOR, 'absent@example.com'] } });
const { request, services } = server;

let olga: TestUser;
let ada: TestUser;
beforeAll(async () => {
  services.config.operators = [];
  olga = await server.signUp('Olga');
  services.config.operators = [OPERATOR, 'absent@example.com'];
  await services.db
    .updateTable('users')
    .set({ email_verified: true })
    .where('id', '=', olga.userId)
    .execute();
  await services.rowChanges.catchUp();
  ada = await server.signUp('Ada');
});

const write = (subject: string, message = 'It does not rise.', as = ada) =>
  request(contactUs, { body: { user_id: as.userId, subject, message } }, { as });
const read = (query: Parameters<typeof request<typeof listMessages>>[1]['query'] = {}) =>
  request(listMessages, { query }, { as: olga });

test('operators read messages with their senders, newest first, page by page', async () => {
  const { message_id } = await write('Dough');
  await write('Oven');
  const first = await read({ limit: 1 });
  expect(first.messages).toMatchObject([{ subject: 'Oven', status: 'new' }]);
  const second = await read({ cursor: first.next_cursor ?? undefined });
  expect(second.messages).toMatchObject([
    { message_id, subject: 'Dough', message: 'It does not rise.', email: ada.email, user_id: ada.userId },
  ]);
  expect(second.next_cursor).toBeNull();
});

test('notifies operators with an account', async () => {
  await write('Flour');
  const notified = await request(listNotifications, { params: { userId: olga.userId } }, { as: olga });
  expect(notified[0]).toMatchObject({ kind: 'message_received', link: '/operator/messages' });
  expect(notified[0]?.message).toMatch(/^ada\S* wrote to you: Flour$/);
  expect(await request(listNotifications, { params: { userId: ada.userId } }, { as: ada })).toEqual([]);
});

test('a repeated call with the same key sends one message', async () => {
  const body = { user_id: ada.userId, subject: 'Rye', message: 'Once.' };
  const [first, second] = [
    await request(contactUs, { body }, { as: ada, idempotencyKey: 'rye' }),
    await request(contactUs, { body }, { as: ada, idempotencyKey: 'rye' }),
  ];
  expect(second).toEqual(first);
  expect((await read()).messages.filter(({ subject }) => subject === 'Rye')).toHaveLength(1);
});

test('mails a message to every operator if there is a mail server; otherwise sends and logs no mail', async () => {
  // The queue is not processed, so the mails stay in it.
  vi.spyOn(services.jobs, 'enqueue').mockResolvedValue();
  const readMails = () =>
    services.db
      .selectFrom('outgoing_mails')
      .select(['recipient as to', 'subject', 'body as text'])
      .orderBy('recipient', 'desc')
      .execute();
  await write('Yeast');
  expect(await readMails()).toEqual([]);
  services.config.mail = { host: 'mail', port: 25, tls: 'none', login: null, from: 'b@example.com' };
  await write('Yeast', 'Where is it?');
  services.config.mail = null;
  expect(await readMails()).toMatchObject([
    {
      to: OPERATOR,
      subject: 'Message: Yeast',
      text: expect.stringContaining(`<${ada.email}> wrote:\n\nWhere is it?`),
    },
    { to: 'absent@example.com' },
  ]);
});

test('an operator marks messages as read and answered, and lists new ones', async () => {
  const { message_id } = await write('Salt');
  const mark = (status: 'read' | 'answered') =>
    request(changeMessage, { params: { messageId: message_id }, body: { status } }, { as: olga });
  expect(await mark('read')).toMatchObject({ message_id, status: 'read' });
  expect((await read({ status: 'read' })).messages.map((one) => one.message_id)).toEqual([message_id]);
  await mark('answered');
  expect((await read({ status: 'new' })).messages.map((one) => one.message_id)).not.toContain(message_id);
});

test.each([
  ['no subject', { subject: ' ', message: 'm' }, 'Subject is required'],
  ['no message', { subject: 's', message: '' }, 'Message is required'],
  ['a subject of two lines', { subject: 'a\nBcc: b', message: 'm' }, 'Subject must be one line'],
])('rejects %s', async (_what, { subject, message }, said) => {
  await expect(write(subject, message)).rejects.toMatchObject({
    status: 400,
    body: { error: { message: said } },
  });
});

test('limits a user to ten messages an hour, also if they are sent concurrently', async () => {
  const ben = await server.signUp('Ben');
  const sent = await Promise.allSettled(Array.from({ length: 12 }, () => write('All', 'At once.', ben)));
  expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
});

test('rejects the eleventh message within an hour, and accepts messages afterwards', async () => {
  const eve = await server.signUp('Eve');
  for (let sent = 0; sent < 10; sent += 1) await write(`Message ${sent}`, 'Again.', eve);
  await expect(write('One more', 'Again.', eve)).rejects.toMatchObject({
    status: 429,
    body: { error: { message: expect.stringContaining('10 messages within an hour') } },
  });
  await services.db
    .updateTable('contact_messages')
    .set({ created_at: new Date('2020-01-01') })
    .where('user_id', '=', eve.userId)
    .execute();
  await write('Later', 'Again.', eve);
});
