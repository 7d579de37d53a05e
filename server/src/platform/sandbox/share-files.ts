import { randomBytes } from 'node:crypto';
import { chmod, chown, copyFile, link, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { defineJob } from '../jobs/define-job.ts';
import type { Sandbox } from './sandbox.ts';
import { isReaderUser, killAllOf, readerUsers, reserveUser, TRIAL_USER } from './user-sandbox.ts';

/** No program reads for this long, so the server that shared the files was killed. */
const LEFT_BEHIND_MS = 60 * 60 * 1000;
const READ_ONLY = 0o444;
/** Permission bits of others, for reading and writing. */
const OTHERS = 0o006;
const OTHERS_READ = 0o004;

/** A file, and the name under which it is shared. */
export type SharedFile = { localPath: string; as: string };

/** Subfolder of the shared folder that a program may write to, if requested. */
export const SCRATCH = 'scratch';

/**
 * Lets a sandboxed program read files while `work` runs. The files are in a folder that only the program's
 * user may enter. That user may not write to the folder, so it cannot trick the server into using other
 * files. Files on the same disk are linked instead of copied, so they must not be changed. With `scratch`,
 * the folder has a subfolder that the program may write to. Everything is deleted afterwards.
 */
export async function shareFiles<T>(
  sandbox: Sandbox,
  files: SharedFile[],
  work: (shared: { folder: string; user: number }) => Promise<T>,
  { scratch = false } = {},
): Promise<T> {
  await mkdir(sandbox.sharedDir, { recursive: true, mode: 0o711 });
  const shared = await (sandbox.kind === 'user' ? makeFolderOfUser(sandbox) : makeFolder(sandbox));
  try {
    for (const { localPath, as } of files) {
      const target = path.join(shared.folder, as);
      await mkdir(path.dirname(target), { recursive: true, mode: 0o755 });
      if (isOfOthers(sandbox)) await shareWithUsers(localPath, target);
      else await link(localPath, target).catch(() => copyFile(localPath, target));
    }
    if (scratch) {
      const place = path.join(shared.folder, SCRATCH);
      await mkdir(place, { mode: 0o700 });
      if (sandbox.kind === 'user') await chown(place, shared.user, shared.user);
      if (sandbox.kind === 'reader') await chmod(place, 0o770);
    }
    return await work(shared);
  } finally {
    await removeFolder(shared.folder, shared.user).finally(shared.free);
  }
}

/**
 * Shares a file with other users. If everyone may read but not write the file, a link to it is enough,
 * because the folder protects it. If it has other links, such as an operator's imported file, its permissions
 * must not change, so a copy is shared.
 */
async function shareWithUsers(localPath: string, target: string): Promise<void> {
  const { mode, nlink } = await stat(localPath);
  const isReadOnly = (mode & OTHERS) === OTHERS_READ;
  const isLinked = (isReadOnly || nlink === 1) && (await tryLink(localPath, target));
  if (!isLinked) await copyFile(localPath, target);
  if (!isLinked || !isReadOnly) await chmod(target, READ_ONLY);
}

async function tryLink(localPath: string, target: string): Promise<boolean> {
  return link(localPath, target).then(
    () => true,
    () => false,
  );
}

async function makeFolder({ kind, sharedDir }: Sandbox) {
  const folder = path.join(sharedDir, randomBytes(16).toString('hex'));
  await mkdir(folder, { mode: 0o700 });
  if (kind === 'reader') await chmod(folder, 0o750);
  return { folder, user: TRIAL_USER, free: () => undefined };
}

/** True if programs do not run as the server's user. The reader's user is in the server's group. */
function isOfOthers({ kind }: Sandbox): boolean {
  return kind === 'user' || kind === 'reader';
}

/**
 * Creates a folder named after the user that may enter it. The user is reserved on this machine until `free`
 * is called, because a server kills all processes of the user when its program ends.
 */
async function makeFolderOfUser({ sharedDir }: Sandbox) {
  const busy = await usersOfProcesses();
  for (const user of readerUsers()) {
    const free = busy.has(user) ? null : await reserveUser(user);
    if (!free) continue;
    const folder = path.join(sharedDir, String(user));
    try {
      await mkdir(folder, { mode: 0o700 });
      await chown(folder, process.getuid?.() ?? 0, user);
      await chmod(folder, 0o750);
      return { folder, user, free };
    } catch (error) {
      free();
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error('There are no more users for programs that read files');
}

/** Returns the users that have processes on this machine, for example programs of a killed server. */
async function usersOfProcesses(): Promise<Set<number>> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(ids.map((id) => stat(`/proc/${id}`).catch(() => null)));
  return new Set(found.flatMap((one) => one?.uid ?? []));
}

/**
 * First kills the user's remaining processes. They could otherwise redirect the deletion, or read the files
 * of the next program.
 */
async function removeFolder(folder: string, user: number): Promise<void> {
  if (isReaderUser(user)) await killAllOf(user);
  await rm(folder, { recursive: true, force: true });
}

/** Deletes each hour what `removeSharedFiles` finds. */
export const removeSharedFilesJob = defineJob({
  name: 'sandbox.remove-shared-files',
  schedule: '17 * * * *',
  run: ({ sandbox }) => removeSharedFiles(sandbox),
});

/** Deletes the shared files of killed servers. Throws an error for folders that cannot be deleted. */
export async function removeSharedFiles({ kind, sharedDir }: Sandbox): Promise<void> {
  const failures: unknown[] = [];
  const remove = (folder: string, user: number) =>
    removeFolder(folder, user).catch((error: unknown) => failures.push(error));
  for (const name of await readdir(sharedDir).catch(() => [])) {
    const folder = path.join(sharedDir, name);
    const found = await stat(folder).catch(() => null);
    if (!found || Date.now() - found.mtimeMs <= LEFT_BEHIND_MS) continue;
    if (kind !== 'user') await remove(folder, TRIAL_USER);
    else {
      const free = await reserveUser(found.gid);
      if (free) await remove(folder, found.gid).finally(free);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Some shared files could not be deleted');
}
