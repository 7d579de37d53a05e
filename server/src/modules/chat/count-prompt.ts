import * as z from 'zod';
import type { Context } from '../../platform/context.ts';
import { modelUnavailable } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/answer.ts';
import type { ModelServer } from '../deployments/reach/await-model-server.ts';
import { postToModelServer, readText } from '../serving/ask/model-server-client.ts';
import { NON_STREAMING_MS_MAX } from '../serving/ask/request-deadline.ts';
import { warningHeaders } from './answer-shape.ts';
import { type CompletionBody, toBoundRequest } from './body/completion-request.ts';
import { withTemplateOptions } from './body/template-options.ts';
import { callModel, type RunningCall } from './call-model.ts';
import type { ChatParts } from './chat-parts.ts';
import { pictureRoom } from './pictures/held-pictures.ts';
import { withPictures } from './pictures/read-pictures.ts';
import { toModelServerError } from './to-model-server-error.ts';
import { withModelServer } from './upstream/with-model-server.ts';

type Read = { body: CompletionBody; warnings: string[] };

/**
 * Counts the prompt tokens of a chat with its model server's tokenizer, free of charge. Returns the count,
 * and the headers with warnings.
 */
export function countPrompt(
  ctx: Context,
  parts: ChatParts,
  { model, read }: { model: string; read: () => Read | Promise<Read> },
  client: AbortSignal,
): Promise<Answer<number>> {
  const room = pictureRoom(ctx.caller.userId);
  return callModel(ctx, parts, {
    ...{ modelName: model, kind: 'text' as const },
    ...{ client, inAllMs: NON_STREAMING_MS_MAX },
    prepare: async (upstream) => {
      const sent = await read();
      const seen = await withPictures(ctx, sent.body, upstream, { signal: client, room });
      const { body, warnings } = await withTemplateOptions(ctx, seen, upstream);
      const served = { engine: upstream.engine, contextTokens: upstream.context_tokens };
      await toBoundRequest(body, served, ctx.caller.userId);
      const headers = warningHeaders([...sent.warnings, ...warnings]);
      return {
        quote: null,
        run: async (call) => {
          const tokens = await withModelServer(ctx, parts, call, { kind: 'text', routed: false }, (server) =>
            count({ ...server, userId: ctx.caller.userId }, body, call),
          );
          return new Answer(tokens, { headers });
        },
      };
    },
  }).finally(room.leave);
}

const told = z.union([
  z.object({ input_tokens: z.int().min(0) }).transform(({ input_tokens: tokens }) => tokens),
  z.object({ count: z.int().min(0) }).transform(({ count: tokens }) => tokens),
]);

async function count(
  server: ModelServer & { userId: string },
  body: Parameters<typeof toBoundRequest>[0],
  { upstream, signal, deadline }: RunningCall,
): Promise<number> {
  deadline.progress();
  const request = await toBoundRequest(body, server, server.userId);
  const isVllm = server.engine === 'vllm';
  const target = {
    url: server.baseUrl + (isVllm ? '/tokenize' : '/v1/chat/completions/input_tokens'),
    key: server.key,
  };
  const asked = isVllm ? { model: 'base', ...request } : request;
  const answer = await postToModelServer(target, asked, signal);
  const text = await readText(answer);
  const status = answer.statusCode ?? 500;
  if (status >= 400 && status < 500) throw toModelServerError(text, body);
  const { data } = told.safeParse(status < 400 ? parse(text) : null);
  if (data === undefined) throw modelUnavailable(`${upstream.model_name} does not answer`, new Error(text));
  return data;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
