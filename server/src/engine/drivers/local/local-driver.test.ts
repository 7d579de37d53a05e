import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { noSandbox } from '../../../platform/sandbox/sandbox.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { machineCpu } from '../../host/machine-cpu.ts';
import type { WorkloadSpec } from '../../model/workload.ts';
import { testPlace } from '../../testing/test-place.ts';
import { testSpec } from '../../testing/test-spec.ts';
import { CannotStartError, type Launch } from '../driver.ts';
import { readStartTime } from './attempts.ts';
import { createLocalDriver } from './local-driver.ts';

const home = await temporaryFolder();
const workloadsDir = path.join(home, 'workloads');
const options = {
  host: '127.0.0.1',
  workloadsDir,
  sandbox: noSandbox(path.join(home, 'lent')),
  capacity: async () => ({}),
  program: async () => ({
    argv: [process.execPath, fileURLToPath(import.meta.resolve('../../testing/scripted-workload.ts'))],
    env: { TZ: 'UTC' },
    reads: [],
    pull: null,
  }),
};
const driver = createLocalDriver(options);
const launch = (title: string): Launch => {
  const workloadId = randomUUID();
  onFileEnd(() => driver.remove(workloadId));
  const server = { base_url: 'http://127.0.0.1:1', token: 'secret' };
  return {
    workloadId,
    attempt: 1,
    behaviour: 'run',
    spec: testSpec(title),
    server,
    serverKey: 'key',
    ...testPlace,
    // CPU work has low priority, and a busy machine would starve it.
    devices: [0],
  };
};
const file = (one: Launch, name: string) => path.join(workloadsDir, one.workloadId, name);
const patiently = { timeout: 15_000 };

test('rejects work for several nodes, because it is one machine', async () => {
  const one = { ...launch('idle'), nodes: 2 };
  await expect(driver.start(one)).rejects.toThrow(
    new CannotStartError('it needs 2 nodes, and this machine is one'),
  );
  expect(await driver.observe(one.workloadId, 1)).toEqual({ state: 'absent' });
});

test('the spec names its folders and only its owner may read it', async () => {
  const one = launch('idle');
  await driver.start(one);
  const spec: unknown = JSON.parse(await readFile(file(one, 'attempts/1.json'), 'utf8'));
  expect(spec).toMatchObject({
    protocol: 1,
    workload_id: one.workloadId,
    server: one.server,
    work_dir: file(one, 'work'),
    inputs_dir: file(one, 'inputs'),
  });
  expect((await stat(file(one, 'attempts/1.json'))).mode & 0o777).toBe(0o600);
});

test('a model server has as many threads as this machine has CPUs, whatever its spec requests', async () => {
  const spec: WorkloadSpec & { threads: number } = {
    ...({
      kind: 'serve',
      task: 'text',
      engine: 'llamacpp',
      model_name: 'base',
      model_file: 'base.gguf',
    } as const),
    inputs: [],
    adapters: [],
    ...{ lora_rank: 0, projector_file: '', pictures_max: 0 },
    port: 0,
    context_tokens: 1,
    parallel_requests: 1,
    gpus: 0,
    // As written by an earlier version on a larger machine.
    threads: 1000,
  };
  const one = { ...launch('served'), spec };
  await driver.start(one);
  expect(JSON.parse(await readFile(file(one, 'attempts/1.json'), 'utf8'))).toMatchObject({
    threads: machineCpu().cores,
  });
});

test('a workload sees only its GPUs, numbered as in nvidia-smi', async () => {
  const one = { ...launch('gpus'), devices: [1, 3] };
  await driver.start(one);
  await vi.waitFor(
    async () => expect(await driver.logs(one.workloadId, 1)).toEqual(['PCI_BUS_ID 1,3']),
    patiently,
  );
});

test('a workload outlives the server that started it, and the next server finds it', async () => {
  const one = launch('idle');
  const program = `
    import { noSandbox } from ${JSON.stringify(path.resolve(import.meta.dirname, '../../../platform/sandbox/sandbox.ts'))};
    import { createLocalDriver } from ${JSON.stringify(path.join(import.meta.dirname, 'local-driver.ts'))};
    const options = ${JSON.stringify(options)};
    const argv = ${JSON.stringify((await options.program()).argv)};
    await createLocalDriver({ ...options, sandbox: noSandbox(options.sandbox.sharedDir), program: async () => ({ argv, env: {}, reads: [], pull: null }) }).start(${JSON.stringify(one)});
    process.kill(process.pid, 'SIGKILL');`;
  const server = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
  await new Promise((resolve) => server.once('exit', resolve));

  expect(await driver.observe(one.workloadId, 1)).toEqual({ state: 'alive', starved: false });
  await vi.waitFor(
    async () => expect(await driver.logs(one.workloadId, 5)).toEqual(['train idle']),
    patiently,
  );
  await driver.stop(one.workloadId, 1);
  await vi.waitFor(
    async () =>
      expect(await driver.observe(one.workloadId, 1)).toEqual({
        ...{ state: 'ended', by: 'itself', folder: 'kept' },
        exitCode: 0,
        lastLine: 'saved',
      }),
    patiently,
  );
});

test('child processes of a workload end with it', async () => {
  const one = launch('parent');
  await driver.start(one);
  const child = await vi.waitFor(async () => {
    const pid = Number(await readFile(file(one, 'work/child.pid'), 'utf8'));
    // The child creates the file before it writes its id.
    expect(pid).toBeGreaterThan(1);
    return pid;
  }, patiently);
  const [leader = ''] = (await readFile(file(one, 'attempts/1'), 'utf8')).split(' ');
  process.kill(Number(leader), 'SIGKILL');
  await vi.waitFor(
    async () =>
      expect(await driver.observe(one.workloadId, 1)).toMatchObject({ state: 'ended', exitCode: null }),
    patiently,
  );
  // Observing an attempt must not kill its remaining processes.
  expect(await readStartTime(child)).not.toBeNull();
  await driver.tidy(one.workloadId, 1);
  await vi.waitFor(async () => expect(await readStartTime(child)).toBeNull(), patiently);
});

