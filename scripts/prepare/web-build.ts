import { createHash } from 'node:crypto';
import { glob, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '../child.ts';
import { PlainError } from '../plain-error.ts';
import { root } from '../root.ts';

const stamp = path.join(root, 'web', 'dist', '.sources');
const sources = [
  'web/{src,public}/**/*',
  'web/*.{ts,json,html}',
  'contract/src/**/*.ts',
  'docs/**/*',
  'package-lock.json',
];

/** Builds web/dist, unless it was built from the current sources. */
export async function ensureWebBuild(): Promise<void> {
  const wanted = await hashOfSources();
  const built = await readFile(stamp, 'utf8').catch(() => '');
  if (built === wanted) return;
  console.error('Building the web app ...');
  const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const code = await run(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: path.join(root, 'web'),
    stdout: 'stderr',
  });
  if (code !== 0) throw new PlainError('The web app could not be built; see the output above.');
  await writeFile(stamp, wanted);
}

async function hashOfSources(): Promise<string> {
  const files: string[] = [];
  for await (const entry of glob(sources, { cwd: root, withFileTypes: true })) {
    if (entry.isFile()) files.push(path.join(entry.parentPath, entry.name));
  }
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(path.relative(root, file)).update(await readFile(file));
  return hash.digest('hex');
}
