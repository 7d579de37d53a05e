import type { IncomingMessage } from 'node:http';
import type { Context } from '../../../platform/context.ts';
import type { ModelServer } from '../../deployments/reach/await-model-server.ts';
import { postToModelServer, readText } from '../../serving/ask/model-server-client.ts';
import { unavailable } from '../../serving/ask/unavailable.ts';
import type { RunningCall } from '../call-model.ts';
import type { ChatParts } from '../chat-parts.ts';
import { atModelServer } from '../upstream/at-model-server.ts';
import { areTokens, type EmbeddingInputs } from './embedding-inputs.ts';
import { toEmbeddingRefusal } from './to-embedding-refusal.ts';
import { readVectors, type Vectors } from './vectors.ts';

/** 65,536 numbers in base64, plus the JSON around them. */
const VECTOR_BYTES_MAX = 352 * 1024;

/**
 * Returns the vectors of some inputs from any server of the model. Users take turns between batches. `isOne`:
 * the request has only this input. Throws the errors of waking a server, the rejection of an input, and
 * AppError 'unavailable'.
 */
export async function askBatch(
  ctx: Context,
  parts: ChatParts,
  call: RunningCall<'embedding'>,
  { start, inputs, isOne }: { start: number; inputs: EmbeddingInputs; isOne: boolean },
): Promise<Vectors> {
  const { upstream, signal, deadline } = call;
  return atModelServer(ctx, parts, call, { kind: 'embedding' }, (server) => {
    deadline.progress();
    return send(server, inputs, signal, { start, isOne, modelName: upstream.model_name });
  });
}

type Asked = { start: number; isOne: boolean; modelName: string };

async function send(
  server: ModelServer<'embedding'>,
  inputs: EmbeddingInputs,
  signal: AbortSignal,
  { start, isOne, modelName }: Asked,
): Promise<Vectors> {
  const count = inputs.length;
  if (server.engine !== 'encoder' && areTokens(inputs)) {
    const said = { error: { message: 'this model takes text, and no token ids', index: 0 } };
    throw toEmbeddingRefusal(JSON.stringify(said), { start, count, isOne });
  }
  const { baseUrl, key, isRouter } = server;
  const target = { url: `${baseUrl}/v1/embeddings`, key, isRouter };
  const answer = await postToModelServer(
    target,
    { model: 'base', input: inputs, encoding_format: 'base64' },
    signal,
  );
  const status = answer.statusCode ?? 500;
  if (status >= 500) throw unavailable(`${modelName} does not answer`, new Error(await readText(answer)));
  if (status >= 400) throw toEmbeddingRefusal(await readText(answer), { start, count, isOne });
  return readAnswer(answer, { count, modelName, signal });
}

async function readAnswer(
  answer: IncomingMessage,
  { count, modelName, signal }: { count: number; modelName: string; signal: AbortSignal },
): Promise<Vectors> {
  try {
    return readVectors((await readAtMost(answer, count * VECTOR_BYTES_MAX)).toString('utf8'), count);
  } catch (error) {
    throw signal.aborted ? error : unavailable(`${modelName} does not answer`, error);
  }
}

/** Do not trust a model server to end its answer. */
async function readAtMost(answer: IncomingMessage, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let read = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read > bytes) throw new Error(`model server answer exceeds ${bytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