test('a later start does not check attempts that an earlier start has closed', async () => {
  const one = launch('idle');
  await driver.start(one);
  await driver.start({ ...one, attempt: 4 });
  const there = async () => (await readdir(file(one, 'attempts'))).filter((name) => /^\d+$/.test(name));
  expect((await there()).toSorted()).toEqual(['1', '2', '3', '4']);
  for (const name of ['1', '2', '3']) await rm(file(one, `attempts/${name}`));
  await driver.start({ ...one, attempt: 6 });
  expect((await there()).toSorted()).toEqual(['4', '5', '6']);
  // The kill may take a moment on a busy machine.
  await vi.waitFor(
    async () => expect(await driver.observe(one.workloadId, 4)).toMatchObject({ state: 'ended' }),
    patiently,
  );
  expect(await driver.listAlive()).toContainEqual({ id: one.workloadId, attempt: 6 });
});

test('does not signal a process id that was reused', async () => {
  const one = launch('idle');
  await mkdir(file(one, 'attempts'), { recursive: true });
  await writeFile(file(one, 'attempts/1'), `${process.pid} another boot 12345\n`);
  expect(await driver.observe(one.workloadId, 1)).toMatchObject({ state: 'ended' });
  // Otherwise this would end the test itself.
  await driver.tidy(one.workloadId, 1);
  await driver.kill(one.workloadId, 1);
  await driver.stop(one.workloadId, 1);
});

test.each(['', '0 some boot 12345\n', '-1 some boot 12345\n', '1 some boot 12345\n', '4711\n'])(
  'an attempt whose file contains %j counts as ended, and its process id is not signalled',
  async (text) => {
    const one = launch('idle');
    await mkdir(file(one, 'attempts'), { recursive: true });
    await writeFile(file(one, 'attempts/1'), text);
    // Old enough that no launcher can still be writing its identity.
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(file(one, 'attempts/1'), longAgo, longAgo);
    // A second launcher must not start the attempt.
    await expect(driver.start(one)).rejects.toThrow('did not begin');
    const sent = vi.spyOn(process, 'kill').mockReturnValue(true);
    onTestFinished(() => sent.mockRestore());
    expect(await driver.observe(one.workloadId, 1)).toMatchObject({ state: 'ended', exitCode: null });
    await driver.tidy(one.workloadId, 1);
    await driver.kill(one.workloadId, 1);
    await driver.stop(one.workloadId, 1);
    expect(sent).not.toHaveBeenCalled();
  },
);

test('does not signal a group of another boot whose leader is gone', async () => {
  const shell = spawn('/bin/sh', ['-c', 'sleep 600 > /dev/null 2>&1 & echo $!'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(shell, 'exit');
  const [printed] = (await once(shell.stdout, 'data')) as [Buffer];
  await ended;
  const member = Number(printed.toString());
  onTestFinished(() => void process.kill(member, 'SIGKILL'));
  const one = launch('idle');
  await mkdir(file(one, 'attempts'), { recursive: true });
  await writeFile(file(one, 'attempts/1'), `${shell.pid} Thu Jan 1 00:00:00 1970\n`);
  expect(await driver.observe(one.workloadId, 1)).toMatchObject({ state: 'ended' });
  await driver.tidy(one.workloadId, 1);
  await driver.kill(one.workloadId, 1);
  expect(await readStartTime(member)).not.toBeNull();
});

test('the log has a bounded size', async () => {
  const one = launch('chatter 20000');
  await driver.start(one);
  await vi.waitFor(
    async () => expect((await driver.logs(one.workloadId, 1))[0]).toMatch(/^line 19999 /),
    patiently,
  );
  await driver.tidy(one.workloadId, 1);
  expect((await stat(file(one, 'output.log'))).size).toBeLessThan(2 * 1024 * 1024);
  expect((await driver.logs(one.workloadId, 1))[0]).toMatch(/^line 19999 /);
});

test('gives up on a launcher that hangs, which then cannot start its process any more', async () => {
  const one = launch('idle');
  const tools = path.join(home, 'hanging-tools');
  const pidFile = path.join(tools, 'pid');
  await mkdir(tools);
  // Replaces the tools with which the launcher determines its start time.
  for (const tool of ['cut', 'ps']) {
    const script = `#!/bin/sh\necho $$ > '${pidFile}.new'; /bin/mv '${pidFile}.new' '${pidFile}'\nexec /bin/sleep 600\n`;
    await writeFile(path.join(tools, tool), script, { mode: 0o755 });
  }
  const hanging = createLocalDriver({
    ...options,
    program: async () => ({ argv: ['never'], env: { PATH: tools }, reads: [], pull: null }),
  });
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const failed = hanging.start(one).catch((error: unknown) => error);
  const pid = await vi.waitFor(async () => Number(await readFile(pidFile, 'utf8')), patiently);
  vi.setSystemTime(Date.now() + 11_000);
  expect(await failed).toMatchObject({ message: 'The process did not begin within 10 s' });
  expect(await hanging.observe(one.workloadId, 1)).toEqual({ state: 'absent' });
  await vi.waitFor(async () => expect(await readStartTime(pid)).toBeNull(), patiently);
});
