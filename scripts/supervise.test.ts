import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';

const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-supervise-'));
afterAll(() => rm(folder, { recursive: true }));
const supervisor = JSON.stringify(path.join(import.meta.dirname, 'supervise.ts'));

/** Supervises a server that has a different program at each start. `n` is the number of the start. */
async function run(name: string, bodies: string[]): Promise<ChildProcess> {
  const file = path.join(folder, name);
  await writeFile(
    `${file}.mjs`,
    `import { appendFileSync, readFileSync } from 'node:fs';
     const starts = ${JSON.stringify(file)};
     appendFileSync(starts, \`\${process.pid}\\n\`);
     const n = readFileSync(starts, 'utf8').split('\\n').length - 1;
     const ready = () => process.send({});
     [${bodies.map((body) => `() => { ${body} }`).join()}][n - 1]();`,
  );
  await writeFile(
    `${file}.supervisor.mjs`,
    `import { supervise } from ${supervisor};
     const pauses = { firstMs: 1, longestMs: 2, stableMs: 60_000 };
     process.exit(await supervise(${JSON.stringify(`${file}.mjs`)}, [], pauses));`,
  );
  return spawn(process.execPath, [`${file}.supervisor.mjs`], { stdio: 'pipe' });
}

const countStarts = async (name: string) =>
  (await readFile(path.join(folder, name), 'utf8')).split('\n').length - 1;

async function endOf(child: ChildProcess): Promise<[number, string]> {
  const [said, [code]] = await Promise.all([
    text(child.stderr as NodeJS.ReadableStream & AsyncIterable<Buffer>),
    once(child, 'close'),
  ]);
  return [code, said];
}

test('restarts a server that dies, again if it dies before it is ready, and logs that', async () => {
  const die = 'process.kill(process.pid, "SIGKILL")';
  const supervised = await run('dies', [
    'ready(); setTimeout(() => process.exit(1), 50)',
    die,
    die,
    'ready(); setTimeout(() => process.exit(0), 50)',
  ]);
  expect(await endOf(supervised)).toEqual([
    0,
    'bakehouse: The server exited unexpectedly (exit code 1). Restarting in 0.001 s.\n' +
      'bakehouse: The server exited unexpectedly (SIGKILL). Restarting in 0.002 s.\n'.repeat(2),
  ]);
});

test('does not restart a server that was never ready', async () => {
  const supervised = await run('wrong', ['process.exit(1)']);
  expect(await endOf(supervised)).toEqual([1, '']);
  expect(await countStarts('wrong')).toBe(1);
});

const drains = 'process.once("disconnect", () => process.exit(0)); ready(); console.log("up")';

test('SIGTERM ends the server gracefully', async () => {
  const supervised = await run('told', [drains]);
  await once(supervised.stdout as NodeJS.ReadableStream, 'data');
  supervised.kill('SIGTERM');
  expect(await endOf(supervised)).toEqual([0, '']);
});

test('a second signal kills a server that does not end', async () => {
  const supervised = await run('stuck', [
    'ready(); process.once("disconnect", () => console.log("told")); setInterval(() => {}, 1000); console.log("up")',
  ]);
  const { stdout } = supervised;
  await once(stdout as NodeJS.ReadableStream, 'data');
  supervised.kill('SIGINT');
  await once(stdout as NodeJS.ReadableStream, 'data');
  supervised.kill('SIGINT');
  expect(await endOf(supervised)).toEqual([137, '']);
});
