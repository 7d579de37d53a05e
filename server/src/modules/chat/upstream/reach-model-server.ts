import type { IncomingMessage } from 'node:http';
import type { Context } from '../../../platform/context.ts';
import type { ModelServer } from '../../deployments/reach/await-model-server.ts';
import { postToModelServer } from '../../serving/ask/model-server-client.ts';
import { chooseAdapter } from '../../serving/text-spec.ts';
import { type CompletionBody, promptText, toBoundRequest } from '../body/completion-request.ts';
import type { RunningCall } from '../call-model.ts';
import type { ChatParts } from '../chat-parts.ts';
import { atModelServer } from './at-model-server.ts';
import type { TakenSlot } from './prompt-slots.ts';

/** What llama.cpp reads at once (`serve/llamacpp.py`); a token is a byte at least. */
const BATCH_BYTES = 64;

/** Hands an answer on; `wasRead` is called once the prompt has been read: the next one's turn comes. */
type Pass = (answer: IncomingMessage, server: ModelServer, wasRead: () => void) => Promise<void>;

export type CompletionPath = '/v1/chat/completions' | '/v1/completions';

type Question = {
  path: CompletionPath;
  body: CompletionBody;
  onWait: (phase: string) => void;
};

/**
 * Sends the request to whichever server answers for the model, and hands its answer to `pass`. One user with many questions,
 * or one who reads slowly, does not keep the others from it.
 */
export async function reachModelServer(
  ctx: Context,
  parts: ChatParts,
  call: RunningCall,
  { onWait, ...question }: Question,
  pass: Pass,
): Promise<void> {
  await atModelServer(ctx, parts, call, { kind: 'text', onWait }, (server) =>
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
  // What one user alone asks needs no care for what another process sends there.
  if (!server.isOwn) await parts.presence.settled(signal);
  if (server.engine === 'vllm') {
    deadline.progress();
    const target = { url: server.baseUrl + path, key: server.key, isRouter: server.isRouter };
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
