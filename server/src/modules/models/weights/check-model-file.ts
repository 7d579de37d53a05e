import { readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import * as z from 'zod';
import { OutOfLimits, runConfined } from '../../../platform/confined/run-confined.ts';
import { invalidParam } from '../../../platform/errors.ts';
import type { Sandbox } from '../../../platform/sandbox/sandbox.ts';
import type { CheckModelFile } from '../../assets/files/upload/upload-file.ts';
import { DamagedFile, withFile } from './byte-source.ts';
import { checkGguf, readGgufTemplates } from './gguf.ts';
import { assertNoPickle, UnsafeFile } from './pickle.ts';
import { checkSafetensors } from './safetensors.ts';

const inConfig = z.object({
  chat_template: z.union([z.string(), z.array(z.object({ template: z.string() }))]),
});

const question = { role: 'user', content: 'Who bakes the bread?' };

const tool = {
  type: 'function',
  function: { name: 'bakers', description: 'Who is in', parameters: { type: 'object', properties: {} } },
};

/** Inputs that reach the main branches of templates: a single question, a conversation, and tools. */
const conversations = [
  { messages: [question], add_generation_prompt: true },
  {
    messages: [
      { role: 'system', content: 'Be short.' },
      question,
      { role: 'assistant', content: 'Ada.' },
      question,
    ],
    tools: [tool],
    add_generation_prompt: true,
  },
  { messages: [question, { role: 'assistant', content: 'Ada.' }], add_generation_prompt: false },
];

/** Limit of CPU time, including the start of the process. Rendering takes milliseconds. */
const CPU_SECONDS = 10;

const HEAP_MB = 512;
const PROGRAM = new URL('./render-templates-program.ts', import.meta.url);

const checks = {
  safetensors: checkSafetensors,
  gguf: checkGguf,
  bin: assertNoPickle,
  pt: assertNoPickle,
  pth: assertNoPickle,
  ckpt: assertNoPickle,
  pkl: assertNoPickle,
  pickle: assertNoPickle,
};

const CHECK_WEIGHTS_CPU_SECONDS = 30;
const CHECK_WEIGHTS_HEAP_MB = 512;
const CHECK_WEIGHTS_PROGRAM = new URL('./find-fault-program.ts', import.meta.url);

/** Checks the weights and chat templates of a model's file before any other program loads the file. */
export const checkModelFile: CheckModelFile = async (sandbox, file) => {
  await checkWeights(sandbox, file);
  await checkChatTemplates(sandbox, file);
};

/**
 * Renders the chat templates of a file in a separate process. A template is a program: with an infinite loop,
 * the model could never start. Files without templates pass. Throws AppError('invalid_request') with a
 * sentence that names the file, and 'unavailable' if the machine is too slow.
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
    throw invalidParam(
      'data_file',
      `${file.name} is not accepted: its chat template takes too long to render. Use a simpler chat template.`,
    );
  });
}

/**
 * Checks a weights file before any other program loads it. Safetensors and GGUF files must be complete;
 * pickles are refused. Other files pass. Runs in a separate process, because a crafted file can make the
 * check slow. Throws AppError('invalid_request') with a sentence that names the file.
 */
export async function checkWeights(
  sandbox: Sandbox,
  file: { localPath: string; name: string; userId: string },
  cpuSeconds = CHECK_WEIGHTS_CPU_SECONDS,
): Promise<void> {
  const extension = weightsExtension(file.name);
  if (!extension) return;
  const fault = await runConfined(
    sandbox,
    { program: CHECK_WEIGHTS_PROGRAM, localPath: file.localPath, input: { extension } },
    { kind: 'check', cpuSeconds, heapMb: CHECK_WEIGHTS_HEAP_MB, userId: file.userId },
  )
    .then((answer) => z.string().nullable().parse(answer))
    .catch((error: unknown) => {
      if (error instanceof OutOfLimits) return 'is not accepted: it takes too long to check';
      throw error;
    });
  if (fault === null) return;
  throw invalidParam('data_file', `${file.name} ${fault}.`);
}

export type WeightsExtension = keyof typeof checks;

/** Returns the extension if the file's content must be checked; null otherwise. */
export function weightsExtension(name: string): WeightsExtension | null {
  const extension = name.split('.').at(-1)?.toLowerCase() ?? '';
  return isWeights(extension) ? extension : null;
}

/**
 * Returns what is wrong with a weights file, as a phrase that follows the file's name; null for a valid file.
 */
export function findFault(localPath: string, extension: WeightsExtension): string | null {
  try {
    withFile(localPath, checks[extension]);
    return null;
  } catch (error) {
    if (error instanceof DamagedFile) return `is damaged: ${error.message}`;
    if (error instanceof UnsafeFile) return `is not accepted: ${error.message}`;
    throw error;
  }
}

function isWeights(extension: string): extension is WeightsExtension {
  return Object.hasOwn(checks, extension);
}

/** Returns the place of chat templates in a file with this name; null if it has none. */
function templateSource(name: string): 'gguf' | 'jinja' | 'config' | null {
  const base = name.split('/').at(-1)?.toLowerCase() ?? '';
  if (base.endsWith('.gguf')) return 'gguf';
  if (base.endsWith('.jinja')) return 'jinja';
  return base === 'tokenizer_config.json' || base === 'chat_template.json' ? 'config' : null;
}

export type TemplateSource = NonNullable<ReturnType<typeof templateSource>>;

/**
 * Renders each chat template of a complete file as an engine does at its start. Only an endless loop matters
 * here: output and errors are ignored, because the engine reports them.
 */
export function renderTemplates(localPath: string, source: TemplateSource): null {
  for (const template of readTemplates(localPath, source)) {
    for (const input of conversations) {
      try {
        new Template(template).render({ ...input, bos_token: '<s>', eos_token: '</s>' });
      } catch {
        // Rendering ended, so the template is accepted.
      }
    }
  }
  return null;
}

function readTemplates(localPath: string, source: TemplateSource): string[] {
  if (source === 'gguf') return withFile(localPath, readGgufTemplates);
  const text = readFileSync(localPath, 'utf8');
  if (source === 'jinja') return [text];
  const { data } = inConfig.safeParse(parseJson(text));
  if (!data) return [];
  return typeof data.chat_template === 'string'
    ? [data.chat_template]
    : data.chat_template.map(({ template }) => template);
}

/** Returns null for invalid JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
