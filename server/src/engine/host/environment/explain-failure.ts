import { ProgramFailed } from '../../../platform/processes/run-program.ts';

/** Turns a program's output into one user-facing sentence. */
export function explainFailure(what: string, error: unknown, cacheDir: string): string {
  const output = error instanceof ProgramFailed ? error.output.join('\n') : String(error);
  if (/No space left on device|ENOSPC/i.test(output)) {
    return `The disk of ${cacheDir} is full. Make room, or name another folder in BAKEHOUSE_CACHE_DIR.`;
  }
  if (/ensurepip|No module named venv/.test(output)) {
    return "This machine's Python cannot make environments: install its venv module (Debian, Ubuntu: apt install python3-venv).";
  }
  if (
    /dns error|error sending request|Connection refused|timed out|Could not (connect|fetch)|Failed to fetch/i.test(
      output,
    )
  ) {
    return `${what} could not be downloaded: the package index does not answer.`;
  }
  const last = output.trim().split('\n').at(-1) ?? '';
  return `${what} could not be made ready: ${last}`;
}
