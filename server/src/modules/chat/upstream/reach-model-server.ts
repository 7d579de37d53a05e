import type { IncomingMessage } from 'node:http';
import type { Context } from '../../../platform/context.ts';
import {
  awaitModelServer,
  type ModelServer,
  readyServers,
} from '../../deployments/reach/await-model-server.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { postToModelServer } from '../../serving/ask/model-server-client.ts';
import type { RequestDeadline } from '../../serving/ask/request-deadline.ts';
import { retryUnreachable } from '../../serving/ask/retry-unreachable.ts';
import { chooseAdapter } from '../../serving/text-spec.ts';
import { type CompletionBody, promptText, toServerRequest } from '../body/completion-request.ts';
import type { ChatParts } from '../chat-parts.ts';
import type { TakenSlot } from './prompt-slots.ts';
import { chooseReplica } from './replicas/choose-replica.ts';

/** What llama.cpp reads at once (`serve/llamacpp.py`); a token is a byte at least. */
const BATCH_BYTES = 64;

/** Hands an answer on; `wasRead` is called once the prompt has been read: the next one's turn comes. */
type Pass = (answer: IncomingMessage, server: ModelServer, wasRead: () => void) => Promise<void>;

export type CompletionPath = '/v1/chat/completions' | '/v1/completions';

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
  parts: ChatParts,
  question: Question,
  pass: Pass,
): Promise<void> {
  const { upstream, signal, deadline, onWait } = question;
  const modelName = upstream.model_name;
  const tried = new Set<string>();
  const attempt = async (number: number) => {
    // What did not answer is not asked again without a look.
    const ready = number === 1 ? readyServers(upstream) : [];
    const servers =
      ready.length > 0
        ? ready
        : await awaitModelServer(ctx, parts, { upstream, modelName, kind: 'text', signal, onWait });
    const server = chooseReplica(parts.turns, servers, tried);
    tried.add(server.id);
    parts.replicas.grow(ctx, upstream, {
      loads: servers.map(parts.turns.load),
      places: parts.turns.places(server),
    });
    const letGo = parts.replicas.keep(ctx, upstream, server.id);
    let leave = () => undefined as void;
    try {
      leave = await parts.turns.enter(server, ctx.caller.userId, signal);
      await send(ctx, parts, question, server, pass);
    } finally {
      deadline.rest();
      leave();
      letGo();
    }
  };
  await retryUnreachable(attempt, { modelName: upstream.model_name, signal });
}

async function send(
  ctx: Context,
  parts: ChatParts,
  { path, body, signal, deadline }: Question,
  server: ModelServer,
  pass: Pass,
): Promise<void> {
  const request = toServerRequest(body, server.engine);
  const selection = chooseAdapter(server.engine, server.adapterNames, server.adapter);
  // What one user alone asks needs no care for what another process sends there.
  if (!server.isOwn) await parts.presence.settled(signal);
  const { userId } = ctx.caller;
  if (server.engine === 'vllm') {
    deadline.progress();
    const target = { url: server.baseUrl + path, key: server.key };
    // vLLM keeps the caches of different salts apart.
    const answer = await postToVllm(target, { ...request, ...selection, cache_salt: userId }, signal);
    return pass(answer, server, () => undefined);
  }
  const prompt = promptText(body);
  const owner = `${userId} ${JSON.stringify(selection)}`;
  const slot = server.isOwn ? null : takeSlot(parts, server, { owner, prompt });
  // Without one the server chooses: whatever its owner has asked it, or nothing where others ask it too.
  const place = slot ? { id_slot: slot.id, cache_prompt: slot.reuse } : { cache_prompt: server.isOwn };
  const unread = Buffer.byteLength(prompt.slice(slot?.held ?? 0));
  let leaveAdapter = () => undefined as void;
  let endReading = () => undefined as void;
  try {
    if (!server.isOwn) {
      leaveAdapter = await parts.turns.enterAdapter(server, signal);
      endReading = await parts.turns.read(server, userId, unread, signal);
    }
    deadline.progress();
    const answer = await postToModelServer(
      { url: server.baseUrl + path, key: server.key },
      { ...request, ...selection, ...place, ...progressOf(unread) },
      signal,
    );
    await pass(answer, server, () => endReading());
    slot?.keep();
  } finally {
    endReading();
    leaveAdapter();
    slot?.release();
  }
}

/**
 * What is read in several batches is told after each, so that whoever leaves in the middle is charged for what was read.
 * Of a single one there is nothing to tell before the first token, which the events about it would only delay.
 */
function progressOf(unread: number): { return_progress?: true } {
  return unread > BATCH_BYTES ? { return_progress: true } : {};
}

/** The slot of a shared server whose prompt the request may go on from; null where others may use it as well. */
function takeSlot(
  { presence, slots }: ChatParts,
  { baseUrl }: ModelServer,
  request: { owner: string; prompt: string },
): TakenSlot | null {
  const epoch = presence.alone();
  return epoch === null ? null : slots(baseUrl)({ ...request, epoch });
}

/**
 * vLLM refuses a maximum that is more than the prompt leaves room for, where llama.cpp writes what there is room for.
 * Without the maximum it does so too, and what it refuses then is the prompt.
 */
async function postToVllm(
  target: Parameters<typeof postToModelServer>[0],
  request: object,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const answer = await postToModelServer(target, request, signal);
  if (answer.statusCode !== 400 || !('max_tokens' in request)) return answer;
  answer.resume();
  // Null, because of a plain text vLLM writes 16 tokens where nothing is said.
  return postToModelServer(target, { ...request, max_tokens: null }, signal);
}
