import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '../child.ts';
import { PlainError } from '../plain-error.ts';
import { root } from '../root.ts';

const stamp = path.join(root, 'node_modules', '.bakehouse-installed');

/** Installs exactly the packages in package-lock.json, unless they are already installed. */
export async function ensureDependencies(): Promise<void> {
  const wanted = createHash('sha256')
    .update(await readFile(path.join(root, 'package-lock.json')))
    .update(`${process.platform}-${process.arch}`)
    .digest('hex');
  const installed = await readFile(stamp, 'utf8').catch(() => '');
  if (installed === wanted) return;
  console.error('Installing the dependencies in package-lock.json ...');
  const code = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { stdout: 'stderr' });
  if (code !== 0) throw new PlainError('npm ci failed; see its output above.');
  await writeFile(stamp, wanted);
}
