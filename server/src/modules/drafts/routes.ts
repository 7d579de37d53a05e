import * as contract from '@bakehouse/contract/drafts';
import { type Binding, bind } from '../../platform/http/bind.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { addDocument } from './documents/add-document.ts';
import { cancelDraft, createDraft, deleteDraft, getDraft, listDrafts, removeDocument } from './drafts.ts';
import { changeRow, deleteRows, getChunk, listRows, saveRows } from './rows/rows.ts';
import { quoteDraft } from './start/quote-draft.ts';
import { startDraft } from './start/start-draft.ts';

/** Limited, because each call starts a process that reads a document. */
const DOCUMENTS_PER_MINUTE = 60;
/** Limited, because each call splits all documents of a draft. */
const QUOTES_PER_MINUTE = 60;

/** Routes for drafts: rows that a model writes from documents for training. */
export function draftsRoutes(chat: ChatParts): Binding[] {
  return [
    bind(contract.createDraft, (ctx) => createDraft(ctx)),
    bind(contract.listDrafts, (ctx) => listDrafts(ctx)),
    bind(contract.getDraft, (ctx, { params }) => getDraft(ctx, params.draft_id)),
    bind(contract.deleteDraft, (ctx, { params }) => deleteDraft(ctx, params.draft_id)),
    bind(
      contract.addDocument,
      (ctx, { params }, { request }) => addDocument(ctx, { draftId: params.draft_id, request }),
      { callsPerMinute: DOCUMENTS_PER_MINUTE },
    ),
    bind(contract.removeDocument, (ctx, { params: { draft_id: draftId, document_id: documentId } }) =>
      removeDocument(ctx, { draftId, documentId }),
    ),
    bind(
      contract.quoteDraft,
      (ctx, { params, body }) => quoteDraft(ctx, chat, { draftId: params.draft_id, settings: body.settings }),
      { callsPerMinute: QUOTES_PER_MINUTE },
    ),
    bind(contract.startDraft, (ctx, { params, body }) =>
      startDraft(ctx, chat, { draftId: params.draft_id, settings: body.settings }),
    ),
    bind(contract.cancelDraft, (ctx, { params }) => cancelDraft(ctx, params.draft_id)),
    bind(contract.listDraftRows, listRows),
    bind(contract.getChunk, getChunk),
    bind(contract.changeDraftRow, changeRow),
    bind(contract.deleteDraftRows, deleteRows),
    bind(contract.saveDraftRows, saveRows),
  ];
}
