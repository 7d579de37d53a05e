import { OutOfLimits, runConfined } from '../../../platform/confined/run-confined.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Sandbox } from '../../../platform/sandbox/sandbox.ts';
import { templateSource } from './chat-templates.ts';

/** Includes process startup; rendering takes milliseconds. */
const CPU_SECONDS = 10;
const HEAP_MB = 512;
const PROGRAM = new URL('./render-templates-program.ts', import.meta.url);

/**
 * Renders the chat templates of a file in a separate process: a template is a program, and an infinite loop
 * would block every start of its model. Other files pass. Throws AppError('invalid_request') with a sentence
 * that names the file, and 'unavailable' if the machine is too slow.
 */
export async function checkChatTemplates(
  sandbox: Sandbox,
  file: { localPath: string; name: string; userId: string },
  cpuSeconds = CPU_SECONDS,
): Promise<void> {
  const source = templateSource(file.name);
  if (!source) return;
  await runConfined(
    sandbox,
    { program: PROGRAM, localPath: file.localPath, input: { source } },
    { kind: 'check', cpuSeconds, heapMb: HEAP_MB, userId: file.userId },
  ).catch((error: unknown) => {
    if (!(error instanceof OutOfLimits)) throw error;
    throw new AppError('invalid_request', {
      publicMessage: `${file.name} is not accepted: its chat template takes too long to render. Use a simpler chat template.`,
      param: 'data_file',
    });
  });
}
