import type { IncomingMessage } from 'node:http';
import type { Context } from '../../../platform/context.ts';
import type { ModelServer } from '../../deployments/reach/await-model-server.ts';
import { postToModelServer } from '../../serving/ask/model-server-client.ts';
import { chooseAdapter } from '../../serving/text-spec.ts';
import { type CompletionBody, promptText, toBoundRequest } from '../body/completion-request.ts';
import type { RunningCall } from '../call-model.ts';
import type { ChatParts } from '../chat-parts.ts';
import { pictureTokensMax } from '../pictures/chat-pictures.ts';
import type { AcquiredSlot } from './prompt-slots.ts';
import { withModelServer } from './with-model-server.ts';

/**
 * Minimum bytes of a batch of text that llama.cpp reads (`serve/llamacpp.py`), because a token has at least
 * one byte. Batches with pictures are larger.
 */
const BATCH_BYTES = 64;

/**
 * Passes an answer on. Calls `wasRead` when the server has read the prompt, so that the next prompt can be
 * sent.
 */
type Pass = (answer: IncomingMessage, server: ModelServer, wasRead: () => void) => Promise<void>;

export type CompletionPath = '/v1/chat/completions' | '/v1/completions';

type Question = {
  path: CompletionPath;
  body: CompletionBody;
  onWait: (reason: string) => void;
};

/**
 * Sends a request to any server of the model, and passes the answer to `pass`. Users who send many requests
 * or read slowly do not block other users.
 */
export async function reachModelServer(
  ctx: Context,
  parts: ChatParts,
  call: RunningCall,
  { onWait, ...question }: Question,
  pass: Pass,
): Promise<void> {
  await withModelServer(ctx, parts, call, { kind: 'text', onWait }, (server) =>
    send(ctx, parts, { ...call, ...question }, { server, pass }),
  );
}

type Sent = Pick<RunningCall, 'signal' | 'deadline'> & Pick<Question, 'path' | 'body'>;

async function send(
  ctx: Context,
  parts: ChatParts,
  { path, body, signal, deadline }: Sent,
  { server, pass }: { server: ModelServer; pass: Pass },
): Promise<void> {
  const { userId } = ctx.caller;
  const request = await toBoundRequest(body, server, userId);
  const selection = chooseAdapter(server.engine, server.adapterNames, server.adapter);
  // No other process uses a server that belongs to one user, so skip the wait.
  if (!server.isOwn) await parts.presence.settled(signal);
  if (server.engine === 'vllm') {
    deadline.progress();
    const target = { url: server.baseUrl + path, key: server.key, isRouter: server.isRouter };
    // vLLM keeps the caches of different salts apart, so users cannot share one.
    const answer = await postToVllm(target, { ...request, ...selection, cache_salt: userId }, signal);
    return pass(answer, server, () => undefined);
  }
  const prompt = promptText(body);
  const owner = `${userId} ${JSON.stringify(selection)}`;
  const slot = server.isOwn ? null : acquireSharedSlot(parts, server, { owner, prompt });
  // Without an acquired slot, the server chooses one. Then the cache may contain other users' prompts, unless
  // the server belongs to this user.
  const place = slot ? { id_slot: slot.id, cache_prompt: slot.reuse } : { cache_prompt: server.isOwn };
  // Every token counts as a byte, and pictures have no text.
  const unread = Buffer.byteLength(prompt.slice(slot?.held ?? 0)) + pictureTokensMax(body);
  let leaveAdapter = () => undefined as void;
  let endReading = () => undefined as void;
  try {
    if (!server.isOwn) {
      leaveAdapter = await parts.turns.enterAdapter(server, signal);
      endReading = await parts.turns.read(server, userId, unread, signal);
    }
    deadline.progress();
    const answer = await postToModelServer(
      { url: server.baseUrl + path, key: server.key, isRouter: server.isRouter },
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
 * Requests a progress event after each batch, so that a client that disconnects early is charged for the
 * tokens that were read. For a single batch, the events would only delay the first token.
 */
function progressOf(unread: number): { return_progress?: true } {
  return unread > BATCH_BYTES ? { return_progress: true } : {};
}

/**
 * Acquires a slot of a shared server. Returns null if other processes may use the server too, because then
 * its slots' contents are unknown.
 */
function acquireSharedSlot(
  { presence, slots }: ChatParts,
  { baseUrl }: ModelServer,
  request: { owner: string; prompt: string },
): AcquiredSlot | null {
  const epoch = presence.alone();
  return epoch === null ? null : slots(baseUrl)({ ...request, epoch });
}

/**
 * Sends a request to vLLM. vLLM rejects a maximum that exceeds the rest of the context, while llama.cpp
 * writes as much as fits. To get the same from vLLM, retries without a maximum, which fails only if the
 * prompt is too long.
 */
async function postToVllm(
  target: Parameters<typeof postToModelServer>[0],
  request: object,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const answer = await postToModelServer(target, request, signal);
  if (answer.statusCode !== 400 || !('max_tokens' in request)) return answer;
  answer.resume();
  // Send null: without this field, vLLM limits text completions to 16 tokens.
  return postToModelServer(target, { ...request, max_tokens: null }, signal);
}
