import { buffer, text } from 'node:stream/consumers';
import type { Context } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { listBaseFiles } from '../../deployments/servers/model-servers.ts';
import { readTemplatesInHead } from '../../models/weights/gguf.ts';
import { findGgufs } from '../../models/weights/model-files.ts';
import type { Thinks } from '../grammar/build-grammar.ts';
import { bindingOf, type CompletionBody } from './completion-request.ts';
import {
  controlsInConfiguration,
  controlsInTokenizer,
  mayContainControlTokens,
  neutralizeControlTokens,
} from './control-tokens.ts';

type Files = AssetRevision['files'];
type Sources = Partial<
  Record<'gguf' | 'template' | 'configuration' | 'tokenizer', Files[number] | undefined>
>;

/** The options that a model's chat template supports. */
type TemplateOptions = {
  /** Whether thinking can be switched off (Qwen3). */
  thinking: boolean;
  /** Whether the thinking effort can be set (gpt-oss). */
  effort: boolean;
  verbosity: boolean;
  /** Whether an answer may start with a thought. */
  thinks: Thinks;
  /** Tokens that end or start a turn. */
  controls: string[];
};

/** Templates have three levels. */
const LEVEL_OF: Record<string, string> = {
  ...{ none: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high' },
};

/** Covers a GGUF's metadata, whose vocabulary precedes its template. */
const GGUF_HEAD_BYTES = 24 * 1024 ** 2;
const TEMPLATE_BYTES_MAX = 16 * 1024 ** 2;
/** How much of a `tokenizer.json` to read. The added tokens precede the long vocabulary. */
const TOKENIZER_HEAD_BYTES = 2 * 1024 ** 2;

/** Cached options, by the SHA-256 of the files that contain the template and the tokens. */
const known = new Map<string, TemplateOptions>();
const KNOWN_MAX = 1000;

/**
 * Returns the chat with `reasoning_effort` and `verbosity` translated for the model's template. If the
 * template can only switch thinking on or off, 'none' switches it off and any other effort switches it on.
 * Options that the template does not support are dropped with a warning instead of an error, because many
 * clients always send them.
 */
export async function withTemplateOptions(
  ctx: Context,
  sent: CompletionBody,
  upstream: Pick<Upstream, 'server_id' | 'model_name' | 'engine'>,
): Promise<{ body: CompletionBody; warnings: string[] }> {
  const body = mayContainControlTokens(sent)
    ? neutralizeControlTokens(sent, (await optionsOf(ctx, upstream.server_id)).controls)
    : sent;
  const { reasoning_effort: effort, verbosity, ...rest } = body;
  if (upstream.engine === 'llamacpp' && bindingOf(body, upstream.engine))
    rest.thinks = (await optionsOf(ctx, upstream.server_id)).thinks;
  if (typeof effort !== 'string' && typeof verbosity !== 'string') return { body: rest, warnings: [] };
  const options = await optionsOf(ctx, upstream.server_id);
  const level = typeof effort === 'string' ? LEVEL_OF[effort] : undefined;
  const isEffortUnknown = level !== undefined && !options.effort && !options.thinking;
  // The default is `medium`, so it needs no warning.
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
  const files = sourcesOf(await listBaseFiles(ctx.db, serverId));
  const key = Object.values(files)
    .map((file) => file?.sha256)
    .join();
  const found = known.get(key);
  if (found) return found;
  const { template, controls } = await readTemplate(ctx, files);
  const options: TemplateOptions = {
    thinking: template.includes('enable_thinking'),
    effort: template.includes('reasoning_effort'),
    verbosity: /\bverbosity\b/.test(template),
    thinks: thinksOf(template),
    controls,
  };
  const [oldest] = known.keys();
  if (known.size >= KNOWN_MAX && oldest !== undefined) known.delete(oldest);
  known.set(key, options);
  return options;
}

/**
 * Returns whether the template starts every answer with a thought, or allows one. Keep in step with
 * `serve/parsers.py`.
 */
function thinksOf(template: string): Thinks {
  if (/(?:<｜Assistant｜>|<\|im_start\|>assistant(?:\n|\\n))<think>(?:\n|\\n)/.test(template))
    return 'always';
  return template.includes('<think>') ? 'may' : 'never';
}

/**
 * Returns the files from which the engine reads the template and the tokens. llama.cpp reads only the GGUF.
 */
function sourcesOf(files: Files): Sources {
  const named = (name: string) => files.find(({ path }) => path === name);
  const [gguf] = findGgufs(files);
  if (gguf) return { gguf };
  const configuration = named('tokenizer_config.json');
  const template = named('chat_template.jinja') ?? configuration;
  return { template, configuration, tokenizer: named('tokenizer.json') };
}

async function readTemplate(
  ctx: Context,
  { gguf, template, configuration, tokenizer }: Sources,
): Promise<{ template: string; controls: string[] }> {
  if (gguf) {
    const { templates, controls } = readTemplatesInHead(await readHead(ctx, gguf, GGUF_HEAD_BYTES));
    return { template: templates.join('\n'), controls };
  }
  const read = async (file: Files[number] | undefined) =>
    !file || file.sizeBytes > TEMPLATE_BYTES_MAX ? '' : text(await readBlob(ctx, file));
  const configured = controlsInConfiguration(await read(configuration));
  const controls =
    configured.length === 0 && tokenizer
      ? controlsInTokenizer((await readHead(ctx, tokenizer, TOKENIZER_HEAD_BYTES)).toString())
      : configured;
  // The template may be a field of this configuration. The whole file is searched, because no other field
  // contains these words.
  return { template: await read(template), controls };
}

async function readHead(ctx: Context, file: Files[number], bytes: number): Promise<Buffer> {
  const range = { start: 0, end: Math.min(bytes, file.sizeBytes) - 1 };
  return buffer(await readBlob(ctx, { ...file, range }));
}
