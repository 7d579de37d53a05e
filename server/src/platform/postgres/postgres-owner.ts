import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** For root, if no other user can enter the project's own folders. */
export const ROOT_FALLBACK_DIR = '/var/lib/bakehouse';

/** The unprivileged user that PostgreSQL runs as; absent if this process is not root. */
export type Owner = { name: string; uid: number; gid: number };

/** Returns the unprivileged user to run the server as if this process is root, otherwise null. */
export async function findOwner(): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null;
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const found = users.find((fields) => fields[0] === name);
    if (found) return { name, uid: Number(found[2]) >>> 0, gid: Number(found[3]) >>> 0 };
  }
  throw new Error(
    "PostgreSQL cannot run as root and there is no user 'postgres' or 'nobody': start Bakehouse as an ordinary user",
  );
}

/** Returns true if the user may enter a folder and all its parents. */
export async function canEnter(owner: Owner, dir: string): Promise<boolean> {
  return runAs(owner, '/bin/sh', ['-c', 'cd "$1"', 'sh', dir]).then(
    () => true,
    () => false,
  );
}

/** Runs one of the PostgreSQL programs to its end, as its user. Rejects if it fails. */
export function runAs(owner: Owner | null, program: string, args: string[]): Promise<unknown> {
  return run(program, args, {
    ...(owner && { uid: owner.uid, gid: owner.gid }),
    cwd: '/',
    env: programEnvironment(),
  });
}

/** Output is parsed, so it must be English; on macOS the server does not start without a locale. */
export function programEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' };
}

/** Returns the line of a failed program's output that explains the failure. */
export function describeFailure(error: unknown): string {
  const text = (error as { stderr?: string }).stderr || (error as Error).message;
  const lines = text.trim().split('\n');
  return (lines.find((line) => /error|FATAL|could not/i.test(line)) ?? lines[0] ?? '').replace(
    /^\S+: (error: )?/,
    '',
  );
}
