import { getMe, rotateApiKey } from '@bakehouse/contract/accounts';
import { streamEvents } from '@bakehouse/contract/events';
import { describe, expect, test, vi } from 'vitest';
import { createFakeDriver } from './engine/drivers/fake/fake-driver.ts';
import { createHeartbeat } from './engine/machines/heartbeat-loop.ts';
import { requestWorkload } from './engine/request-workload.ts';
import { testSpec } from './engine/testing/test-spec.ts';
import { publishChange } from './platform/events/publish-change.ts';
import { freePort } from './testing/ports/free-port.ts';
import { testServer } from './testing/test-server.ts';

const server = await testServer();

describe('the program', () => {
  test('responds on its own port and reaches its database', async () => {
    expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${server.url}/readyz`)).json()).toEqual({ status: 'ok' });
  });

  test('limits how long database statements may take', async () => {
    const { rows } = await server.services.pool.query('show statement_timeout');
    expect(rows).toEqual([{ statement_timeout: '1min' }]);
  });

  test('a new user can call with the key that their session returns', async () => {
    const ada = await server.signUp('Ada');
    expect(await server.request(getMe, {}, { as: ada })).toMatchObject({ id: ada.userId, name: 'Ada' });
  });

  test('streams changes only to their user', async () => {
    const [bob, eve] = [await server.signUp('Bob'), await server.signUp('Eve')];
    const leaving = new AbortController();
    const stream = await server.send(streamEvents, {}, { as: bob, signal: leaving.signal });
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');

    await server.services.db.transaction().execute(async (tx) => {
      await publishChange(tx, eve.userId, { topic: 'run', id: 'of-eve' });
      await publishChange(tx, bob.userId, { topic: 'run', id: 'of-bob' });
    });
    let heard = '';
    for await (const chunk of stream.body ?? []) {
      heard += Buffer.from(chunk).toString();
      if (heard.includes('of-bob')) break;
    }
    leaving.abort();
    expect(heard).toContain('event: change\ndata: {"topic":"run","id":"of-bob"}\n\n');
    expect(heard).not.toContain('of-eve');
  });

  test('ends only the streams of a key that was replaced', async () => {
    const [kim, lea] = [await server.signUp('Kim'), await server.signUp('Lea')];
    const leaving = new AbortController();
    const own = await server.send(streamEvents, {}, { as: kim });
    const other = await server.send(streamEvents, {}, { as: lea, signal: leaving.signal });
    await server.request(rotateApiKey, {}, { as: kim });
    await own.text();

    await server.services.db.transaction().execute(async (tx) => {
      await publishChange(tx, lea.userId, { topic: 'run', id: 'of-lea' });
    });
    let heard = '';
    for await (const chunk of other.body ?? []) {
      heard += Buffer.from(chunk).toString();
      if (heard.includes('of-lea')) break;
    }
    leaving.abort();
    expect(heard).not.toContain('api_key');
  });

  test('permits 20 open streams per user', async () => {
    const [ola, pam] = [await server.signUp('Ola'), await server.signUp('Pam')];
    const leaving = new AbortController();
    const open = (as: typeof ola) => server.send(streamEvents, {}, { as, signal: leaving.signal });
    for (let at = 0; at < 20; at += 1) expect((await open(ola)).status).toBe(200);
    const refused = await open(ola);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } });
    expect((await open(pam)).status).toBe(200);
    leaving.abort();
    const again = new AbortController();
    const reopen = async () =>
      (await server.send(streamEvents, {}, { as: ola, signal: again.signal })).status;
    await expect.poll(reopen).toBe(200);
    again.abort();
  });

  test('applies half of each limit of open streams while there is another web process', async () => {
    const first = await testServer();
    const { db, log, machineId, webProcesses } = first.services;
    const ida = await first.signUp('Ida');
    const leaving = new AbortController();
    const open = async () => (await first.send(streamEvents, {}, { as: ida, signal: leaving.signal })).status;
    expect(await open()).toBe(200);

    const second = createHeartbeat({ db, log, machineId, roles: ['web'] });
    await second.beat();
    await vi.waitFor(() => expect(webProcesses()).toBe(2), { timeout: 20_000 });
    for (let at = 1; at < 10; at += 1) expect(await open()).toBe(200);
    expect(await open()).toBe(429);

    await second.close();
    await vi.waitFor(() => expect(webProcesses()).toBe(1), { timeout: 20_000 });
    expect(await open()).toBe(200);
    leaving.abort();
  });

  test('without the web role, only listens on the monitoring port, if one is set', async () => {
    const monitoringPort = await freePort();
    await testServer({ roles: ['worker'], config: { monitoringPort } });
    const ask = async (path: string) => fetch(`http://127.0.0.1:${monitoringPort}${path}`);
    expect(await (await ask('/healthz')).json()).toEqual({ status: 'ok' });
    expect(await (await ask('/readyz')).json()).toEqual({ status: 'ok' });
    expect(await (await ask('/metrics')).text()).toContain('bakehouse_database_connections{state="busy"}');
    expect((await ask('/api/v1/machine')).status).toBe(404);

    const silent = await testServer({ roles: ['worker'] });
    expect(silent.app.http.server.listening).toBe(false);
  });

  test('its workloads report to its local address, even if it has a public URL', async () => {
    let reached = (_url: string): void => undefined;
    const reachedAt = new Promise<string>((resolve) => {
      reached = resolve;
    });
    const driver = createFakeDriver({
      capacity: { 'cpu:run': 1 },
      script: async ({ server: { base_url } }) => {
        const answer = await fetch(`${base_url}/healthz`);
        reached(answer.ok ? base_url : answer.statusText);
        return 0;
      },
    });
    const proxied = await testServer({ driver, config: { publicUrl: 'https://bakehouse.invalid' } });
    await proxied.services.db.transaction().execute((tx) =>
      requestWorkload(tx, {
        userId: null,
        behaviour: 'run',
        kind: 'test',
        title: 'a run',
        spec: testSpec('a run'),
        placement: { accelerator: null, count: 0 },
        now: new Date(),
      }),
    );
    await proxied.app.engine.pass();
    expect(await reachedAt).toBe(`http://127.0.0.1:${proxied.services.config.port}`);
  });
});
