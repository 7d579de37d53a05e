import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { readConfig } from '../../../config.ts';
import { runtimeCommand } from '../../../engine/host/runtime-command.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { extensionOf, isPacked, ROWS_FILE } from '../data-file.ts';
import type { DataFile } from '../duckdb/load-table.ts';
import { type Profile, withProblem } from '../read-profile.ts';

type Profiled = DataFile & { profile: Profile };

/** Profiles by hash and name of the file. They are reused, because Python starts slowly. */
const known = new Map<string, Promise<Profiled>>();

/**
 * For tests: returns a local file in the form that confined programs get, with the rows that training's
 * reader has written.
 */
export async function profiledFile(localPath: string, name: string): Promise<Profiled> {
  const hash = createHash('sha256')
    .update(await readFile(localPath))
    .digest('hex');
  const key = `${hash} ${name}`;
  const file = known.get(key) ?? runProfile(localPath, name);
  known.set(key, file);
  // The temporary folder is deleted at the end of the test file.
  onFileEnd(async () => void known.delete(key));
  return { ...(await file), localPath };
}

async function runProfile(localPath: string, name: string): Promise<Profiled> {
  const folder = await temporaryFolder();
  const file = isPacked(name) ? 'data.gz' : 'data';
  await mkdir(path.join(folder, 'scratch'));
  await copyFile(localPath, path.join(folder, file));
  const { command, args, env } = await runtimeCommand(readConfig(process.env));
  const input = JSON.stringify({ folder, file, name });
  const found = JSON.parse(String(execFileSync(command, [...args, 'profile'], { env, input })));
  if ('unreadable' in found) {
    if (extensionOf(name) !== 'parquet') throw new Error(found.unreadable);
    return { localPath, name, folder, profile: withProblem(found.unreadable) };
  }
  await rename(path.join(folder, 'scratch/result'), path.join(folder, ROWS_FILE)).catch(() => undefined);
  return { localPath, name, folder, profile: found };
}
