import type { Report } from '@bakehouse/contract/runtime/report';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Launch } from '../drivers/driver.ts';
import { idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import type { WorkloadRequest } from '../request-workload.ts';
import { complete, testEngine, type Unnumbered } from '../testing/test-engine.ts';
import { acceptReports } from './accept-reports.ts';
import { selectLogLines } from './attempt-log.ts';

const { db, clock, kinds, onChange, authenticate, pass, world, report, request, stop, see, reach } =
  await testEngine();

beforeEach(async () => {
  await db.deleteFrom('workloads').execute();
});

describe('reports', () => {
  test('are accepted once, in order', async () => {
    const launches: Launch[] = [];
    const { engine } = world(async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    });
    const id = await request();
    await engine.pass();
    const caller = await authenticate(id, launches[0]?.server.token ?? '');
    if (!caller) throw new Error('unauthenticated');
    const send = (...reports: Report[]) => acceptReports({ db, clock, caller }, { body: { reports } }, kinds);
    const say = (seq: number): Report => ({
      type: 'log',
      seq,
      at: clock.now().toISOString(),
      line: `line ${seq}`,
    });

    expect(await send(say(1), say(2))).toEqual({ accepted_seq: 2, command: 'continue' });
    expect(await send(say(1), say(2), say(3))).toMatchObject({ accepted_seq: 3 });
    await expect(send(say(5))).rejects.toThrow('Report 4 is missing');
    const both = await Promise.all([send(say(4)), send(say(4))]);
    expect(both).toMatchObject([{ accepted_seq: 4 }, { accepted_seq: 4 }]);
    expect((await selectLogLines(db, id, 9)).map(({ line }) => line)).toEqual([
      'line 1',
      'line 2',
      'line 3',
      'line 4',
    ]);
  });

  test("may contain only the workload's own address", async () => {
    const launches: Launch[] = [];
    const { engine } = world(async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    });
    const spec: WorkloadRequest['spec'] = {
      kind: 'serve',
      task: 'text',
      engine: 'llamacpp',
      model_name: 'base',
      model_file: 'base.gguf',
      inputs: [],
      adapters: [],
      ...{ lora_rank: 0, projector_file: '', pictures_max: 0 },
      port: 4711,
      context_tokens: 1,
      parallel_requests: 1,
      gpus: 0,
    } as const;
    const id = await request({ behaviour: 'deployment', spec });
    await engine.pass();
    const say = (base_url: string) => report(launches[0] as Launch, { type: 'ready', base_url });
    const foreign = [
      'http://169.254.169.254/',
      'http://127.0.0.1:5432',
      'http://127.0.0.1:4711/latest',
      'https://127.0.0.1:4711',
      'http://user@127.0.0.1:4711',
      'http://127.0.0.1.example:4711',
      'no address',
    ];
    for (const address of foreign) await expect(say(address)).rejects.toThrow('base_url must be the address');
    expect(await see(id)).toMatchObject({ baseUrl: null });
    await say('http://127.0.0.1:4711');
    expect(await see(id)).toMatchObject({ state: 'ready', baseUrl: 'http://127.0.0.1:4711' });
  });

  test('are rejected from an earlier attempt, from another workload, or after the end', async () => {
    const launches: Launch[] = [];
    const { engine, driver } = world(async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    });
    const id = await request();
    await engine.pass();
    const early = await authenticate(id, launches[0]?.server.token ?? '');
    await driver.kill(id, 1);
    await reach(engine, id, { state: 'queued', restarts: 1 });
    pass(6);
    await reach(engine, id, { state: 'starting', attempt: 2 });
    const [first, second] = launches;
    if (!first || !second) throw new Error('two attempts expected');
    await expect(report(first)).rejects.toThrow('unauthenticated');
    expect(await report(second)).toMatchObject({ command: 'continue' });
    // It was authenticated while its attempt was alive, but its body arrived late.
    if (!early) throw new Error('the first attempt was not recognised');
    const late = acceptReports({ db, clock, caller: early }, { body: { reports: [] } }, kinds);
    await expect(late).rejects.toMatchObject({ code: 'gone' });
    expect(await authenticate('no-uuid', 'x')).toBeNull();
    await stop(id);
    await reach(engine, id, { state: 'stopped' });
    await expect(report(second)).rejects.toMatchObject({ code: 'gone' });
  });

  test('are announced once per batch with visible changes', async () => {
    const launches: Launch[] = [];
    const { engine } = world(async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    });
    await request();
    await engine.pass();
    const [launch] = launches;
    if (!launch) throw new Error('no launch');
    onChange.mockClear();
    await report(launch, ...complete.slice(0, 6));
    expect(onChange).toHaveBeenCalledTimes(1);
    await report(launch, { type: 'checkpoint', step: 1 });
    await report(launch);
    expect(onChange).toHaveBeenCalledTimes(1);
  });

  test('count the time between reports, but not a long silence', async () => {
    const launches: Launch[] = [];
    const { engine } = world(async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    });
    const id = await request();
    await engine.pass();
    const [launch] = launches;
    if (!launch) throw new Error('no launch');
    pass(100);
    await report(launch, complete[1] as Unnumbered);
    expect(await see(id)).toMatchObject({ state: 'ready', activeSeconds: 0 });
    pass(10);
    await report(launch);
    pass(600);
    await report(launch);
    expect(await see(id)).toMatchObject({ activeSeconds: 40 });
  });
});
