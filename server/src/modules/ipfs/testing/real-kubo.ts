import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import * as z from 'zod';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';

const VERSION = 'v0.43.1';

const run = promisify(execFile);

/** Starts a real Kubo as an isolated offline node, built from its Go module on first use. */
export async function realKubo() {
  const bin = path.join(homedir(), '.cache/bakehouse/kubo', VERSION);
  // Its `go.mod` has a replace directive, which `go install` rejects: build it in its own folder.
  const { stdout: downloaded } = await run('go', [
    'mod',
    'download',
    '-json',
    `github.com/ipfs/kubo@${VERSION}`,
  ]);
  const { Dir: cwd } = z.object({ Dir: z.string() }).parse(JSON.parse(downloaded));
  await run('go', ['build', '-o', path.join(bin, 'ipfs'), './cmd/ipfs'], { cwd });
  const env = { ...process.env, IPFS_PATH: path.join(await temporaryFolder(), 'ipfs') };
  const ipfs = async (...words: string[]) => {
    const { stdout } = await run(path.join(bin, 'ipfs'), words, { env, maxBuffer: 1 << 26 });
    return stdout;
  };
  await ipfs('init', '--profile=test');
  await ipfs('config', 'Addresses.API', '/ip4/127.0.0.1/tcp/0');
  const daemon = spawn(path.join(bin, 'ipfs'), ['daemon', '--offline'], { env });
  onFileEnd(async () => {
    daemon.kill();
    if (daemon.exitCode === null) await once(daemon, 'exit');
  });
  for await (const line of createInterface({ input: daemon.stdout })) {
    const port = /RPC API server listening on \/ip4\/127\.0\.0\.1\/tcp\/(\d+)/.exec(line)?.[1];
    if (port) {
      daemon.stdout.resume();
      return { ipfs, url: `http://127.0.0.1:${port}` };
    }
  }
  throw new Error('Kubo has not started');
}
