import type { BatchEndpoint } from '@bakehouse/contract/batches';
import { DEFAULT_CONTEXT_TOKENS } from '@bakehouse/contract/limits';
import type { Context } from '../../platform/context.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { findModel } from '../deployments/reach/find-model.ts';
import type { Upstream } from '../deployments/reach/upstream.ts';
import { findFineTune } from '../models/fine-tuned/steps.ts';

/** Finds the model, so that an unknown name is rejected immediately. */
export async function findUpstreamOf(
  ctx: Context,
  chat: ChatParts,
  { url, model }: { url: BatchEndpoint; model: string },
): Promise<Pick<Upstream, 'accelerator' | 'context_tokens'>> {
  const kind = url === '/v1/embeddings' ? 'embedding' : 'text';
  const fineTune = await findFineTune(ctx.db, { userId: ctx.caller.userId, name: model });
  // The first request deploys the model, on a GPU or a CPU: hold the higher price.
  if (fineTune && kind === 'text') return { accelerator: 'GPU', context_tokens: DEFAULT_CONTEXT_TOKENS };
  return findModel(ctx, chat, { modelName: model, kind });
}
