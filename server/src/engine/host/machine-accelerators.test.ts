import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { findAccelerators } from './accelerators.ts';
import { cacheAccelerators } from './machine-accelerators.ts';

/** A script that replaces nvidia-smi. */
async function program(does: string): Promise<string> {
  const file = path.join(await temporaryFolder(), 'nvidia-smi');
  await writeFile(file, `#!/bin/sh\n${does}\n`);
  await chmod(file, 0o755);
  return file;
}
const settings = { cacheDir: '/nowhere', python: 'python3', torchIndex: undefined };
const listing = "echo '0, NVIDIA H100 80GB HBM3, 81559, 9.0, 580.65.06'";

it('retries after a failure, and logs each result once: why there are no GPUs, later which GPUs there are', async () => {
  const said: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => said.push(JSON.parse(line).msg) });
  let time = 0;
  let asked = 0;
  const broken = await program('echo "Driver/library version mismatch"; exit 18');
  const works = await program(listing);
  const { read, areKnown } = cacheAccelerators(
    async () => {
      asked += 1;
      return findAccelerators({ command: asked < 3 ? broken : works });
    },
    () => time,
  );
  expect((await read(settings, log)).gpus).toEqual([]);
  expect((await read(settings, log)).gpus).toEqual([]);
  expect([asked, areKnown()]).toEqual([1, false]);
  while (!areKnown()) {
    time += 60_001;
    await read(settings, log);
    await new Promise((done) => setTimeout(done, 20));
  }
  expect(await read(settings, log)).toMatchObject({ gpus: [{ type: 'NVIDIA_H100_80GB' }] });
  expect(asked).toBe(3);
  expect(said).toEqual([
    'failed to list the GPUs of this machine; using the CPU until that works',
    expect.stringMatching(/^usable GPUs of this machine: 1 x .*H100/),
  ]);
});

it('does not wait for a program that hangs', async () => {
  const command = await program('exec sleep 100');
  await expect(findAccelerators({ command, timeoutMs: 50 })).rejects.toThrow();
});

it('a machine without driver and nvidia-smi has no GPUs', async () => {
  const nowhere = path.join(await temporaryFolder(), 'nothing');
  expect(await findAccelerators({ command: nowhere, driverDir: nowhere })).toBeNull();
  const driverDir = await temporaryFolder();
  await expect(findAccelerators({ command: nowhere, driverDir })).rejects.toThrow('ENOENT');
});
