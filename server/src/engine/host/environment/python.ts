import { AppError } from '../../../platform/errors.ts';
import { runProgram } from '../../../platform/processes/run-program.ts';

const MINOR_MIN = 11;

/**
 * Returns a supported Python: `named` if it is new enough, otherwise the first available of 3.13, 3.12, 3.11,
 * 3.14 and the system's own. 3.14 is late because packages support new versions late. Throws
 * AppError('unavailable') with what to do.
 */
export async function findPython(named: string): Promise<string> {
  for (const candidate of [named, 'python3.13', 'python3.12', 'python3.11', 'python3.14', 'python3']) {
    const version = await versionOf(candidate);
    if (version && isNewEnough(version)) return candidate;
  }
  throw new AppError('unavailable', {
    publicMessage:
      'Training and chat need Python 3.11 or newer, which is not on this machine. ' +
      'Install it, or name it in BAKEHOUSE_PYTHON; everything else works meanwhile.',
  });
}

/** '3.11.7' is new enough, '3.9.2' and '2.7.18' are not. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 3 && minor >= MINOR_MIN;
}

async function versionOf(python: string): Promise<string | null> {
  const print = 'import platform; print(platform.python_version())';
  const output = await runProgram(python, ['-c', print]).catch(() => []);
  return output.at(-1) ?? null;
}
