import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/**
 * For tests: runs pytest files with this Python in the folder `home`. Returns the exit status and all output.
 */
export async function runPytest(
  python: string,
  { files, home, env }: { files: string[]; home: string; env: NodeJS.ProcessEnv },
): Promise<{ code: unknown; output: string }> {
  const child = spawn(python, ['-m', 'pytest', '-q', '-x', '-p', 'no:cacheprovider', ...files], {
    ...{ cwd: home, env: { ...env, PYTHONDONTWRITEBYTECODE: '1' } },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('close', resolve)),
  ]);
  return { code, output: output + errors };
}
