import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../../../platform/context.ts';
import { AppError } from '../../../../platform/errors.ts';
import { chooseAdapter } from '../../kinds/text-spec.ts';
import type { ServingParts } from '../../serving-parts.ts';
import { type CompletionBody, toServerRequest } from '../body/completion-request.ts';
import type { Upstream } from '../gateway-queries.ts';
import type { RequestDeadline } from '../request-deadline.ts';
import { awaitModelServer, type ModelServer, readyServers } from './await-model-server.ts';
import { ModelServerUnreachable, postToModelServer } from './model-server-client.ts';
import type { ServerTurns } from './server-turns.ts';

export type CompletionPath = '/v1/chat/completions' | '/v1/completions';

/** A server that was just replaced, or has just died, is looked for this often, with this pause. */
const TRIES = 10;
const TRY_PAUSE_MS = 300;

export type Question = {
  upstream: Upstream;
  path: CompletionPath;
  body: CompletionBody;
  /** The client has disconnected, or the time is over. */
  signal: AbortSignal;
  deadline: RequestDeadline;
  onWait: (phase: string) => void;
};

/**
 * Sends the request to whichever server answers for the model, waking it where it must, and hands
 * its answer to `pass`. Users take turns at a server: one with many questions, or one who reads
 * slowly, must not keep the others from it.
 */
export async function reachModelServer(
  ctx: Context,
  parts: ServingParts,
  question: Question,
  pass: (answer: IncomingMessage, server: ModelServer) => Promise<void>,
): Promise<void> {
  const { upstream, body, signal, deadline, onWait } = question;
  let ready = readyServers(upstream);
  for (let tries = 1; ; tries += 1) {
    const servers =
      ready.length > 0
        ? ready
        : await awaitModelServer(ctx, parts, {
            upstream,
            modelName: body.model,
            kind: 'text',
            signal,
            onWait,
          });
    ready = [];
    const server = chooseReplica(parts.turns, servers);
    parts.replicas.grow(ctx, upstream, {
      loads: servers.map(parts.turns.load),
      places: parts.turns.places(),
    });
    const letGo = parts.replicas.keep(ctx, upstream, server.id);
    let leave = () => undefined as void;
    try {
      leave = await parts.turns.enter(server, ctx.caller.userId, signal);
      return await send(ctx, parts, question, server, pass);
    } catch (error) {
      if (!(error instanceof ModelServerUnreachable)) throw error;
      if (tries === TRIES) throw unavailable(upstream, error);
    } finally {
      deadline.rest();
      leave();
      letGo();
    }
    await pause(TRY_PAUSE_MS, undefined, { signal });
  }
}

async function send(
  ctx: Context,
  { presence, slots }: ServingParts,
  { path, body, signal, deadline }: Question,
  server: ModelServer,
  pass: (answer: IncomingMessage, server: ModelServer) => Promise<void>,
): Promise<void> {
  const request = toServerRequest(body, server.engine);
  const selection = chooseAdapter(server.engine, server.adapterNames, server.adapter);
  await presence.settled(signal);
  deadline.progress();
  const { userId } = ctx.caller;
  if (server.engine === 'vllm') {
    // vLLM keeps the caches of different salts apart.
    const answer = await postToModelServer(
      { url: server.baseUrl + path, key: server.key },
      { ...request, ...selection, cache_salt: userId },
      signal,
    );
    return pass(answer, server);
  }
  const epoch = presence.alone();
  const slot =
    epoch === null
      ? null
      : slots(server.baseUrl)({
          owner: `${userId} ${JSON.stringify(selection)}`,
          prompt: JSON.stringify(body.messages ?? body.prompt),
          epoch,
        });
  // Which slot others use is not known here: the server chooses, and reads the prompt anew.
  const place = slot ? { id_slot: slot.id, cache_prompt: slot.reuse } : { cache_prompt: false };
  try {
    const answer = await postToModelServer(
      { url: server.baseUrl + path, key: server.key },
      { ...request, ...selection, ...place },
      signal,
    );
    await pass(answer, server);
    slot?.keep();
  } finally {
    slot?.release();
  }
}

/**
 * The first replica at which the request need not wait, so that the last ones idle where fewer would do; else the
 * one with the fewest requests of this process.
 */
function chooseReplica({ load, places }: ServerTurns, servers: ModelServer[]): ModelServer {
  const atOnce = places();
  return (
    servers.find((one) => load(one) < atOnce) ??
    servers.reduce((least, one) => (load(one) < load(least) ? one : least))
  );
}

export function unavailable(upstream: Pick<Upstream, 'model_name'>, cause: unknown): AppError {
  return new AppError('unavailable', {
    publicMessage: `${upstream.model_name} does not answer. Try again`,
    cause,
  });
}
