import { CHATS_FILE, type addChatRow as endpoint } from '@bakehouse/contract/chat-rows';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { addLines } from './add-lines.ts';

/**
 * Appends a conversation to the conversations file of the caller's dataset. Throws the errors of `addLines`.
 */
export async function addChatRow(
  ctx: Context,
  input: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  return addLines(ctx, {
    assetId: input.params.id,
    field: 'id',
    path: CHATS_FILE,
    call: { operation: 'add-chat-row', input },
    lines: async () => ({ text: `${JSON.stringify(input.body)}\n`, kept: null }),
    message: () => 'Add a conversation',
    commit: async (_, _kept, commitId) => ({ commit_id: commitId, file_name: CHATS_FILE }),
  });
}
