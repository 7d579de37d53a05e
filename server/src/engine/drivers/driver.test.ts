import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { noSandbox } from '../../platform/sandbox/sandbox.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { testPlace } from '../testing/test-place.ts';
import { testSpec } from '../testing/test-spec.ts';
import type { Driver, Launch } from './driver.ts';
import { createFakeDriver, idleUntilStopped, type Script } from './fake/fake-driver.ts';
import { createLocalDriver } from './local/local-driver.ts';

/** What every driver promises to the engine. */
const drivers: [string, () => Promise<Driver>][] = [
  ['local', createLocal],
  ['fake', async () => createFakeDriver({ capacity: { 'cpu:run': 1 }, script })],
];

const script: Script = async (launch, process) => {
  process.print(`train ${launch.spec.kind === 'train' && launch.spec.title}`);
  const [verb, value] = launch.spec.kind === 'train' ? launch.spec.title.split(' ') : [];
  if (verb === 'exit') return Number(value);
  if (verb === 'stubborn')
    return idleUntilStopped(launch, { ...process, stop: new AbortController().signal });
  const code = await idleUntilStopped(launch, process);
  process.print('saved');
  return code;
};

async function createLocal(): Promise<Driver> {
  const dir = await temporaryFolder();
  return createLocalDriver({
    host: '127.0.0.1',
    workloadsDir: path.join(dir, 'workloads'),
    sandbox: noSandbox(path.join(dir, 'lent')),
    capacity: async () => ({ 'cpu:run': 1 }),
    program: async () => ({
      argv: [process.execPath, fileURLToPath(import.meta.resolve('../testing/scripted-workload.ts'))],
      env: {},
      reads: [],
      pull: null,
    }),
  });
}

describe.each(drivers)('the %s driver', async (_name, create) => {
  const driver = await create();

  const launch = (title: string): Launch => {
    const workloadId = randomUUID();
    onFileEnd(() => driver.remove(workloadId));
    return {
      workloadId,
      attempt: 1,
      behaviour: 'deployment',
      spec: testSpec(title),
      server: { base_url: 'http://127.0.0.1:1', token: 'secret' },
      serverKey: 'key',
      ...testPlace,
    };
  };
  const state = async ({ workloadId, attempt }: Launch) => (await driver.observe(workloadId, attempt)).state;
  const printed = (one: Launch, line: string) =>
    vi.waitFor(async () => expect(await driver.logs(one.workloadId, 10)).toContain(line));
  const gone = (one: Launch) => vi.waitFor(async () => expect(await state(one)).toBe('ended'));

  test('knows nothing of what was not started', async () => {
    const never = launch('idle');
    expect(await driver.observe(never.workloadId, 1)).toEqual({ state: 'absent' });
    await driver.stop(never.workloadId, 1);
    await driver.kill(never.workloadId, 1);
    await driver.remove(never.workloadId);
    expect(await driver.logs(never.workloadId, 5)).toEqual([]);
  });

  test('starts, lets it save and end when asked, and tells how it ended', async () => {
    const one = launch('idle');
    await driver.start(one);
    expect(await state(one)).toBe('alive');
    await printed(one, 'train idle');
    expect(await driver.listAlive()).toEqual([{ id: one.workloadId, attempt: 1 }]);
    await driver.stop(one.workloadId, 1);
    await gone(one);
    expect(await driver.listAlive()).toEqual([]);
    expect(await driver.observe(one.workloadId, 1)).toEqual({
      state: 'ended',
      by: 'itself',
      exitCode: 0,
      lastLine: 'saved',
      folder: 'kept',
    });
    const { lines, cursor } = await driver.output(one.workloadId, null);
    expect(lines).toEqual(['train idle', 'saved']);
    expect(await driver.output(one.workloadId, cursor)).toEqual({ lines: [], cursor });
  });

  test('tells the status of one that ends by itself, and that it ended', async () => {
    const heard = vi.fn();
    driver.onChange(heard);
    const one = launch('exit 3');
    await driver.start(one);
    await gone(one);
    expect(await driver.observe(one.workloadId, 1)).toMatchObject({ exitCode: 3, lastLine: 'train exit 3' });
    await vi.waitFor(() => expect(heard).toHaveBeenCalledWith(one.workloadId));
  });

  test('kills one that does not stop', async () => {
    const one = launch('stubborn');
    await driver.start(one);
    await printed(one, 'train stubborn');
    await driver.stop(one.workloadId, 1);
    expect(await state(one)).toBe('alive');
    await driver.kill(one.workloadId, 1);
    await gone(one);
  });

  test('a repeated start of an attempt starts nothing', async () => {
    const one = launch('idle');
    await driver.start(one);
    await printed(one, 'train idle');
    await driver.start(one);
    expect(await state(one)).toBe('alive');
    await driver.stop(one.workloadId, 1);
    await gone(one);
    expect((await driver.logs(one.workloadId, 10)).filter((line) => line === 'train idle')).toHaveLength(1);
  });

  test('a new attempt ends all earlier ones', async () => {
    const one = launch('idle');
    await driver.start(one);
    const later = { ...one, attempt: 3 };
    await driver.start(later);
    await gone(one);
    expect(await state(later)).toBe('alive');
    await driver.kill(one.workloadId, 3);
    await gone(later);
  });

  test('an attempt that was closed before it began never begins', async () => {
    const one = launch('idle');
    const later = { ...one, attempt: 2 };
    await driver.start(later);
    await expect(driver.start(one)).rejects.toThrow('did not begin');
    expect(await state(later)).toBe('alive');
    await driver.kill(one.workloadId, 2);
    await gone(later);
  });

  test('removes what is left', async () => {
    const one = launch('idle');
    await driver.start(one);
    await driver.remove(one.workloadId);
    expect(await state(one)).toBe('absent');
    expect(await driver.logs(one.workloadId, 5)).toEqual([]);
  });
});
