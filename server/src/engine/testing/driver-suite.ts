import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import type { Driver, Launch } from '../drivers/driver.ts';
import { idleUntilStopped, type Script } from '../drivers/fake/fake-driver.ts';
import type { Observed } from '../model/observed.ts';
import { testPlace } from './test-place.ts';
import { testSpec } from './test-spec.ts';

/**
 * A script that does what the title of its spec says. `exit 3` exits with 3, and `stubborn` ignores stop
 * requests. Any other title runs until it is asked to stop.
 */
export const suiteScript: Script = async (launch, process) => {
  process.print(`train ${launch.spec.kind === 'train' && launch.spec.title}`);
  const [verb, value] = launch.spec.kind === 'train' ? launch.spec.title.split(' ') : [];
  if (verb === 'exit') return Number(value);
  if (verb === 'stubborn')
    return idleUntilStopped(launch, { ...process, stop: new AbortController().signal });
  const code = await idleUntilStopped(launch, process);
  process.print('saved');
  return code;
};

type Ending = Pick<Extract<Observed, { state: 'ended' }>, 'by' | 'lastLine' | 'folder'>;

/**
 * Tests that every driver must pass.
 * @param ending How the driver reports the end of an attempt that was asked to stop.
 */
export async function testDriver(name: string, create: () => Promise<Driver>, ending: Ending): Promise<void> {
  const driver = await create();
  const calls = callsOf(driver);
  describe(`the ${name} driver`, () => {
    testLives(driver, calls, ending);
    testAttempts(driver, calls);
  });
}

function callsOf(driver: Driver) {
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
  const alive = (one: Launch) => vi.waitFor(async () => expect(await state(one)).toBe('alive'));
  const gone = (one: Launch) => vi.waitFor(async () => expect(await state(one)).toBe('ended'));
  return { launch, state, printed, alive, gone };
}

type Calls = ReturnType<typeof callsOf>;

/** Tests the start, observation and end of one attempt. */
function testLives(driver: Driver, { launch, printed, alive, gone }: Calls, ending: Ending): void {
  test('reports an attempt that was not started as absent', async () => {
    const never = launch('idle');
    expect(await driver.observe(never.workloadId, 1)).toEqual({ state: 'absent' });
    await driver.stop(never.workloadId, 1);
    await driver.kill(never.workloadId, 1);
    await driver.remove(never.workloadId);
    expect(await driver.logs(never.workloadId, 5)).toEqual([]);
  });

  test('starts, saves and exits when asked, and reports how it ended', async () => {
    const one = launch('idle');
    await driver.start(one);
    await alive(one);
    await printed(one, 'train idle');
    expect(await driver.listAlive()).toEqual([{ id: one.workloadId, attempt: 1 }]);
    await driver.stop(one.workloadId, 1);
    await gone(one);
    expect(await driver.listAlive()).toEqual([]);
    expect(await driver.observe(one.workloadId, 1)).toEqual({
      state: 'ended',
      exitCode: 0,
      ...ending,
    });
  });

  test('continues reading output from a cursor', async () => {
    const one = launch('idle');
    await driver.start(one);
    await printed(one, 'train idle');
    const { lines, cursor } = await driver.output(one.workloadId, null);
    expect(lines).toEqual(['train idle']);
    expect(await driver.output(one.workloadId, cursor)).toEqual({ lines: [], cursor });
    await driver.stop(one.workloadId, 1);
    await gone(one);
    // If the driver deletes the folder, the last lines may be gone.
    const possible = ending.folder === 'kept' ? [['saved']] : [[], ['saved']];
    expect(possible).toContainEqual((await driver.output(one.workloadId, cursor)).lines);
  });

  test('reports an exit and its status', async () => {
    const heard = vi.fn();
    driver.onChange(heard);
    const one = launch('exit 3');
    await driver.start(one);
    await gone(one);
    expect(await driver.observe(one.workloadId, 1)).toMatchObject({
      exitCode: 3,
      lastLine: 'train exit 3',
    });
    await vi.waitFor(() => expect(heard).toHaveBeenCalledWith(one.workloadId));
  });

  test('kills an attempt that does not stop', async () => {
    const one = launch('stubborn');
    await driver.start(one);
    await printed(one, 'train stubborn');
    await driver.stop(one.workloadId, 1);
    await alive(one);
    await driver.kill(one.workloadId, 1);
    await gone(one);
    expect(await driver.observe(one.workloadId, 1)).toMatchObject({ state: 'ended' });
  });
}

/** Tests how an attempt affects earlier and later attempts. */
function testAttempts(driver: Driver, { launch, state, printed, alive, gone }: Calls): void {
  test('a repeated start of an attempt starts nothing', async () => {
    const one = launch('idle');
    await driver.start(one);
    await printed(one, 'train idle');
    await driver.start(one);
    await alive(one);
    expect((await driver.logs(one.workloadId, 10)).filter((line) => line === 'train idle')).toHaveLength(1);
    await driver.stop(one.workloadId, 1);
    await gone(one);
  });

  test('a new attempt ends all earlier ones', async () => {
    const one = launch('idle');
    await driver.start(one);
    const later = { ...one, attempt: 3 };
    await driver.start(later);
    await gone(one);
    await alive(later);
    await driver.kill(one.workloadId, 3);
    await gone(later);
    expect(await state(one)).toBe('ended');
  });

  test('an attempt that was closed before it began never begins', async () => {
    const one = launch('idle');
    const later = { ...one, attempt: 2 };
    await driver.start(later);
    await expect(driver.start(one)).rejects.toThrow('did not begin');
    await alive(later);
    await driver.kill(one.workloadId, 2);
    await gone(later);
  });

  test('removes files and processes', async () => {
    const one = launch('idle');
    await driver.start(one);
    await driver.remove(one.workloadId);
    expect(await state(one)).toBe('absent');
    expect(await driver.logs(one.workloadId, 5)).toEqual([]);
  });
}
