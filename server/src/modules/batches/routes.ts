import * as contract from '@bakehouse/contract/batches';
import { fromFlatId } from '@bakehouse/contract/fields/flat-id';
import { type Binding, bind } from '../../platform/http/bind.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { cancelBatch, getOwnBatch, listBatches } from './batches.ts';
import { createBatch } from './create-batch.ts';

/** Each call reads a whole file. */
const CREATED_PER_MINUTE = 20;

/** OpenAI's batch API. */
export function batchesRoutes(chat: ChatParts): Binding[] {
  return [
    bind(contract.createBatch, (ctx, { body }) => createBatch(ctx, chat, { body }), {
      callsPerMinute: CREATED_PER_MINUTE,
    }),
    bind(contract.listBatches, listBatches),
    bind(contract.getBatch, (ctx, { params }) => getOwnBatch(ctx, fromFlatId(params.batch_id))),
    bind(contract.cancelBatch, cancelBatch),
  ];
}
