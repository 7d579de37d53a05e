import { buffer, text } from 'node:stream/consumers';
import type { Context } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { listBaseFiles } from '../../deployments/servers/list-base-files.ts';
import { readTemplatesInHead } from '../../models/weights/gguf.ts';
import type { CompletionBody } from './completion-request.ts';

type Files = AssetRevision['files'];

/** What a model's chat template lets a request choose. */
type TemplateOptions = {
  /** Whether it thinks at all, as Qwen3 has it. */
  thinking: boolean;
  /** How much it thinks, as gpt-oss has it. */
  effort: boolean;
  verbosity: boolean;
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
  body: CompletionBody,
  upstream: Pick<Upstream, 'server_id' | 'model_name'>,
): Promise<{ body: CompletionBody; warnings: string[] }> {
  const { reasoning_effort: effort, verbosity, ...rest } = body;
  if (typeof effort !== 'string' && typeof verbosity !== 'string') return { body, warnings: [] };
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
        ? [`reasoning effort '${level}' in place of '${effort}'`]
        : []),
      ...(isVerbosityUnknown ? [`ignored verbosity: ${name} has no levels`] : []),
    ],
  };
}

async function optionsOf(ctx: Context, serverId: string): Promise<TemplateOptions> {
  const files = await listBaseFiles(ctx.db, serverId);
  const file = templateFile(files);
  if (!file) return { thinking: false, effort: false, verbosity: false };
  const found = known.get(file.sha256);
  if (found) return found;
  const template = await readTemplate(ctx, file);
  const options = {
    thinking: template.includes('enable_thinking'),
    effort: template.includes('reasoning_effort'),
    verbosity: /\bverbosity\b/.test(template),
  };
  const [oldest] = known.keys();
  if (known.size >= KNOWN_MAX && oldest !== undefined) known.delete(oldest);
  known.set(file.sha256, options);
  return options;
}

/** That which the engine reads: llama.cpp the one in the GGUF. */
function templateFile(files: Files): Files[number] | undefined {
  const named = (name: string) => files.find(({ path }) => path === name);
  const gguf = files.find(({ path }) => path.endsWith('.gguf'));
  return gguf ?? named('chat_template.jinja') ?? named('tokenizer_config.json');
}

async function readTemplate(ctx: Context, file: Files[number]): Promise<string> {
  if (file.path.endsWith('.gguf')) {
    const end = Math.min(GGUF_HEAD_BYTES, file.sizeBytes) - 1;
    const head = await buffer(await readBlob(ctx, { ...file, range: { start: 0, end } }));
    return readTemplatesInHead(head).join('\n');
  }
  // Of a configuration all of it: no other field has these words.
  return file.sizeBytes > TEMPLATE_BYTES_MAX ? '' : text(await readBlob(ctx, file));
}
