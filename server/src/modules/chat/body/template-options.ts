import { buffer, text } from 'node:stream/consumers';
import * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { listBaseFiles } from '../../deployments/servers/list-base-files.ts';
import { readTemplatesInHead } from '../../models/weights/gguf.ts';
import type { Thinks } from '../grammar/build-grammar.ts';
import { bindingOf, type CompletionBody } from './completion-request.ts';
import { mayHaveControls, withoutControls } from './control-tokens.ts';

type Files = AssetRevision['files'];

/** What a model's chat template lets a request choose. */
type TemplateOptions = {
  /** Whether it thinks at all, as Qwen3 has it. */
  thinking: boolean;
  /** How much it thinks, as gpt-oss has it. */
  effort: boolean;
  verbosity: boolean;
  /** Whether an answer may begin with a thought. */
  thinks: Thinks;
  /** Tokens that end a turn or begin one. */
  controls: string[];
};

/** Templates know three levels. */
const LEVEL_OF: Record<string, string> = {
  ...{ none: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high' },
};

/** The metadata of a GGUF: its vocabulary comes before its template. */
const GGUF_HEAD_BYTES = 24 * 1024 ** 2;
const TEMPLATE_BYTES_MAX = 16 * 1024 ** 2;

/** By the SHA-256 of the file that has the template. */
const known = new Map<string, TemplateOptions>();
const KNOWN_MAX = 1000;

/**
 * The same chat with `reasoning_effort` and `verbosity` as the model's template has them: if it only knows thinking from not thinking,
 * `none` is the latter. What the template does not know is left out with a warning, since many clients always send it.
 */
export async function withTemplateOptions(
  ctx: Context,
  sent: CompletionBody,
  upstream: Pick<Upstream, 'server_id' | 'model_name' | 'engine'>,
): Promise<{ body: CompletionBody; warnings: string[] }> {
  const body = mayHaveControls(sent)
    ? withoutControls(sent, (await optionsOf(ctx, upstream.server_id)).controls)
    : sent;
  const { reasoning_effort: effort, verbosity, ...rest } = body;
  if (upstream.engine === 'llamacpp' && bindingOf(body, upstream.engine))
    rest.thinks = (await optionsOf(ctx, upstream.server_id)).thinks;
  if (typeof effort !== 'string' && typeof verbosity !== 'string') return { body: rest, warnings: [] };
  const options = await optionsOf(ctx, upstream.server_id);
  const level = typeof effort === 'string' ? LEVEL_OF[effort] : undefined;
  const isEffortUnknown = level !== undefined && !options.effort && !options.thinking;
  // `medium` asks for nothing.
  const isVerbosityUnknown = typeof verbosity === 'string' && verbosity !== 'medium' && !options.verbosity;
  const kwargs = {
    ...(level !== undefined && options.effort && { reasoning_effort: level }),
    ...(level !== undefined && !options.effort && options.thinking && { enable_thinking: effort !== 'none' }),
    ...(typeof verbosity === 'string' && options.verbosity && { verbosity }),
  };
  const { model_name: name } = upstream;
  return {
    body: {
      ...rest,
      ...(level !== undefined && options.effort && { reasoning_effort: level }),
      chat_template_kwargs: { ...(body.chat_template_kwargs as object | null), ...kwargs },
    },
    warnings: [
      ...(isEffortUnknown ? [`ignored reasoning effort: ${name} has no levels`] : []),
      ...(options.effort && level !== undefined && level !== effort
        ? [`reasoning effort '${level}' in place of '${String(effort)}'`]
        : []),
      ...(isVerbosityUnknown ? [`ignored verbosity: ${name} has no levels`] : []),
    ],
  };
}

async function optionsOf(ctx: Context, serverId: string): Promise<TemplateOptions> {
  const files = await listBaseFiles(ctx.db, serverId);
  const file = templateFile(files);
  if (!file) return { thinking: false, effort: false, verbosity: false, thinks: 'never', controls: [] };
  const found = known.get(file.sha256);
  if (found) return found;
  const { template, controls } = await readTemplate(ctx, file, files);
  const options: TemplateOptions = {
    thinking: template.includes('enable_thinking'),
    effort: template.includes('reasoning_effort'),
    verbosity: /\bverbosity\b/.test(template),
    thinks: thinksOf(template),
    controls,
  };
  const [oldest] = known.keys();
  if (known.size >= KNOWN_MAX && oldest !== undefined) known.delete(oldest);
  known.set(file.sha256, options);
  return options;
}

/** A template that opens every answer with a thought, as DeepSeek R1's (`serve/reasoning.py`), or lets the model think. */
function thinksOf(template: string): Thinks {
  if (/(?:<｜Assistant｜>|<\|im_start\|>assistant(?:\n|\\n))<think>(?:\n|\\n)/.test(template))
    return 'always';
  return template.includes('<think>') ? 'may' : 'never';
}

/** That which the engine reads: llama.cpp the one in the GGUF. */
function templateFile(files: Files): Files[number] | undefined {
  const named = (name: string) => files.find(({ path }) => path === name);
  const gguf = files.find(({ path }) => path.endsWith('.gguf'));
  return gguf ?? named('chat_template.jinja') ?? named('tokenizer_config.json');
}

async function readTemplate(
  ctx: Context,
  file: Files[number],
  files: Files,
): Promise<{ template: string; controls: string[] }> {
  if (file.path.endsWith('.gguf')) {
    const end = Math.min(GGUF_HEAD_BYTES, file.sizeBytes) - 1;
    const head = await buffer(await readBlob(ctx, { ...file, range: { start: 0, end } }));
    const { templates, controls } = readTemplatesInHead(head);
    return { template: templates.join('\n'), controls };
  }
  const read = async (one: Files[number]) =>
    one.sizeBytes > TEMPLATE_BYTES_MAX ? '' : text(await readBlob(ctx, one));
  const configuration = files.find(({ path }) => path === 'tokenizer_config.json');
  // Of a configuration all of it: no other field has these words.
  return { template: await read(file), controls: controlsOf(configuration ? await read(configuration) : '') };
}

const configurationShape = z.object({
  added_tokens_decoder: z.record(
    z.string(),
    z.object({ content: z.string(), special: z.boolean().optional() }),
  ),
});

function controlsOf(configuration: string): string[] {
  try {
    const { added_tokens_decoder: added } = configurationShape.parse(JSON.parse(configuration));
    return Object.values(added).flatMap(({ content, special }) => (special ? [content] : []));
  } catch {
    return [];
  }
}
