import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { invalidParam } from '../../../platform/errors.ts';
import type { TextEngine } from '../../serving/text-spec.ts';
import type { CallableTools } from '../tools/callable-tools.ts';
import { type AnswerFormat, type GrammarRequest, SCHEMA_PARAM } from './build-grammar.ts';
import type { BuiltGrammar } from './grammar-worker.ts';

const WORKERS = 2;
/** Real schemas take milliseconds. The rest is for a busy machine and the start of a worker. */
const DEADLINE_MS = 5_000;
const HEAP_MB = 512;

const queue = fairQueue(WORKERS, { perKey: 1 });
const idle: Worker[] = [];

const KNOWN_MAX = 100;
const known = new Map<string, BuiltGrammar>();

/**
 * Returns true if this server must write the grammar for optional calls. This is the case if the answer also
 * has a schema, or if the model server would not enforce the parameters of strict tools. llama.cpp enforces
 * no patterns or ranges. vLLM enforces parameters only in some call formats; those of Gemma 4, Granite 4,
 * Llama 4, Mistral and Phi-4 are not among them.
 */
export function isBoundChoice(
  { tools, choice }: CallableTools,
  { engine, format }: { engine: TextEngine; format: AnswerFormat | null },
): boolean {
  if (choice !== 'auto') return false;
  if (format !== null) return true;
  return tools.some(({ strict, parameters }) => strict && (engine === 'vllm' || hasFineTerms(parameters)));
}

function hasFineTerms(schema: object): boolean {
  return /"(?:pattern|format|multipleOf|(?:exclusive)?(?:min|max)imum|oneOf|allOf)":/i.test(
    JSON.stringify(schema),
  );
}

/**
 * Returns the GBNF grammar that binds an answer. A worker builds it, because a hostile schema takes seconds,
 * and users take turns. If the worker runs out of time, a strict schema is rejected, and any other schema is
 * not enforced. Throws AppError 'invalid_request' with the path of the keyword that cannot be enforced.
 */
export async function answerGrammar(asked: GrammarRequest, userId: string): Promise<string> {
  const key = JSON.stringify(asked);
  const built = known.get(key) ?? (await queue.run(userId, () => build(asked)));
  known.delete(key);
  known.set(key, built);
  const [oldest] = known.keys();
  if (known.size > KNOWN_MAX && oldest !== undefined) known.delete(oldest);
  if ('refusal' in built) throw invalidParam(built.param, built.refusal);
  return built.grammar;
}

async function build(asked: GrammarRequest): Promise<BuiltGrammar> {
  const built = await buildInWorker(asked);
  if (built) return built;
  const param = strictParam(asked);
  if (param)
    return { param, refusal: `${param}: takes too long to enforce. Simplify its patterns and ranges` };
  return (
    (await buildInWorker(withoutSchemas(asked))) ?? { param: SCHEMA_PARAM, refusal: 'The server is too busy' }
  );
}

/** Returns null if the worker ran out of time or memory. */
async function buildInWorker(asked: GrammarRequest): Promise<BuiltGrammar | null> {
  const worker = idle.pop() ?? startWorker();
  worker.ref();
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    worker.postMessage(asked);
    const [built] = (await once(worker, 'message', { signal })) as [BuiltGrammar];
    worker.unref();
    idle.push(worker);
    return built;
  } catch (error) {
    await worker.terminate();
    if (signal.aborted || (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') return null;
    throw error;
  }
}

function startWorker(): Worker {
  const worker = new Worker(new URL('grammar-worker.ts', import.meta.url), {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  // The listener prevents a crash of an idle worker from ending the process.
  worker.on('error', () => idle.splice(0, idle.length, ...idle.filter((one) => one !== worker)));
  return worker;
}

function strictParam({ format, tools }: GrammarRequest): string | null {
  if (format?.strict) return SCHEMA_PARAM;
  const at = tools ? tools.tools.findIndex(({ strict }) => strict) : -1;
  return at === -1 ? null : `tools.${at}.function.parameters`;
}

function withoutSchemas({ format, tools, thinks }: GrammarRequest): GrammarRequest {
  const bare = <Of extends { parameters: object }>(tool: Of) => ({ ...tool, parameters: { type: 'object' } });
  return {
    format: format && { schema: null, strict: false },
    tools: tools && { ...tools, tools: tools.tools.map(bare), callable: tools.callable.map(bare) },
    thinks,
  };
}
