import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { bubblewrapSandbox } from '../../../platform/sandbox/bubblewrap-sandbox.ts';
import { findSandbox } from '../../../platform/sandbox/find-sandbox.ts';
import { noSandbox, type Sandbox } from '../../../platform/sandbox/sandbox.ts';
import { removeSharedFilesJob, shareFiles } from '../../../platform/sandbox/share-files.ts';
import { userSandbox } from '../../../platform/sandbox/user-sandbox.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { testPlace } from '../../testing/test-place.ts';
import { testSpec } from '../../testing/test-spec.ts';
import type { Launch } from '../driver.ts';
import { readStartTime } from './attempts.ts';
import { inputCacheDir, restrictInputCache } from './input-cache.ts';
import { createLocalDriver } from './local-driver.ts';

const SERVER = path.resolve(import.meta.dirname, '../../../../..');
const program = {
  argv: [process.execPath, fileURLToPath(import.meta.resolve('../../testing/scripted-workload.ts'))],
  env: { PATH: process.env.PATH ?? '' },
  reads: [
    process.execPath,
    ...['server', 'contract', 'node_modules', 'package.json'].map((name) => path.join(SERVER, name)),
  ],
  pull: null,
};

function works(command: string): boolean {
  try {
    execFileSync('/bin/sh', ['-c', command], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const mayChangeUser = process.platform === 'linux' && process.getuid?.() === 0;
const mayMount = mayChangeUser && works('unshare --mount true');
const hasBubblewrap = works('bwrap --ro-bind / / --unshare-pid true');

/**
 * A folder with the files of a server, which other users may enter if `mode` permits it, and a driver on it.
 */
async function makeMachine(makeSandbox: (sharedDir: string, hidden: string[]) => Sandbox, mode: number) {
  const dataDir = await temporaryFolder();
  await chmod(dataDir, mode);
  const sandbox = makeSandbox(path.join(dataDir, 'lent'), [dataDir]);
  const workloadsDir = path.join(dataDir, 'workloads');
  const driver = createLocalDriver({
    host: '127.0.0.1',
    workloadsDir,
    sandbox,
    capacity: async () => ({}),
    program: async () => program,
  });
  const start = async (title: string, before?: (id: string) => Promise<void>) => {
    const workloadId = randomUUID();
    onFileEnd(() => driver.remove(workloadId));
    await before?.(workloadId);
    const server = { base_url: 'http://127.0.0.1:1', token: 'secret' };
    const launch: Launch = {
      workloadId,
      attempt: 1,
      behaviour: 'run',
      spec: testSpec(title),
      server,
      serverKey: 'key',
      ...testPlace,
    };
    await driver.start(launch);
    return workloadId;
  };
  const printed = async (id: string) => {
    await vi.waitFor(async () => expect(await driver.observe(id, 1)).toMatchObject({ state: 'ended' }));
    return (await driver.logs(id, 20)).join('\n');
  };
  return { dataDir, workloadsDir, sandbox, driver, start, printed };
}

/** Private files of a server and of another workload. */
async function furnish(machine: Awaited<ReturnType<typeof makeMachine>>) {
  const { dataDir, workloadsDir } = machine;
  const neighbour = await machine.start('idle');
  await mkdir(path.join(dataDir, 'blobs', 'ab'), { recursive: true, mode: 0o700 });
  const secret = path.join(dataDir, 'secret');
  await writeFile(secret, 'secret', { mode: 0o600 });
  const blob = path.join(dataDir, 'blobs', 'ab', 'cdef');
  await writeFile(blob, 'rows of somebody', { mode: 0o444 });
  const input = path.join(workloadsDir, neighbour, 'inputs', 'rows.csv');
  await link(blob, input);
  const saved = path.join(workloadsDir, neighbour, 'work', 'checkpoint');
  await writeFile(saved, 'x', { mode: 0o644 });
  const caches = { cacheDir: path.join(dataDir, 'cache') };
  const cached = path.join(inputCacheDir(caches), 'cdef');
  await mkdir(inputCacheDir(caches), { recursive: true, mode: 0o755 });
  await link(blob, cached);
  await restrictInputCache(caches);
  const socketDir = path.join(dataDir, 'postgres');
  await mkdir(socketDir, { mode: 0o700 });
  const socket = path.join(socketDir, 's');
  const listening = createServer().listen(socket);
  onFileEnd(async () => void listening.close());
  const spec = path.join(workloadsDir, neighbour, 'attempts', '1.json');
  return { secret, blob, input, saved, cached, spec, socket };
}

const REFUSED = /^(EACCES|ENOENT|EROFS|EPERM)$/;
const readAll = (files: Record<string, string>) =>
  Promise.all(Object.values(files).map((file) => readFile(file, 'utf8')));

const kinds: [string, boolean, (sharedDir: string, hidden: string[]) => Sandbox, number][] = [
  ['users of their own', mayChangeUser, userSandbox, 0o711],
  ['users of their own, in a folder that is closed to them', mayMount, userSandbox, 0o700],
  ['bubblewrap', hasBubblewrap, bubblewrapSandbox, 0o700],
];

describe.each(kinds)('in the sandbox of %s', (_name, isThere, makeSandbox, mode) => {
  test.runIf(isThere)('a workload cannot access the server or another workload', async () => {
    const machine = await makeMachine(makeSandbox, mode);
    const { socket, ...files } = await furnish(machine);
    const before = await readAll(files);
    const tries = { read: Object.values(files), write: Object.values(files), connect: [socket] };
    const answers = JSON.parse(
      (await machine.printed(await machine.start(`spy ${JSON.stringify(tries)}`))).split('\n').at(-1) ?? '',
    );
    expect(Object.keys(answers)).toHaveLength(13);
    for (const name of [...Object.values(files), socket]) expect(answers[name], name).toMatch(REFUSED);
    // The files are unchanged. A write that succeeded went to a tmpfs of bubblewrap.
    expect(await readAll(files)).toEqual(before);

    // Control: without the sandbox, the same program can access everything.
    const open = createLocalDriver({
      host: '127.0.0.1',
      workloadsDir: machine.workloadsDir,
      sandbox: noSandbox(machine.sandbox.sharedDir),
      capacity: async () => ({}),
      program: async () => program,
    });
    const server = { base_url: 'http://127.0.0.1:1', token: 'secret' };
    const spec = testSpec(`spy ${JSON.stringify({ ...tries, write: [] })}`);
    const workloadId = randomUUID();
    onFileEnd(() => open.remove(workloadId));
    await open.start({
      workloadId,
      attempt: 1,
      behaviour: 'run',
      spec,
      server,
      serverKey: 'key',
      ...testPlace,
    });
    expect(Object.values(JSON.parse((await machine.printed(workloadId)).split('\n').at(-1) ?? ''))).toEqual(
      Array.from({ length: 7 }, () => 'done'),
    );
  });

  test.runIf(isThere)(
    'it reads its spec and inputs, writes its own folder, and cannot change its inputs',
    async () => {
      const machine = await makeMachine(makeSandbox, mode);
      const id = await machine.start('exit 0');
      await machine.printed(id);
      const of = (name: string) => path.join(machine.workloadsDir, id, name);
      await writeFile(of('inputs/rows.csv'), 'rows');
      await chmod(of('inputs/rows.csv'), 0o444);
      const tries = {
        read: [of('inputs/rows.csv')],
        write: [of('work/mine'), of('inputs/rows.csv'), of('attempts/1')],
        connect: [],
      };
      const server = { base_url: 'http://127.0.0.1:1', token: 'secret' };
      const spec = testSpec(`spy ${JSON.stringify(tries)}`);
      await machine.driver.start({
        workloadId: id,
        attempt: 2,
        behaviour: 'run',
        spec,
        server,
        serverKey: 'key',
        ...testPlace,
      });
      await vi.waitFor(async () =>
        expect(await machine.driver.observe(id, 2)).toMatchObject({ state: 'ended' }),
      );
      const [line = ''] = await machine.driver.logs(id, 1);
      expect(Object.values(JSON.parse(line)).slice(0, 2)).toEqual(['done', 'done']);
      expect(await readAll({ mine: of('work/mine'), input: of('inputs/rows.csv') })).toEqual(['x', 'rows']);
      expect(await readFile(of('attempts/1'), 'utf8')).not.toBe('x');
    },
  );

  test.runIf(isThere)('files left in its folder are never executed outside the sandbox', async () => {
    const machine = await makeMachine(makeSandbox, mode);
    const id = await machine.start('exit 0');
    await machine.printed(id);
    const of = (name: string) => path.join(machine.workloadsDir, id, name);
    const proof = path.join(machine.dataDir, 'proof');
    const code = `open(${JSON.stringify(proof)}, 'w')`;
    await mkdir(of('work/bakehouse_runtime'));
    await writeFile(of('work/bakehouse_runtime/__main__.py'), code);
    const pull = ['/bin/sh', '-c', 'test "$HOME" != "$1" && python3 -m bakehouse_runtime; shift; exec "$@"'];
    const second = createLocalDriver({
      host: '127.0.0.1',
      workloadsDir: machine.workloadsDir,
      sandbox: machine.sandbox,
      capacity: async () => ({}),
      program: async () => ({ ...program, pull: () => [...pull, 'sh', of('work')] }),
    });
    const server = { base_url: 'http://127.0.0.1:1', token: 'secret' };
    const spec = testSpec(`spy ${JSON.stringify({ read: [], write: [of('work/mine')], connect: [] })}`);
    const launch = {
      workloadId: id,
      behaviour: 'run' as const,
      spec,
      server,
      serverKey: 'key',
      ...testPlace,
    };
    await second.start({ ...launch, attempt: 2 });
    await vi.waitFor(async () => expect(await second.observe(id, 2)).toMatchObject({ exitCode: 0 }));
    await expect(stat(proof)).rejects.toThrow('ENOENT');
    expect((await second.logs(id, 20)).join('\n')).toContain('No module named bakehouse_runtime');
    // The workload starts in its folder, and its files are private.
    expect((await stat(of('work/mine'))).mode & 0o077).toBe(0);
  });

  test.runIf(isThere)('it stops when asked, and its child processes end with it', async () => {
    const machine = await makeMachine(makeSandbox, mode);
    const idle = await machine.start('idle');
    await vi.waitFor(async () => expect(await machine.driver.logs(idle, 1)).toEqual(['train idle']));
    await machine.driver.stop(idle, 1);
    expect(await machine.printed(idle)).toContain('saved');
    const parent = await machine.start('runaway');
    const [line = ''] = await vi.waitFor(async () => {
      const lines = await machine.driver.logs(parent, 1);
      expect(lines[0]).toMatch(/^\d+$/);
      return lines;
    });
    await machine.driver.kill(parent, 1);
    await machine.printed(parent);
    if (machine.sandbox.kind === 'user')
      await vi.waitFor(async () => expect(await readStartTime(Number(line))).toBeNull());
  });

  test.runIf(isThere)('observing an ended attempt ends nothing of the next one', async () => {
    const machine = await makeMachine(makeSandbox, mode);
    const id = await machine.start('exit 0');
    await machine.printed(id);
    const server = { base_url: 'http://127.0.0.1:1', token: 'secret' };
    const launch = { workloadId: id, behaviour: 'run' as const, server, serverKey: 'key', ...testPlace };
    await machine.driver.start({ ...launch, spec: testSpec('idle'), attempt: 2 });
    const logs = () => machine.driver.logs(id, 1);
    await vi.waitFor(async () => expect(await logs()).toEqual(['train idle']));
    expect(await machine.driver.observe(id, 1)).toMatchObject({ state: 'ended' });
    await machine.driver.tidy(id, 1);
    await machine.driver.kill(id, 1);
    await machine.driver.stop(id, 2);
    await vi.waitFor(async () =>
      expect(await machine.driver.observe(id, 2)).toMatchObject({ state: 'ended', exitCode: 0 }),
    );
    expect(await logs()).toEqual(['saved']);
  });

  test.runIf(isThere)('a program that reads a file sees only that file', async () => {
    const machine = await makeMachine(makeSandbox, mode);
    const secret = path.join(machine.dataDir, 'secret');
    await writeFile(secret, 'secret', { mode: 0o600 });
    await shareFiles(machine.sandbox, [{ localPath: secret, as: 'a/rows.csv' }], async ({ folder, user }) => {
      const read = async (file: string) => {
        const [command = '', ...args] = await machine.sandbox.enclose({
          argv: ['/bin/cat', file],
          cwd: folder,
          reads: [folder],
          writes: [],
          user,
        });
        return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      };
      expect(await read(path.join(folder, 'a/rows.csv'))).toBe('secret');
      await expect(read(path.join(machine.dataDir, 'other'))).rejects.toThrow();
    });
    expect(await readdir(path.join(machine.dataDir, 'lent'))).toEqual([]);
  });

  test.runIf(isThere)('a program that reads a file leaves no file and no process behind', async () => {
    const machine = await makeMachine(makeSandbox, mode);
    const users: number[] = [];
    const [pid, made] = await shareFiles(machine.sandbox, [], async ({ folder, user }) => {
      users.push(user);
      await shareFiles(machine.sandbox, [], async (other) => void users.push(other.user));
      const script = 'touch planted 2> /dev/null; setsid sleep 600 < /dev/null > /dev/null 2>&1 & echo $!';
      const [command = '', ...args] = await machine.sandbox.enclose({
        argv: ['/bin/sh', '-c', `cd ${folder}; ${script}`],
        cwd: folder,
        reads: [folder],
        writes: [],
        user,
      });
      const left = execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      return [Number(left), await readdir(folder)] as const;
    });
    expect(made).toEqual([]);
    expect(await readdir(path.join(machine.dataDir, 'lent'))).toEqual([]);
    if (machine.sandbox.kind !== 'user') return;
    await vi.waitFor(async () => expect(await readStartTime(pid)).toBeNull());
    expect(users[0]).not.toBe(users[1]);
  });

  test.runIf(isThere)('shared files left by a killed server are removed', async () => {
    const machine = await makeMachine(makeSandbox, mode);
    const left = path.join(machine.sandbox.sharedDir, '61190');
    await mkdir(left, { recursive: true });
    const young = path.join(machine.sandbox.sharedDir, '61191');
    await mkdir(young);
    await utimes(left, 0, 0);
    await removeSharedFilesJob.run({ sandbox: machine.sandbox } as never, {}, AbortSignal.any([]));
    expect(await readdir(machine.sandbox.sharedDir)).toEqual(['61191']);
  });
});

test.runIf(hasBubblewrap)(
  'bubblewrap shows readable folders, and neither hidden ones nor other environment variables',
  async () => {
    const home = await temporaryFolder();
    const at = (name: string) => path.join(home, name);
    await mkdir(at('app/server/data/lent'), { recursive: true });
    for (const name of [
      'outside',
      'app/.env',
      'app/server/code',
      'app/server/data/secret',
      'app/server/data/lent/file',
    ])
      await writeFile(at(name), '');
    const sandbox = bubblewrapSandbox(at('app/server/data/lent'), [at('app'), at('app/server/data')]);
    const [command = '', ...args] = await sandbox.enclose({
      argv: ['/bin/sh', '-c', `find ${home} -type f; ls -A /etc`],
      cwd: '/',
      reads: [home, at('app/server'), at('app/server/data/lent')],
      writes: [],
      user: 0,
    });
    const seen = execFileSync(command, args, { encoding: 'utf8' }).split('\n');
    expect(seen.filter((name) => name.startsWith(home)).sort()).toEqual([
      at('app/server/code'),
      at('app/server/data/lent/file'),
      at('outside'),
    ]);
    expect(seen).toContain('passwd');
    expect(seen.filter((name) => /^(shadow|fstab|default|environment|postgresql|ssh)$/.test(name))).toEqual(
      [],
    );
  },
);

test('the server reports which sandbox its workloads run in', async () => {
  const dataDir = await temporaryFolder();
  const { sandbox, line } = await findSandbox({
    sharedDir: path.join(dataDir, 'lent'),
    reads: [SERVER],
    hidden: [dataDir],
  });
  if (mayMount) expect(sandbox.kind).toBe('user');
  expect(line).toMatch(
    {
      user: /as a separate system user/,
      bubblewrap: /in bubblewrap/,
      none: /as the server's user: .*not sandboxed/,
    }[sandbox.kind as 'user' | 'bubblewrap' | 'none'],
  );
});
